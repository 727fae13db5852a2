"""What pictures, charts and places a page shows, and what files it offers: their names, for none of them is fetched.

On pages of one site with the same text, as galleries, vouchers, charts, downloads and branches of a shop have them, another picture,
file or place on a map makes another content. Not so on two sites: one article may stand there with two photographs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from simcrawl.page.patterns import late

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml.html import HtmlElement

# Where scripts that load pictures late find them; the source is another picture until then.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
# Of one picture in several sizes.
_SETS = ("srcset", "data-srcset")
# There are dozens more of both, one for each program that loads pictures late: so whatever else has the address of a file, and addresses
# of any kind in what is called a source.
_MAY_BE_LAZY = frozenset({"img", "source", "iframe", "video", "audio", "embed"})
_ENDS_AS_FILE = late(r"[^\s\"'<>,]+\.(?:jpe?g|png|gif|webp|avif|svg|mp[34]|webm|og[gv]|m3u8|pdf)(?:[?#,\s]|$)", re.IGNORECASE)
_ADDRESSED_FILE = late(r"(?:[a-z][a-z0-9+.-]*:)?/[^\s\"'<>,]", re.IGNORECASE)
_OF_A_SOURCE = late(r"src|lazy|im(?:age|g)|orig|full|zoom", re.IGNORECASE)
_NOT_OF_FILES = late(
    r"(?:src|srcset|class|style|id|alt|longdesc|usemap|sizes|on\w+)$"
    r"|.*(?:placeholder|loading|title|caption|width|height|meta|permalink)",
    re.IGNORECASE,
)
_BACKGROUNDS = ("data-bg", "data-background", "data-background-image")
# Of components that a site made, or that a library gives.
_SHOWN_BY_COMPONENTS = ("src", "data-src", "videoid", "video-id")
# No address with a bracket: each of a thousand beginnings would else be followed to the end.
_URL_IN_STYLE = late(r"\burl\(([^()]+)\)", re.IGNORECASE)
_FILE = late(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|jxl|heic|mp[34]|webm|og[gv]|wav|pdf)$", re.IGNORECASE)
# A swatch has nothing but its colour.
_COLOUR_IN_STYLE = late(r"\bbackground(?:-color)?\s*:\s*(#[0-9a-f]{3,8}\b|(?:rgb|hsl)a?\([^()]{5,40}\))", re.IGNORECASE)
# What boxes are called that have such attributes.
_MAY_BE_BEHIND = late(r"lazy|load|bg|back|image|img|photo|pic|hero|cover|slide|banner|thumb", re.IGNORECASE)
# What scripts draw, play or ask a reader from, by a word in the attribute's name. No counters, which change from visit to visit, and no
# numbers or addresses of the page itself, which are others where the same page stands elsewhere.
_WORDS = (
    "fen|pgn|sgf|wgo|tex|latex|katex|mathjax|formula|equation|smiles|pdb|molecule|abc|musicxml|midi|lilypond|puzzle|sudoku|crossword|clues?|answers?"
    "|solutions?|oembed|embed|slug-hash|videos?|video-?id|youtube|vimeo|wistia|audio|sounds?|mp3|geojson|coords?|coordinates?|lat|latitude|lon|lng|longitude|latlng"
)
# These have other uses as well: they count where their values are lists of numbers.
_LISTS = "series|points|values|datasets?|graph|plot|chart"
# What may follow the word: other words say how it is shown, for how long, and which of many it is today.
_OF_IT = "(?:[-_](?:id|url|src|file|source|data|json|key|code))?"
_DRAWN_FROM = late(rf"(?:^|[-_])(?:(?P<list>{_LISTS})|{_WORDS}){_OF_IT}$")
# Both begin with letters: what begins with a space takes four times as long to look for.
_IN_BODY = re.compile(rf"(data-(?:\w+-){{0,4}}(?:{_LISTS}|{_WORDS}){_OF_IT})[=\s]".encode())
_MOST_ATTRIBUTES = 8
# Bounded, as is what is looked at later: of `style=style=style=` each would else be followed to the end.
_BEHIND = r"(?:url\(|background)"
_STYLED = re.compile(rf"style\s*=\s*(?:\"[^\">]{{0,2000}}?{_BEHIND}|'[^'>]{{0,2000}}?{_BEHIND}|[^\s\"'>]{{0,60}}?{_BEHIND})".encode())
_LIST = late(r"\d\D++\d++\D++\d")
# fmt: off
# What a page offers for keeps, by what its name ends with.
_OFFERED = frozenset({
    "zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "rar", "deb", "rpm", "dmg", "exe", "msi", "apk", "jar", "whl", "iso", "img",
    "bin", "torrent", "pdf", "epub", "mobi", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "csv",
    "tsv", "json", "jsonl", "geojson", "kml", "gpx", "ics", "vcf", "stl", "blend", "svg", "jpg", "jpeg", "png", "gif", "webp",
    "avif", "tif", "tiff", "mp3", "mp4", "flac", "ogg", "ogv", "wav", "webm", "mid", "midi", "ttf", "otf", "woff", "woff2"
})
# fmt: on
# How links of other kinds begin: looked at by four letters first, for these are few among many.
_ADDRESSED = ("mailto:", "tel:", "sms:", "geo:", "magnet:")
_MAY_BE_ADDRESSED = frozenset(address[:4] for address in _ADDRESSED)
# What parameters of a program never say which picture it is to send, and which seldom do: where no other one does.
_NEVER_WHICH = late(
    r"(?:\w*(?:width|height|size|quality|format|sess(?:ion)?(?:[-_]?id)?|token|nonce|sign?(?:ature)?|expires?|credential|policy|timestamp|stamp|csid|key-?id"
    r"|pair-?id)|i?tok|cach\w*|rand(?:om)?|referr?er|visit\w*|client\w*|sid|cfid|fit|crop|fm|fmt|ext|auto|dpr|dpi|scale|align|resize|strip|ssl|cb|ts|rnd|_"
    r"|x-[\w-]+|utm_\w+|_nc_\w+|o[eh]|s[erpv]|ixlib|ixid|cs|max|m[wh]|rect|wid|hei|op_\w+|trim)$",
    re.IGNORECASE,
)
_SELDOM_WHICH = late(
    r"(?:\w*(?:version|theme|time)|build|auth\w*|user\w*|lang(?:uage)?|hl|ver|rev|zoom|mode|[bf]g|(?:bg|fg)?colou?rs?|type|ref)$",
    re.IGNORECASE,
)
# A size, where they are numbers.
_SIZED = frozenset("hqrswz")
# When it was fetched, or made; a random number.
_STAMP = late(r"(?:1[3-9]\d{8}(?:\d{3})?|63\d{16}|0?\.\d{6,})$")
# Where a program shows a place, and how one is written: in two numbers of degrees.
_MAPS = ("latitude", "lat:", 'lat"', "LatLng", "setView", "LonLat", ".marker(", "center:", "coordinates")
_DEGREES = r"(-?\d{1,3}\.\d+)"
_PLACE = late(
    rf"(?:lat(?:itude)?|LatLng|setView|LonLat|\.marker|center|coordinates)\b[^\d-]{{0,12}}{_DEGREES}(?:[^\d-]{{1,24}}{_DEGREES})?"
)
_ADDRESS = late(r"(?:\w+:)?/|\.{1,2}/|[\w/-]+\.\w{2,5}$")
# Of fewer most are sizes.
_SERIES = late(r"\[\s*-?\d[\d.]*(?:\s*,\s*-?\d[\d.]*){2,}")
# Rows of a table that a program shows, or draws, two or more; and numbers of charts, as plotly packs them.
_TABLES = ("DataTable", "addRows", "Tabulator", "gridjs")
_CELL = r"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|-?\d[\d.]{0,20}|null)"
_ROW = rf"\[\s{{0,9}}{_CELL}(?:\s{{0,9}},\s{{0,9}}{_CELL}){{1,50}}\s{{0,9}}\]"
_ROWS = late(rf"(?<=\[)\s{{0,9}}{_ROW}(?:\s{{0,9}},\s{{0,9}}{_ROW}){{1,200}}")
_PACKED = late(r"bdata\"?\s{0,9}:\s{0,9}\"([\w+/=\\]++)")
# What a program plays, or draws from a file. No pictures, which programs load for pages to come.
_PLAYED = late(r"\.(?:mp4|webm|m3u8|mpd|mp3|m4a|ogg|wav|flac|glb|gltf|geojson|gpx|kml)\b")
# A film that a link leads to, on the site that has it.
_FILM = late(
    r"https?://(?:[\w-]+\.)?(?:youtube(?:-nocookie)?\.com/(?:watch\?(?:[^#]*&)?v=|shorts/|live/|embed/)([\w-]{6,20})|youtu\.be/([\w-]{6,20})"
    r"|vimeo\.com/(?:[\w-]+/){0,3}(\d{5,}))",
    re.IGNORECASE,
)
_BEGINNING, _LONGEST_NAME = late(r"[\"'\s<>]"), 300
_VIDEO = late(r"ideo_?[iI][dD][\"']?\s*[:=]\s*[\"']([\w-]{5,40})[\"']")
# A player has a few forms of one film; a list of others' has many, and other ones each time.
_MOST_PLAYED, _MOST_TIMES = 4, 64
# A position in chess (Forsyth-Edwards), a tune in ABC notation, and a puzzle as a row of its fields. All begin with a quote: what is
# looked for at any letter takes ten times as long.
_NOTATIONS = (
    ("/", late(r"[\"'`](?:[1-8rnbqkp]{1,8}/){7}[1-8rnbqkp]{1,8}\b", re.IGNORECASE)),
    ("X:", late(r"[\"'`]X:\s*\d+(?:\\+[nr]|\s)[^\"'`]{20,2000}")),
    ("", late(r"[\"'`][\d._*x]{40,}+[\"'`]")),
)
_FEWEST_ARRANGED = 8
_SHORTEST_SCRIPT, _LONGEST_SCRIPT, _MOST_PLACES, _MOST_SERIES = 10, 100_000, 16, 64
# What stands for no picture of the page's own.
_OF_NO_CONTENT = late(r"captcha|spacer|blank|pixel|placeholder|loading|spinner|avatar|gravatar|sprite|/ads?[/.?_-]|^about:", re.IGNORECASE)
_SIGN = late(r"icon|logo|avatar|emoji|smil(?:ey|ie)", re.IGNORECASE)
_SIZE_IN_PIXELS = late(r"\s*(\d{1,9})(?:\.\d+)?(?:px|pt)?\s*$")
_PIXELS = late(r"\b(?:width|height)\s*:\s*(\d+)px", re.IGNORECASE)
# Another size, or another version, of the same picture.
_SIZES = r"[-_]\d{2,4}x(?:\d{2,4})?|@[1-4]x|[-_.](?:thumb(?:nail)?|small|medium|large|full|orig(?:inal)?|scaled)"
# Eight or more letters and figures of a digest, or seconds. A long number is its own: "PXL_20240512_101112345".
_VARIANT = late(rf"(?:{_SIZES}|(?<=\w{{3}})[-_.~](?:(?=\d*[a-f])[0-9a-f]{{8,}}|1[3-9]\d{{8}}(?:\d{{3}})?))+$", re.IGNORECASE)
# As MediaWiki calls smaller ones.
_WIDTH_BEFORE = late(r"^\d{1,4}px-(?=.)")
_IN_SIZES = late(rf"(?:{_SIZES})+$", re.IGNORECASE)
# As libraries and archives serve pictures: which one, and which part of it, in which size, turned by how much, in which colours
# (https://iiif.io/api/image/3.0/#4-image-requests). And the first of the tiles into which programs cut a large one.
_SERVED = late(
    r"/(?P<which>(?:ark:/?\d+/\w+/)?[^/]+)/(?P<part>full|square|(?:pct:)?[\d.]+,[\d.]+,[\d.]+,[\d.]+)/(?:full|max|\^?!?\d*,\d*|\^?pct:[\d.]+)/!?[\d.]+"
    r"/(?:default|native|colou?r|gr[ae]y|bitonal)(?:\.\w+)?$"
)
_CUT = late(r"/([^/]+?)(?:_files/\d+/0_0|/TileGroup0/0-0-0)\.\w+$")
_SIZE = late(r"[wh]\d+$|\d+x\d*$", re.IGNORECASE)
_PASSED_OVER = late(r"(?:[wh]\d+(?:,.*)?|\d+x\d*|w_\d+.*|(?:fill|fit|crop|scale)|OBJ|TN|JPG|datastream|v1)$", re.IGNORECASE)
_DIGIT = late(r"\d")
# Names that every directory has, and names that have many: these say nothing of a release, or of what a program has packed.
_OF_ANY = late(
    r"(?:thumb(?:nail)?|small|medium|large|full|orig(?:inal)?|image|img|photo|picture|cover|main|default|index|preview|file|media|content|view|raw"
    r"|download|document|native|plot|archive|\d+x\d+|[wh]\d+|\w{1,2})$",
    re.IGNORECASE,
)
_OF_MANY = late(
    r"(?:(?:image|img|photo|picture|pic|cover|fig(?:ure)?|screenshot|scan)[-_]?\d{1,2}|pic|fig(?:ure)?|screenshot|scan|floor[-_]?plan|plan|map|portrait|poster"
    r"|structure|strip|diagram|front|back|detail|profile|headshot|manual|firmware|data|data[-_]?sheet|brochure|flyer|report|slides?|frame|still|sample"
    r"|audio|video|track|clip|episode|trailer|label|product|item|object|specimen|distribution|comic|spectrum|setup|driver|update)$",
    re.IGNORECASE,
)
_OF_A_RELEASE = late(r".*\d\.\d.*|v(?:ersion)?[-_]?\d+|(?=\d*[a-f])[0-9a-f]{6,}|build\w*|static|assets|dist|latest|stable$", re.IGNORECASE)
# How formulas begin that are pictures, in their `alt`, and what generators call them.
_TEX = late(r"\s*(?:\$[^$]+\$|\\[(\[]|\\[a-zA-Z]{2}|\{\\)")
_IN_SIGNS = late(r"[\d=+^_\\<>|]")
_FORMULA = late(r"(?:^|[\W_])(?:la)?tex(?:$|[\W_])|mimetex|mathtex|formula|equation", re.IGNORECASE)
# Attributes that draw, and as many characters as an icon has at most. Elements of one drawing that are looked at.
_DRAWING = ("d", "points", "cx", "cy", "r", "x", "y", "height", "width", "transform")
_LETTERED, _NAMED_PART = frozenset({"text", "tspan"}), late(r"#[a-z_-]+$", re.IGNORECASE)
_ICON, _MOST_ELEMENTS, _LONGEST = 400, 400, 2_000
_LONGEST_CACHED = 256
_MOST_FIELDS = 100
_SMALL, _LARGE = 48, 64


def of(element: HtmlElement, tag: str) -> str:
    """Return the name of what an element shows, equal for equal pictures; "" where it is none of the page's content."""
    if tag in ("meter", "progress"):
        return f"{tag} {element.get('value') or ''}"
    if tag in ("svg", "canvas"):
        return _drawing(element) if tag == "svg" else drawn(element, element.keys())
    if tag == "img":
        return _of_picture(element)
    return name_of(element.get("src") or element.get("data") or "") or _of_set(element) or name_of(loaded_late(element, tag))


