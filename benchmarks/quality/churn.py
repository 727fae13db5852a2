"""Copies whose surroundings changed, and different articles in the same surroundings.

    python -m benchmarks.quality.churn [--markdown] [--packages DIRECTORY] [--pages FILE] [--pairs FILE] [--seed 0] [--missed]
        [--cases FILE.jsonl.gz]

Pages: those of `benchmarks.quality.packages`, downloaded unless the directory has them, where no file is given; JSON lines, also gzipped,
with the fields html and lang (url, source, id); the article pages of a file of labelled pairs. `--cases` keeps what was made of them.

Every article page is made into three others:

    mild    the article word for word; dates, counters, link lists and teasers as on another day, advertisements and lists of
            related articles among the paragraphs
    full    the same, and navigation, sidebars and footer are those of another page: of the same site's where there is one
    swap    everything kept but the article, which is another page's

mild and full are copies, swap is not. Columns: the share called copies by the default; by the default without the article rule; by the
distance of fingerprints of trafilatura's main text alone, at the default's k; by manku2007; by resiliparse. Without `--markdown` by
source as well, and why the default missed copies, with distance and similarities by `--missed`. What is an article is decided without
simcrawl and trafilatura: see `benchmarks.quality.surgery`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import mean
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lxml import etree, html as lxml_html
from w3lib.encoding import html_to_unicode

import simcrawl
from benchmarks.quality import packages, surgery
from benchmarks.quality.search import printer
from benchmarks.quality.surgery import Anatomy, Pool, dissect, serialise, shingles
from benchmarks.quality.tables import NEVER
from simcrawl.bits import hamming_distance
from simcrawl.page.extraction import main_text
from simcrawl.page.recipes import resolve
from simcrawl.page.sketch import resemblance
from simcrawl.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lxml.html import HtmlElement

    from simcrawl.page.recipes import Recipe
    from simcrawl.rule import Comparison

KINDS = ("mild", "full", "swap")
LEAST_WORDS = 150
_ARTICLES = ("article-extraction-benchmark", "jakevdp-blog", "wuchong-blog", "servicecomb.apache.org")
_NEWS = ("article-extraction-benchmark", "pypi:", "npm:")
_LABELS = {
    "en": (("Advertisement", "Sponsored", "Ad"), ("Related", "More on this story", "Read next", "Most read")),
    "zh": (("广告", "推广", "赞助内容"), ("相关阅读", "相关新闻", "热门文章", "延伸阅读")),
}
_NAMES = ("ad-slot", "c-promo", "inline-related", "box", "module m-17", "story-embed", "css-1x9wq2", "teaser-list", "sponsor", "")


@dataclass(frozen=True, slots=True)
class Article:
    """A page with an article. `source`: where it comes from."""

    id: str
    lang: str
    source: str
    html: str
    url: str = ""

    @property
    def genre(self) -> str:
        """ "news", or the source: manuals and news do not advertise each other."""
        return _genre(self.source)

    @property
    def site(self) -> str:
        """The host that the page names as its own; its source where it names none."""
        found = re.search(r'(?:rel="canonical"\s+href|property="og:url"\s+content)="https?://(?:www\.)?([^/"]+)', self.html)
        return found[1] if found else urlsplit(self.url).netloc or self.source


def _genre(source: str) -> str:
    return "news" if source.startswith(_NEWS) else source


@dataclass(frozen=True, slots=True)
class Case:
    """Two pages, and what the second is to the first: see `KINDS`."""

    id: str
    lang: str
    source: str
    kind: str
    html_a: str
    html_b: str

    @property
    def genre(self) -> str:
        """See `Article`."""
        return _genre(self.source)


@dataclass(frozen=True, slots=True)
class _Subject:
    article: Article
    anatomy: Anatomy
    shingles: frozenset[tuple[str, ...]]
    site: str

    def is_another(self, other: _Subject) -> bool:
        return len(self.shingles & other.shingles) < 0.1 * len(self.shingles | other.shingles)


def cases(pages: Iterable[Article], seed: int = 0) -> list[Case]:
    """Return the cases of all pages from which some can be made; three a page, fewer where there is no page to exchange with."""
    subjects = [subject for page in pages if (subject := _subject(page))]
    by_lang: dict[str, list[_Subject]] = defaultdict(list)
    for subject in subjects:
        by_lang[subject.article.lang].append(subject)
    pools = {lang: _Pools(members) for lang, members in by_lang.items()}
    return [case for subject in subjects for case in _cases_of(subject, pools[subject.article.lang], seed)]


def _subject(page: Article) -> _Subject | None:
    anatomy = dissect(page.html)
    if anatomy is None or len(anatomy.words) < LEAST_WORDS or len(anatomy.article) < 3:
        return None
    return _Subject(page, anatomy, frozenset(shingles(anatomy.words)), page.site)


class _Pools:
    def __init__(self, members: list[_Subject]) -> None:
        self.members = members

    def others(self, subject: _Subject) -> list[_Subject]:
        """Return the pages of other articles: of pages of the same kind where there are some, of any kind otherwise."""
        others = [other for other in self.members if other is not subject and subject.is_another(other)]
        return [other for other in others if other.article.genre == subject.article.genre] or others


def _cases_of(subject: _Subject, pools: _Pools, seed: int) -> Iterator[Case]:
    rng = random.Random(f"{seed} {subject.article.id}")
    others = pools.others(subject)
    if not others:
        return
    neighbours = [other for other in others if other.site == subject.site]
    donor = rng.choice(neighbours or others)
    pool = _pool(neighbours, others, rng)
    page = subject.article
    before = serialise(subject.anatomy.tree)
    for kind in ("mild", "full"):
        if (after := churned(before, pool, donor.anatomy if kind == "full" else None, page.lang, rng)) is not None:
            yield Case(f"{page.id} {kind}", page.lang, page.source, kind, before, after)
    size = len(subject.anatomy.words)
    alike = [other for other in neighbours or others if 0.5 * size <= len(other.anatomy.words) <= 2 * size]
    alike = alike or [other for other in others if 0.5 * size <= len(other.anatomy.words) <= 2 * size]
    if alike and (after := swapped(before, rng.choice(alike).anatomy)) is not None:
        yield Case(f"{page.id} swap", page.lang, page.source, "swap", before, after)


def _pool(neighbours: list[_Subject], others: list[_Subject], rng: random.Random) -> Pool:
    """Return furniture of the same site where it has enough, and of other sites besides."""
    near = Pool.of(other.anatomy for other in rng.sample(neighbours, min(4, len(neighbours))))
    far = Pool.of(other.anatomy for other in rng.sample(others, min(12, len(others))))
    return Pool(
        near.headlines if len(near.headlines) >= 20 else near.headlines + far.headlines,
        near.teasers if len(near.teasers) >= 10 else near.teasers + far.teasers,
        near.modules if len(near.modules) >= 4 else near.modules + far.modules,
    )


def churned(html: str, pool: Pool, donor: Anatomy | None, lang: str, rng: random.Random) -> str | None:
    """Return a page with its article untouched and other furniture; None where no article stands out, or it could not be left intact.

    `donor`: the page whose navigation, sidebars and footer it gets; None to keep its own, with other links and numbers in it.
    """
    page = dissect(html)
    if page is None:
        return None
    before = page.words
    if donor is not None:
        _graft(page, donor)
        _exchange_modules(page, pool, rng)
    _refresh(page, pool, rng)
    _insert_modules(page, pool, lang, rng, count=rng.randint(1, 2) if donor is None else rng.randint(2, 4))
    return serialise(page.tree) if [word for block in page.article for word in surgery.tokens(_now(block))] == before else None


def _now(block: surgery.Block) -> str:
    return next((now.text for now in surgery.blocks(block.element) if now.element is block.element), "")


def _graft(page: Anatomy, donor: Anatomy) -> None:
    """Put the donor's surroundings, level by level, in place of the page's."""
    path, others = page.path(), donor.path()
    headline = None if page.headline is None else surgery.copy(page.headline)
    for element in path:
        for sibling in [*element.itersiblings(preceding=True), *element.itersiblings()]:
            surgery.remove(sibling)
        _clear_text(element)
    for level, other in enumerate(others):
        own = path[min(level, len(path) - 1)]
        for sibling in reversed(list(other.itersiblings(preceding=True))):
            own.addprevious(_without(sibling, donor.headline))
        for sibling in reversed(list(other.itersiblings())):
            own.addnext(_without(sibling, donor.headline))
    if headline is not None:
        page.container.addprevious(headline)


def _clear_text(element: HtmlElement) -> None:
    """Remove the text right around an element of the path."""
    element.tail = None
    if (parent := element.getparent()) is not None:
        parent.text = None


def _without(element: HtmlElement, left_out: HtmlElement | None) -> HtmlElement:
    if left_out is None or not (element is left_out or element in left_out.iterancestors()):
        return surgery.copy(element)
    marked = left_out.get("class")
    left_out.set("class", "left-out-here")
    copied = surgery.copy(element)
    left_out.set("class", marked) if marked is not None else left_out.attrib.pop("class")
    for found in copied.xpath("descendant-or-self::*[@class='left-out-here']"):
        found.clear()
    return copied


def _exchange_modules(page: Anatomy, pool: Pool, rng: random.Random) -> None:
    for element in page.inner_furniture():
        if pool.modules and len(surgery.tokens(surgery.text_of(element))) <= 60 and element.tag not in ("td", "th", "tr"):
            element.addprevious(surgery.copy(rng.choice(pool.modules)))
            surgery.remove(element)


def _refresh(page: Anatomy, pool: Pool, rng: random.Random) -> None:
    """Other headlines, teasers, dates and counters where the page has some."""
    article = {block.element for block in page.article} | {page.headline}
    headlines, teasers = _Deck(pool.headlines, rng), _Deck(pool.teasers, rng)
    for block in surgery.blocks(surgery.body(page.tree)):
        if block.element in article or any(below in article for below in block.element.iterdescendants()):
            continue
        if surgery.is_headline(block):
            headlines.write(block.element)
        elif surgery.is_teaser(block):
            teasers.write(block.element)
        elif surgery.is_meta(block) or surgery.is_counter(block):
            _change_numbers(block.element, rng)


class _Deck:
    """Texts dealt in random order, each once; None when all are out."""

    def __init__(self, texts: list[str], rng: random.Random) -> None:
        texts = sorted(set(texts))
        self._left = rng.sample(texts, len(texts))

    def deal(self) -> str | None:
        return self._left.pop() if self._left else None

    def write(self, element: HtmlElement) -> None:
        if not any(below.tag not in surgery.INLINE for below in element.iterdescendants()) and (text := self.deal()):
            surgery.write(element, text)


def _change_numbers(element: HtmlElement, rng: random.Random) -> None:
    for below in element.iter():
        below.text = surgery.at_another_time(below.text, rng) if below.text else None
        if below is not element and below.tail:
            below.tail = surgery.at_another_time(below.tail, rng)


def _insert_modules(page: Anatomy, pool: Pool, lang: str, rng: random.Random, *, count: int) -> None:
    """Put advertisements and lists of related articles between paragraphs, at most one for every three."""
    places = [block.element for block in page.article if block.element.tag in ("p", "div", "pre", "ul") and _between(block.element, page)]
    for place in rng.sample(places[1:-1], max(0, min(count, len(places) // 3))):
        module = surgery.copy(rng.choice(pool.modules)) if pool.modules and rng.random() < 0.5 else _module(pool, lang, rng)
        module.tail, place.tail = place.tail, None
        place.addnext(module)


def _between(element: HtmlElement, page: Anatomy) -> bool:
    parent = element.getparent()
    return element is not page.container and parent is not None and sum(block.element.getparent() is parent for block in page.article) >= 3


def _module(pool: Pool, lang: str, rng: random.Random) -> HtmlElement:
    advertisement, related = _LABELS.get(lang, _LABELS["en"])
    deck = _Deck(pool.headlines or pool.teasers, rng)
    module: HtmlElement = lxml_html.Element("div", {"class": rng.choice(_NAMES)})
    label = rng.choice(related)
    texts = [deck.deal() or label for _ in range(rng.randint(2, 5))]
    if rng.random() < 0.5 and pool.teasers:
        label, texts = rng.choice(advertisement), [rng.choice(pool.teasers)]
    _add(module, "p" if len(texts) == 1 else "h4", label)
    listed = module if len(texts) == 1 else _add(module, "ul", None)
    for text in texts:
        line = _add(listed, "p" if len(texts) == 1 else "li", None)
        _add(line, "a", text).set("href", f"/{rng.randint(10**5, 10**6)}")
    return module


def _add(parent: HtmlElement, tag: str, text: str | None) -> HtmlElement:
    child: HtmlElement = etree.SubElement(parent, tag)
    child.text = text
    return child


def swapped(html: str, donor: Anatomy) -> str | None:
    """Return a page with the donor's article in place of its own, and nothing else changed; None where no article stands out."""
    page = dissect(html)
    if page is None:
        return None
    mine = [block.element for block in page.article]
    theirs = [block.text for block in donor.article]
    share = len(theirs) / len(mine)
    kept = {block.element for block in page.furniture}
    for place, element in enumerate(mine):
        texts = theirs[round(place * share) : round((place + 1) * share)]
        if any(below.tag not in surgery.INLINE for below in element.iterdescendants()) or element in kept:
            _write_own(element, " ".join(texts))
        elif texts:
            _write_all(element, texts)
        else:
            surgery.remove(element)
    return serialise(page.tree)


