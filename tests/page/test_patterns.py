"""Patterns that are compiled when they are used: what they find, and that nothing is compiled before."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import simcrawl
from simcrawl.page.patterns import late

# What is compiled while the modules are loaded that make pages; those of other packages do not count.
LOADED = """
import re._compiler, sys
import numpy, xxhash, lxml.html
compiled, compile_ = [], re._compiler.compile
def noted(pattern, flags=0):
    compiled.append(pattern)
    return compile_(pattern, flags)
re._compiler.compile = noted
import simcrawl.page.blocks, simcrawl.page.features, simcrawl.page.names
print(len([pattern for pattern in compiled if isinstance(pattern, str) and not pattern.isascii()]))
"""


def test_finds_what_a_compiled_pattern_finds() -> None:
    pattern, compiled = late(r"(\w)\d", re.IGNORECASE), re.compile(r"(\w)\d", re.IGNORECASE)
    assert pattern.findall("a1 b2") == compiled.findall("a1 b2")
    assert pattern.sub("-", "a1 b2") == "- -"
    assert (pattern.pattern, pattern.flags) == (compiled.pattern, compiled.flags)


def test_no_group_is_repeated_possessively() -> None:
    # What Python before 3.11.5 makes of it is another fingerprint, and a hostile page that is taken for a page.
    repeated = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
    sources = Path(simcrawl.__file__).parent.rglob("*.py")
    lines = [line for path in sources for line in path.read_text().splitlines() if "(?" in line and "`" not in line]
    assert len(lines) > 50
    assert [line for line in lines if repeated.search(line)] == []


def test_what_was_asked_for_once_is_an_attribute_from_then_on() -> None:
    pattern = late("a")
    assert pattern.search is pattern.search


def test_a_function_is_asked_for_the_pattern_when_that_is_first_used() -> None:
    asked = []

    def told() -> str:
        asked.append(1)
        return "a+"

    pattern = late(told)
    assert not asked
    assert pattern.findall("aab") == ["aa"]
    assert asked == [1]


def test_a_wrong_pattern_says_so_when_it_is_used() -> None:
    pattern = late("(")
    with pytest.raises(re.error, match="unterminated"):
        pattern.search("a")


def test_a_name_that_no_pattern_has_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = late("a").nothing  # type: ignore[attr-defined]


def test_no_pattern_of_whole_scripts_is_compiled_when_modules_are_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) == 0
