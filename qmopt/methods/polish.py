"""From a solver's point to the last bits, where values are sums of activities.

A rough point says which activities are used, which goods are sold out, who is held by a cap and
who keeps credits. That makes the definition of an equilibrium a system of equations, and Newton's
method solves it. What is found is checked against the inequalities; what breaks one changes sides,
and the system is solved again. Where the equations leave prices or units open (Leontief, caps that
meet the supply), the steps of least size stay near the solver's point.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from qmopt.market import Market
from qmopt.methods.least_step import least_step
from qmopt.methods.sides import Sides, State, ratio
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Activities, Array

#: Share by which an inequality may be missed by rounding.
SLACK = 1e-10
#: What the relative residuals of the equations come down to.
SOLVED = 1e-12
#: Share of what is there at which what changed sides starts, and below which it has vanished.
SMALL, VANISHED = 1e-6, 1e-9
STEPS, ROUNDS = 60, 20


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
    ways, deadline = market.utility.activities(), time.monotonic() + time_limit
    # at the ends of floating point numbers overflow; what comes of it does not pass the checks
    with np.errstate(all="ignore"):
        rough, sides = _first_sides(market, ways, prices, levels, kept)
        for _ in range(ROUNDS):
            found, solved = _solve(rough, sides)
            changed = _other_sides(found, sides) if solved else _vanished(rough, found, sides)
            if changed is None:
                return (found.prices, found.levels) if solved else None
            if time.monotonic() > deadline:
                return None
            sides = changed
    return None


def _first_sides(
    market: Market, ways: Activities, prices: Array, levels: Array, kept: Array
) -> tuple[State, Sides]:
    """Of two numbers whose product tends to 0, the smaller one is taken for 0."""
    brought = ways.values * levels
    whole = total_by(ways.owner, brought, market.n) + market.keep_values * kept
    share = brought / whole[ways.owner]
    # what a good earns above its reserve, of the credits of those who use it: few may be small
    interest = np.asarray((ways.needs > 0).T @ (market.budgets[ways.owner] * share))
    above = ratio(np.maximum(prices - market.reserves, 0) * market.supplies, interest)
    left = 1 - np.asarray(ways.needs.T @ levels) / market.supplies
    sold = (above > left) & (left < 0.5)
    settled = np.where(sold, np.maximum(prices, market.reserves), market.reserves)
    raw = np.maximum(prices, market.reserves)
    cost = np.minimum(market.utility.unit_cost(raw), ratio(1.0, market.keep_values))
    # what is free and enough is free; to those who never have enough nothing is
    free = (market.utility.unit_cost(settled) <= 0) & (market.utility_caps < np.inf)
    cost = np.where(free, 0.0, cost)
    dearer = State(market, ways, raw, levels, cost).dearer
    rough = State(market, ways, settled, levels, cost)
    dearer = np.where(free[ways.owner], (rough.price_of > 0) * 1.0, dearer)
    missing = 1 - whole / market.utility_caps
    saved = 1 - cost * whole / market.budgets
    capped = (market.utility_caps < np.inf) & (missing < saved)
    keeping = (market.keep_values > 0) & (kept / market.budgets > 1 - cost * market.keep_values)
    return rough, Sides((share > dearer) & (levels > 0), sold, capped, keeping)


def _solve(rough: State, sides: Sides) -> tuple[State, bool]:
    """Newton's method on the equations that the sides make, and whether it solved them."""
    market = rough.market
    # what changed sides starts small, not at 0: steps are relative
    credit = market.budgets.sum() / market.n
    prices = np.maximum(rough.prices, SMALL * credit / market.supplies)
    levels = np.maximum(rough.levels, SMALL * rough.value[rough.ways.owner] / rough.ways.values)
    prices = np.where(sides.sold, prices, market.reserves)
    levels = np.where(sides.used, levels, 0.0)
    cost = np.where(rough.cost > 0, rough.cost, market.utility.unit_cost(prices))
    cost = np.where(sides.keeping, ratio(1.0, market.keep_values), cost)
    state = State(market, rough.ways, prices, levels, cost)
    size = np.inf
    for _ in range(STEPS):
        off, slopes = _equations(state, sides)
        if not np.isfinite(off).all():
            return state, False
        before, size = size, float(np.abs(off).max(initial=0.0))
        if size <= 4e-16 or (size <= SOLVED and size > before / 2):
            break
        step = least_step(slopes, off)
        if step is None:
            return state, False
        # a relative step of -1 would end at 0: no further than half of the way
        step *= min(1.0, 0.5 / max(float(-step.min(initial=0.0)), 0.5))
        state = _moved(state, sides, step)
    return state, size <= SOLVED


