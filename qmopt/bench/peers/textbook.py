"""The Eisenberg-Gale program as anybody would type it, and what the peers have in common."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from qmopt.arguments import settings
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.outcome import Outcome, refuse_caps, restore, trading
from qmopt.solvers import Cvxpy, Solver
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import pairs
from qmopt.utilities.protocol import Array


def plain(market: Market, who: object) -> Market:
    """Return the trading part of a market that a textbook program covers.

    Raises
    ------
    MarketError
        If it has other utilities, caps, reserve prices or kept credits that are worth something.
    """
    name = type(who).__name__
    if not isinstance(market.utility, Linear):
        raise MarketError(f"{name} needs linear utilities, got {market.utility!r}")
    refuse_caps(market)
    if market.reserves.any():
        raise MarketError(f"{name} does not cover reserve prices")
    if market.keep_values.any():
        raise MarketError(f"{name} does not cover kept credits")
    return trading(market)


def scaled(market: Market, prices: Array) -> Array:
    """Return prices scaled so that the whole supply costs all credits, as it does at the answer."""
    prices = np.maximum(prices, 0)
    worth = prices @ market.supplies
    return prices * (market.budgets.sum() / worth) if worth > 0 else prices


@dataclass(frozen=True)
class PlainCvxpy:
    """The Eisenberg-Gale program as a textbook has it, on CVXPY, with the solver's own tolerances.

    A variable for every pair of positive value where values are sparse, a matrix of variables where
    they are dense. In its favour: negative duals are cut off, and prices scaled to all credits.

    Parameters
    ----------
    solver
        Default: Clarabel with the options that it comes with.
    time_limit
        Seconds.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> market = Market([6, 24], [1, 1], Linear([[2, 1], [1, 2]]))
    >>> PlainCvxpy().solve(market).prices.round(3).tolist()
    [10.0, 20.0]
    """

    solver: Solver = field(default_factory=lambda: Cvxpy("CLARABEL"))
    time_limit: float = np.inf

    __post_init__ = settings

    def solve(self, market: Market) -> Outcome:
        """Write the program, have it solved, read prices off the duals."""
        import cvxpy as cp

        inner = plain(market, self)
        values: Any = cast(Any, inner.utility).values
        sparse = inner.utility.sparse
        buyer, good, value = pairs(values) if sparse else (np.zeros(0, int),) * 3
        clock = [time.perf_counter()]
        if sparse:
            count = len(value)
            units = cp.Variable(count, nonneg=True)
            each = np.arange(count)
            utilities = sp.csr_array((value, (buyer, each)), shape=(inner.n, count)) @ units
            used = sp.csr_array((np.ones(count), (good, each)), shape=(inner.m, count)) @ units
        else:
            units = cp.Variable(inner.shape, nonneg=True)
            utilities = cp.sum(cp.multiply(values, units), axis=1)
            used = cp.sum(units, axis=0)
        supply = cast(Any, used <= inner.supplies)
        problem = cp.Problem(cp.Maximize(inner.budgets @ cp.log(utilities)), [supply])
        clock.append(time.perf_counter())
        status = self.solver.within(self.time_limit).solve(problem)
        clock.append(time.perf_counter())
        got = np.maximum(np.asarray(units.value, dtype=float), 0)
        if sparse:
            got = sp.csr_array((got, (buyer, good)), shape=inner.shape)
        prices = scaled(inner, np.asarray(supply.dual_value, dtype=float))
        prices, allocation = restore(market, prices, got)
        build, solve = np.diff(clock).tolist()
        stats = {
            "iterations": getattr(problem.solver_stats, "num_iters", None),
            "seconds": {"build": build, "solve": solve},
        }
        return Outcome(prices, allocation, status, stats)
