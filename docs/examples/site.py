"""Small web sites to try settings on: `python docs/examples/site.py KIND [PORT]` serves one on this machine.

Real text (LibreOffice Help, in English and Chinese, from simcrawl's demonstration) in what stands around pages of such a kind: the same
content under several addresses. Each answer says in its header X-Content which content it has, so that a crawl can be judged.

    news      articles in Chinese, in three channels with menus, teasers and dates of their own, and a version for printing
    shop      series of products that differ in a sentence, each product in two colours, in listings with three sort orders
    forum     threads of posts, each thread also under the address of each of its posts, and newest first
    manual-1  two releases of a manual in two languages, and a mirror of everything
    manual-2  the same a month later: the older release has moved, two pages of the other were rewritten
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import simcrawl

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = Path(simcrawl.__file__).parent / "crawl" / "demo_site"
PORT = 18_000


class Page(NamedTuple):
    """A page, and the name of its content; pages that only lead to others have none."""

    html: str
    content: str = ""


def topics(language: str, release: str = "7.4") -> dict[str, str]:
    """Return the contents of the manual's pages by name, without links."""
    files = sorted((TEXTS / release / language).glob("[!i]*.html"))
    return {file.stem: re.sub(' href="[^"]*"', "", re.findall("(?s)<main>.*</main>", file.read_text())[0]) for file in files}


def sentences(language: str) -> list[str]:
    """Return the manual's longer sentences."""
    text = re.sub("<[^>]*>", " ", " ".join(topics(language).values()))
    return [part.strip() for part in re.split(r"(?<=[.。])\s", " ".join(text.split())) if len(part) > 40]


def page(title: str, body: str, content: str = "") -> Page:
    """Return a page."""
    head = f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{title}</title></head>"
    return Page(f"{head}<body>{body}</body></html>", content)


def links(paths: list[str]) -> str:
    """Return a list of links."""
    return "<ul>" + "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths) + "</ul>"


def news() -> Iterator[tuple[str, Page]]:
    """Yield a site of articles in Chinese."""
    random, articles, teasers = Random(0), topics("zh"), sentences("zh")
    channels = ("tech", "office", "today")
    menus = {channel: "".join(f"<li><a href='#'>{teaser[:12]}</a></li>" for teaser in random.sample(teasers, 30)) for channel in channels}
    for channel in channels:
        yield f"/{channel}/", page(channel, links([f"/{channel}/{name}.html" for name in articles]))
        for name, text in articles.items():
            box = "".join(f"<p><a href='#'>{teaser}</a></p>" for teaser in random.sample(teasers, 6))
            date = f"<p class='date'>2026-11-{random.randint(1, 30):02} {random.randint(0, 23):02}:15</p>"
            body = f"<nav><ul>{menus[channel]}</ul></nav>{date}{text}<aside>{box}</aside><p><a href='/print/{name}.html'>打印</a></p>"
            yield f"/{channel}/{name}.html", page(name, body, name)
    for name, text in articles.items():
        yield f"/print/{name}.html", page(name, text, name)
    yield "/", page("news", links([f"/{channel}/" for channel in channels]))


def shop() -> Iterator[tuple[str, Page]]:
    """Yield a shop."""
    random, texts = Random(0), sentences("en")
    template = f"<footer><p>{' '.join(texts[:8])}</p></footer>"
    # Three models of a series have a description in common, and each a sentence of its own.
    series = [" ".join(random.sample(texts[8:], 6)) for _ in range(10)]
    products = {f"p{number}": f"{series[number // 3]} {random.choice(texts)}" for number in range(30)}
    for name, text in products.items():
        for address, colour in ((name, "red"), (f"{name}-blue", "blue")):
            price = f"<p>Price: {random.randint(5, 900)}.00</p>" if colour == "red" else ""
            yield (
                f"/{address}",
                page(name, f"<main><h1>Product {name}</h1><p>Colour: {colour}</p>{price}<p>{text}</p></main>{template}", name),
            )
    for order in ("name", "price", "new"):
        names = random.sample(list(products), len(products))
        for number in range(3):
            shown = [f"/{name}{variant}" for name in names[number * 10 : number * 10 + 10] for variant in ("", "-blue")]
            yield f"/list/{order}/{number}", page("list", f"<main><h1>Products</h1>{links(shown)}</main>{template}")
    yield "/", page("shop", links([f"/list/{order}/{number}" for order in ("name", "price", "new") for number in range(3)]))


