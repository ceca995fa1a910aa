"""From the end of a path to the last bits.

The end says which activities are used, which goods are sold out and which limits are met. That
makes the conditions a system of equations, linear but for the budgets, and Newton's method solves
it. What is found is checked against the inequalities; what breaks one changes sides, and the system
is solved again. Where equations leave something open, the least change is made.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.methods.activities.iterate import Iterate
from qmopt.methods.activities.reduced import Reduced
from qmopt.methods.activities.scaled import Scaled
from qmopt.methods.least_step import least_step
from qmopt.utilities.protocol import Array

#: Share by which an inequality may be missed by rounding.
SLACK = 1e-11
#: What the relative residuals of the equations come down to, what they may be where equations are
#: at odds by no more than rounding, and beyond which Newton's method has lost its way.
SOLVED, SETTLED, FAR = 1e-12, 1e-10, 1e3
#: Newton's steps, from how many on they have to contract, and how often sides may change.
STEPS, LEAST, ROUNDS = 12, 3, 40
#: Barriers at which sides are told where they are not clear at the end of the path, and the
#: relative change of a step that is as good as at the point with that barrier.
BARRIERS, CENTRED = (1e-11, 1e-9, 1e-12, 1e-8), 0.1
#: Share of a budget, or of a good's mean price, below which something is next to nothing.
USUAL = 1e-2
#: Share of the largest residual from which on an equation takes part in a contradiction.
PART = 0.02
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class _Sides:
    """Which activities are used (L,), goods sold out (m,) and limits met (W,)."""

    used: Mask
    sold: Mask
    met: Mask


@dataclass(frozen=True)
class _Point:
    """Levels (L,), prices above the reserve (m,), rents (W,) and costs (n,)."""

    levels: Array
    prices: Array
    rents: Array
    costs: Array


@np.errstate(all="ignore")
def settle(
    scaled: Scaled, here: Iterate, share: float, deadline: float = np.inf
) -> tuple[Array, Array] | None:
    """Return prices (m,) and levels (K,) in the market's units, or None where none were found.

    The sides are told at the end of the path; where they were not clear there, at other points of
    it.

    Parameters
    ----------
    scaled
        The system.
    here
        The end of a path, or near it.
    share
        0 or 1: of the rents of demands that a buyer spends.
    deadline
        Of ``time.monotonic``, after which no other sides are tried.
    """
    for barrier in (0.0, *BARRIERS):
        there = _centred(scaled, here, barrier, share) if barrier else here
        found = _settle(scaled, there, share, deadline)
        if found is not None or time.monotonic() > deadline:
            return found
    return None


def _centred(scaled: Scaled, here: Iterate, barrier: float, share: float) -> Iterate:
    """Go to the point of the path with a given barrier, from near it."""
    for _ in range(STEPS):
        try:
            move = Reduced(scaled, here, share).towards(barrier)
        except FloatingPointError:
            return here
        change = here.relative(move)
        there = here.moved(move, min(1.0, 0.9 / max(float(-change.min()), 1e-300)))
        if not np.isfinite(there.product()):
            return here
        here = there
        if np.abs(change).max() < CENTRED:
            return here
    return here


def _settle(
    scaled: Scaled, here: Iterate, share: float, deadline: float
) -> tuple[Array, Array] | None:
    """Tell sides at one point, solve, and change sides until nothing is broken."""
    sides = _first_sides(scaled, here)
    tried: set[tuple[int, int]] = set()
    start = _Point(here.levels, here.prices, here.rents, here.costs)
    for _ in range(ROUNDS):
        found, off = _solve(scaled, start, sides, share)
        if found is None:
            return None
        changed = _at_odds(scaled, here, sides, off, tried) or _other_sides(scaled, found, sides)
        if changed is None:
            if np.abs(off).max(initial=0.0) > SETTLED:
                return None
            levels = np.maximum(found.levels[: scaled.count], 0) * scaled.full
            return scaled.in_credits(np.maximum(found.prices, 0)), levels
        if time.monotonic() > deadline:
            return None
        sides = changed
    return None


def _first_sides(scaled: Scaled, here: Iterate) -> _Sides:
    """Of two numbers whose product tends to 0, the smaller one is taken for 0."""
    return _Sides(
        used=scaled.used(here),
        sold=here.prices > here.idle * scaled.weights.goods,
        met=here.rents > here.room * scaled.budgets[scaled.team],
    )


def _solve(
    scaled: Scaled, start: _Point, sides: _Sides, share: float
) -> tuple[_Point | None, Array]:
    """Newton's method on the equations that the sides make; a point, and how far each is off."""
    used, sold, met = (np.flatnonzero(side) for side in (sides.used, sides.sold, sides.met))
    point = _Point(
        np.where(sides.used, start.levels, 0.0),
        np.where(sides.sold, start.prices, 0.0),
        np.where(sides.met, start.rents, 0.0),
        start.costs,
    )
    size, off = np.inf, np.zeros(0)
    for step_number in range(STEPS):
        off, slopes = _equations(scaled, point, (used, sold, met), share)
        before, size = size, float(np.abs(off).max(initial=0.0))
        if not np.isfinite(size) or size > FAR:
            return None, off
        # what no longer contracts is done, or at odds with itself
        if size <= 4e-16 or (size > before / 2 and (size <= SOLVED or step_number >= LEAST)):
            return point, off
        step = least_step(slopes, off)
        if step is None:
            return None, off
        by_price, by_level, by_rent, by_cost = np.split(
            step, np.cumsum([len(sold), len(used), len(met)])
        )
        units = _units(scaled, point)
        levels, prices, rents = point.levels.copy(), point.prices.copy(), point.rents.copy()
        prices[sold] += by_price * units.prices[sold]
        levels[used] += by_level * units.levels[used]
        rents[met] += by_rent * units.rents[met]
        point = _Point(levels, prices, rents, point.costs + by_cost * units.costs)
    return point, off


