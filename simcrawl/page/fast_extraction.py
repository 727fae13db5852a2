"""HTML -> main text by resiliparse (the extra `fast`), for the recipe of that name. The only module that imports resiliparse."""

from __future__ import annotations

from lxml import etree

from simcrawl.errors import SettingError
from simcrawl.page.extraction import decode, parse

try:
    from resiliparse.extract.html2text import extract_plain_text
except ImportError as exc:
    raise SettingError('resiliparse is not installed: pip install "simcrawl[fast]"') from exc


def main_text(body: bytes, encoding: str, url: str) -> str:  # noqa: ARG001 - an extractor's signature
    """Return the main text of a page, a block a line, without comments, dates, bullets and the texts of images; "" where it has none."""
    tree = parse(decode(body, encoding)[1])
    if tree is None:
        return ""
    # Not the page as it came: resiliparse is quadratic in depth, and opens formatting elements that were never closed in every paragraph
    # anew (4,000 <p><b id=...> take half a minute). What libxml2 made of it is closed, and 256 deep at most.
    html = etree.tostring(tree, encoding="unicode", method="html")
    return extract_plain_text(html, main_content=True, comments=False, alt_texts=False, list_bullets=False, post_meta=False)
