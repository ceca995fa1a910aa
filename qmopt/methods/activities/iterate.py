"""A point within all bounds, its products, and by how much it misses the equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qmopt.utilities.protocol import Array


class Iterate(NamedTuple):
    """Pairs of numbers whose products tend to 0, and the costs of value.

    Parameters
    ----------
    levels, slacks
        Shape (L,): of activities.
    room, rents
        Shape (W,): of limits.
    idle, prices
        Shape (m,): of goods; prices above the reserve.
    costs
        Shape (n,): credits per unit of value, of buyers.
    """

    levels: Array
    slacks: Array
    room: Array
    rents: Array
    idle: Array
    prices: Array
    costs: Array

    def moved(self, move: Iterate, length: float, dual: float | None = None) -> Iterate:
        """Go so far along a move; slacks, rents, prices and costs may go another length."""
        dual = length if dual is None else dual
        lengths = (length, dual, length, dual, length, dual, dual)
        return Iterate(*(x + t * dx for x, dx, t in zip(self, move, lengths, strict=True)))

    def relative(self, move: Iterate) -> Array:
        """Return all changes of a move, each as a share of what is there."""
        return np.concatenate([dx / x for x, dx in zip(self, move, strict=True)])

    def products(self) -> Products:
        """Products of pairs, credits."""
        return Products(self.levels * self.slacks, self.room * self.rents, self.idle * self.prices)

    def product(self) -> float:
        """Sum of the products of pairs, credits."""
        return float(sum(part.sum() for part in self.products()))


class Products(NamedTuple):
    """A number for the product of each pair: of activities (L,), limits (W,) and goods (m,)."""

    activities: Array
    limits: Array
    goods: Array


class Missed(NamedTuple):
    """By how much an iterate misses the limits (W,), supplies (m,) and budgets (n,)."""

    limits: Array
    goods: Array
    budgets: Array

    def largest(self, budgets: Array) -> float:
        """Return the largest of them; budgets as shares of what is to be spent."""
        parts = (self.limits, self.goods, self.budgets / budgets)
        return max(float(np.abs(part).max(initial=0.0)) for part in parts)
