"""The fewest chips moved: against a plain linear program over all allocations at the prices."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt import nearest
from qmopt.hubs import Hubs


def tied(seed):
    """Integers of few sizes, some with reserves and kept credits at the prices of the ties."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(3, 40), rng.integers(2, 9)
    values = rng.integers(0 if seed % 3 else 1, 4, (n, m))
    values[:, 0] += values.sum(axis=1) == 0
    more = {}
    if seed % 3 == 2:  # plenty of credits: prices are reserves, or what a kept credit is worth
        more = {"keep_values": rng.integers(0, 2, n), "reserves": rng.integers(0, 3, m)}
    budgets = rng.integers(1, 20, n) * (4 if more else 1)
    return qm.Market(budgets, rng.integers(1, 9, m) * 3, qm.Linear(values), **more)


def least_moved(market, prices, near):
    """Half of all chips that change hands, at least, whatever best bundles clear the market."""
    n, m = market.shape
    per_credit = np.asarray(market.utility.values) / np.maximum(prices, 1e-300)
    best = np.maximum(per_credit.max(axis=1), market.keep_values)
    rows, columns = np.nonzero(per_credit >= best[:, None] * (1 - 1e-9))
    count = len(rows)
    pick = np.arange(count)
    paid = sp.csr_array((prices[columns], (rows, pick)), shape=(n, count))
    sold = sp.csr_array((np.ones(count), (columns, pick)), shape=(m, count))
    both, none = sp.vstack([paid, sold], format="csr"), sp.csr_array((n + m, count))
    rest = np.concatenate([market.budgets, market.supplies])
    open_ended = np.concatenate(
        [market.keep_values >= best * (1 - 1e-9), prices <= market.reserves]
    )
    here, eye = near[rows, columns], sp.eye_array(count)
    both = sp.hstack([both, none], format="csr")
    found = linprog(
        np.concatenate([np.zeros(count), np.ones(count)]),
        A_eq=both[~open_ended],
        b_eq=rest[~open_ended],
        A_ub=sp.vstack([sp.hstack([eye, -eye]), sp.hstack([-eye, -eye]), both[open_ended]]),
        b_ub=np.concatenate([here, -here, rest[open_ended]]),
    )
    assert found.status == 0
    return (found.fun + near.sum() - here.sum()) / 2


def running(market, rng):
    """What runs: a few hold everything, some goods are not handed out in full."""
    shares = rng.dirichlet(np.full(market.n, 0.2), market.m).T
    return shares * market.supplies * rng.choice([0.5, 1, 1], market.m)


@pytest.mark.parametrize("large", [False, True], ids=["simplex", "interior point"])
@pytest.mark.parametrize("seed", range(30))
def test_the_bound_of_all_allocations_is_attained(monkeypatch, seed, large):
    if large:
        monkeypatch.setattr(nearest, "LARGE", 0)
    market, rng = tied(seed), np.random.default_rng(seed)
    near = running(market, rng)
    found = qm.clear(market, near=near)
    moved = np.abs(sp.csr_array(found.allocation).toarray() - near).sum() / 2
    assert moved == pytest.approx(least_moved(market, found.prices, near), rel=1e-7)


def test_many_are_tied():
    """The markets above are what they say."""
    loose = [not qm.clear(tied(seed)).unique.allocation for seed in range(30)]
    assert sum(loose) >= 20


def test_a_large_tied_market_stays_where_it_is():
    """What runs is an equilibrium already, and large enough for the interior point."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 4, (3000, 6))
    market = qm.Market(rng.integers(1, 9, 3000), np.full(6, 500), qm.Linear(values))
    first = qm.clear(market, qm.ColumnGeneration())
    found = qm.clear(market, qm.ColumnGeneration(), near=first)
    off = np.abs((found.allocation - first.allocation).data)
    assert off.sum() <= 1e-7 * 3000


def test_a_part_of_a_large_tied_market_moves_as_little_as_can_be():
    rng = np.random.default_rng(1)
    values = rng.integers(1, 4, (2500, 6))
    market = qm.Market(rng.integers(1, 9, 2500), np.full(6, 500), qm.Linear(values))
    near = qm.clear(market, qm.ColumnGeneration()).allocation.toarray()[rng.permutation(2500)]
    found = qm.clear(market, qm.ColumnGeneration(), near=near)
    moved = np.abs(found.allocation.toarray() - near).sum() / 2
    assert moved == pytest.approx(least_moved(market, found.prices, near), rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_hubs_solve_what_a_dense_solver_solves(seed):
    rng = np.random.default_rng(seed)
    n, m, edges = rng.integers(2, 9), rng.integers(2, 9), 30
    ends = np.zeros((n + m, edges))
    ends[rng.integers(0, n, edges), np.arange(edges)] = 0.1 + rng.random(edges)
    both = np.arange(edges) % 5 > 0  # the others end at the bank
    ends[n + rng.integers(0, m, both.sum()), np.flatnonzero(both)] = 0.1 + rng.random(both.sum())
    met = ends.any(axis=1)
    ends, side = ends[met], (np.arange(n + m) < n)[met]
    weights, given = 0.1 + rng.random(edges), ends @ rng.random(edges)
    hubs = Hubs(sp.csr_array(ends), side)
    for scale in (1, 7):  # weights change, the graph does not
        matrix = ends @ np.diag(scale * weights) @ ends.T
        found = hubs.solver(scale * weights)(given)
        np.testing.assert_allclose(matrix @ found, given, rtol=1e-7, atol=1e-9)
