"""Factor a Laplacian plus a nonnegative diagonal without ever subtracting.

The Newton systems of a linear market, scaled by the prices (or by the buyers' costs), have
off-diagonal elements ``-weights[j, k] <= 0`` and row sums ``excess[j] >= 0``. Written by these two,
elimination only adds, multiplies and divides nonnegative numbers, so that every factor is right to
a few bits however near to singular the matrix is (W. K. Grassmann, M. I. Taksar and D. P. Heyman,
"Regenerative analysis and steady state distributions for Markov chains", Operations Research 33(5),
1985). An ordinary Cholesky factorisation loses definiteness on the same systems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from qmopt.utilities.protocol import Array

#: Rows that are eliminated together before the rest is updated by one matrix product.
PANEL = 32
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Factors:
    """``(I - lower) diag(pivots) (I - lower)^T``, with ``lower`` strictly lower triangular.

    Parameters
    ----------
    lower
        Shape (k, k), nonnegative.
    pivots
        Shape (k,), nonnegative; zero only where a part of the matrix is singular.
    """

    lower: Array
    pivots: Array

    def solve(self, right: Array) -> Array:
        """Solve for a right-hand side of shape (k,)."""
        unit = -self.lower
        forward = solve_triangular(unit, right, lower=True, unit_diagonal=True, check_finite=False)
        scaled = forward / np.maximum(self.pivots, TINY)
        return solve_triangular(
            unit, scaled, lower=True, trans="T", unit_diagonal=True, check_finite=False
        )


def factor(weights: Array, excess: Array) -> Factors:
    """Factor the matrix with off-diagonals ``-weights`` and row sums ``excess``.

    Parameters
    ----------
    weights
        Shape (k, k), symmetric, nonnegative; the diagonal is not looked at.
    excess
        Shape (k,), nonnegative.

    Examples
    --------
    Two nodes joined by a weight of 1, and an excess of 2 at the second: the matrix is
    [[1, -1], [-1, 3]].

    >>> found = factor(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 2.0]))
    >>> found.pivots.tolist(), found.solve(np.array([0.0, 2.0])).tolist()
    ([1.0, 2.0], [1.0, 1.0])
    """
    size = len(excess)
    rest, excess = np.array(weights), np.array(excess)
    lower, pivots = np.zeros((size, size)), np.zeros(size)
    for start in range(0, size, PANEL):
        stop = min(start + PANEL, size)
        for k in range(start, stop):
            # what the rows of this panel before it have added to row k
            done = lower[k, start:k]
            rest[k, k + 1 :] += done @ rest[start:k, k + 1 :]
            excess[k] += done @ excess[start:k]
            pivots[k] = rest[k, k + 1 :].sum() + excess[k]
            lower[k + 1 :, k] = rest[k, k + 1 :] / max(pivots[k], TINY)
        panel = lower[stop:, start:stop]
        rest[stop:, stop:] += panel @ rest[start:stop, stop:]
        excess[stop:] += panel @ excess[start:stop]
    return Factors(lower, pivots)
