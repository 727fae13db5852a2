from __future__ import annotations

import ast
import math
import re
import runpy
import sys
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcrawl.config import SETTINGS, Config, parse, unknown, written
from simcrawl.detector import OUTLINKS, Detector
from simcrawl.errors import SettingError
from simcrawl.page.recipes import RECIPES, Recipe
from simcrawl.store import open_store

EXAMPLE = Path(__file__).parents[1] / "settings_example.py"
OWN = Recipe("own", 1)
EXTRACTOR = "tests.samples.counting_extractor"
HIGH = 10**15


def _config(**settings: Any) -> Config:
    return Config.from_settings({f"SIMCRAWL_{name.upper()}": value for name, value in settings.items()}.get)


DEFAULTS = {
    "enabled": True,
    "store": "simcrawl",
    "store_mode": 0o600,
    "action": "drop",
    "max_distance": None,
    "min_similarity": None,
    "scope": "all",
    "originals": "crawl",
    "crawl": None,
    "reset": False,
    "copies_kept": 1,
    "prefer": None,
    "outlinks": None,
    "order": True,
    "carried_data": True,
    "skip": 0.95,
    "mirrors": (),
    "trusted_hosts": (),
    "redact": (),
    "recipe": "auto",
    "extractor": None,
    "min_features": None,
    "min_around": None,
    "max_page_bytes": 4_000_000,
    "max_page_seconds": 10.0,
    "max_host_seconds": 0.25,
    "max_wait_seconds": 60.0,
    "expire_days": 0,
    "workers": None,
    "max_worker_bytes": 1_000_000_000,
    "sync_seconds": 1.0,
    "durable_feed": None,
    "item_field": None,
    "keep_text": None,
    "recrawl": None,
    "debug": False,
}
ACCEPTED: dict[str, list[tuple[Any, Any]]] = {
    "enabled": [(True, True), (False, False), ("True", True), ("false", False), ("1", True), (0, False), (" TRUE ", True)],
    "store": [("memory:", "memory:"), (" lmdb:///a/b ", "lmdb:///a/b")],
    "store_mode": [("0600", 0o600), ("600", 0o600), ("0660", 0o660), ("0o664", 0o664)],
    "action": [(action, action) for action in ("drop", "drop-items", "drop-links", "observe")],
    "max_distance": [(0, 0), ("3", 3), (128, 128), (3.0, 3)],
    "min_similarity": [(0, 0), ("0.92", 0.92), (1, 1), (0.5, 0.5)],
    "scope": [("all", "all"), ("site", "site")],
    "originals": [("crawl", "crawl"), ("store", "store")],
    "crawl": [("nightly", "nightly"), (" a b ", "a b")],
    "reset": [("1", True), (False, False)],
    "copies_kept": [(1, 1), ("20", 20)],
    "prefer": [("canonical", "canonical")],
    "outlinks": [("drop", "drop"), ("follow", "follow"), ("0.98", 0.98), (1, 1.0), (0, 0.0)],
    "order": [("1", True), (False, False)],
    "carried_data": [("0", False), (True, True)],
    "skip": [(0.5, 0.5), ("0.9", 0.9), (1, 1.0), (False, None), ("False", None), (" false ", None)],
    "trusted_hosts": [("", ()), ({"B.org"}, ("b.org",)), (" B.org, a.org,", ("a.org", "b.org"))],
    "redact": [("token, Key,", ("key", "token")), (["b", "a", "A"], ("a", "b")), ("", ()), ((), ())],
    "mirrors": [
        ([], ()),
        ("", ()),
        ("a.org", ("a.org",)),
        (" B.org, a.org,", ("a.org", "b.org")),
        (["a.org", "a.org"], ("a.org",)),
        (("[::1]", "127.0.0.1"), ("127.0.0.1", "[::1]")),
    ],
    "recipe": [("auto", "auto"), (" manku2007 ", "manku2007"), (OWN, OWN), (f"{__name__}.OWN", f"{__name__}.OWN")],
    "extractor": [(EXTRACTOR, EXTRACTOR), (f" {EXTRACTOR}", EXTRACTOR)],
    "min_features": [(0, 0), ("50", 50)],
    "min_around": [(0, 0), ("120", 120), (10**9, 10**9)],
    "max_page_bytes": [(1, 1), ("1000", 1000)],
    "max_page_seconds": [("0.5", 0.5), (3, 3)],
    "max_host_seconds": [("0.5", 0.5), (3, 3)],
    "max_wait_seconds": [("0.5", 0.5), (0, 0)],
    "expire_days": [(0, 0), ("0.5", 0.5), (365, 365)],
    "workers": [("auto", None), (0, 0), ("4", 4), (64, 64)],
    "max_worker_bytes": [(1, 1), ("500000000", 500_000_000)],
    "sync_seconds": [(0, 0), ("2.5", 2.5)],
    "durable_feed": [("auto", None), (True, True), ("False", False), (0, False)],
    "item_field": [("text", "text")],
    "keep_text": [("auto", None), (True, 100_000_000), ("False", 0), ("1", 100_000_000), (5_000_000, 5_000_000), ("2000000", 2_000_000)],
    "recrawl": [("dropped.txt", "dropped.txt"), (Path("a/b"), "a/b")],
    "debug": [("True", True), (0, False)],
}
REFUSED: dict[str, list[Any]] = {
    "enabled": ["yes", "", 2, "on"],
    "store": ["", "  ", 3, b"store"],
    "store_mode": [0o600, 600, "", "0400", "0700", "0680", "-0600", "1600", True, "rw"],
    "action": ["dorp", "DROP", "", 1, []],
    "max_distance": [-1, 129, "three", 3.5, "3.5", True, math.inf, math.nan, [3]],
    "min_similarity": [-0.1, 1.01, 92, "high", False, math.nan],
    "scope": ["host", ""],
    "originals": ["all", "", 1],
    "crawl": ["", "  ", 3],
    "reset": ["now", 2],
    "copies_kept": [0, -1, "none", 1.5],
    "prefer": ["", "https", True, 1],
    "outlinks": ["keep", 1.5, -1, True, "nan"],
    "order": ["often", 2],
    "carried_data": ["often", 2],
    "skip": [0, 0.49, 1.01, True, "often", math.nan, "95%"],
    "mirrors": ["http://a.org", "a.org/b", ["a.org", 3], ["a.org:80"], 3, {"a": 1}, [""], "a b"],
    "trusted_hosts": ["http://a.org", "*.a.org", ["a.org", None], 3],
    "redact": [3, ["a", None], "a=b", ["?a"], {"a": 1}, "a&b"],
    "recipe": ["", "agrement", "tests.test_config.absent", "no.such.module", 3],
    "extractor": ["", "tests.samples.absent", "nodots", "tests.test_config.HIGH", 3],
    "min_features": [-1, "some"],
    "min_around": [-1, "much", 1.5, True],
    "max_page_bytes": [0, "4MB", math.inf],
    "max_page_seconds": [0, -1, "soon", math.inf],
    "max_host_seconds": [0, -1, "soon", math.inf],
    "max_wait_seconds": [-1, "soon", math.inf],
    "expire_days": [-1, "never"],
    "workers": [-1, 65, "many", True],
    "max_worker_bytes": [0, "1GB", math.inf],
    "sync_seconds": [-1, "often"],
    "durable_feed": ["", "always", 2],
    "item_field": ["", 3],
    "keep_text": [-1, "much", "1 GB", 1.5, math.inf],
    "recrawl": ["", 3],
    "debug": ["verbose"],
}
CURES = {
    "enabled": "use True or False",
    "store": "use a non-empty string",
    "store_mode": "use octal text from '0600'",
    "action": "use one of 'drop', 'drop-items', 'drop-links', 'observe'",
    "max_distance": "use a whole number from 0 to 128",
    "min_similarity": "use a number from 0 to 1",
    "scope": "use one of 'all', 'site'",
    "prefer": "use 'canonical', or leave it out",
    "order": "use True or False",
    "carried_data": "use True or False",
    "skip": "use a number from 0.5 to 1 such as 0.95, or False",
    "mirrors": "without a scheme, port or path",
    "trusted_hosts": "without a scheme, port or path",
    "redact": "no name of a parameter",
    "originals": "use one of 'crawl', 'store'",
    "crawl": "use a non-empty string",
    "reset": "use True or False",
    "copies_kept": "use a whole number of 1 or more",
    "outlinks": "use 'drop', 'follow', or a similarity from 0 to 1 such as 0.98",
    "recipe": "use |cannot load",
    "extractor": "use |cannot load",
    "min_features": "use a whole number of 0 or more",
    "min_around": "use a whole number of 0 or more",
    "max_page_bytes": "use a whole number of 1 or more",
    "max_page_seconds": "use a number of 0.001 or more",
    "max_host_seconds": "use a number of 0.001 or more",
    "max_wait_seconds": "use a number of 0 or more",
    "expire_days": "use a number of 0 or more",
    "workers": "use a whole number from 0 to 64, or 'auto'",
    "max_worker_bytes": "use a whole number of 1 or more",
    "sync_seconds": "use a number of 0 or more",
    "durable_feed": "use 'auto', True or False",
    "item_field": "use a non-empty string",
    "keep_text": 'use "auto", True, False, or how many bytes the texts of a store may take',
    "recrawl": "use a non-empty string",
    "debug": "use True or False",
}


