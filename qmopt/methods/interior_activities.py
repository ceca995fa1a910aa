"""Convex programs of activities with limits: by the central path, then to the last bits."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from qmopt.market import Market
from qmopt.methods.activities.path import follow
from qmopt.methods.activities.scaled import Scaled
from qmopt.methods.activities.settle import settle
from qmopt.methods.lowest import lowered
from qmopt.methods.one_demand import solve_rows
from qmopt.methods.outcome import Outcome, restore_levels, trading

#: Gap over all credits at which rounds over many buyers end: their bests are exact at any prices.
TOLERANCE = 1e-9


# where an iterate leaves the range of floats it is not kept
@np.errstate(all="ignore")
def solve_activities(
    market: Market, *, tolerance: float, crossover: bool, most: int, time_limit: float
) -> Outcome:
    """Solve the Eisenberg-Gale program of a market whose values are sums of activities.

    Demands of workloads are limits of the program, so that the answer is an equilibrium where each
    team has one workload, and a point of Nash welfare otherwise.

    Parameters
    ----------
    market
        Bundles, workloads, linear utilities, or a mixture of them; with or without caps.
    tolerance
        Merit at which the path is left (:func:`qmopt.methods.activities.path.follow`).
    crossover
        Whether to go on to the last bits.
    most
        Steps at most.
    time_limit
        Seconds for all.
    """
    by_rows = solve_rows(market, tolerance=TOLERANCE, most=most, time_limit=time_limit)
    if by_rows is not None:
        return by_rows
    begun = time.monotonic()
    deadline = begun + time_limit
    inner = trading(market)
    scaled = Scaled(inner)
    here, steps, status = follow(scaled, tolerance, most=most, deadline=deadline)
    solved = time.monotonic()
    notes: tuple[str, ...] = ()
    point = scaled.point(here)
    if crossover:
        settled = settle(scaled, here, 0.0, deadline)
        if settled is None:
            notes = ("nothing exact was found near the end of the path: its own numbers",)
        else:
            point, status = lowered(inner, *settled, deadline), "optimal"
    prices, allocation, levels = restore_levels(market, *point)
    stats: dict[str, Any] = {
        "iterations": steps,
        "seconds": {"solve": solved - begun, "crossover": time.monotonic() - solved},
    }
    activities = levels if len(market.utility.demands().units) else None
    return Outcome(prices, allocation, status, stats, notes, activities)
