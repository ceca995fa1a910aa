"""Peers agree with ours on small markets, each to the accuracy that it claims."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.bench import Kelley, PlainCvxpy, ProjectedGradient, peers
from qmopt.bench.peers.projected_gradient import on_simplices

#: Of prices, relative: that of conic solvers at their own tolerances, and of others at 1e-8.
ACCURACY = {
    "cvxpy-clarabel": 3e-3,
    "cvxpy-scs": 3e-2,
    "proportional-response": 1e-3,
    "projected-gradient": 3e-3,
    "kelley": 1e-2,
}


def markets():
    rng = np.random.default_rng(0)
    for seed in range(4):
        yield generate.uniform(8, 5, seed)
        yield generate.sparse(10, 6, seed)
        values = rng.random((6, 9)) * (rng.random((6, 9)) < 0.6)
        values[np.arange(9) % 6, np.arange(9)] += 0.5
        yield qm.Market(rng.random(6) + 0.5, rng.random(9) + 0.5, qm.Linear(values))


@pytest.mark.parametrize("name", list(ACCURACY))
def test_prices_agree_with_pivoting(name):
    method = peers(1e-8)[name]
    for market in markets():
        right = qm.clear(market, qm.Pivoting()).prices
        found = method.solve(market)
        np.testing.assert_allclose(found.prices, right, rtol=ACCURACY[name])
        assert sp.issparse(found.allocation) == market.utility.sparse
        gap = qm.certify(market, found.prices, found.allocation).gap
        assert abs(gap) <= ACCURACY[name]


def test_every_peer_is_held_to_something():
    assert set(peers()) == set(ACCURACY)


@pytest.mark.parametrize("method", [PlainCvxpy(), ProjectedGradient(), Kelley()], ids=repr)
def test_what_they_do_not_cover_is_told(method):
    base = qm.Market([1], [1], qm.Linear([[1]]))
    for changes, words in (
        ({"reserves": [0.5]}, "reserve"),
        ({"keep_values": [0.5]}, "kept"),
        ({"utility_caps": [2]}, "caps"),
    ):
        with pytest.raises(qm.MarketError, match=words):
            method.solve(base.replace(**changes))


@pytest.mark.parametrize("method", [ProjectedGradient(max_iterations=1), Kelley(max_iterations=1)])
def test_who_stops_early_says_so(method):
    outcome = method.solve(generate.uniform(12, 8, 1))
    assert outcome.status.startswith("stopped")
    assert np.isfinite(outcome.prices).all()


def test_projection_is_the_nearest_point():
    """Against the definition: no vertex of the simplex lies in the direction of what was cut."""
    rng = np.random.default_rng(1)
    points = 3 * rng.standard_normal((7, 40))
    found, level = on_simplices(points)
    np.testing.assert_allclose(found, np.maximum(points - level, 0))
    np.testing.assert_allclose(found.sum(axis=0), 1)
    assert found.min() >= 0
    cut = points - found
    assert (cut.max(axis=0) <= (cut * found).sum(axis=0) + 1e-12).all()
