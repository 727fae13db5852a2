"""No page hurts: whatever it is, it becomes a fingerprint or an abstention, with a bounded amount of work."""

from __future__ import annotations

import multiprocessing
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import simcrawl
from simcrawl.page.extraction import extract
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason, digest, fingerprint_page
from simcrawl.rule import Kind
from tests.hostile_limits import answer
from tests.hostile_pages import ARTICLE, END, PAGES, START, body, forge
from tests.samples import chinese, english, page

DEMO = Path(simcrawl.__file__).parent / "crawl" / "demo_site"


@pytest.fixture(scope="module")
def processes() -> multiprocessing.context.ForkServerContext:
    """Processes that have loaded everything before they start: `conftest` says so."""
    return multiprocessing.get_context("forkserver")


def _answer(processes: multiprocessing.context.ForkServerContext, name: str, recipe: str) -> PageFingerprint | Abstention:
    ours, theirs = processes.Pipe(duplex=False)
    process = processes.Process(target=answer, args=(name, recipe, theirs))
    process.start()
    theirs.close()
    try:
        made: PageFingerprint | Abstention = ours.recv()
    except EOFError:
        process.join()
        pytest.fail(f"the process ended with {process.exitcode}")
    process.join()
    assert process.exitcode == 0
    return made


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_ends_as_a_fingerprint_or_a_reason(processes: multiprocessing.context.ForkServerContext, name: str):
    made = _answer(processes, name, "auto")
    assert (made.reason.value if isinstance(made, Abstention) else "page") == PAGES[name].ends


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_is_none_for_resiliparse_either(processes: multiprocessing.context.ForkServerContext, name: str):
    made = _answer(processes, name, "resiliparse")
    # Its text may be shorter, but nothing fails, and what the default refuses is refused.
    assert not isinstance(made, Abstention) or made.reason.value in (PAGES[name].ends, "short", "empty")


# ---- no content is lost where the parser gives up


def _are_one(a: bytes, b: bytes) -> bool:
    """Return whether the second of two pages is a copy of the first."""
    detector = simcrawl.Detector(simcrawl.open_store("memory:"))
    return [detector.admit(detector.page(html, url=f"http://x/{number}")) for number, html in enumerate((a, b))][1].is_duplicate


@pytest.mark.parametrize(
    "front",
    [
        f"{START}{ARTICLE}" + "<div>" * 300,
        f"{START}{ARTICLE}" + "<p><font>menu " * 200,
        f"{START}{ARTICLE}" + "<noscript>" + "<b>" * 300 + "</noscript>",
        f"{START}{ARTICLE}" + "<svg>" + "<g>" * 300 + "</svg>",
        f"{START}{ARTICLE}{END}",
        f"{START}{ARTICLE}</HTML >",
        f"{START}{ARTICLE}{END}{START}{END}\n",
        f"{START}{ARTICLE}</body></html",
        f"{START}{ARTICLE}" + "\0" * 100,
        f"{START}{ARTICLE}\x1a",
        f"{START}{ARTICLE}<?php exit ?>",
        f"{START}{ARTICLE}]]>",
        f"{START}{ARTICLE}<!DOCTYPE html>",
        f"{START}{ARTICLE}<plaintext>",
    ],
)
def test_pages_that_differ_behind_a_place_where_parsers_give_up_are_not_copies(front: str):
    tails = [f"<h2>Another</h2>{''.join(f'<p>{line}</p>' for line in english(60, seed).splitlines())}" for seed in (1, 2)]
    made = [fingerprint_page(front + tail) for tail in tails]
    assert isinstance(made[0], PageFingerprint) or made[0].reason is Reason.TOO_DEEP
    assert not _are_one(*((front + tail).encode() for tail in tails))


def test_a_page_that_is_less_deep_than_the_parser_goes_is_compared():
    made = [fingerprint_page(f"{START}{'<div>' * depth}{ARTICLE}{'</div>' * depth}<p>the end</p>{END}") for depth in (1, 100, 250)]
    assert len({page.fingerprint for page in made if isinstance(page, PageFingerprint)}) == 1
    assert all(isinstance(page, PageFingerprint) for page in made)


@pytest.mark.parametrize(("name", "entity"), [("an entity of a file", "&f;"), ("entities that nest", "&a9;")])
def test_entities_that_a_page_defines_are_not_expanded(name: str, entity: str):
    whole = extract(PAGES[name].make(), "utf-8", "", main=False).whole
    assert whole.partition("\n")[0] == f"]>{entity}"
    assert whole.split()[1:] == english(60).split()


# ---- crafted pages


@pytest.fixture(scope="module")
def forged() -> tuple[str, str]:
    """A text, and one without any of its words that was crafted to collide with it by an adversary who takes the seed for 0."""
    victim = " ".join(english(8).split()[:60])
    return victim, forge(victim, 0)


