"""Layouts of pages written as HTML, and what they say."""

from __future__ import annotations

from lxml import html as lxml_html

from simcrawl.page.blocks import Layout, join
from simcrawl.page.walk import layout
from tests.samples import english


def layout_of(html: str) -> Layout:
    return layout(lxml_html.document_fromstring(html))


def said_in(html: str) -> tuple[str, str]:
    """Return content and prose."""
    parts = layout_of(html).parts()
    return join(parts.content), join(parts.prose)


def prose_of(html: str) -> str:
    return said_in(html)[1]


def text_of(html: str) -> str:
    return join(layout_of(html).blocks)


def lines_in(html: str) -> list[str]:
    return lines_of(layout_of(html))


def lines_of(found: Layout) -> list[str]:
    return [block.text for block in found.blocks]


def article_of(text: str, title: str = "The harbour") -> str:
    return f"<h1>{title}</h1>" + "".join(f"<p>{line}</p>" for line in text.splitlines())


ARTICLE = f"<h1>The harbour</h1><p>{english(20)}</p>"