def _of_picture(element: HtmlElement) -> str:
    alt, classes = element.get("alt") or "", element.get("class") or ""
    # A word alone may be on all of them: "Equation".
    is_formula = bool(_FORMULA.search(classes) or _FORMULA.search(element.get("src") or ""))
    if _TEX.match(alt) or (is_formula and _IN_SIGNS.search(alt)):
        return f"formula {alt[:_LONGEST]}"
    if _is_sign(element) and not is_formula:
        return ""
    return name_of(next(filter(None, map(element.get, _SOURCES)), "")) or _of_set(element) or name_of(loaded_late(element, "img"))


def loaded_late(element: HtmlElement, tag: str) -> str:
    """Return the address of what a program will show here, by any attribute that has the address of a file; "" for none."""
    if tag in _MAY_BE_LAZY:
        for name, said in element.items():
            value = said[:_LONGEST]
            may_be = _ENDS_AS_FILE.match(value) or (_OF_A_SOURCE.search(name) and _ADDRESSED_FILE.match(value))
            if may_be and not _NOT_OF_FILES.match(name[:_LONGEST]):
                return value.split(maxsplit=1)[0].rstrip(",")
    return ""


def leads_to(element: HtmlElement) -> str | None:
    """Return the host that the link around an element names, "" for its own; None if it leads to a picture, or nowhere."""
    # A third of what it takes to ask for the ancestor of that name: most often it is the next one.
    link = element.getparent()
    while link is not None and link.tag != "a":
        link = link.getparent()
    target = "" if link is None else link.get("href") or ""
    return None if link is None or _FILE.search(target.partition("?")[0]) else host_of(target)


