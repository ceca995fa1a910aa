"""The duality gap of a point, where a convex program has the equilibrium for its answer."""

from __future__ import annotations

import numpy as np

from qmopt.point import Point
from qmopt.utilities import keep
from qmopt.utilities.protocol import Array


def duality_gap(point: Point) -> float | None:
    """Duality gap of the program over the value of the supply; None where there is no program.

    A sum of nonnegative terms: idle goods above their reserve, and what each buyer loses. The plain
    difference of primal and dual loses the gap to rounding when most credits are kept.
    """
    market = point.market
    if not (market.utility.homogeneous or market.utility.separate):
        return None
    point = point.scaled(1 / (1 + point.overallocated))
    lost = _lost(point) if market.utility.homogeneous else _lost_below_demands(point)
    left_over = (point.prices - market.reserves) @ point.left_over
    # what teams outside the program hold is lost to it
    held_outside = point.spend[~market.active].sum()
    gap = float(lost[market.active].sum() + held_outside + left_over) / point.worth
    return np.inf if np.isnan(gap) else gap


def _lost(point: Point) -> Array:
    """Return what each buyer loses, credits, (n,), where twice the units have twice the value.

    Bundles dearer than need be; kept credits worth less than spent ones; utility thrown away beyond
    the cap; and h, the distance between the budget and the cheapest cost of what it got.
    """
    market = point.market
    utility, kept, counted = point.enjoyed
    budgets, caps, keeps = market.budgets, market.utility_caps, market.keep_values
    cost = point.unit_cost

    dear = point.excess_cost + (market.utility.unit_cost(point.offered) - cost) * point.value
    # exactly 0 where a kept credit is as good as a spent one, however many are kept
    idle_credits = np.where(keeps > 0, counted * keeps * (1 / keeps - cost), 0.0)
    wasted = cost * np.maximum(point.value - caps, 0)
    # spend + counted - budget, without the cancellation
    unaccounted = np.maximum(point.spend - budgets, 0) - (kept - counted)
    short = (dear + idle_credits + wasted - unaccounted) / budgets
    # log(cost * utility / budget): from the difference near 1, from the ratio near 0
    log_used = np.where(short < 0.5, np.log1p(-short), np.log(cost * utility / budgets))
    within_budget = -budgets * (log_used + short)
    at_cap = budgets * np.log(caps / utility) - cost * (caps - utility)
    h = np.where(budgets / cost <= caps, within_budget, at_cap)
    return dear + idle_credits + wasted + h


def _lost_below_demands(point: Point) -> Array:
    """Return what each buyer loses, credits, (n,), where value ends with the one demand.

    Bundles dearer than need be; value beyond what counts; and the distance to the best value.
    """
    market, cost = point.market, point.market.utility.unit_cost(point.offered)
    wasted = cost * np.maximum(point.value - point.enough, 0)
    missed = keep.missed(
        np.minimum(point.value, point.enough), cost, market.budgets, market.keep_values,
        point.enough,
    )  # fmt: skip
    return point.excess_cost + wasted + missed
