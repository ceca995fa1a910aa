"""Which allocation: equal treatment among ties, or the fewest chips moved; both stay certified."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt import generate
from qmopt.support import balance, closest_flow, pro_rata, supporting_allocation
from qmopt.tight import tight_graph

TOLERANCE = 1e-9


def dense(allocation):
    return sp.csr_array(allocation).toarray()


def tied_markets():
    """Integers from 1 to 3 and chip types at several places: ties everywhere."""
    rng = np.random.default_rng(11)
    for _ in range(8):
        n, m = rng.integers(2, 13, 2)
        values = rng.integers(1, 4, (n, m))
        yield qm.Market(rng.integers(1, 20, n), rng.integers(1, 9, m), qm.Linear(values))
    for seed in range(8):
        yield generate.tied(12, 9, seed, spread=1)
    yield qm.Market(
        [10, 20, 30],
        [4, 4],
        qm.Linear([[2, 2], [2, 2], [1, 1]]),
        keep_values=[0.5, 0.5, 0],
        reserves=[4, 4],
    )


TIED = list(tied_markets())


# The tight graph


def test_tight_pairs_by_hand():
    """At 7.5 and 2.5 the first team gets 4/7.5 per credit from good 0, the second 1/2.5 from 1."""
    market = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]))
    graph = tight_graph(market, np.array([7.5, 2.5]), 1e-9)
    assert graph.source.tolist() == [0, 1]
    assert graph.sink.tolist() == [2, 3]
    assert graph.requirement.tolist() == [60, 40, 60, 40]
    assert graph.bank == 4
    assert not graph.loose(np.array([60.0, 40.0])).any()


def test_tight_within_a_tolerance():
    market = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]))
    near = tight_graph(market, np.array([5.0 * (1 - 1e-6), 2.5]), 1e-5)
    far = tight_graph(market, np.array([5.0 * (1 - 1e-6), 2.5]), 1e-7)
    assert len(near.source) == 3  # the second team is tied, nearly
    assert len(far.source) == 2


def test_keepers_and_idle_goods_are_edges_to_the_bank():
    market = qm.Market(
        [10, 10], [4, 4], qm.Linear([[2, 0], [0, 1]]), keep_values=[1, 0], reserves=[2, 0]
    )
    graph = tight_graph(market, np.array([2.0, 2.5]), 1e-9)
    edges = set(zip(graph.source.tolist(), graph.sink.tolist(), strict=True))
    assert edges == {(0, 2), (1, 3), (0, 4), (4, 2)}
    assert graph.requirement.tolist() == [10, 10, 8, 10]
    flow = graph.flow(sp.csr_array([[3.0, 0], [0, 4]]), np.array([1.0, 0]), np.array([4.0, 0]))
    by_edge = dict(
        zip(zip(graph.source.tolist(), graph.sink.tolist(), strict=True), flow, strict=True)
    )
    assert by_edge == {(0, 2): 6, (1, 3): 10, (0, 4): 4, (4, 2): 2}
    np.testing.assert_allclose(graph.incidence @ flow, graph.requirement)
    # chips and kept credits could be traded for each other
    loose = graph.loose(flow)
    assert {edge for edge, free in zip(by_edge, loose, strict=True) if free} == {
        (0, 2),
        (0, 4),
        (4, 2),
    }


def test_what_could_change_is_a_cycle_not_a_tree():
    """Two teams that both buy both goods could swap; two that share one good could not."""
    market = qm.Market([2, 2, 1, 1], [2, 2, 2], qm.Linear([[1, 1, 0]] * 2 + [[0, 0, 1]] * 2))
    found = qm.clear(market)
    np.testing.assert_allclose(found.prices, 1, rtol=1e-12)
    graph = tight_graph(market, found.prices, 1e-9)
    flow = graph.flow(sp.csr_array(found.allocation), np.zeros(3), np.zeros(4))
    assert graph.sink[graph.loose(flow)].tolist() == [4, 5, 4, 5]
    assert not found.unique.allocation
    assert qm.clear(market.take(np.array([2, 3]), np.array([2]))).unique.allocation


# Equal treatment


def test_all_tied_is_shares_by_credits():
    budgets, supplies = np.array([1, 2, 3, 14]), np.array([5, 1, 4])
    for values in (np.ones((4, 3)), np.outer([1, 5, 2, 9], [3, 1, 2])):
        found = qm.clear(qm.Market(budgets, supplies, qm.Linear(values)), tolerance=TOLERANCE)
        expected = np.outer(budgets / budgets.sum(), supplies)
        np.testing.assert_allclose(found.allocation, expected, rtol=1e-9)


@pytest.mark.parametrize("market", TIED, ids=repr)
def test_equal_teams_get_equal_bundles(market):
    twice = qm.Market(
        np.tile(market.budgets, 2),
        market.supplies * 2,
        qm.Linear(np.tile(market.utility.values, (2, 1))),
        keep_values=np.tile(market.keep_values, 2),
        reserves=market.reserves,
    )
    found = qm.clear(twice, tolerance=TOLERANCE)
    one, other = np.split(dense(found.allocation), 2)
    np.testing.assert_allclose(one, other, atol=1e-8 * market.supplies.max())
    np.testing.assert_allclose(
        one, dense(qm.clear(market).allocation), atol=1e-6 * market.supplies.max()
    )


@pytest.mark.parametrize("market", TIED, ids=repr)
def test_the_order_of_teams_and_goods_does_not_matter(market):
    rng = np.random.default_rng(0)
    teams, goods = rng.permutation(market.n), rng.permutation(market.m)
    found, other = qm.clear(market), qm.clear(market.take(teams, goods))
    np.testing.assert_allclose(other.prices, found.prices[goods], rtol=1e-12)
    np.testing.assert_allclose(
        dense(other.allocation),
        dense(found.allocation)[np.ix_(teams, goods)],
        atol=1e-7 * market.supplies.max(),
    )


@pytest.mark.parametrize("market", TIED, ids=repr)
def test_pro_rata_is_a_product_of_shares(market):
    """Where two teams are tied on two goods, the odds of one against the other are equal."""
    found = qm.clear(market, tolerance=TOLERANCE)
    spend = dense(found.allocation) * found.prices
    graph = tight_graph(market, found.prices, TOLERANCE)
    tight = np.zeros(market.shape, dtype=bool)
    tight[graph.source[graph.is_pair], graph.sink[graph.is_pair] - market.n] = True
    # only flows that are well away from zero tell their logarithms
    big = tight & (spend > 1e-6 * market.budgets[:, None])
    for i in range(market.n):
        for k in range(i):
            j = np.flatnonzero(big[i] & big[k])
            odds = spend[i, j] / spend[k, j]
            np.testing.assert_allclose(odds, odds[:1].repeat(len(odds)), rtol=1e-5)


@pytest.mark.parametrize("market", TIED, ids=repr)
def test_spreading_changes_no_requirement_and_nothing_that_is_settled(market):
    found = qm.clear(market)
    graph = tight_graph(market, found.prices, TOLERANCE)
    flow = balance(graph, closest_flow(graph))
    spread = pro_rata(graph, flow)
    np.testing.assert_allclose(graph.incidence @ spread, graph.requirement, rtol=1e-10)
    assert (spread >= 0).all()
    settled = ~graph.loose(flow)
    np.testing.assert_allclose(spread[settled], flow[settled], atol=1e-8 * flow.max())
    again = pro_rata(graph, spread)
    np.testing.assert_allclose(again, spread, atol=1e-8 * flow.max())


# Nearest to a running allocation


def fewest_moves(market, prices, near):
    """Least chips moved, with SciPy, over all allocations of best bundles that clear the market.

    For markets where all credits are spent and all units sold. Variables are the units of the tight
    pairs, then how far each moves.
    """
    per_credit = market.utility.values / prices
    rows, columns = np.nonzero(per_credit >= per_credit.max(axis=1)[:, None] * (1 - 1e-9))
    count = len(rows)
    pick = np.arange(count)
    paid = sp.csr_array((prices[columns] / market.budgets[rows], (rows, pick)))
    sold = sp.csr_array((1 / market.supplies[columns], (columns, pick)))
    none = sp.csr_array((market.n + market.m, count))
    equal, eye = sp.hstack([sp.vstack([paid, sold]), none]), sp.eye_array(count)
    here = near[rows, columns]
    found = linprog(
        np.concatenate([np.zeros(count), np.ones(count)]),
        A_eq=equal,
        b_eq=np.ones(market.n + market.m),
        A_ub=sp.vstack([sp.hstack([eye, -eye]), sp.hstack([-eye, -eye])]),
        b_ub=np.concatenate([here, -here]),
    )
    fixed = near.sum() - here.sum()
    return found.fun + fixed


@pytest.mark.parametrize("market", TIED[:-1], ids=repr)
def test_near_moves_the_fewest_chips(market):
    rng = np.random.default_rng(5)
    for _ in range(3):
        near = rng.dirichlet(np.full(market.n, 0.2), market.m).T * market.supplies
        found = qm.clear(market, near=near, tolerance=TOLERANCE)
        moved = np.abs(dense(found.allocation) - near).sum()
        least = fewest_moves(market, found.prices, near)
        assert moved == pytest.approx(least, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("market", TIED, ids=repr)
def test_what_runs_already_is_left_alone(market):
    for running in (qm.clear(market), qm.clear(market, near=np.zeros(market.shape))):
        found = qm.clear(market, near=running.allocation, tolerance=TOLERANCE)
        np.testing.assert_allclose(
            dense(found.allocation), dense(running.allocation), atol=1e-7 * market.supplies.max()
        )


def test_near_by_hand():
    """Two teams of 3 credits, four chips of one kind at two places, and prices of 1.5."""
    market = qm.Market([3, 3], [2, 2], qm.Linear([[1, 1], [1, 1]]))
    for near in ([[2, 0], [0, 2]], [[0, 2], [2, 0]], [[1.5, 0.5], [0.5, 1.5]]):
        np.testing.assert_allclose(qm.clear(market, near=near).allocation, near, atol=1e-9)
    found = qm.clear(market, near=sp.csr_array([[2.0, 2], [0, 0]]))
    assert found.allocation[0].sum() == pytest.approx(2)
    assert "as near to the running allocation as can be" in found.notes[-1]
    assert "pro rata" in qm.clear(market).notes[-1]


def test_near_changes_no_price_and_no_utility():
    for market in TIED:
        found, near = qm.clear(market), qm.clear(market, near=np.zeros(market.shape))
        np.testing.assert_array_equal(near.prices, found.prices)
        np.testing.assert_allclose(near.utilities, found.utilities, rtol=1e-9)


@pytest.mark.parametrize("near", [[[1, 2]], [1, 2], np.zeros((2, 3)), sp.csr_array((3, 2))])
def test_near_of_another_shape_is_refused(near):
    market = qm.Market([3, 3], [2, 2], qm.Linear([[1, 1], [1, 1]]))
    with pytest.raises(qm.MarketError, match=r"shape \(2, 2\) expected"):
        qm.clear(market, near=near)


# Prices alone


@pytest.mark.parametrize("market", TIED, ids=repr)
def test_an_allocation_is_found_for_prices_alone(market):
    prices = qm.clear(market).prices
    allocation = supporting_allocation(market, prices, 1e-9)
    assert qm.certify(market, prices, allocation).certified(TOLERANCE)
    wrong = prices * np.where(np.arange(market.m) == 0, 1.01, 1)
    assert not qm.certify(market, wrong).certified(1e-4)


def test_equal_teams_are_equal_to_the_last_digits():
    """Teams 2, 4 and 5 have the same tastes, and 9, 9 and 27 credits."""
    taste = [6, 7, 5, 5, 4]
    values = [[0, 4, 0, 1, 8], [7, 1, 4, 8, 0], taste, [0, 3, 4, 1, 8], taste, taste]
    market = qm.Market(
        [0, 1, 9, 12, 9, 27], [2, 3, 4, 5, 1], qm.Linear(values), keep_values=[0, 0, 2, 0, 2, 2]
    )
    found = qm.clear(market)
    # prices 3, 3.5, 2.5, 2.5: 1.2 + 2.1 + 0.6 + 2.3 credits spent, 2.8 kept
    held = np.column_stack([found.allocation, found.unspent])[[2, 4, 5]] / [[1], [1], [3]]
    np.testing.assert_allclose(
        held, np.tile([0.4, 0.6, 0.24, 0.92, 0, 2.8], (3, 1)), rtol=1e-12, atol=1e-12
    )
