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

from qmopt.graph import MarketGraph, market_graph
from qmopt.market import Market
from qmopt.utilities import keep
from qmopt.utilities.pairs import entries
from qmopt.utilities.protocol import Array


@dataclass(frozen=True)
class TightGraph(MarketGraph):
    """The edges of a market that are worth using at given prices.

    Parameters
    ----------
    market, source, sink, value
        As in :class:`MarketGraph`, the tight edges only.
    prices
        Shape (m,): what it was drawn for; 0 for goods without supply.
    requirement
        Shape (n+m,), credits: what the flows at a node add up to: what a buyer spends or keeps
        for good, and the value of a good's supply.
    """

    prices: Array
    requirement: Array

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
        """Tell which edges lie where flow could change at the same prices, shape (E,).

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

    def part(self, edges: NDArray[np.bool_], flow: Array) -> TightGraph:
        """Keep some edges, and of the requirements what a flow (E,) on the others leaves."""
        rest = self.requirement - self.incidence @ np.where(edges, 0.0, flow)
        met = np.zeros(self.bank + 1, dtype=bool)
        met[self.source[edges]] = met[self.sink[edges]] = True
        return TightGraph(
            self.market,
            self.source[edges],
            self.sink[edges],
            self.value[edges],
            self.prices,
            np.where(met[: self.bank], np.maximum(rest, 0), 0.0),
        )

    @cached_property
    def least_requirement(self) -> Array:
        """Smaller requirement of the two ends of each edge, (E,), credits."""
        requirement = np.append(self.requirement, np.inf)
        return np.minimum(requirement[self.source], requirement[self.sink])


def tight_graph(
    market: Market, prices: Array, tolerance: float, *, idle_at_reserve: bool = False
) -> TightGraph:
    """Draw the tight graph of plain bids at given prices.

    Parameters
    ----------
    market
        With one good per activity (linear utilities).
    prices
        Shape (m,), credits per unit; those of goods without supply are not looked at.
    tolerance
        A pair is tight when its value per credit is within this share of the best.
    idle_at_reserve
        Whether units may stay idle only where a price is not above its reserve at all, as the
        certificate demands of an answer; otherwise the tolerance decides here, too.
    """
    prices = np.where(market.empty, 0.0, np.maximum(prices, 0))
    offered = np.where(market.empty, np.inf, prices)
    cost = keep.unit_cost(market.utility, offered, market.keep_values)
    costs = np.where(market.active, cost, 0.0)
    price = np.concatenate([costs, prices, [1.0]])
    # what is free is no good to spend on
    buyable = np.where(prices > 0, prices, np.inf)
    graph = market_graph(market, market.utility.worth_using(buyable, costs, tolerance))
    tight = price[graph.sink] <= graph.value * price[graph.source] * (1 + tolerance)
    tight &= (price[graph.sink] > 0) & (price[graph.source] > 0)
    if idle_at_reserve:
        tight &= (graph.source < graph.bank) | (price[graph.sink] <= graph.value)
    with np.errstate(invalid="ignore", over="ignore"):
        enough = np.where(market.utility_caps < np.inf, cost * market.utility_caps, np.inf)
    keepers = np.zeros(market.n, dtype=bool)
    keepers[graph.source[tight & (graph.sink == graph.bank)]] = True
    spent = np.where(keepers, market.budgets, np.minimum(market.budgets, enough))
    return TightGraph(
        market,
        graph.source[tight],
        graph.sink[tight],
        graph.value[tight],
        prices,
        np.concatenate([np.where(market.active, spent, 0.0), market.supplies * prices]),
    )