def forum() -> Iterator[tuple[str, Page]]:
    """Yield a forum."""
    random, texts = Random(0), sentences("en")
    threads = {f"t{number}": random.sample(texts, 6) for number in range(20)}
    yield "/", page("forum", links([f"/{name}" for name in threads]))
    for name, posts in threads.items():
        shown = [f"<article><h2>user{random.randint(1, 99)}</h2><p>{post}</p></article>" for post in posts]
        others = [f"/{name}/newest", *(f"/{name}/post-{number}" for number in range(len(posts)))]
        for address, body in [(f"/{name}", shown), (others[0], shown[::-1]), *((other, shown) for other in others[1:])]:
            visitors = f"<p>{random.randint(2, 99)} visitors are online</p>"
            yield address, page(name, f"<main><h1>Thread {name}</h1>{''.join(body)}</main>{visitors}{links(others)}", name)


def manual(*, later: bool = False) -> Iterator[tuple[str, Page]]:
    """Yield two releases of a manual and a mirror, as they are or as they are a month later."""
    moved = {"7.4": "archive/7.4"} if later else {}
    rewritten, texts = ("25.2/en/goal-seek.html", "25.2/en/content-controls.html"), sentences("en")
    for file in sorted(TEXTS.rglob("*.html")):
        html, (release, *rest) = file.read_text(), file.relative_to(TEXTS).parts
        if later:
            html = (
                html.replace('href="7.4/', 'href="archive/7.4/')
                .replace("../7.4/", "../archive/7.4/")
                .replace("mirror/7.4", "mirror/archive/7.4")
            )
            if file.relative_to(TEXTS).as_posix() in rewritten:
                html = re.sub(
                    "(?s)<main>.*</main>", f"<main><h1>Rewritten</h1><p>{' '.join(texts.pop() for _ in range(20))}</p></main>", html
                )
        path = "/".join(["", moved.get(release, release), *rest])
        yield path.removesuffix("index.html") or "/", Page(html, path)
        yield path, Page(html, path)
        yield f"/mirror{path}", Page(html, path)


KINDS = {"news": news, "shop": shop, "forum": forum, "manual-1": manual, "manual-2": partial(manual, later=True)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Or the body waits until the crawler has acknowledged the head, 40 ms a page.
    disable_nagle_algorithm = True

    def __init__(self, pages: dict[str, Page], *args: Any) -> None:
        self.pages = pages
        super().__init__(*args)

    def do_GET(self) -> None:
        found = self.pages.get(self.path)
        body = found.html.encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content", found.content if found else "")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the crawl has a log of its own."""


class _Server(ThreadingHTTPServer):
    # A crawler opens more connections at once than the usual five; the rest would wait a second each.
    request_queue_size = 128


def server(kind: str, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a site of a kind, not running yet; port 0: any that is free."""
    return _Server(("127.0.0.1", port), partial(_Handler, dict(KINDS[kind]())))


def main() -> None:
    """Serve until Ctrl-C."""
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"usage: python docs/examples/site.py {'|'.join(KINDS)} [PORT]")
    port = int(sys.argv[2]) if sys.argv[2:] else PORT
    try:
        made = server(sys.argv[1], port)
    except OSError as exc:
        sys.exit(f"Port {port} cannot be had ({exc}): end what uses it, or name another one: python site.py {sys.argv[1]} 18001")
    with made as running, suppress(KeyboardInterrupt):
        sys.stdout.write(f"The site is at http://127.0.0.1:{running.server_port}/ until you press Ctrl-C\n")
        sys.stdout.flush()
        running.serve_forever()


if __name__ == "__main__":
    main()
