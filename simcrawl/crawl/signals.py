"""Signals that simcrawl sends."""

from __future__ import annotations

page_dropped = object()
"""Sent for every page that is dropped, wholly or in part, before its callback: (request, response, verdict, spider)."""

request_skipped = object()
"""Sent for every request that is not made since its page would almost certainly be a copy: (request, prediction, spider)."""
