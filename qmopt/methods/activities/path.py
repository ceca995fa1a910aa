"""The central path of activities with limits, where it is that of a convex program (share 0).

Mehrotra's predictor and corrector (S. Mehrotra, "On the implementation of a primal-dual interior
point method", SIAM Journal on Optimization 2, 1992), with another length for levels than for
prices.
"""

from __future__ import annotations

import time

import numpy as np

from qmopt.methods.activities.iterate import Iterate, Missed, Products
from qmopt.methods.activities.reduced import Reduced
from qmopt.methods.activities.scaled import Scaled
from qmopt.progress import tell

#: Share of the way to the boundary that a step goes, far from the end and near it.
EARLY, NEARLY, NEAR = 0.9, 0.99, 0.1
#: Share of the way that the predictor has to go for its second order to count in full.
SHORT = 0.1
#: Merit below which an iterate that gets no better has done what it can.
ROUGH = 1e-6
#: How often in a row it may get no better: near the end budgets bounce before they settle.
PATIENT = 5


def follow(
    scaled: Scaled,
    tolerance: float,
    *,
    barrier: float = 0.0,
    most: int = 150,
    deadline: float = np.inf,
    start: Iterate | None = None,
) -> tuple[Iterate, int, str]:
    """Follow the path to its end, or to a barrier.

    Parameters
    ----------
    scaled
        The system.
    tolerance
        Merit at which the path is left: the largest of the mean product over the mean credits it
        is about, limits and supplies missed, and budgets missed, all relative.
    barrier
        Mean product at which to stop; 0 for the end.
    most
        Steps at most.
    deadline
        Of ``time.monotonic``, after which no other step is taken.
    start
        Where to start, within all bounds.

    Returns
    -------
    Iterate, int, str
        The best iterate, steps taken, and "optimal", "stalled" or "stopped".
    """
    here = scaled.start() if start is None else start
    best, least, stale = here, np.inf, 0
    for steps in range(most + 1):
        missed = scaled.missed(here, 0.0)
        off, mean = missed.largest(scaled.budgets), here.product() / scaled.weight
        merit = max(off, mean)
        if merit < least:
            best, least, stale = here, merit, 0
        else:
            stale += 1
        if merit <= tolerance or (barrier and off <= barrier and mean <= 1.5 * barrier):
            return here, steps, "optimal"
        if not np.isfinite(merit) or (stale >= PATIENT and least < ROUGH) or stale > 20:
            return best, steps, "stalled"
        if steps == most or time.monotonic() > deadline:
            return best, steps, "stopped"
        try:
            here = _step(scaled, here, missed, mean, barrier)
        except FloatingPointError:
            return best, steps, "stalled"
        tell("central path: step {}, residual {:.1e}", steps + 1, least)
    raise AssertionError("the last step returns")


def _step(scaled: Scaled, here: Iterate, missed: Missed, mean: float, barrier: float) -> Iterate:
    """Take a predictor and a corrector with the same factors."""
    reduced = Reduced(scaled, here, 0.0)
    products = here.products()
    ahead = reduced.solve(Products(*(-product for product in products)), missed)
    primal, dual = lengths(here, ahead, 1.0)
    there = here.moved(ahead, primal, dual)
    centre = max(min((max(there.product(), 0.0) / scaled.weight / mean) ** 3, 1.0) * mean, barrier)
    # what a step that stops short would change at its end says little about where to aim
    part = 1.0 if min(primal, dual) > SHORT else primal * dual
    bends = ahead.products()
    aims = (
        centre * weight - product - part * bend
        for weight, product, bend in zip(scaled.weights, products, bends, strict=True)
    )
    curved = part * ahead.costs * scaled.value(ahead.levels)
    move = reduced.solve(Products(*aims), missed._replace(budgets=missed.budgets - curved))
    nearly = EARLY if mean > NEAR else NEARLY
    return here.moved(move, *lengths(here, move, nearly))


def lengths(here: Iterate, move: Iterate, nearly: float) -> tuple[float, float]:
    """Return how far levels, and prices, can go along a move: 1, or most of the way to 0."""
    used = [
        float((-dx / x).max(initial=0.0)) if x.size else 0.0
        for x, dx in zip(here, move, strict=True)
    ]
    levels, slacks, room, rents, idle, prices, costs = used
    primal, dual = max(levels, room, idle), max(slacks, rents, prices, costs)
    return min(1.0, nearly / max(primal, 1e-300)), min(1.0, nearly / max(dual, 1e-300))
