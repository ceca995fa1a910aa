"""The interior point: its factors, its path, and what it hands to the crossover."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods.laplacian import PANEL, factor


def dense(weights, excess):
    """The matrix that weights and row sums stand for."""
    off = weights - np.diag(np.diag(weights))
    return np.diag(off.sum(axis=1) + excess) - off


@pytest.mark.parametrize("size", [1, 2, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL + 5])
def test_factors_multiply_to_the_matrix(size):
    rng = np.random.default_rng(size)
    weights = rng.integers(0, 5, (size, size)).astype(float)
    weights, excess = weights + weights.T, rng.integers(1, 4, size).astype(float)
    found = factor(weights, excess)
    unit = np.eye(size) - found.lower
    matrix = dense(weights, excess)
    np.testing.assert_allclose(unit @ np.diag(found.pivots) @ unit.T, matrix, atol=1e-11 * size)
    right = rng.integers(-9, 10, size).astype(float)
    np.testing.assert_allclose(matrix @ found.solve(right), right, atol=1e-10 * size)


def test_nearly_singular_and_still_right_to_the_last_bits():
    """A path of five nodes with an excess of 1e-200 at one end: the matrix, rounded, is singular.

    The solution for a right-hand side of 1 at the other end is known: flow 1 through each edge of
    weight w needs a difference of 1/w, and the excess needs 1e200 at its node.
    """
    weights = np.zeros((5, 5))
    for k, w in enumerate([1.0, 2.0, 4.0, 8.0]):
        weights[k, k + 1] = weights[k + 1, k] = w
    found = factor(weights, np.array([0, 0, 0, 0, 1e-200]))
    exact = [Fraction(10) ** 200 + Fraction(a, 8) for a in (15, 7, 3, 1, 0)]
    solved = found.solve(np.array([1.0, 0, 0, 0, 0]))
    np.testing.assert_allclose(solved, [float(x) for x in exact], rtol=1e-15)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)], ids=["goods fewer", "buyers fewer"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_path_dense_and_sparse(shape, sparse):
    """Reduced to goods or to buyers, on dense or sparse values: prices of the other methods."""
    rng = np.random.default_rng(1)
    values = rng.random(shape) * (rng.random(shape) < 0.5)
    values[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = 1
    values[rng.integers(0, shape[0], shape[1]), np.arange(shape[1])] = 1
    market = qm.Market(
        rng.lognormal(size=shape[0]), rng.integers(1, 5, shape[1]),
        qm.Linear(sp.csr_array(values) if sparse else values),
        reserves=0.02 * (np.arange(shape[1]) % 3), keep_values=0.5 * (np.arange(shape[0]) % 4 == 0),
    )  # fmt: skip
    found = qm.clear(market, qm.InteriorPoint(), tolerance=1e-10)
    assert sp.issparse(found.allocation) == sparse
    np.testing.assert_allclose(found.prices, qm.clear(market).prices, rtol=1e-11)


def test_without_a_crossover_the_best_iterate_is_handed_over():
    """Prices of a smooth market are right to about the tolerance even so."""
    market = generate.uniform(40, 30, 2)
    rough = qm.InteriorPoint(crossover=False).solve(market)
    assert rough.status in ("optimal", "stalled")
    np.testing.assert_allclose(rough.prices, qm.clear(market).prices, rtol=1e-6)
    assert qm.certify(market, rough.prices, rough.allocation).overallocated <= 1e-12


def test_time_and_steps_run_out_and_it_is_said():
    market = generate.uniform(200, 150, 0)
    outcome = qm.InteriorPoint(crossover=False, max_iterations=2).solve(market)
    assert (outcome.status, outcome.stats["iterations"]) == ("stopped", 2)
    with pytest.raises(qm.NotCertified, match="ran out"):
        qm.clear(market, qm.InteriorPoint(time_limit=0))


def test_what_it_does_not_cover_is_told():
    with pytest.raises(qm.MarketError, match=r"sums of activities.*CobbDouglas"):
        qm.InteriorPoint().solve(qm.Market([1], [1], qm.CobbDouglas([[1]])))
    several = qm.Workloads([0, 0], [1, 2], [0, 1], [[1], [1]], [1, 2])
    with pytest.raises(qm.MarketError, match=r"one for each team.*several workloads"):
        qm.InteriorPoint().solve(qm.Market([1], [1], several))
