"""A forum on an embedded database, of real text: some five thousand URLs of some six hundred contents.

The texts are the paragraphs of the Debian Administrator's Handbook, a package that `build` downloads by name: a section is a thread, each
of its paragraphs a post, a chapter a forum. URLs, and which of them lead to one another, are those of a widespread forum of the 2000s
(vBulletin 3): threads by pages of two sizes, in three modes, by any of their posts, by their neighbours, for printing and in an archive
for search engines; lists in ten orders; posts alone, with their histories, and with forms to quote and report them that guests do not get;
profiles, searches by member, tags; a calendar that goes on for years; and the id of a session in all links of a page that begins one.
A URL has one page, whoever asks and whenever: a session begins at one URL of a hundred and fifty. What answers with a redirect there
answers with the page itself here.

`contents` says which pages have one content: those that are about the same, to nine tenths, whatever stands around it.
"""

from __future__ import annotations

import calendar
import json
import re
import sqlite3
import subprocess
import tempfile
from collections import Counter, defaultdict, deque
from datetime import UTC, date, datetime, timedelta
from hashlib import md5
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urldefrag, urlencode, urljoin, urlsplit
from weakref import finalize

from jinja2 import Environment, FileSystemLoader
from lxml import html

from benchmarks.crawl.labels import labelled
from tests.quality.pairs import download_release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

START = "/"
THREADS = 80
"""Threads of the whole site."""
_RELEASE, _PACKAGE, _BOOK = "bookworm", "debian-handbook", "usr/share/doc/debian-handbook/html/en-US"
_MEMBERS, _POSTS, _ROWS, _NAMES, _EVENTS = 40, 5, 8, 15, 12
_YEARS = range(2022, 2028)
_SESSIONS = 150
_SORTS = ("title", "lastpost", "replycount", "views", "postusername")
_TABLES = """
CREATE TABLE forum (id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT, joined TEXT);
CREATE TABLE thread (id INTEGER PRIMARY KEY, forum INTEGER, title TEXT, views INTEGER);
CREATE TABLE post (id INTEGER PRIMARY KEY, thread INTEGER, member INTEGER, posted TEXT, quoted INTEGER, text TEXT);
CREATE TABLE version (post INTEGER, number INTEGER, text TEXT, PRIMARY KEY (post, number));
CREATE TABLE tag (name TEXT, thread INTEGER, PRIMARY KEY (name, thread));
CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT, title TEXT, text TEXT);
"""


class Thread(NamedTuple):
    """A section of the book."""

    chapter: str
    title: str
    paragraphs: list[str]


class Page(NamedTuple):
    """A page, and the pieces of text that it is about, in no order."""

    html: str
    says: list[str]


def build(root: Path) -> None:
    """Download the book into a directory, as its pages.

    Raises:
        UnavailableError: the package is not to be had here.
    """
    with tempfile.TemporaryDirectory() as work:
        for package in download_release([_PACKAGE], _RELEASE, Path(work)):
            subprocess.run(["dpkg-deb", "-x", package, Path(work, "unpacked")], check=True)
        Path(work, "unpacked", _BOOK).rename(root)


def threads(root: Path) -> list[Thread]:
    """Return the sections that have three longer paragraphs of their own or more."""
    found: dict[str, Thread] = {}
    for file in sorted(root.glob("*.html")):
        for section in html.parse(file).getroot().xpath('//div[@class="section"]'):
            heading = _line(section.xpath('string(.//*[contains(@class, "title")][not(self::div)])'))
            number, _, title = heading.partition(". ") if heading[:1].isdigit() else ("", "", "")
            own = section.xpath('./div[@class="para"] | ./div/ul/li | ./div/ol/li | ./div/dl/dd')
            paragraphs = [text for element in own if len((text := _line(element.text_content())).split()) >= 35]
            if title and len(paragraphs) >= 3:
                found.setdefault(number, Thread(number.split(".")[0], title, paragraphs))
    return [found[number] for number in sorted(found, key=lambda number: [int(part) for part in number.split(".")])]


