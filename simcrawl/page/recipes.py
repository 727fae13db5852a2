"""Recipes: everything that decides what a fingerprint means, and from when on two pages are the same, under one name.

A recipe's *identity* (name, version, and a digest where it is not a built-in one) stands in a store's header. Changing what a
fingerprint or a sketch means changes the version; the thresholds may change without it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

import xxhash

from simcrawl.bits import check_width
from simcrawl.errors import SettingError
from simcrawl.page.cut import Cut
from simcrawl.page.features import NOTHING, Features, fingerprint_cut

if TYPE_CHECKING:
    from collections.abc import Callable

DROP_OUTLINKS = 0.0
IDENTICAL_TEXT = 1.0
FOLLOW_OUTLINKS = 2.0
"""Outlink thresholds: every similarity reaches 0, only identical text 1, none 2. Above 0 links must lead to the same addresses, too."""

Source = Literal["prose", "main"]
EXTRACTOR = "simcrawl.page.extraction.main_text"
_FAST_EXTRACTOR = "simcrawl.page.fast_extraction.main_text"
# Version of the hashes and sketches: recipes of users have versions of their own.
_HASHES = 4


def _threshold(default: Any) -> Any:
    return field(default=default, metadata={"threshold": True})


@dataclass(frozen=True)
class Recipe:
    """How pages become fingerprints (the first part), and when two pages are the same (the second, `thresholds`).

    `source`: the text whose features make the fingerprint; "prose" by blocks, or "main", the text of `extractor`, trafilatura by default.
    Where that has fewer than `min_features` units it is all of the content. `sketch_registers`: of the sketch of a page's content, a
    quarter of a byte each; 0 for no sketches. `shingle`: successive units a shingle. For the thresholds see `simcrawl.rule.Rule`;
    `min_features`: pages of fewer units of content abstain from near-duplicate matching.
    """

    name: str
    version: int
    features: Features = field(default_factory=Features)
    bits: int = 64
    extractor: str = EXTRACTOR
    source: Source = "prose"
    sketch_registers: int = 816
    shingle: int = 5
    max_distance: int = _threshold(7)
    min_similarity: float = _threshold(0.93)
    min_prose: int = _threshold(100)
    min_around: int = _threshold(120)
    outlinks: float = _threshold(FOLLOW_OUTLINKS)
    min_features: int = _threshold(50)

    def __post_init__(self) -> None:
        """Refuse what cannot work, at the place where it was written."""
        check_width(self.bits)
        if not 0 <= self.max_distance <= self.bits:
            raise SettingError(f"max_distance must be from 0 to {self.bits}, got {self.max_distance}")
        if self.min_similarity > 0 and not self.sketch_registers:
            raise SettingError(f"min_similarity {self.min_similarity} needs sketches: set sketch_registers, or min_similarity to 0")

    @cached_property
    def identity(self) -> str:
        """The name that pages and stores carry: equal identities give comparable fingerprints and sketches."""
        plain = f"{self.name}/{self.version}"
        built_in = RECIPES.get(self.name)
        return plain if built_in and built_in.meaning == self.meaning else f"{plain}+{self._digest()}"

    @property
    def meaning(self) -> tuple[Any, ...]:
        """The values of all fields but the thresholds."""
        return tuple(getattr(self, f.name) for f in fields(self) if not f.metadata.get("threshold"))

    def load_extractor(self) -> Callable[[bytes, str, str], str] | None:
        """Return what is called for the main text, with (body, encoding, url); None for trafilatura.

        Raises:
            SettingError: it does not exist, or needs a library that is not installed.
        """
        return None if self.extractor == EXTRACTOR else cast("Callable[[bytes, str, str], str]", load(self.extractor))

    def _digest(self) -> str:
        spec = self.features
        # Sets have no order of their own: sort, so that one recipe has one digest in every process.
        of_features = spec.kind, spec.size, spec.weighting, sorted(spec.stop_words), sorted(spec.weights)
        # Not as a zero: recipes of users keep the digests that they had before there was a table.
        table = (spec.common,) if spec.common else ()
        stable = (_HASHES, *self.meaning[:2], *self.meaning[3:], *of_features, *table)
        return xxhash.xxh3_64_hexdigest(repr(stable).encode())[:8]


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("terms", 3, Features(kind="terms", weighting="prose-tf", common=1)),
        Recipe("content", 4),
        Recipe("main", 4, source="main"),
        Recipe(
            "manku2007",
            4,
            Features(weighting="tf"),
            source="main",
            sketch_registers=0,
            max_distance=3,
            min_similarity=0,
            outlinks=DROP_OUTLINKS,
            min_features=1,
        ),
        Recipe("resiliparse", 3, source="main", extractor=_FAST_EXTRACTOR),
        Recipe("layout", 4, Features(kind="tags"), max_distance=3),
    )
}
"""The built-in recipes.

