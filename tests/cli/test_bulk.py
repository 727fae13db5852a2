from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import simcrawl
from simcrawl.bits import to_hex
from simcrawl.cli import run
from simcrawl.errors import StoreMismatchError
from simcrawl.index.sorted_tables import SortedTables
from tests.samples import chinese, english, page

SCRIPT = str(Path(sys.executable).with_name("simcrawl"))
ORIGIN = "http://example.org"
LONG = english(150)
# Of words of its own: the sentences of the samples share theirs, and some seeds give all of them one fingerprint.
OTHER = " ".join(f"term{number}" for number in range(400))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A file of JSON lines: three pages and a copy of the first."""
    bodies = {"a": page(LONG), "b": page(chinese()), "copy": page(LONG, wrap="main"), "c": page(OTHER)}
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(json.dumps({"url": f"{ORIGIN}/{name}", "html": body}) for name, body in bodies.items()))
    return path


@pytest.fixture
def store(tmp_path: Path, corpus: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["load", str(tmp_path / "store"), str(corpus), "--workers", "0"]) == 0
    capsys.readouterr()
    return str(tmp_path / "store")


def _rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def _cells(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def _fingerprints(store: str) -> dict[str, int]:
    with simcrawl.open_store(store) as opened:
        pages = [stored.page for stored in opened.pages()]
    return {made.url.rpartition("/")[2]: made.fingerprint for made in pages if isinstance(made, simcrawl.PageFingerprint)}


def _bare(path: Path, values: list[int], **options: Any) -> str:
    with simcrawl.open_store(path, **options) as opened:
        opened.load_fingerprints(values)
    return str(path)


# ---- load


def test_load(tmp_path: Path, corpus: Path, capsys: pytest.CaptureFixture[str]):
    made = str(tmp_path / "store")
    assert run(["load", made, str(corpus), "--workers", "1", "--json"]) == 0
    assert _rows(capsys) == [{"read": 4, "known": 0, "admitted": 3, "copies": 1, "abstained": 0, "crashed": 0, "too_slow": 0}]
    assert run(["load", made, str(corpus), "--workers", "0"]) == 0
    assert _cells(capsys) == [
        ["read", "4"],
        ["known", "3"],
        ["admitted", "0"],
        ["copies", "1"],
        ["abstained", "0"],
        ["crashed", "0"],
        ["too_slow", "0"],
    ]
    assert run(["duplicates", made, "--json"]) == 0
    assert [(row["url"], row["original"]) for row in _rows(capsys)] == [(f"{ORIGIN}/copy", f"{ORIGIN}/a")]


def test_load_of_several_folders_under_a_base_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name, text in (("x", english()), ("y", chinese())):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.html").write_text(page(text))
    made = str(tmp_path / "store")
    arguments = ["load", made, str(tmp_path / "x"), str(tmp_path / "y"), "--base-url", ORIGIN, "--recipe", "manku2007", "--workers", "0"]
    assert run(arguments) == 0
    assert set(_fingerprints(made)) == {"x.html", "y.html"}
    with simcrawl.open_store(made) as opened:
        assert opened.header.recipe == "manku2007/4"


# ---- batch


@pytest.mark.parametrize("kind", ["store", "tables"])
def test_batch_of_a_store_s_own_fingerprints(kind: str, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    held = _fingerprints(store)
    tables = str(tmp_path / "x.tables")
    assert run(["export", store, tables]) == 0
    capsys.readouterr()
    assert run(["batch", store if kind == "store" else tables, tables if kind == "store" else store, "--json"]) == 0
    truth = [(to_hex(a), to_hex(b), (a ^ b).bit_count()) for a in held.values() for b in held.values() if (a ^ b).bit_count() <= 3]
    rows = _rows(capsys)
    assert sorted((row["query"], row["fingerprint"], row["distance"]) for row in rows) == sorted(truth)
    urls = {to_hex(value): f"{ORIGIN}/{name}" for name, value in held.items()}
    assert all(row["url"] == (None if kind == "store" else urls[row["fingerprint"]]) for row in rows)


def test_batch_of_pages(store: str, corpus: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["batch", str(corpus), store, "--max-distance", "0", "--workers", "0"]) == 0
    held = {name: to_hex(value) for name, value in _fingerprints(store).items()}
    wanted = [[f"{ORIGIN}/{name}", "0", held[name], f"{ORIGIN}/{name}"] for name in ("a", "b", "c")]
    assert sorted(_cells(capsys)) == sorted([*wanted, [f"{ORIGIN}/copy", "0", held["a"], f"{ORIGIN}/a"]])


def test_batch_of_fingerprints_in_a_file(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    value = _fingerprints(store)["b"]
    asked = tmp_path / "asked.txt"
    asked.write_text(f"\n{to_hex(value ^ 5)}\n{to_hex(value ^ (1 << 64) - 1)}\n")
    assert run(["batch", str(asked), store]) == 0
    assert _cells(capsys) == [[to_hex(value ^ 5), "2", to_hex(value), f"{ORIGIN}/b"]]
    assert run(["batch", str(asked), store, "--max-distance", "1"]) == 1
    assert capsys.readouterr().out == ""


def test_batch_of_an_export_names_pages(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    lines = str(tmp_path / "x.jsonl")
    assert run(["export", store, lines, "--format", "jsonl"]) == 0
    capsys.readouterr()
    assert run(["batch", lines, store, "--max-distance", "0"]) == 0
    assert sorted((cells[0], cells[3]) for cells in _cells(capsys)) == [(f"{ORIGIN}/{name}",) * 2 for name in ("a", "b", "c")]


def test_what_was_made_with_another_seed_cannot_be_compared(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    other = _bare(tmp_path / "other", [1], seed=5)
    assert run(["batch", other, store]) == 3
    assert "they have different seeds" in capsys.readouterr().err


def test_new_pages_are_compared_with_tables_that_have_the_seed(
    store: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    tables, corpus = tmp_path / "x.tables", corpus.rename(tmp_path / "pages.jsonl")
    assert run(["export", store, str(tables), "--with-seed"]) == 0
    capsys.readouterr()
    assert run(["batch", str(corpus), str(tables), "--max-distance", "0", "--workers", "0"]) == 0
    assert {cells[0] for cells in _cells(capsys)} == {f"{ORIGIN}/{name}" for name in ("a", "b", "c", "copy")}


def test_new_pages_are_not_compared_with_tables_of_an_unknown_recipe(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["export", _bare(tmp_path / "bare", [1]), str(tmp_path / "x.tables"), "--with-seed"]) == 0
    assert run(["batch", str(corpus), str(tmp_path / "x.tables"), "--workers", "0"]) == 3
    assert "one was made with no recipe, the other with terms/3" in capsys.readouterr().err


# ---- clusters


def test_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    far = 0xFFFF_FFFF
    a = simcrawl.fingerprint_page(page(LONG), url=f"{ORIGIN}/a")
    assert isinstance(a, simcrawl.PageFingerprint)
    own = a.fingerprint
    made = _bare(tmp_path / "store", [0, 7, 63, far, far ^ 1, 1 << 63 ^ far << 16, own ^ 1])
    with simcrawl.open_store(made) as opened:
        opened.admit(a)
    assert run(["clusters", made, "--json"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["clusters", made, "--by", "fingerprints", "--json"]) == 0
    rows = _rows(capsys)
    assert [[one["fingerprint"] for one in row["members"]] for row in rows] == [
        [to_hex(value) for value in group] for group in ([0, 7, 63], *sorted([[far ^ 1, far], sorted([own, own ^ 1])]))
    ]
    assert {row["representative"] for row in rows} == {to_hex(0), to_hex(far ^ 1), f"{ORIGIN}/a"}
    assert run(["clusters", made, "--max-distance", "3", "--min-size", "3", "--json"]) == 0
    assert [row["size"] for row in _rows(capsys)] == [3]
    assert run(["clusters", made, "--max-distance", "1"]) == 0
    cells = _cells(capsys)
    assert [row[0] for row in cells] == ["1", "1", "2", "2"]
    assert [row[2] for row in cells if row[1] == to_hex(own)] == [f"{ORIGIN}/a"]


# ---- export and import


def test_fingerprints_go_through_a_file_of_tables(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, copy = tmp_path / "x.tables", str(tmp_path / "copy")
    assert run(["export", store, str(file), "--with-seed", "--json"]) == 0
    assert _rows(capsys) == [{"file": str(file), "fingerprints": 3, "tables": 4, "bytes": file.stat().st_size}]
    assert run(["import", copy, str(file), "--json"]) == 0
    assert _rows(capsys) == [{"read": 3}]
    with simcrawl.open_store(store) as one, simcrawl.open_store(copy) as other:
        assert one.header == other.header
        for value in _fingerprints(store).values():
            assert [(found.fingerprint, found.distance) for found in other.query_fingerprint(value, 0)] == [(value, 0)]
        assert other.counts()["fingerprints"] == 3
        assert other.verify() == []


def test_one_table_is_smaller_and_enough(store: str, tmp_path: Path):
    assert run(["export", store, str(tmp_path / "x.tables"), "--table", "2", "--with-seed"]) == 0
    assert [table.number for table in SortedTables(tmp_path / "x.tables").tables] == [2]
    assert run(["import", str(tmp_path / "copy"), str(tmp_path / "x.tables")]) == 0


def test_fingerprints_go_through_json_lines(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, copy = tmp_path / "x.jsonl", str(tmp_path / "copy")
    assert run(["export", store, str(file), "--format", "jsonl"]) == 0
    assert _cells(capsys) == [["file", str(file)], ["pages", "3"]]
    assert run(["import", copy, str(file)]) == 0
    with simcrawl.open_store(copy) as other:
        assert all(other.query_fingerprint(value, 0) for value in _fingerprints(store).values())


def test_a_recipe_that_does_not_exist_makes_no_store(tmp_path: Path):
    (tmp_path / "pages.jsonl").write_text("")
    assert run(["load", str(tmp_path / "new"), str(tmp_path / "pages.jsonl"), "--recipe", "absent"]) == 2
    assert not (tmp_path / "new").exists()


def test_forgetting_by_url_and_by_age(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["forget", store, f"{ORIGIN}/a", f"{ORIGIN}/nowhere"]) == 0
    assert _cells(capsys) == [["forgotten", "1"]]
    assert set(_fingerprints(store)) == {"b", "c"}
    assert run(["forget", store, f"{ORIGIN}/a", "--json"]) == 1
    assert run(["forget", store, "--older-than", "1", "--json"]) == 0
    assert run(["forget", store, "--older-than", "0", "--json"]) == 1
    assert run(["forget", store, f"{ORIGIN}/b", "--force"]) == 2
    assert run(["forget", store, "--older-than", "0", "--force", "--json"]) == 0
    assert _rows(capsys) == [{"forgotten": 0}, {"forgotten": 0}, {"forgotten": 2}]
    assert run(["verify", store]) == 0
    assert run(["duplicates", store, "--json"]) == 0
    assert "url" not in capsys.readouterr().out


def test_json_lines_to_standard_output(store: str, capsys: pytest.CaptureFixture[str]):
    assert run(["export", store, "-", "--format", "jsonl"]) == 0
    rows = {row["url"].rpartition("/")[2]: row for row in _rows(capsys)}
    assert {name: row["fingerprint"] for name, row in rows.items()} == {name: to_hex(own) for name, own in _fingerprints(store).items()}
    assert rows["a"]["abstains"] is None
    assert rows["a"]["characters"] == len(LONG)


def test_a_store_of_another_seed_takes_no_tables(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["export", store, str(tmp_path / "x.tables")]) == 0
    other = _bare(tmp_path / "other", [1], seed=5)
    assert run(["import", other, str(tmp_path / "x.tables")]) == 3
    assert "they have different seeds" in capsys.readouterr().err
    with simcrawl.open_store(other) as opened:
        assert opened.counts()["fingerprints"] == 1


def test_an_export_has_the_seed_where_that_is_asked_for(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with simcrawl.open_store(store) as opened:
        seed = opened.header.seed
    without, with_seed, lines = tmp_path / "x.tables", tmp_path / "y.tables", tmp_path / "x.jsonl"
    assert run(["export", store, str(without)]) == 0
    # What a killed export left must not lend its mode to a secret.
    (tmp_path / "y.tables.part").touch(0o666)
    assert run(["export", store, str(with_seed), "--with-seed"]) == 0
    assert run(["export", store, str(lines), "--format", "jsonl"]) == 0
    assert with_seed.stat().st_mode & 0o777 == 0o600
    assert (SortedTables(with_seed).seed, SortedTables(without).seed) == (seed, None)
    assert SortedTables(with_seed).seed_hash == SortedTables(without).seed_hash != f"{seed:x}"
    assert str(seed).encode() in with_seed.read_bytes()
    for file in (without, lines):
        assert str(seed).encode() not in file.read_bytes()
        assert f"{seed:016x}".encode() not in file.read_bytes()
    # Without it they answer what they are there for.
    assert run(["batch", str(without), store]) == run(["batch", str(without), str(with_seed)]) == run(["import", store, str(without)]) == 0
    capsys.readouterr()


def test_what_needs_the_seed_says_how_to_get_it(store: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = str(tmp_path / "x.tables")
    assert run(["export", store, file]) == 0
    capsys.readouterr()
    assert run(["import", str(tmp_path / "new"), file]) == 3
    assert "name a store that has the seed, or export it again with --with-seed" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert run(["batch", str(corpus), file]) == 3
    assert "name the store itself, or export it again with --with-seed" in capsys.readouterr().err
    assert run(["export", store, "-", "--format", "jsonl", "--with-seed"]) == 2
    assert "--with-seed is for tables" in capsys.readouterr().err


def test_no_command_prints_the_seed(tmp_path: Path, corpus: Path, capfd: pytest.CaptureFixture[str]):
    store, seed = str(tmp_path / "store"), 9_876_543_210_987_654_321
    other = _bare(tmp_path / "other", [1], seed=4)
    simcrawl.open_store(store, seed=seed).close()
    assert run(["load", store, str(corpus), "--workers", "0"]) == 0
    line = json.loads(corpus.read_text().splitlines()[0])
    (tmp_path / "a.html").write_text(line["html"])
    page, report = str(tmp_path / "a.html"), tmp_path / "report.html"
    for command in (
        ["stats", store, "--json"],
        ["query", store, page, "--json"],
        ["compare", page, page, "--store", store, "--json"],
        ["fingerprint", page, "--json"],
        ["duplicates", store, "--json"],
        ["hosts", store, "--json"],
        ["clusters", store, "--json"],
        ["rules", store, "--json"],
        ["verify", store, "--json"],
        ["batch", other, store],
        ["export", store, str(tmp_path / "x.tables"), "--json"],
        ["import", other, str(tmp_path / "x.tables")],
        ["export", store, "-", "--format", "jsonl"],
        ["report", store, "-o", str(report)],
    ):
        assert run(command) in {0, 1, 3}, command
    told = "".join(capfd.readouterr()) + report.read_text()
    with simcrawl.open_store(store) as opened:
        told += repr(opened.header) + repr(next(opened.pages()))
        with pytest.raises(StoreMismatchError) as refused:
            opened.admit(simcrawl.fingerprint_page(line["html"], seed=seed - 1))
    with pytest.raises(StoreMismatchError) as mismatched:
        simcrawl.open_store(store, seed=seed - 1)
    told += f"{refused.value}{mismatched.value}"
    for one in (seed, seed - 1):
        assert str(one) not in told
        assert f"{one:x}" not in told


def test_a_damaged_file_is_named_with_its_block(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "x.tables"
    assert run(["export", store, str(file), "--with-seed"]) == 0
    whole = bytearray(file.read_bytes())
    whole[1500] ^= 1
    file.write_bytes(whole)
    assert run(["import", str(tmp_path / "copy"), str(file)]) == 3
    assert "block 0 of table 0" in capsys.readouterr().err


# ---- wrong use


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["batch", "{dir}/absent", "{store}"], 2, "absent"),
        (["batch", "{store}", "{dir}/absent"], 3, "absent"),
        (["batch", "{store}", "memory:"], 2, "memory:"),
        (["batch", "{dir}/broken.txt", "{store}"], 2, "line 2"),
        (["batch", "{dir}/wide.txt", "{store}"], 2, "more than 64 bits"),
        (["clusters", "{dir}/absent"], 3, "absent"),
        (["clusters", "{store}", "--max-distance", "65"], 2, "65"),
        (["load", "memory:", "{dir}/corpus.jsonl"], 2, "memory:"),
        (["load", "{dir}/new", "{dir}/absent.jsonl"], 2, "absent.jsonl"),
        (["load", "{dir}/new", "{dir}/wide.txt"], 2, "no corpus"),
        (["load", "{dir}/new", "{dir}/corpus.jsonl", "--base-url", "http://a/"], 2, "no folder"),
        (["export", "{dir}/absent", "{dir}/x"], 3, "absent"),
        (["export", "{store}", "-"], 2, "standard output"),
        (["export", "{store}", "{dir}/x", "--table", "9"], 2, "0 to 3"),
        (["export", "{store}", "{dir}/x", "--table", "0", "--format", "jsonl"], 2, "--table"),
        (["export", "{store}", "{dir}/no/x"], 3, "no/x"),
        (["export", "{store}", "{dir}/no/x", "--format", "jsonl"], 2, "no/x"),
        (["import", "{dir}/new", "{dir}/absent"], 2, "absent"),
        (["import", "{dir}/new", "{dir}/broken.txt"], 2, "line 2"),
    ],
)
def test_wrong_use(arguments: list[str], code: int, named: str, store: str, capsys: pytest.CaptureFixture[str]):
    tmp_path = Path(store).parent
    (tmp_path / "broken.txt").write_text("ff\nno fingerprint\n")
    (tmp_path / "wide.txt").write_text("1" + "0" * 16)
    assert run([argument.format(dir=tmp_path, store=store) for argument in arguments]) == code
    shown = capsys.readouterr()
    assert named in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    "command", [["batch", "{0}", "{0}"], ["clusters", "{0}"], ["export", "{0}", "{0}.tables"], ["import", "{0}", "{1}"]]
)
def test_wide_fingerprints_are_refused_with_a_reason(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    wide = _bare(tmp_path / "wide", [1 << 100], bits=128)
    (tmp_path / "x.txt").write_text("ff")
    assert run([argument.format(wide, tmp_path / "x.txt") for argument in command]) == 2
    assert "up to 64 bits" in capsys.readouterr().err


def test_a_terminal_sees_the_work_and_a_pipe_does_not(corpus: Path, tmp_path: Path):
    environment = os.environ | {"TERM": "xterm", "PYTHONPATH": str(Path(simcrawl.__file__).parent.parent)}
    script = "from simcrawl.cli import main, output; output.BAR_AFTER = 0; main()"
    command = [sys.executable, "-c", script, "load", str(tmp_path / "store"), str(corpus), "--workers", "1"]
    leader, follower = os.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environment) as running:
        os.close(follower)
        shown = _everything(leader)
        counted, _ = running.communicate(timeout=60)
    assert "Loading" in shown
    assert counted.splitlines()[0] == b"read\t4"
    again = subprocess.run(command, capture_output=True, check=False, env=environment, timeout=60)
    assert (again.returncode, again.stderr) == (0, b"")


def _everything(terminal: int) -> str:
    """Return what is written to a terminal until nobody has it open."""
    shown = b""
    try:
        while part := os.read(terminal, 10_000):
            shown += part
    except OSError:  # Linux's way to say so
        pass
    os.close(terminal)
    return shown.decode()
