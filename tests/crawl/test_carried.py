"""Pages for which a callback was given data of another page: what comes of them comes of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from itemloaders import ItemLoader
from parsel import Selector
from scrapy import Field, Item, Request, Spider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from simcrawl.crawl.carried import CARRIED, callback_name, carried, mark_carried
from tests.crawl.content import hub
from tests.crawl.runner import MODES, crawl
from tests.crawl.test_crawl import IN_ORDER
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response

    from tests.crawl.runner import Outcome
    from tests.crawl.server import Site

SHOP = "tests.crawl.carried_spiders.Shop"
PRODUCTS = 20


def shop(site: Site, count: int = PRODUCTS) -> None:
    """Products of a line or two, each with a page on delivery that is the same for all, and once more in a mirror."""
    terms = english(200, seed=1)
    for folder in ("shop", "mirror"):
        site.add(f"/{folder}/", hub(*map(str, range(count))))
        for number in range(count):
            links = f"<a class='delivery' href='/{folder}/delivery?sku={number}'>delivery</a>"
            site.add(f"/{folder}/{number}", f"<title>Product</title><h1>Product {number}</h1><p>Costs {number} pounds.</p>{links}")
            site.add(f"/{folder}/go?sku={number}", "", status=302, Location=f"/{folder}/delivery?sku={number}")
            site.add(f"/{folder}/delivery?sku={number}", f"<title>Delivery</title><main><p>{terms}</p></main>")
    site.add("/", hub("/shop/", "/mirror/"))


def products(outcome: Outcome) -> list[str]:
    return sorted(outcome.stats["test/products"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", ["cb_kwargs", "item", "values", "loader", "redirected", "handed on"])
def test_what_stood_on_another_page_comes_out(site: Site, way: str, mode: str) -> None:
    shop(site)
    outcome = crawl(SHOP, site.url("/shop/"), way=way, mode=mode)
    assert products(outcome) == sorted(f"Product {number}" for number in range(PRODUCTS))
    assert outcome.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("way", ["method", "object", "decorated", "shown by its name"])
def test_what_an_object_or_a_function_made_for_one_request_holds_comes_out(site: Site, way: str) -> None:
    shop(site)
    assert products(crawl(SHOP, site.url("/shop/"), way=way)) == sorted(f"Product {number}" for number in range(PRODUCTS))


@pytest.mark.parametrize("way", ["idle", "pipeline", "middleware", "errback"])
@pytest.mark.parametrize("mode", MODES)
def test_data_of_requests_that_no_callback_yields_come_out(site: Site, way: str, mode: str) -> None:
    shop(site)
    settings = {
        "pipeline": {"ITEM_PIPELINES": {"tests.crawl.carried_spiders.Asking": 300}},
        "middleware": {"SPIDER_MIDDLEWARES": {"tests.crawl.carried_spiders.Asking": 500}},
    }
    spider = "tests.crawl.carried_spiders.LaterShop"
    outcome = crawl(spider, site.url("/shop/"), way=way, mode=mode, settings=settings.get(way, {}) | {"RETRY_ENABLED": False})
    assert products(outcome) == sorted(f"Product {number}" for number in range(PRODUCTS))
    assert outcome.stats["simcrawl/pages/with_data"] == PRODUCTS


def test_equal_pages_that_callbacks_download_do_not_stand_in_line(site: Site) -> None:
    shop(site, 80)
    outcome = crawl("tests.crawl.carried_spiders.AskingShop", site.url("/shop/"))
    assert len(products(outcome)) == 80
    # In line it would be a second for every other page.
    assert outcome.stats["elapsed_time_seconds"] < 12


@pytest.mark.parametrize("way", ["cb_kwargs", "item", "values"])
def test_copies_for_which_the_same_was_given_are_dropped(site: Site, way: str) -> None:
    shop(site)
    outcome = crawl(SHOP, site.url(), way=way, settings=IN_ORDER)
    assert products(outcome) == sorted(f"Product {number}" for number in range(PRODUCTS))
    assert outcome.stats["simcrawl/pages/dropped"] >= PRODUCTS
    assert outcome.stats["simcrawl/pages/with_data"] == 2 * PRODUCTS


@pytest.mark.parametrize(
    ("way", "settings"), [("nothing", {}), ("settings", {}), ("found on", {}), ("item", {"SIMCRAWL_CARRIED_DATA": False})]
)
def test_without_data_one_page_of_equal_ones_comes_out(site: Site, way: str, settings: dict[str, Any]) -> None:
    shop(site)
    assert len(products(crawl(SHOP, site.url("/shop/"), way=way, settings=IN_ORDER | settings))) == 1


def test_what_waits_in_a_queue_on_disk_is_told_apart(site: Site, tmp_path: Any) -> None:
    shop(site)
    settings = IN_ORDER | {"JOBDIR": str(tmp_path / "job")}
    first = crawl(SHOP, site.url("/shop/"), way="item", settings=settings | {"CLOSESPIDER_PAGECOUNT": PRODUCTS + 5})
    second = crawl(SHOP, site.url("/shop/"), way="item", settings=settings)
    assert sorted(products(first) + products(second)) == sorted(f"Product {number}" for number in range(PRODUCTS))


def test_pages_that_a_rule_only_follows_are_no_originals_for_one_that_takes_items(site: Site) -> None:
    names = range(30)
    for number in names:
        text = f"<title>{number}</title><main><p>{english(120, seed=number)}</p>"
        site.add(f"/chapter/{number}", f"{text}<a href='/print/{number}'>print</a></main>")
        for folder in ("print", "again"):
            site.add(f"/{folder}/{number}", f"{text}</main>")
    site.add("/", hub(*(f"/{folder}/{number}" for folder in ("chapter", "again/print") for number in names)))
    for number in names:
        site.add(f"/again/print/{number}", site.answers[f"/print/{number}"].body.decode())
    outcome = crawl("tests.crawl.carried_spiders.Printed", site.url(), settings=IN_ORDER | {"SIMCRAWL_SKIP": False})
    kept = outcome.paths("kept")
    # Each once, and not the copies for the same rule.
    assert sorted(int(path.rpartition("/")[2]) for path in kept) == list(names)
    assert outcome.stats["simcrawl/pages/dropped"] == len(names)


# ---- what is data


class Product(Item):
    name = Field()


@dataclass
class Named:
    name: str


@dataclass
class Brief:
    """Does not show what is long."""

    text: str = field(repr=False)


class Closed:
    """Shows nothing of itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "<Closed>"


