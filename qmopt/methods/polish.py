"""From a solver's point to the last bits, where values are sums of activities.

A rough point says which activities are used, which goods are sold out, who is held by a cap and
who keeps credits. That makes the definition of an equilibrium a system of equations, and Newton's
method solves it. What is found is checked against the inequalities; what breaks one changes sides,
and the system is solved again. Where the equations leave prices or units open (Leontief, caps that
meet the supply), the steps of least size stay near the solver's point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from qmopt.market import Market
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Activities, Array

Mask = NDArray[np.bool_]

#: Weight that keeps equations which say the same from dividing by zero; Newton makes up for it.
DAMPING = 1e-10
#: Share by which an inequality may be missed by rounding.
SLACK = 1e-10
#: What the relative residuals of the equations come down to.
SOLVED = 1e-12
#: Share of what is there at which what changed sides starts, and below which it has vanished.
SMALL, VANISHED = 1e-6, 1e-9
STEPS, ROUNDS = 60, 20


@dataclass(frozen=True)
class Sides:
    """Which of two complementary numbers is the one that is zero.

    Parameters
    ----------
    used
        Shape (K,): activities that are as cheap as any.
    sold
        Shape (m,): goods of which nothing is left, so that their price is free.
    capped, keeping
        Shape (n,): buyers with all the utility that they want, and those who keep credits for
        their worth.
    """

    used: Mask
    sold: Mask
    capped: Mask
    keeping: Mask


@dataclass(frozen=True)
class State:
    """A point of the part of a market that trades: prices (m,), levels (K,), unit costs (n,)."""

    market: Market
    ways: Activities
    prices: Array
    levels: Array
    cost: Array

    @cached_property
    def price_of(self) -> Array:
        """Credits per unit of each activity, (K,)."""
        return np.asarray(self.ways.needs @ self.prices)

    @cached_property
    def brought(self) -> Array:
        """Value from each activity, (K,)."""
        return self.ways.values * self.levels

    @cached_property
    def value(self) -> Array:
        """Value of each buyer's activities, (n,)."""
        return total_by(self.ways.owner, self.brought, self.market.n)

    @cached_property
    def out(self) -> Array:
        """Share of each supply that is handed out, (m,)."""
        return np.asarray(self.ways.needs.T @ self.levels) / self.market.supplies

    @cached_property
    def spend(self) -> Array:
        """Credits paid by each buyer, (n,)."""
        return total_by(self.ways.owner, self.price_of * self.levels, self.market.n)

    @cached_property
    def dearer(self) -> Array:
        """Share by which each activity is dearer than its owner's unit cost, (K,); at most 1."""
        return 1 - ratio(self.cost[self.ways.owner] * self.ways.values, self.price_of)


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
        cost = np.minimum(market.utility.unit_cost(prices), ratio(1.0, market.keep_values))
        rough = State(market, ways, np.maximum(prices, market.reserves), levels, cost)
        sides = _first_sides(rough, kept)
        for _ in range(ROUNDS):
            found, solved = _solve(rough, sides)
            changed = _other_sides(found, sides) if solved else _vanished(rough, found, sides)
            if changed is None:
                return (found.prices, found.levels) if solved else None
            if time.monotonic() > deadline:
                return None
            sides = changed
    return None


def ratio(top: Array | float, bottom: Array) -> Array:
    """Quotient of nonnegative numbers with 0/0 = 1 and positive/0 = inf."""
    return np.where((np.asarray(top) == 0) & (bottom == 0), 1.0, top / bottom)


def _first_sides(rough: State, kept: Array) -> Sides:
    """Of two numbers whose product tends to 0, the smaller one is taken for 0."""
    market, ways = rough.market, rough.ways
    whole = rough.value + market.keep_values * kept
    credit = market.budgets.sum() / market.n
    above = (rough.prices - market.reserves) * market.supplies / credit
    missing = 1 - whole / market.utility_caps
    saved = 1 - rough.cost * whole / market.budgets
    capped = (market.utility_caps < np.inf) & (missing < saved)
    keeping = (market.keep_values > 0) & (
        kept / market.budgets > 1 - rough.cost * market.keep_values
    )
    used = rough.brought / whole[ways.owner] > rough.dearer
    return Sides(used & (rough.levels > 0), above > 1 - rough.out, capped, keeping)


def _solve(rough: State, sides: Sides) -> tuple[State, bool]:
    """Newton's method on the equations that the sides make, and whether it solved them."""
    market = rough.market
    cost = np.where(sides.keeping, ratio(1.0, market.keep_values), rough.cost)
    # what changed sides starts small, not at 0: steps are relative
    credit = market.budgets.sum() / market.n
    prices = np.maximum(rough.prices, SMALL * credit / market.supplies)
    levels = np.maximum(rough.levels, SMALL * rough.value[rough.ways.owner] / rough.ways.values)
    prices = np.where(sides.sold, prices, market.reserves)
    levels = np.where(sides.used, levels, 0.0)
    state = State(market, rough.ways, prices, levels, cost)
    size = np.inf
    for _ in range(STEPS):
        off, slopes = _equations(state, sides)
        if not np.isfinite(off).all():
            return state, False
        before, size = size, float(np.abs(off).max(initial=0.0))
        if size <= 4e-16 or (size <= SOLVED and size > before / 2):
            break
        step = _least_step(slopes, off)
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


def _least_step(slopes: sp.csr_array, off: Array) -> Array | None:
    """Return the shortest step that undoes the residuals, up to the damping."""
    equations, unknowns = slopes.shape
    system = sp.block_array(
        [[sp.eye_array(unknowns), slopes.T], [slopes, -DAMPING * sp.eye_array(equations)]],
        format="csc",
    )
    try:
        found = splu(system).solve(np.concatenate([np.zeros(unknowns), -off]))
    except RuntimeError:  # singular to the last bit
        return None
    return found[:unknowns] if np.isfinite(found).all() else None


def _vanished(rough: State, found: State, sides: Sides) -> Sides | None:
    """Put on the other side what the equations would have below 0; None where there is nothing."""
    mine = found.brought <= VANISHED * rough.value[rough.ways.owner]
    credit = found.market.budgets.sum() / found.market.n
    free = found.prices * found.market.supplies <= VANISHED * credit
    if not ((sides.used & mine).any() or (sides.sold & free).any()):
        return None
    return replace(sides, used=sides.used & ~mine, sold=sides.sold & ~free)


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
