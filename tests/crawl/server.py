"""Real web servers on loopback for crawls under test."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Quiet:
    # Head and body are two packets: on a connection that is kept, the second would wait 40 ms for the crawler to acknowledge the first.
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Crawlers open eight or sixteen connections at once. Past the five of the default, the system drops one, and the crawler asks again
    # after a second.
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        """Say nothing: crawlers that are killed leave broken connections."""


class Running:
    """A server in a thread of its own for the length of a `with` block."""

    def __init__(self, handler: Any, port: int = 0, host: str = "127.0.0.1") -> None:
        self.host = host
        self._server = _Server((host, port), handler)

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}:{self._server.server_port}{path}"


@dataclass
class Answer:
    """What a path answers. `hold` delays the answer until it is set."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    hold: Event | None = None


class Site(Running):
    """A site made of answers; `requests` counts how often each path was asked for. `trap` makes pages of paths without an answer.

    `reply` makes the answers of a program, in JSON, to what is posted there, whatever the path.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.answers: dict[str, Answer] = {}
        self.trap: Callable[[str], str | None] = lambda _: None
        self.reply: Callable[[bytes], str] | None = None
        self.requests: Counter[str] = Counter()
        super().__init__(partial(_AnswerHandler, self), host=host)

    def add(self, path: str, body: str | bytes, *, status: int = 200, hold: Event | None = None, **headers: str) -> None:
        encoded = body.encode() if isinstance(body, str) else body
        answer = Answer(encoded, status, hold=hold)
        answer.headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = answer


class _AnswerHandler(Quiet, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, site: Site, *args: Any) -> None:
        self.site = site
        super().__init__(*args)

    def do_GET(self) -> None:
        posted = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.site.requests[self.path] += 1
        answer = self.site.answers.get(self.path) or self._reply(posted) or self._trap() or Answer(b"<p>not found</p>", 404)
        if answer.hold:
            answer.hold.wait(30)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "Content-Length" in answer.headers:
            # One that is not so.
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def _reply(self, posted: bytes) -> Answer | None:
        made = self.site.reply(posted) if self.site.reply and self.command == "POST" else None
        return Answer(made.encode(), headers={"Content-Type": "application/json"}) if made else None

    def _trap(self) -> Answer | None:
        made = self.site.trap(self.path)
        return Answer(made.encode()) if made else None

    do_POST = do_GET  # noqa: N815 - as above


class DirectorySite(Running):
    """The files of a directory."""

    def __init__(self, root: Path, port: int = 0) -> None:
        self.root = root
        super().__init__(partial(_FileHandler, directory=str(root)), port)


class _FileHandler(Quiet, SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
