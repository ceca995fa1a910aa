"""A point of activities, and which of its inequalities are equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Activities, Array

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Sides:
    """Which of two complementary numbers is the one that is zero.

    Parameters
    ----------
    used
        Shape (K,): activities that are as cheap as any.
    sold
        Shape (m,): goods of which nothing is left, so that their price is free.
    capped, keeping
        Shape (n,): buyers with all the utility that they want, and those who keep credits for
        their worth.
    """

    used: Mask
    sold: Mask
    capped: Mask
    keeping: Mask


@dataclass(frozen=True)
class State:
    """A point of the part of a market that trades: prices (m,), levels (K,), unit costs (n,)."""

    market: Market
    ways: Activities
    prices: Array
    levels: Array
    cost: Array

    @cached_property
    def price_of(self) -> Array:
        """Credits per unit of each activity, (K,)."""
        return np.asarray(self.ways.needs @ self.prices)

    @cached_property
    def brought(self) -> Array:
        """Value from each activity, (K,)."""
        return self.ways.values * self.levels

    @cached_property
    def value(self) -> Array:
        """Value of each buyer's activities, (n,)."""
        return total_by(self.ways.owner, self.brought, self.market.n)

    @cached_property
    def out(self) -> Array:
        """Share of each supply that is handed out, (m,)."""
        return np.asarray(self.ways.needs.T @ self.levels) / self.market.supplies

    @cached_property
    def spend(self) -> Array:
        """Credits paid by each buyer, (n,)."""
        return total_by(self.ways.owner, self.price_of * self.levels, self.market.n)

    @cached_property
    def dearer(self) -> Array:
        """Share by which each activity is dearer than its owner's unit cost, (K,); at most 1."""
        return 1 - ratio(self.cost[self.ways.owner] * self.ways.values, self.price_of)


def ratio(top: Array | float, bottom: Array) -> Array:
    """Quotient of nonnegative numbers with 0/0 = 1 and positive/0 = inf."""
    return np.where((np.asarray(top) == 0) & (bottom == 0), 1.0, top / bottom)
