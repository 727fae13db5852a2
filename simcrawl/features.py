"""Text -> weighted features, and features -> hashes.

Pure but for the tokenizers. A feature is a string, its weight a positive number; what both are is a `Features` value, part of
a recipe. Units are chosen by script: words where a script puts spaces between them, jieba's words for Chinese, single
characters for Japanese, Korean, Thai and the other scripts that jieba does not know. Mixed text is cut line by line, so that
a change in one paragraph does not change how another one is cut.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain, filterfalse, takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import xxhash

from simcrawl.errors import SettingError
from simcrawl.simhash import check_width, pack, project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

Kind = Literal["words", "ngrams", "characters", "tfidf", "textrank", "tags"]
Weighting = Literal["unit", "tf", "log-tf"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
# Hangul, Thai, Lao, Tibetan, Myanmar and Khmer: written without spaces, or with spaces between phrases only, or (Korean) with
# particles glued to the words.
_OTHER_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\uac00-\ud7af"
_UNSPACED = _HAN + _KANA + _OTHER_UNSPACED
# jieba's time grows faster than a run's length (24 s for one of 100,000 characters), and real sentences end long before this.
_LONGEST_RUN = 256
_UNSPACED_LETTER = re.compile(f"[{_UNSPACED}]")
_UNIT = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+")
_HAN_RUN = re.compile(f"[{_HAN}]{{1,{_LONGEST_RUN}}}")
_WORD = re.compile(rf"[{_HAN}]{{1,{_LONGEST_RUN}}}|[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+")
_SIMPLE = 0x10000
_SIMPLE_RANGES = (range(0x01, 0x180), range(0x2010, 0x2060), range(0x3000, 0x3100), range(0x4E00, 0xA000), range(0xFF01, 0xFF61))
# Two planes hold all characters but rare Han; what each is to `_UNIT`.
_TABLED = 0x20000
_SEPARATOR, _PART, _ALONE, _HAN_ALONE = range(4)
_SPACE, _LINE_FEED = ord(" "), ord("\n")
_HAS_KANA = re.compile(f"[{_KANA}]")
_HAS_HAN = re.compile(f"[{_HAN}]")

_LONG_RUN = re.compile(rf"([{_HAN}]{{{_LONGEST_RUN}}})(?=[{_HAN}])")
# TextRank is quadratic in the words of a page.
_TEXTRANK_CHARACTERS = 20_000
_JOIN = "\x1f"
# Some megabytes.
_MOST_KEPT, _LONGEST_KEPT = 2**15, 64


@dataclass(frozen=True, slots=True)
class Features:
    """What the features of a text are and what each weighs.

    `kind`: "words"; "ngrams" of `size` successive words, in order; "characters", n-grams of `size` letters and digits;
    "tfidf" and "textrank", jieba's `size` best keywords with their own weights; "tags", the tag paths of the page's elements
    (then a page's layout is compared, not its text).
    `weighting` of a feature that occurs tf times: "unit" 1, "tf" tf, "log-tf" 1 + log tf. Keywords bring their own.
    `weights` multiplies the weight of the features it names; `stop_words` are left out before n-grams are made.
    """

    kind: Kind = "words"
    size: int = 1
    weighting: Weighting = "log-tf"
    stop_words: frozenset[str] = frozenset()
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot work, at the place where it was written."""
        if self.kind not in _EXTRACTORS:
            raise SettingError(f"feature kind {self.kind!r} does not exist: use one of {', '.join(_EXTRACTORS)}")
        if self.weighting not in _WEIGHTINGS:
            raise SettingError(f"weighting {self.weighting!r} does not exist: use one of {', '.join(_WEIGHTINGS)}")
        if self.size < 1:
            raise SettingError(f"feature size must be 1 or more, got {self.size}")
        for feature, weight in self.weights:
            if not 0 <= weight < math.inf:
                raise SettingError(f"the weight of feature {feature!r} must be a number of 0 or more, got {weight}")

    def weigh(self, text: str) -> dict[str, float]:
        """Return the features of a text and their weights; empty where the text has none."""
        return self._apply_user_weights(_EXTRACTORS[self.kind](self, text))

    def count(self, features: Iterable[str]) -> dict[str, float]:
        """Return distinct features with the weight that their number gives them."""
        weight = _WEIGHTINGS[self.weighting]
        counted = Counter(features)
        weights = {tf: weight(tf) for tf in set(counted.values())}
        return {feature: weights[tf] for feature, tf in counted.items()}

    def weigh_hashes(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """Return distinct hashes of features with the weights of `count`: one hash is one feature."""
        ascending = np.sort(hashes)
        starts = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]])[: len(ascending)])
        counts = np.diff(starts, append=len(ascending))
        tfs = np.flatnonzero(np.bincount(counts))
        weights = np.zeros(int(counts.max(initial=0)) + 1)
        weights[tfs] = [_WEIGHTINGS[self.weighting](tf) for tf in tfs.tolist()]
        return ascending[starts], weights.take(counts)

    @property
    def are_plain_words(self) -> bool:
        """Whether the features are a text's words, all of them, in whatever order."""
        return self.kind == "words" and not self.stop_words and not self.weights

    def without_stop_words(self, units: list[str]) -> list[str]:
        """Return the units that are not stop words."""
        return [unit for unit in units if unit not in self.stop_words] if self.stop_words else units

    def _apply_user_weights(self, weighed: dict[str, float]) -> dict[str, float]:
        if not self.weights:
            return weighed
        factors = dict(self.weights)
        return {feature: factors.get(feature, 1.0) * weight for feature, weight in weighed.items()}


