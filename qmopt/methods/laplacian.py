"""Factor a Laplacian plus a nonnegative diagonal without ever subtracting.

The Newton systems of a linear market, scaled by the prices (or by the buyers' costs), have
off-diagonal elements ``-weights[j, k] <= 0`` and row sums ``excess[j] >= 0``. Written by these two,
elimination only adds, multiplies and divides nonnegative numbers, so that every factor is right to
a few bits however near to singular the matrix is (W. K. Grassmann, M. I. Taksar and D. P. Heyman,
"Regenerative analysis and steady state distributions for Markov chains", Operations Research 33(5),
1985). An ordinary Cholesky factorisation loses definiteness on the same systems.

Of each row only what is right of the diagonal is formed, a block of rows at a time: first what the
rows above add to it, by one matrix product; then the block alone, all columns beyond it lumped into
its excess; then those columns, by the inverse of the block's triangle, which is nonnegative, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from qmopt.utilities.protocol import Array

#: Rows that are eliminated together.
PANEL = 48
#: Size from which on the elimination within a panel is compiled.
LARGE = 200
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Factors:
    """``(I - lower) diag(pivots) (I - lower)^T``, with ``lower`` strictly lower triangular.

    Parameters
    ----------
    unit
        Shape (k, k): right of its diagonal ``-lower^T``; the rest of it means nothing.
    pivots
        Shape (k,), nonnegative; zero only where a part of the matrix is singular.
    """

    unit: Array
    pivots: Array

    @property
    def lower(self) -> Array:
        """Shape (k, k), nonnegative."""
        return np.tril(-self.unit.T, -1)

    def solve(self, right: Array) -> Array:
        """Solve for a right-hand side of shape (k,)."""
        forward = solve_triangular(
            self.unit, right, trans="T", unit_diagonal=True, check_finite=False
        )
        scaled = forward / np.maximum(self.pivots, TINY)
        return solve_triangular(self.unit, scaled, unit_diagonal=True, check_finite=False)


def factor(weights: Array, excess: Array, *, overwrite: bool = False) -> Factors:
    """Factor the matrix with off-diagonals ``-weights`` and row sums ``excess``.

    Parameters
    ----------
    weights
        Shape (k, k), symmetric, nonnegative; the diagonal is not looked at.
    excess
        Shape (k,), nonnegative.
    overwrite
        Whether the weights are not needed any more.

    Examples
    --------
    Two nodes joined by a weight of 1, and an excess of 2 at the second: the matrix is
    [[1, -1], [-1, 3]].

    >>> found = factor(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 2.0]))
    >>> found.pivots.tolist(), found.solve(np.array([0.0, 2.0])).tolist()
    ([1.0, 2.0], [1.0, 1.0])
    """
    size = len(excess)
    rest = weights if overwrite else np.array(weights, dtype=float)
    excess = np.array(excess, dtype=float)
    # rows before the current one are as they will stay, but for the factors that make them units
    pivots, below = np.empty(size), np.empty((size, 1))
    eliminate = _eliminate
    if size >= LARGE:
        from qmopt.methods.path_kernels import eliminate
    for start in range(0, size, PANEL):
        stop = min(start + PANEL, size)
        done = (rest[:start, start:stop] * below[:start]).T
        rows = rest[start:stop, start:]
        if start:
            rows -= done @ rest[:start, start:]
            excess[start:stop] -= done @ excess[:start]
        width = stop - start
        lumped = rows[:, width:].sum(axis=1) + excess[start:stop]
        inverse = np.eye(width)
        eliminate(rows[:, :width], lumped, inverse, pivots[start:stop])
        rows[:, width:] = inverse @ rows[:, width:]
        excess[start:stop] = inverse @ excess[start:stop]
        below[start:stop, 0] = -1 / np.maximum(pivots[start:stop], TINY)
    rest *= below
    return Factors(rest, pivots)


def _eliminate(rows: Array, excess: Array, inverse: Array, pivots: Array) -> None:
    """Eliminate a block: its rows right of the diagonal, their pivots, its triangle's inverse."""
    for k in range(len(rows)):
        done = rows[:k, k] / np.maximum(pivots[:k], TINY)
        rows[k, k + 1 :] += done @ rows[:k, k + 1 :]
        inverse[k, :k] = done @ inverse[:k, :k]
        excess[k] += done @ excess[:k]
        pivots[k] = rows[k, k + 1 :].sum() + excess[k]
