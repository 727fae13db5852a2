"""Stores of older versions, as those have written them, and of other recipes.

`old/`: `data.mdb` of a store of each kind, compressed, with seed 7. Each has 32 pages, 11 lines of the register (one of which was
rejected), a kept text, the record of a crawl, and three fingerprints without pages; that of format 6 has a fourth one, which is also the
fingerprint of its first page.
"""

from __future__ import annotations

import json
import lzma
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copytree, disk_usage
from typing import TYPE_CHECKING

import lmdb
import pytest
from click.testing import CliRunner

from simcrawl.cli.program import cli
from simcrawl.detector import Detector
from simcrawl.errors import SettingError, StoreError, StoreFormatError, StoreFullError, StoreMismatchError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, Reason
from simcrawl.page.recipes import RECIPES, resolve
from simcrawl.rule import Kind
from simcrawl.store import open_store, upgrade
from simcrawl.store.header_bytes import FORMAT, MAGIC
from simcrawl.tools.bulk import load_pages
from simcrawl.workers.pool import RawPage
from tests import forked
from tests.samples import english, page, python

if TYPE_CHECKING:
    from simcrawl.store import Store

OLD = Path(__file__).with_name("old")
FORMATS = {"format3": 3, "format4a": 4, "format4b": 4, "format5": 5, "format6": 6}
BARE = {1, 2**63, 12345678901234567}
AGAIN = "The next crawl, or load, makes outdated pages again.\n"


def _old(path: Path, name: str = "format5") -> Path:
    path.mkdir(parents=True)
    (path / "data.mdb").write_bytes(lzma.decompress((OLD / f"{name}.xz").read_bytes()))
    return path