def normalize(text: str) -> str:
    """Return the text as features see it: compatibility forms unified (NFKC), lower case."""
    if text.isascii():
        return text.lower()
    characters = _code_points(text)
    if characters.max() < _SIMPLE:
        normal = _simple_characters().take(characters)
        if normal.all():
            return normal.tobytes().decode("utf-32-le")
    return unicodedata.normalize("NFKC", text).lower()


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def _simple_characters() -> NDArray[np.uint32]:
    """Return what each character becomes by `normalize` whatever stands beside it, 0 where its neighbours may matter.

    NFKC is slow where the text has one full-width comma. Latin, kana, ideographs and their punctuation neither combine with what stands
    before them nor change with it.
    """
    normal = np.zeros(_SIMPLE, np.uint32)
    for code in chain(*_SIMPLE_RANGES):
        became = unicodedata.normalize("NFKC", chr(code)).lower()
        if len(became) == 1 and not unicodedata.combining(became):
            normal[code] = ord(became)
    return normal


def units(text: str) -> list[str]:
    """Return words, and single characters of unspaced scripts: the cheap cut that sketches and minimum lengths use."""
    return _cut(text).units.copy()


class _Cut(NamedTuple):
    text: str
    units: list[str]
    has_han: bool


# A page's text is cut for its length and again for its features.
@lru_cache(maxsize=1)
def _cut(raw: str) -> _Cut:
    """Return a text normalized, and what `_UNIT` finds in it."""
    text = normalize(raw)
    spaced, has_han = _spaced(text)
    return _Cut(text, spaced.split(), has_han)


class Lines(NamedTuple):
    """A text cut line by line: `text`, normalized, the units of each of its lines, and whether there may be Han among them."""

    text: str
    units: list[list[str]]
    has_han: bool

    def words(self, number: int) -> Iterable[str]:
        """Return what `words` finds in the first `number` lines, in any order: one call of the segmenter for all of them."""
        if not self.has_han:
            return chain.from_iterable(self.units[:number])
        lines, japanese = list(zip(self.text.split("\n"), self.units[:number], strict=False)), []
        if _HAS_KANA.search(self.text):
            japanese = [cut for line, cut in lines if _HAS_KANA.search(line)]
            lines = [(line, cut) for line, cut in lines if not _HAS_KANA.search(line)]
        found = _HAN_RUN.findall("\n".join(line for line, _ in lines))
        others = filterfalse(set("".join(found)).__contains__, chain.from_iterable(cut for _, cut in lines))
        return chain(filterfalse(" ".__eq__, _segmenter()(" ".join(found))), others, *japanese)