def _units(scaled: Scaled, point: _Point) -> _Point:
    """Units of changes: what is there, but of what is next to nothing some part of a usual size.

    In its own size that would hardly move, though it may have to go to 0.
    """
    owner, brought = scaled.owner, point.costs[scaled.owner] * scaled.worth
    return _Point(
        np.maximum(point.levels, USUAL * scaled.budgets[owner] / brought),
        np.maximum(point.prices, USUAL * scaled.weights.goods),
        np.maximum(point.rents, USUAL * scaled.budgets[scaled.team]),
        point.costs,
    )


def _equations(
    scaled: Scaled, point: _Point, chosen: tuple[NDArray[np.int64], ...], share: float
) -> tuple[Array, sp.csr_array]:
    """Relative residuals of the equations, and their slopes in changes by :func:`_units`.

    An activity in use costs what it brings; a sold good is handed out; a limit that is met is; and
    value, at its cost, is the budget with the rents that it includes.
    """
    used, sold, met = chosen
    units = _units(scaled, point)
    owner = scaled.owner[used]
    brought = point.costs[owner] * scaled.worth[used]
    needs, uses = sp.csr_array(scaled.needs[used]), sp.csc_array(scaled.uses)[:, used]
    asked = needs @ (point.prices + scaled.reserves) + scaled.bank[used] + uses.T @ point.rents
    per = sp.diags_array(1 / brought)
    dear = asked / brought
    n, count = len(scaled.budgets), len(used)
    by_price = per @ needs[:, sold] @ sp.diags_array(units.prices[sold])
    by_rent = per @ uses[met].T @ sp.diags_array(units.rents[met])
    by_cost = sp.csr_array((-dear, (np.arange(count), owner)), shape=(count, n))
    levels = sp.diags_array(units.levels[used])
    sold_by_level, met_by_level = needs[:, sold].T @ levels, uses[met] @ levels
    value = scaled.value(point.levels)
    spent = point.costs * value / scaled.budgets
    paid = brought * units.levels[used] / scaled.budgets[owner]
    budget_by_level = sp.csr_array((-paid, (owner, np.arange(count))), shape=(n, count))
    rented = share * sp.csr_array(sp.diags_array(1 / scaled.budgets) @ scaled.rented)
    budget_by_rent = sp.csc_array(rented)[:, met] @ sp.diags_array(units.rents[met])
    off = (
        dear - 1,
        scaled.handed_out(point.levels)[sold] - 1,
        scaled.used_up(point.levels)[met] - 1,
        1 - spent + np.asarray(rented @ point.rents),
    )
    slopes = sp.block_array(
        [
            [by_price, None, by_rent, by_cost],
            [None, sold_by_level, None, None],
            [None, met_by_level, None, None],
            [None, budget_by_level, budget_by_rent, sp.diags_array(-spent)],
        ]
    )
    return np.concatenate(off), sp.csr_array(slopes)