class InSlots:
    """Has no dictionary, shows nothing of itself, and has a private name."""

    __slots__ = ("__name",)

    def __init__(self, name: str) -> None:
        self.__name = name

    def __repr__(self) -> str:
        return "<InSlots>"


class OfSlots(InSlots):
    """Adds one slot, which is empty."""

    __slots__ = ("more",)


PAGE = "https://shop.example/1"
VALUES: list[tuple[Any, Any]] = [
    ("a", "b"),
    (1, 2),
    (b"a", b"b"),
    (10_000 * "a" + "b", 10_000 * "a" + "c"),
    ([1, 2], [2, 1]),
    ({"name": "a"}, {"name": "b"}),
    ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}),
    ({1, 2}, {1, 3}),
    (Product(name="a"), Product(name="b")),
    (Named("a"), Named("b")),
    (Selector("<p>a</p>").css("p"), Selector("<p>b</p>").css("p")),
    (Selector("<p>" + 90 * "a" + "</p>"), Selector("<p>" + 91 * "a" + "</p>")),
    (Brief("a"), Brief("b")),
    (Closed("a"), Closed("b")),
    (InSlots("a"), InSlots("b")),
    (OfSlots("a"), OfSlots("b")),
    (Path("a/b"), Path("a/c")),
    (HtmlResponse(PAGE, body=b"a"), HtmlResponse(PAGE, body=b"b")),
]


def of(**options: Any) -> str:
    return carried(Request("https://shop.example/delivery", **options), PAGE)