def _write_own(element: HtmlElement, text: str) -> None:
    """Exchange the text of a block with other blocks in it, which stay."""
    for child in list(element):
        child.tail = None
        if child.tag in surgery.INLINE:
            surgery.remove(child)
    element.text = text


def _write_all(element: HtmlElement, texts: list[str]) -> None:
    """Put texts into an element and into copies of it."""
    for below in list(element):
        surgery.remove(below)
    element.text = texts[-1]
    for text in texts[:-1]:
        before = surgery.copy(element)
        before.text = text
        element.addprevious(before)


# What a rule says of the cases.


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of a case. `copies`: by each of `RULES`. `prose`: its resemblance; None, as `comparison`, where a page abstained."""

    case: Case
    copies: tuple[bool, ...]
    comparison: Comparison | None = None
    prose: float | None = None
    reason: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the default is wrong about it."""
        return self.copies[0] != (self.case.kind != "swap")

    def __str__(self) -> str:
        found = self.comparison
        measured = f"{found.distance} {found.similarity} {self.prose}" if found else ""
        return f"{self.case.id[:70]:70} {self.reason} {measured}"


def judge(case: Case) -> Judged:
    """Return what each rule says of a case, and why the default does not take the second page for a copy."""
    copies = tuple(rule(case) for rule in RULES.values())
    a, b = (_fingerprint(html, "auto") for html in (case.html_a, case.html_b))
    if not (isinstance(a, simcrawl.PageFingerprint) and isinstance(b, simcrawl.PageFingerprint)):
        reason = next(str(page.reason) for page in (a, b) if isinstance(page, simcrawl.Abstention))
        return Judged(case, copies, reason=f"abstained: {reason}")
    alike = _is_copy(case, replace(resolve(), max_distance=resolve().bits))
    too_far = hamming_distance(a.fingerprint, b.fingerprint) > resolve().max_distance
    reason = "" if copies[0] else "too far" if alike else "too far and not alike" if too_far else "not alike"
    return Judged(case, copies, simcrawl.compare(a, b), resemblance(a.prose.sketch, b.prose.sketch), reason)


