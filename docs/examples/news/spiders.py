"""A spider of a news site: one item an article."""

import scrapy

import simcrawl


class NewsSpider(scrapy.Spider):
    name = "news"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        if response.css("h1"):
            verdict = simcrawl.verdict(response)
            yield {
                "url": response.url,
                "title": " ".join(response.css("h1 ::text").get("").split()),
                # What simcrawl took for the article, without menus and teasers.
                "text": verdict.page.text if verdict and verdict.page else None,
            }
        yield from response.follow_all(css="a[href^='/']")