def host_of(address: str) -> str:
    """Return the host and port that an address names, "" for none."""
    try:
        return urlsplit(address[:_LONGEST]).netloc
    except ValueError:
        return ""


def behind(element: HtmlElement) -> str:
    """Return what is behind a box by its own style, or where scripts look for it, or the colour of an empty one; "" for nothing."""
    style = element.get("style")
    if style and (found := _URL_IN_STYLE.search(style[:_LONGEST])):
        return name_of(found[1].strip("\"' \t\n"))
    if style and not len(element) and not (element.text or "").strip() and (found := _COLOUR_IN_STYLE.search(style[:_LONGEST])):
        return f"colour {found[1].lower()}"
    return name_of(next(filter(None, map(element.get, _BACKGROUNDS)), ""))


def may_be_behind(names: str) -> bool:
    """Return whether a box of this class may have something behind it."""
    return _may_be_behind(names) if len(names) <= _LONGEST_CACHED else _may_be_behind.__wrapped__(names)


@lru_cache(maxsize=4096)
def _may_be_behind(names: str) -> bool:
    return bool(_MAY_BE_BEHIND.search(names))


def has_styles(body: bytes) -> bool:
    """Return whether any element of a page may have something behind it by a style of its own."""
    return b"STYLE=" in body or _STYLED.search(body) is not None


