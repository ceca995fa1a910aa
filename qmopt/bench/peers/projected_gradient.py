"""Projected gradient with line search, a first-order method for any market that fits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from qmopt.arguments import settings
from qmopt.bench.peers.textbook import plain
from qmopt.market import Market
from qmopt.methods.outcome import Outcome, restore
from qmopt.utilities.protocol import Array


@dataclass(frozen=True)
class ProjectedGradient:
    """Projected gradient with line search on the Eisenberg-Gale program.

    Each good's units are projected onto the simplex of its supply. Constants as in the scripts of
    Y. Gao and C. Kroer (github.com/CoffeeAndConvexity/fom-for-me-codes, with their "First-order
    methods for large-scale market equilibrium computation", NeurIPS 2020): first step 100/L, times
    0.8 up to 20 times while it is refused and above 1/L, times 1.02 where it was taken at once; L
    is the largest curvature where every buyer has at least the utility of its share by credits.

    In its favour: rows of values are scaled to sum to 1, and of two sets of prices, the largest
    B_i v_ij / u_i and the multipliers of the projection, it returns the one of lower dual value.

    Parameters
    ----------
    tolerance
        Of the gap to the dual value at prices max_i B_i v_ij / u_i, over all credits.
    max_iterations
        Theirs.
    time_limit
        Seconds.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> market = Market([6, 24], [1, 1], Linear([[2, 1], [1, 2]]))
    >>> ProjectedGradient(1e-7).solve(market).prices.round(3).tolist()
    [10.0, 20.0]
    """

    tolerance: float = 1e-9
    max_iterations: int = 20_000
    time_limit: float = np.inf

    __post_init__ = settings

    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Step until the gap is small, or time or iterations run out."""
        begun = time.monotonic()
        inner = plain(market, self)
        given: Any = cast(Any, inner.utility).values
        # goods in shares of their supply, credits in shares of all, rows of values that sum to 1
        values = inner.supplies * (given.toarray() if inner.utility.sparse else given)
        values /= values.sum(axis=1, keepdims=True)
        budgets = inner.budgets / inner.budgets.sum()
        shares = np.outer(budgets, np.ones(inner.m))
        utility = budgets.copy()  # of the share by credits
        curvature = (1 / budgets).max() * (values**2).sum(axis=1).max()
        step = 100 / curvature
        iterations, multipliers = 0, values.max(axis=0)
        while True:
            slope = (budgets / utility)[:, None] * values
            gap = slope.max(axis=0).sum() - 1
            late = time.monotonic() - begun >= self.time_limit
            if gap <= self.tolerance or late or iterations >= self.max_iterations:
                break
            height = budgets @ np.log(utility)
            tried, level = on_simplices(shares + step * slope)
            taken = step
            while step > max(0.8**20 * taken, 1 / curvature):
                move = tried - shares
                promised = (slope * move).sum() - (move**2).sum() / (2 * step)
                if budgets @ np.log((values * tried).sum(axis=1)) >= height + promised:
                    break
                step *= 0.8
                tried, level = on_simplices(shares + step * slope)
            multipliers = level / step
            shares, utility = tried, (values * tried).sum(axis=1)
            step *= 1.02 if step == taken else 1
            iterations += 1
        candidates = [_normalised(p) for p in (slope.max(axis=0), multipliers)]
        best = min(candidates, key=lambda p: -(budgets @ np.log((p / values).min(axis=1))))
        prices = best * inner.budgets.sum() / inner.supplies
        units: Any = shares * inner.supplies
        reached = gap <= self.tolerance
        prices, allocation = restore(market, prices, units)
        stats = {"iterations": iterations, "seconds": {"solve": time.monotonic() - begun}}
        return Outcome(prices, allocation, "optimal" if reached else "stopped", stats)


def _normalised(prices: Array) -> Array:
    prices = np.maximum(prices, 0)
    return prices / prices.sum()


def on_simplices(points: Array) -> tuple[Array, Array]:
    """Project each column onto the nonnegative numbers that sum to 1 (by sorting).

    Returns
    -------
    projected, level
        What was taken off each column before cutting at 0, shape (m,), is its level.

    Examples
    --------
    Both entries are too large by a half, or the second is not needed at all:

    >>> projected, level = on_simplices(np.array([[1.0, 3.0], [1.0, 1.0]]))
    >>> projected.tolist(), level.tolist()
    ([[0.5, 1.0], [0.5, 0.0]], [0.5, 2.0])
    """
    n, m = points.shape
    falling = -np.sort(-points, axis=0)
    excess = (np.cumsum(falling, axis=0) - 1) / np.arange(1, n + 1)[:, None]
    last = (falling > excess).sum(axis=0) - 1
    level = excess[last, np.arange(m)]
    return np.maximum(points - level, 0), level
