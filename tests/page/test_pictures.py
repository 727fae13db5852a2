"""What pictures are called, and whether another picture makes another page."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from benchmarks.quality.shown import KINDS, LOSE_PAGES, copies
from simcrawl import Detector, open_store
from simcrawl.page import names, names_compared
from simcrawl.page.blocks import NO_PARTS
from simcrawl.page.cut import Cut
from simcrawl.page.extraction import extract
from simcrawl.page.fingerprint import NO_HASHES
from simcrawl.page.pictures import attributes, has_styles, name_of
from tests.samples import english

FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"
PIECES = ("rook", "knight", "bishop", "rook", "knight", "bishop", "rook", "knight")
BOARD = "".join(f"<td><img src={name}.png></td><td></td>" for name in PIECES)
OF_PRODUCTS = "".join(f"<td><img src=product-{number}.png></td>" for number in range(10))
PATH = " ".join(f"L{x} {x * x % 97}" for x in range(120))


def shown(markup: str) -> tuple[str, ...]:
    page = f"<body><main><h1>A picture</h1>{markup}<p>{english(80)}</p></main></body>"
    return extract(page.encode(), encoding="utf-8", url="http://example.com/").parts.pictures


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/photos/sunset.jpg", "sunset"),
        ("https://cdn.test/a/b/sunset.jpg?v=17#x", "sunset"),
        ("sunset-300x200.jpg", "sunset"),
        ("sunset_thumb.jpg", "sunset"),
        ("sunset@2x.png", "sunset"),
        ("sunset.3fa81c09d2.png", "sunset"),
        ("/codes/3fa81c09d2.png", "3fa81c09d2"),
        ("/photos/17/large.jpg", "17/large"),
        ("/photos/17/w640/2.jpg", "17/2"),
        ("/media/render/3fa81c09/800x800.jpg", "3fa81c09"),
        ("/media/render/3fa81c09/w200.jpg", "3fa81c09"),
        ("/800x800.jpg", "/800x800"),
        ("/houses/h101.jpg", "houses/h101"),
        ("/rugs/12x24.jpg", "rugs/12x24"),
        ("/sunset.jpg;jsessionid=17", "sunset"),
        ("/photo.php?id=17", "photo.php?17"),
        ("/photo.php?size=large&id=17", "photo.php?17"),
        ("/photo.php?17", "photo.php"),
        ("/formula.latex?x^2", "formula.latex?x^2"),
        ("/photos/image.jpg?id=17", "image?17"),
        ("/_next/image?url=%2Fphotos%2Fsunset.jpg&w=640&q=75", "image?sunset.jpg"),
        ("/PXL_20240512_101112345.jpg", "PXL_20240512_101112345"),
        ("/AdobeStock_123456789.jpeg", "AdobeStock_123456789"),
        ("/strip-20240512.png", "strip-20240512"),
        ("/sunset-1715501112.jpg", "sunset"),
        # All that is its own is the digest of what it holds.
        ("/uploads/photo_3fa81c09d2.jpg", "photo_3fa81c09d2"),
        ("/uploads/photo_3fa81c09d2-300x200.jpg", "photo_3fa81c09d2"),
        ("https://iiif.test/iiif/2/ms%2F12r/full/full/0/default.jpg", "ms%2F12r full"),
        ("https://iiif.test/iiif/3/ms%2F12r/full/!600,600/0/default.jpg", "ms%2F12r full"),
        ("https://iiif.test/iiif/3/ms%2F12r/square/max/90/gray.png", "ms%2F12r square"),
        ("https://iiif.test/ark:/12148/b84/f12/pct:10,10,50,50/600,/0/native.jpg", "ark:/12148/b84/f12 pct:10,10,50,50"),
        ("/listings/17/floorplan.jpg", "17/floorplan"),
        ("/species/oak/map.png", "oak/map"),
        ("/people/17/photo-1.jpg", "17/photo-1"),
        ("/docs/maps.png", "maps"),
        # Of a release, or packed by a program.
        ("/doc-3.0/map.png", "map"),
        ("/static/3fa81c09/portrait.jpg", "portrait"),
        ("/assets/map.png", "map"),
        ("/maps/town_files/0/0_0.jpg", "town"),
        ("/sheets/herb17/TileGroup0/0-0-0.jpg", "herb17"),
        ("/object/site%3A17/datastream/OBJ/view", "site%3A17/view"),
        ("https://media.test/media/17.jpg/v1/fill/w_600,h_400,al_c/file.jpg", "17.jpg/file"),
        ("/bitstreams/3fa81c09-17/content", "3fa81c09-17/content"),
        ("/maps/town_files/12/5_6.jpg", "5_6"),
        ("/play?v=123456", "play?123456"),
        ("/img?id=1512345678", "img?1512345678"),
        ("/get.php?id=7&osCsid=ab1", "get.php?7"),
        ("/get?id=7&X-Amz-Date=5&AWSAccessKeyId=AB&oh=1&_nc_cat=3", "get?7"),
        ("/flag.php?lang=de&w=20", "flag.php?de"),
        ("/flag.php?id=7&lang=de", "flag.php?7"),
        ("/products/hat_600x.jpg", "hat"),
        ("/thumb/a/a9/Hat.jpg/220px-Hat.jpg", "Hat"),
        ("/graph_image.php?local_graph_id=17&graph_start=2", "graph_image.php?17 2"),
        ("/chart?s=ABC&w=400", "chart?ABC"),
        ("/chart?s=400&t=1715501112&_=0.123456789", "chart"),
        ("/lib/exe/fetch.php?w=200&tok=abc123&media=ns:beach.jpg", "fetch.php?ns:beach.jpg"),
        ("/get?sessionId=17&sid=4&uuid=5&format=png&quality=80", "get?5"),
        ("/img/spacer.gif", ""),
        ("/captcha/17.png", ""),
        ("http://[broken", ""),
        ("data:image/gif;base64,R0lGODlhAQ", ""),
        ("data:image/png;base64," + "x" * 3_000, "x" * 2_000),
        ("", ""),
    ],
)
def test_a_picture_is_called_by_its_address_not_by_where_it_is_or_in_what_size(address: str, name: str):
    assert name_of(address) == name


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("<img src=/a/one.jpg>", ("one",)),
        ("<img src=/loading.gif data-src=/a/one.jpg>", ("one",)),
        ("<a href=/next><img src=one.jpg></a>", ("one",)),
        ("<a href=http://example.com/next><img src=one.jpg></a>", ("one",)),
        ("<a href=http://example.org/next><img src=one.jpg></a>", ()),
        ("<a href=/next><img src=one.jpg></a><a href=/last><img src=two.jpg></a>", ()),
        ("<a href=/next><img src=one.jpg></a><img src=two.jpg>", ("two",)),
        ("<a href=/full/one.jpg><img src=one_thumb.jpg></a>", ("one", "one")),
        ("<img srcset='/a/one-300x200.jpg 300w, /a/one.jpg 900w'>", ("one",)),
        ("<img src=/loading.gif data-srcset='/a/one.jpg 1x'>", ("one",)),
        *(
            (f"<img src=/loading.gif {name}=/a/one.jpg>", ("one",))
            for name in ("data-lazy", "data-cmplz-src", "nitro-lazy-src", ":src", "v-lazy")
        ),
        ("<img src='data:image/gif;base64,R0' data-zoom='https://cdn.test/one.webp?v=2' data-url=/next>", ("one",)),
        ("<img src=/loading.gif data-lazy-srcset='/a/one-300x200.jpg 300w, /a/one.jpg 900w'>", ("one",)),
        # What is no file, or not shown here.
        ('<img src=/loading.gif data-link=/next data-config=\'{"src": "/one.jpg"}\' onclick=/one.jpg>', ()),
        ("<iframe data-src='https://video.test/embed/one'></iframe>", ("one",)),
        ("<iframe src=about:blank data-cookieblock-src='https://video.test/embed/one'></iframe>", ("one",)),
        ("<iframe data-src='https://ad.doubleclick.net/one'></iframe>", ()),
        ("<iframe width=1 data-src='https://video.test/embed/one'></iframe>", ()),
        ("<video poster=/a/one.jpg></video>", ("one",)),
        ("<div data-oembed-url='https://video.test/embed/one'></div>", ("one",)),
        ("<a href='https://www.youtube.com/watch?list=x&v=dQw4w9WgXcQ'>Watch</a>", ("dQw4w9WgXcQ",)),
        ("<a href='https://youtu.be/dQw4w9WgXcQ'>Watch</a><a href=https://www.youtube.com/@us>Us</a>", ("dQw4w9WgXcQ",)),
        ("<a href=/fw/17/firmware.zip>Get</a><a href=/fw/17/lamp.zip>Get</a>", ("17/firmware.zip", "lamp.zip")),
        ("<a href=/docs/17/document.pdf>Read</a><a href=/docs/17/rules.pdf>Read</a>", ("17/document", "rules")),
        ("<img width=71 height=32 src=img1.png alt='$x^2-3$'>", ("formula $x^2-3$",)),
        ("<img class=latex src='https://math.test/latex.php?latex=x%5E2&s=0' alt='x^2'>", ("formula x^2",)),
        ("<img height=20 src='/cgi-bin/mimetex.cgi?x^2'>", ("mimetex.cgi?x^2",)),
        ("<img height=20 src=/star.png alt='x^2'>", ()),
        ("<img src=/coat.jpg alt='$19.99'><img src=/shoe.jpg alt='\\\\o/'>", ("coat", "shoe")),
        ("<img class=equation src=/eq1.png alt=Equation height=20>", ("eq1",)),
        ("<img src=/loading.gif data-image-width=12.50 data-full=product.name onmouseover=/x.jpg>", ()),
        ("<img src=/loading.gif data-image-title=/My.jpg data-placeholder=/p.svg>", ()),
        ("<a href='https://vimeo.com/channels/staffpicks/123456'>Watch</a><a href=https://vimeo.com/features>More</a>", ("123456",)),
        ("<picture><source srcset='/a/one.webp'><img alt=''></picture>", ("one",)),
        ("<div style=\"background: #fff url('/a/one.jpg') no-repeat\"></div>", ("one",)),
        ("<a href=/next><div style='background: url(/a/one.jpg)'></div></a>", ("one",)),
        ("<div class=lazyload data-bg=/a/one.jpg></div>", ("one",)),
        ("<template><p style='background: url(/a/one.jpg)'></p></template>", ()),
        ("<amp-img src=/a/one.jpg></amp-img>", ("one",)),
        ("<lite-youtube videoid=dQw4w9WgXcQ></lite-youtube>", ("dQw4w9WgXcQ",)),
        ("<user-avatar class=avatar src=/a/one.jpg></user-avatar>", ()),
        ("<svg><image href=/a/one.png /></svg>", ("one",)),
        ("<a href=/next><svg><image href=/a/one.png /></svg></a>", ()),
        ("<iframe src='https://video.test/watch?v=dQw4w9WgXcQ'></iframe>", ("watch?dQw4w9WgXcQ",)),
        ("<a href=/files/one-1.2.tar.gz>Get it</a>", ("one-1.2.tar.gz",)),
        ("<a href='/get.php?file=one.zip&s=17'>Get it</a>", ("one.zip",)),
        ("<a href='/wiki.php?id=start&image=one.svg&do=media'>one.svg</a>", ("one.svg",)),
        ("<a href=/get/17 download>Get it</a>", ("17 ",)),
        ("<a href=/files/17>Get it</a>", ()),
        ("<a href=mailing-list>Read</a><a href=magnets>Buy</a>", ()),
        ("<a href='mailto:one@example.com?subject=x'>Write</a>", ("mailto:one@example.com",)),
        ("<a href='magnet:?xt=urn:btih:1f&dn=one'>Get it</a>", ("magnet:?xt=urn:btih:1f",)),
        ("<nav><a href=/files/one.zip>Get it</a></nav>", ()),
        ("<div class=map data-lat=47.37 data-lng=8.54></div>", ("47.37 8.54",)),
        ("<div id=map data-lat=47.37 data-lng=8.54></div>", ("47.37 8.54",)),
        ("<div data-fen='8/8/4k3 w'></div>", ("8/8/4k3 w",)),
        ("<div data-fen=8/8/4k3></div>", ("8/8/4k3",)),
        ("<div data-sound=one.mp3></div>", ("one",)),
        ("<chess-board fen='8/8/4k3 w'></chess-board>", ("8/8/4k3 w",)),
        ("<chess-board position='8/8/4k3 w'></chess-board>", ()),
        ("<button data-audio='https://cdn.test/v/one.mp3?v=2'>Play</button>", ("one",)),
        ("<div data-youtube-id=abc></div>", ("abc",)),
        ("<div data-id=7 data-token=abc data-url=/here></div>", ()),
        ("<div data-video-duration=153 data-video-instance=x7></div>", ()),
        ("<div STYLE='background: #ff8800'></div>", ("colour #ff8800",)),
        ("<canvas data-values='3, 10,15'></canvas>", ("3, 10,15",)),
        # Counters.
        ("<div data-points=35 data-answers=3></div>", ()),
        ("<div data-answers='3, 4'></div>", ("3, 4",)),
        ("<div data-latex='a\n  b'></div>", ("a b",)),
        # Of the page that it leads to.
        ("<a href=/other data-video-id=abc>Other</a>", ()),
        ("<a href=/other><i data-video-id=abc></i></a><a href=/third><i data-video-id=def></i></a>", ()),
        ("<nav><div data-video-id=abc></div></nav>", ()),
        ("<div role=img aria-label='A bridge over the river'></div>", ("A bridge over the river",)),
        # An icon.
        ("<span role=img aria-label=star></span>", ()),
        ("<input readonly value='install one'>", ("install one",)),
        ("<input readonly value='https://example.com/this/page'>", ()),
        ("<input value='what was looked for'>", ()),
        ("<div style='background-color: #FF8800'></div>", ("colour #ff8800",)),
        ("<div style='background: rgb(1, 2, 3)'></div>", ("colour rgb(1, 2, 3)",)),
        ("<div style='background: red'></div>", ()),
        # The looks of what is written in it.
        ("<div style='background: #ff8800'>Words</div>", ()),
        ("<script>L.map('map').setView([47.3769, 8.5417], 13)</script>", ("47.3769 8.5417",)),
        ('<script type="application/ld+json">{"geo": {"latitude": 47.3769, "longitude": "-8.5417"}}</script>', ("47.3769 -8.5417",)),
        ("<script>L.marker([47.37, 8.54]).addTo(map)</script>", ("47.37 8.54",)),
        ("<script>ol.proj.fromLonLat([8.5, 47.0])</script>", ("8.5 47.0",)),
        ('<script>{"type": "Polygon", "coordinates": [[[8.5, 47.25], [8, 47]]]}</script>', ("8.5 47.25",)),
        ("<script type='math/tex; mode=display'>x^2</script>", ("x^2",)),
        ("<script>var template = 0.37231, lat = 'en'</script>", ()),
        ("<script>draw([1, 2.5,-3], [300, 250], ['x', 1, 2, 3])</script>", ("[1, 2.5,-3",)),
        ("<script>draw(arrayToDataTable([['Month', 'Sold'],['May', 12]]))</script>", ("['Month', 'Sold'],['May', 12]",)),
        ('<script>new DataTable(t, {data: [["Ann", 7, null], ["Bo", 8, null]]})</script>', ('["Ann", 7, null], ["Bo", 8, null]',)),
        ('<script>draw({"y":{"dtype":"i1","bdata":"GjkCBA=="}})</script>', ("GjkCBA==",)),
        ('<script>draw({"y":{"dtype":"i1","bdata":"Gjk\\u002fBA=="}})</script>', ("Gjk\\u002fBA==",)),
        # Where nothing says that it is a table.
        ("<script>ads([['top', 1], ['side', 2]])</script>", ()),
        # The numbers of a program's parts are others with each build.
        ("<script>new DataTable(t); load([29302, 48516], ['sea', 'boat'])</script>", ()),
        ("<script>player.setup({file: 'https://cdn.test/v/one.mp4?t=17', image: '/i/two.jpg'})</script>", ("one",)),
        ('<script>{"sources": ["\\/v\\/one.webm", "\\/v\\/one.m3u8"]}</script>', ("one",)),
        ("<script>new YT.Player('p', {videoId: 'dQw4w9WgXcQ'})</script>", ("dQw4w9WgXcQ",)),
        ('<script>{"video_id":"k2-7"}, {"video_id":"ab"}</script>', ()),
        ("<script>document.cookie = 'x.mp4more'</script>", ()),
        # Those of other pages.
        (f"<script>more = {[f'/v/{name}.mp4' for name in ('one', 'two', 'three', 'four', 'five')]}</script>", ()),
        ("<img src=one.jpg width=16>", ()),
        ("<button><img src=one.svg>Copy</button>", ()),
        ("<img src=one.jpg style='height: 16px'>", ()),
        ("<img src=one.jpg class=iconimage>", ()),
        # That of a part of the page says something of it; that of the page does not.
        ("<footer><img src=one.jpg></footer>", ("one",)),
        ("</main><footer><img src=one.jpg></footer><main>", ()),
        ("<iframe src=https://video.test/embed/one></iframe>", ("one",)),
        ("<iframe src=https://doubleclick.test/ads/one></iframe>", ()),
        ("<audio src=/media/one.mp3></audio>", ("one",)),
        ("<object data=/files/one.pdf></object>", ("one",)),
        ("<meter value=.7></meter>", ("meter .7",)),
        (f"<script>board = Chessboard('b', {{position: '{FEN}'}})</script>", (f"'{FEN}",)),
        ("<script>tune = 'X:1\\nK:D\\nEecEBe|AFEEgB|fGEeef|'; render(tune)</script>", ("'X:1\\nK:D\\nEecEBe|AFEEgB|fGEeef|",)),
        (f"<script>puzzle = '{'53..7....' * 9}'</script>", (f"'{'53..7....' * 9}'",)),
        # Numbers of requests, versions and sizes.
        ("<script>id = '00000065-0673-0000-0000-000000000000'; a = 'b/c/d/1/2/3'; s = '1024.768'</script>", ()),
        ("<svg><text x=10 y=20>5</text></svg>", ("10 20 5",)),
        ("<svg><use xlink:href='#white-king' transform='translate(45,90)'/><text/></svg>", ("translate(45,90) #white-king ",)),
        ("<svg width=300><rect x=1 y=2 width=3 height=4 /></svg>", ("300 1 2 4 3",)),
        ("<svg width='460.8pt'><rect x=1 y=2 width=3 height=4 /></svg>", ("460.8pt 1 2 4 3",)),
        ("<svg width='100%'><rect x=1 y=2 width=3 height=4 /></svg>", ()),
        ("<svg width=24 height=24><rect x=1 y=2 width=3 height=4 /></svg>", ()),
        # As drawing programs number what they draw, each time anew.
        ("<svg><use href='#m7f3a' x=1 /><text/></svg>", ("1 ",)),
        (f"<table><tr>{BOARD}</tr></table>", (*PIECES, f"arranged {' '.join(PIECES)}")),
        (f"<div>{BOARD.replace('td', 'b')}</div>", PIECES),
        # Each product has another one.
        (f"<table><tr>{OF_PRODUCTS}</tr></table>", tuple(f"product-{number}" for number in range(10))),
        ("<svg><path d='M0 0 L5 5'/></svg>", ()),
        (f"<svg><path d='{PATH}'/></svg>", (PATH,)),
        (f"<svg><svg><path d='{PATH}'/></svg></svg>", (PATH,)),
    ],
)
def test_what_a_page_shows_outside_its_furniture_and_its_links(markup: str, names: tuple[str, ...]):
    assert shown(markup) == names


def page(picture: str, around: str = "") -> str:
    return f"<body><main><h1>Voucher</h1>{picture}<p>{english(400)}</p></main><footer>{around}</footer></body>"


@pytest.mark.parametrize(
    ("first", "second", "is_copy"),
    [
        ("<img src=one.jpg>", "<img src=two.jpg>", False),
        ("<img src=one.jpg>", "<img src=/elsewhere/one.jpg>", True),
        # One that a page leaves out, as in print, says nothing.
        ("<img src=one.jpg>", "", True),
        ("<img src=one.jpg><img src=two.jpg>", "<img src=one.jpg>", True),
        # One that only the second shows would be lost with it.
        ("", "<img src=one.jpg>", False),
        ("", "<a href=one.zip>Get it</a>", False),
        ("<img src=one.jpg>", "<img src=one.jpg><img src=two.jpg>", False),
        ("<img src=one.jpg><img src=two.jpg>", "<img src=one.jpg><img src=three.jpg>", False),
        ("<a href=one.zip>Get it</a>", "<a href=two.zip>Get it</a>", False),
        ("<script>map.setView([47.3769, 8.5417])</script>", "<script>map.setView([47.3769, 8.6417])</script>", False),
        (f"<svg><path d='{PATH}'/></svg>", f"<svg><path d='{PATH[::-1]}'/></svg>", False),
    ],
)
def test_another_picture_with_the_same_text_is_another_content_of_a_site(first: str, second: str, is_copy: bool):
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(detector.extract(page(first), url="http://www.example.com/1"))
        here = detector.admit(detector.extract(page(second), url="http://example.com/2"))
        assert here.is_duplicate == is_copy
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(detector.extract(page(first), url="http://example.com/1"))
        # On two sites one article may stand with two photographs.
        assert detector.admit(detector.extract(page(second), url="http://example.org/2")).is_duplicate


@pytest.mark.parametrize(("heading", "is_copy"), [("", False), ("<h1>The photo club</h1>", True)])
def test_a_picture_of_a_page_without_a_heading_may_stand_anywhere(heading: str, is_copy: bool):
    """With one, what stands outside the part that holds heading and text is not the page's: a logo, a teaser."""
    with open_store("memory:") as store:
        detector = Detector(store)
        made = f"<title>The photo club</title><body><p><img src={{}}.jpg></p><div>{heading}<p>{english(12)}</p></div></body>"
        verdicts = [detector.admit(detector.extract(made.format(number), url=f"http://example.com/{number}")) for number in (1, 2)]
        assert [verdict.is_duplicate for verdict in verdicts] == [False, is_copy]