def attributes(body: bytes) -> tuple[str, ...]:
    """Return the names of attributes from which scripts of a page may draw something; of many the first ones. Most pages have none."""
    # Looked for by a pattern that takes ten times as long.
    if b"data-" not in body:
        return ()
    found = dict.fromkeys(islice((name[1] for name in _IN_BODY.finditer(body)), _MOST_ELEMENTS))
    return tuple(name.decode("ascii", "replace") for name in islice(found, _MOST_ATTRIBUTES))


def drawn(element: HtmlElement, names: Iterable[str]) -> str:
    """Return what scripts draw, play or ask from those attributes of an element, "" for nothing."""
    values = [(name, value) for name in names if (value := element.get(name))]
    return " ".join(filter(None, (_drawn_from(name, value[:_LONGEST]) for name, value in values))) if values else ""


def _drawn_from(name: str, value: str) -> str:
    by = _DRAWN_FROM.search(name.removeprefix("data-"))
    # How many there are is a counter: `data-answers="3"`.
    if not by or (by["list"] and not _LIST.search(value)) or (name.endswith("s") and value.isdecimal()):
        return ""
    # Where a file is does not matter, as with pictures.
    return name_of(value) if _ADDRESS.match(value) else " ".join(value.split())


def of_script(script: str) -> str:
    """Return the places that a script shows on a map, the numbers that it may draw, and what it plays; "" for none."""
    if len(script) < _SHORTEST_SCRIPT:
        return ""
    script = script[:_LONGEST_SCRIPT]
    # Looking for these takes a fraction of the time that looking for numbers does.
    places = _PLACE.finditer(script) if any(map(script.__contains__, _MAPS)) else ()
    numbers = [number for place in islice(places, _MOST_PLACES) for number in place.groups() if number]
    series = (found[0] for found in islice(_SERIES.finditer(script), _MOST_SERIES))
    notations = (found[0] for sign, pattern in _NOTATIONS if sign in script for found in islice(pattern.finditer(script), _MOST_PLACES))
    return " ".join([*numbers, *series, *notations, *_tabled(script), *_played(script)])


