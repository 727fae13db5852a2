"""The documentation says what is so: examples run, outputs are real, lists are complete and name nothing that does not exist."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

import simcrawl
from simcrawl import cli
from simcrawl.config import SETTINGS, Config
from simcrawl.store import open_store
from tests.browser import UnavailableError, open_browser
from tests.crawl import content
from tests.crawl.content import hub, page
from tests.crawl.runner import crawls
from tests.crawl.test_crawl import IN_ORDER, copies
from tests.documents import ROOT, WALK, Block, Shell, blocks, difference, play, prepare, renewed, same, screen, segments
from tests.settings_pages import SETTINGS_PAGES, renewed_settings
from tests.test_report_browser import FOUND

if TYPE_CHECKING:
    from tests.crawl.server import DirectorySite, Site

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "docs" / "examples" / "README.md"]
LONGEST_LINE = 120
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
PLAYED = [page for page in PAGES if page.stem != WALK and any(block.language == "console" for block in blocks(page))]


# ---- examples


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_is_what_comes_out(page: Path, tmp_path: Path) -> None:
    with Shell(tmp_path) as shell:
        prepare(page, shell)
        wrong = _wrong(page, shell)
    assert not wrong, _told(wrong)


def _wrong(page: Path, shell: Shell) -> list[str]:
    played = play(page, shell)
    return [f"{page.name}, line {number}: {told}" for expected, printed, number in played if (told := difference(expected, printed))]


def _told(wrong: list[str]) -> str:
    return "\n\n".join(["renew the page with python -m tests.documents, and read what changed", *wrong])


@pytest.fixture(scope="module")
def walked(installguide_site: DirectorySite, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path]:
    """What came out otherwise on the walk through a real site, and the report at its end."""
    directory = tmp_path_factory.mktemp("walk")
    with Shell(directory, installguide_site.url()) as shell:
        return _wrong(ROOT / "docs" / f"{WALK}.md", shell), shell.directory / "report.html"


def test_what_the_walk_on_a_real_site_shows_is_what_comes_out(walked: tuple[list[str], Path]) -> None:
    wrong, _ = walked
    assert not wrong, _told(wrong)


def test_a_browser_shows_the_walk_s_report_with_every_copy(walked: tuple[list[str], Path]) -> None:
    _, report = walked
    with open_store(report.parent / ".scrapy" / "simcrawl", create=False) as store:
        copies = sum(1 for _ in store.duplicates())
    assert f"report.html: {copies} copies" in (ROOT / "docs" / f"{WALK}.md").read_text()
    try:
        with open_browser() as browser, browser.open(report) as tab:
            assert tab.texts(FOUND) == [str(copies)]
    except UnavailableError as exc:
        pytest.skip(f"the report is looked at in a browser: this {exc}")


def _python() -> list[Any]:
    return [
        pytest.param(block, id=f"{page.stem}-{block.start}")
        for page in PAGES
        for block in blocks(page)
        if block.language == "python" and not block.path
    ]


@pytest.mark.parametrize("block", _python())
def test_python_in_the_documentation_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    other = simcrawl.fingerprint_page(page("7.4/en/autotext"), url="https://example.org/other")
    names: dict[str, Any] = {"html": page(), "other": other}
    exec(compile("\n".join(block.lines), f"line {block.start}", "exec"), names)
    settings = {name: value for name, value in names.items() if name.startswith("SIMCRAWL_")}
    assert settings.keys() <= SETTINGS.keys()
    Config.from_settings(settings.get)


def test_what_readme_shows_of_the_demonstration_is_what_it_shows() -> None:
    (shown,) = (block.lines for block in blocks(ROOT / "README.md") if block.lines and block.lines[0] == "Dropped pages")
    with Shell(ROOT) as shell:
        printed = shell.run("scrapy crawl demo --nolog")
    assert set(map(same, shown)) - {"..."} <= set(map(same, printed))


def test_the_checks_of_outputs_can_fail() -> None:
    assert difference(["a", "...", "d"], ["a", "b", "c", "d"]) == ""
    assert difference(["took 3 seconds: 2.5"], ["took 3 seconds: 2.7"]) == ""
    for expected in (["a", "...", "c"], ["b", "...", "d"], ["a", "...", "x", "...", "d"], ["a", "b", "c"], ["a", "...", "b", "d"]):
        assert difference(expected, ["a", "b", "c", "d"]), expected
    assert renewed(["a1", "...", "b1", "...", "c1"], ["a2", "x", "b2", "y", "c2"]) == ["a2", "  ...", "b2", "  ...", "c2"]
    assert renewed(["a", "...", "b one", "c"], ["a", "x", "b two", "c", "d"]) == ["a", "  ...", "b two", "c", "d"]
    assert renewed(["a", "...", "b"], ["a"]) == ["a", "  ..."]
    assert segments(["...", "a"]) == [[], ["a"]]


def test_a_terminal_shows_what_was_not_wiped() -> None:
    shown = "first\r\n\x1b[1mReading\x1b[0m 10%\r\x1b[2KReading 90%\r\n\x1b[1A\x1b[2Ksecond\r\n12345\rab\n"
    assert screen(shown) == ["first", "second", "ab345", ""]


# ---- links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


# ---- the reference


def _listed(heading: str) -> set[str]:
    """Return the names in the first column of a section's tables."""
    section = REFERENCE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert section, heading
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_every_setting_is_listed_and_no_other() -> None:
    assert _listed("Settings") == SETTINGS.keys()
    assert {f"SIMCRAWL_{field.name.upper()}" for field in fields(Config)} == SETTINGS.keys()
    example = (ROOT / "settings_example.py").read_text()
    assert set(re.findall(r"^(?:# )?(SIMCRAWL_\w+) = ", example, re.MULTILINE)) == SETTINGS.keys()


