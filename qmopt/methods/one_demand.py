"""Markets of many buyers with one demand each, as the rows that compiled passes go over."""

from __future__ import annotations

import time
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.certificate import measure
from qmopt.market import Market
from qmopt.methods.demands.path import LARGE, solve
from qmopt.methods.demands.rows import Buyers
from qmopt.methods.outcome import Outcome, restore_levels, trading
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads

#: Largest residual of a convex program's answer that is good enough.
RIGHT = 1e-8


def plain_rows(inner: Market) -> tuple[Buyers, NDArray[np.int64], Array] | None:
    """Return buyers as rows of options, the place of each activity, and its chips; or None.

    They are where there are many of them, where each option takes one good, and where a buyer has
    one demand at most: one workload, or a cap on utility without kept credits of worth.

    Parameters
    ----------
    inner
        The part of a market that trades.
    """
    utility, caps = inner.utility, inner.utility_caps
    if inner.n < LARGE:
        return None
    if isinstance(utility, Workloads):
        if caps.min() < np.inf or (np.diff(utility.needs.indptr) != 1).any():
            return None
        first = np.full(inner.n, -1)
        first[utility.owner[::-1]] = utility.workload[::-1]
        if (first[utility.owner] != utility.workload).any():
            return None
        owner, needs, worth = utility.owner, utility.needs, utility.worth
        rates, demand = utility.rates, utility.demand[first]
    elif isinstance(utility, Linear) and not (inner.keep_values[caps < np.inf] > 0).any():
        ways = utility.activities()
        owner, needs, worth, rates = ways.owner, ways.needs, ways.values, ways.values
        demand = caps
    else:
        return None
    order = np.argsort(owner, kind="stable")
    if (np.diff(owner) < 0).any():
        needs = cast(sp.csr_array, needs[order])
        worth, rates, owner = worth[order], rates[order], owner[order]
    chips = needs.data
    begin = np.searchsorted(owner, np.arange(inner.n + 1))
    rows = (begin, needs.indices, worth / chips, rates / chips)
    made = Buyers.of(
        inner.budgets, demand, rows, inner.supplies,
        reserves=inner.reserves, keeps=inner.keep_values,
    )  # fmt: skip
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return made, back, chips[back]


def solve_rows(market: Market, *, tolerance: float, most: int, time_limit: float) -> Outcome | None:
    """Solve the Eisenberg-Gale program of a large market of rows; None if it is no such market.

    None as well where many buyers are torn between options alike (values of few ratios), so that
    rounds do not get the last of them right.

    Parameters
    ----------
    market
        Any market.
    tolerance
        Gap, as a share of all credits, and share by which budgets, demands and supplies may be
        missed.
    most
        Steps of one interior point.
    time_limit
        Seconds.
    """
    begun = time.monotonic()
    inner = trading(market)
    made = plain_rows(inner)
    if made is None:
        return None
    rows, place, chips = made
    found = solve(rows, tolerance=tolerance, most=most, deadline=begun + time_limit)
    levels = found.levels[place] / chips
    prices, allocation, levels = restore_levels(market, found.prices, levels)
    stats: dict[str, Any] = {
        "iterations": found.iterations,
        "seconds": {"solve": time.monotonic() - begun},
    }
    activities = levels if len(market.utility.demands().units) else None
    convex = market.utility.homogeneous or market.utility.separate
    if convex and _worst(market, prices, allocation, activities) > RIGHT:
        return None
    return Outcome(prices, allocation, found.status, stats, activities=activities)


def _worst(market: Market, prices: Array, allocation: Any, levels: Array | None) -> float:
    """Return the largest residual of a point."""
    return measure(market, prices, None if levels is not None else allocation, 0.0, levels).worst
