"""What differs between the texts of two pages: block by block, and within a block word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import zip_longest

# Spaces keep to the word before them, so that a change of two words in a row is one change.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|[^\w\s]\s*|\s+")
_MOST_BLOCKS = 2_000
_MOST_WORDS = 600
_MOST_ROWS = 40
_SHOWN = 240

Part = tuple[int, str]
"""1 where it differs, 0 where it does not; and the text."""
Row = tuple[str, list[Part], list[Part]]
"""How two blocks compare ("=" equal, "~" different, "-" and "+" only in one, "…" a number of equal ones), and both sides."""


def difference(a: str, b: str) -> list[Row]:
    """Return what differs between two texts of a block a line; at most 40 rows, of at most 2,000 blocks a text."""
    left, right = (text.split("\n")[:_MOST_BLOCKS] for text in (a, b))
    rows = list[Row]()
    for tag, start_a, end_a, start_b, end_b in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += _equal(left[start_a:end_a])
        else:
            pairs = zip_longest(left[start_a:end_a], right[start_b:end_b])
            rows += [_changed(old, new) for old, new in pairs]
        if len(rows) > _MOST_ROWS:
            return [*rows[:_MOST_ROWS], ("…", [(0, "more")], [])]
    return rows


def _equal(blocks: list[str]) -> list[Row]:
    # A block of context on each side of what differs.
    if len(blocks) <= 3:
        return [_same(block) for block in blocks]
    return [_same(blocks[0]), ("…", [(0, str(len(blocks) - 2))], []), _same(blocks[-1])]


def _same(block: str) -> Row:
    return "=", _shown([(0, block)]), []


def _changed(old: str | None, new: str | None) -> Row:
    if old is None or new is None:
        return ("+", [], _shown([(1, new or "")])) if old is None else ("-", _shown([(1, old)]), [])
    left, right = _WORDS.findall(old)[:_MOST_WORDS], _WORDS.findall(new)[:_MOST_WORDS]
    parts: tuple[list[Part], list[Part]] = [], []
    for tag, start_a, end_a, start_b, end_b in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for side, words in zip(parts, (left[start_a:end_a], right[start_b:end_b]), strict=True):
            if words:
                side.append((int(tag != "equal"), "".join(words)))
    return "~", _shown(parts[0]), _shown(parts[1])


def _shown(parts: list[Part]) -> list[Part]:
    """Return parts with the middle of long ones left out."""
    return [(differs, _cut(text)) for differs, text in parts]


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} … {text[-_SHOWN // 2 :]}"
