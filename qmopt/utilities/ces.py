"""Constant elasticity of substitution: goods that replace each other, or need each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.errors import MarketError
from qmopt.utilities.protocol import Array
from qmopt.utilities.smooth import Smooth, exactly

if TYPE_CHECKING:
    import cvxpy as cp

#: Largest log of what a buyer's goods together may be worth, in units of one of them.
TOO_MUCH = 300.0


class CES(Smooth):
    """Value of a bundle is ``(sum_j (weights[i, j] * x[i, j]) ** rho[i]) ** (1 / rho[i])``.

    The elasticity of substitution is ``sigma = 1 / (1 - rho)``. Towards ``rho = 1`` goods are
    perfect substitutes (:class:`qmopt.Linear`), near 0 credits are spent in fixed shares
    (:class:`qmopt.CobbDouglas`), and the further below 0, the more a buyer needs goods in a fixed
    mix. With ``rho < 0`` a bundle that lacks a good of positive weight is worth nothing. Weights
    stand inside the power; a weight c outside, ``c * x ** rho``, is ``c ** (1 / rho)`` here. The
    function is that of Arrow, Chenery, Minhas and Solow, 1961 (only the entry was checked).

    Parameters
    ----------
    weights
        Shape (n, m), finite and nonnegative: dense, sparse, or a DataFrame that also names buyers
        and goods. Without unit: only ratios within a row matter to prices.
    rho
        Below 1 and not 0: one number, or one for each buyer, shape (n,).

    Attributes
    ----------
    rho
        Shape (n,), read-only.

    Raises
    ------
    MarketError
        If a weight is negative, infinite or not a number; if a rho is 0, 1 or more, or so near 0
        that values leave the range of floats (then :class:`qmopt.CobbDouglas` is what is meant).

    Examples
    --------
    With ``rho = -1`` a value is a harmonic sum: ``1 / (1/3 + 1/6) = 2``.

    >>> utility = CES([[1, 1]], rho=-1)
    >>> utility.value(np.array([[3.0, 6.0]])).round(12).tolist()
    [2.0]

    At prices 1 and 4 units are bought two to one (as the square root of the prices), so that 12
    credits buy 4 and 2 units, worth ``1 / (1/4 + 1/2) = 4/3``; a unit of value costs 9:

    >>> best = utility.best(np.array([1.0, 4.0]), np.array([12.0]))
    >>> best.activities.toarray().round(12).tolist(), best.value.round(12).tolist()
    ([[4.0, 2.0]], [1.333333333333])
    >>> utility.unit_cost(np.array([1.0, 4.0])).round(12).tolist()
    [9.0]
    """

    def __init__(self, weights: ArrayLike | sp.spmatrix | sp.sparray | Any, rho: ArrayLike) -> None:
        super().__init__(weights, "weights")
        n, _ = self.shape
        try:
            given = np.asarray(rho, dtype=float)
        except (TypeError, ValueError) as error:
            raise MarketError(f"rho: numbers expected ({error})") from error
        if given.shape not in ((), (n,)):
            raise MarketError(f"rho: one number, or shape ({n},) expected, got {given.shape}")
        self.rho: Array = np.broadcast_to(given, (n,)).copy()
        self.rho.setflags(write=False)
        bad = np.flatnonzero(~((self.rho < 1) & (self.rho != 0) & np.isfinite(self.rho)))
        if bad.size:
            raise MarketError(
                f"rho[{bad[0]}] ({self._name(bad[0])}): {self.rho[bad[0]]} is not a number below 1 "
                "other than 0; Linear is the family for 1, CobbDouglas for 0"
            )
        count = np.maximum(np.diff(self.begin), 1)
        bad = np.flatnonzero(np.log(count) > TOO_MUCH * np.abs(self.rho))
        if bad.size:
            raise MarketError(
                f"rho[{bad[0]}] ({self._name(bad[0])}): {self.rho[bad[0]]} is too near 0 for "
                f"{count[bad[0]]} goods, values would leave the range of floats; CobbDouglas is "
                "the family for 0"
            )
        self._log_weight = np.log(self.weight)

    def _name(self, buyer: int) -> str:
        return f"buyer {self.buyers[buyer] if self.buyers else buyer}"

    @property
    def substitution(self) -> Array:
        """Elasticity of substitution, ``1 / (1 - rho)``, shape (n,)."""
        return 1 / (1 - self.rho)

    @property
    def parameters(self) -> tuple[Array, ...]:
        """The powers."""
        return (self.rho,)

    @property
    def indispensable(self) -> NDArray[np.bool_]:
        """Whether goods are complements: ``rho < 0``."""
        return self.rho < 0

    @np.errstate(all="ignore")
    def spending(self, prices: Array) -> tuple[Array, Array]:
        """Shares ``(p/a) ** r / sum``, and ``sum ** (1/r)``, with ``r = rho / (rho - 1)``."""
        power = self.rho / (self.rho - 1)
        share, cost = self._mean(power, np.log(prices)[self.good] - self._log_weight)
        return share, np.where(np.diff(self.begin) > 0, cost, np.inf)

    @np.errstate(all="ignore")
    def supporting(self, levels: Array) -> tuple[Array, Array]:
        """Shares ``(a x) ** rho / sum``, and log value."""
        share, value = self._mean(self.rho, np.log(levels) + self._log_weight)
        return share, np.where(np.diff(self.begin) > 0, value, -np.inf)

    def _mean(self, power: Array, logs: Array) -> tuple[Array, Array]:
        """Shares of ``exp(power * logs)`` in their sum, and the log of ``sum ** (1 / power)``."""
        terms = power[self.owner] * logs
        top = self.largest(terms)
        top = np.where(np.isfinite(top), top, 0.0)
        terms = np.exp(terms - top[self.owner])
        total = self.by_buyer(terms)
        share = terms / total[self.owner]
        # of infinite terms, and where there is nothing to share
        share = np.where(np.isnan(share), 0.0, share)
        return share, (top + np.log(total)) / power

    def expression(self, levels: cp.Expression) -> cp.Expression:
        """Concave CVXPY expression of the values, shape (n,), with one power cone per pair."""
        import cvxpy as cp

        # complements as shares of the value of one unit of each: cones of numbers near 1
        scale = np.exp(self.supporting(np.ones(len(self.good)))[1])
        scale = np.where((self.rho < 0) & (scale > 0), scale, 1.0)
        values: list[Any] = []
        for i, (begin, end) in enumerate(zip(self.begin[:-1], self.begin[1:], strict=True)):
            held = cp.multiply(self.weight[begin:end] / scale[i], levels[begin:end])
            if end - begin < 2:
                values.append(held[0] if end > begin else 0.0)
            else:
                values.append(exactly(cp.pnorm, held, float(self.rho[i])))
        return cast("cp.Expression", cp.multiply(scale, cp.hstack(values)))

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given."""
        return type(self)(self._weights_of(buyers, goods), self.rho[buyers])
