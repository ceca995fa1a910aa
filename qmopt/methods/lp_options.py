"""What buyers could do with a credit, in logs: passes over all values, a chunk of rows at a time.

Goods count as whole supplies, so that the price of a good is what its supply is worth; credits are
in units of the largest budget. An option of a buyer is a good, or the bank (column m) where a kept
credit is worth something; its worth is the log of the value per supply, or per kept credit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Entries of the values that are worked on at a time.
CHUNK = 200_000


class Near(NamedTuple):
    """Options that could be a buyer's best somewhere in a box of prices, by buyer, shape (K,)."""

    buyer: NDArray[np.int64]
    good: NDArray[np.int64]
    worth: Array


@dataclass(frozen=True)
class Options:
    """All options of a market.

    Parameters
    ----------
    budgets
        Shape (n,), largest 1.
    floor
        Shape (m,): log of the reserve price of the whole supply, -inf without.
    keep
        Shape (n,): log of the worth of a kept credit, -inf where it is worth nothing.
    log_values
        Shape (n, m), the one copy of the values that is made: -inf for a value of 0 where dense.
    scale
        Credits that the unit stands for.
    """

    budgets: Array
    floor: Array
    keep: Array
    log_values: Any
    scale: float

    @classmethod
    @np.errstate(divide="ignore")  # the log of nothing is -inf
    def of(cls, market: Market) -> Options:
        """Take the logs of a market where everybody is active and everything sold."""
        assert isinstance(market.utility, Linear)
        scale = float(market.budgets.max())
        supplies, values = np.log(market.supplies), market.utility.values
        logs: Any
        if sp.issparse(values):
            logs = sp.csr_array(values, copy=True)
            logs.data = np.log(logs.data) + supplies[logs.indices]
        else:
            logs = np.log(values, dtype=float)
            logs += supplies
        return cls(
            budgets=market.budgets / scale,
            floor=np.log(market.reserves) + supplies - np.log(scale),
            keep=np.log(market.keep_values) + np.log(scale),
            log_values=logs,
            scale=scale,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""
        n, m = self.log_values.shape
        return int(n), int(m)

    @property
    def size(self) -> int:
        """Number of values, whether they are 0 or not."""
        n, m = self.shape
        return n * m

    def chunks(self) -> Iterator[tuple[slice, _Chunk]]:
        """Rows, and their log values with the operations that a pass is made of."""
        n, m = self.shape
        if sp.issparse(self.log_values):
            yield slice(0, n), _SparseChunk(self.log_values)
            return
        step = max(1, CHUNK // m)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            yield rows, _DenseChunk(self.log_values[rows])

    def best(self, log_prices: Array) -> Array:
        """Log of the most utility that a credit buys, or is kept for, (n,)."""
        best = [chunk.most(chunk.less(log_prices)) for _, chunk in self.chunks()]
        return np.maximum(np.concatenate(best), self.keep)

    def near(self, centre: Array, half: Array, most: int) -> Near | None:
        """Options that no other beats at all prices within ``exp(half)`` of the centre.

        The bank's price is 1 and does not move. None if more than ``most`` are found.
        """
        buyers, goods, worths, found = [], [], [], 0
        _, m = self.shape
        for rows, chunk in self.chunks():
            keep = self.keep[rows]
            low = np.maximum(chunk.most(chunk.less(centre + half)), keep)
            buyer, good, worth = chunk.above(chunk.less(centre - half), low)
            keepers = np.flatnonzero((keep >= low) & (keep > -np.inf))
            buyers += [buyer + rows.start, keepers + rows.start]
            goods += [good, np.full(len(keepers), m)]
            worths += [worth, keep[keepers]]
            found += len(buyer)
            if found - (rows.stop - rows.start) > most + rows.start:
                return None
        buyer, good = np.concatenate(buyers), np.concatenate(goods)
        return Near(buyer.astype(np.int64), good.astype(np.int64), np.concatenate(worths))

    def bid(self, sweeps: int, total: Array) -> Array:
        """Return spends on each good after so many sweeps of proportional bids, (m,).

        Each sweep bids in proportion to the utility that every good gave. From shares by supply,
        that comes to bids in proportion to ``values ** sweeps / (product of past prices)``.

        Parameters
        ----------
        sweeps
            1 for the first.
        total
            Shape (m,): sum of the log prices of the sweeps before.
        """
        _, m = self.shape
        spent = np.zeros(m)
        for rows, chunk in self.chunks():
            exponent, keep = chunk.less(total, times=sweeps), sweeps * self.keep[rows]
            largest = np.maximum(chunk.most(exponent), keep)
            spent += chunk.shared(exponent, largest, np.exp(keep - largest), self.budgets[rows])
        return spent


class _DenseChunk:
    """Numbers of shape (rows, m)."""

    def __init__(self, logs: Array) -> None:
        self.logs = logs

    def less(self, log_prices: Array, times: float = 1) -> Array:
        return (self.logs if times == 1 else times * self.logs) - log_prices

    def most(self, numbers: Array) -> Array:
        return numbers.max(axis=1)

    def above(
        self, numbers: Array, low: Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        buyer, good = np.nonzero(numbers >= low[:, None])
        alive = self.logs[buyer, good] > -np.inf
        buyer, good = buyer[alive], good[alive]
        return buyer, good, self.logs[buyer, good]

    def shared(self, exponent: Array, largest: Array, kept: Array, budgets: Array) -> Array:
        exponent -= largest[:, None]
        weight = np.exp(exponent, out=exponent)
        return (budgets / (weight.sum(axis=1) + kept)) @ weight


class _SparseChunk:
    """Numbers of shape (K,), one for each stored value; no row is empty."""

    def __init__(self, logs: Any) -> None:
        self.logs, self.good, self.start = logs.data, logs.indices, logs.indptr[:-1]
        self.buyer = np.repeat(np.arange(logs.shape[0]), np.diff(logs.indptr))
        self.m = logs.shape[1]

    def less(self, log_prices: Array, times: float = 1) -> Array:
        return times * self.logs - log_prices[self.good]

    def most(self, numbers: Array) -> Array:
        return np.maximum.reduceat(numbers, self.start)

    def above(
        self, numbers: Array, low: Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        kept = numbers >= low[self.buyer]
        return self.buyer[kept], self.good[kept].astype(np.int64), self.logs[kept]

    def shared(self, exponent: Array, largest: Array, kept: Array, budgets: Array) -> Array:
        weight = np.exp(exponent - largest[self.buyer])
        share = budgets / (np.add.reduceat(weight, self.start) + kept)
        return total_by(self.good, weight * share[self.buyer], self.m)


_Chunk = _DenseChunk | _SparseChunk
