"""Of the prices that caps leave open, the lowest.

Prices hang together where somebody buys two goods. They are open only where nothing in such a part
says how high they are: no good of which something is left, at its reserve; no buyer who spends all
for want of more; nobody who keeps credits for their worth.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from qmopt.market import Market
from qmopt.methods.polish import polish
from qmopt.point import Point
from qmopt.price_support import EXACT, lowest_prices
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: Share by which a price may be lower before prices count as open.
OPEN = 1e-9


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
    return None if found is None else lowered(market, *found, deadline)


def lowered(market: Market, prices: Array, levels: Array, deadline: float) -> tuple[Array, Array]:
    """Return an exact answer at the lowest prices, if its values are linear and prices open.

    Examples
    --------
    With a reserve of 2 the lowest price of the market above is 2:

    >>> market = Market([60, 40], [10], Linear([[1], [1]]), reserves=[2], utility_caps=[3, 7])
    >>> lowered(market, np.array([2.5]), np.array([3.0, 7.0]), np.inf)[0].tolist()
    [2.0]
    """
    if not isinstance(market.utility, Linear) or market.utility_caps.min() == np.inf:
        return prices, levels
    units = market.utility.taken(levels)
    if not _open(Point(market, prices, units)):
        return prices, levels
    lowest = lowest_prices(market, prices, units, deadline - time.monotonic())
    if lowest is None or not (lowest < prices * (1 - OPEN)).any():
        return prices, levels
    kept = np.maximum(market.budgets - units @ lowest, 0) * (market.keep_values > 0)
    again = polish(market, lowest, levels, kept, deadline - time.monotonic())
    return (lowest, levels) if again is None else again


def _open(point: Point) -> bool:
    """Tell whether in some part of who buys what nothing says how high prices are."""
    market, (n, m) = point.market, point.market.shape
    bought = point.allocation
    graph = sp.block_array([[None, bought], [sp.csr_array((m, n)), None]])
    _, part = connected_components(graph, directed=False)
    wanting = point.enjoyed.utility < market.utility_caps * (1 - EXACT)
    keeping = (market.keep_values > 0) & (point.enjoyed.counted > EXACT * market.budgets)
    left = point.left_over > EXACT * market.supplies
    told = np.concatenate([wanting | keeping, left])
    return len(np.unique(part[told])) < part.max() + 1
