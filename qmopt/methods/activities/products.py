"""Products of sparse matrices whose places never change: one pass for each new set of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.utilities.protocol import Array


class Between:
    """The product ``left diag(numbers) right``, for fixed left and right and many numbers.

    Parameters
    ----------
    left
        Shape (R, L), sparse.
    right
        Shape (L, m), sparse.

    Attributes
    ----------
    row, column
        Shape (E,): the places of the product that are not 0 by their pattern, by row and column.

    Examples
    --------
    >>> between = Between(sp.csr_array([[1.0, 2.0]]), sp.csr_array([[1.0, 0.0], [3.0, 4.0]]))
    >>> between(np.array([1.0, 10.0])).tolist()
    [61.0, 80.0]
    >>> between.matrix(np.array([61.0, 80.0])).toarray().tolist()
    [[61.0, 80.0]]
    """

    def __init__(self, left: Any, right: Any) -> None:
        self.shape: tuple[int, int] = left.shape[0], right.shape[1]
        by_middle, right = sp.csc_array(left), sp.csr_array(right)
        # every entry of the right meets the entries of the left in its row's column
        middle = np.repeat(np.arange(right.shape[0]), np.diff(right.indptr))
        often = np.diff(by_middle.indptr)[middle]
        entry = np.repeat(np.arange(len(middle)), often)
        first = by_middle.indptr[middle[entry]]
        nth = np.arange(len(entry)) - np.repeat(np.cumsum(often) - often, often)
        other = first + nth
        place = by_middle.indices[other].astype(np.int64) * self.shape[1] + right.indices[entry]
        found, at = np.unique(place, return_inverse=True)
        self.row, self.column = np.divmod(found, max(self.shape[1], 1))
        weights = by_middle.data[other] * right.data[entry]
        self._sum = sp.csr_array((weights, (at, middle[entry])), shape=(len(found), right.shape[0]))
        self._begin = np.searchsorted(self.row, np.arange(self.shape[0] + 1))

    def __call__(self, numbers: Array) -> Array:
        """Entries (E,) of the product."""
        return np.asarray(self._sum @ numbers)

    def matrix(self, entries: Array) -> sp.csr_array:
        """Return entries (E,) as a sparse matrix."""
        return sp.csr_array((entries, self.column, self._begin), shape=self.shape)

    def dense(self, entries: Array) -> Array:
        """Return entries (E,) as an array."""
        array = np.zeros(self.shape)
        array[self.row, self.column] = entries
        return array

    def gathered(self, finer: Between, whose: NDArray[np.int64]) -> sp.csr_array:
        """Return the matrix that adds up entries of a finer product, by the row each belongs to.

        Parameters
        ----------
        finer
            A product with the same right, each of whose places is one here, in row ``whose``.
        whose
            Shape (rows of the finer product,).
        """
        key = self.row * self.shape[1] + self.column
        mine = whose[finer.row] * self.shape[1] + finer.column
        places = np.searchsorted(key, mine), np.arange(len(mine))
        return sp.csr_array((np.ones(len(mine)), places), shape=(len(key), len(mine)))
