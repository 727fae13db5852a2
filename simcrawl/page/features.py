"""Units of a text into weighted features, and these into a fingerprint.

A feature is a string, its weight a positive number; what both are is a `Features` value, part of a recipe. Of plain words, which nearly all
recipes have, the hashes alone are made, by `simcrawl.page.cut`; `Features.weigh` has the strings, and gives the same fingerprint.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
import xxhash

from simcrawl.bits import check_width
from simcrawl.errors import SettingError
from simcrawl.page.characters import normalize
from simcrawl.page.chinese import textrank, tfidf
from simcrawl.page.common_words import factors, factors_of
from simcrawl.page.cut import is_sentence, terms, units, words
from simcrawl.page.hashing import among, hash_units
from simcrawl.page.simhash import pack, project, project_rounded, round_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simcrawl.page.cut import Cut

Kind = Literal["words", "terms", "ngrams", "characters", "tfidf", "textrank", "tags"]
Weighting = Literal["unit", "tf", "log-tf", "prose-tf"]

# No unit has it, so one n-gram is no other one.
_JOIN = "\x1f"
# As many counts as are looked up at once.
_USUAL_COUNTS = 4096
# Of the share of one text in the fingerprint of two.
_STEPS = 256
NOTHING = "the text has no features: there is nothing to fingerprint"


@dataclass(frozen=True, slots=True)
class Features:
    """What the features of a text are and what each weighs.

    `kind`: "words"; "terms", words with pairs of neighbours in place of single characters; "ngrams" of `size` successive words, in
    order; "characters", n-grams of `size` letters and digits; "tfidf" and "textrank", jieba's `size` best keywords with their own
    weights; "tags", the tag paths of the page's elements (then a page's layout is compared, not its text).
    `weighting` of a feature that occurs tf times: "unit" 1, "tf" tf, "log-tf" 1 + log tf. "prose-tf" is "log-tf", but
    half of that for a word or term that occurs once, on a line that does not end as a sentence does: such are those of boxes and teasers.
    Keywords bring their own.
    `weights` multiplies the weight of the features it names; `stop_words` are left out before n-grams are made.
    `common`: the version of the table by which common words weigh less, see `simcrawl.page.common_words`; 0 for none.
    """

    kind: Kind = "words"
    size: int = 1
    weighting: Weighting = "log-tf"
    stop_words: frozenset[str] = frozenset()
    weights: tuple[tuple[str, float], ...] = ()
    common: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot work, at the place where it was written."""
        if self.kind not in _EXTRACTORS:
            raise SettingError(f"feature kind {self.kind!r} does not exist: use one of {', '.join(_EXTRACTORS)}")
        if self.weighting not in _WEIGHTINGS:
            raise SettingError(f"weighting {self.weighting!r} does not exist: use one of {', '.join(_WEIGHTINGS)}")
        if self.weighting == _BY_PROSE and not self.are_plain_words:
            raise SettingError(f"weighting {self.weighting!r} is for words and terms without stop words or weights: use log-tf for others")
        if self.size < 1:
            raise SettingError(f"feature size must be 1 or more, got {self.size}")
        if self.common not in (0, 1):
            raise SettingError(f"there is no table {self.common!r} of common words: use 1, or 0 for none")
        for feature, weight in self.weights:
            if not 0 <= weight < math.inf:
                raise SettingError(f"the weight of feature {feature!r} must be a number of 0 or more, got {weight}")

    def weigh(self, text: str) -> dict[str, float]:
        """Return the features of a text and their weights; empty where the text has none."""
        weighed = self._weigh_prose(text) if self.weighting == _BY_PROSE else _EXTRACTORS[self.kind](self, text)
        if self.common:
            known = factors()
            # Rounded first, as weights of hashes are.
            rounded = zip(weighed, round_weights(list(weighed.values())).tolist(), strict=True)
            weighed = {feature: known.get(feature, 1.0) * weight for feature, weight in rounded}
        return self._apply_user_weights(weighed)

    def count(self, features: Iterable[str]) -> dict[str, float]:
        """Return distinct features with the weight that their number gives them."""
        weight = _WEIGHTINGS[self.weighting]
        counted = Counter(features)
        weights = {tf: weight(tf) for tf in set(counted.values())}
        return {feature: weights[tf] for feature, tf in counted.items()}

    def weigh_cut(self, cut: Cut) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Return what `weigh_hashes` does, of the plain words of a text."""
        if self.weighting != _BY_PROSE:
            return self.weigh_hashes(cut.features(self.kind), seed=cut.seed)
        return self.weigh_hashes(*cut.standing(self.kind), seed=cut.seed)

    def weigh_hashes(
        self, hashes: NDArray[np.uint64], loose: NDArray[np.uint64] | None = None, *, seed: int = 0
    ) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Return distinct hashes of features with the weights of `weigh`, rounded: one hash is one feature. `seed`: that of the hashes.

        `loose`: those of them on lines that do not end as a sentence does, which "prose-tf" asks for.
        """
        ascending = hashes.copy()
        ascending.sort()
        starts = _bounds(ascending)
        counts = starts[1:] - starts[:-1]
        weights = _usual_weights(self.weighting).take(counts, mode="clip")
        if len(hashes) >= _USUAL_COUNTS:
            for place in (counts >= _USUAL_COUNTS).nonzero()[0]:
                weights[place] = round_weights(_WEIGHTINGS[self.weighting](int(counts[place])))
        distinct = ascending.take(starts[:-1])
        if loose is not None and self.weighting == _BY_PROSE:
            weights[(counts == 1) & among(distinct, np.sort(loose))] *= _OF_LOOSE
        if self.common:
            weights = round_weights(weights * factors_of(distinct, seed=seed))
        return distinct, weights

    @property
    def are_plain_words(self) -> bool:
        """Whether the features are a text's words or terms, all of them, in whatever order."""
        return self.kind in ("words", "terms") and not self.stop_words and not self.weights

    def without_stop_words(self, units: list[str]) -> list[str]:
        """Return the units that are not stop words."""
        return [unit for unit in units if unit not in self.stop_words] if self.stop_words else units

    def _weigh_prose(self, text: str) -> dict[str, float]:
        lines = [(_EXTRACTED[self.kind](line), is_sentence(line)) for line in normalize(text).splitlines()]
        weighed = self.count(chain.from_iterable(found for found, _ in lines))
        loose = {feature for found, is_sentence in lines if not is_sentence for feature in found}
        once = _WEIGHTINGS[self.weighting](1)
        return {feature: weight * _OF_LOOSE if weight == once and feature in loose else weight for feature, weight in weighed.items()}

    def _apply_user_weights(self, weighed: dict[str, float]) -> dict[str, float]:
        if not self.weights:
            return weighed
        factors = dict(self.weights)
        return {feature: factors.get(feature, 1.0) * weight for feature, weight in weighed.items()}