@pytest.mark.parametrize("name", ["cb_kwargs", "meta"])
@pytest.mark.parametrize(("value", "other"), VALUES, ids=[type(value).__name__ + str(number) for number, (value, _) in enumerate(VALUES)])
def test_equal_data_have_one_digest_and_others_another(name: str, value: Any, other: Any) -> None:
    assert of(**{name: {"item": value}}) == of(**{name: {"item": value}}) != ""
    assert of(**{name: {"item": value}}) != of(**{name: {"item": other}})
    assert of(**{name: {"item": value}}) != of(**{name: {"other": value}})


def test_what_a_path_has_worked_out_is_no_data() -> None:
    one, other = Path("a/b"), Path("a/b")
    assert hash(one)
    assert one.name
    assert of(meta={"item": one}) == of(meta={"item": other})


def test_the_order_of_names_does_not_matter() -> None:
    assert of(cb_kwargs={"a": 1, "b": {"c": 1, "d": 2}}) == of(cb_kwargs={"b": {"d": 2, "c": 1}, "a": 1})


@pytest.mark.parametrize("value", [ItemLoader(), object(), {"deep": [object()]}])
def test_what_cannot_be_compared_is_like_nothing_else(value: Any) -> None:
    assert of(cb_kwargs={"item": value}) != of(cb_kwargs={"item": value})


def test_data_that_contain_themselves_or_fail_or_are_very_many_are_like_nothing_else() -> None:
    endless: list[Any] = []
    endless.append(endless)

    class Failing:
        def __repr__(self) -> str:
            raise RuntimeError

    for value in (endless, Failing(), list(range(20_000))):
        assert of(cb_kwargs={"item": value}) != of(cb_kwargs={"item": value})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cb_kwargs": {"found_on": PAGE}},
        {"cb_kwargs": {"item": None}},
        {"meta": {"depth": 3, "proxy": "http://p.example", "cookiejar": 5, "download_latency": 0.1}},
        {"meta": {"playwright": True, "playwright_page_methods": [object()], "splash": {"args": {"wait": 1}}, "_of_a_component": 1}},
    ],
)
def test_settings_of_components_and_the_page_that_links_are_no_data(options: dict[str, Any]) -> None:
    assert of(**options) == ""


def test_the_text_of_a_link_is_data_unless_a_crawl_spider_set_it() -> None:
    told = {"link_text": "next", "rule": 1}
    assert of(meta=told, callback=CrawlSpider("a").parse) == ""
    assert of(meta=told, callback=Spider("a").parse) != "" != of(meta=told)


def _maker(name: str, *, empty: bool = False) -> Callable[..., object]:
    def callback(response: object) -> object:
        return (response, name, later)

    if not empty:
        later = 1
    return callback


def parse(response: object, name: str) -> object:
    return (response, name)


def made(kind: str, name: str) -> Any:
    """Return a callback that holds a name."""
    kinds: dict[str, Callable[..., object]] = {
        "partial": partial(parse, name=name),
        "partial by place": partial(parse, None, name),
        "partial of a partial": partial(partial(parse, name=name), None),
        "lambda": lambda response: (response, name),
        "default": lambda response, given=name: (response, given),
        "closure": _maker(name),
        "closure that is called as another": wraps(parse)(_maker(name)),
    }
    return kinds[kind]


@pytest.mark.parametrize(
    "kind", ["partial", "partial by place", "partial of a partial", "lambda", "default", "closure", "closure that is called as another"]
)
def test_what_a_callback_holds_is_data(kind: str) -> None:
    assert of(callback=made(kind, "a")) == of(callback=made(kind, "a")) != ""
    assert of(callback=made(kind, "a")) != of(callback=made(kind, "b"))


def test_a_callback_that_cannot_be_looked_into_is_like_no_other() -> None:
    empty = _maker("a", empty=True)
    assert of(callback=empty) != of(callback=empty)


def test_methods_of_a_spider_or_a_class_and_plain_functions_hold_nothing() -> None:
    for callback in (Spider("named").parse, Spider.from_crawler, parse, len, Closed):
        assert of(callback=callback) == ""


