from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from math import isclose, sqrt
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import simcrawl
from simcrawl.cli import run
from simcrawl.errors import SettingError
from simcrawl.page.fingerprint import Reason, fingerprint_page
from simcrawl.page.recipes import resolve
from simcrawl.page.sketch import Part, pack
from simcrawl.rule import Rule
from simcrawl.tools.calibration import (
    DISTANCES,
    THRESHOLDS,
    LabelledPair,
    Measured,
    Share,
    Tally,
    as_object,
    calibrate,
    choose,
    conclusions,
    draw,
    measure,
    read_pairs,
    rows,
    tally,
    wrong_pairs,
)
from tests.samples import chinese, edited, english, page
from tests.strategies import abstention, fingerprints, near, page as stored_page

SCRIPT = str(Path(sys.executable).with_name("simcrawl"))
DEMO = Path(simcrawl.__file__).parent / "crawl" / "demo_site"
OLD, NEW = "7.4", "25.2"
# The same topic in two releases; those of which half was rewritten are left to nobody.
NEAR = [
    "autofilter",
    "autotext",
    "conditional-formatting",
    "find-replace",
    "goal-seek",
    "openpgp",
    "protection",
    "remote-files",
    "toolbars",
]
GREY = ["heading-numbering", "regular-expressions"]
NEAR_ZH = ["frame-bar", "goal-seek", "ole-bar", "openpgp", "print-ranges", "toolbars", "writer-protection", "writing-aids"]
RULE = Rule.of(resolve())


def pair(distance: int | None = 0, strictest: float = 0.99, *, near: bool = True, line: int = 1, identical: bool = False) -> Measured:
    return Measured(line, near, distance, identical, strictest, strictest)


measured = st.builds(
    Measured,
    line=st.integers(1, 99),
    near=st.booleans(),
    distance=st.none() | st.integers(0, 16),
    identical=st.booleans(),
    similarity=st.none(),
    strictest=st.sampled_from([0.0, 0.5, 0.6, 0.93, 0.94, 0.95, 0.99]),
)


def _counts(pairs: list[Measured], k: int, threshold: float) -> tuple[int, int]:
    """Return the numbers of near and of different pairs that a setting finds, counted one by one."""
    found = [0, 0]
    for one in pairs:
        if one.identical or (one.distance is not None and one.distance <= k and one.strictest >= threshold):
            found[0 if one.near else 1] += 1
    return found[0], found[1]


# ---- shares and their intervals


@pytest.mark.parametrize(
    ("cases", "total", "low", "high"),
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3; and 0 of 10 from Wilson's formula.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718), (0, 10, 0.0, 0.2775)],
)
def test_intervals_are_those_of_the_literature(cases: int, total: int, low: float, high: float):
    assert tuple(round(end, 4) for end in Share(cases, total).interval) == (low, high)


