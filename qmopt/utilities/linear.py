"""Linear utilities: every chip of a good is worth the same to a buyer, however many it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.errors import MarketError
from qmopt.utilities.pairs import entries, pairs, total_by
from qmopt.utilities.protocol import Activities, Allocation, Array, Utility

#: Numbers gone over at a time: what they are turned into stays in the cache.
AT_ONCE = 1 << 16


class Linear(Utility):
    """Value of a bundle is the sum of units times values.

    Buyer i holding ``x[i, j]`` units of good j has utility ``sum_j values[i, j] * x[i, j]``
    (Fisher's linear case; Eisenberg and Gale 1959). Only the ratios within a row matter, unless the
    buyer values kept credits.

    Parameters
    ----------
    values
        Shape (n, m): value per unit, finite and nonnegative. Dense float64 or float32; a scipy
        sparse matrix is kept sparse (CSR); a DataFrame also names buyers (index) and goods
        (columns). The data are copied, unless they are read-only already.

    Attributes
    ----------
    values
        The checked values, read-only: an ndarray or a ``csr_array`` without stored zeros.
    buyers, goods
        Names taken from a DataFrame, or None.

    Raises
    ------
    MarketError
        If a value is negative, infinite or not a number; the message names its place.

    Examples
    --------
    At prices 2 and 1 the first buyer gets 4/2 = 2 per credit from good 0 and 1 from good 1:

    >>> utility = Linear([[4, 1], [2, 2]])
    >>> utility.value(np.array([[1.0, 3.0], [0.5, 0.0]])).tolist()
    [7.0, 1.0]
    >>> utility.unit_cost(np.array([2.0, 1.0])).tolist()
    [0.5, 0.5]
    >>> utility.best(np.array([2.0, 1.0]), np.array([10.0, 3.0])).value.tolist()
    [20.0, 6.0]
    """

    def __init__(self, values: ArrayLike | sp.spmatrix | sp.sparray | Any) -> None:
        self.buyers: tuple[str, ...] | None = None
        self.goods: tuple[str, ...] | None = None
        if hasattr(values, "columns") and hasattr(values, "index"):
            frame: Any = values
            self.buyers = _labels(frame.index)
            self.goods = _labels(frame.columns)
            values = frame.to_numpy()
        if sp.issparse(values):
            self.values: Array | sp.csr_array = _sparse(values)
        else:
            self.values = _dense(values)
        #: Unit costs at the prices that were asked for last.
        self._known: tuple[bytes, Array] = (b"", np.zeros(0))
        self._refuse_bad()

    def _refuse_bad(self) -> None:
        for rows in self._blocks():
            data = self._data(rows)
            # min and max let a nan through to the comparison, where it fails as it should
            if not data.size or (data.min() >= 0 and data.max() < np.inf):
                continue
            bad = int(np.flatnonzero(~((data >= 0) & (data < np.inf)).ravel())[0])
            if sp.issparse(self.values):
                bad_entry = int(self.values.indptr[rows.start]) + bad
                buyer = int(np.searchsorted(self.values.indptr, bad_entry, side="right")) - 1
                good = int(self.values.indices[bad_entry])
            else:
                buyer, good = rows.start + bad // self.shape[1], bad % self.shape[1]
            team = self.buyers[buyer] if self.buyers else str(buyer)
            resource = self.goods[good] if self.goods else str(good)
            raise MarketError(
                f"values[{buyer}, {good}] (buyer {team}, good {resource}): "
                f"{data.ravel()[bad]} is not a finite, nonnegative number"
            )

    def _blocks(self) -> Iterator[slice]:
        """Rows, some at a time, that have about so many numbers together as stay in the cache."""
        n, m = self.shape
        begin = 0
        while begin < n:
            if sp.issparse(self.values):
                upto = int(self.values.indptr[begin]) + AT_ONCE
                end = int(np.searchsorted(self.values.indptr, upto, side="right")) - 1
            else:
                end = begin + AT_ONCE // max(m, 1)
            end = min(max(end, begin + 1), n)
            yield slice(begin, end)
            begin = end

    def _data(self, rows: slice) -> Array:
        """Return the stored values of some rows: a view."""
        if sp.issparse(self.values):
            return self.values.data[self.values.indptr[rows.start] : self.values.indptr[rows.stop]]
        return np.asarray(self.values)[rows]

    def __repr__(self) -> str:
        n, m = self.shape
        kind = "sparse" if self.sparse else "dense"
        return f"Linear({n} buyers, {m} goods, {kind})"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""
        n, m = self.values.shape
        return int(n), int(m)

    @property
    def sparse(self) -> bool:
        """Whether the values are sparse; allocations are then sparse, too.

        They are also where there are more than ten million pairs, and those of
        :class:`qmopt.ColumnGeneration` always.
        """
        return sp.issparse(self.values)

    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation of shape (n, m)."""
        if sp.issparse(self.values) or sp.issparse(allocation):
            # both orders: a dense left factor would make scipy build a dense product
            left, right = (self.values, allocation)
            if not sp.issparse(left):
                left, right = right, left
            return np.asarray(cast(Any, left).multiply(right).sum(axis=1), dtype=float).ravel()
        return np.einsum("ij,ij->i", self.values, np.asarray(allocation), dtype=float)

    def unit_cost(self, prices: Array) -> Array:
        """Least spend per unit of value: ``min_j prices[j] / values[i, j]`` where positive."""
        # to measure one point takes the costs at its prices several times
        prices = np.asarray(prices, dtype=float)
        key, (known, cost) = prices.tobytes(), self._known
        if key != known:
            cost = self._unit_cost(prices)
            self._known = key, cost
        return cost.copy()

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def _unit_cost(self, prices: Array) -> Array:
        cheapest = np.full(self.shape[0], np.inf)
        positive = bool((prices > 0).all())
        for rows in self._blocks():
            data = self._data(rows)
            if sp.issparse(self.values):
                begin = self.values.indptr[rows.start : rows.stop + 1]
                some = np.diff(begin) > 0
                if data.size:
                    ratios = prices[self.values.indices[begin[0] : begin[-1]]] / data
                    least = np.minimum.reduceat(ratios, (begin[:-1] - begin[0])[some])
                    cheapest[rows][some] = least
                continue
            ratios = np.divide(prices, data, dtype=float)
            if not positive:  # otherwise dividing by zero says infinite by itself
                ratios[data == 0] = np.inf
            ratios.min(axis=1, out=cheapest[rows])
        return cheapest

    def excess_cost(self, prices: Array, allocation: Allocation) -> Array:
        """Spend beyond need: ``sum_j x[i, j] * (prices[j] - cost[i] * values[i, j])``."""
        n, _ = self.shape
        rows, columns, units = pairs(allocation)
        cost = self.unit_cost(prices)[rows]
        values = entries(self.values, rows, columns)
        with np.errstate(invalid="ignore"):
            priced = np.where(values > 0, cost * values, 0.0)
        wasted = units * np.maximum(prices[columns] - priced, 0)
        return total_by(rows, wasted, n)

    def activities(self) -> Activities:
        """One activity per positive value, in row order: one unit of that good."""
        return self._activities(*pairs(self.values))

    def _activities(
        self, owner: NDArray[np.int64], good: NDArray[np.int64], values: Array
    ) -> Activities:
        needs = sp.csr_array(
            (np.ones(len(good)), good, np.arange(len(good) + 1)), shape=(len(good), self.shape[1])
        )
        return Activities(owner, needs, values)

    def activity_blocks(self) -> Iterator[Activities]:
        """Those of some buyers at a time, so that large values are not listed all at once."""
        for rows in self._blocks():
            owner, good, values = pairs(cast(Any, self.values)[rows])
            yield self._activities(owner + rows.start, good, values)

    @np.errstate(invalid="ignore", over="ignore")
    def worth_using(self, prices: Array, cost: Array, share: float) -> Activities:
        """Pairs that bring value at the given costs, within a share: one pass over the values."""
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], Array]] = []
        reach = cost * ((1 + share) * (1 + 1e-12))  # a little further, then exactly
        for rows in self._blocks():
            data = self._data(rows)
            if sp.issparse(self.values):
                begin = self.values.indptr[rows.start : rows.stop + 1]
                goods = self.values.indices[begin[0] : begin[-1]]
                owners = np.repeat(np.arange(rows.start, rows.stop), np.diff(begin))
                here = np.flatnonzero(prices[goods] <= data * reach[owners])
                owner, good, values = owners[here], goods[here].astype(np.int64), data[here]
            else:
                here = np.flatnonzero(prices <= np.multiply(data, reach[rows, None], dtype=float))
                row, good = np.divmod(here, self.shape[1])
                owner, values = row + rows.start, data[row, good].astype(float)
            here = (prices[good] <= values * cost[owner] * (1 + share)) & (values > 0)
            found.append((owner[here], good[here], values[here]))
        return self._activities(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def levels(self, allocation: Allocation) -> Array:
        """Units of each activity: the allocation at the pairs of positive value."""
        owner, good, _ = pairs(self.values)
        return entries(allocation, owner, good)

    def usable(self, goods: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which buyers value one of the given goods."""
        values = cast(Any, self.values)
        with np.errstate(over="ignore"):  # infinite is positive, too
            return np.asarray(values @ goods.astype(values.dtype) > 0).ravel()

    def wanted(self, buyers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which goods one of the given buyers values."""
        values = cast(Any, self.values)
        with np.errstate(over="ignore"):  # infinite is positive, too
            return np.asarray(values.T @ buyers.astype(values.dtype) > 0).ravel()

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given."""
        if sp.issparse(self.values):
            return type(self)(cast(Any, self.values)[buyers][:, goods])
        taken = np.asarray(self.values)[np.ix_(buyers, goods)]
        taken.setflags(write=False)  # ours already: not to be copied again
        return type(self)(taken)


def _labels(index: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(label) for label in index)


def _dense(values: Any) -> Array:
    try:
        array = np.asanyarray(values) if isinstance(values, np.memmap) else np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise MarketError(f"values: shape (buyers, goods) expected ({error})") from error
    if np.ma.is_masked(values):  # an ndarray of it would unmask what is missing
        raise MarketError("values: numbers expected, got masked ones")
    if array.dtype == bool or array.dtype.kind not in "iuf":
        raise MarketError(f"values: numbers expected, got {array.dtype}")
    if array.ndim != 2:
        raise MarketError(f"values: shape (buyers, goods) expected, got {array.shape}")
    if array.dtype not in (np.float64, np.float32):
        array = array.astype(float)
    elif array.flags.writeable:
        array = array.copy()
    array.setflags(write=False)
    return array


def _sparse(values: Any) -> sp.csr_array:
    if values.dtype == bool or values.dtype.kind not in "iuf":
        raise MarketError(f"values: numbers expected, got {values.dtype}")
    matrix = sp.csr_array(values, copy=True, dtype=float)
    matrix.sum_duplicates()  # sorts within rows too
    matrix.eliminate_zeros()
    matrix.data.setflags(write=False)
    return cast(sp.csr_array, matrix)