def test_settings_and_fields_are_the_same_list():
    names = [name.removeprefix("SIMCRAWL_").lower() for name in SETTINGS]
    assert sorted(names) == sorted(field.name for field in fields(Config))
    assert names == list(dict.fromkeys(names))
    for table in (DEFAULTS, ACCEPTED, REFUSED, CURES):
        assert table.keys() == set(names)


def test_every_default():
    assert {name: getattr(_config(), name) for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize("name", DEFAULTS)
def test_none_means_the_default(name: str):
    assert getattr(_config(**{name: None}), name) == DEFAULTS[name]


@pytest.mark.parametrize(("name", "value", "parsed"), [(name, *pair) for name, pairs in ACCEPTED.items() for pair in pairs])
def test_every_accepted_form(name: str, value: Any, parsed: Any):
    found = getattr(_config(**{name: value}), name)
    assert found == parsed
    assert type(found) is type(parsed) or isinstance(found, float)


@pytest.mark.parametrize(("name", "parsed"), [(name, pair[1]) for name, pairs in ACCEPTED.items() for pair in pairs])
def test_what_is_written_of_a_value_reads_as_that_value(name: str, parsed: Any):
    text = written(f"SIMCRAWL_{name.upper()}", parsed)
    if isinstance(parsed, Recipe):
        assert text == str(parsed)
    else:
        assert getattr(_config(**{name: text or None}), name) == parsed


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values])
def test_a_wrong_value_is_refused_with_the_setting_the_value_and_the_cure(name: str, value: Any):
    with pytest.raises(SettingError) as refused:
        _config(**{name: value})
    message = str(refused.value)
    assert message.startswith(f"SIMCRAWL_{name.upper()} is {value!r}: ")
    assert re.search(CURES[name], message)