@pytest.fixture(autouse=True)
def _recipe_of_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `content` have the version that the old stores were made with: what their fingerprints mean is for other tests."""
    monkeypatch.setitem(RECIPES, "content", replace(RECIPES["content"], version=3))


@pytest.fixture(params=FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _check(store: Store, *, outdated: bool = True) -> None:
    """Check that a store has what the old one had; `outdated`: of its pages, their URLs and bytes alone."""
    assert store.verify() == []
    pages = {stored.page.url: stored for stored in store.pages()}
    assert pages.keys() == {f"http://old.test/{name}" for name in [*range(30), "short", "text"]}
    reasons = {url: stored.page.reason for url, stored in pages.items() if isinstance(stored.page, Abstention)}
    assert reasons == (dict.fromkeys(pages, Reason.OUTDATED) if outdated else {"http://old.test/short": Reason.SHORT})
    assert all(0 < stored.first_seen <= stored.last_seen for stored in pages.values())
    lines = {line.url: line for line in store.duplicates()}
    assert lines.keys() == {f"http://old.test/copy/{number}" for number in range(10)} | {"http://old.test/near"}
    assert [url for url, line in lines.items() if line.rejected] == ["http://old.test/copy/9"]
    assert lines["http://old.test/near"].kind == Kind.NEAR_DUPLICATE
    assert [(one.url, one.original) for one in store.rejections()] == [("http://old.test/copy/9", "http://old.test/9")]
    assert store.text("http://old.test/text") == "the kept text"
    assert [record["spider"] for record in store.crawls()] == ["old"]
    assert store.header.seed == 7


def test_a_store_of_an_older_format_is_refused_with_the_cure(tmp_path: Path, name: str):
    path = _old(tmp_path / "store", name)
    with pytest.raises(StoreFormatError, match=f"has format {FORMATS[name]}, this simcrawl writes {FORMAT}: run `simcrawl upgrade {path}`"):
        open_store(path)


def test_an_upgraded_store_has_what_the_old_one_had(tmp_path: Path, name: str):
    path = _old(tmp_path / "store", name)
    done = upgrade(path)
    # Fingerprints of a recipe that is no more mean nothing.
    stays, whole = name in ("format4b", "format5", "format6"), name == "format6"
    assert done == {
        "format": FORMATS[name],
        "pages": 32,
        "outdated": 32 * (not whole),
        "lines": 11,
        "rejections": 1,
        "texts": 1,
        "crawls": 1,
        "fingerprints": 3 * stays + whole,
        "fingerprints_dropped": 3 * (not stays),
        "damaged": 0,
    }
    with open_store(path) as store:
        _check(store, outdated=not whole)
        own = {stored.page.fingerprint for stored in store.pages() if isinstance(stored.page, PageFingerprint)}
        assert len(own) == 20 * whole
        assert {int(row[0]) for chunk in store.fingerprint_chunks() for row in chunk} == (BARE | own if stays else set())
        assert store.header.recipe == "content/3"
    assert sorted(file.name for file in path.iterdir()) == ["data.mdb", "lock.mdb"]
    assert set(upgrade(path).values()) == {FORMAT, 0}


def test_a_crawl_on_an_upgraded_store_makes_the_pages_again_and_finds_copies(tmp_path: Path, name: str):
    path = _old(tmp_path / "store", name)
    upgrade(path)
    html = page(english(300))
    with open_store(path) as store:
        detector = Detector(store)
        assert detector.recipe in (RECIPES["content"], resolve())
        assert detector.admit(detector.page(html, url="http://old.test/1")).kind is Kind.REVISITED
        verdict = detector.admit(detector.page(html, url="http://new.test/1"))
        assert (verdict.is_duplicate, verdict.original) == (True, "http://old.test/1")
        detector.close()
        store.sync()
        known = store.page("http://old.test/1")
        assert known
        assert isinstance(known.page, PageFingerprint)
        assert known.first_seen < known.last_seen
        assert store.verify() == []


def test_pages_of_format_6_find_their_copies_at_once(tmp_path: Path):
    path = _old(tmp_path / "store", "format6")
    with lmdb.open(str(path), max_dbs=128, readonly=True) as env, env.begin(db=env.open_db(b"pages")) as txn:
        records = [bytes(record) for _, record in txn.cursor()]
    upgrade(path)
    with lmdb.open(str(path), max_dbs=128, readonly=True) as env, env.begin(db=env.open_db(b"pages")) as txn:
        assert [bytes(record) for _, record in txn.cursor()] == records
    with open_store(path) as store:
        found = store.page("http://old.test/0")
        assert found
        assert isinstance(found.page, PageFingerprint)
        detector = Detector(store, originals="store")
        # By its bytes, by its text, by its fingerprint.
        known = detector.page(page(english(90, 1000)), url="http://new.test/0")
        assert isinstance(known, PageFingerprint)
        assert known.fingerprint == found.page.fingerprint
        assert detector.admit(known).original == "http://old.test/0"
        assert detector.admit(replace(known, body_digest=bytes(16))).original == "http://old.test/0"
        assert detector.admit(replace(known, body_digest=bytes(16), text_digest=bytes(16))).original == "http://old.test/0"
        # It was stored without a page, too.
        store.forget("http://old.test/0")
        assert [match.fingerprint for match in store.query_fingerprint(known.fingerprint, 0)] == [known.fingerprint]
        assert store.verify() == []


def test_a_store_of_a_recipe_s_version_before_is_refused_with_the_cure_and_goes_on_without_its_fingerprints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, html = tmp_path / "store", page(english(300))
    with open_store(path) as store:
        detector = Detector(store, recipe="content")
        detector.admit(detector.page(html, url="http://old.test/"))
        assert store.header.recipe == "content/3"
    monkeypatch.setitem(RECIPES, "content", replace(RECIPES["content"], version=4))
    with (
        open_store(path) as store,
        pytest.raises(
            StoreMismatchError, match=r"content/3, which an older simcrawl had.*content/4.*`simcrawl upgrade \S*store --recipe content`"
        ),
    ):
        Detector(store)
    assert upgrade(path, "content")["outdated"] == 1
    with open_store(path) as store:
        detector = Detector(store)
        assert detector.recipe.identity == "content/4"
        assert detector.admit(detector.page(html, url="http://old.test/")).kind is Kind.REVISITED
        assert detector.admit(detector.page(html, url="http://new.test/")).original == "http://old.test/"


def test_a_verdict_that_was_taken_back_stays_so(tmp_path: Path):
    path = _old(tmp_path / "store")
    upgrade(path)
    html = page(english(300))
    with open_store(path) as store:
        detector = Detector(store)
        detector.admit(detector.page(html, url="http://old.test/9"))
        assert not detector.admit(detector.page(html, url="http://old.test/copy/9")).is_duplicate


def test_a_crawl_that_names_no_recipe_goes_on_with_the_store_s(tmp_path: Path):
    with open_store(tmp_path / "store", recipe="main"):
        pass
    for recipe in (None, "auto"):
        with open_store(tmp_path / "store") as store:
            assert Detector(store, recipe=recipe).recipe == RECIPES["main"]
    with (
        open_store(tmp_path / "store") as store,
        pytest.raises(StoreMismatchError, match=r"main/4, not content/3.*upgrade .* --recipe content`"),
    ):
        Detector(store, recipe="content")


def test_a_store_goes_on_with_another_recipe(tmp_path: Path):
    path = tmp_path / "store"
    html = page(english(300))
    with open_store(path) as store:
        store.load_fingerprints(BARE)
        detector = Detector(store, recipe="main")
        for url in ("http://a.test/", "http://a.test/copy", "http://a.test/kept"):
            detector.admit(detector.page(html, url=url))
        store.reject("http://a.test/copy")
    done = upgrade(path, recipe="content")
    assert (done["format"], done["pages"], done["lines"], done["rejections"], done["fingerprints_dropped"]) == (FORMAT, 1, 2, 1, 3)
    with open_store(path) as store:
        assert store.verify() == []
        assert (store.header.recipe, store.counts()["fingerprints"]) == (RECIPES["content"].identity, 0)
        detector = Detector(store, recipe="content", originals="store")
        # By its bytes the page is still known.
        assert detector.admit(detector.page(html, url="http://b.test/")).original == "http://a.test/"
    assert upgrade(path, recipe="content")["pages"] == 0


@pytest.mark.parametrize("name", ["content", "main", "terms"])
def test_a_store_of_an_older_recipe_goes_on_with_the_same_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    of_today = RECIPES[name]
    with monkeypatch.context() as before:
        before.setitem(RECIPES, name, replace(of_today, version=of_today.version - 1))
        with open_store(tmp_path / "store") as store:
            Detector(store, recipe=name)
    assert upgrade(tmp_path / "store")["pages"] == 0
    with open_store(tmp_path / "store") as store:
        assert store.header.recipe == of_today.identity
        Detector(store)


def test_a_store_of_a_newer_recipe_is_refused_and_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as later:
        later.setitem(RECIPES, "terms", replace(RECIPES["terms"], version=99))
        with open_store(tmp_path / "store") as store:
            Detector(store)
    with (
        open_store(tmp_path / "store") as store,
        pytest.raises(StoreMismatchError, match=r"terms/99, which a newer simcrawl has.*upgrade simcr"),
    ):
        Detector(store)
    for recipe in (None, "auto", "content"):
        with pytest.raises(StoreFormatError, match="terms/99, which a newer simcrawl has"):
            upgrade(tmp_path / "store", recipe)


@pytest.mark.parametrize("first", [None, "terms", "auto"])
def test_with_a_recipe_of_one_s_own_the_advice_leads_out(tmp_path: Path, first: str | None):
    old, own = (replace(RECIPES["terms"], extractor="tests.samples.counting_extractor", version=version) for version in (2, 3))
    with open_store(tmp_path / "store") as store:
        Detector(store, recipe=old)
    upgrade(tmp_path / "store", first)
    if first == "terms":
        with open_store(tmp_path / "store") as store, pytest.raises(StoreMismatchError, match="--recipe auto`"):
            Detector(store, recipe=own)
        upgrade(tmp_path / "store", "auto")
    with open_store(tmp_path / "store") as store:
        Detector(store, recipe=own)
    with open_store(tmp_path / "store") as store:
        assert store.header.recipe == own.identity
        # A command that names none says so.
        with pytest.raises(SettingError, match=r"not built in: name that recipe.*`simcrawl upgrade \S*store --recipe auto`"):
            Detector(store)


def test_it_can_be_called_again_in_one_process(tmp_path: Path):
    # Its module must not have its name, which the package would then have for the module.
    for name in ("one", "two"):
        assert sys.modules["simcrawl.store"].upgrade(_old(tmp_path / name))["pages"] == 32


def test_loaded_pages_of_an_older_recipe_can_be_loaded_again(tmp_path: Path):
    pages = [RawPage(f"http://a.test/{number}", page(english(100, seed=number)).encode()) for number in range(3)]
    path, found = tmp_path / "store", list[tuple[int, int]]()
    for recipe in ("content", "main", "main"):
        if found:
            upgrade(path, recipe)
        with open_store(path) as store:
            detector = Detector(store, recipe=recipe)
            loaded = load_pages(detector, pages, workers=0)
            found.append((loaded.admitted, loaded.known))
            assert detector.admit(detector.page(pages[0].body.replace(b"t</title>", b"u</title>"), url="http://b.test/")).original
    assert found == [(3, 0), (3, 0), (0, 3)]


def test_pages_of_format_6_with_another_recipe_are_outdated(tmp_path: Path):
    path = _old(tmp_path / "store", "format6")
    done = upgrade(path, recipe="main")
    assert (done["pages"], done["outdated"], done["fingerprints"], done["fingerprints_dropped"]) == (32, 32, 0, 4)
    with open_store(path) as store:
        _check(store)


def test_pages_of_crawls_and_loaded_ones_are_upgraded_too(tmp_path: Path):
    path = _old(tmp_path / "store")
    for own in ("loaded", "crawls/0123456789abcdef/pages"):
        _old(path / own)
    upgrade(path)
    for own in ("loaded", "crawls/0123456789abcdef/pages"):
        with open_store(path / own) as store:
            _check(store)


def test_users_and_passwords_of_old_urls_are_not_kept(tmp_path: Path):
    path = _old(tmp_path / "store", "format4b")
    with lmdb.open(str(path), max_dbs=128) as env, env.begin(write=True, db=env.open_db(b"duplicates")) as txn:
        cursor = txn.cursor()
        assert cursor.first()
        line = json.loads(cursor.value()) | {"url": "http://user:secret@old.test/"}
        txn.put(cursor.key(), json.dumps(line).encode())
    upgrade(path)
    with open_store(path) as store:
        assert store.verify() == []
        assert sum("http://user-" in line.url for line in store.duplicates()) == 1
    assert b"secret" not in (path / "data.mdb").read_bytes()


def test_what_is_damaged_is_left_out_and_counted(tmp_path: Path):
    path = _old(tmp_path / "store")
    with lmdb.open(str(path), max_dbs=128) as env:
        databases = [env.open_db(name) for name in (b"pages", b"duplicates", b"rejections")]
        for database in databases:
            with env.begin(write=True, db=database) as txn, txn.cursor() as cursor:
                key, value = next((bytes(key), bytes(value)) for key, value in cursor if value)
                txn.put(key, value[:-1] + b"?")
    done = upgrade(path)
    assert (done["pages"], done["lines"], done["rejections"], done["damaged"]) == (31, 10, 0, 3)
    with open_store(path) as store:
        assert store.verify() == []


@pytest.mark.parametrize(("version", "match"), [(2, "reads 3 to"), (FORMAT + 1, "upgrade simcrawl")])
def test_what_is_too_old_or_too_new_stays_as_it_is(tmp_path: Path, version: int, match: str):
    path = _old(tmp_path / "store")
    with lmdb.open(str(path), max_dbs=128) as env, env.begin(write=True, db=env.open_db(b"meta")) as txn:
        header = txn.get(b"header")
        txn.put(b"header", MAGIC + version.to_bytes(2, "big") + (header or b"")[len(MAGIC) + 2 :])
    before = (path / "data.mdb").read_bytes()
    with pytest.raises(StoreFormatError, match=match):
        upgrade(path)
    assert (path / "data.mdb").read_bytes() == before


def test_a_store_that_somebody_writes_to_is_left_alone(tmp_path: Path):
    path = tmp_path / "store"
    with open_store(path), pytest.raises(StoreError, match="is open in this process"):
        upgrade(path)
    script = f"from simcrawl.store import upgrade\nupgrade({str(path)!r})"
    with open_store(path), pytest.raises(AssertionError, match="another process writes to"):
        python(script)


def test_without_space_nothing_is_done(tmp_path: Path):
    path = _old(tmp_path / "store")
    # Free pages, which LMDB allows: no disk has so much.
    os.truncate(path / "data.mdb", min(1 << 43, disk_usage(path).free + (1 << 30)))
    with pytest.raises(StoreFullError, match=r"an upgrade of .* needs \d+ bytes beside it"):
        upgrade(path)


def test_a_kill_at_any_moment_leaves_the_old_store_or_the_new(tmp_path: Path):
    counted = _run(_old(tmp_path / "counted"), 0)
    found = []
    for at in range(1, counted + 1, 2):
        path = _old(tmp_path / f"killed{at}")
        _run(path, at)
        found.append(upgrade(path)["format"])
        with open_store(path) as store:
            _check(store)
    # First the old store is there, and from some moment on the new one.
    assert found == sorted(found)
    assert set(found) == {5, FORMAT}


def _run(path: Path, at: int) -> int:
    """Upgrade a store in a process that ends itself when it touches files the `at`-th time; return how often it did."""
    script = """
