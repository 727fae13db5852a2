"""Signals that simcrawl sends."""

from __future__ import annotations

page_dropped = object()
"""Sent for every page that is dropped, wholly or in part, before its callback: (request, response, verdict, spider)."""
