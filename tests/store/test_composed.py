"""Two checkouts that answer the same queries in turns. More: `python -m benchmarks.store.composed --beside CHECKOUT`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import simcrawl
from benchmarks.store import composed

_HERE = Path(simcrawl.__file__).parent


def _fingerprints() -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    stored = np.random.default_rng(1).integers(0, 2**64, 5000, dtype=np.uint64)
    return stored, stored[:250] ^ np.uint64(1)


def test_this_code_beside_itself_gives_the_same_answers():
    costs = composed.beside(_HERE.parent, *_fingerprints())
    assert min(*costs.query, *costs.admit) > 0


def test_another_checkout_answers_with_its_own_code_and_other_answers_are_told(tmp_path: Path):
    shutil.copytree(_HERE, tmp_path / "simcrawl", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "simcrawl" / "store" / "__init__.py").open("a") as module:
        module.write("\nStore.query_fingerprint = lambda store, fingerprint, distance=0: []\n")
    with pytest.raises(ValueError, match=r"query_fingerprint 0 100: 100 answers here, 0 there"):
        composed.beside(tmp_path, *_fingerprints())
