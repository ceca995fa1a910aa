"""Work that cannot run on a chip type: zero is zero, and not a chip is handed out for it.

The second team buys both types, so a V100 costs it twice a K80; together they cost 2 credits.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm

JOBS = ([1, 1], [1, 1], [[4, 0], [2, 1]])


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.coo_array])
def test_nothing_where_it_cannot_run(kind):
    budgets, supplies, values = JOBS
    market = qm.Market(
        budgets,
        supplies,
        qm.Linear(kind(np.array(values, float))),
        buyers=["j1", "j2"],
        goods=["v100", "k80"],
    )
    found = qm.clear(market)
    np.testing.assert_allclose(found.prices, [4 / 3, 2 / 3], rtol=1e-12)
    units = sp.csr_array(found.allocation).toarray()
    np.testing.assert_allclose(units, [[0.75, 0], [0.25, 1]], atol=1e-12)
    assert units[0, 1] == 0.0
    np.testing.assert_allclose(found.utilities, [3, 1.5], rtol=1e-12)
    rows = found.tables()["allocation"]
    assert list(zip(rows["team"], rows["resource"], strict=True)) == [
        ("j1", "v100"),
        ("j2", "v100"),
        ("j2", "k80"),
    ]


def test_in_every_guise(dressed):
    case = dressed(*JOBS)
    found = qm.clear(case.market)
    np.testing.assert_allclose(case.prices(found), [4 / 3, 2 / 3], rtol=1e-12)
    np.testing.assert_allclose(case.allocation(found), [[0.75, 0], [0.25, 1]], atol=1e-12)
    assert case.allocation(found)[0, 1] == 0.0


@pytest.mark.parametrize("solver", [qm.Clarabel(), qm.Scs(), qm.Cvxpy("CLARABEL", max_iter=2)])
@pytest.mark.parametrize("crossover", [True, False])
def test_no_solver_can_put_a_job_there(solver, crossover):
    """Pairs of zero value are no variables: exactly zero even in the roughest point."""
    budgets, supplies, values = JOBS
    market = qm.Market(budgets, supplies, qm.Linear(values))
    outcome = qm.EisenbergGale(solver, crossover=crossover).solve(market)
    assert outcome.allocation[0, 1] == 0.0


def test_prices_as_if_it_could_run_are_not_certified():
    """Copied speeds (a K80 as good as a V100) give prices 1 and 1; the first team sees through."""
    budgets, supplies, values = JOBS
    market = qm.Market(budgets, supplies, qm.Linear(values))
    assert not qm.certify(market, [1, 1], [[0.5, 0.5], [0.5, 0.5]]).certified(1e-3)
    assert not qm.certify(market, [1, 1]).certified(1e-3)


def test_many_jobs_many_types():
    """Wherever a throughput is zero, so is the allocation, to the bit."""
    rng = np.random.default_rng(4)
    values = rng.integers(1, 5, (30, 8)) * (rng.random((30, 8)) < 0.4)
    values[:, 0] += values.sum(axis=1) == 0
    for ties in (None, rng.random((30, 8))):
        found = qm.clear(qm.Market(np.ones(30), np.ones(8), qm.Linear(values)), near=ties)
        assert (np.asarray(found.allocation)[values == 0] == 0).all()
