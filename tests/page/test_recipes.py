from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import simcrawl
from simcrawl.errors import SettingError
from simcrawl.page.features import Features
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page
from simcrawl.page.recipes import (
    DEFAULT,
    DROP_OUTLINKS,
    EXTRACTOR,
    FOLLOW_OUTLINKS,
    RECIPES,
    Recipe,
    from_json,
    load,
    resolve,
    to_json,
)
from tests.samples import english, page

OWN = Recipe("own", 3, Features(kind="ngrams", size=2), bits=32, max_distance=2)


@pytest.mark.parametrize("name", RECIPES)
def test_every_built_in_recipe_is_known_by_its_name_and_fingerprints_a_page(name: str):
    recipe = resolve(name)
    assert recipe.name == name
    assert recipe.identity == f"{name}/{recipe.version}"
    made = fingerprint_page(page(english(300)), recipe=name)
    assert isinstance(made, PageFingerprint)
    assert made.recipe == recipe.identity


def test_auto_is_the_default():
    assert resolve() is resolve("auto") is RECIPES[DEFAULT]


def test_a_recipe_resolves_to_itself_and_its_path_to_the_recipe():
    assert resolve(OWN) is OWN
    assert resolve(f"{__name__}.OWN") == OWN


def test_the_default_is_what_is_documented():
    terms = RECIPES["terms"]
    assert resolve() is terms
    assert (terms.source, terms.bits, terms.sketch_registers, terms.shingle, terms.min_features) == ("prose", 64, 816, 5, 50)
    assert (terms.max_distance, terms.min_similarity, terms.min_prose, terms.min_around) == (7, 0.93, 100, 120)
    assert terms.outlinks == FOLLOW_OUTLINKS == 2


def test_main_is_content_but_for_the_text_of_its_fingerprints():
    assert replace(RECIPES["main"], name="content", source="prose") == RECIPES["content"]
    assert RECIPES["main"].identity == "main/4"


def test_resiliparse_is_content_but_for_the_text_that_is_compared():
    recipe = RECIPES["resiliparse"]
    assert replace(recipe, name="content", version=4, source="prose", extractor=EXTRACTOR) == RECIPES["content"]
    assert recipe.identity == "resiliparse/3"


def test_content_is_the_default_but_for_the_features_of_its_fingerprints():
    recipe = RECIPES["terms"]
    assert replace(recipe, name="content", version=4, features=Features()) == RECIPES["content"]
    assert (recipe.identity, RECIPES["content"].identity) == ("terms/3", "content/4")
    text = page(english(300))
    made, plain = (fingerprint_page(text, recipe=name) for name in ("terms", "content"))
    assert isinstance(made, PageFingerprint)
    assert isinstance(plain, PageFingerprint)
    assert replace(made, recipe=plain.recipe, fingerprint=plain.fingerprint) == plain
    assert made.fingerprint != plain.fingerprint


def test_recipes_of_users_keep_their_identity():
    # It changes where fingerprints of all recipes mean something else.
    assert Recipe("own", 3, Features(kind="ngrams", size=2)).identity == "own/3+c4c406d7"


def test_the_paper_s_recipe_is_the_paper_s():
    paper = RECIPES["manku2007"]
    assert (paper.bits, paper.max_distance, paper.min_similarity, paper.sketch_registers) == (64, 3, 0, 0)
    assert paper.source == "main"
    assert paper.outlinks == DROP_OUTLINKS < paper.min_features < FOLLOW_OUTLINKS


@pytest.mark.parametrize(
    "recipe",
    [
        *RECIPES.values(),
        OWN,
        replace(OWN, features=Features(stop_words=frozenset({"a", "\udc80", "的"}), weights=(("b", 2.5), ("的", 0)))),
    ],
    ids=lambda recipe: str(recipe.name),
)
def test_a_recipe_can_be_told_to_another_process(recipe: Recipe):
    told = from_json(to_json(recipe))
    assert told == recipe
    assert told.identity == recipe.identity