@given(st.integers(1, 100_000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_ends_of_an_interval_are_where_the_share_is_1_96_standard_errors_away(counts: tuple[int, int]):
    cases, total = counts
    share = Share(cases, total)
    low, high = share.interval
    assert share.value is not None
    assert 0 <= low <= share.value <= high <= 1
    for end in (low, high):
        assert isclose(abs(share.value - end), 1.959964 * sqrt(end * (1 - end) / total), abs_tol=1e-7)


def test_nothing_says_nothing():
    assert Share(0, 0).value is None
    assert Share(0, 0).interval == (0.0, 1.0)


# ---- tallies and the choice, against counting


@given(st.lists(measured), st.sampled_from(DISTANCES), st.sampled_from([0.0, *THRESHOLDS]))
def test_a_tally_is_what_counting_gives(pairs: list[Measured], k: int, threshold: float):
    found = tally(pairs, k, threshold)
    assert (found.near_found, found.different_found) == _counts(pairs, k, threshold)
    assert (found.near, found.different) == (sum(one.near for one in pairs), sum(not one.near for one in pairs))
    assert found.precision == (found.near_found, found.near_found + found.different_found)
    assert found.recall == (found.near_found, found.near)
    assert found.false_duplicates == (found.different_found, found.different)


def _calibratable(pairs: list[Measured]) -> bool:
    return {one.near for one in pairs if one.distance is not None} == {True, False}


@given(st.lists(measured, min_size=2), st.integers(0, 14))
def test_every_setting_is_tallied_over_the_pairs_of_two_fingerprints(pairs: list[Measured], k: int):
    assume(_calibratable(pairs))
    compared = [one for one in pairs if one.distance is not None]
    result = calibrate(pairs, max_distance=k)
    assert list(result.by_distance) == sorted({*DISTANCES, k})
    assert all(found == tally(compared, radius) for radius, found in result.by_distance.items())
    assert result.by_similarity == {threshold: tally(compared, k, threshold) for threshold in THRESHOLDS}
    assert result.abstaining == tally([one for one in pairs if one.distance is None], k)
    assert result.mislabelled == [one.line for one in pairs if one.identical and not one.near]


@given(st.lists(measured, min_size=2), st.integers(0, 14))
def test_the_choice_loses_nothing_and_nothing_harmless_finds_more(pairs: list[Measured], k: int):
    assume(_calibratable(pairs))
    counted = [one for one in pairs if one.distance is not None and (one.near or not one.identical)]
    grid = {(radius, t): _counts(counted, radius, t) for radius in {*DISTANCES, k} for t in THRESHOLDS}
    harmless = {setting: near for setting, (near, false) in grid.items() if not false}
    choice = calibrate(pairs, max_distance=k).choice
    if not harmless:
        assert choice is None
        return
    assert choice is not None
    best = max(harmless.values())
    assert harmless[choice.max_distance, choice.min_similarity] == best == choice.tally.near_found
    assert not choice.tally.different_found
    equal = [(radius, t) for (radius, t), near in harmless.items() if near == best]
    same = [t for radius, t in equal if radius == choice.max_distance]
    assert (choice.equally_from, choice.min_similarity) == (min(same), max(same))
    # The recipe's own radius, or else the next larger one, or else the next smaller one.
    radii = {radius for radius, _ in equal}
    assert choice.max_distance == min((radius for radius in radii if radius >= k), default=max(radii))


@given(st.lists(measured, min_size=2), st.integers(0, 14))
def test_without_verification_the_smallest_of_the_best_radii_is_chosen(pairs: list[Measured], k: int):
    assume(_calibratable(pairs))
    result = calibrate(pairs, max_distance=k, verified=False)
    assert result.by_similarity == {}
    counted = [one for one in pairs if one.distance is not None and (one.near or not one.identical)]
    harmless = {radius: near for radius in {*DISTANCES, k} for near, false in [_counts(counted, radius, 0.0)] if not false}
    expected = min((radius for radius, near in harmless.items() if near == max(harmless.values())), default=None)
    assert (result.choice and (result.choice.max_distance, result.choice.min_similarity)) == (None if expected is None else (expected, 0.0))


def test_the_strictest_of_equal_thresholds_is_chosen_and_the_loosest_named():
    result = calibrate([pair(3, 0.95), pair(9, 0.60, near=False)], max_distance=7)
    assert result.choice == (7, 0.95, 0.5, Tally(1, 1, 0, 1))
    result = calibrate([pair(3, 0.95), pair(6, 0.60, near=False)], max_distance=7)
    assert result.choice == (7, 0.95, 0.61, Tally(1, 1, 0, 1))


def test_a_larger_radius_is_chosen_only_where_it_finds_more():
    assert choose([pair(2), pair(0, 0.5, near=False)], 7, DISTANCES, THRESHOLDS)[0] == 7  # type: ignore[index]  # there is one
    assert choose([pair(2), pair(10), pair(0, 0.5, near=False)], 7, DISTANCES, THRESHOLDS)[0] == 10  # type: ignore[index]
    assert choose([pair(2), pair(5, near=False)], 7, DISTANCES, THRESHOLDS)[0] == 4  # type: ignore[index]


def test_a_false_duplicate_at_every_setting_leaves_no_choice():
    result = calibrate([pair(0), pair(0, near=False)], max_distance=7)
    assert result.choice is None
    assert any("No settings keep all the different pairs apart" in line for line in conclusions(result, 0))


def test_exact_copies_labelled_different_are_named_and_do_not_decide():
    result = calibrate([pair(1), pair(30, 0.0, near=False), pair(0, identical=True, near=False, line=17)], max_distance=7)
    assert result.mislabelled == [17]
    assert result.choice == (7, 0.99, 0.5, Tally(1, 1, 0, 1))
    assert result.by_distance[7] == Tally(1, 1, 1, 2)
    assert any("exact copies, which no setting keeps apart: lines 17" in line for line in conclusions(result, 0))


def test_pairs_of_pages_that_abstain_are_counted_apart():
    pairs = [pair(1), pair(30, 0.0, near=False), pair(None), pair(None, identical=True), pair(None, near=False)]
    result = calibrate(pairs, max_distance=7)
    assert result.abstaining == Tally(1, 2, 0, 1)
    assert result.by_distance[12] == Tally(1, 1, 0, 1)
    assert any("of 2 near and 1 different pairs a page has no fingerprint" in line for line in conclusions(result, 0))


@pytest.mark.parametrize(
    ("pairs", "missing"),
    [([pair()], "different"), ([pair(near=False)], "near"), ([pair(), pair(None, near=False)], "different")],
)
def test_both_labels_are_needed(pairs: list[Measured], missing: str):
    with pytest.raises(SettingError, match=f"no pair labelled {missing} has two pages with fingerprints: label some"):
        calibrate(pairs, max_distance=7)


def test_the_conclusion_says_on_how_many_pairs_it_rests_and_what_they_cannot_rule_out():
    result = calibrate([pair(3, 0.95), *[pair(9, 0.60, near=False)] * 20], max_distance=7)
    said = "\n".join(conclusions(result, 3))
    assert "Left out: 3 pairs labelled grey." in said
    assert "SIMCRAWL_MAX_DISTANCE = 7\nSIMCRAWL_MIN_SIMILARITY = 0.95\n(0.5 would do as well" in said
    assert "SIMCRAWL_RECIPE" not in said
    assert 'SIMCRAWL_RECIPE = "main"\nSIMCRAWL_MAX_DISTANCE = 7\n' in "\n".join(conclusions(result, 3, recipe="main"))
    assert "Finds 1 of 1 near pairs: recall 1.000 (0.207 to 1.000)." in said
    assert "Takes none of 20 different pairs for copies." in said
    assert "up to 16.1% of such pairs" in said


@pytest.mark.parametrize(("pairs", "percent"), [(381, 0.01), (1277, 0.003)])
def test_the_numbers_of_pairs_that_the_conclusion_names(pairs: int, percent: float):
    assert Share(0, pairs).interval[1] < percent <= Share(0, pairs - 1).interval[1]


def test_thresholds_that_do_the_same_share_a_row():
    by_distance, by_similarity = rows(calibrate([pair(3, 0.95), pair(6, 0.60, near=False)], max_distance=7), 7)
    assert len(by_distance) == 13
    spans = [row["settings"].removeprefix("distance up to 7, similarity from ") for row in by_similarity]
    assert spans == ["0.50-0.60", "0.61-0.95", "0.96-0.99"]
    assert [row["precision"] for row in by_similarity] == ["0.500 (0.095 to 0.905)", "1.000 (0.207 to 1.000)", "-"]


def test_wrong_pairs_that_lose_content_come_first():
    named = [LabelledPair(1, PurePath("a"), "<p>b", near=True), LabelledPair(2, PurePath("c"), PurePath("d"), near=False)]
    wrong = wrong_pairs([pair(9, 0.95), pair(3, 0.97, near=False, line=2), pair(None)], named, RULE)
    assert [(row["line"], row["label"], row["a"], row["b"]) for row in wrong] == [(2, "different", "c", "d"), (1, "near", "a", None)]


# ---- measuring asks the rule


def _says(rule: Rule, a: Any, b: Any, k: int, threshold: float) -> bool:
    return replace(rule, max_distance=k, min_similarity=threshold).compare(a, b).is_near_duplicate


@st.composite
def sketched(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two pages whose sketches agree in any share of their registers, and of whose parts there is any number of units."""
    base = draw(fingerprints())
    pages = []
    for name, fingerprint in (("a", base), ("b", draw(near(base, 14)))):
        made = stored_page(name, fingerprint, text=draw(st.sampled_from(["", "", "same"])))
        sizes = st.sampled_from([0, 90, 150, 400])
        parts: dict[str, Any] = {part: Part(draw(sizes), _registers_of(draw, name)) for part in ("prose", "links", "around")}
        pages.append(replace(made, content_sketch=_registers_of(draw, name), **parts))
    return pages[0], pages[1]


def _registers_of(draw: st.DrawFn, name: str) -> bytes:
    changed = draw(st.integers(0, 12) | st.integers(0, 55))
    return pack(np.array([1] * (104 - changed) + [2 + (name == "b")] * changed, np.uint8))


@given(sketched(), st.sampled_from([0, 100, 10**9]))
def test_a_pair_is_found_where_the_rule_says_so(pages: tuple[Any, Any], min_around: int):
    rule = replace(RULE, min_around=min_around)
    found = measure(*pages, line=1, near=True, rule=rule)
    for k in (0, 3, 7, 12):
        for threshold in (0.0, *THRESHOLDS[::3]):
            assert found.found(k, threshold) == _says(rule, *pages, k, threshold)


@pytest.mark.parametrize("recipe", ["auto", "manku2007", "layout"])
def test_real_pairs_are_found_where_the_rule_says_so(recipe: str):
    rule = Rule.of(resolve(recipe))
    files = [DEMO / release / "en" / f"{name}.html" for name in NEAR[:5] for release in (OLD, NEW)]
    made = [fingerprint_page(file.read_bytes(), recipe=recipe) for file in files]
    for a, b in combinations(made, 2):
        found = measure(a, b, line=1, near=True, rule=rule)
        for k in DISTANCES:
            for threshold in THRESHOLDS[::7] if rule.min_similarity else [0.0]:
                assert found.found(k, threshold) == _says(rule, a, b, k, threshold)


@pytest.mark.parametrize(
    ("a", "b", "identical"),
    [
        (abstention("a", "short"), abstention("b", "short"), True),
        (abstention("a", "short"), abstention("b", "other"), False),
        (abstention("a", "short"), stored_page("b"), False),
        (
            abstention("a", "shell", reason=Reason.EMPTY),
            abstention("b", "shell", reason=Reason.EMPTY),
            False,
        ),
    ],
)
def test_a_page_that_abstains_can_be_an_exact_copy_only(a: Any, b: Any, identical: bool):
    assert measure(a, b, line=5, near=True, rule=RULE) == Measured(5, True, None, identical)


# ---- the lists of pairs


def _read(*lines: str, columns: bool = False) -> list[LabelledPair]:
    return list(read_pairs([f"{line}\n" for line in lines], name="pairs", columns=columns))


def test_json_lines():
    read = _read('{"a": "1.html", "b_html": "<p>2", "label": "near"}', "", '{"a": "x/1.html", "b": "2.html", "label": "diff", "more": 1}')
    assert read == [
        LabelledPair(1, PurePath("1.html"), "<p>2", near=True),
        LabelledPair(3, PurePath("x/1.html"), PurePath("2.html"), near=False),
    ]


def test_comma_separated_lines():
    read = _read("label,b,a,note", "different,2.html,1.html,", 'grey,"two, too.html",1.html,?', columns=True)
    assert read == [
        LabelledPair(2, PurePath("1.html"), PurePath("2.html"), near=False),
        LabelledPair(3, PurePath("1.html"), PurePath("two, too.html"), near=None),
    ]


@pytest.mark.parametrize(("label", "near"), [("near", True), ("different", False), ("diff", False), ("grey", None), ("unsure", None)])
def test_labels(label: str, near: bool | None):
    assert _read(json.dumps({"a": "1", "b": "2", "label": label}))[0].near is near


@pytest.mark.parametrize(
    ("lines", "columns", "said"),
    [
        (["", "{"], False, "pairs, line 2: this is no JSON"),
        (["[1]"], False, "pairs, line 1: expected an object such as"),
        (['{"a": "1", "b": "2", "label": "nearly"}'], False, "pairs, line 1: label 'nearly' is none: use near, different, or grey"),
        (['{"a": "1", "b": "2", "label": true}'], False, "label True is none"),
        (['{"a": "1", "b": "2"}'], False, "label None is none"),
        (['{"a": "1", "label": "near"}'], False, "line 1: no page b: give its file as b, or its HTML as b_html"),
        (['{"a": 1, "b": "2", "label": "near"}'], False, "no page a"),
        (["a,b", "1,2"], True, "pairs, line 1: no column label: the first line must be a,b,label"),
        ([], True, "line 1: no column a, b, label"),
        (["a,b,label", "1"], True, "line 2: no page b"),
        (["a,b,label", "1," + 200_000 * "x" + ",near"], True, "line 2: field larger than field limit"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_with_its_line(lines: list[str], columns: bool, said: str):
    with pytest.raises(SettingError) as caught:
        _read(*lines, columns=columns)
    assert said in str(caught.value)


# ---- the plot


def test_a_plot_is_drawn_alike_each_time():
    pytest.importorskip("matplotlib", reason='there is nothing to draw with: pip install "simcrawl[plot]"')
    pairs = [pair(1), pair(20, near=False), pair(None)]
    svg = draw(pairs, 7)
    assert b"<svg" in svg
    assert svg == draw(pairs, 7)
    assert svg != draw(pairs, 8)
    assert draw(pairs, 7, file_format="png").startswith(b"\x89PNG")


def test_a_plot_without_matplotlib_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    labels = _write_lines(tmp_path / "pairs.jsonl", _inline())
    assert run(["calibrate", str(labels), "--plot", str(tmp_path / "plot.svg")]) == 2
    assert 'pip install "simcrawl[plot]"' in capsys.readouterr().err


@pytest.mark.parametrize("name", ["plot.pdf", "plot"])
def test_a_plot_in_another_format_names_those_there_are(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    labels = _write_lines(tmp_path / "pairs.jsonl", _inline())
    assert run(["calibrate", str(labels), "--plot", str(tmp_path / name)]) == 2
    assert "use a name that ends in .svg or .png" in capsys.readouterr().err


# ---- the command


def _write_lines(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects))
    return path


def _inline() -> list[dict[str, Any]]:
    near_pairs = [(page(english(150, seed)), page(edited(english(150, seed), 1, seed))) for seed in range(4)]
    near_pairs += [(page(chinese(150, seed)), page(edited(chinese(150, seed), 1, seed))) for seed in range(4)]
    different = [(page(english(150, seed)), page(english(150, seed + 50))) for seed in range(4)]
    labelled = [(*both, "near") for both in near_pairs] + [(*both, "different") for both in different] + [(*near_pairs[0], "grey")]
    return [{"a_html": a, "b_html": b, "label": label} for a, b, label in labelled]


def _real() -> list[dict[str, str]]:
    """Return pairs of real pages: a topic in two releases, and topics of one release."""
    made = [(f"{OLD}/en/{name}.html", f"{NEW}/en/{name}.html", "near") for name in NEAR]
    made += [(f"{OLD}/zh/{name}.html", f"{NEW}/zh/{name}.html", "near") for name in NEAR_ZH]
    made += [(f"{OLD}/en/{name}.html", f"{NEW}/en/{name}.html", "grey") for name in GREY]
    made += [(f"{NEW}/en/{a}.html", f"{NEW}/en/{b}.html", "different") for a, b in combinations(NEAR, 2)]
    made += [(f"{NEW}/zh/{a}.html", f"{NEW}/zh/{b}.html", "different") for a, b in combinations(NEAR_ZH, 2)]
    # Tables of contents are too short for a fingerprint.
    made += [(f"{OLD}/en/index.html", f"{NEW}/en/index.html", "near"), (f"{NEW}/en/index.html", f"{NEW}/zh/index.html", "different")]
    return [dict(zip(("a", "b", "label"), one, strict=True)) for one in made]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site") / "pages"
    shutil.copytree(DEMO, root)
    _write_lines(root / "pairs.jsonl", _real())
    return root


def test_real_pages_in_a_folder(site: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["calibrate", str(site), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["recipe"], found["ignored"], found["mislabelled"]) == (resolve().identity, len(GREY), [])
    assert found["abstaining"] == {"near_found": 0, "near": 1, "different_found": 0, "different": 1}
    assert [row["max_distance"] for row in found["by_distance"]] == list(DISTANCES)
    assert [row["min_similarity"] for row in found["by_similarity"]] == list(THRESHOLDS)
    near_pairs, different = len(NEAR) + len(NEAR_ZH), len(list(combinations(NEAR, 2))) + len(list(combinations(NEAR_ZH, 2)))
    choice = found["choice"]
    assert (choice["near_found"], choice["near"], choice["different_found"], choice["different"]) == (near_pairs, near_pairs, 0, different)
    assert choice["SIMCRAWL_MAX_DISTANCE"] == resolve().max_distance
    assert 0.9 <= choice["SIMCRAWL_MIN_SIMILARITY"] <= 0.98
    assert choice["recall"]["low"] < choice["recall"]["value"] == 1 == choice["recall"]["high"]
    assert found["wrong"] == []


def test_the_command_says_what_the_rule_of_a_crawl_says(site: Path, capsys: pytest.CaptureFixture[str]):
    run(["calibrate", str(site), "--json"])
    found = json.loads(capsys.readouterr().out)
    near_found = 0
    for one in _real():
        a, b = (fingerprint_page((site / one[side]).read_bytes()) for side in "ab")
        if one["label"] == "near" and isinstance(a, simcrawl.PageFingerprint) and isinstance(b, simcrawl.PageFingerprint):
            near_found += replace(RULE, min_similarity=0.97).compare(a, b).is_near_duplicate
    (row,) = (row for row in found["by_similarity"] if row["min_similarity"] == 0.97)
    assert row["near_found"] == near_found


def test_a_folder_with_comma_separated_lines_and_a_list_of_its_own_say_the_same(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root = tmp_path / "copy"
    shutil.copytree(DEMO, root)
    with (root / "pairs.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, ("a", "b", "label"))
        writer.writeheader()
        writer.writerows(_real())
    with gzip.open(root / "all.jsonl.gz", "wt") as packed:
        packed.write((site / "pairs.jsonl").read_text())
    said = []
    for labels in (site, root, root / "pairs.csv", root / "all.jsonl.gz"):
        assert run(["calibrate", str(labels)]) == 0
        said.append(capsys.readouterr().out)
    assert len(set(said)) == 1


def test_pairs_of_html_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    labels = _write_lines(tmp_path / "labels.jsonl", _inline())
    assert run(["calibrate", str(labels)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].split("\t")[0] == "distance up to 0, not verified"
    assert sum(line.startswith("distance up to") and "not verified" in line for line in said) == 13
    assert "Finds 8 of 8 near pairs: recall 1.000 (0.676 to 1.000)." in said
    assert "Takes none of 4 different pairs for copies." in said
    assert any(line.startswith("SIMCRAWL_MIN_SIMILARITY = 0.9") for line in said)


def test_settings_that_lose_content_are_not_recommended(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pairs = _inline()
    mislabelled = {"a_html": page(english(2000)), "b_html": page(english(2000) + " Time."), "label": "different"}
    labels = _write_lines(tmp_path / "labels.jsonl", [*pairs, mislabelled])
    assert run(["calibrate", str(labels)]) == 1
    said = capsys.readouterr().out
    assert "Pairs that the recipe would get wrong:\n14\tdifferent" in said
    assert "No settings keep all the different pairs apart." in said


def test_the_paper_s_plain_rule(site: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["calibrate", str(site), "--recipe", "manku2007", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["by_similarity"] == []
    assert found["choice"]["SIMCRAWL_MIN_SIMILARITY"] == 0


@pytest.mark.parametrize("name", ["plot.svg", "plot.png"])
def test_the_script_draws(name: str, site: Path, tmp_path: Path):
    pytest.importorskip("matplotlib", reason='there is nothing to draw with: pip install "simcrawl[plot]"')
    plot = tmp_path / name
    done = subprocess.run([SCRIPT, "calibrate", str(site), "--plot", str(plot)], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert plot.read_bytes().startswith((b"<?xml", b"\x89PNG"))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"a": "absent.html", "b": "absent.html", "label": "near"}'], "pairs.jsonl, line 1: cannot read"),
        (["", '{"a": "1.html", "b": "2.html", "label": "same"}'], "pairs.jsonl, line 2: label 'same' is none"),
        ([], "no pair labelled near has two pages with fingerprints"),
        (['{"a": "\\u0000", "b": "x", "label": "near"}'], "line 1: cannot read"),
    ],
)
def test_wrong_lists(lines: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    assert run(["calibrate", str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_lists_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "pairs.jsonl.gz").write_bytes(b"not packed")
    (tmp_path / "latin.jsonl").write_bytes(b'{"a": "\xe9"}')
    (tmp_path / "empty").mkdir()
    for name, said in (("pairs.jsonl.gz", "cannot read"), ("latin.jsonl", "cannot read"), ("empty", "it holds 0"), ("absent", "absent")):
        assert run(["calibrate", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err


def test_a_plot_that_cannot_be_written(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib", reason='there is nothing to draw with: pip install "simcrawl[plot]"')
    assert run(["calibrate", str(site), "--plot", str(tmp_path / "absent" / "plot.svg")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_json_has_all_of_it():
    result = calibrate([pair(3, 0.95), pair(0, near=False)], max_distance=7)
    assert as_object(result)["choice"] is None
    json.dumps(as_object(result))
