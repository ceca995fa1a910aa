"""Kept credits and utility caps: the whole utility around a family.

A buyer who values a kept credit at ``keep_value`` sees money as one more good with price 1; a cap
bounds the whole utility::

    u_i = min(cap_i, value_i(x_i) + keep_value_i * kept_i),   kept_i = (budget_i - spend_i)+

With ``keep_value = 0`` and ``cap = inf`` this is the family itself. Unit costs here are those of
the whole utility: ``beta_i = min(1 / keep_value_i, unit cost of the family at the prices)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qmopt.utilities.protocol import Array, Utility


class Enjoyed(NamedTuple):
    """What each buyer has in the end, each of shape (n,)."""

    #: Whole utility, at most the cap.
    utility: Array
    #: Credits left over, whether or not they are worth anything.
    kept: Array
    #: Kept credits that still count: those below the cap, zero where they are worth nothing.
    counted: Array


def enjoyed(value: Array, spend: Array, budgets: Array, keep_values: Array, caps: Array) -> Enjoyed:
    """Whole utility and the kept credits that count, from the value and the spend of bundles.

    Examples
    --------
    A budget of 10, of which 4 is spent on a bundle worth 6; a kept credit is worth 1, and utility
    above 8 is not needed, so that 2 of the 6 kept credits count:

    >>> one = np.ones(1)
    >>> enjoyed(6 * one, 4 * one, 10 * one, one, 8 * one)
    Enjoyed(utility=array([8.]), kept=array([6.]), counted=array([2.]))
    """
    kept = np.maximum(budgets - spend, 0)
    utility = np.minimum(caps, value + keep_values * kept)
    room = np.maximum(caps - value, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        counted = np.where(keep_values > 0, np.minimum(kept, room / keep_values), 0.0)
    return Enjoyed(utility, kept, counted)


def unit_cost(utility: Utility, prices: Array, keep_values: Array) -> Array:
    """Least spend per unit of whole utility, credits, shape (n,)."""
    with np.errstate(divide="ignore"):
        return np.minimum(1 / keep_values, utility.unit_cost(prices))


def best_value(cost: Array, budgets: Array, caps: Array) -> Array:
    """Best whole utility that the budget affords at a unit cost; ``inf`` where it is free.

    A buyer without credits has 0, even of what is free: it takes no part.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.minimum(caps, np.where(budgets > 0, budgets / cost, 0.0))


def conjugate(cost: Array, budgets: Array, caps: Array) -> Array:
    """Largest ``budget * log(u) - cost * u`` over ``0 < u <= cap``, shape (n,).

    ``B log(B/cost) - B`` where the budget binds, ``B log(cap) - cost * cap`` where the cap does.
    """
    best = best_value(cost, budgets, caps)
    with np.errstate(divide="ignore", invalid="ignore"):
        # at the uncapped best, cost * best is the budget itself
        spend = np.where(np.isfinite(caps) & (best >= caps), cost * caps, budgets)
        return budgets * np.log(best) - spend


def missed(value: Array, cost: Array, budgets: Array, keep_values: Array, tops: Array) -> Array:
    """By how much another value up to the top would do better, credits, shape (n,).

    With ``F(v) = max B log(v + keep_value * k) - k`` over kept credits k, up to the utility cap if
    there is one: ``max F(w) - cost * w`` over ``0 <= w <= top``, less ``F(v) - cost * v``. Up to
    ``low = min(keep_value * B, top)`` value replaces kept credits, so F is straight, with slope
    ``1 / keep_value``; from there on it is ``B log v`` and a constant. (A cap below
    ``keep_value * B`` ends the straight part earlier, but is then the top itself or above it.)
    Every term is nonnegative and none is a difference of large numbers.

    Parameters
    ----------
    value
        Shape (n,): what each buyer's bundle is worth, at most ``tops``.
    cost
        Shape (n,): least spend per unit of it.
    budgets, keep_values
        Shape (n,): credits, and what a kept one is worth.
    tops
        Shape (n,): most value that goods can have, no more than the cap on the whole utility.

    Examples
    --------
    Credits 2, a unit of value costs 1, so 2 of it would be best; with 1, what is missed is
    2 log 2 - (2 - 1). Where only 1 can be had, nothing is missed:

    >>> one, none = np.ones(1), np.zeros(1)
    >>> missed(one, one, 2 * one, none, np.inf * one).round(6).tolist()
    [0.386294]
    >>> missed(one, one, 2 * one, none, one).tolist()
    [0.0]
    """
    low = np.minimum(keep_values * budgets, tops)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        aim = np.clip(budgets / cost, low, tops)
        held = np.maximum(value, low)
        off = (held - aim) / aim
        # log(held / aim): from the difference near 1, from the ratio near 0
        log_off = np.where(off > -0.5, np.log1p(off), np.log(held / aim))
        # the second term is 0, but for the last bits, where the aim is inside
        curved = budgets * (off - log_off) + (cost * aim - budgets) * off
        rate = 1 / keep_values - cost
        short = np.where(rate > 0, low - value, np.minimum(value, low))
        straight = np.where(short > 0, np.abs(rate) * short, 0.0)
    return curved + straight
