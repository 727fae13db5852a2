"""A Zyte API of the tests' own: it answers for the pages of a site, as the real one does, and charges nothing."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.crawl.server import Answer, Quiet, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crawl.server import Site


class ZyteApi(Running):
    """Answers for a site; `asked` counts by path and by what was asked for. `render`: what a browser shows of a page."""

    def __init__(self, site: Site, render: Callable[[str], str] = str) -> None:
        self.site, self.render = site, render
        self.asked: Counter[tuple[str, str]] = Counter()
        super().__init__(partial(_Handler, self))

    def settings(self, *addons: str) -> dict[str, Any]:
        """Return the settings of a crawl that asks for all of its pages here."""
        return {
            "ADDONS": {"simcrawl.Addon": 500, "scrapy_zyte_api.Addon": 500} | dict.fromkeys(addons, 300),
            "ZYTE_API_KEY": "a",
            "ZYTE_API_URL": self.url("/v1/"),
        }

    def answer(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return what is sent for a query."""
        parts = urlsplit(query["url"])
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        page = self.site.answers.get(path, Answer(b"", 404))
        self.site.requests[path] += 1
        self.asked.update((path, name) for name in query if name != "url")
        found: dict[str, Any] = {"url": query["url"], "statusCode": page.status}
        if "httpResponseBody" in query:
            headers = [{"name": name, "value": value} for name, value in page.headers.items()]
            found |= {"httpResponseBody": b64encode(page.body).decode(), "httpResponseHeaders": headers}
        if "browserHtml" in query:
            found["browserHtml"] = self.render(page.body.decode())
        if "product" in query:
            found["product"] = {"url": query["url"], "name": f"Product {path}"}
        return found


class _Handler(Quiet, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, api: ZyteApi, *args: Any) -> None:
        self.api = api
        super().__init__(*args)

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(self.api.answer(query)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
