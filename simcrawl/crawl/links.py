"""The links that a crawl dropped: how many, behind how many pages, and behind which page most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class DroppedLinks:
    """A few numbers, however long the crawl. `url` is that of the page with the most links, `most` their number."""

    links: int = 0
    pages: int = 0
    most: int = 0
    url: str = ""

    def add(self, url: str, links: int) -> bool:
        """Count the links of one page that were dropped; return whether they are the first ones."""
        if not links:
            return False
        self.links += links
        self.pages += 1
        if links > self.most:
            self.most, self.url = links, url
        return self.pages == 1

    @property
    def where(self) -> str:
        """Say behind how many pages they were."""
        return f"behind {_counted(self.pages, 'page')}" if self.links else ""

    def __str__(self) -> str:
        """Return a sentence with a space after it for the end of a crawl; nothing where no link was dropped."""
        if not self.links:
            return ""
        dropped = "was dropped" if self.links == 1 else "were dropped"
        return f"{_counted(self.links, 'link')} behind {_counted(self.pages, 'page')} {dropped}, most behind {self.url} ({self.most}). "


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
