"""Crawls on a store: which pages can be originals, who shares a crawl, when it ends, and what has changed since the one before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from errno import ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

import lmdb
import pytest
from hypothesis import given, settings, strategies as st

from simcrawl.detector import Detector
from simcrawl.errors import SettingError, StoreError, StoreFullError
from simcrawl.page.fingerprint import Abstention, PageFingerprint, fingerprint_page
from simcrawl.rule import Kind, Verdict
from simcrawl.store import Store, crawl_files, files, join_crawl, join_loaded, maintenance, open_store, rebuild
from simcrawl.store.crawl_files import CRAWLS, join, read_job
from simcrawl.store.crawls import content_of
from simcrawl.tools.bulk import load_pages
from simcrawl.workers.pool import RawPage
from tests.samples import chinese, edited, english, page

if TYPE_CHECKING:
    from collections.abc import Iterator

A, B, C = (f"http://example.org/{name}" for name in "abc")


@pytest.fixture(params=["memory", "lmdb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_store("memory:" if request.param == "memory" else tmp_path / "store", seed=7) as opened:
        yield opened


def _page(body: str, url: str) -> PageFingerprint | Abstention:
    return fingerprint_page(body, url=url, seed=7)


TEXT = page(english(150))


# ---- originals


def test_a_page_that_only_an_earlier_crawl_had_is_no_original(store: Store):
    first = Detector(store)
    assert first.admit(_page(TEXT, A)).kind is Kind.ADMITTED
    assert first.admit(_page(TEXT, B)).original == A
    first.close()
    second = Detector(store)
    assert second.admit(_page(TEXT, B)).kind is Kind.ADMITTED
    # Known by its URL, and a copy all the same: what this crawl has is the other one.
    assert second.admit(_page(TEXT, A)).original == B


def test_a_page_under_a_url_that_an_earlier_crawl_knew_is_revisited_where_it_is_kept(store: Store):
    Detector(store).admit(_page(TEXT, A))
    again = Detector(store)
    assert again.admit(_page(page(chinese()), A)).kind is Kind.REVISITED
    assert again.admit(_page(TEXT, B)).kind is Kind.ADMITTED


def test_a_url_that_a_crawl_has_kept_stays_kept_in_it(store: Store):
    detector = Detector(store)
    detector.admit(_page(TEXT, A))
    detector.admit(_page(page(chinese()), B))
    assert detector.admit(_page(TEXT, B)).kind is Kind.REVISITED


def test_crawls_on_one_store_at_once_do_not_see_each_other(store: Store):
    one, other = Detector(store), Detector(store)
    assert one.admit(_page(TEXT, A)).kind is Kind.ADMITTED
    assert not other.admit(_page(TEXT, B)).is_duplicate
    assert one.admit(_page(TEXT, B)).original == A
    assert other.admit(_page(TEXT, A)).original == B


def test_detectors_that_name_one_crawl_share_it_and_its_end_begins_another(store: Store):
    one, other = Detector(store, crawl="news"), Detector(store, crawl="news")
    one.admit(_page(TEXT, A))
    assert other.admit(_page(TEXT, B)).original == A
    one.close()
    third = Detector(store, crawl="news")
    assert third.admit(_page(TEXT, C)).original == A
    for detector in (other, third):
        detector.close()
    assert not Detector(store, crawl="news").admit(_page(TEXT, B)).is_duplicate


@pytest.mark.parametrize("name", ["", "  ", 3])
def test_what_is_no_name_of_a_crawl_is_refused(store: Store, name: Any):
    with pytest.raises(SettingError, match="SIMCRAWL_CRAWL"):
        Detector(store, crawl=name)


def test_with_originals_of_the_store_what_any_crawl_had_does_not_come_out(store: Store):
    Detector(store).admit(_page(TEXT, A))
    assert Detector(store, originals="store").admit(_page(TEXT, B)).original == A


def test_loaded_pages_are_originals_in_every_crawl(store: Store):
    running, loader = Detector(store), Detector(store)
    running.admit(_page(page(chinese()), C))
    load_pages(loader, [RawPage(A, TEXT.encode())], workers=0)
    for detector in (running, Detector(store), Detector(store)):
        assert detector.admit(_page(TEXT, B)).original == A
    # Under its own URL it is no copy of itself, and no new page.
    assert Detector(store).admit(_page(TEXT, A)).kind is Kind.REVISITED


def test_what_is_loaded_again_is_known_and_what_crawls_knew_is_not(store: Store):
    Detector(store).admit(_page(TEXT, A))
    corpus = [RawPage(url, TEXT.encode()) for url in (A, B)]
    assert load_pages(Detector(store), corpus, workers=0).as_object() == {
        "read": 2,
        "known": 0,
        "admitted": 1,
        "copies": 1,
        "abstained": 0,
        "crashed": 0,
        "too_slow": 0,
    }
    assert load_pages(Detector(store), corpus, workers=0).known == 1


def test_rejections_hold_in_every_crawl(store: Store):
    first = Detector(store)
    first.admit(_page(TEXT, A))
    first.admit(_page(page(edited(english(150), 2)), B))
    store.reject(B, A)
    again = Detector(store)
    again.admit(_page(TEXT, A))
    assert not again.admit(_page(page(edited(english(150), 2)), B)).is_duplicate


def test_a_forgotten_page_is_no_original_of_crawls_either(store: Store):
    load_pages(Detector(store), [RawPage(A, TEXT.encode())], workers=0)
    running = Detector(store)
    running.admit(_page(page(chinese()), B))
    store.forget(A)
    store.forget(B)
    assert not running.admit(_page(TEXT, C)).is_duplicate
    assert not running.admit(_page(page(chinese()), A)).is_duplicate


def test_the_lasting_store_has_what_every_crawl_kept_and_dropped(store: Store):
    for url, other in ((A, B), (B, C)):
        detector = Detector(store)
        detector.admit(_page(TEXT, url))
        detector.admit(_page(TEXT, other))
        detector.close()
    store.sync()
    assert sorted(stored.page.url for stored in store.pages()) == [A, B]
    # B was a copy once, and was kept since.
    assert [line.url for line in store.duplicates()] == [C]


# ---- the specification


class Step(NamedTuple):
    """A page that a crawl fetches. `crawl`: which one of those that run at once; 0 is the one that is looked at."""

    crawl: int
    url: str
    content: int


CONTENTS = [page(english(150)), page(edited(english(150), 2)), page(english(150), wrap="main"), page(chinese()), page("short"), page("")]
URLS = [f"http://{host}.example/{name}" for host in "ab" for name in range(4)]
steps = st.lists(st.builds(Step, st.integers(0, 2), st.sampled_from(URLS), st.integers(0, len(CONTENTS) - 1)), max_size=14)
OUTLINKS = st.sampled_from(["drop", "follow", 1.0])
CORPUS = st.lists(st.tuples(st.sampled_from(URLS), st.integers(0, len(CONTENTS) - 1)), max_size=2)


def _decisions(verdicts: list[Verdict]) -> list[tuple[Any, ...]]:
    return [(verdict.drop_page, verdict.drop_outlinks, verdict.original) for verdict in verdicts]


def _load(store: Store, corpus: list[tuple[str, int]]) -> None:
    load_pages(Detector(store), [RawPage(url, CONTENTS[content].encode()) for url, content in corpus], workers=0)


def _run(store: Store, history: list[Step], *, outlinks: Any) -> list[Verdict]:
    """Return the verdicts of crawl 0, while others run between its pages."""
    crawls = {number: Detector(store, outlinks=outlinks) for number in range(3)}
    made = [(step.crawl, crawls[step.crawl].admit(crawls[step.crawl].page(CONTENTS[step.content], url=step.url))) for step in history]
    for detector in crawls.values():
        detector.close()
    return [verdict for number, verdict in made if number == 0]


@pytest.mark.parametrize("kind", ["memory", "lmdb"])
@given(past=st.lists(steps, max_size=2), crawl=steps, corpus=CORPUS, options=st.tuples(OUTLINKS, st.sampled_from([0.0, 1e6])))
@settings(max_examples=25, deadline=None)
def test_a_crawl_on_a_store_with_any_past_is_that_on_an_empty_one(
    kind: str, past: list[list[Step]], crawl: list[Step], corpus: list[tuple[str, int]], options: tuple[Any, float]
):
    outlinks, sync = options
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        old, new = (
            stack.enter_context(open_store("memory:" if kind == "memory" else folder / name, seed=7, sync_seconds=sync))
            for name in ("old", "new")
        )
        for store in (old, new):
            _load(store, corpus)
        for history in past:
            _run(old, history, outlinks=outlinks)
        alone = [step for step in crawl if step.crawl == 0]
        assert _decisions(_run(old, crawl, outlinks=outlinks)) == _decisions(_run(new, alone, outlinks=outlinks))
        assert old.verify() == []


# ---- when a crawl ends


def _crawls(store: Path) -> list[Path]:
    return sorted((store / CRAWLS).iterdir())


def test_the_end_of_a_crawl_leaves_nothing_of_it_but_what_lasts(tmp_path: Path):
    with open_store(tmp_path / "store") as store:
        detector = Detector(store)
        detector.admit(detector.page(TEXT, url=A))
        assert len(_crawls(tmp_path / "store")) == 1
        detector.close()
        assert _crawls(tmp_path / "store") == []
        Detector(store).admit(detector.page(TEXT, url=B))
    assert _crawls(tmp_path / "store") == []


def test_an_interrupted_run_goes_on_with_its_crawl_and_a_finished_one_does_not(tmp_path: Path):
    job = tmp_path / "job"

    def run(*, finished: bool) -> tuple[bool, Verdict]:
        with open_store(tmp_path / "store", seed=7) as store:
            crawl = join_crawl(store, spider="news", resume=read_job(job), job=str(job))
            verdict = Detector(store, crawl=crawl).admit(_page(TEXT, B if crawl.resumed else A))
            crawl.leave(finished=finished)
            return crawl.resumed, verdict

    assert run(finished=False)[0] is False
    resumed, verdict = run(finished=True)
    assert (resumed, verdict.original) == (True, A)
    assert not job.exists()
    assert run(finished=False)[0] is False


def test_a_crawl_that_was_interrupted_waits_for_its_job_while_others_run_and_no_longer(tmp_path: Path):
    job = tmp_path / "job"
    with open_store(tmp_path / "store") as store:
        join_crawl(store, "nightly", spider="news", job=str(job)).leave()
        # The next run of the name begins a new crawl.
        other = join_crawl(store, "nightly", spider="news")
        assert not other.joined_others
        other.leave()
        assert [directory.name for directory in _crawls(tmp_path / "store")] == [read_job(job)]
        job.unlink()
        join_crawl(store).leave()
        assert _crawls(tmp_path / "store") == []


@pytest.mark.parametrize("content", ["", "../../etc", "0" * 16, "\xff"])
def test_a_job_that_names_no_crawl_begins_one(tmp_path: Path, content: str):
    job = tmp_path / "job"
    job.write_bytes(content.encode("latin-1"))
    with open_store(tmp_path / "store") as store:
        crawl = join_crawl(store, resume=read_job(job), job=str(job))
        assert not crawl.resumed
        assert read_job(job) == crawl.id


# ---- another design, and a full disk


@pytest.mark.parametrize("earlier", [False, True])
def test_a_rebuilt_store_goes_on_with_its_loaded_pages_and_interrupted_crawls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, earlier: bool
):
    path, job = tmp_path / "store", tmp_path / "job"
    with open_store(path, seed=7) as store:
        loaded = join_loaded(store)
        Detector(store, crawl=loaded).admit(_page(page(chinese(400)), C))
        loaded.leave()
        crawl = join_crawl(store, spider="news", job=str(job))
        Detector(store, crawl=crawl).admit(_page(TEXT, A))
        crawl.leave(finished=False)
    if earlier:
        # As by a version that left them as they were, or a kill.
        monkeypatch.setattr(maintenance, "own_stores", lambda _: [])
    rebuild(path, "10")
    own = (path / "loaded", path / CRAWLS / (read_job(job) or "") / "pages")
    for where in own:
        with open_store(where, readonly=True) as opened:
            assert opened.header.design == ("4" if earlier else "10")
            assert opened.verify() == []
    with open_store(path) as store:
        crawl = join_crawl(store, spider="news", resume=read_job(job), job=str(job))
        detector = Detector(store, crawl=crawl)
        assert crawl.resumed
        assert detector.admit(_page(TEXT, B)).original == A
        assert detector.admit(_page(page(chinese(400)), "http://example.org/d")).original == C
        assert store.forget(C)
        crawl.leave(finished=True)
        assert join_crawl(store, spider="news").own.header.design == "10"


def _full(*_: object) -> None:
    raise OSError(ENOSPC, os.strerror(ENOSPC))


def test_a_full_disk_is_told_and_not_that_nothing_could_be_tidied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "store"
    with open_store(path) as store:
        with monkeypatch.context() as full:
            full.setattr(files, "reserve", _full)
            full.setattr(crawl_files, "_read", _full)
            with pytest.raises(StoreFullError, match=r"no space left in .*pages .*: free disk space"):
                join_crawl(store)
        with monkeypatch.context() as full:
            full.setattr(crawl_files, "_write", _full)
            with pytest.raises(StoreFullError, match=r"no space left in .*crawls .*: free disk space"):
                join_crawl(store)
        crawl = join_crawl(store)
        assert [directory.name for directory in _crawls(path)] == [crawl.id]


def test_what_a_full_disk_kept_from_being_made_is_made_when_there_is_space(tmp_path: Path):
    path, job = tmp_path / "store", tmp_path / "job"
    with lmdb.open(str(tmp_path / "new")):
        unmade = (tmp_path / "new" / "data.mdb").read_bytes()[:4096]
    path.mkdir()
    (path / "data.mdb").write_bytes(unmade)
    with open_store(path, recipe="terms") as store:
        crawl = join_crawl(store, job=str(job))
        own = path / CRAWLS / crawl.id / "pages" / "data.mdb"
        crawl.leave(finished=False)
    own.write_bytes(unmade)
    rebuild(path, "10")
    with open_store(path) as store:
        assert join_crawl(store, resume=read_job(job), job=str(job)).resumed


def test_what_only_looks_unmade_is_not_touched(tmp_path: Path):
    path = tmp_path / "store"
    with open_store(path, recipe="terms"):
        pass
    whole = (path / "data.mdb").read_bytes()
    for held in (b"something else entirely", whole[:4096], whole[4096:8192], whole[4096:7000]):
        (path / "data.mdb").write_bytes(held)
        with pytest.raises(StoreError):
            open_store(path)
        assert (path / "data.mdb").read_bytes() == held


KILLED = """
import sys
from simcrawl.detector import Detector
from simcrawl.store import join_crawl, open_store
store = open_store(sys.argv[1], sync_seconds=0)
detector = Detector(store, crawl=join_crawl(store, "nightly", spider="news", job=sys.argv[2] if len(sys.argv) > 2 else None))
detector.admit(detector.page(open(sys.argv[0].replace("killed.py", "page.html")).read(), url="http://example.org/a"))
detector.crawl.try_sync()
print("ready", flush=True)
sys.stdin.read()
"""


def _start(folder: Path, *arguments: Path) -> subprocess.Popen[str]:
    (folder / "killed.py").write_text(KILLED)
    (folder / "page.html").write_text(TEXT)
    command = [sys.executable, str(folder / "killed.py"), *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def _kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_processes_that_name_one_crawl_share_it_until_the_last_one_dies(tmp_path: Path):
    other = _start(tmp_path, tmp_path / "store")
    with open_store(tmp_path / "store") as store:
        crawl = join_crawl(store, "nightly", spider="news")
        assert (crawl.joined_others, crawl.pages) == (True, 1)
        detector = Detector(store, crawl=crawl)
        assert detector.admit(detector.page(TEXT, url=B)).original == A
        _kill(other)
        crawl.leave(finished=True)
        assert _crawls(tmp_path / "store") == []


def test_a_killed_run_without_a_job_leaves_no_crawl_and_one_with_a_job_leaves_its_own(tmp_path: Path):
    job = tmp_path / "job"
    for arguments in ((), (job,)):
        _kill(_start(tmp_path, tmp_path / "store", *arguments))
        with open_store(tmp_path / "store") as store:
            crawl = join_crawl(store, "nightly", spider="news", resume=read_job(job), job=str(job) if arguments else None)
            detector = Detector(store, crawl=crawl)
            assert crawl.resumed is bool(arguments)
            assert detector.admit(detector.page(TEXT, url=B)).is_duplicate is bool(arguments)
            crawl.leave(finished=True)
        assert _crawls(tmp_path / "store") == []


def test_a_note_that_was_cut_short_is_no_crawl_to_join(tmp_path: Path):
    with open_store(tmp_path / "store") as store:
        running = join_crawl(store, "nightly")
        (directory,) = _crawls(tmp_path / "store")
        (directory / "note.json").write_text(json.dumps({"id": directory.name})[:-5])
        other = join_crawl(store, "nightly")
        assert not other.joined_others
        # It is live, so it is left alone.
        assert len(_crawls(tmp_path / "store")) == 2
        running.leave()
        other.leave()
    assert _crawls(tmp_path / "store") == []


def test_a_store_that_is_read_only_has_no_crawls(tmp_path: Path):
    open_store(tmp_path / "store", recipe="auto").close()
    with open_store(tmp_path / "store", readonly=True) as store:
        for begin in (join_crawl, join_loaded):
            with pytest.raises(StoreError, match="read only"):
                begin(store)


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / CRAWLS).write_text("in the way")
    with pytest.raises(StoreError, match="cannot begin a crawl"):
        join(tmp_path, None, spider="", resume=None, job=None)


# ---- what has changed


def _night(
    store: Store, pages: dict[str, bytes], *, spider: str = "news", finished: bool = True, seen: tuple[str, ...] = ()
) -> tuple[dict[str, str | None], int | None, list[str]]:
    crawl = join_crawl(store, spider=spider)
    detector = Detector(store, crawl=crawl)
    changes: dict[str, str | None] = {}
    for url, content in pages.items():
        made = detector.page(page(english(100, seed=content[0])), url=url)
        verdict = detector.admit(made)
        changes[url] = crawl.since(url, content).change
        crawl.visit(url, content, kept=not verdict.drop_page)
    for url in seen:
        crawl.visit(url)
    crawl.leave(finished=finished)
    return changes, crawl.not_met, crawl.not_met_urls


ONE, TWO, THREE = (bytes([number]) * 16 for number in (1, 2, 3))


def test_what_is_new_unchanged_changed_and_not_met_again_since_the_last_finished_crawl(store: Store):
    assert _night(store, {A: ONE, B: TWO}) == ({A: "new", B: "new"}, None, [])
    assert _night(store, {A: ONE, B: THREE, C: TWO}) == ({A: "unchanged", B: "changed", C: "new"}, 0, [])
    assert _night(store, {A: ONE})[:2] == ({A: "unchanged"}, 2)
    assert _night(store, {A: ONE, B: TWO}) == ({A: "unchanged", B: "new"}, 0, [])


def test_what_a_crawl_came_across_is_not_missing(store: Store):
    _night(store, {A: ONE, B: TWO})
    changes, missing, urls = _night(store, {A: ONE}, seen=(f"{B}#part",))
    assert (changes, missing, urls) == ({A: "unchanged"}, 0, [])
    # Nobody looked at it: it is what it was to the crawl before.
    assert _night(store, {}, seen=(B,))[1:] == (1, [A])
    assert _night(store, {B: TWO})[0] == {B: "unchanged"}
    _night(store, {}, seen=(B, C))
    assert _night(store, {B: THREE, C: ONE})[0] == {B: "changed", C: "new"}


def test_only_what_its_server_says_is_not_there_is_gone(store: Store):
    _night(store, {A: ONE, B: TWO, C: TWO})
    crawl = join_crawl(store, spider="news")
    crawl.visit(A, ONE, kept=True)
    for url in (A, B, f"{A}never-there"):
        crawl.no_such_page(url)
    assert [crawl.has_seen(url) for url in (A, B)] == [True, False]
    crawl.leave(finished=True)
    assert (crawl.gone, crawl.gone_urls, crawl.not_met) == (1, [B], 0)
    # C was a copy.
    assert _night(store, {A: ONE, B: TWO}) == ({A: "unchanged", B: "new"}, 0, [])


def test_a_page_that_was_looked_at_is_not_forgotten_for_a_failure_later_on(store: Store):
    _night(store, {A: ONE}, seen=(A,))
    assert _night(store, {A: ONE})[0] == {A: "unchanged"}


def test_what_is_lost_is_to_the_next_crawl_what_it_was_to_this_one(store: Store):
    _night(store, {A: ONE})
    crawl = join_crawl(store, spider="news")
    for url in (A, B):
        crawl.visit(url, TWO, kept=True)
        crawl.lost(url)
        assert crawl.has_seen(url)
    crawl.leave(finished=True)
    assert crawl.not_met == 0
    assert _night(store, {A: TWO, B: TWO})[0] == {A: "changed", B: "new"}


def _told(store: Store, content: bytes, *, comes: bool) -> tuple[str, str]:
    crawl = join_crawl(store, spider="news")
    since = crawl.since(A, content)
    crawl.visit(A, content, kept=True, owed=since.told != "unchanged")
    if comes:
        crawl.came(A, content)
        # Another callback has the page as well, and gives nothing.
        crawl.visit(A, content, kept=True, owed=True, again=True)
    crawl.leave(finished=True)
    return since


def test_of_what_nothing_has_come_a_callback_is_told_that_it_has_changed(store: Store):
    assert _told(store, ONE, comes=False) == ("new", "new")
    assert _told(store, ONE, comes=False) == ("unchanged", "changed")
    assert _told(store, TWO, comes=True) == ("changed", "changed")
    assert _told(store, TWO, comes=False) == ("unchanged", "unchanged")
    assert _told(store, THREE, comes=False) == ("changed", "changed")
    assert _told(store, THREE, comes=False) == ("unchanged", "changed")
    assert _told(store, THREE, comes=True) == ("unchanged", "changed")
    assert _told(store, THREE, comes=False) == ("unchanged", "unchanged")


def test_a_page_of_which_nothing_has_come_is_missed_as_well_and_no_original_of_another_night(store: Store):
    crawl = join_crawl(store, spider="news")
    for url in (A, B):
        crawl.visit(url, ONE, kept=True, owed=True)
    crawl.leave(finished=True)
    crawl = join_crawl(store, spider="news")
    assert crawl.was_kept(A)
    crawl.visit(A, ONE, kept=True, owed=True)
    crawl.leave(finished=True)
    assert crawl.not_met == 1


def test_what_came_out_and_is_not_stored_is_as_if_the_crawl_had_not_finished(store: Store):
    _night(store, {A: ONE})
    crawl = join_crawl(store, spider="news")
    crawl.visit(B, TWO, kept=True)
    crawl.leave(finished=True, stored=False)
    assert crawl.gone is crawl.not_met is None
    assert _night(store, {A: ONE, B: TWO})[0] == {A: "unchanged", B: "new"}


def _kept(store: Store, pages: dict[str, str]) -> set[str]:
    crawl = join_crawl(store, spider="news")
    detector = Detector(store, crawl=crawl, originals="store")
    kept = set[str]()
    for url, body in pages.items():
        made = _page(body, url)
        admission = detector.claim(made)
        crawl.visit(url, content_of(made), kept=not admission.verdict.drop_page)
        if admission.claim:
            admission.claim.confirm()
        if not admission.verdict.drop_page:
            kept.add(url)
    crawl.leave(finished=True)
    return kept


OLD = english(300)
CORRECTED = f"{OLD} Correction: an earlier version of this page gave a wrong name."


@pytest.mark.parametrize("nights", [0, 2])
def test_what_was_not_met_before_it_was_corrected_is_compared_with_what_it_said_as_a_copy(store: Store, nights: int):
    assert _kept(store, {A: page(OLD)}) == {A}
    assert _kept(store, {B: page(OLD)}) == set()
    for _ in range(nights):
        assert _kept(store, {C: page(english(300, seed=9))}) == {C}
    # As long as it says the same it is a copy.
    assert _kept(store, {B: page(OLD)}) == set()
    for _ in range(nights):
        assert _kept(store, {C: page(english(300, seed=9))}) == {C}
    assert _kept(store, {B: page(CORRECTED)}) == {B}


def test_what_nobody_has_met_before_may_be_a_copy_that_says_more(store: Store):
    assert _kept(store, {A: page(OLD)}) == {A}
    assert _kept(store, {B: page(CORRECTED)}) == set()
    # Nor is it corrected if it was not looked at since.
    assert _kept(store, {C: page(english(300, seed=9))}) == {C}
    assert _kept(store, {B: page(CORRECTED)}) == set()


@pytest.mark.parametrize("ahead", [0, 86_400])
def test_whether_an_original_is_of_this_crawl_is_no_question_of_the_clock(store: Store, monkeypatch: pytest.MonkeyPatch, ahead: int):
    with monkeypatch.context() as clock:
        for module in ("store.store", "store.crawl_note"):
            clock.setattr(f"simcrawl.{module}.time", lambda: time() + ahead)
        assert _kept(store, {A: page(OLD)}) == {A}
        assert _kept(store, {B: page(OLD)}) == set()
    # A page that only an earlier crawl has met says less.
    assert _kept(store, {B: page(CORRECTED)}) == {B}


def test_an_original_that_was_seen_within_the_hour_before_is_of_this_crawl(store: Store):
    assert _kept(store, {A: page(OLD), B: page(OLD)}) == {A}
    assert _kept(store, {A: page(OLD), B: page(CORRECTED)}) == {A}


def test_what_was_a_copy_is_not_missing_but_known(store: Store):
    copy = {A: ONE, B: ONE}
    _night(store, copy)
    assert _night(store, {A: ONE})[1] == 0
    _night(store, copy)
    assert _night(store, copy)[0] == {A: "unchanged", B: "unchanged"}


def test_a_crawl_that_did_not_finish_says_nothing_of_what_is_gone_and_is_not_compared_with(store: Store):
    _night(store, {A: ONE, B: TWO})
    assert _night(store, {A: THREE}, finished=False) == ({A: "changed"}, None, [])
    assert _night(store, {A: ONE}) == ({A: "unchanged"}, 1, [B])


def test_spiders_are_compared_with_themselves(store: Store):
    _night(store, {A: ONE})
    assert _night(store, {A: ONE}, spider="shop") == ({A: "new"}, None, [])
    assert _night(store, {A: ONE}) == ({A: "unchanged"}, 0, [])


def test_a_shared_crawl_is_compared_when_its_last_run_has_left(store: Store):
    _night(store, {A: ONE, B: TWO})
    runs = [join_crawl(store, "nightly", spider="news") for _ in range(2)]
    for run, url in zip(runs, (A, C), strict=True):
        run.visit(url, ONE, kept=True)
    for run in runs:
        run.leave(finished=True)
    assert [run.not_met for run in runs] == [None, 1]
    assert _night(store, {A: ONE, C: ONE})[0] == {A: "unchanged", C: "unchanged"}


def test_a_shared_crawl_of_which_one_run_was_interrupted_is_not_compared_with(store: Store):
    _night(store, {A: ONE, B: TWO})
    runs = [join_crawl(store, "nightly", spider="news") for _ in range(2)]
    runs[0].leave(finished=False)
    runs[1].leave(finished=True)
    assert [run.not_met for run in runs] == [None, None]
    assert _night(store, {A: ONE})[1] == 1


def test_visits_that_found_no_space_leave_what_is_gone_unknown(store: Store, monkeypatch: pytest.MonkeyPatch):
    _night(store, {A: ONE})
    monkeypatch.setattr("simcrawl.store.claims._MOST_UNWRITTEN", 1)
    assert _night(store, {}, seen=(B, C))[1] is None
