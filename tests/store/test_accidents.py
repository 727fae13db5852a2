"""Commands beside writers and on a full disk, and copies of a store in use. More: `python -m benchmarks.store.accidents`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.store import accidents

if TYPE_CHECKING:
    from pathlib import Path


def test_every_command_may_run_while_others_write(tmp_path: Path):
    result = accidents.together(tmp_path, 1)
    assert result.problems == []
    assert result.tries > 20
    # To rebuild, to compact, and to forget all is refused.
    assert result.refused >= 3


def test_on_a_full_disk_commands_end_with_a_line_and_take_nothing_along(tmp_path: Path):
    result = accidents.full(tmp_path, 1, seed=2)
    assert result.problems == []
    assert result.tries == 10
    assert result.refused > 0


def test_a_store_that_is_copied_while_it_is_written_to_gives_no_wrong_line(tmp_path: Path):
    result = accidents.copied(tmp_path, 3, seed=5)
    assert result.problems == []
    assert result.tries == 3


@pytest.mark.parametrize(
    ("code", "said", "wrong"),
    [
        (0, "", False),
        (3, "Error: no\n", False),
        (3, "", True),
        (-7, "", True),
        (1, "Traceback (most recent\n", True),
        (2, "Error: a\nError: b", True),
    ],
)
def test_what_is_wrong_with_the_end_of_a_command(code: int, said: str, *, wrong: bool):
    assert bool(list(accidents.problem(["stats", "store"], code, said))) is wrong
