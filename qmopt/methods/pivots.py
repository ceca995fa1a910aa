"""Pivoting on forests: a simplex method for linear markets.

The spends ``b[i, j] = p_j x[i, j]`` of an equilibrium minimise a convex function (Shmyrev's
program, here with kept credits and reserve prices)::

    sum_j r_j (log(r_j / s_j) - 1) - sum_ij b[i, j] log v[i, j] - sum_i kept_i log keep_value_i
                                   - sum_j idle_j log reserve_j
    sum_j b[i, j] + kept_i = B_i,   sum_i b[i, j] + idle_j = r_j,   everything nonnegative

It is nonlinear in the values r_j of the supplies only, so some optimum lives on a forest, and on a
forest everything has a closed form: prices follow the edges, ``p_j = v[i, j] beta_i``, each tree is
scaled so that its supplies are worth its budgets (or pinned at the bank, where a kept credit or an
idle unit fixes the scale), and leaf elimination gives the spends. So: take some forest; walk to its
optimum until a spend would turn negative, drop that edge; let the most wanted pair in, which joins
two trees or turns round a cycle; and so on until nobody wants anything else. Each step lowers the
function.

Source of the program: V. I. Shmyrev, J. Appl. Ind. Math. 3(4), 2009; the pivoting is ours.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from qmopt.forest import Forest, flows, grow, path
from qmopt.graph import MarketGraph
from qmopt.level import level
from qmopt.loops import run
from qmopt.methods.edges import wider
from qmopt.progress import tell
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Relative gain below which a pair counts as tied, not as wanted: rounding along long trees.
TIE = 1e-11
#: Spend, as a share of what it is the difference of, that counts as zero.
ZERO = 1e-13
#: Share of a budget, or of the value of a supply, that rounding may lose without being led back.
ROUNDING = 1e-13


# Mantissa and exponent apart: a long tree of lopsided values leaves the range of a double.
def _along(order, parent, edge, source, value, power, mantissa, exponent):  # noqa: ANN001, ANN202
    for node in order:
        up, k = parent[node], edge[node]
        if up >= 0:
            if source[k] == node:
                mantissa[node], more = math.frexp(mantissa[up] / value[k])
                exponent[node] = exponent[up] - power[k] + more
            else:
                mantissa[node], more = math.frexp(mantissa[up] * value[k])
                exponent[node] = exponent[up] + power[k] + more


@dataclass(frozen=True)
class Crossed:
    """Where the pivoting ended.

    Parameters
    ----------
    prices
        Shape (m,), credits per unit.
    allocation
        Shape (n, m), units, sparse: at most n+m-1 pairs.
    finished
        Whether nobody wanted anything else; otherwise pivots or time ran out.
    pivots
        Edges that went in or out.
    passes
        How often all values were looked at.
    """

    prices: Array
    allocation: sp.csr_array
    finished: bool
    pivots: int
    passes: int


def to_budgets(graph: MarketGraph, flow: Array) -> Array:
    """Scale the flows out of each buyer to its budget."""
    mine = graph.source < graph.market.n
    total = total_by(graph.source[mine], flow[mine], graph.market.n)
    scaled = flow.copy()
    scaled[mine] *= (graph.market.budgets / total)[graph.source[mine]]
    return scaled


class Pivots:
    """The state between pivots: the forest's edges and the nonnegative flow on them."""

    def __init__(
        self,
        edges: MarketGraph,
        forest: list[int],
        flow: Array,
        size: Array,
        *,
        listed: bool = True,
    ) -> None:
        self.listed = listed  # whether the edges are all there are
        self.edges, self.market, self.nodes = edges, edges.market, edges.nodes
        self.forest_edges = forest
        self.flow = np.zeros(len(flow))
        self.flow[forest] = flow[forest]
        self.flow = to_budgets(edges, self.flow)
        self.first = np.argsort(-size, kind="stable").tolist()  # the bank, then the largest
        self.pivots = self.passes = 0

    def run(self, most_pivots: int, deadline: float) -> Crossed:
        """Pivot until nobody wants anything else."""
        while True:
            forest, price = self._settle(most_pivots, deadline)
            if self.pivots >= most_pivots or time.monotonic() > deadline:
                return self._crossed(price, finished=False)
            self.passes += self.listed
            tell("crossover: {} pivots", self.pivots)
            if not self._enter(forest, price) and not self._widen(price):
                self._level(forest, price)
                return self._crossed(price, finished=True)

    def _widen(self, price: Array) -> bool:
        """Look for what is wanted among all that is not listed; list it."""
        if self.listed:
            return False
        self.passes += 1
        graph = wider(self.edges, price, TIE)
        if graph is None:
            return False
        self.flow = np.append(self.flow, np.zeros(len(graph.value) - len(self.flow)))
        self.edges = graph
        return True

    def _level(self, forest: Forest, price: Array) -> None:
        """Where the rounding of large flows was left to small ones, give it back to the large."""
        edges, n, kept = self.edges, self.market.n, self.forest_edges
        needed = np.concatenate(
            [self.market.budgets, self.market.supplies * price[n : edges.bank], [np.inf]]
        )
        ends, flow = np.concatenate([edges.source[kept], edges.sink[kept]]), self.flow[kept]
        missed = np.abs(total_by(ends, np.concatenate([flow, flow]), self.nodes) - needed)[:-1]
        if (missed > ROUNDING * needed[:-1]).any():
            self.flow[kept] = level(forest, needed, needed, flow)

    def _crossed(self, price: Array, *, finished: bool) -> Crossed:
        edges, n = self.edges, self.market.n
        prices = price[n : edges.bank]
        used = np.array(self.forest_edges, dtype=np.int64)
        used = used[edges.is_pair[used]]  # the others are kept credits and idle units
        good = edges.sink[used] - n
        units = self.flow[used] / prices[good]
        allocation = sp.csr_array((units, (edges.source[used], good)), shape=self.market.shape)
        return Crossed(prices, allocation, finished, self.pivots, self.passes)

    def _settle(self, most_pivots: int, deadline: float) -> tuple[Forest, Array]:
        """Walk to the optimum of the forest, dropping every edge whose flow would turn negative."""
        while True:
            forest = self._grow()
            price, requirement = self._prices(forest)
            on_forest, scale = flows(forest, requirement, len(self.forest_edges))
            target = np.where(np.abs(on_forest) <= ZERO * scale, 0.0, on_forest)
            blocked = self._walk(forest, target)
            if not blocked or self.pivots >= most_pivots or time.monotonic() > deadline:
                return forest, price
            self.pivots += len(blocked)
            out = set(blocked)
            self.forest_edges = [k for k in self.forest_edges if k not in out]

    def _grow(self) -> Forest:
        edges = self.edges
        source, sink = edges.source[self.forest_edges], edges.sink[self.forest_edges]
        return grow(self.nodes, np.stack([source, sink], axis=1), self.first)

    def _prices(self, forest: Forest) -> tuple[Array, list[float]]:
        """Cost per utility of buyers, prices of goods, 1 at the bank; and all requirements."""
        n, bank = self.market.n, self.edges.bank
        value, power = np.frexp(self.edges.value[self.forest_edges])
        *_, mantissa, exponent = run(
            _along, self.nodes, forest.order, forest.parent, forest.edge,
            self.edges.source[self.forest_edges], value, power.astype(np.int64),
            np.ones(self.nodes), np.zeros(self.nodes, dtype=np.int64),
        )  # fmt: skip
        tree, powers = np.array(forest.tree), np.array(exponent)
        largest = np.full(tree.max() + 1, -(2**40))
        np.maximum.at(largest, tree[n:bank], powers[n:bank])
        largest[tree[bank]] = 0  # the bank's price is 1; the others are scaled below
        price = np.ldexp(np.array(mantissa), powers - largest[tree])
        budgets = total_by(tree[:n], self.market.budgets, tree.max() + 1)
        supplies = self.market.supplies
        worth = total_by(tree[n:bank], supplies * price[n:bank], tree.max() + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(worth > 0, budgets / worth, 1.0)
        factor[tree[bank]] = 1.0
        price *= factor[tree]
        requirement = np.concatenate([self.market.budgets, supplies * price[n:bank], [0.0]])
        return price, requirement.tolist()

    def _walk(self, forest: Forest, target: Array) -> list[int]:
        """Move the flow of every tree towards its target; return the edges that stop it at 0."""
        kept = np.array(self.forest_edges, dtype=np.int64)
        tree = np.array(forest.tree)[self.edges.source[kept]]
        now = self.flow[kept]
        falls = target < 0
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(falls, now / (now - target), np.inf)
        length = np.ones(tree.max(initial=0) + 1)
        np.minimum.at(length, tree, reach)
        # all the way means just there: now + (target - now) would lose a small target to rounding
        part = length[tree]
        moved = np.where(part == 1, target, now + part * (target - now))
        self.flow[kept] = np.maximum(moved, 0)
        # of each tree that is stopped, the first edge to become empty
        falling = np.flatnonzero(falls)
        falling = falling[np.lexsort((reach[falling], tree[falling]))]
        stops = falling[np.unique(tree[falling], return_index=True)[1]]
        self.flow[kept[stops]] = 0.0
        return kept[stops].tolist()

    def _enter(self, forest: Forest, price: Array) -> bool:
        """Let the most wanted edges in: many that join trees, or one that closes a cycle."""
        edges = self.edges
        with np.errstate(divide="ignore"):
            gain = edges.value * price[edges.source] / price[edges.sink]
        wanted = np.flatnonzero(gain > 1 + TIE)
        if not wanted.size:
            return False
        # each buyer's best, and of the bank's offers each, the most wanted first
        offer = edges.value[wanted] * price[edges.source[wanted]]
        order = wanted[np.lexsort((-offer, -gain[wanted]))]
        end = np.where(edges.source == edges.bank, edges.sink, edges.source)[order]
        order = order[np.sort(np.unique(end, return_index=True)[1])]
        tree = forest.tree
        leader = list(range(max(tree) + 1))

        def find(t: int) -> int:
            while leader[t] != t:
                t = leader[t]
            return t

        joined = False
        for k in order.tolist():
            one, other = int(edges.source[k]), int(edges.sink[k])
            a, b = find(tree[one]), find(tree[other])
            if a != b:
                leader[a] = b
                self.forest_edges.append(k)
                self.pivots += 1
                joined = True
            elif not joined and tree[one] == tree[other]:
                self._turn(forest, k, one, other)
                self.pivots += 1
                break
        return True

    def _turn(self, forest: Forest, entering: int, one: int, other: int) -> None:
        """Push flow round the cycle that an edge closes until another edge of it is empty."""
        sides = path(forest, one, other)
        falling = [self.forest_edges[e] for side in sides for e in side[0::2]]
        rising = [self.forest_edges[e] for side in sides for e in side[1::2]]
        least = min(falling, key=lambda k: self.flow[k])
        amount = self.flow[least]
        self.flow[falling] -= amount
        self.flow[rising] += amount
        self.flow[entering] = amount
        self.flow[least] = 0.0
        self.forest_edges.remove(least)
        self.forest_edges.append(entering)
