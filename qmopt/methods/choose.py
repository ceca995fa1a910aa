"""Which method clears a market when nobody says."""

from __future__ import annotations

from qmopt.market import Market
from qmopt.methods.eisenberg_gale import EisenbergGale
from qmopt.methods.interior_point import InteriorPoint
from qmopt.methods.outcome import Method
from qmopt.methods.pivoting import Pivoting
from qmopt.utilities.linear import Linear

#: Buyers and goods together up to which pivoting from nothing is quickest.
SMALL = 300
#: Goods, or buyers if these are fewer, up to which the interior point's dense system is handy.
NARROW = 1000


def choose(market: Market) -> Method:
    """Return the method for a market.

    Linear utilities: pivoting while buyers and goods together are few, the interior point while
    one of the two is; both exact and without importing CVXPY. Everything else: Eisenberg-Gale.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> choose(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])))
    Pivoting(time_limit=inf)
    """
    if isinstance(market.utility, Linear):
        if market.n + market.m <= SMALL:
            return Pivoting()
        if min(market.shape) <= NARROW:
            return InteriorPoint()
    return EisenbergGale()
