"""Text -> weighted features, and features -> hashes.

Pure but for the tokenizers. A feature is a string, its weight a positive number; what both are is a `Features` value, part of
a recipe. Units are chosen by script: words where a script puts spaces between them, jieba's words for Chinese, single
characters for Japanese, Korean, Thai and the other scripts that jieba does not know. Mixed text is cut line by line, so that
a change in one paragraph does not change how another one is cut.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, pairwise, repeat, takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import xxhash

from simcrawl.bits import check_width
from simcrawl.errors import SettingError
from simcrawl.page.characters import SIMPLE, code_points, normalize, simple_characters
from simcrawl.page.common_words import factors, factors_of
from simcrawl.page.hashing import MARGIN, among, firsts, hash_runs, hash_short, hash_units
from simcrawl.page.patterns import late
from simcrawl.page.simhash import pack, project, project_rounded, round_weights
from simcrawl.page.sketch import sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

Kind = Literal["words", "terms", "ngrams", "characters", "tfidf", "textrank", "tags"]
Weighting = Literal["unit", "tf", "log-tf", "prose-tf"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
# Hangul, Thai, Lao, Tibetan, Myanmar and Khmer: written without spaces, or with spaces between phrases only, or (Korean) with
# particles glued to the words.
_OTHER_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\uac00-\ud7af"
# Arrows, mathematics, boxes, chess pieces, dingbats, braille, hexagrams, notes, tiles, cards and emoji: a text may consist of them.
_SYMBOLS = "\u2190-\u2bff\u4dc0-\u4dff\U0001d100-\U0001d1ff\U0001f000-\U0001faff"
_UNSPACED = _HAN + _KANA + _OTHER_UNSPACED + _SYMBOLS
# jieba's time grows faster than a run's length (24 s for one of 100,000 characters), and real sentences end long before this.
_LONGEST_RUN = 256
_UNIT = late(lambda: f"[{_alone()}]|{_run()}")
# Where marks of words and unknown characters may stand, and where none: what encloses signs, as in a keycap, postal marks and the like of
# pages in Japanese and Korean, noncharacters, selectors of variants, which follow emoji and ideographs.
_LOOKED_THROUGH = ((0x0300, 0x3400), (0xA000, 0xAC00), (0xD7B0, 0xD800), (0xFB00, 0xFFF0), (0x10000, 0x1FFFE))
_LEFT_OUT = ((0x20D0, 0x2100), (0x3000, 0x3040), (0x3200, 0x3400), (0xFDD0, 0xFDF0), (0xFE00, 0xFE10))
_IS_MARK, _IS_UNKNOWN = 1, 2
_KINDS_OF_CATEGORIES = {"Mn": _IS_MARK, "Mc": _IS_MARK, "Me": _IS_MARK, "So": _IS_UNKNOWN, "Cn": _IS_UNKNOWN}
# Below stand the signs that pages have around their contents.
_FIRST_UNKNOWN = 0x2C00
_PRIVATE = (0xE000, 0xF8FF)
# No letters are known there; between the two stand tags, and more selectors. The table ends where these do.
_BEYOND, _TABLED = ((0x40000, 0xDFFFF), (0xE1000, 0x10FFFF)), 0xE1000
_ONE_UNSPACED = late(lambda: f"[{_alone()}]")
_HANS = late(f"[{_HAN}]+")
_TERM_RUN = late(lambda: f"[{_alone()}]+|{_run()}")
_HAN_RUN = late(f"[{_HAN}]{{1,{_LONGEST_RUN}}}")
_WORD = late(lambda: f"[{_HAN}]{{1,{_LONGEST_RUN}}}|[{_alone()}]|{_run()}")
# Beyond stand no letters.
_LETTERED = 0x40000
_SEPARATOR, _BREAK, _PART, _ALONE, _KANA_ALONE, _HAN_ALONE = range(6)
_SPACE, _LINE_FEED, _ASCII, _FIRST_UNSPACED = ord(" "), ord("\n"), 0x80, 0x0E00
# From here on UTF-8 has four bytes a character; the unspaced ones below have three.
_FOUR_BYTES = 0x10000
# What `_simple_spaced` says of a character whose neighbours may matter.
_NOT_SIMPLE = 0x110000
# How many letters say what a word does where spaces part words: by one text in all of these languages, the declaration of human rights.
_HAN_OF_A_WORD, _LETTERS_OF_A_WORD, _MOST_LETTERS_OF_A_WORD = 1.5, 2, 6
# Thai, Lao, Tibetan and Myanmar; Khmer.
_LONG_WRITTEN = ((0x0E00, 0x1100), (0x1780, 0x1800))
# Of the scripts that have one; Thai, for one, has none.
_SENTENCE_ENDS = frozenset(
    ".!?\u2026\u203c\u2047\u2048\u2049\u3002\uff01\uff0e\uff1f\uff61\u0589\u061f\u06d4\u0964\u0965\u104b\u1362\u17d4\u0f0d"
)
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_HAS_KANA = late(f"[{_KANA}]")
_HAS_HAN = late(f"[{_HAN}]")

_LONG_RUN = late(rf"([{_HAN}]{{{_LONGEST_RUN}}})(?=[{_HAN}])")
# Releases of rjieba, and the digest of jieba's dictionary that each has in it.
_SAME_DICTIONARY = {("0.2.2", "7197c3211ddd98962b036cdf40324d1ea2bfaa12bd028e68faa70111a88e12a8")}
# TextRank is quadratic in the words of a page.
_TEXTRANK_CHARACTERS = 20_000
_JOIN = "\x1f"
# As many counts as are looked up at once.
_USUAL_COUNTS = 4096
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
        lines = [(_EXTRACTED[self.kind](line), _is_sentence(line)) for line in normalize(text).splitlines()]
        weighed = self.count(chain.from_iterable(found for found, _ in lines))
        loose = {feature for found, is_sentence in lines if not is_sentence for feature in found}
        once = _WEIGHTINGS[self.weighting](1)
        return {feature: weight * _OF_LOOSE if weight == once and feature in loose else weight for feature, weight in weighed.items()}

    def _apply_user_weights(self, weighed: dict[str, float]) -> dict[str, float]:
        if not self.weights:
            return weighed
        factors = dict(self.weights)
        return {feature: factors.get(feature, 1.0) * weight for feature, weight in weighed.items()}


def units(text: str) -> list[str]:
    """Return words, and single characters of unspaced scripts."""
    return _text_of(_set_apart(_spaced(_framed(text))[1].astype(np.uint32, copy=False))).split()


@cache
def _categories() -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the first and the last of each range of marks that belong to a word, and of what is no letter and yet content.

    Marks: vowels, tones and points. Without them Ram and Rima are one in Hindi. Content: symbols, private use, and what this Python does
    not know.
    """
    codes = np.concatenate([np.arange(*bounds) for bounds in _LOOKED_THROUGH])
    # By numbers: one by one it would take a fifth of a worker's start.
    found = np.fromiter(map(_KINDS_OF_CATEGORIES.get, map(unicodedata.category, map(chr, codes.tolist())), repeat(0)), np.uint8, len(codes))
    for first, end in _LEFT_OUT:
        found[(codes >= first) & (codes < end)] = 0
    found[(found == _IS_UNKNOWN) & (codes < _FIRST_UNKNOWN)] = 0
    return _ranges(codes[found == _IS_MARK]), [*_ranges(codes[found == _IS_UNKNOWN]), _PRIVATE, *_BEYOND]