def test_one_article_in_other_surroundings_may_have_another_picture():
    with open_store("memory:") as store:
        detector = Detector(store)
        detector.admit(detector.extract(page("<img src=one.jpg>", english(300, seed=2)), url="http://example.com/1"))
        verdict = detector.admit(detector.extract(page("<img src=two.jpg>", english(300, seed=3)), url="http://example.com/2"))
        assert verdict.is_duplicate


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_differences_beside_a_long_text(kind: str):
    assert copies(kind, pages=6) == (5 if kind in LOSE_PAGES else 0)


def _named(pictures: list[str]) -> bytes:
    return names.of(
        Cut(names.lines(("x", ""), "", ""), seed=1), Cut("x", seed=1), NO_HASHES, NO_PARTS._replace(heading="x", pictures=tuple(pictures))
    )


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_two_pages_show_others_only_if_each_has_one_of_its_own(a: set[int], b: set[int]):
    first, second = (_named([f"picture {number}" for number in numbers]) for numbers in (a, b))
    said = names_compared.show_others(first, second)
    assert said == names_compared.show_others(second, first)
    assert not said or (a - b and b - a)
    if len(a) < 16 and len(b) < 16:
        assert said == bool(a - b and b - a)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_what_stands_for_all_pictures(a: set[int], b: set[int]):
    first, second = (names_compared.pictures(_named([f"picture {number}" for number in numbers])) for numbers in (a, b))
    # Of two bytes each: of many, two sets may have one value for all.
    assert first == second or a != b
    assert bool(first) == bool(a)
    if len(a ^ b) == 1:
        assert first != second


def test_what_an_older_version_wrote_says_nothing_of_pictures():
    assert not names_compared.show_others(_named([]), _named(["one"]))
    assert not names_compared.show_others(b"", _named(["one"]))


@pytest.mark.parametrize(
    "body", [b"style=" * 200_000, b'style="' * 200_000, b"data-" * 200_000, b"data-a-" * 100_000, b"data-" + b"a" * 1_000_000]
)
def test_what_a_page_may_have_is_looked_for_in_one_pass(body: bytes):
    # With a second pass from each beginning this would take hours.
    assert not has_styles(body)
    assert attributes(body) == ()
