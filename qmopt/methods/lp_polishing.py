"""The end of the programs in levels: units and credits again, and prices to the last bits."""

from __future__ import annotations

import time

import numpy as np

from qmopt.market import Market
from qmopt.methods.lp_scaled import Levels, Scaled
from qmopt.methods.polish import polish
from qmopt.price_support import lowest_prices
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: Share by which a price may be lower before prices count as open.
OPEN = 1e-9
#: Share of a supply that rounding may take: what is free is not to look sold out for that.
ROUNDING = 1e-13


def in_units(market: Market, scaled: Scaled, point: Levels) -> tuple[Array, Array, Array]:
    """Prices (m,) per unit, units of each activity (K,), credits kept by each buyer (n,).

    What the solver's tolerance hands out too much of is given back by all who use it.
    """
    out = np.maximum(np.asarray(scaled.uses.T @ point.levels), 1) + ROUNDING
    uses = scaled.uses.tocoo()
    crowded = np.zeros(len(point.levels))
    np.maximum.at(crowded, uses.row, out[uses.col])
    credit = market.budgets.sum() / market.n
    prices = np.maximum(point.prices * credit / market.supplies, market.reserves)
    return prices, point.levels / crowded * scaled.full, point.kept * market.budgets


def polished(
    market: Market, prices: Array, levels: Array, kept: Array, deadline: float
) -> tuple[Array, Array] | None:
    """Take a point to the last bits; of plain bids whose prices caps leave open, to the lowest.

    Parameters
    ----------
    market, prices, levels, kept
        As for :func:`qmopt.methods.polish.polish`.
    deadline
        Of ``time.monotonic()``.

    Returns
    -------
    Prices and levels; None where nothing exact was found.

    Examples
    --------
    Two teams with caps take all 10 units, at any price up to 40/7; the lowest is 0:

    >>> market = Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, 7])
    >>> rough = np.array([2.5]), np.array([3.0, 7.0]), np.zeros(2)
    >>> polished(market, *rough, np.inf)[0].tolist()
    [0.0]
    """
    found = polish(market, prices, levels, kept, deadline - time.monotonic())
    if found is None or not isinstance(market.utility, Linear):
        return found
    prices, levels = found
    units = market.utility.taken(levels)
    lowest = lowest_prices(market, prices, units, deadline - time.monotonic())
    if lowest is None or not (lowest < prices * (1 - OPEN)).any():
        return found
    kept = np.maximum(market.budgets - units @ prices, 0) * (market.keep_values > 0)
    again = polish(market, lowest, levels, kept, deadline - time.monotonic())
    return (lowest, levels) if again is None else again
