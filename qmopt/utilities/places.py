"""What belongs to what: places in a list, and names that need not differ, checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qmopt.arguments import Array, Numbered, frozen, numbers
from qmopt.errors import MarketError


def places(what: str, given: ArrayLike, of: str, count: int | None) -> NDArray[np.int64]:
    """Check whole numbers from 0 to below a count, if there is one.

    Raises
    ------
    MarketError
        That names the argument, the place and the number.

    Examples
    --------
    >>> places("team", [0, 4], "team", 3)
    Traceback (most recent call last):
    qmopt.errors.MarketError: team[1]: team 4 of 3, counted from 0
    """
    found = np.asarray(given)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise MarketError(f"{what}: one whole number for each expected")
    for k in np.flatnonzero(found < 0):
        raise MarketError(f"{what}[{k}]: {found[k]} is negative")
    for k in np.flatnonzero(found >= (np.inf if count is None else count)):
        raise MarketError(f"{what}[{k}]: {of} {found[k]} of {count}, counted from 0")
    return frozen(found.astype(np.int64))


def labels(what: str, given: Sequence[str] | None, count: int) -> Sequence[str]:
    """Check so many names; two teams may call a workload the same.

    Raises
    ------
    MarketError
        If there are more or fewer.

    Examples
    --------
    >>> labels("names", ["tests", "tests"], 2), labels("names", None, 3)[2]
    (('tests', 'tests'), '2')
    """
    told = Numbered(count) if given is None else tuple(given)
    if len(told) != count:
        raise MarketError(f"{what}: {count} names expected, got {len(told)}")
    return told


def counts(what: str, given: ArrayLike | None, names: Sequence[str]) -> Array:
    """Check one whole number from 1 up for each name; 1 where nothing is given.

    Examples
    --------
    >>> counts("gangs", [8, 1.5], ("train", "test"))
    Traceback (most recent call last):
    qmopt.errors.MarketError: gangs[1] (test): a whole number from 1 up expected, got 1.5
    """
    found = numbers(what, given, names, 1)
    for k in np.flatnonzero((found < 1) | (found != np.round(found))):
        raise MarketError(
            f"{what}[{k}] ({names[int(k)]}): a whole number from 1 up expected, got {found[k]:g}"
        )
    return found