def _ranges(codes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of ascending numbers."""
    breaks = np.flatnonzero(np.diff(codes) != 1)
    return list(zip(codes[[0, *(breaks + 1)]].tolist(), codes[[*breaks, -1]].tolist(), strict=True))


def _class_of(ranges: list[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def marks() -> str:
    """Return the marks that belong to the letter before them, for a character class."""
    return _class_of(_categories()[0])


def _alone() -> str:
    return _UNSPACED + _class_of(_categories()[1])


def _run() -> str:
    """Return a pattern of letters and digits of spaced scripts, with their marks."""
    return rf"(?>(?:(?![{_UNSPACED}])\w(?>(?:(?![{_UNSPACED}])[{marks()}])*))+)"


class _Found(NamedTuple):
    """Hashes of features, and what tells the line that each stands on: where nobody asks, that is not looked for."""

    hashes: NDArray[np.uint64]
    lines: Callable[[], NDArray[np.intp]]


class Cut:
    """A text cut into units line by line, each of them hashed, in a few passes over all of it.

    `text`, `seed`: as they were given. `hashes`: those of `hash_units` for `units`. Words are units, but for Chinese.
    """

    def __init__(self, text: str, *, seed: int) -> None:
        self.text, self.seed = text, seed
        self._written, self._characters, highest = _spaced(_framed(text))
        self._has_unspaced = highest >= _FIRST_UNSPACED
        self._data = _data_of(self._characters, highest)
        self._starts, lengths = _runs(self._data)
        self.hashes = hash_runs(self._data, self._starts, lengths, seed=seed)

    def lengths(self) -> NDArray[np.intp]:
        """Return the number of units in each line that has any."""
        breaks = (self._data == _LINE_FEED).nonzero()[0]
        bounds = np.concatenate(([0], self._starts.searchsorted(breaks), [len(self._starts)]))
        lengths = bounds[1:] - bounds[:-1]
        return lengths[lengths > 0]

    def lines(self) -> NDArray[np.uint64]:
        """Return a hash for each line that has any units."""
        return sequences(self.hashes, self.lengths())

    def shingled(self) -> NDArray[np.uint64]:
        """Return the hashes of what the text's shingles are made of: its letters where a tenth of them is unspaced, else its units.

        With units a foreign word would count as much as one character of the script around it, and a page whose foreign words differ
        would look more alike than it is.
        """
        if not self._has_unspaced:
            return self.hashes
        letters = self._kinds > _BREAK
        if 10 * np.count_nonzero(self._kinds > _PART) < np.count_nonzero(letters):
            return self.hashes
        return _hash_letters(self._characters[letters], seed=self.seed)

    def units_of_a_word(self) -> float:
        """Return how many units say what a word does, 1 to 6: 1 where spaces part words, 1.5 in Chinese, 6 in Thai."""
        if not self._has_unspaced or not len(self.hashes):
            return 1.0
        letters = self._characters[self._kinds > _PART]
        chinese = np.count_nonzero(self._chinese())
        long = sum(np.count_nonzero((letters >= first) & (letters < end)) for first, end in _LONG_WRITTEN)
        words = len(self.hashes) - len(letters) + chinese / _HAN_OF_A_WORD + long / _MOST_LETTERS_OF_A_WORD
        return len(self.hashes) / (words + (len(letters) - chinese - long) / _LETTERS_OF_A_WORD)

    def sentences(self) -> NDArray[np.bool_]:
        """Return for each line, also of those without units, whether it ends as a sentence does."""
        ends = _sentence_ends().take(self._written, mode="clip").nonzero()[0]
        letters = (self._characters > _SPACE).nonzero()[0]
        lines = np.append((self._characters == _LINE_FEED).nonzero()[0], len(self._characters))
        # Whether the last end of a sentence so far comes after the last letter so far: behind it there may be brackets and quotes.
        ended: NDArray[np.bool_] = np.append(-1, ends)[ends.searchsorted(lines)] > np.append(-1, letters)[letters.searchsorted(lines)]
        return ended

    def features(self, kind: Kind) -> NDArray[np.uint64]:
        """Return the hashes of words or terms, in any order."""
        return _joined([found.hashes for found in self._found(kind)])

    def standing(self, kind: Kind) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return what `features` does, and those of them on lines that do not end as a sentence does."""
        found, loose = self._found(kind), ~self.sentences()
        return _joined([one.hashes for one in found]), _joined([one.hashes[loose.take(one.lines())] for one in found])

    def _found(self, kind: Kind) -> list[_Found]:
        """Return the hashes of words or terms, apart by how they are made."""
        units = _Found(self.hashes, lambda: (self._data == _LINE_FEED).nonzero()[0].searchsorted(self._starts))
        if not self._has_unspaced:
            return [units]
        chinese = self._chinese()
        alone = self._kinds > _PART if kind == "terms" else chinese
        if not alone.any():
            return [units]
        spaced = ~alone[_first_letters(self._kinds)]
        found = [_Found(self.hashes[spaced], lambda: units.lines()[spaced])]
        if chinese.any():
            found.append(self._segmented(chinese))
        pairs = alone & ~chinese
        return found + self._pairs(pairs) if pairs.any() else found

    def _segmented(self, chinese: NDArray[np.bool_]) -> _Found:
        text = _runs_of_han(self._characters, chinese)
        words = list(_segmenter()(text))

        def of_words() -> NDArray[np.intp]:
            letters = code_points(text) != _SPACE
            starts = firsts(np.fromiter(map(len, words), np.intp, len(words)))
            places = (letters.cumsum() - 1)[starts[letters[starts]]]
            lines: NDArray[np.intp] = self._lines_of_letters()[chinese][places]
            return lines

        return _Found(_hash_texts("\n".join(words), seed=self.seed), of_words)

    def _pairs(self, alone: NDArray[np.bool_]) -> list[_Found]:
        """Return the pairs of neighbours among some letters, and those without neighbours."""
        places = alone.nonzero()[0]
        of_pairs, of_lonely = _neighbours(places)
        pairs, lonely = _hash_pairs(self._characters.take(places), of_pairs, of_lonely, seed=self.seed)
        return [
            _Found(pairs, lambda: self._lines_of_letters()[places[:-1][of_pairs]]),
            _Found(lonely, lambda: self._lines_of_letters()[places[of_lonely]]),
        ]

    def _lines_of_letters(self) -> NDArray[np.intp]:
        lines: NDArray[np.intp] = (self._characters == _LINE_FEED).cumsum()
        return lines

    @cached_property
    def _kinds(self) -> NDArray[np.uint8]:
        return _kinds_of(self._characters)

    def _chinese(self) -> NDArray[np.bool_]:
        """Return which characters are Han on lines without kana: jieba, a Chinese dictionary, would cut Japanese kanji at random."""
        chinese: NDArray[np.bool_] = self._kinds == _HAN_ALONE
        kana = self._kinds == _KANA_ALONE
        if kana.any():
            lines = self._lines_of_letters()
            japanese = np.zeros(int(lines[-1]) + 1, np.bool_)
            japanese[lines[kana]] = True
            chinese &= ~japanese[lines]
        return chinese


class Lines(NamedTuple):
    """What `Cut` knows of a text's lines: the hashes of its units, and of each line that has any their number and its hash."""

    hashes: NDArray[np.uint64]
    numbers: NDArray[np.intp]
    of_lines: NDArray[np.uint64]

    def lengths(self) -> NDArray[np.intp]:
        """Return what `Cut.lengths` does."""
        return self.numbers

    def lines(self) -> NDArray[np.uint64]:
        """Return what `Cut.lines` does."""
        return self.of_lines


def cut_lines(texts: Sequence[str], *, seed: int) -> list[Lines]:
    """Return the lines of one or more texts in one go: the passes that a `Cut` takes cost most where there is little to pass over."""
    pieces = [_data_of(*_spaced(_framed(text))[1:]) for text in texts]
    data = np.concatenate(pieces)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.intp)
    # The last byte of the margin: so a text ends a line, too.
    data[ends - 1] = _LINE_FEED
    starts, lengths = _runs(data)
    hashes = hash_runs(data, starts, lengths, seed=seed)
    breaks = (data == _LINE_FEED).nonzero()[0]
    bounds = starts.searchsorted(breaks)
    numbers = bounds.copy()
    numbers[1:] -= bounds[:-1]
    held = numbers > 0
    lengths = numbers[held]
    of_lines = sequences(hashes, lengths)
    # Where the units of a text end, and its lines.
    last = breaks.searchsorted(ends)
    of_units, of_numbers = bounds[last - 1].tolist(), held.cumsum()[last - 1].tolist()
    places = zip(pairwise([0, *of_units]), pairwise([0, *of_numbers]), strict=True)
    return [Lines(hashes[start:end], lengths[first:after], of_lines[first:after]) for (start, end), (first, after) in places]


