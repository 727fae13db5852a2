"""Serves the demonstration site on loopback: `python -m simcrawl.crawl.demo_server` for a crawl of your own."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SITE = Path(__file__).parent / "demo_site"
_PORT = 18_000


def demo_server(port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the demo site, not running yet. /mirror/ is a mirror of everything; port 0: any that is free."""
    return _Server(("127.0.0.1", port), partial(_Handler, directory=str(SITE)))


class _Server(ThreadingHTTPServer):
    # A crawler opens more connections at once than the usual five; the rest would wait a second each.
    request_queue_size = 128


class _Handler(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/mirror"))

    def log_message(self, *_: Any) -> None:
        """Say nothing: the crawl has a log of its own."""


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m simcrawl.crawl.demo_server", description=__doc__)
    parser.add_argument("port", type=int, nargs="?", default=_PORT, help="default: %(default)s; 0: any that is free")
    port = parser.parse_args().port
    try:
        made = demo_server(port)
    except (OSError, OverflowError) as exc:
        parser.exit(1, f"Port {port} cannot be had ({exc}): end what uses it, or name another one: {parser.prog} 18001\n")
    with made as server, suppress(KeyboardInterrupt):
        sys.stdout.write(f"The demo site is at http://127.0.0.1:{server.server_port}/ until you press Ctrl-C\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