def test_a_recipe_whose_library_is_missing_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "resiliparse.extract.html2text", None)
    monkeypatch.delitem(sys.modules, "simcrawl.page.fast_extraction", raising=False)
    with pytest.raises(SettingError, match=r"^SIMCRAWL_RECIPE is 'resiliparse': .*pip install \"simcrawl\[fast\]\""):
        _config(recipe="resiliparse")


def test_a_recipe_whose_extractor_does_not_exist_is_refused():
    with pytest.raises(SettingError, match=r"^SIMCRAWL_RECIPE is .*cannot load 'tests\.samples\.absent'"):
        _config(recipe=replace(OWN, extractor="tests.samples.absent"))


def test_all_options_of_a_detector_are_settings():
    options = _config(action="observe", outlinks="0.5", max_distance="3", min_around="7", recipe=OWN).detector_options
    detector = Detector(open_store("memory:"), **options)
    assert (detector.rule.action, detector.rule.outlinks, detector.rule.max_distance, detector.recipe.name) == ("observe", 0.5, 3, "own")
    assert (detector.rule.min_around, detector.recipe.min_around) == (7, 7)
    assert options.keys() <= DEFAULTS.keys()


def test_a_detector_has_no_defaults_of_its_own():
    taken = dict(signature(Detector).parameters)
    # Which store, which crawl, and by default the recipe of the store. Whether texts are kept depends on where a crawl's store is.
    for name in ("store", "crawl", "recipe", "keep_text"):
        taken.pop(name)
    assert {name: parse(f"SIMCRAWL_{name.upper()}", None) for name in taken} == {name: made.default for name, made in taken.items()}
    assert taken.keys() | {"recipe"} == _config().detector_options.keys()


