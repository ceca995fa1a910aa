"""Prices and spends that a forest implies, in whole numbers.

Along a forest every price is a product of ratios of values, so all prices of a tree have one common
denominator. With that, scaling the tree (its supplies are worth its budgets, or the bank fixes the
scale) and eliminating its leaves needs sums and products of whole numbers only; no fraction is
reduced until the answer is written down. Buyers with a single pair are most of them in a large
market, and need none of it: their credits are spent on that pair, and their own price is a ratio
that nothing else depends on, so that it is kept out of the common denominator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from qmopt.deadline import in_time
from qmopt.forest import Forest, path
from qmopt.graph import MarketGraph
from qmopt.rationals import Rationals

#: Nearer than this to 1, a ratio of floats decides nothing: eight roundings are 1e-15.
UNSURE = 2.0**-46


@dataclass(frozen=True)
class Exact:
    """A market graph in whole numbers: budgets and supplies over one denominator each.

    Parameters
    ----------
    edges
        The graph, in doubles.
    budgets, supplies
        Length n and m: whole numbers.
    budget_unit, supply_unit
        What they are to be divided by.
    values
        Length E: numerator and denominator of each edge.
    mantissa, exponent
        Shape (E,): the values as floats of any size.
    """

    edges: MarketGraph
    budgets: list[int]
    supplies: list[int]
    budget_unit: int
    supply_unit: int
    values: list[tuple[int, int]]
    mantissa: NDArray[np.float64]
    exponent: NDArray[np.int64]


def exact_graph(
    edges: MarketGraph,
    numbers: Rationals,
    buyers: list[int],
    goods: list[int],
    deadline: float = math.inf,
) -> Exact:
    """Bring the numbers of the trading buyers and goods to whole ones."""
    budgets, budget_unit = _whole([numbers.budgets[i] for i in buyers])
    supplies, supply_unit = _whole([numbers.supplies[j] for j in goods])
    # the pairs in row order, as the graph has them; those of the others are left out
    here = np.isin(numbers.owner, buyers) & np.isin(numbers.good, goods)
    values = [numbers.values[k] for k in in_time(np.flatnonzero(here).tolist(), deadline)]
    values += [numbers.keep_values[i].as_integer_ratio() for i in buyers if numbers.keep_values[i]]
    values += [numbers.reserves[j].as_integer_ratio() for j in goods if numbers.reserves[j]]
    mantissa, exponent = _floats(in_time(values, deadline), len(values))
    return Exact(edges, budgets, supplies, budget_unit, supply_unit, values, mantissa, exponent)


def _whole(numbers: list[Fraction]) -> tuple[list[int], int]:
    """Return whole numbers and what to divide them by."""
    unit = math.lcm(*(number.denominator for number in numbers))
    return [number.numerator * (unit // number.denominator) for number in numbers], unit


def _floats(
    ratios: Iterable[tuple[int, int]], count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mantissas and exponents of ratios of whole numbers, right to 2**-52."""
    mantissas, exponents = np.zeros(count), np.zeros(count, dtype=np.int64)
    for k, (above, below) in enumerate(ratios):
        shift = 64 - above.bit_length() + below.bit_length()
        whole = (above << shift) // below if shift >= 0 else above // (below << -shift)
        mantissas[k], power = math.frexp(whole)
        exponents[k] = power - shift
    return mantissas, exponents


