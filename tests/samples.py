"""Texts and pages for tests: prose that looks like prose, the same in every run, and pages around it."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

from simcrawl.page import cut

if TYPE_CHECKING:
    from pathlib import Path

_SUBJECTS = [
    "the harbour",
    "an old captain",
    "every visitor",
    "the museum",
    "her letter",
    "our winter garden",
    "the railway",
    "a small bakery",
    "the river",
]
_VERBS = [
    "opened",
    "described",
    "followed",
    "painted",
    "crossed",
    "remembered",
    "repaired",
    "sold",
    "measured",
    "abandoned",
    "discovered",
    "photographed",
]
_OBJECTS = [
    "the northern bridge",
    "seven wooden boats",
    "a narrow street",
    "the market",
    "two copper bells",
    "their first map",
    "a quiet island",
]
_ENDS = [
    "before sunrise",
    "in spite of the rain",
    "for the third time",
    "without much hope",
    "near the lighthouse",
    "during the long strike",
]
_ZH_SUBJECTS = ["北京的博物馆", "老船长", "清华大学的学生", "这条铁路", "小面包店", "每一位游客", "图书馆", "冬天的花园", "计算机科学家"]
_ZH_VERBS = ["打开了", "描述过", "发现了", "修理好", "测量了", "经过", "记录下", "卖掉了", "拍摄了", "研究了"]
_ZH_OBJECTS = ["北方的桥梁", "七条木船", "狭窄的街道", "第一张地图", "安静的岛屿", "自然语言处理的方法", "人工智能的历史", "两座钟楼"]
_ZH_ENDS = ["在日出之前", "尽管下着大雨", "已经是第三次", "没有太多希望", "就在灯塔附近", "罢工期间"]

JAPANESE = "これは日本語の文章です。東京大学の図書館で新しい資料を調べました。天気がよければ、明日も港まで歩いて行くつもりです。"
KOREAN = "서울의 도서관에서 새로운 자료를 찾았습니다. 날씨가 좋으면 내일도 항구까지 걸어갈 생각입니다."
THAI = "ห้องสมุดแห่งใหม่เปิดให้บริการทุกวัน ผู้อ่านสามารถยืมหนังสือได้ครั้งละห้าเล่ม"
ARABIC = "افتتحت المكتبة الجديدة أبوابها للزوار صباح اليوم، ويمكن لكل قارئ أن يستعير خمسة كتب في المرة الواحدة."
FOREIGN = {"ja": JAPANESE, "ko": KOREAN, "th": THAI, "ar": ARABIC}


def english(sentences: int = 30, seed: int = 0) -> str:
    """Return sentences of some nine words, five to a line."""
    random = Random(seed)
    made = (" ".join(map(random.choice, (_SUBJECTS, _VERBS, _OBJECTS, _ENDS))).capitalize() + "." for _ in range(sentences))
    return _lines(list(made), " ")


def chinese(sentences: int = 30, seed: int = 0) -> str:
    """Return sentences of some seventeen characters, five to a line."""
    random = Random(seed)
    made = ("".join(map(random.choice, (_ZH_ENDS, _ZH_SUBJECTS, _ZH_VERBS, _ZH_OBJECTS))) + "。" for _ in range(sentences))
    return _lines(list(made), "")


def foreign(language: str, sentences: int = 30, seed: int = 0) -> str:
    """Return sentences of some sixty letters in a language of `FOREIGN`, five to a line; what they say is no matter."""
    random, text = Random(seed), FOREIGN[language]
    pieces = [text[start : start + 7] for start in range(len(text) - 6)]
    return _lines(["".join(random.choices(pieces, k=9)) for _ in range(sentences)], " ")


def _lines(sentences: list[str], space: str) -> str:
    return "\n".join(space.join(sentences[start : start + 5]) for start in range(0, len(sentences), 5))


def edited(text: str, edits: int, seed: int = 0) -> str:
    """Return a text in which some characters, chosen at random, gave way to an x."""
    random, letters = Random(seed), list(text)
    for at in random.sample(range(len(letters)), min(edits, len(letters))):
        letters[at] = "x"
    return "".join(letters)


def page(text: str, *, links: tuple[str, ...] = (), head: str = "", wrap: str = "article") -> str:
    """Return a whole page around the lines of a text."""
    paragraphs = "".join(f"<p>{line}</p>\n" for line in text.splitlines())
    anchors = "".join(f'<a href="{link}"></a>' for link in links)
    return f"<!DOCTYPE html><html><head>{head}<title>t</title></head><body><{wrap}>{paragraphs}</{wrap}>{anchors}</body></html>"


def site_page(article: str, *, seed: int = 0) -> str:
    """Return a page of a site: mark-up between a menu, a sidebar and a footer, whose words and number depend on the seed."""
    menu, sidebar = link_list(5 + seed % 3, seed=seed), f"<h3>Popular</h3>{link_list(6, seed=seed + 1)}"
    top = f'<div class="navbar"><a href="/">{english(1, seed)}</a>{menu}</div>'
    side = f'<aside><p>{english(2, seed + 2)}</p></aside><div id="sidebar">{sidebar}</div>'
    foot = f"<footer><p>{english(1, seed + 3)} © {2000 + seed}</p></footer>"
    middle = f'<div id="page"><div id="main">{article}</div>{side}</div>'
    return f"<!DOCTYPE html><html><head><title>t</title></head><body>{top}{middle}{foot}</body></html>"


def link_list(links: int, *, seed: int = 0) -> str:
    """Return a list of links, a sentence each."""
    made = (f'<li><a href="/{seed}/{number}">{english(1, 1000 * seed + number)}</a></li>' for number in range(links))
    return f"<ul>{''.join(made)}</ul>"


def table(rows: int, *, changed: str = "") -> str:
    """Return a table of two columns; `changed` stands in the middle of it."""
    cells = [(f"-o{number}", english(1, number)) for number in range(rows)]
    cells[rows // 2] = ("-x", changed or cells[rows // 2][1])
    return f"<table>{''.join(f'<tr><td>{name}</td><td>{text}</td></tr>' for name, text in cells)}</table>"


extracted: list[str] = []
"""URLs that `counting_extractor` was called for."""


def counting_extractor(body: bytes, encoding: str, url: str) -> str:
    """Return the whole page as its text, and remember the call."""
    extracted.append(url)
    return body.decode(encoding)


def failing_extractor(body: bytes, encoding: str, url: str) -> str:
    """Raise what no extractor should."""
    raise RecursionError(url)


def hungry_extractor(body: bytes, encoding: str, url: str) -> str:
    """Need more memory than there is."""
    raise MemoryError(url)


def python(code: str, *arguments: object, cwd: Path | None = None, **environment: str) -> str:
    """Return what a fresh interpreter prints."""
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-W", "ignore::UserWarning", "-c", code]
    command.extend(map(str, arguments))
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=os.environ | environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def shingle_units(units: list[str]) -> list[str]:
    """Return what shingles are made of: the units, or their letters where a tenth of these is unspaced."""
    letters = "".join(units)
    return list(letters) if 10 * len(cut._ONE_UNSPACED.findall(letters)) >= len(letters) else units
