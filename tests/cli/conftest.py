"""What the tests of several commands share."""

from __future__ import annotations

from typing import Any

import pytest

from simcrawl.cli import run


@pytest.fixture
def out(capsys: pytest.CaptureFixture[str]) -> Any:
    def out(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run(list(arguments)) == code
        return capsys.readouterr().out

    return out