def _at_odds(
    scaled: Scaled, here: Iterate, sides: _Sides, off: Array, tried: set[tuple[int, int]]
) -> _Sides | None:
    """Put the most doubtful of contradictory equations on the other side; None if none are.

    What is left of the residuals says which contradict each other. Of these one goes that would
    hold as an inequality (an activity that is dearer than it brings, a good or a limit of which
    something is left), the one for which that was closest at the end of the path. What was tried
    before and came back is not tried again.
    """
    most = float(np.abs(off).max(initial=0.0))
    if most <= SETTLED:
        return None
    used, sold, met = (np.flatnonzero(side) for side in (sides.used, sides.sold, sides.met))
    by_activity, by_good, by_limit, _ = np.split(off, np.cumsum([len(used), len(sold), len(met)]))
    brought = (here.costs[scaled.owner] * scaled.worth)[used]
    doubts = np.concatenate(
        [
            here.slacks[used] / brought / (here.levels[used] * brought / _budget(scaled, used)),
            here.idle[sold] / (here.prices[sold] / scaled.weights.goods[sold]),
            here.room[met] / (here.rents[met] / scaled.budgets[scaled.team[met]]),
        ]
    )
    loose = np.concatenate([by_activity, -by_good, -by_limit]) > PART * most
    kinds = np.repeat([0, 1, 2], [len(used), len(sold), len(met)])
    places = np.concatenate([used, sold, met])
    candidates = np.flatnonzero(loose)
    for c in candidates[np.argsort(-doubts[candidates])]:
        one = int(kinds[c]), int(places[c])
        if one not in tried:
            tried.add(one)
            masks = [sides.used.copy(), sides.sold.copy(), sides.met.copy()]
            masks[one[0]][one[1]] = False
            return _Sides(*masks)
    return None


def _budget(scaled: Scaled, used: NDArray[np.int64]) -> Array:
    return scaled.budgets[scaled.owner[used]]


def _other_sides(scaled: Scaled, found: _Point, sides: _Sides) -> _Sides | None:
    """Change sides where an inequality is broken; None where all of them hold."""
    brought = found.costs[scaled.owner] * scaled.worth
    slack = scaled.slacks(found.prices, found.rents, found.costs)
    asked = slack + brought
    credits = found.levels * asked / scaled.budgets[scaled.owner]
    room = 1 - scaled.used_up(found.levels)
    idle = 1 - scaled.handed_out(found.levels)
    negative = sides.used & (credits < -SLACK)
    cheaper = ~sides.used & (slack < -SLACK * np.maximum(asked, brought))
    below = sides.sold & (found.prices < -SLACK * scaled.weights.goods)
    crowded = ~sides.sold & (idle < -SLACK)
    paying = sides.met & (found.rents < -SLACK * scaled.budgets[scaled.team])
    over = ~sides.met & (room < -SLACK)
    broken = (negative, cheaper, below, crowded, paying, over)
    if not any(side.any() for side in broken):
        return None
    return replace(
        sides,
        used=(sides.used & ~negative) | cheaper,
        sold=(sides.sold & ~below) | crowded,
        met=(sides.met & ~paying) | over,
    )
