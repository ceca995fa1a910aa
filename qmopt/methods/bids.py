"""Bids of proportional response: all that it keeps beside the values, worked on block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from qmopt.market import Market
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Allocation, Array

#: Pairs that are worked on at a time: what stays in a processor's cache.
BLOCK = 2**15
#: Bids, in average budgets, that are kept from falling further: numbers at the end of the range of
#: floats are slow, and a bid of 0 could never grow again.
LEAST = 1e-200
#: Passes between looks at that.
LOOK = 16


class Bids:
    """Bids and what they imply. Credits are average budgets; goods are their whole supply."""

    bids: Array
    sums: Array

    def __init__(self, market: Market) -> None:
        self.market = market
        self.credit = float(market.budgets.mean())
        self.budgets = market.budgets / self.credit
        self.floor = market.reserves * market.supplies / self.credit
        self.keep = market.keep_values * self.credit
        self.steps = 0
        # the first response: to a share by credits of half of everything, half the credits kept
        self.kept = np.ones(market.n) / 2
        self.sums = np.full(market.m, market.n / market.m)

    def step(self, *, move: bool = True) -> float:
        """Measure the bids as they are, then respond; return the larger of gap and regret."""
        revenue = np.maximum(self.sums, self.floor)
        weight = self.market.supplies / np.maximum(revenue, LEAST)
        utility, best = np.empty(self.market.n), np.empty(self.market.n)
        sums = np.zeros(self.market.m)
        lift = move and self.steps % LOOK == LOOK - 1
        self.steps += move
        brought = self.keep * self.kept
        for rows, block in self.blocks():
            best[rows], value = self.bring(block, weight, move)
            utility[rows] = value + brought[rows]
            if move:
                sums += self.rescale(block, self.budgets[rows] / utility[rows], lift)
        best = np.maximum(best, self.keep)
        if move:
            self.sums, self.kept = sums, brought * self.budgets / utility
        share = utility / (self.budgets * best)  # of the best utility that the budget could buy
        gap = -(self.budgets @ np.log(np.minimum(share, 1))) / revenue.sum()
        worst = max(float(1 - share.min()), float(gap))
        return worst if np.isfinite(worst) else np.inf

    def point(self) -> tuple[Array, Allocation]:
        """Prices per unit in credits, units; the bids themselves are turned into units."""
        revenue = np.maximum(self.sums, self.floor)
        for _, block in self.blocks():
            self.settle(block, self.market.supplies / revenue)  # nan where nothing is bid at all
        prices = revenue * self.credit / self.market.supplies
        # exactly at the reserve, not a rounding above it
        return np.where(self.sums <= self.floor, self.market.reserves, prices), self.matrix()

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Rows of each block, and whatever :meth:`bring` and others need of it."""
        raise NotImplementedError

    def bring(self, block: Any, weight: Array, move: bool) -> tuple[Array, Array]:
        """Best value per credit and value brought, by row; bids become value brought if moved."""
        raise NotImplementedError

    def rescale(self, block: Any, factor: Array, lift: bool) -> Array:
        """Scale each row, and return the sums by good."""
        raise NotImplementedError

    def settle(self, block: Any, per_credit: Array) -> None:
        """Turn bids into units."""
        raise NotImplementedError

    def matrix(self) -> Allocation:
        """Return what the bids have become, (n, m)."""
        raise NotImplementedError


class DenseBids(Bids):
    """Bids of all pairs, (n, m)."""

    def __init__(self, market: Market) -> None:
        super().__init__(market)
        self.values = np.asarray(cast(Any, market.utility).values)
        self.rows = max(1, min(market.n, BLOCK // market.m))
        self.room = np.empty((self.rows, market.m))
        shares = self.sums / 2 / market.n  # of each budget, on each good
        self.bids = np.empty(market.shape)
        self.bids[:] = shares
        self.bids *= self.budgets[:, None]
        self.kept *= self.budgets
        self.step()

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Rows of each block, and where they are in the arrays."""
        for start in range(0, self.market.n, self.rows):
            rows = slice(start, min(start + self.rows, self.market.n))
            yield rows, rows

    def bring(self, block: slice, weight: Array, move: bool) -> tuple[Array, Array]:
        """Best value per credit, and value brought, by row."""
        bids, room = self.bids[block], self.room[: block.stop - block.start]
        np.multiply(self.values[block], weight, out=room)
        best = room.max(axis=1)
        brought = np.multiply(bids, room, out=bids if move else room)
        return best, brought.sum(axis=1)

    def rescale(self, block: slice, factor: Array, lift: bool) -> Array:
        """Scale each row, and return the sums by good."""
        bids = self.bids[block]
        np.multiply(bids, factor[:, None], out=bids)
        if lift:
            np.maximum(bids, LEAST, out=bids)
        return bids.sum(axis=0)

    def settle(self, block: slice, per_credit: Array) -> None:
        """Turn bids into units."""
        bids = self.bids[block]
        bids[bids <= LEAST * 1e3] = 0
        np.multiply(bids, per_credit, out=bids)

    def matrix(self) -> Allocation:
        """Return what the bids have become."""
        return self.bids


class SparseBids(Bids):
    """Bids of the stored pairs, (K,)."""

    def __init__(self, market: Market) -> None:
        super().__init__(market)
        values = self.values = cast(Any, market.utility).values
        ends = values.indptr
        cuts = np.searchsorted(ends, np.arange(BLOCK, values.nnz, BLOCK))
        self.cuts = np.unique(np.concatenate([[0], cuts, [market.n]]))
        self.bids = np.repeat(self.budgets / np.diff(ends) / 2, np.diff(ends))
        ones = np.ones(market.n)
        self.sums = sum(
            (self.rescale(block, ones[rows], lift=False) for rows, block in self.blocks()),
            start=np.zeros(market.m),
        )
        self.kept *= self.budgets
        self.step()

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Rows of each block, and where they are in the arrays."""
        ends = self.values.indptr
        for start, stop in zip(self.cuts[:-1], self.cuts[1:], strict=True):
            here = slice(ends[start], ends[stop])
            yield slice(start, stop), (here, ends[start : stop + 1] - ends[start])

    def bring(self, block: Any, weight: Array, move: bool) -> tuple[Array, Array]:
        """Best value per credit, and value brought, by row."""
        here, ends = block
        ratio = self.values.data[here] * weight[self.values.indices[here]]
        best = np.maximum.reduceat(ratio, ends[:-1])
        ratio *= self.bids[here]
        if move:
            self.bids[here] = ratio
        return best, np.add.reduceat(ratio, ends[:-1])

    def rescale(self, block: Any, factor: Array, lift: bool) -> Array:
        """Scale each row, and return the sums by good."""
        here, ends = block
        self.bids[here] *= np.repeat(factor, np.diff(ends))
        if lift:
            np.maximum(self.bids[here], LEAST, out=self.bids[here])
        return total_by(self.values.indices[here], self.bids[here], self.market.m)

    def settle(self, block: Any, per_credit: Array) -> None:
        """Turn bids into units."""
        here, _ = block
        bids = self.bids[here]
        bids[bids <= LEAST * 1e3] = 0
        bids *= per_credit[self.values.indices[here]]

    def matrix(self) -> Allocation:
        """Return what the bids have become."""
        values = self.values
        return sp.csr_array((self.bids, values.indices, values.indptr), shape=values.shape)