def _tabled(script: str) -> Iterator[str]:
    if any(map(script.__contains__, _TABLES)):
        yield from (found[0] for found in islice(_ROWS.finditer(script), _MOST_SERIES))
    if "bdata" in script:
        yield from (found[1] for found in islice(_PACKED.finditer(script), _MOST_SERIES))


def _played(script: str) -> list[str]:
    ends = [found.start() for found in islice(_PLAYED.finditer(script), _MOST_TIMES)]
    # Back to where the string begins.
    files = {name_of(_BEGINNING.split(script[max(0, end - _LONGEST_NAME) : end])[-1]) for end in ends}
    files.update(found[1] for found in islice(_VIDEO.finditer(script), _MOST_PLAYED + 1))
    return sorted(files) if len(files) <= _MOST_PLAYED else []


def of_component(element: HtmlElement) -> str:
    """Return the name of what a component (`<amp-img src=...>`) shows; "" for none."""
    if _is_sign(element):
        return ""
    return name_of(next(filter(None, map(element.get, _SHOWN_BY_COMPONENTS)), "")) or drawn(element, element.keys())


def offered(link: HtmlElement, target: str) -> str:
    """Return the name of the file that a link leads to, or of whom one writes to or calls by it; "" for a page."""
    if target[:4] in _MAY_BE_ADDRESSED and target.startswith(_ADDRESSED):
        return target[:_LONGEST].partition("&" if target.startswith("magnet:") else "?")[0]
    path, query = target, ""
    if "?" in target or "#" in target:
        path, _, query = target[:_LONGEST].partition("#")[0].partition("?")
    # Most links lead to pages.
    if _ends_as_file(path):
        name = path[-_LONGEST:].rpartition("/")[2]
        # One that all have, such as "document.pdf", says where it is as well.
        if _FILE.search(name):
            return name_of(target[:_LONGEST])
        stem, _, ending = path[-_LONGEST:].rpartition(".")
        named = _called(stem, "")
        return name if name.startswith(named) else f"{named}.{ending}"
    if ("youtu" in target or "vimeo" in target) and (film := _FILM.match(target[:_LONGEST])):
        return "".join(filter(None, film.groups()))
    if (called := link.get("download")) is not None:
        return f"{called or path[-_LONGEST:].rpartition('/')[2]} {_which(query)}"
    # The other parameters may say on which page the link stands.
    return " ".join(field.rpartition("=")[2] for field in query.split("&") if _ends_as_file(field)) if query else ""