def _word_features(spec: Features, text: str) -> dict[str, float]:
    return spec.count(spec.without_stop_words(words(text)))


def _term_features(spec: Features, text: str) -> dict[str, float]:
    return spec.count(spec.without_stop_words(terms(text)))


def _ngram_features(spec: Features, text: str) -> dict[str, float]:
    return spec.count(runs(spec.without_stop_words(words(text)), spec.size))


def _character_features(spec: Features, text: str) -> dict[str, float]:
    letters = "".join(spec.without_stop_words(units(text)))
    return spec.count(letters[i : i + spec.size] for i in range(len(letters) - spec.size + 1))


def _tag_features(spec: Features, text: str) -> dict[str, float]:
    return spec.count(spec.without_stop_words(text.split()))


def runs(units: Sequence[str], size: int) -> list[str]:
    """Return every run of `size` successive units as one feature; order matters."""
    return [_JOIN.join(units[i : i + size]) for i in range(len(units) - size + 1)]


def _tfidf_features(spec: Features, text: str) -> dict[str, float]:
    return _keywords(tfidf, spec, text)


def _textrank_features(spec: Features, text: str) -> dict[str, float]:
    return _keywords(textrank, spec, text)


def _keywords(rank: Callable[[str, int], list[tuple[str, float]]], spec: Features, text: str) -> dict[str, float]:
    # Stop words go after the ranking would have counted them, so ask for more and cut here.
    ranked = rank(text, spec.size + len(spec.stop_words))
    kept = [(word, float(weight)) for word, weight in ranked if word not in spec.stop_words]
    return dict(kept[: spec.size])


