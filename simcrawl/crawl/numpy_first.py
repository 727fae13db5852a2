"""Loads numpy, if nobody has, so that the threads that it starts fall asleep at once. To be imported before anything that needs numpy.

For products of matrices OpenBLAS starts a thread for each further core, and each waits awake, for 50 to 100 ms of a core: as much as a
crawl takes for twenty pages. No crawl multiplies matrices, but a user's pipeline may; so there are as many threads as before, and only
their waiting is shorter. How long it lasts is read from the environment when numpy is loaded: the binary logarithm of clock ticks
(THREAD_TIMEOUT in https://github.com/OpenMathLib/OpenBLAS/blob/develop/Makefile.rule).
"""

from __future__ import annotations

import os
import sys

_AWAKE = "OPENBLAS_THREAD_TIMEOUT"
_HALF_A_MILLISECOND = "20"


def load() -> None:
    """Import numpy with the environment that it is to read. The environment is left as it was: other programs inherit it."""
    if "numpy" in sys.modules or _AWAKE in os.environ:
        return
    os.environ[_AWAKE] = _HALF_A_MILLISECOND
    try:
        import numpy as np  # noqa: F401, PLC0415 - as it says
    finally:
        del os.environ[_AWAKE]


load()
