"""Simhash: weighted features -> an f-bit fingerprint whose Hamming distance follows the angle between feature vectors.

Pure arithmetic: no text, no tokens, no I/O. Charikar, *Similarity estimation techniques from rounding algorithms*, STOC
2002; Manku, Jain, Das Sarma, *Detecting near-duplicates for web crawling*, WWW 2007, section 2.

Every feature has an f-bit hash and a weight. V, a vector of f numbers, starts at zero; each feature adds its weight where
its hash has a 1 and subtracts it where the hash has a 0. The fingerprint has a 1 where V is positive. **A tie (V = 0) gives
a 0**; that rule is stated here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simcrawl.bits import check_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

# Weights become integer multiples of this, so that sums are exact and do not depend on the order of the features, on
# the BLAS in use or on the machine: a fingerprint written today must be the same one computed elsewhere tomorrow.
_SCALE = 2.0**16
_EXACT = 2.0**53

_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64) * 2 - 1
# Where the histogram of each byte column begins.
_COLUMNS = np.arange(0, 256 * 16, 256, dtype=np.uint16)[None]


def simhash(hashes: Iterable[int], weights: ArrayLike, *, bits: int = 64) -> int:
    """Return the fingerprint of features given by their hashes (ints below 2**bits) and weights (>= 0, same length).

    Weights count to a precision of 2**-16. Exact and deterministic across machines.

    Raises:
        ValueError: no feature has a positive weight, lengths differ, a weight is negative, infinite or not a number, a hash
            does not fit, or `bits` is no fingerprint width.
    """
    return pack(projection(hashes, weights, bits=bits))


def projection(hashes: Iterable[int], weights: ArrayLike, *, bits: int = 64) -> NDArray[np.float64]:
    """Return V, the `bits` sums whose signs are the fingerprint, most significant bit first.

    Raises:
        ValueError: as `simhash`.
    """
    width = check_width(bits) // 8
    rows = b"".join(_row(value, width) for value in hashes)
    return project(np.frombuffer(rows, np.uint8).reshape(-1, width), weights)


def _row(value: int, width: int) -> bytes:
    try:
        return value.to_bytes(width, "big")
    except OverflowError:
        raise ValueError(f"hash {value} does not fit: hashes for {8 * width} bits are from 0 to 2**{8 * width} - 1") from None


def project(digests: NDArray[np.uint8], weights: ArrayLike) -> NDArray[np.float64]:
    """Return V of features given as rows of hash bytes, shape (features, bits / 8): the inner loop of `simhash`.

    Raises:
        ValueError: as `simhash`.
    """
    values = np.asarray(weights, np.float64)
    if values.shape != (len(digests),):
        raise ValueError(f"{len(digests)} hashes but weights of shape {values.shape}: give one weight a feature")
    if not np.all(values >= 0):
        raise ValueError(f"weights must be 0 or more, got {values[~(values >= 0)][0]}")
    rounded = round_weights(values)
    with np.errstate(over="ignore"):  # the sum then says so
        total = float(rounded.sum())
    if total == 0:
        raise ValueError("no feature has a positive weight: there is nothing to fingerprint")
    if total >= _EXACT / _SCALE:
        raise ValueError(f"weights sum to {total:g}: scale them down below {_EXACT / _SCALE:g}")
    return project_rounded(digests, rounded)


def round_weights(weights: ArrayLike) -> NDArray[np.float64]:
    """Return weights to the precision to which they count."""
    with np.errstate(over="ignore"):
        return np.rint(np.asarray(weights, np.float64) * _SCALE) / _SCALE


def project_rounded(digests: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `project` of weights that are known to be positive, rounded, and far below the largest sum.

    One histogram a byte column instead of one row of signs a feature: memory stays at 2 KB a column however many features
    there are.
    """
    width = digests.shape[1]
    places = _COLUMNS[:, :width].repeat(len(digests), 0)
    places += digests
    histograms = np.bincount(places.ravel(), weights.repeat(width), 256 * width)
    return (histograms.reshape(width, 256) @ _SIGNS).ravel()


def pack(sums: NDArray[np.float64]) -> int:
    """Return the fingerprint whose bits are the signs of V, most significant bit first."""
    return int.from_bytes(np.packbits(sums > 0).tobytes(), "big")
