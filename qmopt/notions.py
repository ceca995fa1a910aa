"""What may be accepted where an equilibrium was not found, and what it has to be for that.

``split``
    An equilibrium of the market in which each workload has credits of its own: certified like any
    other, for that division of credits.
``nash_welfare``
    An optimum of the plain program under demands: nothing is handed out twice, nobody overspends,
    and its duality gap is closed. Its regret is measured, and may be large.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from qmopt.arguments import named
from qmopt.certificate import Certificate, measure
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.nash_welfare import NashWelfare
from qmopt.methods.outcome import Method, Outcome
from qmopt.methods.split import Split
from qmopt.point import Point, stated
from qmopt.utilities.workloads import Workloads

#: Names that may be accepted, and what each is, for the notes of an answer.
NOTIONS = {
    "split": "a split: an equilibrium for this division of credits over workloads, not jointly",
    "nash_welfare": "Nash welfare: indicative prices; teams whose demands are met keep credits "
    "that they would rather spend",
}

#: Workloads that a note names before it only counts.
FEW = 5
#: Residuals that a point of Nash welfare need not keep small.
REGRETTED = ("regret", "thrift")


def accepted(given: str | Iterable[str]) -> tuple[str, ...]:
    """Check names of what is accepted.

    Examples
    --------
    >>> accepted("split")
    ('split',)
    >>> accepted(["splt"])
    Traceback (most recent call last):
    qmopt.errors.MarketError: accept: 'split' or 'nash_welfare' expected, got 'splt'
    """
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise MarketError(f"accept: 'split' or 'nash_welfare' expected, got {named(given)}")
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in NOTIONS:
            raise MarketError(f"accept: 'split' or 'nash_welfare' expected, got {named(name)}")
    return names


def unserved(market: Market) -> tuple[str, ...]:
    """Say which workloads nothing can serve, since no bid of worth names them.

    Examples
    --------
    >>> utility = Workloads([0, 0], [1, 8], [0], [[1]], [2], names=["train", "evaluate"])
    >>> unserved(Market([3], [2], utility, buyers=["vision"]))
    ('no bid of worth for workload evaluate of team vision',)
    """
    utility = market.utility
    if not isinstance(utility, Workloads):
        return ()
    bids = np.bincount(utility.workload, minlength=len(utility.demand))
    none = np.flatnonzero((bids == 0) & (utility.demand > 0))
    first = ", ".join(
        f"{utility.names[w]} of team {market.buyers[utility.team[w]]}" for w in none[:FEW].tolist()
    )
    more = f" and {len(none) - FEW} more" if len(none) > FEW else ""
    return (f"no bid of worth for workload {first}{more}",) if none.size else ()


class Accepted(NamedTuple):
    """An outcome that is what it claims to be, the method that found it, and its measurement."""

    outcome: Outcome
    method: Method
    certificate: Certificate


def first_that_holds(
    market: Market,
    outcome: Outcome,
    tolerance: float,
    accept: tuple[str, ...],
    time_limit: float,
) -> Accepted | None:
    """Return the first accepted notion that holds, or None.

    Parameters
    ----------
    market, outcome
        A market, and what was found that is no equilibrium; if it is of an accepted notion it is
        looked at first.
    tolerance
        At which residuals count.
    accept
        Names of notions, in order.
    time_limit
        Seconds for each method that is tried.
    """
    if not isinstance(market.utility, Workloads):
        return None
    for notion in sorted(accept, key=lambda name: name != outcome.notion):
        method = (Split if notion == "split" else NashWelfare)(time_limit=time_limit)
        found = outcome if outcome.notion == notion else method.solve(market)
        certificate = judged(market, found, tolerance)
        if holds(notion, certificate):
            return Accepted(found, method, certificate)
    return None


def judged(market: Market, outcome: Outcome, tolerance: float) -> Certificate:
    """Measure an outcome as what it claims to be.

    A split in its divided market; Nash welfare as an equilibrium, but with the gap of its own
    program.
    """
    if outcome.notion == "split":
        assert outcome.divided is not None
        assert outcome.activities is not None
        levels = outcome.divided.levels(outcome.activities)
        return measure(outcome.divided.market, outcome.prices, None, tolerance, levels)
    found = measure(market, outcome.prices, None, tolerance, outcome.activities)
    with np.errstate(all="ignore"):
        point = stated(market, outcome.prices, None, outcome.activities)
        return replace(found, gap=nash_gap(point))


def holds(notion: str, certificate: Certificate) -> bool:
    """Whether an outcome is what it claims to be."""
    if notion == "split":
        return certificate.certified()
    kept = {name: size for name, size in certificate.residuals.items() if name not in REGRETTED}
    return all(size is not None and abs(size) <= certificate.tolerance for size in kept.values())


def nash_gap(point: Point) -> float:
    """Duality gap of the plain program under demands, over the value of the supply.

    Nobody is charged for its demand: each buyer's part is the most that ``B log(u) - spend`` could
    be at the prices, less what it is. The program has equilibria for its answers only where the
    family is homogeneous or separate.

    Examples
    --------
    A demand for one of two units, which are free: both parts are ``3 log 2``.

    >>> from qmopt import Market, Workloads
    >>> utility = Workloads([0], [1], [0], [[1]], [2])
    >>> market = Market([3], [2], utility)
    >>> nash_gap(Point(market, np.zeros(1), None, np.ones(1)))
    0.0
    """
    market = point.market
    assert isinstance(market.utility, Workloads)
    point = point.scaled(1 / (1 + point.overallocated))
    active = market.active
    most = market.utility.conjugate(point.offered, market.budgets, market.keep_values)
    # credits beyond what the program would keep count for nothing in it
    worth = np.where(
        market.keep_values > 0,
        point.value / np.where(market.keep_values > 0, market.keep_values, 1),
        0.0,
    )
    kept = np.where(market.keep_values > 0, np.maximum(market.budgets - worth, 0), 0.0)
    utility = point.value + market.keep_values * kept
    has = market.budgets * np.log(utility) - kept - point.spend
    left_over = (point.prices - market.reserves) @ point.left_over
    gap = float((most - has)[active].sum() + point.spend[~active].sum() + left_over) / point.worth
    return np.inf if np.isnan(gap) else gap
