"""All prices at which an exact answer is one: a polytope, since goods and bids stay as they are.

Caps, bundles and demands can leave prices open. An activity in use is as cheap as any, a good of
which something is left is at its reserve, and who has enough may pay less than the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from qmopt.market import Market
from qmopt.point import Point
from qmopt.solvers import linear_program
from qmopt.utilities.protocol import Allocation, Array

#: Residual up to which a point counts as exact: then zero and nonzero can be told apart.
EXACT = 1e-9
#: Goods times entries of the linear programs that find their intervals: some seconds' worth.
AFFORDABLE = 300_000


def lowest_prices(
    market: Market, prices: Array, allocation: Allocation, time_limit: float = np.inf
) -> Array | None:
    """Return the cheapest prices at which an exact answer is one, (m,); None where not found.

    For linear utilities they are the lowest of every good at once: conditions on prices q and unit
    costs beta are of the kind ``q_j >= v_ij beta_i``, and of two solutions the smaller of each
    number is a solution, too.

    Examples
    --------
    Two teams with caps take all 10 units, at any price up to 40/7:

    >>> from qmopt import Linear, Market
    >>> market = Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, 7])
    >>> lowest_prices(market, np.array([2.5]), np.array([[3.0], [7.0]])).tolist()
    [0.0]
    """
    support = _support(market, Point(market, prices, allocation))
    cost = np.where(market.sold, market.supplies * support.scale, 0.0)
    cost = np.append(cost / cost.max(), np.zeros(market.n))
    found = support.least(cost, max(time_limit, 1e-3))
    if found is None or support.missed(found) > EXACT:
        return None
    lowest = np.maximum(found[: market.m] * support.scale, market.reserves)
    return np.where(market.sold, lowest, prices)


@dataclass(frozen=True)
class _Support:
    """Scaled prices and unit costs, (m + n,), within bounds on rows; ``scale`` is of prices."""

    rows: sp.csr_array
    lower: Array
    upper: Array
    scale: Array

    def missed(self, point: Array) -> float:
        """Tell how far a point is out of the bounds."""
        held = self.rows @ point
        out = np.maximum(held - self.upper, self.lower - held)
        return float(max(out.max(initial=0.0), -point.min(initial=0.0)))

    def least(self, cost: Array, time_limit: float = np.inf) -> Array | None:
        """Return the point of least cost, or None where none was found."""
        return linear_program(cost, self.rows, self.lower, self.upper, time_limit=time_limit)


def price_ends(market: Market, point: Point) -> Array:
    """Return the lowest and the highest price of each good at an exact answer, (m, 2).

    Two linear programs per good; nan where there are more than some seconds would be enough for,
    and for goods that nobody trades.
    """
    n, m = market.shape
    bounds = np.full((m, 2), np.nan)
    if m * (market.utility.activities().needs.nnz + n) > AFFORDABLE:
        return bounds
    support = _support(market, point)
    for j in np.flatnonzero(market.sold):
        cost = np.zeros(m + n)
        for end, sign in enumerate((1.0, -1.0)):
            cost[j] = sign
            found = support.least(cost)
            if found is not None:
                bounds[j, end] = (found[j] if found[j] > 0 else 0.0) * support.scale[j]
    bounds.sort(axis=1)  # ends that meet may cross by a rounding
    return bounds


def _support(market: Market, point: Point) -> _Support:
    """Return all prices that support an allocation, as rows of a linear program.

    Variables are prices q and costs per unit of value beta, scaled so that each is at most about 1:
    an activity never brings more value per credit than 1/beta, and just that where it is used.
    With ``F(v) = max B log(v + keep_value * k) - k`` over kept credits k, a buyer whose goods are
    worth v to it has ``beta <= F'(v)``, which is the smaller of ``B/v`` and ``1/keep_value``; with
    equality where it has use for more. (Credits are kept just where the second is smaller.)
    """
    n, m = market.shape
    active, enough = market.active, point.enough
    value = np.minimum(point.value, enough)
    activities = market.utility.activities()
    live = active[activities.owner] & ~(activities.needs @ market.empty.astype(float) > 0)
    owner = activities.owner[live]
    needs = sp.csr_array(activities.needs[live])
    worth = activities.values[live]
    known = point.levels
    levels = market.utility.levels(point.allocation) if known is None else known
    used = levels[live] > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ceiling = np.minimum(market.budgets / value, 1 / market.keep_values)
    ceiling = np.where(active, ceiling, 0.0)
    scale = np.zeros(m)
    np.maximum.at(scale, needs.indices, np.repeat(ceiling[owner] * worth, np.diff(needs.indptr)))
    scale = np.maximum(np.maximum(scale, market.reserves), np.finfo(float).tiny)
    rows = sp.hstack(
        [
            needs @ sp.diags_array(scale),
            sp.csr_array(
                (-worth * ceiling[owner], (np.arange(len(owner)), owner)), shape=(len(owner), n)
            ),
        ]
    )
    size = 1 / np.maximum(worth * ceiling[owner], np.finfo(float).tiny)
    rows = sp.csr_array(sp.diags_array(size) @ rows)
    row_upper = np.where(used, 0.0, np.inf)
    sold_out = point.left_over <= EXACT * market.supplies
    at_reserve = market.reserves / scale
    beta_low = np.where(active & (value < enough * (1 - EXACT)), 1.0, 0.0)
    # bounds as rows: the solver call knows only x >= 0
    bound_low = np.concatenate([at_reserve, beta_low])
    bound_high = np.concatenate([np.where(sold_out, np.inf, at_reserve), np.ones(n)])
    everything = sp.csr_array(sp.vstack([rows, sp.eye_array(m + n)]))
    lower = np.concatenate([np.zeros(len(owner)), bound_low])
    return _Support(everything, lower, np.concatenate([row_upper, bound_high]), scale)