def _framed(text: str) -> str:
    """Return a text so that its runs begin and end, and can be hashed."""
    return f" {text}{' ' * MARGIN}"


def _spaced(text: str) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return the characters of a text, the same with spaces between units and line feeds at the ends of lines, and the highest of these.

    Both normalized, but for what can be normalized one by one: there the first are as they are. Of ASCII they are bytes, and the highest is
    below `_ASCII`.
    """
    if text.isascii():
        written = text.encode()
        return np.frombuffer(written, np.uint8), np.frombuffer(written.translate(_ascii_spaced()), np.uint8), 0
    characters = code_points(text)
    spaced = _simple_spaced().take(characters, mode="clip")
    highest = int(spaced.max())
    if highest == _NOT_SIMPLE:
        characters = code_points(normalize(text))
        kinds = _kinds_of(characters)
        _leave_out_stray(characters, kinds)
        spaced = np.where(kinds > _BREAK, characters, np.uint32(_SPACE))
        spaced[kinds == _BREAK] = _LINE_FEED
        highest = int(spaced.max())
    return characters, spaced, highest


def _leave_out_stray(characters: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> None:
    """Let marks that follow no letter separate: NFKC makes such of an accent that stands in the place of an apostrophe."""
    are_marks = _marks_table().take(characters, mode="clip")
    places = are_marks.nonzero()[0]
    if not len(places):
        return
    # Marks may follow one another: what counts is what the first of them follows.
    first = np.maximum.accumulate(np.where(are_marks, 0, np.arange(len(characters))))[places]
    kinds[places[kinds[first] != _PART]] = _SEPARATOR


def _data_of(characters: NDArray[Any], highest: int) -> NDArray[np.uint8]:
    """Return a text with nothing but spaces and line feeds between its units, in UTF-8."""
    if highest < _ASCII:
        return characters.astype(np.uint8, copy=False)
    return np.frombuffer(_text_of(_set_apart(characters)).encode(), np.uint8)


def _text_of(characters: NDArray[np.uint32]) -> str:
    return characters.tobytes().decode("utf-32-le")


def _set_apart(characters: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the characters with a space before and after each of those that are units alone."""
    if characters.max() < _FIRST_UNSPACED:
        return characters
    alone = _kinds_of(characters) > _PART
    places = np.arange(len(characters)) + 2 * np.cumsum(alone) - alone
    spaced = np.full(int(places[-1]) + 2, _SPACE, np.uint32)
    spaced[places] = characters
    return spaced