def _ends_as_file(name: str) -> bool:
    return name.rpartition(".")[2].lower() in _OFFERED


def name_of(address: str) -> str:
    """Return what a picture is called by its address: not where it is, for a mirror has the same, nor in what size."""
    # The cache is not to keep what a page made up.
    return _name_of(address) if len(address) <= _LONGEST_CACHED else _name_of.__wrapped__(address)


# The pages of a site share most of their pictures.
@lru_cache(maxsize=4096)
def _name_of(address: str) -> str:
    if address.startswith("data:"):
        return address[-_LONGEST:] if len(address) > _ICON else ""
    if not address or _OF_NO_CONTENT.search(address[:_LONGEST]):
        return ""
    try:
        parts = urlsplit(address[:_LONGEST])
    except ValueError:
        return ""
    path = parts.path.partition(";")[0].rstrip("/")
    served = _SERVED.search(path) or _CUT.search(path)
    return " ".join(served.groups()) if served else _called(path, parts.query)


def _called(path: str, query: str) -> str:
    *directories, name = path.split("/")
    named = _WIDTH_BEFORE.sub("", _FILE.sub("", name))
    stem = _VARIANT.sub("", named)
    if _OF_ANY.match(stem):
        # The digest of what it holds is all that is its own: "photo_3fa81c09".
        stem = _IN_SIZES.sub("", named)
    is_of_any = bool(_OF_ANY.match(stem))
    # A file of its own name may have a version in its query, or a size.
    if query and (is_of_any or not _FILE.search(name)) and (which := _which(query)):
        return f"{stem}?{which}"
    if not is_of_any:
        above = directories[-1] if directories and _OF_MANY.match(stem) else ""
        return f"{above}/{stem}" if above and not _OF_A_RELEASE.fullmatch(above) else stem
    above = next((directory for directory in reversed(directories) if not _PASSED_OVER.match(directory)), "")
    # A size is not what a picture is called where a directory of its own is: not "rugs/12x24".
    return above if _SIZE.match(stem) and _DIGIT.search(above) and not _OF_ANY.match(above) else f"{above}/{stem}"