def test_no_page_names_a_setting_that_does_not_exist() -> None:
    for file in [*PAGES, ROOT / "CHANGES.md"]:
        assert set(re.findall(r"\bSIMCRAWL_[A-Z_]+\b", file.read_text())) <= SETTINGS.keys(), file


@pytest.mark.parametrize("document", SETTINGS_PAGES)
def test_what_a_page_says_of_the_settings_is_what_the_settings_say(document: str) -> None:
    page = ROOT / document
    wrong = list(unified_diff(page.read_text().splitlines(), renewed_settings(page), document, "simcrawl.config", n=0, lineterm=""))
    assert not wrong, _told(wrong)


@pytest.mark.parametrize("document", SETTINGS_PAGES)
def test_what_is_wrong_of_the_settings_is_put_right(document: str, tmp_path: Path) -> None:
    right = (ROOT / document).read_text()
    stale = tmp_path / Path(document).name
    stale.write_text("\n".join(line for line in right.replace("0.95", "0.59").splitlines() if "SIMCRAWL_SCOPE" not in line) + "\n")
    assert "\n".join(renewed_settings(stale)) + "\n" == right


def test_no_help_breaks_the_table() -> None:
    for name, setting in SETTINGS.items():
        assert setting.help, name
        assert not re.search(r"[|\n]", setting.help + setting.more), name
        assert setting.help[-1] not in ".;,: ", name


def test_the_defaults_listed_are_the_defaults() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in REFERENCE.splitlines() if line.startswith("| `SIMCRAWL_")]
    for name, default, _ in rows:
        real = SETTINGS[name.strip("`")].default
        if real is not None:
            assert ast.literal_eval(default.strip("`")) == real, name
        else:
            assert not default.startswith("`"), name


def test_every_command_is_listed_and_no_other() -> None:
    group: Any = cli.cli
    listed = {name.split()[1] for name in _listed("Command line")}
    assert listed == set(group.commands)
    for file in PAGES:
        # Messages begin with the name, too: "simcrawl cannot use its store".
        asked = re.findall(r"(?:\$ |`|    )(?:scrapy )?simcrawl (?!cannot|could|failed)([a-z]+)\b", file.read_text())
        assert set(asked) <= set(group.commands), file


def test_every_option_that_a_page_names_exists() -> None:
    group: Any = cli.cli
    real = {opt for command in group.commands.values() for param in command.params if isinstance(param, click.Option) for opt in param.opts}
    rows = [line for line in REFERENCE.splitlines() if line.startswith("| `simcrawl ")]
    assert {option for row in rows for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", row)} <= real


def test_the_api_page_has_every_public_name() -> None:
    api = (ROOT / "docs" / "api.md").read_text()
    listed = {name.removeprefix("simcrawl.") for name in re.findall(r"^\.\. auto\w+:: (\S+)", api, re.MULTILINE)}
    # It is a module, whose two names are listed.
    assert set(simcrawl.__all__) - {"signals"} <= listed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_name_of_ours_that_a_page_has_exists(page: Path) -> None:
    for name in set(re.findall(r"`simcrawl((?:\.\w+)+)[(`]", page.read_text())):
        found: Any = simcrawl
        for part in name.split(".")[1:]:
            if not hasattr(found, part):
                import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)


def test_every_meta_key_and_every_signal_is_listed() -> None:
    from simcrawl.crawl import signals

    sources = "\n".join(file.read_text() for file in (ROOT / "simcrawl" / "crawl").rglob("*.py"))
    read = set(re.findall(r"^(?:\w*META_KEY|_\w*_META|CHANGE) = \"(\w+)\"", sources, re.MULTILINE))
    assert _listed("Request meta") == read
    sent = {name for name, value in vars(signals).items() if type(value) is object}
    assert set(re.findall(r"`simcrawl\.signals\.(\w+)\(", REFERENCE)) == sent


# ---- stats


def _stats() -> dict[str, str]:
    """Return the names of the stats, each as a pattern: `<d>` stands for a number, `<reason>` for a reason."""
    section = REFERENCE.partition("\n## Stats\n")[2].partition("\n## ")[0]
    names: dict[str, str] = {}
    for line in section.splitlines():
        cells = line.split("|")
        if not line.startswith("| `"):
            continue
        found = [name for cell in cells[1:3] for name in re.findall(r"`((?:simcrawl|\.\.\.)/[^`]+)`", cell)]
        for name in found:
            full = name.replace("...", found[0].rpartition("/")[0])
            names[full] = re.sub(r"<\w+>", r"[^/]+", full)
    return names