def _runs(data: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the units of a framed text start, and their lengths in bytes."""
    inside = data > _SPACE
    edges = (inside[1:] != inside[:-1]).nonzero()[0].reshape(-1, 2)
    return edges[:, 0] + 1, edges[:, 1] - edges[:, 0]


def _first_letters(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which characters of a framed text are the first of their unit."""
    first: NDArray[np.bool_] = kinds > _BREAK
    first[1:] &= (kinds[1:] > _PART) | (kinds[:-1] != _PART)
    return first


def _runs_of_han(characters: NDArray[np.uint32], han: NDArray[np.bool_]) -> str:
    """Return the runs of Han characters, with spaces in between, none of them too long for jieba."""
    kept = han.copy()
    kept[1:] |= han[:-1]
    text = _text_of(np.where(han, characters, np.uint32(_SPACE))[kept])
    edges = (han[1:] != han[:-1]).nonzero()[0].reshape(-1, 2)
    return " ".join(_HAN_RUN.findall(text)) if (edges[:, 1] - edges[:, 0]).max() > _LONGEST_RUN else text


def _hash_texts(text: str, *, seed: int) -> NDArray[np.uint64]:
    """Return the hashes of what stands between spaces."""
    data = np.frombuffer(_framed(text).encode(), np.uint8)
    return hash_runs(data, *_runs(data), seed=seed)


def _joined(arrays: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _neighbours(places: NDArray[np.intp]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which places the next one follows at once, of all but the last, and which have no neighbour."""
    are_pairs = places[1:] - places[:-1] == 1
    lonely = np.ones(len(places), np.bool_)
    lonely[:-1] &= ~are_pairs
    lonely[1:] &= ~are_pairs
    return are_pairs, lonely


def _hash_pairs(
    codes: NDArray[np.uint32], are_pairs: NDArray[np.bool_], lonely: NDArray[np.bool_], *, seed: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the hashes of characters with the one that follows, and of those without neighbours."""
    if codes.max() >= _FOUR_BYTES:
        pairs = np.full((np.count_nonzero(are_pairs), 3), _SPACE, np.uint32)
        pairs[:, 0], pairs[:, 1] = codes[:-1][are_pairs], codes[1:][are_pairs]
        singles = np.full((np.count_nonzero(lonely), 2), _SPACE, np.uint32)
        singles[:, 0] = codes[lonely]
        return _hash_texts(_text_of(pairs.ravel()), seed=seed), _hash_texts(_text_of(singles.ravel()), seed=seed)
    # Their UTF-8, without a text of it: a page in Japanese is next to nothing but pairs.
    ones = (0x8080E0 | codes >> 12 | (codes & 0xFC0) << 2 | (codes & 0x3F) << 16).astype(np.uint64)
    twos = (ones[1:] << np.uint64(24) | ones[:-1])[are_pairs]
    return hash_short(twos, 6, seed=seed), hash_short(ones[lonely], 3, seed=seed)


def _hash_letters(characters: NDArray[np.uint32], *, seed: int) -> NDArray[np.uint64]:
    """Return `hash_units` of letters."""
    data = np.frombuffer(_text_of(characters).encode() + bytes(MARGIN), np.uint8)
    starts = ((data & 0xC0) != 0x80).nonzero()[0]
    return hash_runs(data, starts[:-MARGIN], np.diff(starts)[: -MARGIN + 1], seed=seed)


def _kinds_of(characters: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return _character_kinds().take(characters, mode="clip")


@cache
def _simple_spaced() -> NDArray[np.uint32]:
    """Return what each character becomes in `_spaced` whatever stands beside it, or `_NOT_SIMPLE`; so it is last, for others."""
    normal = np.append(simple_characters(), np.uint32(0))
    kinds = _kinds_of(normal)
    spaced = np.where(kinds > _BREAK, normal, np.uint32(_SPACE))
    spaced[kinds == _BREAK] = _LINE_FEED
    spaced[normal == 0] = _NOT_SIMPLE
    return spaced


@cache
def _sentence_ends() -> NDArray[np.bool_]:
    """Return for each character whether sentences end in it; the last one is for all beyond."""
    ends = np.zeros(SIMPLE, np.bool_)
    ends[[ord(end) for end in _SENTENCE_ENDS]] = True
    return ends


@cache
def _ascii_spaced() -> bytes:
    """Return the part of `_simple_spaced` for ASCII, as `bytes.translate` wants it. What is not simple there separates units."""
    spaced = _simple_spaced()[:_ASCII]
    return bytes(np.where(spaced < _ASCII, spaced, _SPACE).astype(np.uint8)) + bytes(256 - _ASCII)


@cache
def _marks_table() -> NDArray[np.bool_]:
    """Return for each character whether it is a mark of a word; the last one is for all beyond."""
    ranges = _categories()[0]
    table = np.zeros(ranges[-1][1] + 2, np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    table &= _character_kinds()[: len(table)] == _PART
    return table


@cache
def _character_kinds() -> NDArray[np.uint8]:
    """Return for each character below `_TABLED` whether it separates units, ends a line, is part of a unit, or is one; last, for others.

    A mark is part of a unit here, see `_leave_out_stray`.
    """
    kinds = np.full(_TABLED + 1, _SEPARATOR, np.uint8)
    for ranges, kind in zip(_categories(), (_PART, _ALONE), strict=True):
        for first, last in ranges:
            kinds[first : last + 1] = kind
    patterns = {_PART: r"\w", _ALONE: f"[{_UNSPACED}]", _KANA_ALONE: f"[{_KANA}]", _HAN_ALONE: f"[{_HAN}]", _BREAK: f"[{_BREAKS}]"}
    characters = "".join(map(chr, range(_LETTERED)))
    for kind, pattern in patterns.items():
        # In runs: there are a thousandth of them.
        kinds[code_points("".join(re.findall(f"(?:{pattern})+", characters)))] = kind
    return kinds


def words(text: str) -> list[str]:
    """Return words, with jieba's for Chinese and single characters for the other unspaced scripts."""
    text = normalize(text)
    if not _HAS_HAN.search(text):
        return units(text)
    return [word for line in text.splitlines() for word in _words_of_line(line)]


def _words_of_line(line: str) -> Iterable[str]:
    # A line with kana is Japanese: jieba, a Chinese dictionary, would cut its kanji at random.
    if not _HAS_HAN.search(line) or _HAS_KANA.search(line):
        return _UNIT.findall(line)
    return segment(line)


def terms(text: str) -> list[str]:
    """Return words as `words` does, but of the other unspaced scripts each pair of neighbours; single characters that have none."""
    return [term for line in normalize(text).splitlines() for term in _terms_of_line(line)]


def _terms_of_line(line: str) -> Iterator[str]:
    is_chinese = _HAS_HAN.search(line) and not _HAS_KANA.search(line)
    for run in _TERM_RUN.findall(line):
        if not _is_unspaced(run[0]):
            yield run
            continue
        if is_chinese:
            for han in _HANS.findall(run):
                yield from segment(han)
        for part in _HANS.split(run) if is_chinese else (run,):
            yield from map("".join, pairwise(part)) if len(part) > 1 else part


def _is_sentence(line: str) -> bool:
    last = next((c for c in reversed(line) if c in _SENTENCE_ENDS or _UNIT.match(c)), "")
    return last in _SENTENCE_ENDS


def _is_unspaced(character: str) -> bool:
    return _ONE_UNSPACED.match(character) is not None


def segment(line: str) -> list[str]:
    """Return jieba's words of a line's runs of Han characters, unknown ones as single characters, and its other units.

    jieba's guesses at unknown words (its hidden Markov model) stay off: they differ between its ports. Where the Rust port `rjieba` is
    installed it does the work, ten times as fast, with the same words.
    """
    found = [(run, _HAS_HAN.match(run)) for run in _WORD.findall(line)]
    # One call for all runs of a line: a call costs as much as cutting a dozen characters.
    cut = iter(_segmenter()(" ".join(run for run, is_han in found if is_han)))
    return [word for run, is_han in found for word in (takewhile(" ".__ne__, cut) if is_han else (run,))]


@cache
def _segmenter() -> Callable[[str], Iterable[str]]:
    """Return what cuts a run of Han characters: rjieba where it is installed, otherwise jieba."""
    try:
        from rjieba import Jieba  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        return partial(_jieba().cut, HMM=False)
    return partial(Jieba().cut, hmm=False) if _knows_dictionary() else _taught(Jieba)


def _knows_dictionary() -> bool:
    """Return whether the dictionary that this rjieba has in it is jieba's: to teach it takes three times as long as to load it."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - here alone

    try:
        release = version("rjieba")
    except PackageNotFoundError:
        return False
    with _jieba_module().Tokenizer().get_dict_file() as file:
        return (release, hashlib.file_digest(file, "sha256").hexdigest()) in _SAME_DICTIONARY


def _taught(port: Any) -> Callable[[str], Iterable[str]]:
    """Return the cutter of an rjieba that knows jieba's dictionary: its own may become another one with any release."""
    frequencies, total = _dictionary()
    taught = port.empty()
    for word, frequency in frequencies.items():
        taught.add_word(word, frequency, None)
    # Of the other words, which no run of Han characters holds, only their share in the total matters.
    taught.add_word("-", total - sum(frequencies.values()), None)
    return partial(taught.cut, hmm=False)


def _dictionary() -> tuple[dict[str, int], int]:
    """Return the words of jieba's dictionary that begin with a Han character, and the sum of all words' frequencies."""
    frequencies, total = {}, 0
    with _jieba_module().Tokenizer().get_dict_file() as file:
        for line in file:
            word, frequency, _ = line.decode().split(" ")
            total += int(frequency)
            if _HAS_HAN.match(word):
                frequencies[word] = int(frequency)
    return frequencies, total


@cache
def _jieba_module() -> Any:
    """Return jieba without what it has to say of setuptools, which no user can change: its last release asks `pkg_resources` for files."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"(?s).*pkg_resources")
        import jieba  # noqa: PLC0415 - slow to load, and pages without Chinese never need it

    return jieba


@cache
def _jieba() -> Any:
    """Return a segmenter of our own: words that the user adds to jieba's global one must not change stored fingerprints."""
    tokenizer = _jieba_module().Tokenizer()
    # Not initialize(): that reads a cache file with marshal from a predictable name in the shared temporary directory.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


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
    return _keywords(_tfidf().extract_tags, spec, _bounded(text))


def _textrank_features(spec: Features, text: str) -> dict[str, float]:
    return _keywords(_textrank().textrank, spec, _bounded(text[:_TEXTRANK_CHARACTERS]))


def _keywords(extract: Any, spec: Features, text: str) -> dict[str, float]:
    # Stop words go after the ranking would have counted them, so ask for more and cut here.
    ranked = extract(text, topK=spec.size + len(spec.stop_words), withWeight=True)
    kept = [(word, float(weight)) for word, weight in ranked if word not in spec.stop_words]
    return dict(kept[: spec.size])


def _bounded(text: str) -> str:
    return _LONG_RUN.sub(r"\1 ", normalize(text))


@cache
def _tfidf() -> Any:
    from jieba.analyse import TFIDF  # noqa: PLC0415 - loads a second dictionary

    extractor = TFIDF()
    extractor.tokenizer = _jieba()
    return extractor


@cache
def _textrank() -> Any:
    from jieba.analyse import TextRank  # noqa: PLC0415 - loads a third dictionary
    from jieba.posseg import POSTokenizer  # noqa: PLC0415

    extractor = TextRank()
    extractor.tokenizer = POSTokenizer(_jieba())
    return extractor


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
