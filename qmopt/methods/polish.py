"""From a solver's point to the last bits, where values are sums of activities.

A rough point says which activities are used, which goods are sold out, who is held by a cap and
who keeps credits. Written as a point of the central path close to its end, where of two numbers
whose product tends to 0 one is small, it is settled like the end of any path.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.methods.activities.iterate import Iterate
from qmopt.methods.activities.scaled import Scaled
from qmopt.methods.activities.settle import settle
from qmopt.utilities.keep import unit_cost
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

Mask = NDArray[np.bool_]

#: Product of two numbers of usual size 1 of which one tends to 0, and what none is smaller than.
BARRIER, LEAST = 1e-9, 1e-15
#: Share by which the smaller of the two is smaller, at least.
CLEAR = 0.25
#: Share of a good that is left over from which on it is not sold out, whatever it costs.
LEFT = 0.5
#: Share of a supply that the solver's own rounding may bring to a good.
STAKE = 1e-12
#: What a cap has to cost for its owner to be given less to spend, and to be left with how much.
TWICE, LEFT_WITH = 2.0, 1e-9
#: Share by which a cap may be missed by rounding, and by which a solver may have missed it.
ROUNDING, NEAR = 1e-11, 1e-2
#: Share of its buyers' credits that rounding may make a good cost.
NOISE = 1e-14


def polish(
    market: Market, prices: Array, levels: Array, kept: Array, time_limit: float = np.inf
) -> tuple[Array, Array] | None:
    """Return prices and levels that are right to rounding, or None where none were found.

    Parameters
    ----------
    market
        The part that trades, whose values are sums of activities (``utility.additive``).
    prices, levels, kept
        A solver's point: credits per unit (m,), units of each activity (K,), credits that each
        buyer keeps for their worth (n,).
    time_limit
        Seconds after which no other sides are tried.

    Examples
    --------
    Two of three chips are wanted by someone with a cap of 2, and 6 credits buy the third:

    >>> from qmopt import Linear, Market
    >>> market = Market([60, 6], [3], Linear([[1], [1]]), utility_caps=[2, np.inf])
    >>> prices, levels = polish(market, np.array([5.999]), np.array([1.999, 1.001]), np.zeros(2))
    >>> prices.round(12).tolist(), levels.round(12).tolist()
    ([6.0], [2.0, 1.0])
    """
    deadline = time.monotonic() + time_limit
    # at the ends of floating point numbers overflow; what comes of it does not pass the checks
    with np.errstate(all="ignore"):
        enough = _enough(market, prices, levels, kept)
        less = enough < market.budgets
        if less.any():
            fewer = market.replace(budgets=enough)
            found = _settled(fewer, prices, levels, kept, deadline)
            if found is not None and _held(fewer, *found)[less].all():
                return found
        return _settled(market, prices, levels, kept, deadline)


def _settled(
    market: Market, prices: Array, levels: Array, kept: Array, deadline: float
) -> tuple[Array, Array] | None:
    scaled = Scaled(market)
    found = settle(scaled, _iterate(scaled, prices, levels, kept), 0.0, deadline)
    return None if found is None else (_without_noise(market, *found), found[1])


def _without_noise(market: Market, prices: Array, levels: Array) -> Array:
    """Put a good at its reserve where what is above is rounding, in the credits of its buyers."""
    ways = market.utility.activities()
    uses = (ways.needs * (levels > 0)[:, None]).tocoo()
    credits = np.zeros(market.m)
    np.maximum.at(credits, uses.col, market.budgets[ways.owner[uses.row]] * (uses.data > 0))
    noise = (prices - market.reserves) * market.supplies <= NOISE * credits
    return np.where(noise, market.reserves, prices)


def _enough(market: Market, prices: Array, levels: Array, kept: Array) -> Array:
    """Return budgets (n,): whoever a cap holds has no more than twice what the cap costs.

    The cap holds all the same, so that nothing changes; but the rent of a cap that its owner could
    pay a thousand times would drown the prices that it is added to.
    """
    ways, caps = market.utility.activities(), market.utility_caps
    value = total_by(ways.owner, ways.values * levels, market.n) + market.keep_values * kept
    cost = unit_cost(market.utility, np.maximum(prices, market.reserves), market.keep_values)
    enough = np.maximum(TWICE * cost * caps, LEFT_WITH * market.budgets)
    near = (caps < np.inf) & (value > (1 - NEAR) * caps)
    return np.where(near, np.minimum(enough, market.budgets), market.budgets)


def _held(market: Market, prices: Array, levels: Array) -> Mask:
    """Tell who has all the utility that it wants, (n,)."""
    ways = market.utility.activities()
    spend = total_by(ways.owner, (ways.needs @ prices) * levels, market.n)
    value = total_by(ways.owner, ways.values * levels, market.n)
    value += market.keep_values * (market.budgets - spend)
    return value >= market.utility_caps * (1 - ROUNDING)


def _iterate(scaled: Scaled, prices: Array, levels: Array, kept: Array) -> Iterate:
    """Return a solver's point as one of the central path, close to its end."""
    market, team, owner = scaled.market, scaled.team, scaled.owner
    above = np.maximum(prices - market.reserves, 0) * market.supplies / scaled.credit
    units = np.append(levels / scaled.full, kept[scaled.keepers] / scaled.credit)
    value = scaled.value(units)
    asked = scaled.needs @ (above + scaled.reserves) + scaled.bank
    cheapest = np.full(market.n, np.inf)
    np.minimum.at(cheapest, owner, asked / scaled.worth)
    # who has less room to the cap than credits to spend is held by it, at a rent; who pays nothing
    # has all that it wants
    room = np.maximum(1 - scaled.used_up(units), 0)
    met = room < 1 - (cheapest * value / scaled.budgets)[team]
    met |= cheapest[team] <= 0
    caps = market.utility_caps[team] / scaled.unit[team]
    costs = cheapest.copy()
    costs[team] = np.where(met, np.maximum(scaled.budgets[team] / caps, costs[team]), costs[team])
    rents = (costs - cheapest)[team] * caps
    brought = costs[owner] * scaled.worth
    slacks = np.maximum(scaled.slacks(above, rents, costs), 0)
    # rents say nothing of one activity or another: what is paid does, or brought in credits paid
    paid = np.minimum(1, scaled.budgets / (costs * value))[owner] * brought
    size = np.maximum(asked, paid)
    credits = scaled.budgets[owner] / size
    unused = units / credits <= slacks / size
    # what a good earns, of the credits of those who use it: few may be small
    stake = np.maximum(np.asarray((scaled.needs > 0).T @ (brought * units)), STAKE)
    idle = np.maximum(1 - scaled.handed_out(units), 0)
    sold = (above > idle * stake) & (idle < LEFT)
    return Iterate(
        *_apart(units, slacks, unused, credits, size),
        *_apart(room, rents, met, np.ones(len(team)), scaled.budgets[team]),
        *_apart(idle, above, sold, np.ones(market.m), scaled.weights.goods),
        costs,
    )


def _apart(
    one: Array, other: Array, first: Mask, size: Array, size_of_other: Array
) -> tuple[Array, Array]:
    """Return two numbers, one of which tends to 0, with a product as on the path and in order.

    Parameters
    ----------
    one, other
        The numbers.
    first
        Whether the first is the one that tends to 0.
    size, size_of_other
        Their usual sizes.
    """
    large = np.maximum(np.where(first, other / size_of_other, one / size), LEAST)
    small = np.minimum(BARRIER / large, CLEAR * large)
    return np.where(first, small, large) * size, np.where(first, large, small) * size_of_other
