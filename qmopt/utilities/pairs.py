"""Numbers on pairs of buyers and goods, dense or sparse alike."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: Floating-point array.
Array: TypeAlias = NDArray[np.float64]
#: Units per buyer and good, shape (n, m): dense, or sparse where the values are.
Allocation: TypeAlias = "Array | sp.csr_array"


def pairs(matrix: Allocation) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Rows, columns and numbers of the nonzero entries of a matrix, in row order."""
    if sp.issparse(matrix):
        found = cast(Any, matrix).tocsr().tocoo()
        kept = found.data != 0
        return (
            found.row[kept].astype(np.int64),
            found.col[kept].astype(np.int64),
            found.data[kept].astype(float),
        )
    dense = np.asarray(matrix)
    rows, columns = np.nonzero(dense)
    return rows, columns, dense[rows, columns].astype(float)


def entries(matrix: Allocation, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Array:
    """Numbers of a dense or sparse matrix at the given places, shape of ``rows``."""
    if sp.issparse(matrix):
        if not rows.size:  # scipy's fancy indexing returns a matrix of another kind
            return np.zeros(0)
        return np.asarray(cast(Any, matrix)[rows, columns], dtype=float).ravel()
    return np.asarray(matrix)[rows, columns].astype(float)


def total_by(group: NDArray[np.integer[Any]], amounts: Array, groups: int) -> Array:
    """Add up amounts by group, shape (groups,)."""
    return np.bincount(group, weights=amounts, minlength=groups).astype(float)
