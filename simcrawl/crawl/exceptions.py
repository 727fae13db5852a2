"""What is raised inside Scrapy for pages and items that are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem, IgnoreRequest

if TYPE_CHECKING:
    from scrapy.http import Response

    from simcrawl.rule import Verdict


class NearDuplicate(IgnoreRequest):
    """Raised inside Scrapy for a dropped page; an errback sees it as `failure.value`."""

    def __init__(self, verdict: Verdict, response: Response) -> None:
        self.verdict = verdict
        self.response = response
        super().__init__(f"{verdict.reason} of {verdict.original}")


class NearDuplicateItem(DropItem):
    """Raised inside Scrapy for an item that is a copy of another one."""
