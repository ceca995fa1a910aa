"""What CES and Cobb-Douglas have in common: one best way to split credits, smooth in prices.

At given prices such a buyer spends a *share* of its credits on each good that it values, and no
other bundle is as good. So demand is a function of prices, and equilibrium prices are the minimum
of a smooth convex function; :class:`qmopt.Newton` finds it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.errors import MarketError
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import entries, pairs
from qmopt.utilities.protocol import Activities, Allocation, Array, Best, Utility


def exactly(atom: Any, held: Any, power: Any) -> Any:
    """Return a CVXPY atom by power cones.

    Earlier versions of CVXPY have none for it and take a fraction near the power.
    """
    try:
        return atom(held, power, approx=False)
    except TypeError:
        return atom(held, power)


class Smooth(Utility):
    """Homogeneous utilities with a unique best bundle at all positive prices.

    A family says how log value and log unit cost come about, in shares of spending, and between
    which goods a buyer cannot do without any. Numbers go through logarithms, so that weights and
    prices may lie as far apart as floats can. Only positive weights are kept: K pairs of a buyer
    and a good, in row order; memory is about 40 bytes for each.

    Parameters
    ----------
    weights
        Shape (n, m), finite and nonnegative: dense, sparse, or a DataFrame with names, as
        :class:`qmopt.Linear` takes them.
    what
        What a message calls them.
    """

    def __init__(self, weights: ArrayLike | sp.spmatrix | sp.sparray | Any, what: str) -> None:
        try:
            given = Linear(weights)
        except MarketError as error:
            raise MarketError(str(error).replace("values", what, 1)) from error
        self.buyers, self.goods = given.buyers, given.goods
        self._shape, self._sparse = given.shape, given.sparse
        self.owner, self.good, self.weight = pairs(given.values)
        for array in (self.owner, self.good, self.weight):
            array.setflags(write=False)
        count = np.bincount(self.owner, minlength=self.shape[0])
        #: Where each buyer's pairs begin, shape (n + 1,).
        self.begin = np.concatenate([[0], np.cumsum(count)])
        self._some = np.flatnonzero(count)
        #: Unit costs at the prices that were asked for last.
        self._known: tuple[bytes, Array] = (b"", np.zeros(0))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""
        return self._shape

    @property
    def sparse(self) -> bool:
        """Whether the weights came sparse; allocations are then sparse, too."""
        return self._sparse

    @property
    @abstractmethod
    def substitution(self) -> Array:
        """Elasticity of substitution of each buyer, shape (n,), positive.

        By how many percent the ratio of two demands falls when that of their prices rises by one:
        above 1 goods are substitutes, below 1 complements.
        """

    @abstractmethod
    def spending(self, prices: Array) -> tuple[Array, Array]:
        """Split credits in the best way.

        Parameters
        ----------
        prices
            Shape (m,), credits per unit; ``inf`` where a good is not to be had.

        Returns
        -------
        tuple
            Share of a buyer's credits for each pair, shape (K,); log of the least spend per unit
            of value, shape (n,): ``inf`` where no value is to be had, ``-inf`` where it is free.
        """

    @abstractmethod
    def supporting(self, levels: Array) -> tuple[Array, Array]:
        """Shares of spending that make a bundle the best one, at prices that support it.

        Parameters
        ----------
        levels
            Shape (K,): units of each pair.

        Returns
        -------
        tuple
            Shares, shape (K,), and log value of each bundle, shape (n,).
        """

    def by_buyer(self, amounts: Array) -> Array:
        """Add up amounts of pairs, shape (K,), by buyer."""
        return self._reduced(np.add, amounts, 0.0)

    def largest(self, amounts: Array) -> Array:
        """Largest amount of each buyer's pairs; ``-inf`` without any."""
        return self._reduced(np.maximum, amounts, -np.inf)

    def _reduced(self, operation: np.ufunc, amounts: Array, without: float) -> Array:
        found = np.full(self.shape[0], without)
        if amounts.size:
            found[self._some] = operation.reduceat(amounts, self.begin[self._some])
        return found

    def activities(self) -> Activities:
        """One unit of each good of positive weight; what it brings depends on the others."""
        count = len(self.good)
        needs = sp.csr_array(
            (np.ones(count), self.good, np.arange(count + 1)), shape=(count, self.shape[1])
        )
        return Activities(self.owner, needs, self.weight)

    def levels(self, allocation: Allocation) -> Array:
        """Units of each pair of positive weight, shape (K,)."""
        return entries(allocation, self.owner, self.good)

    @np.errstate(all="ignore")
    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation of shape (n, m)."""
        return np.exp(self.supporting(np.maximum(self.levels(allocation), 0))[1])

    @np.errstate(all="ignore")
    def brought(self, levels: Array) -> Array:
        """Part of a bundle's value that each pair brings: its share of spending, shape (K,)."""
        share, value = self.supporting(levels)
        return share * np.exp(value)[self.owner]

    @np.errstate(all="ignore")
    def unit_cost(self, prices: Array) -> Array:
        """Least spend per unit of value, credits; ``inf`` for who cannot have any."""
        # to measure one point takes the costs at its prices several times
        prices = np.asarray(prices, dtype=float)
        key, (known, cost) = prices.tobytes(), self._known
        if key != known:
            cost = np.exp(self.spending(prices)[1])
            self._known = key, cost
        return cost.copy()

    @np.errstate(all="ignore")
    def best(self, prices: Array, budgets: Array) -> Best:
        """Return the best affordable bundle: the share of each good, at its price.

        Where a good that is only a complement is free, more of it is always better and the value is
        a limit; the bundle then has none of it.
        """
        prices = np.asarray(prices, dtype=float)
        share, cost = self.spending(prices)
        value = np.where(budgets > 0, np.exp(np.log(budgets) - cost), 0.0)
        bought = np.isfinite(value) & (value > 0)
        units = share * np.where(bought, budgets, 0.0)[self.owner] / prices[self.good]
        units = np.where(np.isfinite(units), units, 0.0)
        here = units > 0
        places = (self.owner[here], self.good[here])
        return Best(value, sp.csr_array((units[here], places), shape=self.shape))

    @np.errstate(all="ignore")
    def conjugate(self, prices: Array, budgets: Array) -> Array:
        """Largest ``budget * log(value) - spend``; 0 for who has no credits."""
        cost = self.spending(np.asarray(prices, dtype=float))[1]
        return np.where(budgets > 0, budgets * (np.log(budgets) - cost) - budgets, 0.0)

    @property
    @abstractmethod
    def indispensable(self) -> NDArray[np.bool_]:
        """Whether a buyer gets nothing from a bundle that lacks one of its goods, shape (n,)."""

    def usable(self, goods: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which buyers get value from the given goods alone: from one, or only from all."""
        here = self.by_buyer(goods[self.good].astype(float))
        return here >= np.where(self.indispensable, np.maximum(np.diff(self.begin), 1), 1)

    def wanted(self, buyers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which goods one of the given buyers gives weight to."""
        return np.bincount(self.good[buyers[self.owner]], minlength=self.shape[1]) > 0

    def _weights_of(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Any:
        whole: Any = sp.csr_array((self.weight, self.good, self.begin), shape=self.shape)
        part = whole[buyers][:, goods]
        return part if self.sparse else part.toarray()

    @abstractmethod
    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given."""
