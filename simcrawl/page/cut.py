"""A text cut into units, words or terms: as strings, and as the hashes of these, with what its lines are.

Units are words where a script puts spaces between them, and single characters elsewhere. "Words" are units, but jieba's words in Chinese.
"Terms" are words, but pairs of neighbouring characters in Japanese, Korean, Thai and the other scripts that jieba does not know. A text is
cut line by line, so that a change in one paragraph does not change how another one is cut.

`units`, `words` and `terms` make the strings. A page needs their hashes alone: `Cut` makes these without the strings, in a few passes of
numpy over the whole text. Both give the same, which tests show.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simcrawl.page.alphabets import (
    BREAK,
    HAN,
    HAS_HAN,
    HAS_KANA,
    PART,
    SEPARATOR,
    SINGLE_HAN,
    SINGLE_KANA,
    kinds_of,
    marks_table,
    singles,
    spaced_run,
)
from simcrawl.page.characters import SIMPLE, code_points, normalize, simple_characters
from simcrawl.page.chinese import HAN_RUN, LONGEST_RUN, cut_runs, segment
from simcrawl.page.hashing import MARGIN, firsts, hash_runs, hash_short
from simcrawl.page.patterns import late
from simcrawl.page.sketch import sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

_UNIT = late(lambda: f"[{singles()}]|{spaced_run()}")
_ONE_UNSPACED = late(lambda: f"[{singles()}]")
_HANS = late(f"[{HAN}]+")
_TERM_RUN = late(lambda: f"[{singles()}]+|{spaced_run()}")
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


def units(text: str) -> list[str]:
    """Return words, and single characters of unspaced scripts."""
    return _text_of(_set_apart(_spaced(_framed(text))[1].astype(np.uint32, copy=False))).split()


def words(text: str) -> list[str]:
    """Return words, with jieba's for Chinese and single characters for the other unspaced scripts."""
    text = normalize(text)
    if not HAS_HAN.search(text):
        return units(text)
    return [word for line in text.splitlines() for word in _words_of_line(line)]


def _words_of_line(line: str) -> Iterable[str]:
    # A line with kana is Japanese: jieba, a Chinese dictionary, would cut its kanji at random.
    if not HAS_HAN.search(line) or HAS_KANA.search(line):
        return _UNIT.findall(line)
    return segment(line)


def terms(text: str) -> list[str]:
    """Return words as `words` does, but of the other unspaced scripts each pair of neighbours; single characters that have none."""
    return [term for line in normalize(text).splitlines() for term in _terms_of_line(line)]


def _terms_of_line(line: str) -> Iterator[str]:
    is_chinese = HAS_HAN.search(line) and not HAS_KANA.search(line)
    for run in _TERM_RUN.findall(line):
        if not _is_unspaced(run[0]):
            yield run
            continue
        if is_chinese:
            for han in _HANS.findall(run):
                yield from segment(han)
        for part in _HANS.split(run) if is_chinese else (run,):
            yield from map("".join, pairwise(part)) if len(part) > 1 else part


def is_sentence(line: str) -> bool:
    """Return whether a line ends as a sentence does: brackets and quotes may follow."""
    last = next((c for c in reversed(line) if c in _SENTENCE_ENDS or _UNIT.match(c)), "")
    return last in _SENTENCE_ENDS


def _is_unspaced(character: str) -> bool:
    return _ONE_UNSPACED.match(character) is not None


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
        letters = self._kinds > BREAK
        if 10 * np.count_nonzero(self._kinds > PART) < np.count_nonzero(letters):
            return self.hashes
        return _hash_letters(self._characters[letters], seed=self.seed)

    def units_of_a_word(self) -> float:
        """Return how many units say what a word does, 1 to 6: 1 where spaces part words, 1.5 in Chinese, 6 in Thai."""
        if not self._has_unspaced or not len(self.hashes):
            return 1.0
        letters = self._characters[self._kinds > PART]
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

    def features(self, kind: str) -> NDArray[np.uint64]:
        """Return the hashes of the text's words or terms, in any order. `kind`: "words" or "terms"."""
        return _joined([found.hashes for found in self._found(kind)])

    def standing(self, kind: str) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return what `features` does, and those of them on lines that do not end as a sentence does."""
        found, loose = self._found(kind), ~self.sentences()
        return _joined([one.hashes for one in found]), _joined([one.hashes[loose.take(one.lines())] for one in found])

    def _found(self, kind: str) -> list[_Found]:
        """Return the hashes of words or terms, apart by how they are made."""
        units = _Found(self.hashes, lambda: (self._data == _LINE_FEED).nonzero()[0].searchsorted(self._starts))
        if not self._has_unspaced:
            return [units]
        chinese = self._chinese()
        alone = self._kinds > PART if kind == "terms" else chinese
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
        words = list(cut_runs(text))

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
        return kinds_of(self._characters)

    def _chinese(self) -> NDArray[np.bool_]:
        """Return which characters are Han on lines without kana: jieba, a Chinese dictionary, would cut Japanese kanji at random."""
        chinese: NDArray[np.bool_] = self._kinds == SINGLE_HAN
        kana = self._kinds == SINGLE_KANA
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
        kinds = kinds_of(characters)
        _leave_out_stray(characters, kinds)
        spaced = np.where(kinds > BREAK, characters, np.uint32(_SPACE))
        spaced[kinds == BREAK] = _LINE_FEED
        highest = int(spaced.max())
    return characters, spaced, highest


def _leave_out_stray(characters: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> None:
    """Let marks that follow no letter separate: NFKC makes such of an accent that stands in the place of an apostrophe."""
    are_marks = marks_table().take(characters, mode="clip")
    places = are_marks.nonzero()[0]
    if not len(places):
        return
    # Marks may follow one another: what counts is what the first of them follows.
    first = np.maximum.accumulate(np.where(are_marks, 0, np.arange(len(characters))))[places]
    kinds[places[kinds[first] != PART]] = SEPARATOR


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
    alone = kinds_of(characters) > PART
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
    first: NDArray[np.bool_] = kinds > BREAK
    first[1:] &= (kinds[1:] > PART) | (kinds[:-1] != PART)
    return first


def _runs_of_han(characters: NDArray[np.uint32], han: NDArray[np.bool_]) -> str:
    """Return the runs of Han characters, with spaces in between, none of them too long for jieba."""
    kept = han.copy()
    kept[1:] |= han[:-1]
    text = _text_of(np.where(han, characters, np.uint32(_SPACE))[kept])
    edges = (han[1:] != han[:-1]).nonzero()[0].reshape(-1, 2)
    return " ".join(HAN_RUN.findall(text)) if (edges[:, 1] - edges[:, 0]).max() > LONGEST_RUN else text


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


@cache
def _simple_spaced() -> NDArray[np.uint32]:
    """Return what each character becomes in `_spaced` whatever stands beside it, or `_NOT_SIMPLE`; so it is last, for others."""
    normal = np.append(simple_characters(), np.uint32(0))
    kinds = kinds_of(normal)
    spaced = np.where(kinds > BREAK, normal, np.uint32(_SPACE))
    spaced[kinds == BREAK] = _LINE_FEED
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
