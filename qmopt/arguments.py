"""What callers give: numbers and names, checked, then frozen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qmopt.errors import MarketError
from qmopt.utilities.protocol import Array


def numbers(what: str, given: ArrayLike | None, names: tuple[str, ...], default: float) -> Array:
    """Check one finite, nonnegative number for each name; infinite only where the default is.

    Raises
    ------
    MarketError
        That names the argument, the place and the value.

    Examples
    --------
    >>> numbers("supplies", [8, -1], ("h100", "a100"), 0)
    Traceback (most recent call last):
    qmopt.errors.MarketError: supplies[1] (a100): -1.0 is not a finite, nonnegative number
    """
    if given is None:
        return frozen(np.full(len(names), float(default)))
    raw = np.asarray(by_name(what, given, names))
    if np.ma.is_masked(given):
        raise MarketError(f"{what}: numbers expected, got masked ones")
    if raw.dtype == bool or raw.dtype.kind not in "iuf":
        raise MarketError(f"{what}: numbers expected, got {raw.dtype}")
    array = np.array(raw, dtype=float) + 0.0  # there is no negative zero
    if array.shape != (len(names),):
        raise MarketError(f"{what}: shape ({len(names)},) expected, got {array.shape}")
    ceiling = np.inf if default == np.inf else np.finfo(float).max
    bad = np.flatnonzero(~((array >= 0) & (array <= ceiling)))
    if bad.size:
        k = int(bad[0])
        raise MarketError(
            f"{what}[{k}] ({names[k]}): {array[k]} is not a finite, nonnegative number"
        )
    return frozen(array)


def by_name(what: str, given: Any, names: Sequence[str]) -> Any:
    """Put labelled numbers (a pandas Series) into the order of the names; others are as they are.

    Labels 0, 1, 2, ... are taken for positions.

    Raises
    ------
    MarketError
        If labels and names are not the same.
    """
    labels = getattr(given, "index", None)
    if labels is None or callable(labels):
        return given
    told = [str(label) for label in labels]
    if told == [str(k) for k in range(len(told))] or told == list(names):
        return given
    strange = sorted(set(told) ^ set(names))
    if strange or len(set(told)) != len(told):
        raise MarketError(f"{what}: labels and names differ: {', '.join(map(repr, strange[:5]))}")
    place = {label: k for k, label in enumerate(told)}
    return np.asarray(given)[[place[name] for name in names]]


def names(what: str, given: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Check so many different nonempty names; "0", "1", ... if none are given.

    Raises
    ------
    MarketError
        That names the argument and the place.
    """
    if given is None:
        return tuple(str(k) for k in range(count))
    told = (given,) if isinstance(given, str) else tuple(given)
    if len(told) != count:
        raise MarketError(f"{what}: {count} names expected, got {len(told)}")
    seen: set[str] = set()
    for k, name in enumerate(told):
        if not isinstance(name, str) or not name:
            raise MarketError(f"{what}[{k}]: a name is nonempty text, got {name!r}")
        if name in seen:
            raise MarketError(f"{what}[{k}]: {name!r} stands twice")
        seen.add(name)
    return tuple(str(name) for name in told)  # numpy's text is a subclass


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody can write to any more."""
    array.setflags(write=False)
    return array
