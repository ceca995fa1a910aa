"""Numbers on the pairs of a market, dense or sparse behind one face, and the passes over them.

A pass is written once, in what the two have in common; for large dense markets it is compiled, see
:mod:`qmopt.methods.path_kernels`. ``x`` are units, ``z`` slacks; moves ``(price, cost)`` change a
slack by ``price[j] - cost[i] v[i, j]``, which over the slack is called ``q`` below.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Pairs from which on the passes over dense ones are compiled.
MANY = 40_000

#: A move of prices (m,) and of costs (n,).
Duals: TypeAlias = tuple[Array, Array]


class Sums(NamedTuple):
    """An iterate on the pairs, and what a pass adds up.

    Parameters
    ----------
    x, z
        Units and slacks.
    weight
        ``v x / z``.
    gained, square
        Shape (n,): sums of ``v x`` and ``v**2 x / z``.
    taken, mass
        Shape (m,): sums of ``x`` and ``x / z``.
    total
        Sum of ``x z``.
    """

    x: Array
    z: Array
    weight: Array
    gained: Array
    square: Array
    taken: Array
    mass: Array
    total: float


class _Passes:
    """The passes, in terms of what dense and sparse pairs offer."""

    values: Array
    live: Any

    def buyers(self, numbers: Array) -> Array:
        """Repeat a number of each buyer on its pairs."""
        raise NotImplementedError

    def goods(self, numbers: Array) -> Array:
        """Repeat a number of each good on its pairs."""
        raise NotImplementedError

    def by_buyer(self, numbers: Array) -> Array:
        """Add up by buyer, (n,)."""
        raise NotImplementedError

    def by_good(self, numbers: Array) -> Array:
        """Add up by good, (m,)."""
        raise NotImplementedError

    def scaled(self, numbers: Array, per_buyer: Array, per_good: Array) -> Array:
        """Multiply by a number of each buyer and one of each good."""
        scaled = numbers * self.buyers(per_buyer)
        scaled *= self.goods(per_good)
        return scaled

    def _slack_move(self, duals: Duals) -> Array:
        price, cost = duals
        return self.live * (self.goods(price) - self.buyers(cost) * self.values)

    def moved(
        self, x: Array, z: Array, dx: Array, duals: Duals, primal: float, dual: float
    ) -> Sums:
        """Move an iterate by given lengths, and add up."""
        x, z = x + primal * dx, z + dual * self._slack_move(duals)
        theta = x / z
        weight = self.values * theta
        return Sums(
            x, z, weight,
            self.by_buyer(self.values * x), self.by_buyer(self.values * weight),
            self.by_good(x), self.by_good(theta), float((x * z).sum()),
        )  # fmt: skip

    def predicted(self, here: Sums, duals: Duals) -> tuple[float, float, float, float]:
        """Least and largest q, and the sums of ``x z q`` and ``x z q**2``."""
        q = self._slack_move(duals) / here.z
        product = here.x * here.z * q
        return float(q.min()), float(q.max()), float(product.sum()), float((product * q).sum())

    def corrected(
        self, here: Sums, duals: Duals, per_buyer: Array, per_good: Array, part: float = 1.0
    ) -> tuple[Array, Array, Array]:
        """Units asked for at the given slacks after the predictor, their value and number.

        Returns
        -------
        push
            ``per_buyer per_good / z - x + part x q (1 + q)`` on each pair.
        value, units
            Shapes (n,) and (m,): sums of ``v push`` and ``push``.
        """
        q = self._slack_move(duals) / here.z
        aim = self.live * self.buyers(per_buyer) * self.goods(per_good)
        push = aim / here.z - here.x + part * here.x * q * (1 + q)
        return push, self.by_buyer(self.values * push), self.by_good(push)

    def finished(self, here: Sums, push: Array, duals: Duals) -> tuple[Array, float, float]:
        """Move of the units, and how often a full step would use up the units and the slacks."""
        q = self._slack_move(duals) / here.z
        dx = push - here.x * q
        used = np.divide(-dx, here.x, out=np.zeros_like(dx), where=dx < 0)
        return dx, float(used.max()), float((-q).max())


class DensePairs(_Passes):
    """Arrays of shape (n, m); pairs of zero value are dead and carry zeros."""

    def __init__(self, values: Array) -> None:
        self.values = np.ascontiguousarray(values, dtype=float)
        self.live = self.values > 0

    def with_values(self, values: Array) -> Self:
        """Return the same pairs with other values."""
        return type(self)(values)

    def buyers(self, numbers: Array) -> Array:
        """Repeat a number of each buyer on its pairs."""
        return numbers[:, None]

    def goods(self, numbers: Array) -> Array:
        """Repeat a number of each good on its pairs."""
        return numbers[None, :]

    def by_buyer(self, numbers: Array) -> Array:
        """Add up by buyer, (n,)."""
        return numbers.sum(axis=1)

    def by_good(self, numbers: Array) -> Array:
        """Add up by good, (m,)."""
        return numbers.sum(axis=0)

    def most_by_buyer(self, numbers: Array) -> Array:
        """Take the largest by buyer, (n,)."""
        return numbers.max(axis=1)

    def gram_of_goods(self, numbers: Array) -> Array:
        """Return ``numbers.T @ numbers``, (m, m)."""
        return numbers.T @ numbers

    def gram_of_buyers(self, numbers: Array) -> Array:
        """Return ``numbers @ numbers.T``, (n, n)."""
        return numbers @ numbers.T

    def matrix(self, numbers: Array) -> Any:
        """Return the numbers as a matrix (n, m)."""
        return numbers

    def some(self, chosen: NDArray[np.bool_]) -> SparsePairs:
        """Return some of the pairs, at least one of each buyer."""
        buyer, good = np.nonzero(chosen)
        begin = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))])
        return SparsePairs(
            sp.csr_array((self.values[buyer, good], good, begin), shape=self.values.shape)
        )


class CompiledPairs(DensePairs):
    """Dense pairs with compiled passes: each goes over the pairs once."""

    def moved(
        self, x: Array, z: Array, dx: Array, duals: Duals, primal: float, dual: float
    ) -> Sums:
        """Move an iterate by given lengths, and add up."""
        from qmopt.methods.path_kernels import moved

        (n, m), new = x.shape, (np.empty_like(x), np.empty_like(x), np.empty_like(x))
        sums = np.zeros(n), np.zeros(n), np.zeros(m), np.zeros(m)
        total = moved(self.values, x, z, dx, *duals, primal, dual, *new, *sums)
        return Sums(*new, *sums, total)

    def predicted(self, here: Sums, duals: Duals) -> tuple[float, float, float, float]:
        """Least and largest q, and the sums of ``x z q`` and ``x z q**2``."""
        from qmopt.methods.path_kernels import predicted

        return predicted(self.values, here.x, here.z, *duals)

    def corrected(
        self, here: Sums, duals: Duals, per_buyer: Array, per_good: Array, part: float = 1.0
    ) -> tuple[Array, Array, Array]:
        """Units asked for at the given slacks after the predictor, their value and number."""
        from qmopt.methods.path_kernels import corrected

        push, value, units = (
            np.empty_like(here.x),
            np.zeros(len(per_buyer)),
            np.zeros(len(per_good)),
        )
        corrected(
            self.values, here.x, here.z, *duals, per_buyer, per_good, part, push, value, units
        )  # fmt: skip
        return push, value, units

    def finished(self, here: Sums, push: Array, duals: Duals) -> tuple[Array, float, float]:
        """Move of the units, and how often a full step would use up the units and the slacks."""
        from qmopt.methods.path_kernels import finished

        dx = np.empty_like(push)
        return dx, *finished(self.values, here.x, here.z, push, *duals, dx)


class SparsePairs(_Passes):
    """Arrays of shape (K,), one entry for each stored pair, by buyer; no buyer is without one."""

    def __init__(self, pattern: sp.csr_array) -> None:
        self.values = pattern.data
        self.live = np.ones(len(pattern.data), dtype=bool)
        self.pattern = pattern
        self._good = pattern.indices
        self._buyer = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))

    def with_values(self, values: Array) -> Self:
        """Return the same pairs with other values."""
        return type(self)(self.matrix(values))

    def buyers(self, numbers: Array) -> Array:
        """Repeat a number of each buyer on its pairs."""
        return numbers[self._buyer]

    def goods(self, numbers: Array) -> Array:
        """Repeat a number of each good on its pairs."""
        return numbers[self._good]

    def by_buyer(self, numbers: Array) -> Array:
        """Add up by buyer, (n,)."""
        return np.add.reduceat(numbers, self.pattern.indptr[:-1])

    def by_good(self, numbers: Array) -> Array:
        """Add up by good, (m,)."""
        return total_by(self._good, numbers, self.pattern.shape[1])

    def most_by_buyer(self, numbers: Array) -> Array:
        """Take the largest by buyer, (n,)."""
        return np.maximum.reduceat(numbers, self.pattern.indptr[:-1])

    def gram_of_goods(self, numbers: Array) -> Array:
        """Return ``numbers.T @ numbers``, (m, m)."""
        matrix = self.matrix(numbers)
        return (matrix.T @ matrix).toarray()

    def gram_of_buyers(self, numbers: Array) -> Array:
        """Return ``numbers @ numbers.T``, (n, n)."""
        matrix = self.matrix(numbers)
        return (matrix @ matrix.T).toarray()

    def matrix(self, numbers: Array) -> Any:
        """Return the numbers as a matrix (n, m)."""
        pattern = self.pattern
        return sp.csr_array((numbers, pattern.indices, pattern.indptr), shape=pattern.shape)

    def some(self, chosen: NDArray[np.bool_]) -> SparsePairs:
        """Return some of the pairs, at least one of each buyer."""
        begin = np.concatenate([[0], np.cumsum(self.by_buyer(chosen.astype(float)))])
        return SparsePairs(
            sp.csr_array(
                (self.values[chosen], self._good[chosen], begin.astype(np.int64)),
                shape=self.pattern.shape,
            )
        )


Pairs: TypeAlias = DensePairs | SparsePairs


def pairs_of(values: Any) -> Pairs:
    """Return the pairs of values, dense or sparse as they are."""
    if sp.issparse(values):
        return SparsePairs(cast(Any, values))
    return CompiledPairs(values) if values.size >= MANY else DensePairs(values)
