"""A web server in a process of its own: `python -m benchmarks.crawl.server KIND DIRECTORY PAGES LATENCY`; prints its port."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from benchmarks.crawl.sites import make

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def serving(kind: str, root: Path, pages: int, latency: float) -> Iterator[str]:
    """Serve a site for the length of a `with` block, and give its address."""
    command = [sys.executable, "-m", "benchmarks.crawl.server", kind, str(root), str(pages), str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            if not port:
                raise RuntimeError(f"the server of {kind} did not start")
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


class _Pages(Resource):
    isLeaf = True  # noqa: N815 - as below

    def __init__(self, site: Callable[[str], bytes | None], latency: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._site, self._latency = site, latency

    def render_GET(self, request: Any) -> int:  # noqa: N802 - Twisted's name
        asyncio.get_running_loop().call_later(self._latency, self._answer, request)
        return NOT_DONE_YET

    def _answer(self, request: Any) -> None:
        body = self._site(request.uri.decode("ascii"))
        request.setResponseCode(200 if body else 404)
        request.setHeader(b"Content-Type", b"text/html; charset=utf-8")
        request.setHeader(b"Content-Length", str(len(body or b"")).encode())
        request.write(body or b"")
        request.finish()


def main() -> None:
    """Serve until terminated."""
    kind, root, pages, latency = sys.argv[1:]
    # Twisted's functions have no types, and a reactor must be chosen before it is loaded.
    web, chosen = import_module("twisted.web.server"), import_module("twisted.internet.asyncioreactor")
    chosen.install()
    reactor: Any = import_module("twisted.internet.reactor")
    site = web.Site(_Pages(make(kind, Path(root), int(pages)), float(latency)))
    site.displayTracebacks = False
    port = reactor.listenTCP(0, site, interface="127.0.0.1")
    print(port.getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
