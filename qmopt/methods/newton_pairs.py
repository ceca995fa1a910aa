"""Numbers on the pairs of a market, dense or sparse behind one face."""

from __future__ import annotations

from typing import Any, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array


class DensePairs:
    """Arrays of shape (n, m); pairs of zero value are dead and carry zeros."""

    def __init__(self, values: Array) -> None:
        self.values = np.asarray(values, dtype=float)
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


class SparsePairs:
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


Pairs: TypeAlias = DensePairs | SparsePairs


def pairs_of(values: Any) -> Pairs:
    """Return the pairs of values, dense or sparse as they are."""
    return SparsePairs(cast(Any, values)) if sp.issparse(values) else DensePairs(values)
