"""A point to be measured: prices and an allocation, with all that its residuals need."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from qmopt.arguments import by_name
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.utilities import keep
from qmopt.utilities.pairs import pairs, total_by
from qmopt.utilities.protocol import Allocation, Array


class Point:
    """Prices and allocation, cleaned of what only *negative* judges, with what all residuals need.

    Goods without supply are out: their price is infinite to buyers and zero in every sum, and
    units of them count only as overallocated.
    """

    def __init__(self, market: Market, prices: Array, allocation: Allocation) -> None:
        self.market = market
        self.given_prices, self.given = prices, allocation
        self.prices = np.where(market.empty, 0.0, np.maximum(np.nan_to_num(prices), 0))
        rows, columns, units = pairs(allocation)
        self.nan_units = bool(np.isnan(units).any())
        here = (units > 0) & ~market.empty[columns]
        self.rows, self.columns, self.units = rows[here], columns[here], units[here]
        self.all_rows, self.all_columns, self.all_units = rows, columns, units

    def scaled(self, factor: float) -> Point:
        """Multiply every positive unit, at the same prices."""
        return Point(self.market, self.given_prices, self.allocation * factor)

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
        return self.market.utility.value(self.allocation)

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
        return keep.best_value(self.unit_cost, self.market.budgets, self.market.utility_caps)


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


def _numbers(what: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise MarketError(f"{what}: numbers expected ({error})") from error
