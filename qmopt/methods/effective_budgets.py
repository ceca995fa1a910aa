"""Workloads with demands, jointly: each team's credits serve all of its workloads."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from qmopt.arguments import settings
from qmopt.certificate import measure
from qmopt.market import Market
from qmopt.methods.activities.homotopy import Curve, Followed, effective
from qmopt.methods.activities.path import follow
from qmopt.methods.activities.scaled import Scaled
from qmopt.methods.activities.settle import settle
from qmopt.methods.outcome import (
    Outcome,
    refuse_limit_prices,
    restore_levels,
    trading,
    workloads_only,
)
from qmopt.methods.split import Split
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads

#: Curves to be followed, one after the other, until one ends at an equilibrium; from so many
#: options on the first, whose rents grow fast, has too many turns.
CURVES = tuple(Curve(*c) for c in ((0.3, 3.0), (0.3, 1.0), (1.0, 1.0), (0.1, 2.0), (0.03, 1.0)))
MANY = 20_000
#: Worth of a kept credit that teams start with at least, relative to their best activity; by what
#: it is multiplied where a team was better off with a smaller one; and how often.
FLOOR, LOWER, OFTEN = 1e-2, 0.3, 4
#: Barrier from which on a point on the curve is settled.
SETTLING = 1e-6
#: Merit of rough prices, and how much less than the least that a credit brings at them a floor is.
ROUGH, LEAST = 1e-2, 0.01


@dataclass(frozen=True)
class EffectiveBudgets:
    """Equilibria of workloads: budgets that make up for what demands leave unspent.

    A demand that is met has a rent: the credits that its team would give for a little more room.
    Under the plain program (:class:`NashWelfare`) a team does not spend what its rents come to. So
    each gets an effective budget, its credits and its rents, and at the fixed point it spends its
    credits in the best way (D. Jalota, M. Pavone, Q. Qi and Y. Ye, "Fisher markets with linear
    constraints: equilibrium properties and efficient distributed algorithms", Games and Economic
    Behavior 141, 2023). A curve leads there from the plain program: along it rents count for more
    and more, and it may turn back on its way (:mod:`qmopt.methods.activities.homotopy`). What it
    ends at is taken to the last bits.

    Such equilibria need not be the only ones, and to find one is hard in the worst case; if none of
    several curves ends at one, the best point met is returned, or that of a split (:class:`Split`)
    if it is better, for the certificate to judge.

    Parameters
    ----------
    tolerance
        Largest residual at which no other curve is tried.
    max_iterations
        Systems of equations for each curve, at most.
    time_limit
        Seconds for all; what is there by then is measured.

    Examples
    --------
    Team 0 wants a quarter of good 0 at most, worth 2, and good 1, worth 1; to team 1 both are worth
    1. At prices 1 and 1 each team spends its credit; the plain program would have team 0 keep 2/9.

    >>> from qmopt import Market, Workloads, clear
    >>> utility = Workloads(
    ...     team=[0, 0, 1], demand=[1 / 4, np.inf, np.inf], workload=[0, 1, 2, 2],
    ...     needs=[[1, 0], [0, 1], [1, 0], [0, 1]], values=[2, 1, 1, 1],
    ... )
    >>> found = clear(Market([1, 1], [1, 1], utility), EffectiveBudgets())
    >>> found.prices.round(9).tolist(), found.allocation.round(9).tolist()
    ([1.0, 1.0], [[0.25, 0.75], [0.75, 0.25]])
    """

    tolerance: float = 5e-9
    max_iterations: int = 3000
    time_limit: float = np.inf

    __post_init__ = settings

    # where an iterate leaves the range of floats it is not kept
    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Follow one curve after the other until the equilibrium is there.

        Raises
        ------
        MarketError
            If utilities are not workloads, or a limit price does not go with a joint budget.
        """
        begun = time.monotonic()
        refuse_limit_prices(market, workloads_only(market, self), self)
        inner = trading(market)
        deadline = begun + self.time_limit
        search = _Search(inner, deadline)
        many = len(inner.utility.activities().owner) >= MANY
        for curve in CURVES[many:]:
            search.along(curve, self.tolerance, self.max_iterations, deadline)
            if search.least <= self.tolerance or time.monotonic() > deadline:
                break
        if search.least > self.tolerance and time.monotonic() < deadline:
            split = Split(time_limit=deadline - time.monotonic()).solve(market)
            worst = measure(market, split.prices, None, 0.0, split.activities).worst
            if worst < search.least:
                told = "no curve ended nearer to an equilibrium than a split of credits"
                return replace(
                    split, status=search.status, notes=(told,), notion="equilibrium", divided=None
                )
        prices, allocation, levels = restore_levels(market, *search.best)
        stats: dict[str, Any] = {
            "iterations": search.steps, "curves": search.curves,
            "seconds": {"solve": time.monotonic() - begun},
        }  # fmt: skip
        return Outcome(prices, allocation, search.status, stats, activities=levels)


