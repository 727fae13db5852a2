"""What a page shows or offers beside one long text: which kinds of difference make another page, and which are overlooked.

    python -m benchmarks.quality.shown

Of each kind a site of thirty pages with one template and one text of some 500 words. They differ in nothing but what the kind says.
Printed: how many of the thirty are called copies, 0 where none is lost.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from simcrawl import Detector, open_store
from tests.samples import english

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES, SENTENCES = 30, 56


def _hex(number: int) -> str:
    return f"{(number + 7) * 2654435761 % 2**40:010x}"


def _words(number: int, count: int = 4) -> str:
    random = Random(number)
    return " ".join("".join(random.choices("abcdefghiklmnoprstuvw", k=6)) for _ in range(count))


def _degrees(number: int) -> str:
    return f"{47 + number / 37:.5f}"


KINDS: dict[str, Callable[[int], str]] = {
    "a picture": lambda n: f"<img src=/p/item{n}.jpg>",
    "in several sizes": lambda n: f"<img srcset='/p/item{n}-300x200.jpg 300w, /p/item{n}.jpg 900w'>",
    "in several formats": lambda n: f"<picture><source srcset='/p/item{n}.webp'><img alt=''></picture>",
    "loaded late": lambda n: f"<img src=/placeholder.gif data-src='/p/item{n}.jpg'>",
    "loaded late, in several sizes": lambda n: f"<img src=/placeholder.gif data-srcset='/p/item{n}.jpg 1x'>",
    "sent by a program": lambda n: f"<img src='/image.php?id={n}'>",
    "made smaller by a program": lambda n: f"<img src='/_next/image?url=%2Fp%2Fitem{n}.jpg&w=640&q=75'>",
    "drawn by a program": lambda n: f"<img src='https://codes.test/create?size=150x150&data={_hex(n)}'>",
    "in the page itself": lambda n: f"<img src='data:image/png;base64,{'iVBOR' * 80}{_hex(n) * 20}'>",
    "as a background": lambda n: f"<div style=\"background-image: url('/p/item{n}.jpg')\"></div>",
    "as a background, loaded late": lambda n: f"<div class=lazy data-bg='/p/item{n}.jpg'></div>",
    "the only one, in a link to a page": lambda n: f"<a href='/large/{n}'><img src=/p/item{n}.jpg></a>",
    "in a link to itself": lambda n: f"<a href='/p/item{n}.jpg'><img src=/p/item{n}_thumb.jpg></a>",
    "by a component": lambda n: f"<amp-img src='/p/item{n}.jpg' width=600 height=400></amp-img>",
    "a drawing": lambda n: f"<svg><path d='{' '.join(f'L{x} {x * n % 97}' for x in range(120))}'/></svg>",
    "a picture in a drawing": lambda n: f"<svg width=500 height=500><image href='/p/item{n}.png'/></svg>",
    "a meter": lambda n: f"<meter value={n / PAGES:.3}></meter>",
    "a video": lambda n: f"<video src=/v/item{n}.mp4></video>",
    "a video in a frame": lambda n: f"<iframe src='https://video.test/embed/{_hex(n)}'></iframe>",
    "a video in a frame, by a parameter": lambda n: f"<iframe src='https://video.test/watch?v={_hex(n)}'></iframe>",
    "a video played by a script": lambda n: f"<div id=player></div><script>player.setup({{file: '/v/item{n}.mp4', width: 640}})</script>",
    "a video named in a script": lambda n: f"<div id=player></div><script>new YT.Player('p', {{videoId: '{_hex(n)}'}})</script>",
    "a video by a component": lambda n: f"<lite-youtube videoid='{_hex(n)}'></lite-youtube>",
    "sound": lambda n: f"<audio><source src=/v/item{n}.mp3></audio>",
    "an object": lambda n: f"<object data=/f/item{n}.swf></object>",
    "a model": lambda n: f"<model-viewer src='/m/item{n}.glb'></model-viewer>",
    "a document in a viewer": lambda n: f"<iframe src='/viewer.html?file=/f/item{n}.pdf'></iframe>",
    "a map in a frame": lambda n: f"<iframe src='https://maps.test/embed?q=item+{n}'></iframe>",
    "a map drawn by a script": lambda n: f"<div id=map></div><script>L.map('map').setView([{_degrees(n)}, 8.5], 13)</script>",
    "a map's place in attributes": lambda n: f"<div class=map data-lat='{_degrees(n)}' data-lng=8.5></div>",
    "a place in JSON-LD": lambda n: f'<script type="application/ld+json">{{"geo": {{"latitude": {_degrees(n)}}}}}</script>',
    "a chart drawn by a script": lambda n: f"<div id=chart></div><script>draw([{n}, {n * 7 % 13}, {n * n % 17}])</script>",
    "an archive": lambda n: f"<a href='/f/item{n}.zip'>Download</a>",
    "a document": lambda n: f"<a href='/f/item{n}.pdf'>Download</a>",
    "a picture in full size": lambda n: f"<a href='/f/item{n}.jpg'>Full size</a>",
    "a file sent by a program": lambda n: f"<a href='/get.php?file=item{n}.zip'>Download</a>",
    "a link marked as a download": lambda n: f"<a download href='/get/{n}'>Download</a>",
    "a magnet link": lambda n: f"<a href='magnet:?xt=urn:btih:{_hex(n) * 4}'>Download</a>",
    "an address to write to": lambda n: f"<a href='mailto:item{n}@example.com'>Write</a>",
    "a number to call": lambda n: f"<a href='tel:+4930{n:06}'>Call</a>",
    "a chart drawn from an attribute": lambda n: f"<canvas data-values='{n},{n * 7 % 13},{n * n % 17}'></canvas>",
    "a position set up from an attribute": lambda n: f"<div data-fen='8/8/4k3/8/{n // 8}K{n % 8}/8/8/8 w - - {n} 1'></div>",
    "a position in a component": lambda n: f"<chess-board fen='8/8/4k3/8/8/8/8/4K3 w - - {n} 1'></chess-board>",
    "a formula in an attribute": lambda n: f"<span class=math data-latex='x^{n} + {n}'></span>",
    "a video named in an attribute": lambda n: f"<div class=player data-video-id={_hex(n)}></div>",
    "sound behind a button": lambda n: f"<button data-audio='/v/item{n}.mp3'>Listen</button>",
    "an answer in an attribute": lambda n: f"<div data-answer='{_words(n)}'>Show the answer</div>",
    "a drawing told in words": lambda n: f"<div role=img aria-label='{_words(n)}'></div>",
    "a field to copy from": lambda n: f"<input readonly value='install item{n}'>",
    "a colour": lambda n: f"<div style='background: #{n * 9973 % 2**24:06x}; height: 300px'></div>",
    "where a form leads": lambda n: f"<form action='/buy/{n}'><button>Buy</button></form>",
    "a hidden field": lambda n: f"<form action=/buy><input type=hidden name=sku value={_hex(n)}><button>Buy</button></form>",
    "a few words for one picture": lambda n: f"<img src=/same.jpg alt='{_words(n)}'>",
    "a person's picture": lambda n: f"<img width=300 src='/avatars/item{n}.jpg'>",
    "a link to another site": lambda n: f"<a href='https://item{n}.example.org/'>Website</a>",
    "four words": lambda n: f"<p>{_words(n)}</p>",
}
LOSE_PAGES = frozenset(list(KINDS)[list(KINDS).index("where a form leads") :]) - {"four words"}
"""Kinds of which pages are called copies; the others lose nothing."""


def copies(kind: str, pages: int = PAGES) -> int:
    """Return how many of a site's pages are called copies."""
    text, found = english(SENTENCES), 0
    with open_store("memory:") as store:
        detector = Detector(store)
        for number in range(1, pages + 1):
            html = f"<body><header><a href=/>Home</a></header><main><h1>Item</h1>{KINDS[kind](number)}<p>{text}</p></main></body>"
            found += detector.admit(detector.extract(html, url=f"http://example.com/{number}")).is_duplicate
    return found


def main() -> None:
    """Print the table."""
    table = Table("what differs", "called copies", title=f"{PAGES} pages with one text of {len(english(SENTENCES).split())} words")
    for kind in KINDS:
        table.add_row(kind, str(copies(kind)))
    Console().print(table)


if __name__ == "__main__":
    main()