def test_a_crafted_page_takes_another_one_s_place_where_its_maker_knows_the_seed(forged: tuple[str, str]):
    # Of so short a page no more than a few words may differ by default.
    detector = simcrawl.Detector(simcrawl.open_store("memory:?seed=0"), min_similarity=0.8)
    first, second = (detector.admit(detector.page(page(text), url=f"http://x/{number}")) for number, text in enumerate(forged[::-1]))
    assert not set(forged[0].split()) & set(forged[1].split())
    assert (first.kind, second.kind) == (Kind.ADMITTED, Kind.NEAR_DUPLICATE)


@pytest.mark.parametrize("recipe", ["content", "manku2007"])
def test_a_crafted_page_takes_no_place_under_a_seed_of_the_store_s_own(forged: tuple[str, str], recipe: str):
    for _ in range(20):
        detector = simcrawl.Detector(simcrawl.open_store("memory:", seed="random"), recipe=recipe)
        verdicts = [detector.admit(detector.page(page(text), url=f"http://x/{number}")) for number, text in enumerate(forged[::-1])]
        assert [verdict.kind for verdict in verdicts] == [Kind.ADMITTED, Kind.ADMITTED]


# ---- fuzzing


@cache
def _seeds() -> list[bytes]:
    """Return real pages to start from."""
    return [file.read_bytes() for file in sorted(DEMO.rglob("*.html"))] + [
        page(chinese(40)).encode("gb18030"),
        body(ARTICLE).decode().encode("utf-16"),
    ]


_noise = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b'"', b"'", b"&", b"\0", b"\xff\xfe", b"<plaintext>", b"</html>", b"<svg>"]
    ),
    st.sampled_from(
        [b"<script>", b"<table>", b"<a href='http://[", b"<base href=//[>", b"&#xD800;", b"<meta charset=utf-7>", b"<frameset>", b"\r"]
    ),
    st.sampled_from([b"<div>" * 300, b"<p " + b"a=1 " * 1500 + b">", b"<b><p></b>" * 50, "\u202e\u200b\ud7ff".encode() * 30]),
)


@st.composite
def _mutated(draw: st.DrawFn) -> bytes:
    """Real pages with pieces cut out, doubled, moved, overwritten and replaced by those of another page."""
    html = draw(st.sampled_from(_seeds()))
    for _ in range(draw(st.integers(1, 8))):
        start, end = sorted((draw(st.integers(0, len(html))), draw(st.integers(0, len(html)))))
        piece = html[start:end]
        other = draw(st.sampled_from(_seeds()))
        put = draw(st.sampled_from([b"", piece * 2, piece[::-1], piece.upper(), piece.replace(b">", b""), other[start:end]]) | _noise)
        html = html[:start] + put + html[end:]
    return html


_ENCODINGS = [None, "utf-8", "gb18030", "utf-16", "utf-7", "idna", "shift_jis", "nonsense"]


@given(
    _mutated(),
    st.sampled_from(_ENCODINGS),
    st.sampled_from(["content", "content", "layout", "main", "resiliparse"]),
    st.integers(0, 2**64 - 1),
)
def test_any_mutation_of_a_real_page_ends_as_a_fingerprint_or_a_reason(html: bytes, encoding: str | None, recipe: str, seed: int):
    made = fingerprint_page(html, url="http://example.org/a/b", encoding=encoding, recipe=recipe, seed=seed)
    assert isinstance(made, PageFingerprint | Abstention)
    assert (made.url, made.seed, made.body_digest) == ("http://example.org/a/b", seed, digest(html, seed))
    # Nothing of a page makes the pipeline fail, and none of these is large.
    assert not isinstance(made, Abstention) or made.reason not in (Reason.EXTRACTION_FAILED, Reason.TOO_SLOW)
    assert made == fingerprint_page(html, url="http://example.org/a/b", encoding=encoding, recipe=recipe, seed=seed)


@given(st.text(st.characters() | st.characters(categories=["Cs", "Cf", "Cc"]), max_size=400))
def test_any_characters_end_as_a_fingerprint_or_a_reason(letters: str):
    made = fingerprint_page(START + letters + ARTICLE)
    assert isinstance(made, PageFingerprint | Abstention)
    assert made == fingerprint_page(START + letters + ARTICLE)


def test_markup_that_is_only_just_none_is_text():
    # What looks like a tag and is none must neither vanish nor take the text behind it along.
    for odd in ("a < b", "a <3 b", "a <= b", "<>"):
        made = fingerprint_page(body(f"{ARTICLE}<p>{odd} {english(40, 7)}</p>"))
        assert isinstance(made, PageFingerprint), odd
        assert made.units > len(re.findall(r"\w+", english(60) + english(40, 7))) - 3, odd
