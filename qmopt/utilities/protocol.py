"""What a utility is, as the theory says it.

One object describes all buyers of a market at once, so that nothing loops over them in Python.
A family says how a bundle is valued, what the cheapest way to one unit of value costs, and which
activities bring it; from these come the best affordable bundle, the conjugate and the price
intervals. A new family is one file with one subclass of :class:`Utility`: the CVXPY model and the
certificate then serve it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    import cvxpy as cp

#: Floating-point array.
Array: TypeAlias = NDArray[np.float64]
#: Units per buyer and good, shape (n, m): dense, or sparse where the values are.
Allocation: TypeAlias = "Array | sp.csr_array"


@dataclass(frozen=True)
class Activities:
    """The ways in which buyers get value: K of them, each owned by one buyer.

    A plain bid "one H100 is worth 4" is an activity that needs one chip of one good. A recipe
    needs several.

    Parameters
    ----------
    owner
        Shape (K,): the buyer of each activity.
    needs
        Shape (K, m), sparse: units of each good that one unit of the activity uses.
    values
        Shape (K,): value that one unit of the activity brings to its owner.
    """

    owner: NDArray[np.int64]
    needs: sp.csr_array
    values: Array


@dataclass(frozen=True)
class Best:
    """A best bundle that each buyer can afford.

    Parameters
    ----------
    value
        Shape (n,), in the buyer's own unit of value; ``inf`` where something wanted is free.
    activities
        Shape (n, m), sparse: units of each good in one such bundle. Rows of buyers whose best value
        is infinite or zero are empty.
    """

    value: Array
    activities: sp.csr_array


class Utility(ABC):
    """Utilities of n buyers over m goods.

    Prices have shape (m,), in credits per unit; an infinite price means "not to be had". Every
    method is vectorised over buyers and returns shape (n,) unless it says otherwise. The defaults
    are right for *homogeneous* families (twice the bundle is twice the value); others override
    them.
    """

    #: Whether doubling a bundle doubles its value; then Eisenberg-Gale is exact.
    homogeneous: ClassVar[bool] = True

    @property
    def sparse(self) -> bool:
        """Whether allocations are to be sparse, too."""
        return False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""

    @abstractmethod
    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation of shape (n, m)."""

    @abstractmethod
    def unit_cost(self, prices: Array) -> Array:
        """Least spend per unit of value, credits; ``inf`` for who values nothing on sale."""

    @abstractmethod
    def best(self, prices: Array, budgets: Array) -> Best:
        """Best affordable bundle of each buyer."""

    @abstractmethod
    def excess_cost(self, prices: Array, allocation: Allocation) -> Array:
        """Spend on a bundle beyond the cheapest way to its value, credits, never negative.

        Equals ``spend - cost(value)``, summed from nonnegative terms, so that it stays accurate
        where the two nearly cancel.
        """

    @abstractmethod
    def expression(self, levels: cp.Expression) -> cp.Expression:
        """Concave CVXPY expression, shape (n,), of the levels (K,) of :meth:`activities`."""

    @abstractmethod
    def activities(self) -> Activities:
        """Every activity that brings value: the rows that support prices."""

    @abstractmethod
    def levels(self, allocation: Allocation) -> Array:
        """Units of each of the K activities in an allocation, shape (K,)."""

    @abstractmethod
    def usable(self, goods: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which buyers get value from the given goods alone, shape (n,)."""

    @abstractmethod
    def wanted(self, buyers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which goods, shape (m,), at least one of the given buyers has use for."""

    @abstractmethod
    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given."""

    def cost(self, prices: Array, values: Array) -> Array:
        """Cheapest way to a value, credits."""
        with np.errstate(invalid="ignore"):
            return np.where(values > 0, self.unit_cost(prices) * values, 0.0)

    def conjugate(self, prices: Array, budgets: Array) -> Array:
        """Largest ``budget * log(value) - spend`` over all bundles, at the given prices.

        The concave conjugate of the log utility: what buyer i adds to the dual of Eisenberg-Gale.
        """
        return budgets * np.log(budgets / self.unit_cost(prices)) - budgets
