"""What the names of fields say: whole words count, and no part of one."""

from __future__ import annotations

import pytest

from simcrawl.crawl.field_names import field_name


@pytest.mark.parametrize(
    "key",
    ["retry_times", "retried", "flags", "redirectCount", "referrer_title", "depth", "meta.depth", "fromCache", "is_cached"],
)
def test_names_that_speak_of_the_fetch(key: str):
    assert field_name(key).of_fetch
    assert not field_name(key).of_page


@pytest.mark.parametrize("key", ["retreat", "flagship", "cachet", "indepth", "attempted_murder", "name", ""])
def test_names_that_do_not(key: str):
    assert field_name(key).of_page


@pytest.mark.parametrize(
    "key", ["download_latency", "timestamp", "crawlTime", "itemCount", "item_count", "Index", "page", "HTMLSize", "offer.position", "bytes"]
)
def test_names_of_numbers_that_a_program_counts(key: str):
    assert field_name(key).counts


@pytest.mark.parametrize(
    "key", ["sizes", "discount", "country", "deposit", "challenge", "orderable", "reorders", "lifetimes", "count.value", "number", "price"]
)
def test_names_of_numbers_that_say_something(key: str):
    assert not field_name(key).counts


@pytest.mark.parametrize(("key", "places"), [("last_page", True), ("position", True), ("on_time", False), ("item_count", False)])
def test_names_that_say_where_a_thing_stands(key: str, places: bool):
    assert field_name(key).places == places


@pytest.mark.parametrize(
    ("key", "made_up"),
    [("seen.2026-11-26T02:18:17", True), ("by.http://a.test/p/2", True), ("by.what is this", True), ("offer.price", False), ("a b", False)],
)
def test_names_that_a_spider_has_made_of_a_value(key: str, made_up: bool):
    assert field_name(key).made_up == made_up


@pytest.mark.parametrize(
    "key", ["updated", "updated_at", "lastModified", "dateModified", "last_update", "crawled_at", "page.scraped", "generatedAt"]
)
def test_names_that_say_when_a_page_was_made(key: str):
    assert field_name(key).of_making


@pytest.mark.parametrize("key", ["views", "page_views", "viewCount", "visitors", "likes", "online"])
def test_names_that_say_who_looks_at_a_page(key: str):
    assert field_name(key).of_readers


@pytest.mark.parametrize(
    "key",
    ["date", "start", "when", "published", "reviews", "onlineshop", "likely", "year_built", "visit_date", "price_now", "order_online"],
)
def test_names_that_say_neither(key: str):
    assert not field_name(key).of_making
    assert not field_name(key).of_readers