def test_settings_of_others_are_not_asked_for():
    asked: list[str] = []
    Config.from_settings(asked.append)
    assert asked == list(SETTINGS)


# ---- names


@given(st.sampled_from(sorted(SETTINGS)), st.data())
def test_a_name_with_two_letters_swapped_is_answered_with_the_right_one(name: str, data: st.DataObject):
    letters = list(name.removeprefix("SIMCRAWL_"))
    one, other = data.draw(st.lists(st.integers(0, len(letters) - 1), min_size=2, max_size=2, unique=True))
    letters[one], letters[other] = letters[other], letters[one]
    wrong = "SIMCRAWL_" + "".join(letters)
    assert unknown([wrong]) == ({} if wrong in SETTINGS else {wrong: name})


@given(st.lists(st.one_of(st.text(), st.sampled_from(sorted(SETTINGS)), st.text("ABDEKNORSTU_", max_size=20).map("SIMCRAWL_".__add__))))
def test_only_names_that_are_no_settings_and_look_like_ours_are_unknown(names: list[str]):
    found = unknown(names)
    assert found.keys() == {name for name in names if name.startswith("SIMCRAWL_")} - SETTINGS.keys()
    assert set(found.values()) <= SETTINGS.keys() | {None}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ACTOIN", "ACTION"),
        ("STORE_PATH", "STORE"),
        ("MAX_DISTANCES", "MAX_DISTANCE"),
        ("MIN_SIMILARTY", "MIN_SIMILARITY"),
        ("OUTLINK", "OUTLINKS"),
        ("action", "ACTION"),
        ("TELEMETRY", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_told_where_one_is_near(name: str, meant: str | None):
    assert unknown([f"SIMCRAWL_{name}"]) == {f"SIMCRAWL_{name}": meant and f"SIMCRAWL_{meant}"}


def test_names_of_settings_that_are_no_text_are_nobody_s():
    assert unknown([3, None, b"SIMCRAWL_X", "simcrawl_x", "SIMCRAWLER_X"]) == {}


# ---- settings_example.py


def test_the_example_names_every_setting_and_no_other():
    assert set(re.findall(r"SIMCRAWL_[A-Z_]+", EXAMPLE.read_text())) == SETTINGS.keys()


def test_the_values_of_the_example_are_the_defaults():
    shown = {name: value for name, value in runpy.run_path(str(EXAMPLE)).items() if name.startswith("SIMCRAWL_")}
    assert len(shown) > 8
    assert Config.from_settings(shown.get) == _config()


def test_the_values_that_the_example_comments_out_are_the_recipe_s():
    shown = dict(re.findall(r"^# SIMCRAWL_(\w+) = (\S+)", EXAMPLE.read_text(), re.MULTILINE))
    for illustrated in ("ITEM_FIELD", "RECRAWL", "CRAWL", "PREFER"):  # their default is none
        shown.pop(illustrated)
    assert len(shown) > 3
    for name, value in shown.items():
        told = ast.literal_eval(value)
        assert OUTLINKS.get(told, told) == getattr(RECIPES["content"], name.lower())