def _line(text: str) -> str:
    return " ".join(text.split())


def fill(database: sqlite3.Connection, book: list[Thread], count: int) -> None:
    """Make the forum of so many threads; the same one each time."""
    random = Random(11)
    book = sorted(random.sample(book, min(count, len(book))), key=lambda thread: int(thread.chapter))
    words = sorted({word.lower() for thread in book for word in re.findall(r"\b[a-z]{4,8}\b", " ".join(thread.paragraphs))})
    database.executescript(_TABLES)
    for number, name in enumerate(random.sample(words, _MEMBERS), 1):
        joined = date(2019, 1, 1) + timedelta(random.randrange(900))
        database.execute("INSERT INTO member VALUES (?, ?, ?)", (number, f"{name}{random.randrange(100) or ''}", joined.isoformat()))
    post, day = 1000, datetime(2022, 1, 3, 8, tzinfo=UTC)
    for forum, (_, of_forum) in enumerate(groupby(book, key=lambda thread: thread.chapter), 2):
        first, *others = of_forum
        database.execute("INSERT INTO forum VALUES (?, ?)", (forum, f"{first.title} and more"))
        for thread in (first, *others):
            number = database.execute("SELECT COUNT(*) FROM thread").fetchone()[0] + 101
            database.execute("INSERT INTO thread VALUES (?, ?, ?, ?)", (number, forum, thread.title, random.randrange(90, 9000)))
            day += timedelta(hours=random.randrange(24, 400))
            post = _fill_thread(database, random, number, thread, (post, day))
    for number in range(1, _EVENTS + 1):
        thread = random.choice(book)
        on = date(random.choice(_YEARS[:3]), random.randrange(1, 13), random.randrange(1, 29))
        text = " ".join(paragraph.split(". ")[0] + "." for paragraph in thread.paragraphs)
        database.execute("INSERT INTO event VALUES (?, ?, ?, ?)", (number, on.isoformat(), f"Meeting: {thread.title}", text))
    database.commit()


def _fill_thread(database: sqlite3.Connection, random: Random, number: int, thread: Thread, begins: tuple[int, datetime]) -> int:
    """Write a thread's posts and tags, from that number and time on, and return the number of the next post."""
    before, (post, day) = 0, begins
    for text in thread.paragraphs:
        quoted = before if before and random.random() < 0.3 else None
        posted = day.strftime("%m-%d-%Y, %I:%M %p")
        database.execute(
            "INSERT INTO post VALUES (?, ?, ?, ?, ?, ?)", (post, number, random.randrange(1, _MEMBERS + 1), posted, quoted, text)
        )
        if random.random() < 0.2:
            for version, older in enumerate([*_older(text, random), text], 1):
                database.execute("INSERT INTO version VALUES (?, ?, ?)", (post, version, older))
        before, day = post, day + timedelta(minutes=random.randrange(5, 4000))
        post += random.randrange(1, 4)
    words = Counter(word for word in re.findall(r"[a-z]{5,}", " ".join(thread.paragraphs).lower()))
    database.executemany("INSERT INTO tag VALUES (?, ?)", ((word, number) for word, _ in words.most_common(3)))
    return post


