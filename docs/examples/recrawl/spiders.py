"""A spider that says of each page whether it is new, changed or as it was at the last crawl."""

import json
from pathlib import Path

import scrapy

import simcrawl
from simcrawl.rule import Kind


class RecrawlSpider(scrapy.Spider):
    """`-a last=FILE`: the items of the last crawl, as JSON lines."""

    name = "recrawl"
    last = ""

    async def start(self):
        lines = Path(self.last).read_text().splitlines() if self.last else []
        self.known = {item["url"]: item["fingerprint"] for item in map(json.loads, lines)}
        yield scrapy.Request(self.url)

    def parse(self, response):
        verdict = simcrawl.verdict(response)
        # Only its prose tells whether a page has changed, not its date. Of one store all fingerprints are comparable.
        fingerprint = getattr(verdict.page, "hex", None)
        yield {"url": response.url, "fingerprint": fingerprint, "state": self.state(response.url, verdict.kind, fingerprint)}
        yield from response.follow_all(css="a[href$='html']")

    def state(self, url, kind, fingerprint):
        if url in self.known:
            return "as it was" if fingerprint == self.known[url] else "changed"
        return "new" if kind is Kind.ADMITTED else kind.value
