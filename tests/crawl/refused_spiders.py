"""Spiders whose items a pipeline refuses, or whose files do not come, on one of two mirrors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem
from scrapy.pipelines.files import FilesPipeline

from tests.crawl.spiders import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Filed(Base):
    """Takes an item of each paragraph, with its words and the files behind its links; follows the links of lists."""

    name = "filed"

    def on_item(self, item: Any) -> None:
        super().on_item(item)
        self.note("words", item["text"])

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        for paragraph in response.css("p"):
            files = [response.urljoin(href) for href in paragraph.css("a::attr(href)").getall()]
            yield {"url": response.url, "text": paragraph.css("::text").get(), "file_urls": files}
        for href in response.css("li a::attr(href)").getall():
            yield response.follow(href)


class NeedsFiles(FilesPipeline):
    """Refuses an item without any file, as Scrapy's documentation does."""

    def item_completed(self, results: Any, item: Any, info: Any) -> Any:
        if not any(is_there for is_there, _ in results) and item["file_urls"]:
            raise DropItem("no files")
        return super().item_completed(results, item, info)


class RefusesOdd:
    """Changes an item, and refuses it by what it says, or by where it is from."""

    def process_item(self, item: Any) -> Any:
        item["length"], item["looked_at"] = len(item["text"]), "by RefusesOdd"
        if "Refuse everywhere" in item["text"] or ("Refuse first" in item["text"] and "/first" in item["url"]):
            raise DropItem("not wanted")
        return item
