"""Where commands get pages from: files, standard input, the web."""

from __future__ import annotations

import sys
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

import click

from simcrawl import __version__
from simcrawl.page.fingerprint import MAX_PAGE_BYTES

_FETCH_SECONDS = 30


def read_page(source: str) -> tuple[bytes, str | None]:
    """Return a page's bytes and the encoding that its server declares.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        if is_web(source):
            return _fetch(source)
        return (sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()), None
    except (OSError, HTTPException, ValueError) as exc:
        raise click.UsageError(f"cannot read {source}: {exc}") from exc


def is_web(source: str) -> bool:
    """Return whether a page is on the web."""
    return source.startswith(("http://", "https://"))


def _fetch(url: str) -> tuple[bytes, str | None]:
    request = Request(url, headers={"User-Agent": f"simcrawl/{__version__}"})  # noqa: S310 - the caller looked at the scheme
    with urlopen(request, timeout=_FETCH_SECONDS) as response:  # noqa: S310
        return response.read(MAX_PAGE_BYTES + 1), response.headers.get_content_charset()
