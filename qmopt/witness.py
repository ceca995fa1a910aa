"""Who: the team, the workload or the resource at which a residual is largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qmopt.market import Market
from qmopt.point import most, stated
from qmopt.utilities.protocol import Allocation, Array


def witness(
    market: Market,
    prices: ArrayLike,
    allocation: ArrayLike | Allocation | None,
    residual: str,
    activities: ArrayLike | None = None,
) -> str:
    """Name the team, workload or resource at which a residual of the certificate is largest.

    Parameters
    ----------
    market, prices, allocation
        The point, shapes (m,) and (n, m).
    residual
        One of the names in :data:`qmopt.certificate.MEANING`.
    activities
        Shape (K,): units of each option, where the point is told by them.

    Returns
    -------
    str
        Such as "team vision", "resource h100@east" or "workload tests of team vision"; empty where
        the residual is nobody's in particular (gap), or hard to pin down (negative, thrift).

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> market = Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]]), buyers=["vision", "speech"])
    >>> witness(market, [7.5, 2.5], [[8, 0], [0, 8]], "regret")
    'team speech'
    """
    with np.errstate(all="ignore"):
        point = stated(market, prices, allocation, activities)
    missing = ~np.isfinite(point.given_prices) & ~market.empty
    if residual == "negative" and missing.any():
        return f"resource {market.goods[int(np.argmax(missing))]} has no price"
    with np.errstate(all="ignore"):
        if residual in ("overspend", "regret"):
            budgets = np.where(market.active, market.budgets, 0.0)
            sizes = {
                "overspend": np.where(point.spend > 0, point.spend / budgets, 0.0),
                "regret": np.where(market.active, 1 - point.enjoyed.utility / point.best, 0.0),
            }[residual]
            return f"team {market.buyers[_largest(sizes)]}"
        if residual == "overallocated" and most(point.overserved) >= point.overallocated > 0:
            demands, w = market.utility.demands(), _largest(point.overserved)
            return f"workload {demands.names[w]} of team {market.buyers[demands.owner[w]]}"
        if residual in ("reserve", "overallocated", "idle"):
            dear = point.prices > market.reserves
            sizes = {
                "reserve": np.where(market.reserves > 0, 1 - point.prices / market.reserves, 0.0),
                "overallocated": np.where(
                    point.units_out > 0, point.units_out / market.supplies, 0.0
                ),
                "idle": np.where(dear, point.left_over / market.supplies, 0.0),
            }[residual]
            return f"resource {market.goods[_largest(sizes)]}"
    return ""


def _largest(sizes: Array) -> int:
    return int(np.argmax(np.nan_to_num(sizes, nan=np.inf)))