def cut_lines(text: str) -> Lines:
    """Return the units of each line of a text, in one cut: a cut costs as much as dozens of words."""
    text = normalize(text)
    spaced, has_han = _spaced(text)
    return Lines(text, [line.split() for line in spaced.split("\n")], has_han)


def _spaced(text: str) -> tuple[str, bool]:
    """Return a normalized text with nothing but spaces and line feeds between its units, and whether there may be Han among them.

    By tables of characters: five times as fast as the expression.
    """
    if text.isascii():
        return text.encode().translate(_ascii_spaced()).decode(), False
    characters = _code_points(text)
    if characters.max() >= _TABLED:
        return "\n".join(" ".join(_UNIT.findall(line)) for line in text.split("\n")), True
    kinds = _character_kinds().take(characters)
    spaced = np.where(kinds == _SEPARATOR, np.uint32(_SPACE), characters)
    alone = kinds > _PART
    if alone.any():
        spaced = _set_apart(spaced, alone)
    return spaced.tobytes().decode("utf-32-le", "surrogatepass"), bool((kinds == _HAN_ALONE).any())


def _set_apart(characters: NDArray[np.uint32], alone: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the characters with a space before and after each of those that are alone."""
    places = np.arange(len(characters)) + 2 * np.cumsum(alone) - alone
    spaced = np.full(int(places[-1]) + 2, _SPACE, np.uint32)
    spaced[places] = characters
    return spaced


@cache
def _ascii_spaced() -> bytes:
    """Return the table by which `_spaced` translates ASCII."""
    kinds = _character_kinds()[:128]
    return bytes(np.where(kinds == _SEPARATOR, _SPACE, np.arange(128)).astype(np.uint8)) + bytes(128)


@cache
def _character_kinds() -> NDArray[np.uint8]:
    """Return for each of the first `_TABLED` characters whether it separates units, is part of one (or parts lines), or is one."""
    kinds = np.full(_TABLED, _SEPARATOR, np.uint8)
    for kind, pattern in ((_PART, r"\w"), (_ALONE, f"[{_UNSPACED}]"), (_HAN_ALONE, f"[{_HAN}]")):
        kinds[[ord(character) for character in re.findall(pattern, "".join(map(chr, range(_TABLED))))]] = kind
    kinds[_LINE_FEED] = _PART
    return kinds


def shingle_units(cut: Sequence[str]) -> Sequence[str]:
    """Return what the shingles of a text in these units are made of: its letters, one by one, where a tenth of it is unspaced.

    Else a foreign word would count as much as one character of the script around it, and a page whose foreign words differ would
    look more alike than it is.
    """
    letters = "".join(cut)
    return letters if 10 * _count_unspaced(letters) >= len(letters) else cut


def _count_unspaced(text: str) -> int:
    if text.isascii():
        return 0
    characters = _code_points(text)
    if characters.max() >= _TABLED:
        return len(_UNSPACED_LETTER.findall(text))
    return int(np.count_nonzero(_character_kinds().take(characters) > _PART))


def words(text: str) -> list[str]:
    """Return words, with jieba's for Chinese and single characters for the other unspaced scripts."""
    cut = _cut(text)
    # Without Han words are units, whatever the lines.
    return [word for line in cut.text.splitlines() for word in _words_of_line(line)] if cut.has_han else cut.units.copy()


def _words_of_line(line: str) -> Iterable[str]:
    # A line with kana is Japanese: jieba, a Chinese dictionary, would cut its kanji at random.
    if not _HAS_HAN.search(line) or _HAS_KANA.search(line):
        return _UNIT.findall(line)
    return segment(line)


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
    return _taught(Jieba)


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
    import jieba  # noqa: PLC0415 - as in _jieba

    frequencies, total = {}, 0
    with jieba.Tokenizer().get_dict_file() as file:
        for line in file:
            word, frequency, _ = line.decode().split(" ")
            total += int(frequency)
            if _HAS_HAN.match(word):
                frequencies[word] = int(frequency)
    return frequencies, total


@cache
def _jieba() -> Any:
    """Return a segmenter of our own: words that the user adds to jieba's global one must not change stored fingerprints."""
    import jieba  # noqa: PLC0415 - its dictionary is slow to load and pages without Chinese never need it

    tokenizer = jieba.Tokenizer()
    # Not initialize(): that reads a cache file with marshal from a predictable name in the shared temporary directory.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


def _word_features(spec: Features, text: str) -> dict[str, float]:
    return spec.count(spec.without_stop_words(words(text)))


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
    "ngrams": _ngram_features,
    "characters": _character_features,
    "tfidf": _tfidf_features,
    "textrank": _textrank_features,
    "tags": _tag_features,
}
_WEIGHTINGS: dict[str, Callable[[int], float]] = {"unit": lambda _: 1.0, "tf": float, "log-tf": lambda tf: 1 + math.log(tf)}


