"""A spider of a news site: one item an article."""

import scrapy

import simcrawl


class NewsSpider(scrapy.Spider):
    name = "news"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        if response.css("h1"):
            yield {
                "url": response.url,
                "title": " ".join(response.css("h1 ::text").get("").split()),
                # Without menus and teasers.
                "text": simcrawl.main_text(response.body, response.encoding),
            }
        yield from response.follow_all(css="a[href^='/']")
