"""Measure prices and an allocation against the definition of a competitive equilibrium.

Nothing is solved here and nothing is believed: the numbers may come from any method, or from a
spreadsheet. Every residual is relative and without unit; 0 is exact. A residual that cannot be
computed (a missing price, a number that is not one) is infinite, never left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from qmopt.arguments import number
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.notebook import certificate_line, certificate_page
from qmopt.point import Point, per_good, per_pair
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Allocation, Array

#: What each residual says, in a phrase.
MEANING = {
    "negative": "no negative units or prices",
    "reserve": "no price below its reserve",
    "overspend": "nobody pays more than the budget",
    "regret": "nobody could do better with that budget at these prices",
    "thrift": "a satisfied team paid no more than it needed to",
    "overallocated": "nothing is handed out that is not there",
    "idle": "what is left over is at its reserve price, or free",
    "gap": "primal and dual value of the convex program agree",
}


@dataclass(frozen=True)
class Certificate:
    """How far a point is from an equilibrium.

    Parameters
    ----------
    negative, reserve, overspend, regret, overallocated, idle
        Residuals, nonnegative, ``inf`` where the point makes no sense; :data:`MEANING` has a phrase
        for each, the theory page the formulas.
    gap
        Duality gap of the convex program over the value of the supply, or None where the family
        has no program. Below ``-tolerance`` it fails too: then the point is not what it says.
    tolerance
        The tolerance at which the point was measured.
    satiation, excess
        Shape (k,), one entry for each capped team whose kept credits are worth nothing: how far
        its utility is below the cap (relative), and how much more than needed it paid (relative).
    notes
        What a reader should know about the measurement.

    Examples
    --------
    The first team wants good 0, the second good 1, so each pays its whole budget for it:

    >>> from qmopt import Linear, Market, certify
    >>> market = Market(budgets=[60, 40], supplies=[2, 4], utility=Linear([[1, 0], [0, 1]]))
    >>> found = certify(market, prices=[30, 10], allocation=[[2, 0], [0, 4]])
    >>> found.worst, found.certified()
    (0.0, True)

    Had the second team received half of what its credits buy, it would regret a half:

    >>> certify(market, prices=[30, 10], allocation=[[2, 0], [0, 2]]).regret
    0.5
    """

    negative: float
    reserve: float
    overspend: float
    regret: float
    overallocated: float
    idle: float
    gap: float | None
    tolerance: float
    satiation: Array = field(repr=False, compare=False)
    excess: Array = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return certificate_line(self)

    def _repr_html_(self) -> str:
        return certificate_page(self, MEANING)

    @property
    def thrift(self) -> float:
        """Most that a satisfied team paid beyond what it needed to, relative."""
        return self._thrift(self.tolerance)

    @property
    def residuals(self) -> dict[str, float | None]:
        """Every residual by its name, the gap as it is (None where not defined)."""
        return {name: getattr(self, name) for name in MEANING}

    @property
    def worst(self) -> float:
        """The largest residual, the gap by its size."""
        return self._worst(self.tolerance)

    def certified(self, tolerance: float | None = None) -> bool:
        """Whether every residual is at most the tolerance (default: the one measured at)."""
        tolerance = self.tolerance if tolerance is None else number("tolerance", tolerance)
        return self._worst(tolerance) <= tolerance

    def _thrift(self, tolerance: float) -> float:
        return most(self.excess[self.satiation <= tolerance])

    def _worst(self, tolerance: float) -> float:
        fixed = [
            self.negative, self.reserve, self.overspend, self.regret, self.overallocated, self.idle,
            abs(self.gap) if self.gap is not None else 0.0,
        ]  # fmt: skip
        return most(np.array([*fixed, self._thrift(tolerance)]))


def measure(
    market: Market, prices: ArrayLike, allocation: ArrayLike | Allocation, tolerance: float = 1e-8
) -> Certificate:
    """Measure prices and an allocation; :func:`qmopt.certify` does the same and takes prices alone.

    Parameters
    ----------
    market
        n buyers, m goods.
    prices
        Shape (m,), credits per unit; nan is allowed for a good without supply, and only there.
    allocation
        Shape (n, m), units, dense or sparse; guaranteed units not included.
    tolerance
        At which :meth:`Certificate.certified` decides, and at which a team counts as satisfied.

    Raises
    ------
    MarketError
        If prices or allocation do not have the shape of the market, or the tolerance is no number
        from 0 to 1.
    """
    if not 0 <= tolerance < 1:
        raise MarketError(f"tolerance: a number from 0 to 1 expected, got {tolerance}")
    with np.errstate(all="ignore"):
        point = Point(market, per_good(market, prices), per_pair(market, allocation))
        satiation, excess = _satiated(point)
        return Certificate(
            negative=_negative(point),
            reserve=_reserve(point),
            overspend=_overspend(point),
            regret=_regret(point),
            overallocated=_overallocated(point),
            idle=_idle(point),
            gap=_gap(point),
            tolerance=tolerance,
            satiation=satiation,
            excess=excess,
            notes=_notes(point),
        )


def most(values: Array) -> float:
    """Return the largest number, at least 0; what is not a number counts as infinite."""
    if np.isnan(values).any():
        return np.inf
    return float(max(values.max(initial=0.0), 0.0))


def ratio(top: Array, bottom: Array) -> Array:
    """Return the quotient of nonnegative arrays with 0/0 = 0 and positive/0 = inf."""
    return np.where(top == 0, 0.0, top / bottom)


def _negative(point: Point) -> float:
    market, prices = point.market, point.given_prices
    if point.nan_units or not np.isfinite(prices[~market.empty]).all():
        return np.inf
    rows, columns, units = point.all_rows, point.all_columns, point.all_units
    taken_back = np.maximum(-units, 0)
    asked = np.where(market.empty, 0.0, prices)
    paid = asked[columns] * units
    paid_out = np.maximum(-paid, 0)
    below_zero = np.maximum(-asked, 0) * market.supplies
    return max(
        most(ratio(taken_back, market.supplies[columns])),
        most(ratio(paid_out, market.budgets[rows])),
        most(ratio(below_zero, market.supplies @ point.prices)),
    )


def _reserve(point: Point) -> float:
    reserved = (point.market.reserves > 0) & ~point.market.empty
    return most(1 - point.prices[reserved] / point.market.reserves[reserved])


def _overspend(point: Point) -> float:
    budgets = np.where(point.market.active, point.market.budgets, 0.0)
    return most(ratio(point.spend, budgets) - 1)


def _regret(point: Point) -> float:
    active = point.market.active
    return most(1 - point.enjoyed.utility[active] / point.best[active])


def _satiated(point: Point) -> tuple[Array, Array]:
    """Distance below the cap and excess spend, of capped teams with worthless kept credits."""
    market = point.market
    capped = market.active & (market.keep_values == 0) & (market.utility_caps < np.inf)
    utility = point.enjoyed.utility
    paid = np.where(point.spend < 1e-14 * market.budgets.sum(), 0.0, point.spend)
    needed = market.utility.cost(point.offered, utility)
    below = 1 - utility / market.utility_caps
    return below[capped], (ratio(paid, needed) - 1)[capped]


def _overallocated(point: Point) -> float:
    units = np.maximum(point.all_units, 0)
    handed_out = total_by(point.all_columns, units, point.market.m)
    return most(ratio(handed_out, point.market.supplies) - 1)


def _idle(point: Point) -> float:
    market = point.market
    dear = (point.prices > market.reserves) & ~market.empty
    wasted = np.maximum(point.prices - market.reserves, 0) @ point.left_over
    share = point.left_over[dear] / market.supplies[dear]
    return max(most(share), most(np.array([wasted / point.worth])))


def _gap(point: Point) -> float | None:
    """Duality gap of the program over the value of the supply, as a sum of nonnegative terms.

    Idle goods above their reserve; bundles dearer than need be; kept credits worth less than spent
    ones; utility thrown away beyond the cap; and h, the distance between the budget and the
    cheapest cost of what it got. The plain difference of primal and dual loses the gap to rounding
    when most credits are kept.
    """
    market = point.market
    if not market.utility.homogeneous:
        return None
    point = point.scaled(1 / (1 + _overallocated(point)))
    utility, kept, counted = point.enjoyed
    budgets, caps, keeps = market.budgets, market.utility_caps, market.keep_values
    cost = point.unit_cost

    dear = market.utility.excess_cost(point.offered, point.allocation)
    dear += (market.utility.unit_cost(point.offered) - cost) * point.value
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
    per_buyer = (dear + idle_credits + wasted + h)[market.active]
    left_over = (point.prices - market.reserves) @ point.left_over
    # what teams outside the program hold is lost to it
    held_outside = point.spend[~market.active].sum()
    gap = float(per_buyer.sum() + held_outside + left_over) / point.worth
    return np.inf if np.isnan(gap) else gap


def _notes(point: Point) -> tuple[str, ...]:
    if point.free:
        return ("everything is free: idle credits and gap are relative to all budgets",)
    return ()
