"""The forum that crawls are measured on: it is built, is served, and says itself which of its pages are copies."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from benchmarks.crawl import budget, forum, server, wiki
from benchmarks.crawl.labels import labelled
from benchmarks.crawl.runner import crawl
from tests.quality.pairs import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = ("apples", "boats", "clocks")
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]


def text(about: str) -> str:
    """Return forty words, others for everything that they are about."""
    random = Random(about)
    return " ".join("".join(random.choices(SYLLABLES, k=random.choice((2, 3)))) for _ in range(40))


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of three chapters, in the mark-up of the real one: sections of seven paragraphs."""
    root = tmp_path_factory.mktemp("book")
    for chapter, topic in enumerate(TOPICS, 1):
        paragraphs = "".join(f'<div class="para">The {text(f"{topic} {number}")}.</div>' for number in range(7))
        heading = f'<div class="titlepage"><div><h2 class="title">{chapter}.1. All about {topic}</h2></div></div>'
        (root / f"{topic}.html").write_text(f'<html><body><div class="section">{heading}{paragraphs}</div></body></html>')
    return root


@pytest.fixture(scope="module")
def pages(book: Path) -> dict[str, tuple[forum.Page, list[str]]]:
    return {path: (page, links) for path, page, links in forum.walk(forum.Forum(book, len(TOPICS)))}


@pytest.fixture(scope="module")
def contents(pages: dict[str, tuple[forum.Page, list[str]]]) -> dict[str, int | None]:
    return forum.contents((path, *found) for path, found in pages.items())


def test_a_section_is_a_thread_and_a_paragraph_a_post(book: Path) -> None:
    found = forum.threads(book)
    assert [(thread.chapter, thread.title, len(thread.paragraphs)) for thread in found] == [
        (str(number), f"All about {topic}", 7) for number, topic in enumerate(TOPICS, 1)
    ]


def test_a_page_is_the_same_whenever_it_is_asked_for(book: Path, pages: dict[str, tuple[forum.Page, list[str]]]) -> None:
    other = forum.Forum(book, len(TOPICS))
    assert all(other.page(path) == page for path, (page, _) in pages.items())


def test_views_of_a_thread_have_one_content(contents: dict[str, int | None]) -> None:
    views = ("/showthread.php?t=101&pp=10", "/printthread.php?t=101&pp=40", "/archive/index.php/t-101.html")
    assert len({contents[view] for view in views}) == 1
    assert None not in {contents[view] for view in views}
    assert contents["/showthread.php?t=101"] == contents["/printthread.php?t=101"] != contents[views[0]]
    assert len({contents[f"/showthread.php?t={number}"] for number in (101, 102, 103)}) == 3


def test_forms_that_guests_do_not_get_have_one_content(contents: dict[str, int | None]) -> None:
    scripts = ("/newreply.php?do=newreply&p=", "/report.php?p=", "/subscription.php?", "/private.php?", "/newthread.php?")
    refused = {script: {contents[path] for path in contents if path.startswith(script)} for script in scripts}
    assert all(len(found) == 1 for found in refused.values())
    assert len(set.union(*refused.values())) == 1


def test_a_page_that_begins_a_session_has_its_id_in_all_links(pages: dict[str, tuple[forum.Page, list[str]]]) -> None:
    _, links = pages["/"]
    own = [link for link in links if ".php" in link and not link.startswith("/archive/index.php/")]
    assert own
    assert all("?s=" in link for link in own)
    _, links = pages[next(link for link in own if "forumdisplay" in link)]
    assert not any("s=" in link.partition("?")[2].split("&") for link in links)


@pytest.mark.parametrize("path", ["/showthread.php?t=7", "/showthread.php?t=x", "/showpost.php", "/calendar.php?month=13&c=1", "/nothing"])
def test_what_is_not_there_has_no_page(book: Path, path: str) -> None:
    assert forum.Forum(book, len(TOPICS)).page(path) is None


def test_scrapy_fetches_all_of_it_over_http(book: Path, pages: dict[str, tuple[forum.Page, list[str]]]) -> None:
    with server.serving("forum", book, len(TOPICS), 0) as url:
        result = crawl("Everything", url, {})
    assert result.stats["downloader/response_status_count/200"] == len(pages)
    assert result.stats["item_scraped_count"] == len(pages)


def test_a_crawl_that_ends_early_has_found_some(book: Path, contents: dict[str, int | None]) -> None:
    with server.serving("forum", book, len(TOPICS), 0) as url:
        done = budget.run(url, {"CLOSESPIDER_PAGECOUNT": 60})
    curve = done.curve(contents)
    assert 60 <= done.fetched < len(contents)
    assert len(curve) == done.fetched + 1
    assert curve == sorted(curve)
    assert 0 < curve[-1] <= len(set(contents.values()) - {None})


def test_the_figure_has_a_line_for_each_contestant(tmp_path: Path) -> None:
    curves: Any = {name: list(range(0, 51, step)) for step, name in enumerate(budget.CONTESTANTS, 1)}
    budget.draw({"forum": budget.Measured(40, curves, curves)}, tmp_path / "figure.svg")
    drawn = (tmp_path / "figure.svg").read_text()
    assert all(name in drawn for name in (*budget.CONTESTANTS, "ideal"))


def test_labels_take_pieces_in_any_order_and_what_is_alike_together() -> None:
    words = [f"word{number}" for number in range(200)]
    whole, nearly = " ".join(words), " ".join(words[:-4])
    other = " ".join(reversed(words))
    assert labelled([[whole, other], [other, whole], [nearly, other], [other], ["too short"], []]) == [0, 0, 0, 2, None, None]


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("forum") / "book"
    try:
        forum.build(root)
    except UnavailableError as exc:
        pytest.skip(f"the handbook comes from a Debian package: {exc}")
    return root


def test_a_quarter_of_the_real_forum_has_as_many_pages_and_contents_as_it_says(handbook: Path) -> None:
    # Of all of it `python -m benchmarks.crawl.budget` says how many there are.
    pages = list(forum.walk(forum.Forum(handbook, forum.THREADS // 4)))
    assert 1_600 < len(pages) < 2_000
    assert 170 < len(set(forum.contents(pages).values()) - {None}) < 210


def test_the_wiki_shows_its_pages_and_their_histories(tmp_path: Path) -> None:
    try:
        with (
            wiki.serving(tmp_path / "wiki") as url,
            urlopen(f"{url}?id=man2:access") as page,
            urlopen(f"{url}?do=revisions&id=man2:access") as old,
        ):
            shown, history = page.read().decode(), old.read().decode()
    except wiki.UnavailableError as exc:
        pytest.skip(str(exc))
    assert "check user" in shown
    assert "last paragraph" in history
