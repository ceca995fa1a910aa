"""Many independent copies of one small market: nothing dense, nothing built team by team.

Copy k has goods A and B, one unit each; P with 6(k+1) credits and values (2, 1); Q with 24(k+1)
and values (1, 2). Q is tied on both goods, so B costs twice A, together 30(k+1).
"""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm

COUNTS = [10, 1000]
MIB = 2**20


def triples(count):
    """Team, good and value of every bid, copy by copy."""
    k = np.repeat(np.arange(count), 4)
    team = 2 * k + np.tile([0, 0, 1, 1], count)
    good = 2 * k + np.tile([0, 1, 0, 1], count)
    return team, good, np.tile([2.0, 1.0, 1.0, 2.0], count)


def budgets(count):
    return np.outer(np.arange(1, count + 1), [6, 24]).ravel()


def from_arrays(count):
    team, good, value = triples(count)
    values = sp.coo_array((value, (team, good)), shape=(2 * count, 2 * count))
    return qm.Market(budgets(count), np.ones(2 * count), qm.Linear(values))


def from_tables(count):
    team, good, value = triples(count)
    teams = np.array([f"{kind}{k}" for k in range(count) for kind in "PQ"])
    goods = np.array([f"{kind}{k}" for k in range(count) for kind in "AB"])
    return qm.Market.from_tables(
        resources={"resource": list(goods), "supply": np.ones(2 * count)},
        teams={"team": list(teams), "credits": budgets(count)},
        bids={"team": list(teams[team]), "resource": list(goods[good]), "value": value},
    )


def check(found, count):
    level = np.arange(1, count + 1)
    np.testing.assert_allclose(found.prices, np.outer(level, [10, 20]).ravel(), rtol=1e-9)
    assert found.prices.sum() == pytest.approx(15 * count * (count + 1), rel=1e-9)
    units = sp.csr_array(found.allocation)
    block = sp.csr_array([[0.6, 0], [0.4, 1]])
    expected = sp.csr_array(sp.kron(sp.eye_array(count), block))
    assert abs(units - expected).max() <= 1e-9
    assert units.nnz == 3 * count
    assert found.certificate.certified(1e-9)
    assert found.unique.allocation


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("build", [from_arrays, from_tables])
def test_prices_of_every_copy(build, count):
    market = build(count)
    found = qm.clear(market)
    check(found, count)
    if count == 1000:
        assert sp.issparse(market.utility.values)
        assert sp.issparse(found.allocation)


def test_the_dense_twin():
    """The same thousand copies, with every zero written out."""
    sparse = from_arrays(1000)
    dense = sparse.replace(utility=qm.Linear(sparse.utility.values.toarray()))
    check(qm.clear(dense), 1000)


def test_shuffled():
    """The copies do not stand next to each other, and rows of the tables come in any order."""
    rng = np.random.default_rng(1)
    count = 200
    team, good, value = triples(count)
    teams, goods = rng.permutation(2 * count), rng.permutation(2 * count)
    values = sp.coo_array((value, (teams[team], goods[good])), shape=(2 * count, 2 * count))
    credit = np.zeros(2 * count)
    credit[teams] = budgets(count)
    found = qm.clear(qm.Market(credit, np.ones(2 * count), qm.Linear(values)))
    expected = np.outer(np.arange(1, count + 1), [10, 20]).ravel()
    np.testing.assert_allclose(found.prices[goods], expected, rtol=1e-9)


def test_nothing_dense_anywhere():
    """A dense 2000 x 2000 matrix of doubles is 30.5 MiB; all that is ever held is below that."""
    qm.clear(from_arrays(3))  # so that imports are not counted
    tracemalloc.start()
    try:
        market = from_arrays(1000)
        found = qm.clear(market)
        found.price_intervals  # noqa: B018
        found.unique  # noqa: B018
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25 * MIB