def _older(text: str, random: Random) -> Iterator[str]:
    """Give earlier versions of a text: a draft without its end, and one with a slip."""
    words = text.split()
    if random.random() < 0.5:
        yield " ".join(words[: len(words) * 2 // 3])
    words[random.randrange(len(words))] = "..."
    yield " ".join(words)


class Forum:
    """The site: a function from a path with its query to a page, None where there is none."""

    def __init__(self, root: Path, count: int) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.row_factory = sqlite3.Row
        # Python 3.13 warns of a database that nobody has closed.
        finalize(self, self._db.close)
        fill(self._db, threads(root), count)
        self._scripts: dict[str, Callable[[dict[str, str]], tuple[str, dict[str, Any]] | None]] = {
            "index.php": self._index,
            "forumdisplay.php": self._forum,
            "showthread.php": self._thread,
            "printthread.php": self._printed,
            "showpost.php": self._post,
            "posthistory.php": self._history,
            "member.php": self._member,
            "memberlist.php": self._members,
            "search.php": self._search,
            "tags.php": self._tags,
            "calendar.php": self._calendar,
            "misc.php": self._misc,
        }
        self._archive = re.compile(r"/archive/index\.php(?:/(?P<kind>[ft])-(?P<number>\d+)\.html)?")

    def __call__(self, path: str) -> bytes | None:
        page = self.page(path)
        return page.html.encode() if page else None

    def page(self, path: str) -> Page | None:
        """Return the page of a path with its query."""
        split = urlsplit(path)
        asked = {name: value for name, value in parse_qsl(split.query) if name != "s"}
        seed = int(md5(path.encode(), usedforsecurity=False).hexdigest(), 16)
        session = f"{seed:032x}" if "s=" not in split.query and (seed % _SESSIONS == 0 or path == START) else None
        made = self._made(split.path, asked)
        if made is None:
            return None
        template, values = made
        clock = f"{seed // 7 % 12 + 1:02}:{seed // 11 % 60:02} {'AM' if seed % 2 else 'PM'}"
        body = _TEMPLATES.get_template(f"{template}.html").render(values, link=_Links(session), path=split.path, asked=asked, clock=clock)
        return Page(body, values.get("says", []))

    def _made(self, path: str, asked: dict[str, str]) -> tuple[str, dict[str, Any]] | None:
        if archive := self._archive.fullmatch(path):
            return self._archived(archive["kind"], int(archive["number"] or 0))
        name = path.rpartition("/")[2] or "index.php"
        if name in _CLOSED or asked.get("do") == "markread":
            return _fixed("refused", "refused")
        if name in _TEXTS:
            return _fixed("alone", name)
        try:
            return self._scripts[name](asked) if name in self._scripts else None
        except (ValueError, KeyError, IndexError):
            return None

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self._db.execute(query, values).fetchall()

    def _row(self, query: str, *values: object) -> sqlite3.Row:
        return self._rows(query, *values)[0]

    def _index(self, _: dict[str, str]) -> tuple[str, dict[str, Any]]:
        forums = self._rows(
            "SELECT forum.*, COUNT(DISTINCT thread.id) AS threads, COUNT(post.id) AS posts, MAX(post.id) AS last FROM forum "
            "JOIN thread ON thread.forum = forum.id JOIN post ON post.thread = thread.id GROUP BY forum.id"
        )
        return "index", {"title": "Forums", "forums": forums, "says": [forum["title"] for forum in forums]}

    def _list(self, where: str, *values: object) -> list[dict[str, Any]]:
        """Return threads, those with the latest posts first."""
        found = self._rows(
            f"SELECT thread.*, COUNT(post.id) AS posts, MIN(post.id) AS first, MAX(post.id) AS last FROM thread "
            f"JOIN post ON post.thread = thread.id WHERE {where} GROUP BY thread.id ORDER BY last DESC",
            *values,
        )
        starters = {
            row["id"]: row for row in self._rows("SELECT post.id, member.id AS member, name FROM post JOIN member ON member.id = member")
        }
        return [
            dict(row)
            | {"replycount": row["posts"] - 1, "lastpost": row["last"], "starter": starters[row["first"]], "ender": starters[row["last"]]}
            | {"postusername": starters[row["first"]]["name"], "pages": -(-row["posts"] // _POSTS)}
            for row in found
        ]

    def _forum(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        forum, sort, order = self._row("SELECT * FROM forum WHERE id = ?", asked["f"]), asked.get("sort", "lastpost"), asked.get("order")
        found = sorted(self._list("forum = ?", forum["id"]), key=lambda row: row[sort], reverse=order != "asc")
        shown, pages = _part(found, asked, _ROWS)
        values = {
            "title": forum["title"],
            "forum": forum,
            "threads": shown,
            "pages": pages,
            "sorts": _SORTS,
            "sort": sort,
            "order": order or "desc",
        }
        return "forum", values | {"says": [f"{row['title']} {row['postusername']}" for row in shown]}

    def _posts(self, thread: int) -> list[dict[str, Any]]:
        rows = self._rows(
            "SELECT post.*, name, joined FROM post JOIN member ON member.id = member WHERE thread = ? ORDER BY post.id", thread
        )
        edited = {row["post"]: row["versions"] for row in self._rows("SELECT post, COUNT(*) AS versions FROM version GROUP BY post")}
        written = {row["member"]: row["posts"] for row in self._rows("SELECT member, COUNT(*) AS posts FROM post GROUP BY member")}
        found = {
            row["id"]: dict(row) | {"edited": row["id"] in edited, "count": n, "written": written[row["member"]]}
            for n, row in enumerate(rows, 1)
        }
        for post in found.values():
            quoted = found.get(post["quoted"])
            post["quote"] = quoted and {"name": quoted["name"], "text": " ".join(quoted["text"].split()[:25]) + " ..."}
            post["says"] = [*([quoted["text"][:150]] if quoted else []), post["text"]]
        return list(found.values())

    def _thread(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        """Return a thread by its number, by one of its posts, or as the neighbour of another one."""
        number = self._row("SELECT thread FROM post WHERE id = ?", asked["p"])["thread"] if "p" in asked else int(asked["t"])
        if "goto" in asked:
            forum = self._row("SELECT forum FROM thread WHERE id = ?", number)["forum"]
            order = [row["id"] for row in self._list("forum = ?", forum)]
            number = order[(order.index(number) + (1 if asked["goto"] == "nextoldest" else -1)) % len(order)]
        thread, posts = self._list("thread.id = ?", number)[0], self._posts(number)
        size = int(asked.get("pp", _POSTS))
        if "p" in asked:
            asked = asked | {"page": str([post["id"] for post in posts].index(int(asked["p"])) // size + 1)}
        shown, pages = _part(posts, asked, size)
        mode = asked.get("mode", "linear")
        if mode != "linear":
            shown, pages = posts[:1], 1
        tags = self._rows("SELECT name FROM tag WHERE thread = ? ORDER BY name", number)
        similar = self._list(
            "thread.id IN (SELECT o.thread FROM tag JOIN tag AS o ON o.name = tag.name WHERE tag.thread = ? AND o.thread <> ?)",
            number,
            number,
        )
        values = {
            "title": thread["title"],
            "thread": thread,
            "posts": shown,
            "tree": posts if mode != "linear" else [],
            "pages": pages,
            "size": size,
        }
        says = [thread["title"], *(piece for post in shown for piece in post["says"])]
        return "thread", values | {"page": int(asked.get("page", 1)), "tags": tags, "similar": similar[:4], "says": says}

    def _printed(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        thread, posts = self._list("thread.id = ?", asked["t"])[0], self._posts(int(asked["t"]))
        shown, pages = _part(posts, asked, int(asked.get("pp", _POSTS)))
        says = [thread["title"], *(piece for post in shown for piece in post["says"])]
        return "printed", {"title": thread["title"], "thread": thread, "posts": shown, "pages": pages, "says": says}

    def _archived(self, kind: str | None, number: int) -> tuple[str, dict[str, Any]] | None:
        if kind == "f":
            listed = self._list("forum = ?", number)
            return ("archive", {"title": "Archive", "threads": listed, "says": [row["title"] for row in listed]}) if listed else None
        if kind == "t":
            listed, posts = self._list("thread.id = ?", number), self._posts(number)
            if not listed:
                return None
            says = [listed[0]["title"], *(piece for post in posts for piece in post["says"])]
            return "archive", {"title": listed[0]["title"], "thread": listed[0], "posts": posts, "says": says}
        forums = self._rows("SELECT * FROM forum")
        return "archive", {"title": "Archive", "forums": forums, "says": [forum["title"] for forum in forums]}

    def _post(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        thread = self._row("SELECT thread.* FROM post JOIN thread ON thread.id = thread WHERE post.id = ?", asked["p"])
        post = next(post for post in self._posts(thread["id"]) if post["id"] == int(asked["p"]))
        return "post", {"title": thread["title"], "thread": thread, "posts": [post], "says": post["says"]}

    def _history(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        versions = self._rows("SELECT * FROM version WHERE post = ? ORDER BY number", asked["p"])
        shown = [versions[int(asked[name]) - 1] for name in ("oldver", "newver")] if asked.get("do") == "compare" else []
        says = [version["text"] for version in shown] or [f"Post Edit History {len(versions)}"]
        return "history", {"title": "Post Edit History", "post": versions[0]["post"], "versions": versions, "shown": shown, "says": says}

    def _member(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        number = self._list("thread.id = ?", asked["t"])[0]["ender"]["member"] if asked.get("find") == "lastposter" else asked["u"]
        member = self._row(
            "SELECT member.*, COUNT(*) AS posts, MAX(posted) AS last FROM member JOIN post ON member = member.id WHERE member.id = ?",
            number,
        )
        return "member", {
            "title": f"View Profile: {member['name']}",
            "member": member,
            "says": [f"{member['name']} {member['joined']} {member['posts']}"],
        }

    def _members(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        sort = {"username": "name", "joindate": "joined", "posts": "posts"}[asked.get("sort", "username")]
        letter = asked.get("ltr", "").lower()
        rows = self._rows("SELECT member.*, COUNT(*) AS posts FROM member JOIN post ON member = member.id GROUP BY member.id")
        found = sorted(
            (row for row in rows if row["name"].startswith(letter)), key=lambda row: row[sort], reverse=asked.get("order") == "DESC"
        )
        shown, pages = _part(found, asked, int(asked.get("pp", _NAMES)))
        says = [f"{row['name']} {row['joined']} {row['posts']}" for row in shown]
        return "members", {"title": "Members List", "members": shown, "pages": pages, "letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "says": says}

    def _search(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        """Return the posts of a member; a search has a number of its own, under which its further pages stand."""
        if "searchid" in asked:
            member = int(asked["searchid"]) // 7 - 6000
        elif asked.get("do") == "finduser":
            member = int(asked["u"])
        else:
            return _fixed("search", "search")
        found = self._rows(
            "SELECT post.*, title, name FROM post JOIN thread ON thread.id = thread JOIN member ON member.id = member "
            "WHERE member = ? ORDER BY post.id DESC",
            member,
        )
        shown, pages = _part(found, asked, _ROWS)
        says = [f"{row['title']} {row['name']} {row['text'][:200]}" for row in shown]
        return "found", {"title": "Search Results", "found": shown, "pages": pages, "search": (member + 6000) * 7, "says": says}

    def _tags(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]] | None:
        if "tag" not in asked:
            tags = self._rows("SELECT name, COUNT(*) AS threads FROM tag GROUP BY name")
            return "tags", {"title": "Tag Search", "tags": tags, "says": [row["name"] for row in tags]}
        found = self._list("thread.id IN (SELECT thread FROM tag WHERE name = ?)", asked["tag"])
        says = [f"{row['title']} {row['postusername']}" for row in found]
        return ("tagged", {"title": f"Tag: {asked['tag']}", "threads": found, "says": says}) if found else None

    def _misc(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]]:
        number = asked["t"]
        rows = self._rows(
            "SELECT member.id, name, COUNT(*) AS posts FROM post JOIN member ON member.id = member "
            "WHERE thread = ? GROUP BY member ORDER BY posts DESC, name",
            number,
        )
        return "posters", {
            "title": "Who Posted?",
            "thread": number,
            "members": rows,
            "says": [f"{row['name']} {row['posts']}" for row in rows],
        }

    def _calendar(self, asked: dict[str, str]) -> tuple[str, dict[str, Any]] | None:
        if asked.get("do") == "getinfo":
            event = self._row("SELECT * FROM event WHERE id = ?", asked["e"])
            return "event", {"title": event["title"], "event": event, "says": [event["title"], event["text"]]}
        if asked.get("do") == "displayweek":
            first = datetime.fromtimestamp(int(asked["week"]), UTC).date()
            days = [first + timedelta(number) for number in range(7)]
            values: dict[str, Any] = {
                "title": f"Week of {first:%B %d, %Y}",
                "weeks": [days],
                "before": _week(first - timedelta(7)),
                "after": _week(first + timedelta(7)),
            }
        else:
            year, month = int(asked.get("year", 2024)), int(asked.get("month", 6))
            weeks = calendar.Calendar(6).monthdatescalendar(year, month)
            steps = [divmod(year * 12 + month - 1 + step, 12) for step in (-1, 1)]
            values = {"title": f"{date(year, month, 1):%B %Y}", "weeks": weeks, "months": [(y, m + 1) for y, m in steps if y in _YEARS]}
        days = [day for week in values["weeks"] for day in week]
        if not {day.year for day in days} & set(_YEARS):
            return None
        events = defaultdict(list)
        for event in self._rows("SELECT * FROM event"):
            events[event["day"]].append(event)
        born = {day: self._rows("SELECT id, name FROM member WHERE substr(joined, 6) = ?", day.isoformat()[5:]) for day in days}
        says = [event["title"] for day in days for event in events[day.isoformat()]]
        return "calendar", values | {"events": events, "born": born, "week": _week, "says": says}


def _fixed(template: str, name: str) -> tuple[str, dict[str, Any]]:
    title, text = _TEXTS[name]
    return template, {"title": title, "says": [text]}


def _week(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _part(rows: list[Any], asked: dict[str, str], size: int) -> tuple[list[Any], int]:
    """Return the rows of the page that is asked for, the last one past the end, and the number of pages."""
    pages = max(1, -(-len(rows) // size))
    page = max(1, min(pages, int(asked.get("page", 1))))
    return rows[(page - 1) * size : page * size], pages


class _Links:
    """Makes links; in a page that begins a session all have its id."""

    def __init__(self, session: str | None) -> None:
        self._session = {"s": session} if session else {}

    def __call__(self, script: str, **values: object) -> str:
        asked = urlencode(self._session | values)
        return f"/{script}?{asked}" if asked else f"/{script}"


def walk(forum: Forum) -> Iterator[tuple[str, Page, list[str]]]:
    """Give all pages of the forum that links lead to, breadth first: path, page, and the paths that it links to."""
    queue, seen = deque([START]), {START}
    while queue:
        path = queue.popleft()
        page = forum.page(path)
        if page is None:
            continue
        hrefs = html.document_fromstring(page.html).xpath("//a/@href")
        links = list(dict.fromkeys(urldefrag(urljoin(path, href)).url for href in hrefs))
        yield path, page, links
        new = [link for link in links if link not in seen]
        seen.update(new)
        queue.extend(new)


def contents(pages: Iterable[tuple[str, Page, list[str]]]) -> dict[str, int | None]:
    """Return the content of each page by its path; None of pages of a few words."""
    listed = list(pages)
    return dict(zip((path for path, _, _ in listed), labelled([page.says for _, page, _ in listed]), strict=True))


_CLOSED = ("newreply.php", "newthread.php", "subscription.php", "private.php", "report.php", "sendmessage.php", "profile.php", "usercp.php")
_PAGES = Path(__file__).with_name("forum_pages")
_TEXTS: dict[str, list[str]] = json.loads((_PAGES / "texts.json").read_text())
_TEMPLATES = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=FileSystemLoader(_PAGES))
