"""Weighted normal equations of a bipartite graph: many nodes on one side, few on the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.utilities.protocol import Array


class Hubs:
    """Solves ``A W A^T y = r``: the weights ``W`` of the edges change, their ends ``A`` do not.

    The nodes of the larger side meet no edge in common, so that they are eliminated at once; what
    remains is a dense matrix of the smaller side.

    Parameters
    ----------
    ends
        Shape (k, E), sparse: coefficients of each edge at its one or two ends.
    side
        Shape (k,): which nodes are on the one side; every edge with two ends has one on each.

    Examples
    --------
    One edge of weight 2 from node 0 to node 1, and one of weight 1 at node 1 alone, so that the
    matrix is [[2, 2], [2, 3]]:

    >>> graph = Hubs(sp.csr_array([[1.0, 0.0], [1.0, 1.0]]), np.array([True, False]))
    >>> graph.solver(np.array([2.0, 1.0]))(np.array([2.0, 3.0])).round(9).tolist()
    [0.0, 1.0]
    """

    def __init__(self, ends: sp.csr_array, side: NDArray[np.bool_]) -> None:
        many = side if side.sum() >= (~side).sum() else ~side
        self.many, self.few = np.flatnonzero(many), np.flatnonzero(~many)
        leaves, hubs = sp.csc_array(ends[self.many]), sp.csc_array(ends[self.few])
        self.square = sp.csr_array(ends.power(2))
        both = np.flatnonzero((np.diff(leaves.indptr) > 0) & (np.diff(hubs.indptr) > 0))
        leaf, hub = leaves[:, both], hubs[:, both]
        # row by row, so that only the numbers have to be put in anew
        order = np.argsort(leaf.indices, kind="stable")
        self.edge = both[order]
        self.product = (leaf.data * hub.data)[order]
        begin = np.searchsorted(leaf.indices[order], np.arange(len(self.many) + 1))
        self.cross = sp.csr_array(
            (self.product.copy(), hub.indices[order], begin), shape=(len(self.many), len(self.few))
        )
        self.rows = leaf.indices[order]

    def solver(self, weights: Array, tiny: float = 1e-13) -> Callable[[Array], Array]:
        """Factor the equations for weights (E,); ``tiny`` is a share of the diagonal.

        Raises
        ------
        LinAlgError
            If a number has overflowed, or the equations are singular beyond rounding.
        """
        from scipy.linalg import cho_factor, cho_solve

        diagonal = (self.square @ weights) * (1 + tiny)
        scale = 1 / np.sqrt(np.maximum(diagonal, np.finfo(float).tiny))
        one, other = scale[self.many], scale[self.few]
        cross = self.cross
        cross.data[:] = self.product * weights[self.edge] * one[self.rows] * other[cross.indices]
        matrix = np.eye(len(self.few)) * (1 + tiny) - (cross.T @ cross).toarray()
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("not finite")
        try:
            factor = cho_factor(matrix)
        except np.linalg.LinAlgError:  # rounding: a part of the graph that hangs together by little
            factor = cho_factor(matrix + 1e-10 * np.eye(len(matrix)))

        def solve(given: Array) -> Array:
            given = given * scale
            found = np.empty_like(given)
            few = cho_solve(factor, given[self.few] - cross.T @ given[self.many])
            found[self.few] = few
            found[self.many] = given[self.many] - cross @ few
            return found * scale

        return solve
