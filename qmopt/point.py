"""A point to be measured: prices and an allocation, with all that its residuals need."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.arguments import by_name
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.utilities import keep
from qmopt.utilities.pairs import pairs, total_by
from qmopt.utilities.protocol import Allocation, Array

#: Share by which an allocation may differ, from rounding, from what its activities take.
SAME = 1e-9


class Point:
    """Prices and allocation, cleaned of what only *negative* judges, with what all residuals need.

    Goods without supply are out: their price is infinite to buyers and zero in every sum, and
    units of them count only as overallocated.

    Parameters
    ----------
    market, prices
        The market, and what its goods cost, shape (m,).
    allocation
        Shape (n, m); left out where levels say it.
    levels
        Shape (K,): units of each activity of a family with demands. Default: the best use of the
        allocation.
    """

    def __init__(
        self,
        market: Market,
        prices: Array,
        allocation: Allocation | None,
        levels: Array | None = None,
    ) -> None:
        self.market = market
        self.given_prices = prices
        self.prices = np.where(market.empty, 0.0, np.maximum(np.nan_to_num(prices), 0))
        if levels is None:
            rows, columns, units = pairs(cast(Allocation, allocation))
            here = (units > 0) & ~market.empty[columns]
            self.levels = None
        else:
            ways = market.utility.activities()
            # what takes goods that are not there is not done at all
            done = (levels > 0) & (ways.needs @ market.empty.astype(float) == 0)
            self.levels = np.where(done, levels, 0.0)
            steps = sp.diags_array(levels, format="csr")
            self.activity, columns, units = pairs(sp.csr_array(steps @ ways.needs))
            rows, here = ways.owner[self.activity], done[self.activity]
        self.nan_units = bool(np.isnan(units).any())
        self.rows, self.columns, self.units = rows[here], columns[here], units[here]
        self.all_rows, self.all_columns, self.all_units = rows, columns, units

    def scaled(self, factor: float) -> Point:
        """Multiply every positive unit, at the same prices."""
        levels = None if self.levels is None else self.levels * factor
        return Point(self.market, self.given_prices, self.allocation * factor, levels)

    def payments(self, asked: Array) -> tuple[NDArray[np.int64], Array]:
        """Buyers and what they pay at prices (m,), for each pair or each activity."""
        paid = asked[self.all_columns] * self.all_units
        if self.levels is None:
            return self.all_rows, paid
        owner = self.market.utility.activities().owner
        return owner, total_by(self.activity, paid, len(owner))

    @cached_property
    def allocation(self) -> sp.csr_array:
        """Positive units of goods in supply, (n, m)."""
        return sp.csr_array((self.units, (self.rows, self.columns)), shape=self.market.shape)

    @cached_property
    def spend(self) -> Array:
        """Credits paid by each buyer, (n,)."""
        paid = self.prices[self.columns] * self.units
        return total_by(self.rows, paid, self.market.n)

    @cached_property
    def units_out(self) -> Array:
        """Units handed out of each good, (m,)."""
        return total_by(self.columns, self.units, self.market.m)

    @cached_property
    def left_over(self) -> Array:
        """Units left over of each good, (m,)."""
        return np.maximum(self.market.supplies - self.units_out, 0)

    @cached_property
    def worth(self) -> float:
        """Credits that the whole supply costs; all budgets if everything is free."""
        return float(self.market.supplies @ self.prices) or float(self.market.budgets.sum())

    @cached_property
    def free(self) -> bool:
        """Whether everything is free."""
        return not self.market.supplies @ self.prices > 0

    @cached_property
    def offered(self) -> Array:
        """Prices as buyers see them: what is not in supply is not to be had."""
        return np.where(self.market.empty, np.inf, self.prices)

    @cached_property
    def unit_cost(self) -> Array:
        """Least spend per unit of whole utility, (n,)."""
        return keep.unit_cost(self.market.utility, self.offered, self.market.keep_values)

    @cached_property
    def value(self) -> Array:
        """Value of each buyer's bundle, before kept credits and cap, (n,)."""
        if self.levels is None:
            return self.market.utility.value(self.allocation)
        ways = self.market.utility.activities()
        return total_by(ways.owner, ways.values * self.levels, self.market.n)

    @cached_property
    def excess_cost(self) -> Array:
        """Spend of each buyer beyond the cheapest way to its value, never negative, (n,)."""
        if self.levels is None:
            return self.market.utility.excess_cost(self.offered, self.allocation)
        return self.market.utility.dear(self.offered, self.levels)

    @cached_property
    def enough(self) -> Array:
        """Utility beyond which a buyer wants no more, or can have no more, (n,)."""
        return np.minimum(self.market.utility_caps, self.market.utility.most(~self.market.empty))

    @cached_property
    def overserved(self) -> Array:
        """What each demand is served beyond what it is, relative to it; (W,)."""
        if self.levels is None:
            return np.array([])
        units = self.market.utility.demands().units
        return ratio(self.market.utility.served(self.levels), units) - 1

    @cached_property
    def overallocated(self) -> float:
        """Most that is handed out or served of what is not there or not wanted, relative."""
        units = np.maximum(self.all_units, 0)
        handed_out = total_by(self.all_columns, units, self.market.m)
        return max(most(ratio(handed_out, self.market.supplies) - 1), most(self.overserved))

    @cached_property
    def enjoyed(self) -> keep.Enjoyed:
        """Utility and kept credits of each buyer."""
        market = self.market
        return keep.enjoyed(
            self.value, self.spend, market.budgets, market.keep_values, market.utility_caps
        )

    @cached_property
    def best(self) -> Array:
        """Best whole utility that each buyer could afford, (n,)."""
        market = self.market
        best = market.utility.best_whole(self.offered, market.budgets, market.keep_values)
        return np.minimum(market.utility_caps, best)