class Settled:
    """Prices and flows of a forest of a market, exactly.

    A node with whole number ``level`` in a tree with factors ``over`` and ``under`` has the price
    (a buyer: cost per utility) ``level * over / under``, divided by its ``own`` if it is a buyer
    with a single pair (``own`` is 1 for all others); the flows are whole multiples of
    ``1 / unit`` of the tree, and negative where the forest cannot carry what it should.
    """

    def __init__(
        self, exact: Exact, forest: Forest, kept: list[int], deadline: float = math.inf
    ) -> None:
        self.exact, self.forest, self.kept, self.deadline = exact, forest, kept, deadline
        edges = exact.edges
        n, bank = edges.market.n, edges.bank
        trees = max(forest.tree) + 1
        inner = set(forest.parent)
        self.leaf = [node not in inner and forest.parent[node] >= 0 for node in range(n)]
        self.level, self.own = self._levels()
        budget, worth = [0] * trees, [0] * trees
        requirement = [*exact.budgets, *[0] * (edges.nodes - n)]
        for node in in_time(range(bank), deadline):
            t = forest.tree[node]
            if node < n:
                budget[t] += exact.budgets[node]
            else:
                requirement[node] = exact.supplies[node - n] * self.level[node]
                worth[t] += requirement[node]
        # times of a budget and of a good's worth that give them in one unit
        times, scale = worth, budget
        home = forest.tree[bank]
        times[home], scale[home] = exact.supply_unit * self.level[bank], exact.budget_unit
        self.unit = [time * exact.budget_unit for time in times]
        self.over = [size * exact.supply_unit for size in scale]
        self.under = self.unit
        for node in in_time(range(bank), deadline):
            t = forest.tree[node]
            requirement[node] *= times[t] if node < n else scale[t]
        self.flow = [0] * len(kept)
        for node in in_time(reversed(forest.order), deadline):
            up = forest.parent[node]
            if up >= 0:
                self.flow[forest.edge[node]] = requirement[node]
                requirement[up] -= requirement[node]

    def _levels(self) -> tuple[list[int], list[int]]:
        """Levels of the nodes, whole numbers with one denominator for each tree, and ``own``."""
        forest, values = self.forest, self.exact.values
        source = self.exact.edges.source
        above, below = [1] * len(forest.order), [1] * len(forest.order)
        common, own = [1] * (max(forest.tree) + 1), [1] * len(forest.order)
        for node in in_time(forest.order, self.deadline):
            up = forest.parent[node]
            if up < 0:
                continue
            k = self.kept[forest.edge[node]]
            times, by = values[k] if source[k] != node else values[k][::-1]
            if node < len(self.leaf) and self.leaf[node]:
                above[node], below[node], own[node] = above[up] * times, below[up], by
                continue
            one, other = math.gcd(above[up], by), math.gcd(times, below[up])
            above[node] = (above[up] // one) * (times // other)
            below[node] = (below[up] // other) * (by // one)
            common[forest.tree[node]] = math.lcm(common[forest.tree[node]], below[node])
        rows = in_time(zip(above, below, forest.tree, strict=True), self.deadline)
        return [a * (common[t] // b) for a, b, t in rows], own

    def flows(self) -> list[Fraction]:
        """Flow on each edge that was kept, credits."""
        tree, exact = self.forest.tree, self.exact
        n, flows = exact.edges.market.n, []
        pairs = zip(self.flow, self.kept, exact.edges.source[self.kept].tolist(), strict=True)
        for flow, _, i in in_time(pairs, self.deadline):
            if i < n and self.leaf[i]:
                flows.append(Fraction(exact.budgets[i], exact.budget_unit))
            else:
                flows.append(Fraction(flow, self.unit[tree[i]]))
        return flows

    def units(self) -> list[tuple[int, int, Fraction]]:
        """Buyer, good and units of every pair that credits flow along, in order."""
        edges, tree = self.exact.edges, self.forest.tree
        n, held = edges.market.n, []
        price: dict[int, Fraction] = {}
        for flow, k in in_time(zip(self.flow, self.kept, strict=True), self.deadline):
            i, node = int(edges.source[k]), int(edges.sink[k])
            if flow and i < n and node < edges.bank:
                if self.leaf[i]:
                    price[node] = price.get(node) or self.price(node)
                    budget = Fraction(self.exact.budgets[i], self.exact.budget_unit)
                    held.append((i, node - n, budget / price[node]))
                    continue
                # what the tree's credits are multiples of is in the price as well
                cost = self.level[node] * self.over[tree[node]]
                held.append((i, node - n, Fraction(flow, cost)))
        return sorted(held, key=lambda pair: pair[:2])

    def cycle(self, entering: int) -> tuple[list[int], list[int]]:
        """Edges that lose, and that gain, when an edge within a tree takes over."""
        edges = self.exact.edges
        sides = path(self.forest, int(edges.source[entering]), int(edges.sink[entering]))
        falling = [self.kept[e] for side in sides for e in side[0::2]]
        rising = [self.kept[e] for side in sides for e in side[1::2]]
        return falling, rising

    def price(self, node: int) -> Fraction:
        """Price of a node."""
        t = self.forest.tree[node]
        return Fraction(self.level[node] * self.over[t], self.under[t] * self.own[node])

    def wanted(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Edges that somebody would rather use, and by what factor (as floats).

        Floats tell where they can; where the factor is near 1, whole numbers do.
        """
        exact, tree = self.exact, self.forest.tree
        edges = exact.edges
        rows = in_time(zip(self.level, self.own, tree, strict=True), self.deadline)
        prices = ((level * self.over[t], self.under[t] * own) for level, own, t in rows)
        mantissa, exponent = _floats(prices, len(tree))
        source, sink = edges.source, edges.sink
        power = exact.exponent + exponent[source] - exponent[sink]
        with np.errstate(divide="ignore"):  # a good that nobody pays for is wanted infinitely
            ratio = exact.mantissa * mantissa[source] / mantissa[sink]
        gain = np.ldexp(ratio, np.clip(power, -1000, 1000).astype(np.int32))
        unsure = np.abs(gain - 1) <= UNSURE
        unsure[self.kept] = False  # tight by construction
        close = in_time(np.flatnonzero(unsure).tolist(), self.deadline)
        better = [k for k in close if self._better(k)]
        sure = gain > 1 + UNSURE
        sure[self.kept] = False
        return np.sort(np.concatenate([np.flatnonzero(sure), np.array(better, np.int64)])), gain

    def _better(self, k: int) -> bool:
        """Whether value times the price at the source is more than the price at the sink."""
        one, other = int(self.exact.edges.source[k]), int(self.exact.edges.sink[k])
        times, by = self.exact.values[k]
        a, b = self.forest.tree[one], self.forest.tree[other]
        left = times * self.level[one] * self.own[other]
        right = by * self.level[other] * self.own[one]
        if a != b:
            left, right = (
                left * self.over[a] * self.under[b],
                right * self.over[b] * self.under[a],
            )
        return left > right


def shortened(amount: Fraction, bits: int) -> Fraction:
    """Return the largest number up to an amount, at least 0, that has so many binary digits."""
    shift = amount.numerator.bit_length() - amount.denominator.bit_length() - bits
    if shift >= 0:
        return Fraction((amount.numerator // (amount.denominator << shift)) << shift)
    return Fraction((amount.numerator << -shift) // amount.denominator, 1 << -shift)


def perturbed(exact: Exact, bits: int, rng: np.random.Generator) -> Exact:
    """Add to each budget a random part of it, about ``2**-bits`` of the whole."""
    budgets = [
        (budget << (bits + 32)) + budget * int(rng.integers(1, 2**32)) for budget in exact.budgets
    ]
    return replace(exact, budgets=budgets, budget_unit=exact.budget_unit << (bits + 32))
