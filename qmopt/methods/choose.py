"""Which method clears a market when nobody says."""

from __future__ import annotations

from qmopt.market import Market
from qmopt.methods.eisenberg_gale import EisenbergGale
from qmopt.methods.outcome import Method
from qmopt.methods.pivoting import Pivoting
from qmopt.utilities.linear import Linear

#: Buyers and goods together up to which pivoting from nothing is quicker than the conic solver.
SMALL = 300


def choose(market: Market) -> Method:
    """Return the method for a market: pivoting for small linear ones, else Eisenberg-Gale.

    Pivoting answers in milliseconds, and without importing CVXPY; its pivots grow with the market,
    and from some hundred buyers and goods on the conic solver's head start is worth its price.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> choose(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])))
    Pivoting(time_limit=inf)
    """
    if isinstance(market.utility, Linear) and market.n + market.m <= SMALL:
        return Pivoting()
    return EisenbergGale()