def _which(query: str) -> str:
    """Return what a query says of which picture it is; "" where it says nothing."""
    if "=" not in query:
        # A number is a version.
        return "" if query.isdecimal() else query
    try:
        fields = parse_qsl(query, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return ""
    # Not by a list of those that do: each program has its own name for them.
    named = [(name, value) for name, value in fields if not _is_never_which(name, value)]
    values = [value for name, value in named if not _SELDOM_WHICH.match(name)] or [value for _, value in named]
    # Beside an address the others say how it is to be shown.
    addresses = [value.partition("?")[0].rpartition("/")[2] for value in values if "/" in value]
    return " ".join(addresses or values)


def _is_never_which(name: str, value: str) -> bool:
    is_stamp = _STAMP.match(value) and not name.lower().endswith("id")
    return bool(is_stamp or _NEVER_WHICH.match(name) or (name in _SIZED and value.isdecimal()))


def _of_set(element: HtmlElement) -> str:
    """Return the name of a picture that is there in several sizes: that of the first."""
    listed = next(filter(None, map(element.get, _SETS)), "")
    return name_of(listed[:_LONGEST].split(maxsplit=1)[0].rstrip(",")) if listed.strip() else ""


def arranged(names: Sequence[str]) -> str:
    """Return what a table of few pictures shows in many cells, in order: a board, who has what. "" for other tables."""
    is_arranged = len(names) >= _FEWEST_ARRANGED and 4 * len(set(names)) <= 3 * len(names)
    return f"arranged {' '.join(names)}" if is_arranged else ""


def _is_sign(element: HtmlElement) -> bool:
    """Return whether a picture stands for a word, or a person: by its class, or its size."""
    is_small = any(size <= _SMALL for size in _sizes(element))
    return is_small or bool(_SIGN.search(element.get("class") or ""))


def _sizes(element: HtmlElement) -> list[int]:
    sizes = [element.get("width") or "", element.get("height") or "", *_PIXELS.findall(element.get("style") or "")]
    return [int(found[1]) for size in sizes if (found := _SIZE_IN_PIXELS.match(size))]


def _drawing(element: HtmlElement) -> str:
    """Return what draws a drawing, and what is written in it; "" for an icon."""
    drawn: list[str] = []
    has_letters = False
    for part in islice(element.iter(), _MOST_ELEMENTS):
        if part.tag == "image" and (name := name_of(part.get("href") or part.get("xlink:href") or "")):
            return name
        drawn += filter(None, map(part.get, _DRAWING))
        if part.tag in _LETTERED:
            drawn.append(part.text or "")
            has_letters = True
        elif part.tag == "use":
            # What else has figures in its name is numbered anew each time that it is drawn.
            drawn += filter(_NAMED_PART.match, map(part.get, ("href", "xlink:href"), ("", "")))
    text = " ".join(drawn)
    if not has_letters and len(text) <= _ICON and not _is_large(element):
        return ""
    # A chart's values stand between its frame and its axes.
    return text if len(text) <= _LONGEST else blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _is_large(drawing: HtmlElement) -> bool:
    """Return whether a drawing is wider or higher than icons are, where it says so."""
    return any(size > _LARGE for size in _sizes(drawing))
