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
