# ruff: noqa: ANN001, ANN201
"""What a buyer with one demand does at given prices, exactly; compiled.

A buyer's least value of a unit of demand, mu, is the upper hull of the lines ``(beta c - p) / r``
and 0 over the value of a credit's worth beta. Its best is where ``demand mu - budget log(beta)`` is
least: between two corners of the hull (all of the demand is served by one option), or at a corner
(by two, or by one in part). The last good is the bank, whose price is 1 and which serves nothing.
"""

from __future__ import annotations

import numpy as np

from qmopt.loops import compiled

TINY = float(np.finfo(np.float64).tiny)

_compiled = compiled(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@_compiled
def respond(low, high, goods, worths, rates, price, budget, demand):
    """Walk along the hull; return beta, mu, and two options or -1.

    All demand is served by the first, but for what the second takes over. If demand is without end,
    or the second is the bank, the second adds to the first and takes nothing over.
    """
    bank, most, outside = len(price) - 1, np.inf, -1
    for k in range(low, high):
        if worths[k] > 0 and (goods[k] == bank or demand == np.inf):
            ratio = price[goods[k]] / worths[k]
            if ratio < most:
                most, outside = ratio, k
    if demand == np.inf:
        return most, 0.0, -1, outside
    # value and cost of serving all demand by the option that the walk has come to
    value, cost, here = 0.0, 0.0, -1
    while True:
        corner, next_value, next_cost, follower = np.inf, 0.0, 0.0, -1
        for k in range(low, high):
            if goods[k] == bank:
                continue
            size = demand / rates[k]
            its_value = worths[k] * size
            if its_value > value:
                its_cost = price[goods[k]] * size
                where = max((its_cost - cost) / (its_value - value), 0.0)
                if where < corner or (where == corner and its_value > next_value):
                    corner, next_value, next_cost, follower = where, its_value, its_cost, k
        inside = budget / value if value > 0 else np.inf
        if most <= min(inside, corner):
            return most, max((most * value - cost) / demand, 0.0), here, outside
        if inside <= corner:
            return inside, max((inside * value - cost) / demand, 0.0), here, -1
        if budget <= next_value * corner:
            return corner, max((corner * value - cost) / demand, 0.0), here, follower
        value, cost, here = next_value, next_cost, follower


@_compiled
def shares(here, other, goods, worths, rates, bank, beta, budget, demand):
    """Return the chips of the two options of an answer, and how they grow with the value."""
    chips = demand / rates[here] if here >= 0 else 0.0
    if other < 0:
        return chips, 0.0, 0.0, 0.0
    value = worths[here] * chips if here >= 0 else 0.0
    if demand == np.inf or goods[other] == bank:
        return chips, max(budget / beta - value, 0.0) / worths[other], 0.0, 1 / worths[other]
    most = demand / rates[other]
    wider = worths[other] * most - value
    part = min(max((budget / beta - value) / wider, 0.0), 1.0)
    return chips * (1 - part), most * part, -chips / wider, most / wider


@_compiled
def conjugates(begin, goods, worths, rates, budgets, demands, price, found):
    """Fill in ``max B log(u) - cost`` of each buyer, at its best for the prices."""
    for i in range(len(budgets)):
        beta, mu, _, _ = respond(
            begin[i], begin[i + 1], goods, worths, rates, price, budgets[i], demands[i]
        )  # fmt: skip
        found[i] = budgets[i] * (np.log(budgets[i] / beta) - 1)
        if mu > 0:
            found[i] += mu * demands[i]


@_compiled
def survey(
    start, stop, begin, goods, worths, rates, budgets, demands, price, scale, margin, taken, bend
):
    """Add up demand and its slope, and find by what share prices may move without surprise.

    Within its ``margin`` (prices move by that times ``scale`` at most) a buyer holds on to its
    options, and what it takes is smooth in the prices. ``bend`` gets minus the slope of ``taken``.
    """
    bank = len(price) - 1
    for i in range(start, stop):
        low, high, budget, demand = begin[i], begin[i + 1], budgets[i], demands[i]
        beta, mu, here, other = respond(low, high, goods, worths, rates, price, budget, demand)
        first, second, of_first, of_second = shares(
            here, other, goods, worths, rates, bank, beta, budget, demand
        )
        full = 1.0 if demand == np.inf else demand
        value, scale_here, scale_both = 0.0, 0.0, 0.0
        if here >= 0:
            taken[goods[here]] += first
            value = worths[here] * full / rates[here]
            scale_here = scale[goods[here]] * full / rates[here]
        if other >= 0:
            j = goods[other]
            taken[j] += second
            # beta moves by of_first dp + of_second dp, and the value by -budget / beta**2 of that
            curve = budget / (beta * beta)
            if j != bank:
                scale_both = of_second * scale[j]
            bend[j, j] += curve * of_second * of_second
            if here >= 0 and of_first != 0:
                h = goods[here]
                scale_both -= of_first * scale[h]
                bend[h, h] += curve * of_first * of_first
                bend[h, j] += curve * of_first * of_second
                bend[j, h] += curve * of_first * of_second
        # the line of no option, and how far the value is from the ends of its piece
        rise = full * mu
        least = np.inf
        if here >= 0:
            least = min(least, rise / (scale_here + scale_both * value + TINY))
            if other >= 0:
                least = min(least, (budget / value - beta) / (scale_both + TINY))
        if other >= 0 and goods[other] != bank and demand < np.inf:
            top = worths[other] * full / rates[other]
            least = min(least, (beta - budget / top) / (scale_both + TINY))
        for k in range(low, high):
            if k in (here, other):
                continue
            j = goods[k]
            if j == bank:
                slack, room = 1 - beta * worths[k], scale_both * worths[k]
            elif demand == np.inf:
                slack, room = price[j] - beta * worths[k], scale[j] + scale_both * worths[k]
            else:
                size = full / rates[k]
                its_value = worths[k] * size
                slack = price[j] * size + rise - beta * its_value
                room = scale[j] * size + scale_here + scale_both * abs(value - its_value)
            least = min(least, slack / (room + TINY))
        margin[i] = max(least, 0.0)


@_compiled
def settle(start, stop, begin, goods, worths, rates, budgets, demands, price, y):
    """Fill in the chips that each buyer takes at the prices; where two are as good, of one."""
    bank = len(price) - 1
    for i in range(start, stop):
        low, high, budget, demand = begin[i], begin[i + 1], budgets[i], demands[i]
        beta, _, here, other = respond(low, high, goods, worths, rates, price, budget, demand)
        first, second, _, _ = shares(here, other, goods, worths, rates, bank, beta, budget, demand)
        for k in range(low, high):
            y[k] = 0.0
        if here >= 0:
            y[here] = first
        if other >= 0:
            y[other] = second
