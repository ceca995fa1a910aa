"""From a market of teams with workloads to one in which each workload has credits of its own."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.methods.outcome import Divided
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads

#: Share of a team's credits that is divided equally, so that no workload is left without any.
EQUALLY = 0.05


def best_division(market: Market, utility: Workloads, prices: Array) -> Array:
    """Credits of each workload, (W,), that its team would best spend on it at these prices.

    What it would not spend is divided in proportion, and a twentieth of all equally.
    """
    offered = np.where(market.empty, np.inf, prices)
    asked = _asked(utility, prices)
    # what costs more than its limit is not bought
    within = np.flatnonzero(asked / utility.rates <= utility.limit_prices[utility.workload])
    allowed = Workloads(
        utility.team, utility.demand, utility.workload[within],
        cast(Any, utility.needs)[within], utility.values[within], utility.rates[within],
        teams=market.n,
    )  # fmt: skip
    levels = np.zeros(len(asked))
    levels[within] = allowed.plan(offered, market.budgets, market.keep_values)
    spend = np.bincount(utility.workload, weights=asked * levels, minlength=len(utility.team))
    of_team = np.bincount(utility.team, weights=spend, minlength=market.n)[utility.team]
    served = np.bincount(utility.workload, minlength=len(utility.team)) > 0
    count = np.bincount(utility.team, weights=served, minlength=market.n)[utility.team]
    equal = np.where(served, 1 / np.maximum(count, 1), 0.0)
    best = np.where(of_team > 0, spend / np.where(of_team > 0, of_team, 1), equal)
    return market.budgets[utility.team] * ((1 - EQUALLY) * best + EQUALLY * equal)


def divide(market: Market, utility: Workloads, prices: Array, credits: Array) -> Divided:
    """Make each workload a buyer, each value that its options have a buyer of its own.

    Parameters
    ----------
    market, utility
        The whole market.
    prices
        Shape (m,): at which the credits and the demand of a workload whose options are not worth
        the same are divided over the values: as its credits would best be spent.
    credits
        Shape (W,): of each workload.

    Examples
    --------
    One team, one workload of 10 that an H100 serves at 3, an A100 at 2 each. At prices 2 and 1 ten
    A100 cost 10; with 14 credits four are served by H100 instead, for 8.

    >>> utility = Workloads([0], [10], [0, 0], [[1, 0], [0, 1]], [3, 2])
    >>> market = Market([14], [8, 8], utility, buyers=["vision"])
    >>> made = divide(market, utility, np.array([2.0, 1.0]), np.array([14.0])).market
    >>> made.buyers, made.budgets.tolist(), made.utility.demand.tolist()
    (('vision / 0 at 2', 'vision / 0 at 3'), [6.0, 8.0], [6.0, 4.0])
    """
    keeps = _keeps(market, utility)
    part, of = _parts(utility)
    shares, demand = _over_parts(market, utility, prices, credits, (part, of))
    demand = np.where(utility.limit_prices[of] > 0, demand, 0.0)  # who would pay nothing gets none
    keeps = np.where(np.isfinite(keeps), keeps, 0.0)
    lead = np.full(len(of), -1)
    lead[part] = np.arange(len(part))
    made = Workloads(
        np.arange(len(of)),
        demand,
        part,
        utility.needs,
        utility.values,
        utility.rates,
        teams=len(of),
        names=[utility.names[int(w)] for w in of],
        options=utility.options,
    )
    kept = np.flatnonzero(demand[part] > 0)
    order = np.full(len(part), -1)
    order[kept] = np.arange(len(kept))
    divided = Market(
        credits[of] * shares,
        market.supplies,
        made,
        reserves=market.reserves,
        keep_values=keeps[lead],
        buyers=_names(market, utility, of, utility.values[lead]),
        goods=market.goods,
        title=market.title,
        period=market.period,
    )
    left_out = int(np.count_nonzero((credits[of] > 0) & ~divided.active))
    return Divided(divided, credits, order, left_out)


def _asked(utility: Workloads, prices: Array) -> Array:
    """Credits per unit of each option; what is not to be had is not bought."""
    return np.asarray(utility.needs @ np.where(np.isfinite(prices), prices, 0.0))


def _keeps(market: Market, utility: Workloads) -> Array:
    """Worth of a kept credit to the workload of each option, (K,): with a limit, value over it."""
    own = market.keep_values[utility.owner]
    limit = utility.limit_prices[utility.workload]
    with np.errstate(divide="ignore"):
        return np.maximum(own, utility.values / limit)


def _parts(utility: Workloads) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Part of each option, (K,): a workload and a value; and the workload of each part, (P,)."""
    pairs = np.stack([utility.workload.astype(float), utility.values])
    found, part = np.unique(pairs, axis=1, return_inverse=True)
    return part.ravel().astype(np.int64), found[0].astype(np.int64)


def _over_parts(
    market: Market,
    utility: Workloads,
    prices: Array,
    credits: Array,
    parts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[Array, Array]:
    """Share of its workload's credits, and the demand, of each part: as they best are spent."""
    part, of = parts
    count, width = len(of), len(utility.demand)
    alone = Workloads(
        np.arange(width), utility.demand, utility.workload, utility.needs, utility.values,
        utility.rates, teams=width,
    )  # fmt: skip
    keeps = np.zeros(width)
    np.maximum.at(keeps, utility.workload, _keeps(market, utility))
    offered = np.where(market.empty, np.inf, prices)
    levels = alone.plan(offered, credits, keeps)
    spend = np.bincount(part, weights=_asked(utility, prices) * levels, minlength=count)
    served = np.bincount(part, weights=utility.rates * levels, minlength=count)
    # of several parts the one that does most has what is left over, none whose goods are not there
    there = np.asarray(utility.needs @ market.empty.astype(float)) == 0
    possible = np.bincount(part, weights=there, minlength=count) > 0
    does = np.where(possible, served, -1.0)
    first = np.flatnonzero(np.append(True, np.diff(of) != 0))
    most = np.maximum.reduceat(does, first)[np.cumsum(np.append(False, np.diff(of) != 0))]
    leads = np.full(width, -1)
    top = np.flatnonzero(does >= most)
    leads[of[top]] = top  # the last, which is of the largest value
    total = np.bincount(of, weights=spend, minlength=width)
    shares = np.where(total[of] > 0, spend / np.where(total[of] > 0, total[of], 1), 0.0)
    idle = np.flatnonzero((total == 0) & (leads >= 0))
    shares[leads[idle]] = 1.0
    with np.errstate(invalid="ignore"):
        left = utility.demand - np.bincount(of, weights=served, minlength=width)
    demand = served.astype(float)
    led = np.flatnonzero(leads >= 0)
    demand[leads[led]] += np.maximum(left[led], 0)
    return shares, demand


def _names(market: Market, utility: Workloads, of: NDArray[np.int64], values: Array) -> list[str]:
    """Name each part by its team and workload, and by its value where there are several."""
    several = np.bincount(of, minlength=len(utility.team)) > 1
    names = []
    for p, w in enumerate(of.tolist()):
        name = f"{market.buyers[utility.team[w]]} / {utility.names[w]}"
        names.append(f"{name} at {values[p]:g}" if several[w] else name)
    return names
