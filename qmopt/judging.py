"""Judge a point, or prices alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qmopt.certificate import Certificate, measure
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.point import per_good
from qmopt.support import supporting_allocation
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Allocation


def certify(
    market: Market,
    prices: ArrayLike,
    allocation: ArrayLike | Allocation | None = None,
    *,
    tolerance: float = 1e-8,
) -> Certificate:
    """Measure prices and an allocation, or prices alone, against the definition of an equilibrium.

    Parameters
    ----------
    market
        n buyers, m goods.
    prices
        Shape (m,), credits per unit; nan is allowed for a good without supply, and only there.
    allocation
        Shape (n, m), units, dense or sparse; guaranteed units not included. Left out, prices are
        judged alone: they are equilibrium prices if some allocation goes with them, so the best
        that can be found is measured like any other.
    tolerance
        At which :meth:`Certificate.certified` decides, and at which a team counts as satisfied.

    Returns
    -------
    Certificate
        Every residual of the definition.

    Raises
    ------
    MarketError
        If prices or allocation do not have the shape of the market.

    Examples
    --------
    Prices 7.5 and 2.5 are right, 5 and 5 are not: at those both teams want good 0 only.

    >>> from qmopt import Linear, Market
    >>> market = Market(budgets=[60, 40], supplies=[8, 16], utility=Linear([[4, 1], [2, 1]]))
    >>> certify(market, [7.5, 2.5], [[8, 0], [0, 16]]).certified()
    True
    >>> certify(market, [7.5, 2.5]).certified(), certify(market, [5, 5]).certified()
    (True, False)
    """
    if allocation is not None:
        return measure(market, prices, allocation, tolerance)
    if not isinstance(market.utility, Linear):
        raise MarketError("prices alone can be judged for linear utilities; give the allocation")
    usable = np.nan_to_num(per_good(market, prices), posinf=0.0, neginf=0.0)
    with np.errstate(all="ignore"):  # as the measuring: what overflows counts as infinite
        support = supporting_allocation(market, usable, max(tolerance, 1e-12))
    return measure(market, prices, support, tolerance)
