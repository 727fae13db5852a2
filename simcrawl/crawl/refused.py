"""Items that did not come out whole, so that the same item of a copy is not dropped in their favour.

    item of an original ──► a pipeline drops it            ──► refused
                        ──► some of its files did not come ──► refused
    item of a copy that says the same ──► comes out, and is refused no more, unless a pipeline drops it as well

A pipeline may refuse an item for what holds at this moment, or at this address alone: its picture is gone, a service does not answer. If it
refuses on principle, it refuses the copy's item as well, and nothing comes out twice; but what the pipeline itself does before it refuses,
such as writing to a database, it does again. What has come out without its files comes out once more: not again for each copy, for the
files may be nowhere. Where items of some copies have come out in vain, and never one with success, copies are left out unseen again.

In memory: what was refused before a stop, or in another process, nobody knows. And where a pipeline returns another object than it was
given, missing files are not noticed.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from xxhash import xxh3_64_intdigest

from simcrawl.crawl.field_names import field_name, is_technical
from simcrawl.crawl.reading import TOKEN, WORD, as_written, digits_of, is_date
from simcrawl.page.characters import unified

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from simcrawl.crawl.item_values import ItemRead

# Of all contents: some 15 MB. A list may have thousands of items.
_MOST_ITEMS = 200_000
_MOST_USES, _MOST_IN_VAIN = 1_000, 5
# Characters of an item's texts, which a pipeline may have taken out to be rid of them.
_LARGE = 10_000
_FIELDS_OF_PIPELINES = (("files_urls_field", "files_result_field"), ("images_urls_field", "images_result_field"))


class Refused:
    """What was refused of which content, by the URL of the page that was kept. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self) -> None:
        self._refused: OrderedDict[tuple[str, str], set[int]] = OrderedDict()
        self._held = 0
        # Of the pipelines that fetch files: the field of the addresses, and that of what came.
        self._fields = set[tuple[str, str]]()
        self.is_possible = False
        """Whether there are pipelines, which may refuse something."""
        # By use: how often an item of a copy was refused as well, and for which ones it has come out.
        self._in_vain, self._helped = Counter[str](), set[str]()

    def watch(self, pipelines: Iterable[object]) -> None:
        """Note whether a crawl has pipelines, and where these put the files that they fetch."""
        pipelines = list(pipelines)
        self.is_possible = bool(pipelines)
        named = ((getattr(one, urls, ""), getattr(one, result, "")) for one in pipelines for urls, result in _FIELDS_OF_PIPELINES)
        self._fields = {(urls, result) for urls, result in named if urls and result}

    def lacks_files(self, item: Any) -> bool:
        """Return whether fewer files have come than an item asks for.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        for urls, result in self._fields:
            asked, came = (item.get(name) if isinstance(item, dict) else _attribute(item, name) for name in (urls, result))
            if isinstance(asked, list | tuple) and isinstance(came, list | tuple) and len(came) < len(asked):
                return True
        return False

    def came(self, use: str, *, in_vain: bool) -> None:
        """Note that an item has come out of a copy for what was refused of its original, `in_vain` where it was refused as well."""
        if not in_vain:
            self._helped.add(use)
        elif len(self._in_vain) < _MOST_USES:
            self._in_vain[use] += 1

    def _is_hopeless(self, use: str) -> bool:
        return use not in self._helped and self._in_vain[use] >= _MOST_IN_VAIN

    def held(self, item: ItemRead, url: str) -> ItemRead | int:
        """Return what is to be held of an item until it has left the pipelines: what was read, or its digest, which few are asked for.

        `url`: of its page, whose parts say nothing.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        # Before a pipeline changes it.
        item.read()
        is_large = sum(len(value) for _, value in item.values if isinstance(value, str)) > _LARGE
        return _digest(item, url) if is_large else item

    def note(self, original: str, use: str, held: ItemRead | int, url: str) -> None:
        """Note that an item was refused. `held`: see there; `url`: as above."""
        said = held if isinstance(held, int) else _digest(held, url)
        refused = self._refused.setdefault((original, use), set())
        self._refused.move_to_end((original, use))
        self._held += said not in refused
        refused.add(said)
        while self._held > _MOST_ITEMS:
            self._held -= len(self._refused.popitem(last=False)[1])

    def take(self, original: str, use: str, item: ItemRead, url: str) -> bool:
        """Return whether what an item of a copy says was refused, and note that it comes out. `url`: as above.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        if (original, use) not in self._refused or not item.is_item:
            return False
        refused, said = self._refused[original, use], _digest(item, url)
        if said not in refused:
            return False
        refused.remove(said)
        self._held -= 1
        if not refused:
            del self._refused[original, use]
        return True

    def may_lose(self, original: str, use: str) -> bool:
        """Return whether a copy may give what was refused, if it is left out unseen."""
        return (original, use) in self._refused and not self._is_hopeless(use)


def _digest(item: ItemRead, url: str) -> int:
    """Return a digest of what an item says: not of where its files are, or when it was made, nor of parts of its page's URL."""
    item.read()
    of_url = _words_of(url)
    says = [*(one for one in item.values if _is_content(*one, of_url)), *item.files]
    says += [(key, value) for key, value in item.facts if field_name(key).of_page and not is_date(str(value))]
    return xxh3_64_intdigest("\0".join(sorted(f"{key}\0{value}" for key, value in says)).encode("utf-8", "surrogatepass"))


def _attribute(item: Any, name: str) -> Any:
    from itemadapter import ItemAdapter  # noqa: PLC0415 - brings all libraries of item types; many spiders yield dictionaries

    return ItemAdapter(item).get(name) if ItemAdapter.is_item(item) else None


# All items of a page have one.
@lru_cache(maxsize=64)
def _words_of(url: str) -> frozenset[str]:
    return frozenset(WORD.findall(unified(unquote(url))))


def _is_content(key: str, value: str | float | Decimal, of_url: frozenset[str]) -> bool:
    """Return whether a text or a number is what another fetch of the page, at another address, says as well."""
    if not field_name(key).of_page:
        return False
    if not isinstance(value, str):
        return not is_technical(key, digits_of(as_written(value)))
    if TOKEN.fullmatch(value) or is_date(value):
        return False
    words = WORD.findall(unified(value))
    return not words or not of_url.issuperset(words)