@lru_cache(maxsize=8)
def _fingerprint(html: str, recipe: str) -> Any:
    return simcrawl.fingerprint_page(html.encode(), url="http://a.example/", encoding="utf-8", recipe=recipe)


def _is_copy(case: Case, recipe: Recipe) -> bool:
    a, b = (_fingerprint(html, recipe.name) for html in (case.html_a, case.html_b))
    if not (isinstance(a, simcrawl.PageFingerprint) and isinstance(b, simcrawl.PageFingerprint)):
        return False
    return simcrawl.compare(a, b, rule=Rule.of(recipe)).is_near_duplicate


def _is_near(case: Case) -> bool:
    left, right = _main_fingerprint(case.html_a), _main_fingerprint(case.html_b)
    return left is not None and right is not None and simcrawl.hamming_distance(left, right) <= resolve().max_distance


@lru_cache(maxsize=8)
def _main_fingerprint(html: str) -> int | None:
    try:
        return simcrawl.fingerprint(main_text(html.encode(), "utf-8"))
    except ValueError:
        return None


RULES: dict[str, Callable[[Case], bool]] = {
    "the default": lambda case: _is_copy(case, resolve()),
    "content only": lambda case: _is_copy(case, replace(resolve(), min_around=NEVER)),
    "trafilatura's main text, distance only": _is_near,
    "manku2007": lambda case: _is_copy(case, resolve("manku2007")),
    "resiliparse": lambda case: _is_copy(case, resolve("resiliparse")),
}