def most(values: Array) -> float:
    """Return the largest number, at least 0; what is not a number counts as infinite."""
    if np.isnan(values).any():
        return np.inf
    return float(max(values.max(initial=0.0), 0.0))


def ratio(top: Array, bottom: Array) -> Array:
    """Return the quotient of nonnegative arrays with 0/0 = 0 and positive/0 = inf."""
    return np.where(top == 0, 0.0, top / bottom)


def stated(
    market: Market,
    prices: ArrayLike,
    allocation: ArrayLike | Allocation | None,
    activities: ArrayLike | None = None,
) -> Point:
    """Check shapes (m,), (n, m) and (K,), and make a point of them."""
    told = per_good(market, prices)
    if activities is not None:
        return Point(market, told, None, per_activity(market, activities, allocation))
    return Point(market, told, per_pair(market, cast(Allocation, allocation)))


def per_good(market: Market, prices: ArrayLike) -> Array:
    """Check the shape (m,) of prices."""
    array = _numbers("prices", by_name("prices", prices, market.goods))
    if array.shape != (market.m,):
        raise MarketError(f"prices: shape ({market.m},) expected, got {array.shape}")
    return array


def per_pair(market: Market, allocation: ArrayLike | Allocation) -> Allocation:
    """Check the shape (n, m) of an allocation; sparse stays sparse."""
    if sp.issparse(allocation):
        matrix = sp.csr_array(cast(Any, allocation), dtype=float, copy=True)
        matrix.sum_duplicates()
        array = cast(Allocation, matrix)
    else:
        array = _numbers("allocation", allocation)
    if array.shape != market.shape:
        raise MarketError(f"allocation: shape {market.shape} expected, got {array.shape}")
    return array


def per_activity(market: Market, levels: ArrayLike, allocation: Any = None) -> Array:
    """Check the shape (K,) of levels, and that an allocation, if given, is what they take.

    Raises
    ------
    MarketError
        If it is not, or the utility has no demands, so that its bundles say all.
    """
    utility = market.utility
    if not len(utility.demands().units):
        raise MarketError(
            f"activities: for utilities with demands, such as Workloads; {type(utility).__name__} "
            "is measured at its allocation"
        )
    array, count = _numbers("activities", levels), len(utility.activities().owner)
    if array.shape != (count,):
        raise MarketError(f"activities: shape ({count},) expected, got {array.shape}")
    if allocation is not None:
        taken = utility.taken(array)
        given = sp.csr_array(cast(Any, per_pair(market, allocation)))
        if (abs(taken - given) > SAME * abs(taken)).nnz:
            raise MarketError("allocation: not what the activities take; leave one of them out")
    return array


def _numbers(what: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise MarketError(f"{what}: numbers expected ({error})") from error
