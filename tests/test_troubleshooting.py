"""docs/troubleshooting.md has every message of a crawl's start and every warning, and none that the code does not have."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import simcrawl

ROOT = Path(simcrawl.__file__).parent
PAGE = ROOT.parent / "docs" / "troubleshooting.md"
# Where what stops a crawl at its start is raised. Other messages are those of commands, which say them to who has just typed something.
STARTS = (
    "config.py",
    "crawl",
    "store",
    "system.py",
    "detector.py",
    "page/recipes.py",
    "page/features.py",
    "index/environment.py",
    "index/log.py",
)
ERRORS = {"SettingError", "StoreError", "StoreFormatError", "StoreMismatchError", "StoreCorruptError", "StoreFullError", "WorkerError"}
WARNINGS = {"warning", "fault", "warn", "_unchecked"}
# In a file that a crawl does not use at its start, or inside of a longer message that has its line.
ELSEWHERE = {
    "store/apart.py",
    "store/maintenance.py",
    "store/records.py",
    "store/upgrading.py",
}
VALUE = "…"


@cache
def _listed() -> list[str]:
    cells = [line.split(" | ")[0] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [_plain(message) for cell in cells for message in re.findall(r"`([^`]+)`", cell)]


def _plain(message: str) -> str:
    return re.sub(rf"\s*{VALUE}[\s{VALUE}]*", f" {VALUE} ", message.replace("`", "")).strip()


def _texts(node: ast.AST, named: dict[str, list[str]]) -> list[str]:
    """Return a message with its values left out, those of a table of messages, or none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [re.sub(r"%\(?\w*\)?[sdrg]", VALUE, node.value)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)]
    if isinstance(node, ast.Dict):
        return [text for value in node.values for text in _texts(value, named)]
    if isinstance(node, ast.Subscript):
        return _texts(node.value, named)
    return named.get(node.id, []) if isinstance(node, ast.Name) else []


def _messages() -> set[tuple[str, str]]:
    """Return (file, message) of all that a crawl may say at its start, and of all warnings."""
    found = set()
    for file in sorted(ROOT.rglob("*.py")):
        name = str(file.relative_to(ROOT))
        if not name.startswith(STARTS) or name in ELSEWHERE:
            continue
        tree = ast.parse(file.read_text())
        named = {
            target.id: _texts(node.value, {})
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if called in ERRORS | WARNINGS:
                told = [text for argument in node.args for text in _texts(argument, named)]
                # What is shorter is the kind of a warning that is said once.
                found |= {(name, _plain(text)) for text in told if len(text.replace(VALUE, "").split()) > 2}
    return found


def _fits(message: str, listed: str) -> bool:
    pattern = ".*".join(re.escape(part.strip()) for part in listed.split(VALUE))
    return re.fullmatch(f" ?{pattern} ?", message) is not None


def test_every_message_is_on_the_page() -> None:
    messages = _messages()
    assert len(messages) > 60
    missing = [(name, text) for name, text in sorted(messages) if not any(_fits(text, listed) for listed in _listed())]
    assert missing == [], "give it a line in docs/troubleshooting.md: what it means, and what to do"


def test_every_message_on_the_page_is_in_the_code() -> None:
    code = _bare("".join(file.read_text() for file in sorted(ROOT.rglob("*.py"))))
    parts = {part.strip() for message in _listed() for part in _bare(message).split(VALUE) if len(part.strip()) > 12}
    assert [part for part in sorted(parts) if part not in code and part not in _plain(code)] == []


def _bare(code: str) -> str:
    """Return code, or a message, without quotes: strings that follow each other are one."""
    return re.sub(r"[\"']", "", re.sub(r"[\"']\s*f?[\"']", "", code))
