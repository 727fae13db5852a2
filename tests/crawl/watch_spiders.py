"""A spider that seems to have been to very many hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, signals as scrapy_signals
from scrapy.http import Response as PlainResponse

import simcrawl
from tests.crawl.spiders import Base

if TYPE_CHECKING:
    from scrapy.http import Response


class Everywhere(Base):
    """Says that it has had answers of three thousand hosts, and that as many rules have skipped requests, the first one twice."""

    name = "everywhere"

    def parse(self, response: Response, **_: Any) -> Any:
        send = self.crawler.signals.send_catch_log
        for number in range(3_000):
            url = f"http://host{number}.test/"
            request = Request(url, meta={"download_latency": float(number)})
            send(scrapy_signals.response_downloaded, request=request, response=PlainResponse(url), spider=self)
            prediction = simcrawl.Prediction(0.99, url, f"rule {number}", 30.0)
            for _again in range(1 if number else 2):
                send(simcrawl.signals.request_skipped, request=request, prediction=prediction, spider=self)
        return self.follow(response)