_EXTRACTORS = {
    "words": _word_features,
    "terms": _term_features,
    "ngrams": _ngram_features,
    "characters": _character_features,
    "tfidf": _tfidf_features,
    "textrank": _textrank_features,
    "tags": _tag_features,
}
_EXTRACTED: dict[str, Callable[[str], list[str]]] = {"words": words, "terms": terms}
_BY_PROSE = "prose-tf"
# Of a word that stands once, and not in a sentence.
_OF_LOOSE = 0.5
_WEIGHTINGS: dict[str, Callable[[int], float]] = {
    "unit": lambda _: 1.0,
    "tf": float,
    "log-tf": lambda tf: 1 + math.log(tf),
    _BY_PROSE: lambda tf: 1 + math.log(tf),
}


@cache
def _usual_weights(weighting: Weighting) -> NDArray[np.float64]:
    weight = _WEIGHTINGS[weighting]
    return round_weights([0.0, *map(weight, range(1, _USUAL_COUNTS))])


def _bounds(ascending: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return where equal values start, and the end of the last."""
    bounds = np.empty(len(ascending) + 1, np.bool_)
    bounds[0] = bounds[-1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=bounds[1:-1])
    return bounds.nonzero()[0]


def hash_rows(features: Iterable[str], *, seed: int, bits: int) -> NDArray[np.uint8]:
    """Return the features' seeded hashes as rows of bits / 8 bytes, shape (features, bits / 8)."""
    width = check_width(bits) // 8
    if width <= 8:
        return _rows(hash_units(features, seed=seed), width)
    rows = b"".join(xxhash.xxh3_128_digest(feature.encode("utf-8", "surrogatepass"), seed)[:width] for feature in features)
    return np.frombuffer(rows, np.uint8).reshape(-1, width)


def _rows(hashes: NDArray[np.uint64], width: int) -> NDArray[np.uint8]:
    return hashes.astype(">u8").view(np.uint8).reshape(-1, 8)[:, :width]


def fingerprint_features(weighed: Mapping[str, float], *, seed: int = 0, bits: int = 64) -> int:
    """Return the simhash of weighted features, their hashes seeded.

    Raises:
        ValueError: there is no feature with a positive weight. Never a constant: all empty pages would match each other.
    """
    if not weighed:
        raise ValueError(NOTHING)
    weights = np.fromiter(weighed.values(), np.float64, len(weighed))
    return pack(project(hash_rows(weighed, seed=seed, bits=bits), weights))


def fingerprint_both(cut: Cut, other: Cut, features: Features, *, share: float, bits: int = 64) -> int | None:
    """Return the fingerprint of a text and, by `share` from 0 to 1, another one: what it is moves with the share, without a leap.

    Of plain words in up to 64 bits; for other features that of the first text.
    """
    if share <= 0 or cut is other or not (features.are_plain_words and bits <= 64 and len(cut.hashes) and len(other.hashes)):
        return fingerprint_cut(cut, features, bits=bits)
    # In steps: sums of these are exact in any order.
    part = round(share * _STEPS) / _STEPS
    own, whole = (_sums(text, features, bits) for text in (cut, other))
    return pack((1 - part) * own + part * whole)


def _sums(cut: Cut, features: Features, bits: int) -> NDArray[np.float64]:
    distinct, weights = features.weigh_cut(cut)
    return project_rounded(_rows(distinct, check_width(bits) // 8), weights)


def fingerprint_cut(cut: Cut, features: Features, *, bits: int = 64) -> int | None:
    """Return the fingerprint of a text, None where it has no features: nothing but stop words, too few words for one n-gram, no keyword."""
    if features.are_plain_words and bits <= 64:
        return pack(_sums(cut, features, bits)) if len(cut.hashes) else None
    weighed = features.weigh(cut.text)
    return fingerprint_features(weighed, seed=cut.seed, bits=bits) if any(weighed.values()) else None
