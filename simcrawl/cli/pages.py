"""Where commands get pages from: files, standard input, the web."""

from __future__ import annotations

import re
import sys
from http.client import HTTPException, InvalidURL
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import click

from simcrawl import __version__
from simcrawl.page.fingerprint import MAX_PAGE_BYTES

_FETCH_SECONDS = 30
_OTHER_URL = re.compile("[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class PageError(click.ClickException):
    """A page on the web that cannot be read: the command was right."""

    exit_code = 4


def read_page(source: str) -> tuple[bytes, str | None]:
    """Return a page's bytes and the encoding that its server declares.

    Raises:
        PageError: it is on the web, and cannot be read.
        UsageError: there is no such file, or only pages of another kind have such a URL.
    """
    if _OTHER_URL.match(source) and not is_web(source):
        raise click.UsageError(f"{source} is no page: give a file, an http(s) URL, or - for standard input")
    try:
        if is_web(source):
            return _fetch(source)
        return (sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()), None
    except (OSError, HTTPException, ValueError) as exc:
        # Of a URL that cannot be, nobody was asked.
        if is_web(source) and isinstance(exc, (OSError, HTTPException)) and not isinstance(exc, InvalidURL):
            raise PageError(f"cannot read {source}: {exc.reason if type(exc) is URLError else exc}") from exc
        raise click.UsageError(f"cannot read {source}: {exc}") from exc


def is_web(source: str) -> bool:
    """Return whether a page is on the web."""
    return source.lower().startswith(("http://", "https://"))


def _fetch(url: str) -> tuple[bytes, str | None]:
    request = Request(url, headers={"User-Agent": f"simcrawl/{__version__}"})  # noqa: S310 - the caller looked at the scheme
    with urlopen(request, timeout=_FETCH_SECONDS) as response:  # noqa: S310
        return response.read(MAX_PAGE_BYTES + 1), response.headers.get_content_charset()
