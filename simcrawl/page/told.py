"""What a page tells machines of the one thing that it is about: its price, its number, when it begins.

    <script type="application/ld+json"> ... "sku": "A-17"     JSON-LD
    <script> dataLayer.push({'price': '12.50'})               the state of a program, what counts its visitors
    <meta itemprop="price" content="12.50">                   microdata
    <meta property="product:price:amount" content="12.50">    the Open Graph protocol

Readers see it where a script shows it, or nowhere, and spiders take it first of all: variants of a product may have one text, and differ
in that alone. So it tells pages apart as their pictures do, and a page on which it is another one has changed.

Properties by https://schema.org. Ratings, reviews and the like are left alone: they are counters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_OF_SCRIPTS = (
    *("price", "lowPrice", "highPrice", "availability", "sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "isbn", "productID"),
    "startDate",
)
# Of the places that scripts name, `simcrawl.page.pictures` knows more.
_KNOWN = frozenset({*_OF_SCRIPTS, "latitude", "longitude"})
_OPEN_GRAPH = {
    "product:price:amount": "price",
    "og:price:amount": "price",
    "product:availability": "availability",
    "og:availability": "availability",
    "product:retailer_item_id": "sku",
    "place:location:latitude": "latitude",
    "place:location:longitude": "longitude",
}
# In all of these names, and in few scripts that have none of them.
_SIGNS = ("rice", "sku", "availability", "mpn", "gtin", "isbn", "productID", "startDate")
_IN_SCRIPT = late(rf"({'|'.join(_OF_SCRIPTS)})[\"']?\s*[:=]\s*(?:\"([^\"]{{1,80}})\"|'([^']{{1,80}})'|(-?\d[\d.]*+))")
_PART_OF_A_NAME = late(r"[\w$.-]")
_LONGEST_SCRIPT, _LONGEST = 100_000, 80
# A thing may have some prices. A page with more is about many things, or names others beside its own, which change from visit to visit.
_MOST = 4


class Told:
    """Collects what a page tells. Bounded: of each property, one value more than counts."""

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {}

    def read_script(self, text: str) -> None:
        """Take what stands in a script as the value of a property or of a variable."""
        # Most scripts have none, which is told a hundred times faster than by the pattern.
        if any(map(text.__contains__, _SIGNS)):
            for found in _IN_SCRIPT.finditer(text[:_LONGEST_SCRIPT]):
                # Most are the end of another name: "unitPrice", "order.price".
                if not _PART_OF_A_NAME.match(text[found.start() - 1 : found.start()]):
                    self._add(found[1], found[2] or found[3] or found[4])

    def read(self, element: HtmlElement) -> None:
        """Take what a `meta` or `link` tells."""
        name = element.get("itemprop") or _OPEN_GRAPH.get(element.get("property") or "")
        if name in _KNOWN:
            self._add(name, element.get("content") or element.get("href") or "")

    def _add(self, name: str, value: str) -> None:
        values = self._values.setdefault(name, set())
        # "https://schema.org/InStock" is called "InStock" as well.
        if value and len(values) <= _MOST:
            values.add(value[:_LONGEST].rpartition("/")[2] if name == "availability" else value[:_LONGEST])

    def names(self) -> list[str]:
        """Return what was told, a name for each property: equal for equal values."""
        return [f"{name} {' '.join(sorted(values))}" for name, values in sorted(self._values.items()) if 0 < len(values) <= _MOST]
