from __future__ import annotations

from dataclasses import replace

import pytest

import simcrawl
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page
from simcrawl.rule import Apart
from tests.samples import english

TEXT = "".join(f"<p>{line}, and so on and so forth until the line is as long as one</p>" for line in english(45).splitlines())
LD = '<script type="application/ld+json">{"@type": "Product", "offers": [{%s}]}</script>'
META = "<div itemscope><meta itemprop='%s' content='%s'></div>"
WAYS = [
    LD % '"sku": "{}"',
    LD % '"startDate": "2027-05-{}T18:00"',
    LD % '"price" : {}.50',
    '<script id="state">var product = {"gtin13": "40123456789{}"}</script>',
    "<script>dataLayer.push({'sku': 'A{}'})</script>",
    "<script>var price = {}.50, shown = 'no'</script>",
    META % ("price", "{}.50"),
    META % ("startDate", "2027-05-{}T18:00"),
    "<meta property='product:price:amount' content='{}.50'>",
    "<link itemprop='isbn' href='urn:isbn:978-0-13-4686{}-1'>",
]


def _page(told: str, name: str = "a") -> PageFingerprint:
    html = f"<html><head><title>Workshop</title></head><body><main><h1>Workshop</h1>{told}{TEXT}</main></body></html>"
    made = fingerprint_page(html, url=f"http://x/{name}")
    assert isinstance(made, PageFingerprint)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_pages_of_one_text_are_told_apart_by_what_they_tell_machines(way: str):
    one, same, other = (_page(way.replace("{}", str(value))) for value in (20, 20, 27))
    assert simcrawl.compare(one, replace(same, url="http://x/b")).is_near_duplicate
    assert simcrawl.compare(one, replace(other, url="http://x/b")).apart is Apart.PICTURES
    assert one.says == same.says != other.says


@pytest.mark.parametrize("way", WAYS)
def test_a_list_tells_nothing_of_its_page(way: str):
    one, other = (_page("".join(way.replace("{}", str(value)) for value in range(first, first + 6))) for first in (20, 30))
    assert simcrawl.compare(one, replace(other, url="http://x/b")).apart is not Apart.PICTURES


@pytest.mark.parametrize(
    "way",
    [
        META % ("ratingValue", "{}"),
        META % ("interactionCount", "{}"),
        LD % '"reviewCount": "{}"',
        "<script>var unitPrice = {}, order = {{}}; order.price = {}; if (price == {}) go()</script>",
        "<meta name='csrf-token' content='{}'>",
        "<link rel='canonical' href='http://x/{}'>",
        "<meta itemprop='price' content=''><!-- {} -->",
    ],
)
def test_counters_tokens_and_addresses_tell_nothing(way: str):
    one, other = (_page(way.replace("{}", str(value))) for value in (20, 27))
    assert simcrawl.compare(one, replace(other, url="http://x/b")).apart is None


def test_in_stock_is_the_same_whichever_way_it_is_written():
    one, same, other = (
        _page(f"<link itemprop='availability' href='{state}'>")
        for state in ("http://schema.org/InStock", "InStock", "https://schema.org/SoldOut")
    )
    assert simcrawl.compare(one, replace(same, url="http://x/b")).apart is None
    assert simcrawl.compare(one, replace(other, url="http://x/b")).apart is Apart.PICTURES


def test_endless_values_are_cut():
    one, other = (_page(META % ("sku", "9" * 10_000 + end)) for end in "ab")
    assert one.says == other.says
