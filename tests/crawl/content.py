"""Real text for pages under test: pages of the demonstration site, dressed in other mark-up."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import simcrawl

DEMO = Path(simcrawl.__file__).parent / "crawl" / "demo_site"


@cache
def topic(name: str = "7.4/en/protection") -> str:
    """Return the content of a page, without its header and footer, and without the targets of its links."""
    html = (DEMO / f"{name}.html").read_text()
    return re.sub(r' href="[^"]*"', "", html[html.index("<main>") : html.index("</main>") + len("</main>")])


def page(name: str = "7.4/en/protection", *links: str, note: str = "", more: str = "") -> str:
    """Return a page with a topic's content. Links have no text of their own, so that two pages can differ in nothing else.

    `note` goes into the title, `more` is a sentence after the content: with one of a few words the page is a near-copy by a wide margin,
    whatever the seed.
    """
    content = topic(name).replace("</main>", f"<p>{more}</p></main>" if more else "</main>")
    anchors = "".join(f'<a href="{link}"></a>' for link in links)
    return f"<!DOCTYPE html><html lang='en'><head><title>{name}{note}</title></head><body>{content}{anchors}</body></html>"


def hub(*links: str) -> str:
    """Return a short page of links."""
    return "<html><body><h1>Contents</h1><ul>" + "".join(f'<li><a href="{link}">{link}</a></li>' for link in links) + "</ul></body></html>"
