"""What the prices could still be, and whether an answer is the only one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qmopt.certificate import measure
from qmopt.market import Market
from qmopt.point import Point, stated
from qmopt.price_support import EXACT, price_ends
from qmopt.tight import tight_graph
from qmopt.utilities.bundles import Bundles
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.smooth import Smooth
from qmopt.utilities.workloads import Workloads

#: Share by which exact prices miss a tie because of rounding.
LAST_BITS = 1e-11
#: Residual up to which the tight pairs of a point can be told from the others.
ROUGH = 1e-6
#: Rounding of the gap, relative: of sums of products, and through logarithms.
SUMMED, LOGGED = 4 * np.finfo(float).eps, 200 * np.finfo(float).eps


@dataclass(frozen=True)
class Unique:
    """Which parts of an equilibrium are the only ones; None where it was not found out."""

    prices: bool | None
    utilities: bool | None
    allocation: bool | None


def price_intervals(
    market: Market,
    prices: ArrayLike,
    allocation: ArrayLike | Allocation | None,
    activities: ArrayLike | None = None,
) -> Array:
    """Bounds on every equilibrium price, from a measured point.

    Without utility caps, bundles or demands equilibrium prices are unique, and the duality gap
    bounds how far off the given ones can be: values ``t`` of a good's supply satisfy ``r - t + t
    log(t/r) <= gap`` (in credits), with ``r`` its value at the given prices, and a like inequality
    holds for CES and Cobb-Douglas (theory page). With caps, bundles, or one workload for each team
    prices may form an interval; at an exact point its ends come from two linear programs per good,
    in markets of up to a few hundred goods. Where a team's credits serve several workloads jointly,
    equilibria may be far apart, and nothing is known from one of them.

    Parameters
    ----------
    market
        With any utilities; of those that are neither linear, bundles, CES, Cobb-Douglas, nor
        workloads of which each team has one with one value, only what is free or not there is
        known.
    prices, allocation
        The point, shapes (m,) and (n, m). The allocation may be None where activities say it.
    activities
        Shape (K,): units of each option, for :class:`qmopt.Workloads`. Default: the best use of the
        allocation.

    Returns
    -------
    ndarray
        Shape (m, 2), credits per unit: lowest and highest. nan where not known. A good without
        supply has no price; its lower end is the choke price, at which nobody wants it
        any more, and nan if somebody would pay any price.

    Examples
    --------
    One good that two teams want; the second wants no more than 7 of the 10 units, the first no more
    than 3, so every price that lets both buy as much will do (up to 40/7, where the second team's
    credits are just enough):

    >>> from qmopt import Linear, Market, Workloads
    >>> market = Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, 7])
    >>> price_intervals(market, [0.0], [[3], [7]]).round(6).tolist()
    [[0.0, 5.714286]]

    As workloads, and now the second team would keep half of each credit rather than pay more than
    2 for a unit that is worth 1 to it:

    >>> utility = Workloads([0, 1], [3, 7], [0, 1], [[1], [1]], [1, 1])
    >>> market = Market([60, 40], [10], utility, keep_values=[0, 0.5])
    >>> price_intervals(market, [0.0], None, [3, 7]).round(6).tolist()
    [[0.0, 2.0]]
    """
    point = stated(market, prices, allocation, activities)
    prices = point.given_prices
    levels = None if activities is None else np.asarray(activities, dtype=float)
    found = measure(market, prices, allocation, activities=levels)
    bounds = np.full((market.m, 2), np.nan)
    one_price = isinstance(market.utility, Linear | Smooth) and market.utility_caps.min() == np.inf
    if one_price and found.gap is not None:
        if found.reserve > 0:  # only prices that meet the reserves bound the program's value
            point = stated(market, np.fmax(prices, market.reserves), allocation)
            found = measure(market, point.prices, allocation)
        if found.gap is not None and np.isfinite(found.gap):
            bounds = _from_gap(market, point, found.gap)
    elif found.worst <= EXACT and (market.utility.additive or market.utility.separate):
        bounds = price_ends(market, point)
    unwanted = ~market.sold & ~market.empty
    bounds[unwanted] = market.reserves[unwanted, None]
    if market.empty.any():
        bounds[market.empty, 0] = _choke_prices(market, point)[market.empty]
    bounds[market.empty, 1] = np.nan
    return bounds


def uniqueness(
    market: Market,
    prices: ArrayLike,
    allocation: ArrayLike | Allocation | None,
    activities: ArrayLike | None = None,
) -> Unique:
    """Tell which parts of an answer are the only ones.

    Utilities are unique in every market that a convex program answers, prices unless utility is
    capped, comes from bundles, or ends with a demand (then by their intervals, at an exact answer).
    A team that has all it wants and keeps credits of worth has more of these the less it pays: its
    utility is known to be unique where prices are. The
    allocation of CES and Cobb-Douglas is unique as well, unless kept credits are worth something or
    utility is capped (then None); that of linear utilities when credits could not flow otherwise
    along tight pairs. A residual r leaves prices
    open by about its square root: the allocation is called unique if it is with every pair taken
    for tight that may be, not unique if it is not with those alone that are tight to the last bits,
    and None in between. Where a team's credits serve several workloads jointly, all are None:
    there may be other equilibria, and nobody knows a quick way to tell.

    Parameters
    ----------
    market
        With any utilities.
    prices, allocation, activities
        The point, as for :func:`price_intervals`.

    Examples
    --------
    Two teams that do not care which of two chips they hold could swap them:

    >>> from qmopt import Linear, Market
    >>> market = Market([1, 1], [1, 1], Linear([[1, 1], [1, 1]]))
    >>> uniqueness(market, [1, 1], [[0.5, 0.5], [0.5, 0.5]])
    Unique(prices=True, utilities=True, allocation=False)
    """
    point = stated(market, prices, allocation, activities)
    worst = measure(market, prices, allocation, activities=activities).worst
    if isinstance(market.utility, Smooth) and worst <= ROUGH:
        prices_alone = True if market.utility_caps.min() == np.inf else None
        free_choice = prices_alone is None or bool(market.keep_values[market.active].any())
        return Unique(prices_alone, True, None if free_choice else True)
    if isinstance(market.utility, Bundles) and worst <= EXACT:
        return Unique(_one_price(market, point), True, None)
    if isinstance(market.utility, Workloads) and market.utility.separate and worst <= EXACT:
        single = _one_price(market, point)
        satisfied = market.active & (point.value >= point.enough * (1 - EXACT))
        richer = bool((market.keep_values[satisfied] > 0).any())
        return Unique(single, True if single or not richer else None, None)
    if not isinstance(market.utility, Linear) or worst > ROUGH:
        return Unique(None, None, None)
    sure = _loose(market, point, LAST_BITS, zero=EXACT)
    possible = _loose(market, point, LAST_BITS + 3 * np.sqrt(worst), zero=LAST_BITS)
    alone = (not sure) if sure == possible else None
    if market.utility_caps.min() == np.inf:
        return Unique(True, True, alone)
    if worst > EXACT:
        return Unique(None, True, None)
    single = _one_price(market, point)
    # of what is free, a team may hold more than it wants
    costs = bool((point.prices[market.sold] > 0).all())
    return Unique(single, True, alone if single and costs else None)


def _one_price(market: Market, point: Point) -> bool | None:
    """Whether every price interval at an exact answer is a point; None where one is not known."""
    low, high = price_ends(market, point)[market.sold].T
    if np.isnan(low).any() or np.isnan(high).any():
        return None
    return bool((high - low <= EXACT * np.maximum(high, low)).all())


def _loose(market: Market, point: Point, tolerance: float, zero: float) -> bool:
    """Whether any flow could change among the pairs that are tight at a tolerance."""
    graph = tight_graph(market, point.prices, tolerance)
    flow = graph.flow(point.allocation, point.left_over, point.enjoyed.kept)
    return bool(graph.loose(flow, zero).any())


def _from_gap(market: Market, point: Point, gap: float) -> Array:
    """Solve ``f(z) <= gap / r`` for the ratio z of possible to given price; see :func:`_rise`."""
    value = point.prices * market.supplies
    bend, rounding = 0.0, SUMMED
    if isinstance(market.utility, Smooth):
        bend = max(0.0, float(1 - market.utility.substitution[market.active].min()))
        rounding = LOGGED
    # the sum that makes up the gap is itself only known to the last bits
    credits_off = (abs(gap) + rounding) * point.worth
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(value > 0, credits_off / value, 0.0)
    small = np.sqrt(2 * room / (1 - bend))
    top = 2 + 2 * room
    while (_rise(top, bend) < room).any():
        top *= 2
    low = _root(room, np.zeros(market.m), np.ones(market.m), bend)
    high = _root(room, top, np.ones(market.m), bend)
    # near 1 the function is a difference of nearly equal numbers; its series bounds it
    near = small < 1e-4
    low = np.where(near, 1 - small * (1 + small), low)
    high = np.where(near, 1 + small * (1 + small), high)
    # what is taken for free may cost a little to those who need it beside others
    free = credits_off * bend / (1 - bend) / np.where(market.empty, 1, market.supplies)
    high = np.where(value > 0, high * point.prices, free)
    return np.stack([low * point.prices, high], axis=1)


def _rise(z: Array, bend: float) -> Array:
    """``z log z - z + 1``, or with complements ``1 - z + (z - z ** (1 - bend)) / bend``.

    ``bend`` is 1 less the smallest elasticity of substitution; its limit at 0 is the first.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(z)
        part = logs if bend == 0 else -np.expm1(-bend * logs) / bend
        return np.where(z > 0, z * part, 0.0) - z + 1


def _root(room: Array, outside: Array, inside: Array, bend: float) -> Array:
    """Bisect for where the function equals the room; the outer end is returned."""
    for _ in range(100):
        middle = (outside + inside) / 2
        fits = _rise(middle, bend) <= room
        inside, outside = np.where(fits, middle, inside), np.where(fits, outside, middle)
    return np.where(room >= 1, np.where(outside < 1, 0.0, outside), outside)


def _choke_prices(market: Market, point: Point) -> Array:
    """Least price of each good at which nobody prefers it to what is on sale, (m,)."""
    # who takes no part only because nothing else is on sale would buy at any price
    stranded = ~market.active & (market.budgets > 0) & (market.utility_caps > 0)
    # a dear substitute is still bought a little, and for a second workload beside the first
    simple = market.utility.additive or market.utility.separate
    cost = point.unit_cost if simple else np.inf
    cost = np.where(market.active, cost, np.where(stranded, np.inf, 0.0))
    choke = np.zeros(market.m)
    for activities in market.utility.activity_blocks():
        offer = activities.values * cost[activities.owner]
        single = np.diff(activities.needs.indptr) == 1
        np.maximum.at(choke, activities.needs[single].indices, offer[single])
    return np.where(np.isinf(choke), np.nan, choke)