def hash_rows(features: Iterable[str], *, seed: int, bits: int) -> NDArray[np.uint8]:
    """Return the features' seeded xxh3 hashes as rows of bits / 8 bytes, shape (features, bits / 8)."""
    width = check_width(bits) // 8
    if width <= 8:
        return _rows(hash_units(features, seed=seed), width)
    rows = b"".join(xxhash.xxh3_128_digest(_encode(feature), seed)[:width] for feature in features)
    return np.frombuffer(rows, np.uint8).reshape(-1, width)


def _rows(hashes: NDArray[np.uint64], width: int) -> NDArray[np.uint8]:
    return hashes.astype(">u8").view(np.uint8).reshape(-1, 8)[:, :width]


def hash_units(units: Iterable[str], *, seed: int) -> NDArray[np.uint64]:
    """Return the units' seeded xxh3 hashes as integers, one per unit, in order."""
    return np.frombuffer(b"".join(map(_hashes(seed).__getitem__, units)), ">u8").astype(np.uint64)


def hash_letters(letters: str, *, seed: int) -> NDArray[np.uint64]:
    """Return `hash_units` of a text's characters, in a third of its time."""
    characters = _code_points(letters)
    if characters.max(initial=0) >= _TABLED:
        return hash_units(letters, seed=seed)
    known = _letter_hashes(seed)
    hashes = known.take(characters)
    if not hashes.all():
        new = np.unique(characters[hashes == 0])
        known[new] = hash_units(map(chr, new.tolist()), seed=seed)
        hashes = known.take(characters)
    return hashes


@lru_cache(maxsize=2)
def _letter_hashes(seed: int) -> NDArray[np.uint64]:
    """Return the hashes of the first `_TABLED` characters, 0 for those not met yet. One megabyte for a seed."""
    del seed
    return np.zeros(_TABLED, np.uint64)


class _Hashes(dict[str, bytes]):
    """The hashes of recent units: those of a page's texts are nearly the same, those of a site's pages much alike."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed

    def __missing__(self, unit: str) -> bytes:
        hashed = xxhash.xxh3_64_digest(_encode(unit), self._seed)
        if len(unit) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[unit] = hashed
        return hashed


@lru_cache(maxsize=2)
def _hashes(seed: int) -> _Hashes:
    return _Hashes(seed)


def _encode(text: str) -> bytes:
    # Lone surrogates come from broken pages; they must hash like any other character.
    return text.encode("utf-8", "surrogatepass")


def fingerprint_features(weighed: Mapping[str, float], *, seed: int = 0, bits: int = 64) -> int:
    """Return the simhash of weighted features, their hashes seeded.

    Raises:
        ValueError: there is no feature with a positive weight. Never a constant: all empty pages would match each other.
    """
    if not weighed:
        raise ValueError("the text has no features: there is nothing to fingerprint")
    weights = np.fromiter(weighed.values(), np.float64, len(weighed))
    return pack(project(hash_rows(weighed, seed=seed, bits=bits), weights))


def fingerprint_hashes(hashes: NDArray[np.uint64], features: Features, *, bits: int = 64) -> int:
    """Return what `fingerprint_features` does, of the 64-bit hashes of all features of a text, in any order, for up to 64 bits.

    Raises:
        ValueError: there is no feature.
    """
    distinct, weights = features.weigh_hashes(hashes)
    return pack(project(_rows(distinct, check_width(bits) // 8), weights))
