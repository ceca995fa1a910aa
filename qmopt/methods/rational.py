"""Crossover in rationals: from a point in floats to the exact equilibrium of a linear market.

The forest that a good point lies on almost always is that of the equilibrium. Its prices and spends
are computed in whole numbers (:mod:`qmopt.methods.rational_forest`), and it is done if no spend is
negative and nobody would rather buy something else. Where rounding hid a tie, the pivoting of
:mod:`qmopt.methods.pivots` goes on, now without rounding.

Each pivot lowers Shmyrev's function unless it moves no credits. To rule out that such pivots go
round for ever, budgets are perturbed once they have had their patience: with budgets in general
position every pivot moves something, so that the forests end; and for a perturbation small enough
the forest at which they end is right for the budgets themselves. It is tried on them, and if
perturbation or patience were the wrong size, both are made finer, and so on. Flows on the way would
double their digits with every edge that is dropped; they are cut to as many as the perturbation
has, which only moves where the next walk starts. What comes back is right for the budgets as they
are in any case.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from qmopt.deadline import in_time
from qmopt.forest import grow, without_cycles
from qmopt.graph import market_graph
from qmopt.market import Market
from qmopt.methods.crossover import NOISE, TINY, crossover, spends
from qmopt.methods.outcome import refuse_caps, trading
from qmopt.methods.rational_forest import Exact, Settled, exact_graph, perturbed, shortened
from qmopt.rationals import rationals
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Allocation, Array

#: Bits by which the first perturbation is below the budgets; each next one adds as many.
FINE = 64

Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class RationalPoint:
    """An equilibrium in rationals, as the pivoting claims it.

    Parameters
    ----------
    prices
        Length m, credits per unit; None for goods without supply.
    allocation
        Buyer, good and units of every pair that trades, in order; it has no cycle.
    pivots
        Edges that went in or out after the floats had done theirs.
    """

    prices: tuple[Fraction | None, ...]
    allocation: list[tuple[int, int, Fraction]]
    pivots: int


def rational_crossover(
    market: Market,
    prices: Array,
    allocation: Allocation,
    *,
    time_limit: float = np.inf,
    patience: int | None = None,
    floats_first: bool = True,
) -> RationalPoint | None:
    """Find the exact equilibrium of a linear market near a point in floats.

    Parameters
    ----------
    market
        With linear utilities without caps.
    prices, allocation
        Shapes (m,) and (n, m): the nearer to an equilibrium, the fewer pivots. Any point will do.
    time_limit
        Seconds.
    patience
        Pivots before budgets are perturbed for the first time. Default: one for each buyer and
        good, and 100 more.
    floats_first
        Whether to pivot in floats before, which is much quicker and mostly all there is to do.

    Returns
    -------
    RationalPoint or None
        None if time ran out.

    Raises
    ------
    MarketError
        If utilities are not linear, or capped.

    Examples
    --------
    Two teams and two goods; the second team is tied between them. Whatever the start, good 1 costs
    twice as much as good 0, together they cost 30 credits:

    >>> from qmopt import Linear, Market
    >>> market = Market([6, 24], [1, 1], Linear([[2, 1], [1, 2]]))
    >>> found = rational_crossover(market, np.ones(2), np.full((2, 2), 0.5))
    >>> [str(price) for price in found.prices]
    ['10', '20']
    >>> [(i, j, str(units)) for i, j, units in found.allocation]
    [(0, 0, '3/5'), (1, 0, '2/5'), (1, 1, '1')]
    """
    try:
        return _found(
            market, prices, allocation, time.monotonic() + time_limit, patience, floats_first
        )
    except TimeoutError:
        return None


def _found(
    market: Market,
    prices: Array,
    allocation: Allocation,
    deadline: float,
    patience: int | None,
    floats_first: bool,
) -> RationalPoint:
    """Do it, or raise TimeoutError."""
    refuse_caps(market)
    numbers = rationals(market, deadline)
    inner = trading(market)
    buyers, goods = np.flatnonzero(market.active), np.flatnonzero(market.sold)
    point = _part(allocation, buyers, goods)
    near = prices[goods]
    if floats_first:  # from where they are right, this returns at once
        crossed = crossover(inner, near, point, time_limit=deadline - time.monotonic())
        near, point = crossed.prices, crossed.allocation
    edges = market_graph(inner)
    flow = spends(edges, near, point)
    into = total_by(edges.sink, flow, edges.nodes)[inner.n : edges.bank]
    size = np.concatenate([inner.budgets, np.maximum(into, TINY), [np.inf]])
    weight = flow / np.minimum(size[edges.source], size[edges.sink])
    order = np.argsort(-weight, kind="stable")
    order = order[weight[order] > NOISE].tolist()
    kept, flow = without_cycles(
        edges.nodes, edges.source, edges.sink, np.log(edges.value), flow, order
    )
    exact = exact_graph(edges, numbers, buyers.tolist(), goods.tolist(), deadline)
    pivots = RationalPivots(exact, kept, flow, size, deadline)
    limit = inner.n + inner.m + 100 if patience is None else patience
    settled = pivots.run(limit)
    all_prices = [
        None if empty else reserve
        for empty, reserve in zip(market.empty.tolist(), numbers.reserves, strict=True)
    ]
    for k, j in enumerate(in_time(goods.tolist(), deadline)):
        all_prices[j] = settled.price(inner.n + k)
    units = settled.units()
    held = [(int(buyers[i]), int(goods[j]), amount) for i, j, amount in units]
    return RationalPoint(tuple(all_prices), held, pivots.count)


def _part(allocation: Allocation, buyers: Places, goods: Places) -> Allocation:
    """Return the rows and columns that trade."""
    if isinstance(allocation, np.ndarray):
        return allocation[np.ix_(buyers, goods)]
    return cast(Any, allocation)[buyers][:, goods]


class RationalPivots:
    """The state between pivots: the forest's edges and the flow on them, exactly."""

    def __init__(
        self, exact: Exact, kept: list[int], flow: Array, size: Array, deadline: float
    ) -> None:
        self.exact, self.kept, self.count, self.deadline = exact, kept, 0, deadline
        self.bits = FINE
        bank = exact.edges.bank
        self.first = [bank, *np.argsort(-size[:bank], kind="stable").tolist()]
        # a little less than the budgets, so that what is missing to them is never negative
        near = np.nan_to_num(flow[kept] * (1 - 1e-12)).tolist()
        self.flow = dict(zip(kept, map(Fraction, near), strict=True))
        # a buyer all of whose flow was lost to rounding starts on what it values most
        source, alone = exact.edges.source, set(range(exact.edges.market.n))
        alone -= set(source[kept].tolist())
        for k in np.argsort(-exact.edges.value, kind="stable").tolist() if alone else ():
            if source[k] in alone:
                alone.remove(int(source[k]))
                self.kept.append(k)
                self.flow[k] = Fraction(0)

    def run(self, patience: int) -> Settled:
        """Pivot until nobody wants anything else; TimeoutError if the deadline passes before."""
        given, rng = self.exact, np.random.default_rng(0)
        while True:
            settled = self._pivot(given, patience)
            if settled is not None:
                return settled
            self._pivot(perturbed(given, self.bits, rng), 4 * patience + 100)
            self.bits, patience = self.bits + FINE, 2 * patience + 100

    def _pivot(self, exact: Exact, patience: int) -> Settled | None:
        """Pivot at these budgets; None if patience ran out."""
        self.exact, most = exact, self.count + patience
        self._to_budgets()
        while True:
            settled = self._settle()
            wanted, gain = settled.wanted()
            if not wanted.size:
                return settled
            if self.count >= most:
                return None
            self._enter(settled, wanted, gain)

    def _to_budgets(self) -> None:
        """Let the largest flow out of each buyer make up for what is missing to its budget."""
        edges, exact = self.exact.edges, self.exact
        left = [Fraction(budget, exact.budget_unit) for budget in exact.budgets]
        largest: dict[int, int] = {}
        for k, amount in in_time(self.flow.items(), self.deadline):
            i = int(edges.source[k])
            if i != edges.bank:
                left[i] -= amount
                if i not in largest or self.flow[largest[i]] < amount:
                    largest[i] = k
        for i, k in in_time(largest.items(), self.deadline):
            self.flow[k] += left[i]

    def _settle(self) -> Settled:
        """Walk to the optimum of the forest, dropping every edge whose flow would turn negative."""
        edges = self.exact.edges
        while True:
            ends = [(int(edges.source[k]), int(edges.sink[k])) for k in self.kept]
            settled = Settled(
                self.exact, grow(edges.nodes, ends, self.first), self.kept, self.deadline
            )
            target = dict(zip(self.kept, settled.flows(), strict=True))
            tree = {k: settled.forest.tree[edges.source[k]] for k in self.kept}
            length: dict[int, Fraction] = {}
            blocked: dict[int, int] = {}
            for k, goal in target.items():
                if goal < 0:
                    reach = self.flow[k] / (self.flow[k] - goal)
                    if reach < length.get(tree[k], 2):
                        length[tree[k]], blocked[tree[k]] = reach, k
            for k, goal in in_time(target.items(), self.deadline):
                part = length.get(tree[k])
                moved = goal if part is None else self.flow[k] + part * (goal - self.flow[k])
                self.flow[k] = moved if part is None else shortened(moved, self.bits)
            if not blocked:
                return settled
            self.count += len(blocked)
            for k in blocked.values():
                self.kept.remove(k)
                del self.flow[k]
            self._to_budgets()

    def _enter(self, settled: Settled, wanted: Places, gain: Array) -> None:
        """Let wanted edges in: many that join trees, or one that closes a cycle."""
        edges, tree = self.exact.edges, settled.forest.tree
        order = wanted[np.argsort(-gain[wanted], kind="stable")]
        # each buyer's best, and of the bank's offers each
        end = np.where(edges.source == edges.bank, edges.sink, edges.source)[order]
        order = order[np.sort(np.unique(end, return_index=True)[1])]
        leader = list(range(max(tree) + 1))

        def find(t: int) -> int:
            while leader[t] != t:
                t = leader[t]
            return t

        joined = False
        for k in in_time(order.tolist(), self.deadline):
            one, other = int(edges.source[k]), int(edges.sink[k])
            a, b = find(tree[one]), find(tree[other])
            if a != b:
                leader[a] = b
                self.kept = [*self.kept, k]
                self.flow[k] = Fraction(0)
                self.count += 1
                joined = True
            elif not joined and tree[one] == tree[other]:
                self._turn(settled, k)
                break

    def _turn(self, settled: Settled, entering: int) -> None:
        """Push flow round the cycle that an edge closes until another edge of it is empty."""
        falling, rising = settled.cycle(entering)
        least = min(falling, key=lambda k: self.flow[k])
        amount = self.flow.pop(least)
        for k in falling:
            if k != least:
                self.flow[k] -= amount
        for k in rising:
            self.flow[k] += amount
        self.flow[entering] = amount
        self.kept = [entering if k == least else k for k in self.kept]
        self.count += 1