# Where pages come from.


def read_pages(path: Path) -> list[Article]:
    """Return the pages of a JSON lines file with the fields html and lang, and optionally url, id and source."""
    with _open(path) as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Article(str(row.get("id", n)), row["lang"], row.get("source", path.name), row["html"], row.get("url", ""))
        for n, row in enumerate(rows)
    ]


def read_pairs(path: Path) -> list[Article]:
    """Return the article pages of a file of labelled pairs, each page in one version."""
    found: dict[str, Article] = {}
    with _open(path) as lines:
        for row in map(json.loads, lines):
            for side in "ab":
                reference = row[f"{side}_ref"]
                place, _, name = reference.partition(":")
                if place.startswith(_ARTICLES):
                    source, lang = _source(place)
                    found.setdefault(f"{source} {name}", Article(f"{source} {name}", lang, source, row[f"{side}_html"]))
    return list(found.values())


def _source(place: str) -> tuple[str, str]:
    """Return (source, language) of "source.lang/version"."""
    source, _, lang = place.rsplit("/", 1)[0].rpartition(".")
    return source, lang


def package_pages(root: Path) -> list[Article]:
    """Return the pages of `benchmarks.quality.packages`; the directory keeps what is downloaded.

    Raises:
        packages.UnavailableError: none is to be had.
    """
    return [Article(f"{source.package} {source.path}", source.lang, source.package, _decode(body)) for source, body in packages.build(root)]