class _Derived(Recipe):
    pass


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        (_Derived("own", 1), "make it a simcrawl.Recipe itself"),
        (replace(OWN, features=Features(weights=(["a", 2.0],))), "of strings, numbers, tuples and frozensets"),  # type: ignore[arg-type]
        (replace(OWN, version=1j), r"'own' cannot be sent to another process: 1j \(complex\) is no string"),  # type: ignore[arg-type]
        (replace(OWN, max_distance=np.int64(3)), r"\(int64\) is no string"),  # type: ignore[arg-type]
    ],
)
def test_one_of_which_not_all_could_be_told_is_not(recipe: Recipe, why: str):
    with pytest.raises(SettingError, match=why):
        to_json(recipe)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": Features(weighting="tf")},
        {"features": Features(stop_words=frozenset({"the"}))},
        {"features": Features(weights=(("a", 2.0),))},
        {"features": Features(common=1)},
        {"bits": 128},
        {"extractor": "tests.samples.counting_extractor"},
        {"sketch_registers": 64},
        {"source": "main"},
        {"shingle": 4},
        {"version": 99},
    ],
)
def test_what_changes_the_meaning_changes_the_identity(changes: dict[str, Any]):
    base = RECIPES[DEFAULT]
    changed = replace(base, **changes)
    assert changed.identity != base.identity
    assert changed.identity.startswith(f"{DEFAULT}/{changed.version}+")


@pytest.mark.parametrize(
    "changes", [{"max_distance": 1}, {"min_similarity": 0}, {"min_prose": 1}, {"min_around": 0}, {"outlinks": 0.5}, {"min_features": 1}]
)
def test_thresholds_leave_the_identity_as_it_is(changes: dict[str, Any]):
    assert replace(RECIPES[DEFAULT], **changes).identity == RECIPES[DEFAULT].identity
    assert replace(OWN, **changes).identity == OWN.identity


def test_a_recipe_that_borrows_a_built_in_name_has_another_identity():
    assert Recipe("content", 4, bits=8).identity != RECIPES["content"].identity
    assert Recipe("content", 4).identity == RECIPES["content"].identity


def test_the_order_in_which_words_are_written_does_not_matter():
    a, b = (replace(OWN, features=Features(stop_words=frozenset(words))) for words in (("x", "y", "z"), ("z", "y", "x")))
    assert a.identity == b.identity
    a, b = (replace(OWN, features=Features(weights=weights)) for weights in ((("x", 1), ("y", 2)), (("y", 2), ("x", 1))))
    assert a.identity == b.identity


@pytest.mark.parametrize("wrong", ["", "agrement", "CONTENT", "tests.page.test_recipes.DEFAULT", "tests.samples.english"])
def test_a_recipe_that_does_not_exist_is_refused_with_those_that_do(wrong: str):
    with pytest.raises(SettingError, match="use auto, terms, content, main, manku2007, resiliparse, layout, or a dotted path") as refused:
        resolve(wrong)
    assert repr(wrong) in str(refused.value)


@pytest.mark.parametrize("wrong", ["no.such.module", "tests.samples.absent", ".", "a..b", "nodots"])
def test_a_path_that_leads_nowhere_is_refused_by_its_name(wrong: str):
    with pytest.raises(SettingError, match="cannot load") as refused:
        load(wrong)
    assert repr(wrong) in str(refused.value)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"bits": 60}, "60 bits"),
        ({"bits": 32, "max_distance": 33}, "from 0 to 32, got 33"),
        ({"max_distance": -1}, "got -1"),
        ({"sketch_registers": 0}, "min_similarity 0.93 needs sketches.*min_similarity to 0"),
    ],
)
def test_recipes_that_cannot_work_are_refused_by_their_value(wrong: dict[str, Any], named: str):
    with pytest.raises(ValueError, match=named):
        Recipe("wrong", 1, **wrong)


def test_a_text_is_fingerprinted_by_the_recipe_that_is_asked_for():
    text = english()
    assert simcrawl.fingerprint(text) == simcrawl.fingerprint(text, recipe=DEFAULT)
    assert simcrawl.fingerprint(text) != simcrawl.fingerprint(text, recipe="content")
    assert simcrawl.fingerprint(text) != simcrawl.fingerprint(text, recipe="manku2007")
    assert simcrawl.fingerprint(text, recipe=OWN) < 2**32
    assert simcrawl.fingerprint(text, recipe=replace(OWN, bits=128)) > 2**64
