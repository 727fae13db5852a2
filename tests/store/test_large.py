"""A store of pages that were made of few real ones. More: `python -m benchmarks.store.large --records 1e6`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from benchmarks.store import large
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_text
from simcrawl.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_pages_made_of_one_are_no_copies_and_each_step_says_what_they_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    real = fingerprint_text(" ".join(f"word{number}" for number in range(400)), url="manual/page.html")
    assert isinstance(real, PageFingerprint)
    with open_store(tmp_path / "store") as store:
        made = [large._page(real, number, real.fingerprint) for number in range(20)]
        assert not any(store.admit(page).is_duplicate for page in made)
        # What is shuffled are bytes of both halves alike: no register has become another value.
        assert {bytes(sorted(page.content_sketch)) for page in made} == {bytes(sorted(real.content_sketch))}
        assert made[7].url == "https://www.example.org/7/manual/page.html"
    for step in ("reopen", "verify", "compact", "rebuild"):
        large.STEPS[step](tmp_path / "store", Namespace())
    said = capsys.readouterr().out
    assert "0 problems" in said
    assert all(f"{name} " in said for name in ("compacted", "rebuilt", "pages", "numbers", "bodies"))