import os, signal, sys
from dataclasses import replace
from simcrawl.page.recipes import RECIPES
from simcrawl.store import upgrade
import simcrawl.store.upgrading
path, at, count = sys.argv[1], int(sys.argv[2]), 0
def hook(event, args):
    global count
    if event.startswith(("open", "os.", "shutil.", "fcntl.")):
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
RECIPES["content"] = replace(RECIPES["content"], version=3)
sys.addaudithook(hook)
upgrade(path)
print(count)
"""
    done = forked.run(["-c", script, str(path), str(at)], timeout=60)
    assert done.returncode == (-signal.SIGKILL if at else 0), done.stderr
    return int(done.stdout or 0)


def test_the_command_says_what_it_kept(tmp_path: Path):
    path = _old(tmp_path / "store")
    copy = copytree(path, tmp_path / "copy")
    done = CliRunner().invoke(cli, ["upgrade", str(path)])
    assert done.output == "Format 5 before. 32 pages, 32 outdated, 11 lines, 1 rejections, 1 texts, 1 crawls, 3 fingerprints. " + AGAIN
    assert CliRunner().invoke(cli, ["upgrade", str(path)]).output == f"Format {FORMAT} before. Nothing had to be done.\n"
    told = json.loads(CliRunner().invoke(cli, ["upgrade", str(copy), "--recipe", "main", "--json"]).output)
    assert (told["pages"], told["fingerprints_dropped"]) == (32, 3)
    with open_store(copy) as store:
        assert store.header.recipe == RECIPES["main"].identity
