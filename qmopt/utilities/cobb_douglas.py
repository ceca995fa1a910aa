"""Cobb-Douglas: each good gets a fixed share of a buyer's credits, whatever it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.utilities.protocol import Array
from qmopt.utilities.smooth import Smooth, exactly

if TYPE_CHECKING:
    import cvxpy as cp


class CobbDouglas(Smooth):
    """Value of a bundle is ``prod_j x[i, j] ** shares[i, j]``, the shares of a row adding up to 1.

    A buyer spends the share ``shares[i, j]`` of its credits on good j at any prices, so that
    equilibrium prices are ``p[j] = sum_i budgets[i] * shares[i, j] / supplies[j]``. A bundle that
    lacks a good of positive share is worth nothing.

    Parameters
    ----------
    shares
        Shape (n, m), finite and nonnegative: dense, sparse, or a DataFrame that also names buyers
        and goods. **Rows are divided by their sums**; whoever has a row of zeros wants nothing.

    Attributes
    ----------
    shares
        The shares as they count, shape (n, m), CSR without stored zeros.

    Raises
    ------
    MarketError
        If a share is negative, infinite or not a number.

    Examples
    --------
    Half for each of two goods: a value is the square root of ``x[0] * x[1]``. At prices 1 and 4, 8
    credits buy 4 units and 1, worth 2, and a unit of value costs 4:

    >>> utility = CobbDouglas([[3, 3]])
    >>> utility.shares.toarray().tolist()
    [[0.5, 0.5]]
    >>> best = utility.best(np.array([1.0, 4.0]), np.array([8.0]))
    >>> best.activities.toarray().tolist(), best.value.round(12).tolist()
    ([[4.0, 1.0]], [2.0])
    >>> utility.unit_cost(np.array([1.0, 4.0])).round(12).tolist()
    [4.0]
    """

    def __init__(self, shares: ArrayLike | sp.spmatrix | sp.sparray | Any) -> None:
        super().__init__(shares, "shares")
        # by the largest first: sums of large numbers overflow
        weight = self.weight / self.largest(self.weight)[self.owner]
        weight = weight / self.by_buyer(weight)[self.owner]
        # a share that is nothing beside the others is kept, the least there is
        self.weight = np.maximum(weight, np.finfo(float).tiny)
        self.weight.setflags(write=False)

    @property
    def shares(self) -> sp.csr_array:
        """Shares of each buyer's credits, rows adding up to 1."""
        return sp.csr_array((self.weight, self.good, self.begin), shape=self.shape)

    @property
    def substitution(self) -> Array:
        """Elasticity of substitution: 1 for all."""
        return np.ones(self.shape[0])

    @property
    def indispensable(self) -> NDArray[np.bool_]:
        """Whether a buyer needs each of its goods: all do."""
        return np.ones(self.shape[0], dtype=bool)

    @np.errstate(all="ignore")
    def spending(self, prices: Array) -> tuple[Array, Array]:
        """Shares as they are; log unit cost ``sum_j shares * log(p / shares)``."""
        logs = np.log(prices)[self.good] - np.log(self.weight)
        cost = self.by_buyer(self.weight * logs)
        # not to be had outweighs free
        missing = (self.largest(logs) == np.inf) | (np.diff(self.begin) == 0)
        return np.asarray(self.weight), np.where(missing, np.inf, cost)

    @np.errstate(all="ignore")
    def supporting(self, levels: Array) -> tuple[Array, Array]:
        """Shares as they are, and log value ``sum_j shares * log(x)``."""
        value = self.by_buyer(self.weight * np.log(levels))
        return np.asarray(self.weight), np.where(np.diff(self.begin) > 0, value, -np.inf)

    def expression(self, levels: cp.Expression) -> cp.Expression:
        """Concave CVXPY expression of the values, shape (n,): a tree of geometric means of two."""
        import cvxpy as cp

        def mean(begin: int, end: int) -> Any:
            # of two at a time: cones of different sizes in one program are too much for CVXPY 1.9
            if end - begin < 2:
                return levels[begin] if end > begin else 0.0
            middle = (begin + end) // 2
            left, right = self.weight[begin:middle].sum(), self.weight[middle:end].sum()
            pair = cp.hstack([mean(begin, middle), mean(middle, end)])
            # Clarabel takes powers whose sum is 1 to the last bit
            power = float(left / (left + right))
            return exactly(cp.geo_mean, pair, [power, 1 - power])

        rows = zip(self.begin[:-1].tolist(), self.begin[1:].tolist(), strict=True)
        return cast("cp.Expression", cp.hstack([mean(begin, end) for begin, end in rows]))

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given; shares are divided anew."""
        return type(self)(self._weights_of(buyers, goods))