def _decode(body: bytes) -> str:
    try:
        # Some were saved in UTF-8 by who fetched them, and still declare another encoding.
        return body.decode()
    except UnicodeDecodeError:
        return html_to_unicode(None, body)[1]


def _open(path: Path) -> IO[str]:
    return gzip.open(path, "rt") if path.suffix == ".gz" else path.open()


def main() -> None:
    """Make the cases and print what becomes of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, action="append", default=[])
    parser.add_argument("--pairs", type=Path, action="append", default=[])
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    pages = [page for path in arguments.pages for page in read_pages(path)] + [
        page for path in arguments.pairs for page in read_pairs(path)
    ]
    if arguments.packages or not pages:
        with ExitStack() as stack:
            pages += package_pages(arguments.packages or Path(stack.enter_context(tempfile.TemporaryDirectory())))
    made = cases(pages, arguments.seed)
    print(f"{len(pages)} pages, {len(made)} cases\n")
    if arguments.cases:
        with gzip.open(arguments.cases, "wt") as file:
            file.writelines(json.dumps(asdict(case), ensure_ascii=False) + "\n" for case in made)
    judged = [judge(case) for case in made]
    if arguments.markdown:
        printer(markdown=True)("Share called copies", ("language", "change", "pages", *RULES), _rows(judged))
    else:
        _print(judged)
    if arguments.missed:
        print(*(one for one in judged if one.is_wrong), sep="\n")


def _rows(judged: list[Judged]) -> Iterator[list[str]]:
    for lang in sorted({one.case.lang for one in judged}):
        for kind in KINDS:
            those = [one for one in judged if (one.case.lang, one.case.kind) == (lang, kind)]
            if those:
                yield [lang, kind, str(len(those)), *(f"{share:.3f}" for share in shares(those))]


def shares(judged: Sequence[Judged]) -> list[float]:
    """Return the share of cases that each of `RULES` calls copies."""
    return [mean(said) for said in zip(*(one.copies for one in judged), strict=True)]


def _print(judged: list[Judged]) -> None:
    for lang in sorted({one.case.lang for one in judged}):
        mine = [one for one in judged if one.case.lang == lang]
        for group in ("all", "news", *sorted({one.case.source for one in mine})):
            for kind in KINDS:
                those = [one for one in mine if one.case.kind == kind and group in ("all", one.case.source, one.case.genre)]
                if those:
                    why = dict(Counter(one.reason for one in those if one.reason)) if kind != "swap" else ""
                    print(lang, f"{group:30}", kind, f"{len(those):4}", *(f"{share:.3f}" for share in shares(those)), why)


if __name__ == "__main__":
    main()
