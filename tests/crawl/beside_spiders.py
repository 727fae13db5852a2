"""Spiders that get their pages and items from Zyte API."""

from __future__ import annotations

# Scrapy-poet resolves all annotations of callbacks when the crawl runs.
from collections.abc import AsyncIterator, Iterator  # noqa: TC003
from typing import Any

from scrapy import Request
from scrapy.http import Response  # noqa: TC002
from scrapy_poet.api import DummyResponse  # noqa: TC002
from zyte_common_items import Product  # noqa: TC002

import simcrawl
from tests.crawl.spiders import Base, item

BROWSED = {"zyte_api_automap": {"browserHtml": True}}


class Browsed(Base):
    """Has every page opened in a browser."""

    name = "browsed"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.url, meta=BROWSED)

    def parse(self, response: Response, **_: Any) -> Any:
        return self.follow(response, meta=BROWSED)


class Countries(Base):
    """Asks for one page as it is seen from two countries."""

    name = "countries"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for country in ("US", "DE"):
            meta = {"zyte_api_automap": {"geolocation": country}}
            yield response.follow("/first", self.parse_page, meta=meta, cb_kwargs={"country": country})

    def parse_page(self, response: Response, country: str) -> Iterator[Any]:
        yield item(response, country=country)
        self.note("countries", country)


class Products(Base):
    """Takes a product beside each page."""

    name = "products"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_product)

    async def parse_product(self, response: Response, product: Product) -> AsyncIterator[Any]:
        yield {"url": response.url, "name": product.name}


class ProductsOfKept(Products):
    """Asks for the product of a page only when the page is kept."""

    name = "products-of-kept"

    async def parse_product(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        verdict = simcrawl.verdict(response)
        if not (verdict and verdict.drop_page):
            yield Request(response.url, self.parse_item, dont_filter=True)  # type: ignore[arg-type]  # scrapy-poet gives the product

    async def parse_item(self, response: DummyResponse, product: Product) -> AsyncIterator[Any]:
        yield {"url": response.url, "name": product.name}
