"""One pass over all values: what each buyer likes best at given prices, and what comes close.

Compiled (numba), in several threads; the numbers of a buyer are its own, so that the number of
threads changes no bit. Money, where a buyer has a use for kept credits, counts as one more good:
the bank, at index m, with price 1.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qmopt.utilities.protocol import Array

Indices: TypeAlias = NDArray[np.int64]

#: Pairs of one buyer that a pass lists at most: among many ties, a few are choice enough.
MOST_PAIRS = 8
#: Rows that one thread goes over at a time.
AT_ONCE = 1 << 15


class Liked(NamedTuple):
    """What buyers like best, each of shape (k,): values per credit, and the goods that give them.

    ``top`` is the best good itself, ``first`` any of those that are tied with it to nine digits. A
    good m is the bank; -1 where there is no second.
    """

    best: Array
    top: Indices
    first: Indices
    second: Array
    other: Indices


class Values:
    """The values of a market, dense or sparse, and the passes over them.

    Parameters
    ----------
    values
        Shape (n, m): dense float64 or float32, or CSR.
    keep_values
        Shape (n,).
    """

    def __init__(self, values: Any, keep_values: Array) -> None:
        self.values: Any = values
        self.keep = keep_values
        self.goods = values.shape[1]

    def _pass(self, name: str, by_row: tuple[Any, ...], rest: tuple[Any, ...]) -> None:
        """Run a kernel on some rows at a time, in as many threads as there are processors."""
        from qmopt.methods import kernels  # compiled code is loaded when it is needed

        values = self.values
        if isinstance(values, np.ndarray):
            kernel, data = getattr(kernels, f"{name}_dense"), (values,)
        else:
            kernel = getattr(kernels, f"{name}_sparse")
            data = (values.data, values.indices, values.indptr)
        count = len(by_row[0])
        parts = [slice(begin, begin + AT_ONCE) for begin in range(0, count, AT_ONCE)]

        def part(rows: slice) -> None:
            kernel(*data, *rest, *(array[rows] for array in by_row))

        if len(parts) <= 1:
            part(slice(0, count))
        else:
            with ThreadPoolExecutor(_processors()) as pool:
                list(pool.map(part, parts))

    def liked(self, buyers: Indices, per_credit: Array, guess: Liked | None = None) -> Liked:
        """Find the best and the second best of each buyer.

        Parameters
        ----------
        buyers
            Shape (k,): whom to look at.
        per_credit
            Shape (m,): units that a credit buys, the inverse of the price; 0 for "not on sale".
        guess
            What the same buyers liked at other prices; where it still holds the pass is quicker.
        """
        k = len(buyers)
        best, second = np.empty(k), np.empty(k)
        top = np.empty(k, np.int64)
        if guess is None:
            first, other = np.full(k, -1), np.full(k, -1)
        else:
            first, other = guess.first.copy(), guess.other.copy()
        found = Liked(best, top, first, second, other)
        self._pass("liked", (buyers, *found), (per_credit, self.keep))
        return found

    def close(
        self, buyers: Indices, per_credit: Array, best: Array, floor: Array, share: Array
    ) -> tuple[Indices, Indices]:
        """List the goods that come close to a buyer's best, the nearest if there are many.

        Parameters
        ----------
        buyers, per_credit
            As above.
        best
            Shape (k,): best value per credit.
        floor
            Shape (k,): value per credit that is close with any good.
        share
            Shape (m+1,): share of the best that is close with this good, or the bank.

        Returns
        -------
        row, good
            Places among the buyers, ascending, and the goods that go with them.
        """
        goods = np.full((len(buyers), MOST_PAIRS), -1)
        by_row = (buyers, best, floor, goods)
        self._pass("close", by_row, (per_credit, self.keep, share))
        row, slot = np.nonzero(goods >= 0)
        return row, goods[row, slot]

    def at(self, buyers: Indices, goods: Indices) -> Array:
        """Values of pairs, (k,), as float64; at the bank, of a kept credit."""
        bank = goods == self.goods
        found = np.where(bank, self.keep[buyers], 0.0)
        if not bank.all():
            found[~bank] = np.asarray(self.values[buyers[~bank], goods[~bank]]).ravel()
        return found

    def column(self, buyers: Indices, good: int) -> Array:
        """Values of one good to some buyers, (k,), as float64."""
        if isinstance(self.values, np.ndarray):
            return self.values[buyers, good].astype(float)
        found = np.zeros(self.values.shape[0])
        entry = np.flatnonzero(self.values.indices == good)
        found[np.searchsorted(self.values.indptr, entry, side="right") - 1] = self.values.data[
            entry
        ]
        return found[buyers]


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
