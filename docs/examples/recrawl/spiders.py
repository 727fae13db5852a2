"""A spider that says of each page that comes out whether it is new, changed or as it was at the last crawl."""

import scrapy


class RecrawlSpider(scrapy.Spider):
    """`-a url=URL`: where to start."""

    name = "recrawl"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        # By the page's URL and text, since this spider's last finished crawl on this store.
        yield {"url": response.url, "state": response.meta.get("simcrawl_change")}
        yield from response.follow_all(css="a[href$='html']")
