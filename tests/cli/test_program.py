from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest

import simcrawl
from simcrawl.bits import to_hex
from simcrawl.cli import run, store_commands
from simcrawl.cli.compare import _texts
from simcrawl.crawl.command import SimcrawlCommand
from simcrawl.tools import differences
from tests.forked import python
from tests.samples import chinese, edited, english, page, site_page

if TYPE_CHECKING:
    from tests.crawl.server import Site

SCRIPT = str(Path(sys.executable).with_name("simcrawl"))
A, B = "http://example.org/a", "http://example.org/b"
OWN = simcrawl.Recipe("own", 1, simcrawl.Features(kind="ngrams", size=2), max_distance=10)


def _fill(path: Path) -> Path:
    """Make a store of a page, a copy of it and another page."""
    with simcrawl.open_store(path, seed="random") as store:
        detector = simcrawl.Detector(store)
        for url, html in ((A, page(english())), (B, page(english(), wrap="main")), ("http://example.org/中文", page(chinese()))):
            detector.admit(detector.page(html, url=url))
    return path


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(_fill(tmp_path / "store"))


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(name: str, html: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(html if isinstance(html, bytes) else html.encode())
        return str(path)

    return write


def _rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def _cells(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def call(*arguments: str, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(arguments, input=stdin, capture_output=True, check=False, cwd=cwd, env=os.environ | environment, timeout=60)


# ---- stats, duplicates, verify


def test_stats(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["stats", store]) == 0
    shown = dict(_cells(capsys))
    assert (shown["pages"], shown["fingerprints"], shown["duplicates"], shown["recipe"]) == ("2", "2", "1", "terms/3")
    assert (shown["exact"], shown["near"], shown["dropped"], shown["rejected"], shown["share"]) == ("1", "0", "1", "0", "33.3%")
    assert run(["stats", store, "--json"]) == 0
    (row,) = _rows(capsys)
    assert row.pop("share") == 0.333
    assert {name: str(value) for name, value in row.items()} | {"share": "33.3%"} == shown
    assert row["bytes"] > 0


def test_duplicates(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["duplicates", store, "--json"]) == 0
    (row,) = _rows(capsys)
    when = row.pop("when")
    assert when.endswith("+00:00")
    assert row == {
        "url": B,
        "original": A,
        "reason": "identical text",
        "distance": 0,
        "similarity": 1.0,
        "dropped": "page",
        "rejected": False,
        "canonical": "",
    }
    assert run(["duplicates", store]) == 0
    assert _cells(capsys) == [[B, A, "identical text", "0", "1.0", "page", when, "no", ""]]


def test_verify(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["verify", store]) == 0
    assert capsys.readouterr().out == "No problems found.\n"
    assert run(["verify", store, "--json"]) == 0
    assert _rows(capsys) == [{"problems": []}]


# ---- query


def test_query_shows_the_stored_pages_nearest_to_a_page(store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    asked = write("a.html", page(edited(english(), 1)))
    assert run(["query", store, asked, "--json"]) == 0
    (row,) = _rows(capsys)
    assert row["url"] == A
    assert row["near-duplicate"] == (row["similarity"] >= 0.92)
    assert run(["query", store, asked]) == 0
    assert _cells(capsys) == [[str(row["distance"]), str(row["similarity"]), "yes" if row["near-duplicate"] else "no", A]]


def test_query_within_a_radius_of_the_caller_s(store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    asked = write("a.html", page(chinese()))
    assert run(["query", store, asked, "--max-distance", "128", "--json"]) == 0
    rows = _rows(capsys)
    assert [row["url"] for row in rows] == ["http://example.org/中文", A]
    assert [row["near-duplicate"] for row in rows] == [True, False]
    assert rows[0]["distance"] == 0 < rows[1]["distance"]


def test_query_that_finds_nothing_is_a_negative_answer(store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    asked = write("a.html", page("\n".join(english(seed=5).split())))
    assert run(["query", store, asked, "--max-distance", "0", "--json"]) == 1
    assert capsys.readouterr().out == ""


def test_query_of_a_page_without_a_fingerprint_says_why(store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    assert run(["query", store, write("a.html", page("short"))]) == 1
    assert "has no fingerprint: short" in capsys.readouterr().err


def test_query_changes_nothing(store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    asked = write("a.html", page(english(seed=7)))
    run(["stats", store])
    before = capsys.readouterr().out
    run(["query", store, asked])
    capsys.readouterr()
    run(["stats", store])
    assert capsys.readouterr().out == before


# ---- fingerprint


def test_fingerprint(write: Any, capsys: pytest.CaptureFixture[str]):
    files = [write("a.html", page(english())), write("b.html", page(english(), wrap="main"))]
    assert run(["fingerprint", *files, "--json"]) == 0
    made = simcrawl.fingerprint_page(page(english()))
    assert isinstance(made, simcrawl.PageFingerprint)
    rows = _rows(capsys)
    assert rows == [{"page": file, "fingerprint": made.hex, "characters": len(english()), "abstains": None} for file in files]
    assert run(["fingerprint", *files]) == 0
    assert _cells(capsys) == [[file, made.hex, str(len(english())), "-"] for file in files]


def test_fingerprint_of_a_page_that_has_none_says_why(write: Any, capsys: pytest.CaptureFixture[str]):
    assert run(["fingerprint", write("a.html", page(english())), write("b.pdf", b"%PDF-1.7"), "--json"]) == 1
    assert [row["abstains"] for row in _rows(capsys)] == [None, "not_html"]


@pytest.mark.parametrize("recipe", ["manku2007", f"{__name__}.OWN"])
def test_fingerprint_by_another_recipe(recipe: str, write: Any, capsys: pytest.CaptureFixture[str]):
    file = write("a.html", page(english()))
    assert run(["fingerprint", file, "--recipe", recipe, "--json"]) == 0
    made = simcrawl.fingerprint_page(page(english()), recipe=recipe)
    assert isinstance(made, simcrawl.PageFingerprint)
    assert _rows(capsys)[0]["fingerprint"] == made.hex


def test_fingerprint_of_standard_input():
    done = call(SCRIPT, "fingerprint", "-", stdin=page(chinese()).encode("utf-16"))
    made = simcrawl.fingerprint_page(page(chinese()))
    assert isinstance(made, simcrawl.PageFingerprint)
    assert (done.returncode, done.stdout.decode().split("\t")[:2], done.stderr) == (0, ["-", made.hex], b"")


def test_pages_from_the_web_are_read_in_the_encoding_of_their_server(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    site.add("/zh", page(chinese()).encode("gb18030"), Content_Type="text/html; charset=gb18030")
    made = simcrawl.fingerprint_page(page(chinese()))
    assert isinstance(made, simcrawl.PageFingerprint)
    assert run(["fingerprint", site.url("/zh"), "--json"]) == 0
    assert _rows(capsys)[0]["fingerprint"] == made.hex
    assert run(["query", str(_fill(tmp_path / "store")), site.url("/zh"), "--json"]) == 0
    assert [(row["url"], row["distance"]) for row in _rows(capsys)] == [("http://example.org/中文", 0)]


# ---- compare


@pytest.mark.parametrize(("edits", "code"), [(0, 0), (1, 0), (1000, 1)])
def test_compare(edits: int, code: int, write: Any, capsys: pytest.CaptureFixture[str]):
    texts = [english(150), edited(english(150), edits)]
    files = [write(f"{number}.html", page(text)) for number, text in enumerate(texts)]
    a, b = (simcrawl.fingerprint_page(page(text)) for text in texts)
    assert isinstance(a, simcrawl.PageFingerprint)
    assert isinstance(b, simcrawl.PageFingerprint)
    result = simcrawl.compare(a, b)
    assert run(["compare", *files, "--json"]) == code
    (row,) = _rows(capsys)
    assert [shown["fingerprint"] for shown in row["pages"]] == [a.hex, b.hex]
    assert (row["distance"], row["near-duplicate"]) == (result.distance, result.is_near_duplicate)
    assert run(["compare", *files]) == code
    assert _cells(capsys)[2] == [str(row["distance"]), str(row["similarity"]), "no" if code else "yes", row["why"]]


def test_compare_by_a_recipe_of_one_s_own(write: Any, capsys: pytest.CaptureFixture[str]):
    files = [write(f"{edits}.html", page(edited(english(150), edits))) for edits in (0, 1)]
    assert run(["compare", *files, "--recipe", f"{__name__}.OWN", "--json"]) == 0
    assert _rows(capsys)[0]["near-duplicate"] is True


def test_compare_by_a_recipe_without_sketches(write: Any, capsys: pytest.CaptureFixture[str]):
    files = [write(f"{edits}.html", page(edited(english(150), edits))) for edits in (0, 1)]
    assert run(["compare", *files, "--recipe", "manku2007"]) == 0
    assert _cells(capsys)[2][1:] == ["-", "yes", "3 bits or fewer differ"]


@pytest.mark.parametrize(
    ("html_a", "html_b", "code"),
    [
        (page("two words"), page("two words"), 0),
        (page("two words"), page("two others"), 1),
        (page("two words"), page(english()), 1),
        # A crawl never takes pages that a script fills later for copies of each other.
        ("<html><body><script src='/app.js'></script></body></html>", "<html><body><script src='/app.js'></script></body></html>", 1),
    ],
)
def test_compare_pages_without_a_fingerprint_as_a_crawl_does(html_a: str, html_b: str, code: int, write: Any):
    files = [write("a.html", html_a), write("b.html", html_b)]
    assert run(["compare", *files]) == code
    detector = simcrawl.Detector(simcrawl.open_store("memory:"))
    detector.admit(detector.page(html_a, url=A))
    assert detector.admit(detector.page(html_b, url=B)).is_duplicate == (code == 0)


def test_a_store_is_rebuilt_and_compacted(store: str, capsys: pytest.CaptureFixture[str]):
    with simcrawl.open_store(store) as opened:
        before = sorted(stored.page.url for stored in opened.pages())
    assert run(["rebuild", store, "--design", "5:2", "--json"]) == 0
    assert _rows(capsys)[0]["tables"] == 10
    assert run(["rebuild", store, "--design", "10"]) == 0
    assert " fingerprints in 10 tables, " in capsys.readouterr().out
    assert run(["compact", store, "--json"]) == 0
    assert list(_rows(capsys)[0]) == ["bytes"]
    assert run(["compact", store]) == 0
    assert capsys.readouterr().out.endswith(" bytes given back.\n")
    with simcrawl.open_store(store) as opened:
        assert opened.verify() == []
        assert (sorted(stored.page.url for stored in opened.pages()), opened.header.design) == (before, "10")
        assert run(["compact", store]) == 3
    assert "close it first" in capsys.readouterr().err


def test_compare_says_everything_in_json(write: Any, capsys: pytest.CaptureFixture[str]):
    texts = [english(150), edited(english(150), 3)]
    assert run(["compare", *(write(f"{number}.html", page(text)) for number, text in enumerate(texts)), "--json"]) in (0, 1)
    (row,) = _rows(capsys)
    a, b = (int(shown["fingerprint"], 16) for shown in row["pages"])
    assert [bit["position"] for bit in row["bits"]] == row["differing_bits"]
    assert len(row["differing_bits"]) == (a ^ b).bit_count() == row["distance"]
    assert {feature["name"] for feature in row["features"]} & set(texts[1].lower().replace(".", "").split())
    assert [part["part"] for part in row["parts"]] == ["content", "prose", "links", "around"]
    assert [block for change in row["texts"] for block in change["b"]] == texts[1].splitlines()
    assert sum(len(change["a"]) for change in row["texts"] if change["operation"] == "replace") <= 3


@pytest.mark.parametrize(
    ("options", "why", "code"),
    [
        ([], "the contents are alike by 0.93 or more", 0),
        (["--min-similarity", "0.999"], "the contents are alike by less than 0.999", 1),
        (["--min-similarity", "0"], "7 bits or fewer differ", 0),
    ],
)
def test_compare_under_other_thresholds(options: list[str], why: str, code: int, write: Any, capsys: pytest.CaptureFixture[str]):
    files = [write(f"{edits}.html", page(edited(english(150), edits))) for edits in (0, 1)]
    assert run(["compare", *files, "--json", *options]) == code
    assert _rows(capsys)[0]["why"] == why


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("<h1>The harbour</h1><p>harbour bridge</p>", "<h1>The bridge</h1><p>harbour bridge</p>", "they are called differently"),
        ("<p>Code 12</p>", "<p>Code 13</p>", "each has short lines for itself"),
        ("<img src=/one.png>", "<img src=/two.png>", "each shows a picture"),
    ],
)
def test_compare_says_what_tells_pages_of_like_contents_apart(
    one: str, other: str, why: str, write: Any, capsys: pytest.CaptureFixture[str]
):
    bodies = [f"<p>{'</p><p>'.join(english(30).splitlines())}</p>{own}" for own in (one, other)]
    assert run(["compare", *(write(f"{number}.html", site_page(body)) for number, body in enumerate(bodies)), "--json"]) == 1
    assert _rows(capsys)[0]["why"].startswith(why)


def test_compare_says_that_what_a_page_says_beside_keeps_it(write: Any, capsys: pytest.CaptureFixture[str]):
    message = "".join(f"<p>{line}</p>" for line in english(12, seed=9).splitlines())
    difference = "".join(f"<p>{line}</p>" for line in english(200).splitlines())
    bare, whole = (write(f"{len(said)}.html", f"<body><div>{said}</div><div>{difference}</div></body>") for said in ("", message))
    assert run(["compare", bare, whole, "--json"]) == 0
    assert "is kept after the first one" in _rows(capsys)[0]["why"]
    assert run(["compare", whole, bare, "--json"]) == 0
    assert "is kept" not in _rows(capsys)[0]["why"]


def test_compare_beyond_the_radius(write: Any, capsys: pytest.CaptureFixture[str]):
    files = [write("a.html", page(english())), write("b.html", page(chinese()))]
    assert run(["compare", *files, "--json", "--max-distance", "1"]) == 1
    assert _rows(capsys)[0]["why"] == "more than 1 bits differ"


def test_compare_with_pages_that_a_store_knows(store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    assert run(["compare", A, write("a.html", page(english())), "--store", store, "--json"]) == 0
    (row,) = _rows(capsys)
    assert (row["why"], row["texts"], row["differing_bits"]) == ("identical text", None, [])
    with simcrawl.open_store(store) as opened:
        known = opened.page(A)
        assert known
        assert isinstance(known.page, simcrawl.PageFingerprint)
        assert {shown["fingerprint"] for shown in row["pages"]} == {known.page.hex}
    assert run(["compare", A, "http://example.org/中文", "--store", store, "--json"]) == 1
    assert _rows(capsys)[0]["bits"] is None
    assert "The store has no texts of these pages" in on_terminal("compare", A, A, "--store", store)


def test_compare_reads_known_pages_anew_where_it_is_told_to(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    html = page(english(150))
    site.add("/a", html)
    with simcrawl.open_store(tmp_path / "store", seed=5) as store:
        detector = simcrawl.Detector(store)
        made = detector.page(html, url=site.url("/a"))
        detector.admit(made)
    assert run(["compare", site.url("/a"), site.url("/a"), "--store", str(tmp_path / "store"), "--fetch", "--json"]) == 0
    (row,) = _rows(capsys)
    assert isinstance(made, simcrawl.PageFingerprint)
    assert {shown["fingerprint"] for shown in row["pages"]} == {made.hex}
    assert [change["operation"] for change in row["texts"]] == ["equal"]


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_sees_what_tells_two_pages_apart(width: int, write: Any):
    one, other = english(150), edited(english(150), 1)
    word = next(b for a, b in zip(one.split(), other.split(), strict=True) if a != b).strip(".").lower()
    shown = on_terminal("compare", write("a.html", page(one)), write("b.html", page(other)), width=width)
    assert all(text in shown for text in ("Parts of the pages", "Features of different weight", "Texts", "equal blocks", word))
    same = on_terminal("compare", write("c.html", page(one, wrap="main")), write("a.html", page(one)), width=width)
    assert "The visible texts are the same." in same
    assert "more differing block" in on_terminal("compare", write("z.html", page(chinese())), write("a.html", page(one)), "--limit", "2")


def test_what_pages_say_does_nothing_to_a_terminal(write: Any):
    # libxml2 leaves out ESC as it stands, but not as a reference.
    order = "&#27;]0;taken&#7;&#27;[31m\x9b31m"
    files = [write(f"{name}.html", page(f"{english()} {order}{name}")) for name in "ab"]
    shown = on_terminal("compare", *files)
    assert "\ufffd]0;taken\ufffd\ufffd[31m\ufffd31m" in re.sub(r"\x1b\[[014;]+m", "", shown)
    assert not re.search(r"\x1b\]|\x1b\[31m|\x07|\x9b", shown)


def test_blocks_that_are_not_shown_are_not_compared_word_by_word():
    # Half a second each: all of them would take minutes.
    long = "a, b, c, d, e, " * 330
    changes = differences.changes([f"{number} {long}" for number in range(300)], [f"{number}. {long}" for number in range(300)])
    started = process_time()
    _, told = _texts(changes, 1, 1)
    assert process_time() - started < 30
    assert "299 more differing blocks" in str(told)


# ---- exit codes and errors


@pytest.mark.parametrize("command", [command for command in store_commands() if command not in ("export", "load", "import")])
def test_a_store_that_is_not_there_is_a_store_error(command: str, tmp_path: Path, write: Any, capsys: pytest.CaptureFixture[str]):
    absent = tmp_path / "absent"
    more = {"query": [write("a.html", page(english()))], "rebuild": ["--design", "10"], "forget": ["http://x/"]}
    assert run([command, str(absent), *more.get(command, [])]) == 3
    shown = capsys.readouterr()
    assert str(absent) in shown.err
    assert shown.err.startswith("Error: ")
    assert shown.out == ""
    assert not absent.exists()


def test_a_directory_of_other_things_is_a_store_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "data.mdb").write_bytes(b"something else entirely")
    assert run(["stats", str(tmp_path)]) == 3
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "nonsense"),
        (["stats"], "STORE"),
        (["rebuild", "{store}"], "--design"),
        (["rebuild", "{store}", "--design", "seven"], "'seven' is no design"),
        (["rebuild", "memory:", "--design", "10"], "memory: store ends with its crawl"),
        (["compact", "memory:"], "memory: store ends with its crawl"),
        (["stats", "memory:"], "memory: store ends with its crawl"),
        (["stats", "mysql://host/0"], "mysql://host/0"),
        (["query", "{store}", "/no/such/file"], "/no/such/file"),
        (["query", "{store}", "{page}", "--max-distance", "129"], "129"),
        (["fingerprint"], "PAGE"),
        (["fingerprint", "/no/such/file"], "/no/such/file"),
        (["fingerprint", "http://[broken/"], "http://[broken/"),
        (["fingerprint", "http://two words/"], "http://two words/"),
        (["fingerprint", "{page}", "--recipe", "nonsense"], "recipe 'nonsense' does not exist: use auto"),
        (["compare", "{page}"], "PAGE"),
        (["compare", "{page}", "{page}", "--recipe", "no.such"], "no.such"),
    ],
)
def test_wrong_use(arguments: list[str], named: str, store: str, write: Any, capsys: pytest.CaptureFixture[str]):
    html = write("a.html", page(english()))
    assert run([argument.format(store=store, page=html) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert named in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_every_command(option: str, capsys: pytest.CaptureFixture[str]):
    assert run([option]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {command} " in shown for command in ("compare", "fingerprint", "batch", "calibrate", *store_commands()))


def test_the_version(capsys: pytest.CaptureFixture[str]):
    assert run(["--version"]) == 0
    assert simcrawl.__version__ in capsys.readouterr().out


# ---- the script, and a terminal


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["stats", "{store}"], 0), (["fingerprint", "-"], 1), (["nonsense"], 2), (["verify", "/absent"], 3)],
)
def test_the_script_exits_with_its_code_and_no_traceback(arguments: list[str], code: int, store: str):
    done = call(SCRIPT, *(argument.format(store=store) for argument in arguments), stdin=b"no page")
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


def _lead_astray(store: str) -> None:
    """Let the root of all lead past the end of the file, which is mapped into memory: it is the last page of a compact store."""
    simcrawl.store.compact(store)
    file = Path(store, "data.mdb")
    data = bytearray(file.read_bytes())
    page = len(data) - 4096
    end = int.from_bytes(data[page + 12 : page + 14], "little")
    data[page + 16 : page + end] = b"\xf0\xff" * ((end - 16) // 2)
    file.write_bytes(data)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a reader is not copied")
@pytest.mark.parametrize("command", ["stats", "duplicates", "hosts", "clusters", "rules", "query", "export", "batch", "report"])
def test_damage_that_ends_who_reads_it_is_an_error_of_one_line(command: str, store: str, tmp_path: Path, write: Any):
    more = {"query": [write("a.html", page(english()))], "export": [str(tmp_path / "out")], "batch": [store]}
    arguments = [*python(), SCRIPT, command, store, *more.get(command, [])]
    whole = call(*arguments, cwd=tmp_path)
    assert whole.returncode in (0, 1)
    assert whole.stderr == b""
    _lead_astray(store)
    done = call(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode().count("\n") == 1
    assert done.stderr.startswith(f"Error: reading {store} ended the process that did so (".encode())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a reader is not copied")
def test_a_reader_that_is_told_to_end_ends(store: str, tmp_path: Path):
    page = tmp_path / "page"
    os.mkfifo(page)
    # A pipe can be opened when whoever reads the store opens it, too.
    with subprocess.Popen([SCRIPT, "query", store, page], stderr=subprocess.DEVNULL) as process, page.open("wb", buffering=0) as writing:
        process.terminate()
        assert process.wait() == 128 + signal.SIGTERM
        with pytest.raises(BrokenPipeError):
            writing.write(b"nobody reads")


def on_terminal(*arguments: str, width: int = 200) -> str:
    leader, follower = os.openpty()
    environment = os.environ | {"COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": "1"}
    shown = b""
    with subprocess.Popen([*python(), SCRIPT, *arguments], stdout=follower, env=environment):
        os.close(follower)
        try:
            while part := os.read(leader, 100_000):
                shown += part
        except OSError:  # Linux's way to say that nobody has it open any more
            pass
    os.close(leader)
    return shown.decode()


def test_a_terminal_gets_a_table(store: str):
    shown = on_terminal("hosts", store)
    assert all(text in shown for text in ("host", "duplicates", "example.org", "33.3%", "│"))


def test_a_terminal_gets_entries_with_whole_urls(store: str):
    shown = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal("duplicates", store)).splitlines()
    assert shown[:2] == [B, f"  = {A}"]
    assert shown[2].startswith("  identical text, 0 bits, 1.000 alike, page dropped, ")


def test_what_is_done_at_once_shows_no_bar(store: str):
    leader, follower = os.openpty()
    subprocess.run([SCRIPT, "stats", store], stderr=follower, stdout=subprocess.DEVNULL, check=True, timeout=60)
    os.write(follower, b"nothing")
    assert os.read(leader, 1000) == b"nothing"
    os.close(follower)
    os.close(leader)


def test_brackets_in_a_url_are_no_mark_up(tmp_path: Path):
    url = "http://example.org/[/red]?a[]=[bold]b"
    with simcrawl.open_store(tmp_path / "store") as opened:
        for name in (A, url):
            opened.admit(simcrawl.fingerprint_page(page(english()), url=name))
    assert url in on_terminal("duplicates", str(tmp_path / "store"))


def test_an_empty_table_says_so_on_a_terminal_and_nothing_in_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    simcrawl.open_store(tmp_path / "store").close()
    assert on_terminal("duplicates", str(tmp_path / "store")).strip() == "Nothing found."
    assert run(["duplicates", str(tmp_path / "store")]) == 0
    assert capsys.readouterr().out == ""


# ---- completion by the shell


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("simcrawl dup", "plain,duplicates"),
        ("simcrawl stats s", "dir,s"),
        ("simcrawl clusters s", "dir,s"),
        ("simcrawl compare a", "file,a"),
        ("simcrawl duplicates STORE --sort sim", "plain,similarity"),
        ("simcrawl fingerprint --recipe man", "plain,manku2007"),
        ("simcrawl hosts STORE --min-c", "plain,--min-copies"),
    ],
)
def test_the_shell_completes(typed: str, offered: str):
    words = typed.split()
    done = call(*python(), SCRIPT, _SIMCRAWL_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert done.stdout.decode().splitlines() == [offered]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_is_told_how_to_complete(shell: str):
    done = call(*python(), SCRIPT, _SIMCRAWL_COMPLETE=f"{shell}_source")
    assert (done.returncode, f"{shell}_complete" in done.stdout.decode()) == (0, True)


# ---- scrapy simcrawl


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    (tmp_path / "shop" / "deep").mkdir(parents=True)
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "settings.py").write_text("BOT_NAME = 'shop'\nADDONS = {'simcrawl.Addon': 500}\nSIMCRAWL_STORE = 'pages'\n")
    _fill(tmp_path / ".scrapy" / "pages")
    return tmp_path


def _scrapy(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return call(*python(), "-m", "scrapy", "simcrawl", *arguments, cwd=cwd)


@pytest.mark.parametrize("directory", [".", "shop/deep"])
def test_inside_a_project_its_store_is_found(directory: str, project: Path):
    done = _scrapy("duplicates", "--json", cwd=project / directory)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["original"] == A


def test_inside_a_project_arguments_and_exit_codes_pass(project: Path):
    (project / "a.html").write_text(page(english()))
    found = _scrapy("query", "a.html", "--max-distance", "0", "--json", cwd=project)
    assert (found.returncode, json.loads(found.stdout)["url"]) == (0, A)
    assert _scrapy("fingerprint", "a.html", cwd=project).stdout.startswith(b"a.html\t")
    (project / "b.html").write_text("nothing")
    assert _scrapy("compare", "a.html", "b.html", cwd=project).returncode == 1
    assert _scrapy("nonsense", cwd=project).returncode == 2


def test_a_project_that_was_never_crawled_has_no_store(project: Path):
    (project / "shop" / "settings.py").write_text("SIMCRAWL_STORE = 'never'\n")
    done = _scrapy("stats", cwd=project)
    assert done.returncode == 3
    assert str(project / ".scrapy" / "never") in done.stderr.decode()


def test_a_wrong_setting_of_the_project_is_named(project: Path):
    (project / "shop" / "settings.py").write_text("SIMCRAWL_ACTION = 'dorp'\n")
    done = _scrapy("stats", cwd=project)
    assert done.returncode != 0
    assert "SIMCRAWL_ACTION is 'dorp'" in done.stderr.decode()


def test_a_project_without_a_directory_needs_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "shop.py").write_text("")
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "shop")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = _scrapy("stats", cwd=tmp_path)
    assert done.returncode == 2
    told = (done.stdout + done.stderr).decode()
    assert "no scrapy.cfg says to what that is relative: give an absolute path" in told
    assert "Traceback" not in told


def test_outside_a_project_the_other_command_is_named(tmp_path: Path):
    done = _scrapy("stats", cwd=tmp_path)
    assert done.returncode == 2
    assert "no Scrapy project here: use `simcrawl COMMAND STORE` instead" in (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_inside_a_project_a_command_has_its_own_help(option: str, project: Path):
    done = _scrapy("duplicates", option, cwd=project)
    assert done.returncode == 0
    # Without the store, which is the project's own.
    assert "Usage: scrapy simcrawl duplicates [OPTIONS]\n" in done.stdout.decode()


def test_inside_a_project_its_settings_are_those_of_commands(project: Path):
    (project / "shop" / "settings.py").write_text("SIMCRAWL_STORE = 'pages'\nSIMCRAWL_RECIPE = 'manku2007'\nSIMCRAWL_MAX_DISTANCE = 64\n")
    for name, text in (("a", english()), ("b", chinese())):
        (project / f"{name}.html").write_text(page(text))
    for store in ("pages", f"lmdb://{project}/.scrapy/pages"):
        done = _scrapy("compare", "a.html", "b.html", "-s", f"SIMCRAWL_STORE={store}", cwd=project)
        assert done.returncode == 3, store  # the store is of another recipe
    (project / ".scrapy" / "pages" / "data.mdb").rename(project / "pages.mdb")
    assert json.loads(_scrapy("compare", "a.html", "b.html", "--json", cwd=project).stdout)["why"] == "64 bits or fewer differ"
    made = simcrawl.fingerprint_page(page(english()), recipe="manku2007")
    assert isinstance(made, simcrawl.PageFingerprint)
    assert made.hex in _scrapy("fingerprint", "a.html", cwd=project).stdout.decode()
    (project / "pages.mdb").rename(project / ".scrapy" / "pages" / "data.mdb")
    with simcrawl.open_store(project / ".scrapy" / "pages") as opened:
        (project / "asked.txt").write_text("\n".join(to_hex(int(row)) for chunk in opened.fingerprint_chunks() for row in chunk[:, 0]))
    assert _scrapy("batch", "asked.txt", cwd=project).stdout.count(b"http://") == 2


def test_scrapy_lists_the_command(project: Path):
    done = call(sys.executable, "-m", "scrapy", "--help", cwd=project)
    assert SimcrawlCommand().short_desc() in done.stdout.decode()
