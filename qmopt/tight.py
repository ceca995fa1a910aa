"""The tight graph: what each buyer is willing to buy at given prices, and what could change.

A pair is *tight* when no other way to spend a credit gives the buyer more. In equilibrium credits
flow along tight pairs only, so the prices leave open just how.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from qmopt.market import Market
from qmopt.utilities import keep
from qmopt.utilities.pairs import entries
from qmopt.utilities.protocol import Array


@dataclass(frozen=True)
class TightGraph:
    """Tight pairs, keepers and idle goods as edges between buyers, goods and the bank.

    Nodes are buyers ``0..n-1``, goods ``n..n+m-1`` and the bank ``n+m``. A flow is in credits and
    runs from a buyer to a good (spend), from a buyer to the bank (kept credits that are worth as
    much as spent ones), or from the bank to a good (idle units at their reserve).

    Parameters
    ----------
    market, prices
        The market and prices, shape (m,), that it was drawn for; 0 for goods without supply.
    source, sink
        Shape (E,): the nodes that each edge runs between.
    requirement
        Shape (n+m,): what the flows at a node add up to: credits that the buyer spends or keeps
        for good, value of the good's supply.
    """

    market: Market
    prices: Array
    source: NDArray[np.int64]
    sink: NDArray[np.int64]
    requirement: Array

    @property
    def bank(self) -> int:
        """Node of the bank."""
        return self.market.n + self.market.m

    @cached_property
    def is_pair(self) -> NDArray[np.bool_]:
        """Which edges run from a buyer to a good, shape (E,)."""
        return (self.source < self.bank) & (self.sink < self.bank)

    @cached_property
    def incidence(self) -> sp.csr_array:
        """Shape (n+m, E): 1 where an edge counts towards the requirement of a node."""
        edges = np.arange(len(self.source))
        rows = np.concatenate([self.source, self.sink])
        columns = np.concatenate([edges, edges])
        counted = rows < self.bank
        ones = np.ones(int(counted.sum()))
        return sp.csr_array(
            (ones, (rows[counted], columns[counted])), shape=(self.bank, len(edges))
        )

    def allocation(self, flow: Array) -> sp.csr_array:
        """Units per buyer and good, (n, m), that a flow on the edges buys."""
        pair = self.is_pair & (flow > 0)
        good = self.sink[pair] - self.market.n
        units = flow[pair] / self.prices[good]
        return sp.csr_array((units, (self.source[pair], good)), shape=self.market.shape)

    def flow(self, allocation: sp.csr_array, left_over: Array, kept: Array) -> Array:
        """Flow on the edges, shape (E,) credits, that an allocation (n, m) amounts to."""
        n = self.market.n
        flow = np.zeros(len(self.source))
        pair, keeps = self.is_pair, self.sink == self.bank
        good = self.sink[pair] - n
        flow[pair] = entries(allocation, self.source[pair], good) * self.prices[good]
        flow[keeps] = kept[self.source[keeps]]
        idle = self.source == self.bank
        flow[idle] = (left_over * self.prices)[self.sink[idle] - n]
        return flow

    def loose(self, flow: Array, zero: float = 1e-9) -> NDArray[np.bool_]:
        """Tell which edges could carry another flow at the same prices, shape (E,).

        Flow can always be added along a tight edge and taken off one that carries some; what can
        change lies on a cycle of such moves. Within a strongly connected part there is one exactly
        when the part has more edges than a tree. A flow of at most ``zero`` times the smaller
        requirement of its ends counts as none.
        """
        nodes = self.bank + 1
        carries = flow > zero * self.least_requirement
        tails = np.concatenate([self.source, self.sink[carries]])
        heads = np.concatenate([self.sink, self.source[carries]])
        graph = sp.csr_array((np.ones(len(tails)), (tails, heads)), shape=(nodes, nodes))
        parts, part = connected_components(graph, directed=True, connection="strong")
        inside = part[self.source] == part[self.sink]
        sizes = np.bincount(part, minlength=parts)
        edges = np.bincount(part[self.source[inside]], minlength=parts)
        return inside & (edges >= sizes)[part[self.source]]

    @cached_property
    def least_requirement(self) -> Array:
        """Smaller requirement of the two ends of each edge, (E,), credits."""
        requirement = np.append(self.requirement, np.inf)
        return np.minimum(requirement[self.source], requirement[self.sink])


def tight_graph(market: Market, prices: Array, tolerance: float) -> TightGraph:
    """Draw the tight graph of plain bids at given prices.

    Parameters
    ----------
    market
        With one good per activity (linear utilities).
    prices
        Shape (m,), credits per unit; those of goods without supply are not looked at.
    tolerance
        A pair is tight when its value per credit is within this share of the best.
    """
    n, m = market.shape
    prices = np.where(market.empty, 0.0, np.maximum(prices, 0))
    offered = np.where(market.empty, np.inf, prices)
    activities = market.utility.activities()
    owner, good, values = (
        activities.owner,
        activities.needs.indices.astype(np.int64),
        activities.values,
    )
    cost = keep.unit_cost(market.utility, offered, market.keep_values)
    live = market.active[owner] & ~market.empty[good] & (prices[good] > 0)
    tight = live & (prices[good] <= cost[owner] * values * (1 + tolerance))
    satisfied = market.utility_caps < np.inf
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        enough = np.where(satisfied, cost * market.utility_caps, np.inf)
        keepers = market.active & (cost * market.keep_values >= 1 - tolerance)
    spenders = np.where(market.active, np.minimum(market.budgets, enough), 0.0)
    spenders = np.where(keepers, market.budgets, spenders)
    unsold = ~market.empty & (prices > 0) & (prices <= market.reserves * (1 + tolerance))
    return TightGraph(
        market,
        prices,
        np.concatenate([owner[tight], np.flatnonzero(keepers), np.full(unsold.sum(), n + m)]),
        np.concatenate(
            [n + good[tight], np.full(keepers.sum(), n + m), n + np.flatnonzero(unsold)]
        ),
        np.concatenate([spenders, market.supplies * prices]),
    )