def test_every_stat_that_crawls_set_is_listed(site: Site, tmp_path: Path) -> None:
    copies(site)
    site.add("/", hub("/first", "/second", "/near", "/other", "/empty", "/data", "/missing", "/sections"))
    site.add("/empty", "<html><body></body></html>")
    site.add("/data", "{}", Content_Type="application/json")
    site.add("/sections", f"<section>{content.topic('7.4/en/openpgp')}</section>" * 2)
    jobs = [
        {"spider": name, "arguments": {"url": site.url(path)}}
        for name, path in (("Plain", "/"), ("MetaOptOut", "/"), ("Sections", "/sections"))
    ]
    settings = IN_ORDER | {
        "SIMCRAWL_STORE": str(tmp_path / "store"),
        "SIMCRAWL_ITEM_FIELD": "text",
        "SIMCRAWL_KEEP_TEXT": True,
        "FEEDS": {str(tmp_path / "%(name)s"): {"format": "jsonlines"}},
    }
    nights = crawls(jobs, settings=settings)
    # What only a second night has to tell, and what is dropped only where it is asked for.
    site.add("/other", page("7.4/en/conditional-formatting", "/behind-other"))
    nights += crawls(jobs, settings=settings | {"SIMCRAWL_OUTLINKS": "drop"})
    found = {name for outcome in nights for name in outcome.stats if name.startswith("simcrawl/")}
    patterns = _stats().values()
    assert [name for name in sorted(found) if not any(re.fullmatch(pattern, name) for pattern in patterns)] == []
    # Those that a crawl without failures does not set, or not this one. On a busy machine a page may wait in vain.
    rare = {
        "simcrawl/errors",
        "simcrawl/items/not_exported",
        "simcrawl/pages/waited_in_vain",
        "simcrawl/store/errors",
        "simcrawl/store/gone",
        "simcrawl/store/expired",
        "simcrawl/store/not_expired",
    }
    of_workers = {"simcrawl/cascade/body_recent", "simcrawl/workers/restarts/<why>"}
    missing = {name for name, pattern in _stats().items() if not any(re.fullmatch(pattern, other) for other in found)}
    of_hints = {f"simcrawl/canonical/{name}" for name in ("agrees", "disagrees", "waited", "waited_in_vain")}
    # Of a crawl that knows its mirrors: tests/crawl/test_frontier.py.
    of_order = {
        f"simcrawl/predicted/{name}"
        for name in ("checked", "fetched_for_links", "held", "released", "right", "sampled", "skipped", "wrong")
    }
    # Of a spider whose requests carry some: tests/crawl/test_carried.py.
    of_data = {"simcrawl/pages/with_data"}
    # Of one that takes items of some pages of a content alone: tests/crawl/test_given.py.
    of_some = {"simcrawl/items/given"}
    # Of a pipeline that refuses some: tests/crawl/test_refused.py.
    of_some |= {"simcrawl/items/refused_before"}
    # Of one whose items say more than those of their originals: tests/crawl/test_elsewhere.py.
    of_elsewhere = {"simcrawl/items/from_elsewhere", "simcrawl/items/fuller"}
    # Of a site with a record that lacks what the others have: tests/crawl/test_again.py.
    of_records = {f"simcrawl/pages/{name}" for name in ("asked_again", "asked_again/not_fetched", "judged_again", "taken_back")}
    assert missing - rare == of_workers | of_hints | of_order | of_data | of_some | of_elsewhere | of_records
    code = "".join(file.read_text() for file in (ROOT / "simcrawl" / "crawl").glob("*.py"))
    assert all(name in code for name in rare)


def test_every_reason_to_skip_a_page_is_listed() -> None:
    from scrapy.http import HtmlResponse

    from simcrawl.crawl.spider import _unseen
    from simcrawl.page.fingerprint import Reason

    row = next(line for line in REFERENCE.splitlines() if line.startswith("| `simcrawl/pages/skipped`"))
    listed = set(re.findall(r"`(\w+)`", row.partition("skipped/<reason>`")[2]))
    sources = "\n".join(file.read_text() for file in (ROOT / "simcrawl" / "crawl").rglob("*.py"))
    assert {reason.value for reason in Reason} <= listed
    assert [reason for reason in listed - {reason.value for reason in Reason} if f'"{reason}"' not in sources] == []
    assert _unseen(HtmlResponse("http://a.test/")).reason in listed


# What commands say of themselves is made from the code, whose lines ruff measures.
READ = [page for page in (*PAGES, ROOT / "CONTRIBUTING.md") if page.name != "commands.md"]


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_prose_is_no_longer_than_a_line_is_read(page: Path):
    code = {number for block in blocks(page) for number in range(block.start, block.start + len(block.lines))}
    prose = [line for number, line in enumerate(page.read_text().splitlines(), 1) if number not in code and not line.startswith("|")]
    assert [line for line in prose if len(line) > LONGEST_LINE] == []
