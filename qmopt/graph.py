"""A linear market as a graph: credits flow from buyers to goods, and to and from the bank.

Nodes are buyers ``0..n-1``, goods ``n..n+m-1`` and one bank ``n+m``. Credits flow from a buyer to a
good (spend), from a buyer to the bank (kept credits, where they are worth something), and from the
bank to a good (idle units, bought back at their reserve price). Every edge has a value, and prices
read alike along all of them: with the cost per unit of utility at a buyer, the price at a good and
1 at the bank, an edge is worth using when ``price[sink] <= value * price[source]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.utilities.protocol import Activities, Array


@dataclass(frozen=True)
class MarketGraph:
    """Every edge of a market, used or not.

    Parameters
    ----------
    market
        With one good per activity (linear utilities).
    source, sink
        Shape (E,): the nodes that credits flow from and to.
    value
        Shape (E,): value per unit of the good, worth of a kept credit, or reserve price.
    """

    market: Market
    source: NDArray[np.int64]
    sink: NDArray[np.int64]
    value: Array

    @property
    def bank(self) -> int:
        """Node of the bank."""
        return self.market.n + self.market.m

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.bank + 1

    @property
    def is_pair(self) -> NDArray[np.bool_]:
        """Which edges run from a buyer to a good, shape (E,)."""
        return (self.source < self.bank) & (self.sink < self.bank)


def distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different ones of whole numbers, in order.

    By sorting: of ten million, numpy's own way by hashing takes ten times as long.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def market_graph(market: Market, activities: Activities | None = None) -> MarketGraph:
    """Draw every edge of a market with linear utilities: pairs of positive value come first.

    Parameters
    ----------
    market
        With one good per activity.
    activities
        Those of the pairs to be drawn, if not all: there may be very many.
    """
    n, bank = market.n, market.n + market.m
    activities = market.utility.activities() if activities is None else activities
    good = activities.needs.indices.astype(np.int64)
    keepers, reserved = np.flatnonzero(market.keep_values > 0), np.flatnonzero(market.reserves > 0)
    return MarketGraph(
        market,
        np.concatenate([activities.owner, keepers, np.full(len(reserved), bank)]),
        np.concatenate([n + good, np.full(len(keepers), bank), n + reserved]),
        np.concatenate([activities.values, market.keep_values[keepers], market.reserves[reserved]]),
    )
