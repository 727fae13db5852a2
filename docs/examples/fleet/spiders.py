"""A spider whose processes share one queue."""

from scrapy_redis.spiders import RedisSpider


class ManualSpider(RedisSpider):
    """Begins with what somebody puts into the list `manual:start_urls`, and follows every link."""

    name = "manual"

    def parse(self, response):
        """Yield the page, and its links."""
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")
