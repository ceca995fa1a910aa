"""A fingerprint of a market: the same for the same numbers and names, however they are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from qmopt.utilities.protocol import Array, Utility


def digest(names: tuple[object, ...], numbers: Sequence[Array], utility: Utility) -> str:
    """SHA-256, in hexadecimal, of names, arrays and all activities of a utility.

    Parameters
    ----------
    names
        What there is in text.
    numbers
        Arrays of any shape.
    utility
        Its activities are gone through some at a time: owners, then goods, and so on.
    """
    found = hashlib.sha256(repr(names).encode())
    for array in numbers:
        found.update(_doubles(array))
    for part in ("owner", "goods", "begin", "units", "values"):
        for array in _parts(utility, part):
            found.update(_doubles(array))
    return found.hexdigest()


def _parts(utility: Utility, part: str) -> Iterator[NDArray[np.number]]:
    """One array of the activities, in pieces; ``begin`` goes on from piece to piece."""
    if part == "begin":
        yield np.zeros(1)
    before = 0
    for ways in utility.activity_blocks():
        yield {
            "owner": ways.owner,
            "goods": ways.needs.indices,
            "begin": ways.needs.indptr[1:] + before,
            "units": ways.needs.data,
            "values": ways.values,
        }[part]
        before += int(ways.needs.indptr[-1])


def _doubles(array: NDArray[np.number]) -> bytes:
    return np.ascontiguousarray(array).astype("<f8").tobytes()
