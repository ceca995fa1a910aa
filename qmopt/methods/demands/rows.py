"""Buyers with one demand each, as plain rows of options; the exact dual of their Nash welfare.

Buyer i has credits B, a demand Q (in units of its own, or without end), and options k, each on one
good j: worth c and rate r (units of demand) per chip. With kept credits and reserves they solve::

    max  sum_i (B_i log(sum_k c_k y_k + kappa_i kept_i) - kept_i) + sum_j rho_j idle_j
    s.t. what is used of a good + idle_j = s_j,  sum_k r_k y_k <= Q_i,  y, kept, idle >= 0

whose dual is to minimise over prices p >= rho what the supplies are worth, plus what each buyer
makes of the prices by itself, ``max B log(u) - cost``. At Q without end this is a Fisher market.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qmopt.utilities.pairs import Array, total_by

#: Options in rows: begin (n + 1,), then good, worth and rate of each (K,).
Rows = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Buyers:
    """Buyers with one demand each, nothing checked; :meth:`of` takes numbers as they come.

    Parameters
    ----------
    budgets
        Credits B, (n,), positive.
    demands
        Units Q of demand, (n,), positive or ``inf``.
    begin, goods
        Buyer i has the options ``begin[i]:begin[i + 1]``, each on one good, (K,).
    worths, rates
        Value and units of demand per chip, (K,).
    supplies, reserves
        Chips, (m,), and the least credits for each.
    keeps
        Value of a kept credit, (n,); 0 where they are worth nothing.
    """

    budgets: Array
    demands: Array
    begin: NDArray[np.int64]
    goods: NDArray[np.int32]
    worths: Array
    rates: Array
    supplies: Array
    reserves: Array
    keeps: Array

    @classmethod
    def of(
        cls,
        budgets: ArrayLike,
        demands: ArrayLike,
        rows: Rows,
        supplies: ArrayLike,
        *,
        reserves: ArrayLike = 0.0,
        keeps: ArrayLike = 0.0,
    ) -> Buyers:
        """Take numbers as they come, one for all where all are equal.

        Raises
        ------
        ValueError
            If budgets, demands, supplies or rates are not positive, anything else is negative or
            not finite, or a buyer has nothing of worth.

        Examples
        --------
        >>> two = Buyers.of([3, 1], np.inf, ([0, 1, 2], [0, 0], 1, 1), [2])
        >>> two.worths.tolist(), two.demands.tolist()
        ([1.0, 1.0], [inf, inf])
        """
        start = np.ascontiguousarray(rows[0], dtype=np.int64)
        goods = np.ascontiguousarray(rows[1], dtype=np.int32)
        supply = np.ascontiguousarray(supplies, dtype=float)
        n, m, size = len(start) - 1, len(supply), len(goods)

        def spread(numbers: ArrayLike, length: int) -> Array:
            return np.ascontiguousarray(np.broadcast_to(np.asarray(numbers, dtype=float), length))

        made = cls(
            spread(budgets, n), spread(demands, n), start, goods, spread(rows[2], size),
            spread(rows[3], size), supply, spread(reserves, m), spread(keeps, n),
        )  # fmt: skip
        made._check()
        return made

    def _check(self) -> None:
        if (
            self.begin[0] != 0
            or self.begin[-1] != len(self.goods)
            or (np.diff(self.begin) < 0).any()
        ):
            raise ValueError("begin must rise from 0 to the number of options")
        if ((self.goods < 0) | (self.goods >= len(self.supplies))).any():
            raise ValueError("an option is on a good that is not there")
        positive = {"budgets": self.budgets, "rates": self.rates, "supplies": self.supplies}
        for name, numbers in positive.items():
            if not (np.isfinite(numbers) & (numbers > 0)).all():
                raise ValueError(f"{name} must be positive and finite")
        if not (self.demands > 0).all():
            raise ValueError("demands must be positive")
        least = {"worths": self.worths, "reserves": self.reserves, "keeps": self.keeps}
        for name, numbers in least.items():
            if not (np.isfinite(numbers) & (numbers >= 0)).all():
                raise ValueError(f"{name} must be finite and not negative")
        total = np.concatenate([[0.0], np.cumsum(self.worths > 0)])[self.begin]
        if not ((np.diff(total) > 0) | (self.keeps > 0)).all():
            raise ValueError("a buyer has nothing of worth")

    @property
    def rows(self) -> tuple[Any, ...]:
        """What the compiled passes take: begin, goods, worths, rates, budgets, demands."""
        return self.begin, self.goods, self.worths, self.rates, self.budgets, self.demands

    @property
    def buyers(self) -> NDArray[np.int64]:
        """Buyer of each option, (K,)."""
        return np.repeat(np.arange(len(self.budgets)), np.diff(self.begin))

    def banked(self) -> tuple[Buyers, NDArray[np.int64] | slice]:
        """Make kept credits an option, last of its buyer's; return where the others are.

        It is on one more good, the bank's, and serves no demand.
        """
        keeping = self.keeps > 0
        if not keeping.any():
            return self, slice(None)
        counts = np.diff(self.begin)
        begin = np.concatenate([[0], np.cumsum(counts + keeping)])
        others = np.arange(len(self.goods)) + np.repeat(begin[:-1] - self.begin[:-1], counts)
        bank = begin[1:][keeping] - 1
        goods = np.full(begin[-1], len(self.supplies), dtype=np.int32)
        worths, rates = np.empty(begin[-1]), np.zeros(begin[-1])
        goods[others], worths[others], rates[others] = self.goods, self.worths, self.rates
        worths[bank] = self.keeps[keeping]
        return Buyers(
            self.budgets, self.demands, begin, goods, worths, rates, self.supplies, self.reserves,
            np.zeros_like(self.keeps),
        ), others  # fmt: skip

    def some(self, chosen: NDArray[np.int64]) -> tuple[Buyers, NDArray[np.int64]]:
        """Return some of the buyers, and the places of their options; supplies stay as they are."""
        counts = np.diff(self.begin)[chosen]
        begin = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(begin[-1]) + np.repeat(self.begin[chosen] - begin[:-1], counts)
        return Buyers(
            self.budgets[chosen], self.demands[chosen], begin, self.goods[places],
            self.worths[places], self.rates[places], self.supplies, self.reserves,
            self.keeps[chosen],
        ), places  # fmt: skip

    def with_supplies(self, supplies: Array) -> Buyers:
        """Return the same buyers with other supplies (m,)."""
        return replace(self, supplies=supplies)

    def times(self, weight: float) -> Buyers:
        """Return buyers that stand for ``weight`` like them each."""
        return replace(self, budgets=weight * self.budgets, demands=weight * self.demands)

    def dual_value(self, prices: ArrayLike) -> float:
        """Return the dual at prices (m,) no lower than the reserves: no welfare is higher.

        Each buyer's part is exact, along the hull of cost and value of its options; nothing of any
        method is used.

        Examples
        --------
        A buyer with 2 credits and one chip that it needs whole: at a price of 1 the chip costs 1,
        is worth 3, and no more can be bought. So the dual is 1 + 2 log 3 - 1.

        >>> one = Buyers.of([2], [1], ([0, 1], [0], [3], [1]), [1])
        >>> bool(np.isclose(one.dual_value([1]), 2 * np.log(3)))
        True
        """
        from qmopt.methods.demands.hull import conjugates

        made, _ = self.banked()
        price = np.append(np.asarray(prices, dtype=float), 1.0)
        own = np.empty(len(self.budgets))
        conjugates(*made.rows, price, own)
        return float(self.supplies @ price[:-1] + own.sum())

    def gap(self, prices: Array, levels: Array) -> float:
        """Return by how much the dual exceeds the welfare, in credits."""
        return self.dual_value(prices) - self.welfare(levels)

    def welfare(self, levels: Array) -> float:
        """Return the welfare at chips (K,) within supplies and demands; best kept credits."""
        n = len(self.budgets)
        value = total_by(self.buyers, self.worths * levels, n)
        kept = np.zeros(n)
        on = self.keeps > 0
        kept[on] = np.maximum(self.budgets[on] - value[on] / self.keeps[on], 0)
        idle = self.supplies - total_by(self.goods, levels, len(self.supplies))
        own = self.budgets * np.log(value + self.keeps * kept) - kept
        return float(own.sum() + self.reserves @ idle)

    def fitting(self, levels: Array) -> Array:
        """Shrink chips (K,) by what rounding left above supplies and demands."""
        used = total_by(self.goods, levels, len(self.supplies)) / self.supplies
        fit = levels / np.maximum(used, 1)[self.goods]
        served = total_by(self.buyers, self.rates * fit, len(self.budgets)) / self.demands
        return fit / np.repeat(np.maximum(served, 1), np.diff(self.begin))