terms: content must agree, or the prose of pages with much around it; the default. content: the same, with all words alike in the
fingerprint; stores made before terms/2 had it. main: that, with the fingerprint of trafilatura's main text. manku2007: the paper's plain
rule, Hamming distance only, outlinks dropped. resiliparse: pages are compared by the main text of that library (the extra `fast`) alone.
layout: the tag paths of the page, for questions about templates.
"""

DEFAULT = "terms"


def resolve(recipe: str | Recipe = "auto") -> Recipe:
    """Return a recipe by name ("auto": the default), by dotted path to a `Recipe`, or as it is.

    Raises:
        SettingError: there is no such recipe.
    """
    if isinstance(recipe, Recipe):
        return recipe
    name = DEFAULT if recipe == "auto" else str(recipe)
    found = RECIPES.get(name) or load(name) if "." in name else RECIPES.get(name)
    if not isinstance(found, Recipe):
        raise SettingError(f"recipe {recipe!r} does not exist: use auto, {', '.join(RECIPES)}, or a dotted path to a simcrawl.Recipe")
    return found


def to_json(recipe: Recipe) -> str:
    """Return what `from_json` makes an equal recipe of.

    Raises:
        SettingError: nothing can tell all of it: it is of a class of its own, or holds what JSON does not.
    """
    try:
        text = json.dumps(asdict(recipe), default=_plain)
        equal = from_json(text) == recipe
    except (TypeError, ValueError) as exc:
        raise SettingError(f"recipe {recipe.name!r} cannot be sent to another process: {exc}") from exc
    if not equal:
        why = "make it a simcrawl.Recipe itself, of strings, numbers, tuples and frozensets"
        raise SettingError(f"recipe {recipe.name!r} cannot be sent to another process: {why}")
    return text


def _plain(value: object) -> list[Any]:
    # A set has no order of its own: sort it, so that one recipe is told in one way.
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{value!r} ({type(value).__name__}) is no string, number, tuple or frozenset")


def from_json(text: str) -> Recipe:
    """Return the recipe that `to_json` was given."""
    spec = json.loads(text)
    told = spec.pop("features")
    told |= {"stop_words": frozenset(told["stop_words"]), "weights": tuple((feature, weight) for feature, weight in told["weights"])}
    return Recipe(**spec, features=Features(**told))


def load(path: str) -> Any:
    """Return the object at a dotted path.

    Raises:
        SettingError: there is none.
    """
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as exc:
        raise SettingError(f"cannot load {path!r}: {exc}") from exc


def fingerprint(text: str, *, recipe: str | Recipe = "auto", seed: int = 0) -> int:
    """Return the fingerprint of a text, an int below 2**64 (2**bits of the recipe), without any page around it.

    `seed` (below 2**64): fingerprints of different seeds cannot be compared.

    Raises:
        SettingError: there is no such recipe.
        ValueError: the text has no features.
    """
    chosen = resolve(recipe)
    made = fingerprint_cut(Cut(text, seed=seed), chosen.features, bits=chosen.bits)
    if made is None:
        raise ValueError(NOTHING)
    return made