class _Search:
    """The best point so far, over curves and floors."""

    def __init__(self, inner: Market, deadline: float) -> None:
        self.inner = inner
        self.least, self.steps, self.curves, self.status = np.inf, 0, 0, "none"
        count = len(inner.utility.activities().owner)
        self.best = np.zeros(inner.m), np.zeros(count)
        self.floors = _floors(inner, deadline)

    def along(self, curve: Curve, tolerance: float, most: int, deadline: float) -> None:
        """Follow a curve, and again with lower floors for teams that were better off with them."""
        self.curves += 1
        inner, floors = self.inner, self.floors
        for _ in range(OFTEN):
            scaled = Scaled(inner, floors)
            followed = effective(scaled, curve, most=most, deadline=deadline)
            self.steps += followed.steps
            prices, levels = self._consider(scaled, followed, deadline)
            if self.least <= tolerance or not followed.finished or time.monotonic() > deadline:
                return
            held_back = self._regret(prices, levels) > tolerance
            held_back &= floors > inner.keep_values
            if not held_back.any():
                return
            lower = np.minimum(LOWER * floors, _least_slopes(inner, prices))
            floors = np.where(held_back, lower, floors)

    def _consider(self, scaled: Scaled, followed: Followed, deadline: float) -> tuple[Array, Array]:
        """Settle the end of a curve, and keep it if it is the best so far."""
        point = scaled.point(followed.here)
        settled = (
            settle(scaled, followed.here, 1.0, deadline) if followed.barrier < SETTLING else None
        )
        for prices, levels in (point, *([] if settled is None else [settled])):
            worst = measure(self.inner, prices, None, 0.0, levels).worst
            if worst < self.least or not np.isfinite(self.least):
                self.least, self.best = worst, (prices, levels)
                self.status = "optimal" if followed.finished else "stopped"
        return point if settled is None else settled

    def _regret(self, prices: Array, levels: Array) -> Array:
        """Share by which each team could do better."""
        market = self.inner
        ways = market.utility.activities()
        value = np.bincount(ways.owner, weights=ways.values * levels, minlength=market.n)
        spend = np.bincount(ways.owner, weights=(ways.needs @ prices) * levels, minlength=market.n)
        value += market.keep_values * np.maximum(market.budgets - spend, 0)
        best = market.utility.best_whole(prices, market.budgets, market.keep_values)
        return np.where(best > 0, 1 - value / best, 0.0)


def _floors(inner: Market, deadline: float) -> Array:
    """Worth that a kept credit has at least: less than a credit brings that is well spent, (n,).

    Told at the rough prices of the plain program, by what the last segment of each team's curve
    brings.
    """
    plain = Scaled(inner)
    here, _, _ = follow(plain, ROUGH, deadline=deadline)
    prices = (here.prices + plain.reserves) * plain.credit / inner.supplies
    return np.minimum(FLOOR * plain.unit / plain.credit, _least_slopes(inner, prices))


def _least_slopes(inner: Market, prices: Array) -> Array:
    """Less than the least that a credit brings each team on its curve, value per credit, (n,)."""
    curves = cast(Workloads, inner.utility).curves(prices)
    least = np.full(inner.n, np.inf)
    np.minimum.at(least, curves.team, curves.slope)
    return LEAST * least