class Handling:
    def __call__(self, response: object) -> object:
        return response

    def parse(self, response: object) -> object:
        return response


def test_an_object_that_is_the_callback_or_whose_method_is_is_like_itself_alone() -> None:
    one, other = Handling(), Handling()
    assert of(callback=one) == of(callback=one) == of(callback=partial(one)) != ""
    assert of(callback=one.parse) == of(callback=one.parse)
    assert len({of(callback=one), of(callback=other)}) == 2
    # Where it stood in memory another one stands next.
    assert len({of(callback=Handling().parse) for _ in range(20)}) == 20


def test_what_is_shown_by_its_place_in_memory_is_like_nothing_else() -> None:
    assert len({of(cb_kwargs={"steps": (number for number in range(3))}) for _ in range(20)}) == 20


def test_a_function_among_the_data_is_known_by_its_name() -> None:
    assert of(cb_kwargs={"then": parse}) == of(cb_kwargs={"then": parse}) != of(cb_kwargs={"then": made})
    assert of(cb_kwargs={"then": Spider("a").parse}) == of(cb_kwargs={"then": Spider("a").parse}) != ""


class Owner:
    """Has the callbacks of one section of a site."""

    @staticmethod
    def parse(response: Response) -> None: ...

    @classmethod
    def of_class(cls, response: Response) -> None: ...

    def __call__(self, response: Response) -> None: ...


def _decorated(method: Any) -> Any:
    def wrapper(self: Any, response: Response) -> Any:
        return method(self, response)

    return wrapper


class Decorated(Spider):
    """A spider whose callbacks all have one name."""

    name = "named"

    @_decorated
    def one(self, response: Response) -> None: ...

    @_decorated
    def other(self, response: Response) -> None: ...


def test_callbacks_are_named_by_what_they_call() -> None:
    class Named(Spider):
        name = "named"

    def name(callback: Any) -> str:
        owner = getattr(callback, "__self__", None)
        return callback_name(Request(PAGE, callback=callback), owner if isinstance(owner, Spider) else Named())

    assert name(None) == "named.parse"
    assert name(Named().parse) == "named.parse"
    assert name(partial(Named().parse, name="a")) == "named.parse"
    # Each section of a site may have a function, or a class, of its own.
    assert name(partial(parse, name="a")) == name(parse) == "named.tests.crawl.test_carried.parse"
    assert name(Owner.parse) == "named.tests.crawl.test_carried.Owner.parse"
    assert name(Owner.of_class) == "named.tests.crawl.test_carried.Owner.of_class"
    assert name(Owner()) == "named.tests.crawl.test_carried.Owner.callback"
    # A decorator that forgets the name of what it decorates.
    assert [name(method) for method in (Decorated().one, Decorated().other)] == ["named.one", "named.other"]
    one, other = (lambda response: response), made("lambda", "a")
    assert name(one) != name(other)


def test_rules_are_named_by_their_callbacks_and_by_what_these_are_given() -> None:
    links = LinkExtractor()
    given = {"place": "shop"}

    class Ruled(CrawlSpider):
        name = "ruled"
        rules = (Rule(links), Rule(links), Rule(links, callback="parse_item"), Rule(links, callback="parse_item", cb_kwargs=given))

        def parse_item(self, response: Response) -> None: ...

    spider = Ruled()
    requests = [Request(PAGE, callback=spider._callback, meta={"rule": number}) for number in (0, 1, 2, 3, 9)]
    names = ["followed", "followed", "parse_item", "rule 3", "_callback"]
    assert [callback_name(request, spider) for request in requests] == [f"ruled.{name}" for name in names]
    assert callback_name(Request(PAGE, callback=spider.parse_item, meta={"rule": 0}), spider) == "ruled.parse_item"


def test_what_was_handed_on_is_noted_anew() -> None:
    first = Request(PAGE, meta={"item": {"name": "a"}})
    mark_carried(first, PAGE)
    second = Request(PAGE, meta=first.meta)
    second.meta.pop("item")
    mark_carried(second, PAGE)
    assert first.meta[CARRIED]
    assert CARRIED not in second.meta
