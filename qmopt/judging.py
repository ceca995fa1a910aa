"""Judge a point, or prices alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from qmopt.arguments import number
from qmopt.certificate import Certificate, measure
from qmopt.errors import MarketError
from qmopt.given import point_of, prices_of
from qmopt.market import Market
from qmopt.point import per_good
from qmopt.support import supporting_allocation
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.smooth import Smooth

if TYPE_CHECKING:
    from qmopt.given import Rows

#: Share by which exact prices miss a tie because of rounding.
LAST_BITS = 1e-11


def certify(
    market: Market,
    prices: ArrayLike | Rows,
    allocation: ArrayLike | Allocation | Rows | None = None,
    *,
    tolerance: float = 1e-8,
) -> Certificate:
    """Measure prices and an allocation, or prices alone, against the definition of an equilibrium.

    Parameters
    ----------
    market
        n buyers, m goods.
    prices
        Shape (m,), credits per unit; nan is allowed for a good without supply, and only there. Or
        a table with columns ``resource`` and ``price``, such as ``found.tables()["prices"]``.
    allocation
        Shape (n, m), units, dense or sparse, or a DataFrame with teams down and resources across;
        guaranteed units not included. Or a table with columns ``team``, ``resource`` and ``units``,
        such as ``found.tables()["allocation"]``, where units are all that a team holds: what is
        guaranteed to it is taken off. For :class:`qmopt.Workloads` the columns ``workload`` and
        ``option`` say what the units are for; without them a team's best use of them counts. Left
        out, prices are judged alone: they are equilibrium prices if some allocation goes with them,
        so the best that can be found is measured like any other.
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
    TableError
        If a row of a table is wrong, or names what the market does not have.

    Examples
    --------
    Prices 7.5 and 2.5 are right, 5 and 5 are not: at those both teams want good 0 only.

    >>> from qmopt import Linear, Market
    >>> market = Market(budgets=[60, 40], supplies=[8, 16], utility=Linear([[4, 1], [2, 1]]))
    >>> certify(market, [7.5, 2.5], [[8, 0], [0, 16]]).certified()
    True
    >>> certify(market, [7.5, 2.5]).certified(), certify(market, [5, 5]).certified()
    (True, False)

    The same as a table, in any order:

    >>> table = [{"resource": "1", "price": 2.5}, {"resource": "0", "price": 7.5}]
    >>> certify(market, table).certified()
    True
    """
    if not isinstance(market, Market):
        said = f"{type(market).__name__}; read_market reads one from a path"
        raise MarketError(f"a Market expected, got {said}")
    tolerance = number("tolerance", tolerance, below=1)
    told = prices_of(market, prices)
    if allocation is not None:
        units, levels = point_of(market, allocation)
        return measure(market, told, units if levels is None else None, tolerance, levels)
    usable = np.nan_to_num(per_good(market, told), posinf=0.0, neginf=0.0)
    if isinstance(market.utility, Smooth):
        return measure(market, told, _demand(market, market.utility, usable), tolerance)
    if not isinstance(market.utility, Linear):
        raise MarketError(
            "prices alone can be judged for linear, CES and Cobb-Douglas utilities; give the "
            "allocation"
        )
    with np.errstate(all="ignore"):  # as the measuring: what overflows counts as infinite
        support = supporting_allocation(market, usable, max(tolerance, LAST_BITS))
        found = measure(market, told, support, tolerance)
        if not found.certified() and tolerance > LAST_BITS:
            # among pairs that are tied to the tolerance only, what cannot be bought may hide what
            # can: exact prices have exact ties
            support = supporting_allocation(market, usable, LAST_BITS)
            exact = measure(market, told, support, tolerance)
            found = min(found, exact, key=lambda certificate: certificate.worst)
    return found


def _demand(market: Market, utility: Smooth, prices: Array) -> Allocation:
    """Return what buyers take at these prices, where there is only one answer."""
    if market.keep_values[market.active].any() or (market.utility_caps < np.inf).any():
        raise MarketError(
            "prices alone leave it open how much buyers with keep_values or utility_caps take; "
            "give the allocation"
        )
    offered = np.where(market.empty, np.inf, np.maximum(prices, 0))
    return utility.best(offered, np.where(market.active, market.budgets, 0.0)).activities
