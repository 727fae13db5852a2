"""Items that did not come out whole, so that the same item of a copy is not dropped in their favour.

    item of an original ──► a pipeline drops it            ──► refused
                        ──► some of its files did not come ──► refused
    item of a copy that says the same ──► comes out, and is refused no more, unless a pipeline drops it as well

A pipeline may refuse an item for what holds at this moment, or at this address alone: its picture is gone, a service does not answer. If it
refuses on principle, it refuses the copy's item as well, and nothing comes out twice. What has come out without its files comes out once
more: not again for each copy, for the files may be nowhere.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_intdigest

from simcrawl.crawl.field_names import field_name
from simcrawl.crawl.item_values import class_of, files_in, is_item, values_in, without_urls
from simcrawl.crawl.reading import is_date

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_CONTENTS, _MOST_ITEMS = 10_000, 1_000
_FIELDS_OF_PIPELINES = (("files_urls_field", "files_result_field"), ("images_urls_field", "images_result_field"))


class Refused:
    """What was refused of which content, by the URL of the page that was kept. `use`: see `simcrawl.crawl.common.Common.use_of`."""

    def __init__(self, files: Iterable[str] = ()) -> None:
        """Take the names of fields that hold addresses of files to be downloaded."""
        self._files = tuple(files)
        self._refused: OrderedDict[tuple[str, str], set[int]] = OrderedDict()
        # Of the pipelines that fetch files: the field of the addresses, and that of what came.
        self._fields = set[tuple[str, str]]()

    def watch(self, pipelines: Iterable[object]) -> None:
        """Note where the pipelines of a crawl put the files that they fetch."""
        named = ((getattr(one, urls, ""), getattr(one, result, "")) for one in pipelines for urls, result in _FIELDS_OF_PIPELINES)
        self._fields = {(urls, result) for urls, result in named if urls and result}

    def says(self, item: Any) -> int:
        """Return a digest of what an item says: not of where its files are, or when it was made. 0 for what is no item.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        if not is_item(item):
            return 0
        beside = class_of(item)
        values = [*values_in(item, beside)[0], *files_in(item, self._files), *without_urls(beside)]
        lines = sorted(f"{key}\0{value}" for key, value in values if _is_content(key, value))
        return xxh3_64_intdigest("\0".join(lines).encode("utf-8", "surrogatepass")) or 1

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

    def note(self, original: str, use: str, said: int) -> None:
        """Note that an item was refused. `said`: see `says`."""
        refused = self._refused.setdefault((original, use), set())
        if len(refused) < _MOST_ITEMS:
            refused.add(said)
        if len(self._refused) > _MOST_CONTENTS:
            self._refused.popitem(last=False)

    def take(self, original: str, use: str, item: Any) -> int:
        """Return what an item of a copy says if the same was refused, and note that it comes out; otherwise 0.

        Raises:
            Exception: whatever an item of the user's own raises.
        """
        if (original, use) not in self._refused:
            return 0
        refused, said = self._refused[original, use], self.says(item)
        if said not in refused:
            return 0
        refused.remove(said)
        if not refused:
            del self._refused[original, use]
        return said

    def may_lose(self, original: str, use: str) -> bool:
        """Return whether a copy may give what was refused, if it is left out unseen."""
        return (original, use) in self._refused


def _attribute(item: Any, name: str) -> Any:
    from itemadapter import ItemAdapter  # noqa: PLC0415 - brings all libraries of item types; many spiders yield dictionaries

    return ItemAdapter(item).get(name) if ItemAdapter.is_item(item) else None


def _is_content(key: str, value: Any) -> bool:
    name = field_name(key)
    return name.of_page and not (isinstance(value, str) and is_date(value)) and not (name.counts and not isinstance(value, str))