def _moved(state: State, sides: Sides, step: Array) -> State:
    """Take a relative step: prices of sold goods, levels in use, costs that are not fixed."""
    goods, ways = int(sides.sold.sum()), int(sides.used.sum())
    prices, levels, cost = state.prices.copy(), state.levels.copy(), state.cost.copy()
    prices[sides.sold] *= 1 + step[:goods]
    levels[sides.used] *= 1 + step[goods : goods + ways]
    cost[~sides.keeping] *= 1 + step[goods + ways :]
    return State(state.market, state.ways, prices, levels, cost)


def _equations(state: State, sides: Sides) -> tuple[Array, sp.csr_array]:
    """Relative residuals of the equations, and their slopes in relative changes.

    An activity in use costs its owner's unit cost of what it brings; a sold good is handed out; who
    is neither held by a cap nor keeps credits spends the budget, and who is held has the cap.
    """
    market, ways = state.market, state.ways
    used, sold = np.flatnonzero(sides.used), np.flatnonzero(sides.sold)
    free = ~sides.keeping
    owner = ways.owner[used]
    worth = (state.cost[ways.owner] * ways.values)[used]
    priced = (worth > 0) | (state.price_of[used] > 0)  # what is free says nothing
    needs = sp.csr_array(ways.needs[used])
    place = np.cumsum(free) - 1
    # activities: their price over what they bring, less 1
    by_price = sp.csr_array(
        sp.diags_array(1 / worth) @ needs[:, sold] @ sp.diags_array(state.prices[sold])
    )
    dear = state.price_of[used] / worth
    mine = np.flatnonzero(free[owner])
    by_cost = sp.csr_array(
        (-dear[mine], (mine, place[owner[mine]])), shape=(len(used), int(free.sum()))
    )
    # goods: the share that is handed out, less 1
    by_level = sp.csr_array(
        sp.diags_array(1 / market.supplies[sold])
        @ needs[:, sold].T
        @ sp.diags_array(state.levels[used])
    )
    # buyers: their value over what they are to have, less 1
    goal = np.where(sides.capped, market.utility_caps, market.budgets / state.cost)
    told = free
    share = state.value / goal
    part = state.brought[used] / goal[owner]
    rows = np.flatnonzero(told)
    mine = np.flatnonzero(told[owner])
    by_value = sp.csr_array((part[mine], (place[owner[mine]], mine)), shape=(len(rows), len(used)))
    uncapped = ~sides.capped[rows]
    by_own = sp.diags_array(np.where(uncapped, share[rows], 0.0))
    slopes = sp.csr_array(
        sp.block_array(
            [
                [by_price[priced], None, by_cost[priced]],
                [None, by_level, None],
                [None, by_value, by_own],
            ]
        )
    )
    return np.concatenate([dear[priced] - 1, state.out[sold] - 1, share[rows] - 1]), slopes


def _vanished(rough: State, found: State, sides: Sides) -> Sides | None:
    """Put on the other side what the equations would have below 0; None where there is nothing."""
    mine = found.brought <= VANISHED * rough.value[rough.ways.owner]
    credit = found.market.budgets.sum() / found.market.n
    free = found.prices * found.market.supplies <= VANISHED * credit
    # what would be free to somebody who never has enough has to be sold
    greedy = sides.used & (found.price_of <= 0) & ~sides.capped[found.ways.owner]
    dear = np.asarray((found.ways.needs > 0).T @ greedy.astype(float)) > 0
    free &= ~dear
    if not ((sides.used & mine).any() or (sides.sold & free).any() or (dear & ~sides.sold).any()):
        return None
    return replace(sides, used=sides.used & ~mine, sold=(sides.sold & ~free) | dear)


def _other_sides(found: State, sides: Sides) -> Sides | None:
    """Change sides where an inequality is broken; None where all of them hold."""
    market = found.market
    cheaper = ~sides.used & (found.dearer < -SLACK)
    crowded = ~sides.sold & (found.out > 1 + SLACK)
    cheap = sides.sold & (found.prices < market.reserves * (1 - SLACK))
    whole = found.value
    over = ~(sides.capped & ~sides.keeping) & (whole > market.utility_caps * (1 + SLACK))
    short = sides.capped & ~sides.keeping
    short &= found.cost * whole > market.budgets * (1 + SLACK)
    keeps = ~sides.keeping & (found.cost * market.keep_values > 1 + SLACK)
    broke = sides.keeping & (found.spend > market.budgets * (1 + SLACK))
    if not any(side.any() for side in (cheaper, crowded, cheap, over, short, keeps, broke)):
        return None
    return replace(
        sides,
        used=sides.used | cheaper,
        sold=(sides.sold | crowded) & ~cheap,
        capped=(sides.capped | over) & ~short,
        keeping=(sides.keeping | keeps) & ~broke & ~over,
    )
