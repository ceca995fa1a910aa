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
from qmopt.gap import duality_gap
from qmopt.market import Market
from qmopt.notebook import certificate_line, certificate_page
from qmopt.point import Point, most, ratio, stated
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
        Shape (k,), one entry for each team that can have enough (a cap, or all demands met) and
        whose kept credits are worth nothing: how far its utility is below that (relative), and how
        much more than needed it paid (relative).
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
    market: Market,
    prices: ArrayLike,
    allocation: ArrayLike | Allocation | None,
    tolerance: float = 1e-8,
    activities: ArrayLike | None = None,
) -> Certificate:
    """Measure prices and an allocation; :func:`qmopt.certify` does the same and takes prices alone.

    Parameters
    ----------
    market
        n buyers, m goods.
    prices
        Shape (m,), credits per unit; nan is allowed for a good without supply, and only there.
    allocation
        Shape (n, m), units, dense or sparse; guaranteed units not included. None where activities
        say it.
    tolerance
        At which :meth:`Certificate.certified` decides, and at which a team counts as satisfied.
    activities
        Shape (K,): for a utility with demands (:class:`qmopt.Workloads`), units of each option,
        which the point then is. Default: the best use that each team has for its units.

    Raises
    ------
    MarketError
        If prices, allocation or activities do not have the shape of the market, an allocation is
        not what the activities take, or the tolerance is no number from 0 to 1.
    """
    if not 0 <= tolerance < 1:
        raise MarketError(f"tolerance: a number from 0 to 1 expected, got {tolerance}")
    with np.errstate(all="ignore"):
        point = stated(market, prices, allocation, activities)
        satiation, excess = _satiated(point)
        return Certificate(
            negative=_negative(point),
            reserve=_reserve(point),
            overspend=_overspend(point),
            regret=_regret(point),
            overallocated=point.overallocated,
            idle=_idle(point),
            gap=duality_gap(point),
            tolerance=tolerance,
            satiation=satiation,
            excess=excess,
            notes=_notes(point),
        )


def _negative(point: Point) -> float:
    market, prices = point.market, point.given_prices
    if point.nan_units or not np.isfinite(prices[~market.empty]).all():
        return np.inf
    columns, taken_back = point.all_columns, np.maximum(-point.all_units, 0)
    asked = np.where(market.empty, 0.0, prices)
    payers, paid = point.payments(asked)
    paid_out = np.maximum(-paid, 0)
    below_zero = np.maximum(-asked, 0) * market.supplies
    return max(
        most(ratio(taken_back, market.supplies[columns])),
        most(ratio(paid_out, market.budgets[payers])),
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
    """Distance below enough, and excess spend, of teams that can have it and keep for nothing."""
    market = point.market
    capped = market.active & (market.keep_values == 0) & (point.enough < np.inf)
    utility = point.enjoyed.utility
    paid = np.where(point.spend < 1e-14 * market.budgets.sum(), 0.0, point.spend)
    # what is served beyond a demand has no cheapest way
    needed = market.utility.cost(point.offered, np.minimum(utility, point.enough))
    below = 1 - utility / point.enough
    return below[capped], (ratio(paid, needed) - 1)[capped]


def _idle(point: Point) -> float:
    market = point.market
    dear = (point.prices > market.reserves) & ~market.empty
    wasted = np.maximum(point.prices - market.reserves, 0) @ point.left_over
    share = point.left_over[dear] / market.supplies[dear]
    return max(most(share), most(np.array([wasted / point.worth])))


def _notes(point: Point) -> tuple[str, ...]:
    if point.free:
        return ("everything is free: idle credits and gap are relative to all budgets",)
    return ()
