"""Column generation: by hand, on awkward markets, and on larger ones against the others."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods import column_generation, reduced, scan, screening

METHOD = qm.ColumnGeneration()


def screen(values, prices, budgets=None, **more):
    """Look of all buyers of a market with unit budgets and supplies 1."""
    values = np.asarray(values, dtype=float)
    budgets = np.ones(len(values)) if budgets is None else budgets
    market = qm.Market(budgets, np.ones(values.shape[1]), qm.Linear(values), **more)
    return screening.Screen(market).look_all(np.asarray(prices, dtype=float))


def test_best_and_second_best_by_hand():
    """Per credit the first buyer gets 4/2, 3/1 and 1/4, the second 2 and nothing else."""
    look = screen([[4, 3, 1], [0, 0, 8]], [2, 1, 4])
    assert look.liked.best.tolist() == [3, 2]
    assert look.liked.first.tolist() == look.liked.top.tolist() == [1, 2]
    assert look.liked.second.tolist() == [2, 0]
    assert look.liked.other.tolist() == [0, -1]
    assert look.margin.tolist() == [np.log(3 / 2), np.inf]


def test_demand_against_supply_by_hand():
    """Both buyers want good 0, which is worth 2; good 1 is left over with its 1."""
    look = screen([[4, 1], [6, 1]], [2, 1], budgets=[3, 5])
    assert look.short.tolist() == [3 + 5 - 2, -1]
    assert look.imbalance == 7 / 8


def test_at_its_reserve_a_good_may_be_left_over():
    look = screen([[4, 1], [6, 1]], [2, 1], budgets=[1, 1], reserves=[0, 1])
    assert look.short.tolist() == [0, 0]


def test_a_kept_credit_is_one_more_good():
    look = screen([[4, 1], [7, 1]], [2, 1], keep_values=[3, 3])
    assert look.liked.first.tolist() == [2, 0]
    assert look.liked.best.tolist() == [3, 3.5]
    assert look.liked.second.tolist() == [2, 3]
    assert look.liked.other.tolist() == [0, 2]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_pass_finds_what_a_sort_finds(sparse, dtype):
    rng = np.random.default_rng(0)
    values = np.where(rng.random((500, 12)) < 0.7, rng.lognormal(size=(500, 12)), 0).astype(dtype)
    values[:, 0] = 1
    keep = np.where(rng.random(500) < 0.3, rng.lognormal(size=500), 0.0)
    prices = rng.lognormal(size=12)
    given = sp.csr_array(values) if sparse else values
    market = qm.Market(np.ones(500), np.ones(12), qm.Linear(given), keep_values=keep)
    liked = screening.Screen(market).look_all(prices).liked
    worth = np.column_stack([values.astype(float) * (1 / prices), keep])
    order = np.argsort(-worth, axis=1)
    assert np.array_equal(liked.first, order[:, 0])
    assert np.array_equal(liked.best, worth[range(500), order[:, 0]])
    assert np.array_equal(liked.second, worth[range(500), order[:, 1]])


def test_the_threads_change_no_bit(monkeypatch):
    market = generate.lognormal(2000, 20, seed=1)
    whole = METHOD.solve(market)
    monkeypatch.setattr(scan, "AT_ONCE", 97)
    parts = METHOD.solve(market)
    assert np.array_equal(whole.prices, parts.prices)
    assert (whole.allocation != parts.allocation).nnz == 0


def test_of_many_ties_the_nearest_few_are_listed():
    """Twenty goods at values 20, 19, ..., all as dear: the first eight are listed."""
    values = np.arange(20.0, 0, -1)[None, :]
    passes = scan.Values(values, np.zeros(1))
    row, good = passes.close(
        np.array([0]), np.ones(20), np.array([20.0]), np.array([1.0]), np.ones(21)
    )
    assert row.tolist() == [0] * scan.MOST_PAIRS
    assert sorted(good.tolist()) == list(range(scan.MOST_PAIRS))


def test_a_reduced_market_by_hand():
    """The first two buyers can only want good 0; the third is torn between both."""
    look = screen([[9, 1], [9, 1], [4, 4]], [1, 1], budgets=[2, 3, 1])
    small = look.reduce(reduced.Pairs(np.array([2, 2]), np.array([0, 1])))
    assert small.market.budgets.tolist() == [1, 5]
    assert sp.csr_array(small.market.utility.values).toarray().tolist() == [[4, 4], [1, 0]]
    bought = small.allocation(np.array([5.5, 0.5]), np.array([[0.0, 2.0], [5 / 5.5, 0]]))
    assert bought.toarray().tolist() == [[2 / 5.5, 0], [3 / 5.5, 0], [0, 2]]


def test_what_the_reduced_market_left_out_is_let_in():
    """The others were decided for good 0 at even prices; at 5.5 to 0.5 both want good 1."""
    look = screen([[9, 1], [9, 1], [4, 4]], [1, 1], budgets=[2, 3, 1])
    small = look.reduce(reduced.Pairs(np.array([2, 2]), np.array([0, 1])))
    later = look.screen.look_all(np.array([5.5, 0.5]))
    better = small.better(later, 1e-9)
    assert better.row.tolist() == [0, 1]
    assert better.good.tolist() == [1, 1]
    assert small.grown(better).market.n == 3


@pytest.mark.parametrize("family", ["lognormal", "uniform", "integer", "tied", "sparse"])
@pytest.mark.parametrize("more", [{}, {"reserves": True, "spread": 3}, {"keep": 0.5}])
def test_markets_of_many_buyers_clear_to_the_last_bits(family, more):
    market = getattr(generate, family)(12_000, 8, seed=3, **more)
    found = qm.clear(market, METHOD, tolerance=1e-10)
    others = qm.clear(market, qm.InteriorPoint(), tolerance=1e-9)
    assert np.allclose(found.prices, others.prices, rtol=1e-9, atol=0)


def test_a_sample_that_misses_a_good_does_no_harm():
    """Only one of 20,000 buyers wants the last good, and pays all it has for it."""
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.lognormal(size=(20_000, 3)), np.zeros(20_000)])
    values[12_345] = [0, 0, 0, 1]
    found = qm.clear(qm.Market(np.ones(20_000), [1, 1, 1, 4], qm.Linear(values)), METHOD)
    assert found.prices[3] == pytest.approx(0.25, rel=1e-12)


def test_whoever_takes_no_part_gets_nothing():
    values = np.array([[1.0, 2, 0, 5], [2, 1, 0, 5], [0, 0, 0, 5], [3, 3, 0, 5]])
    market = qm.Market([1, 1, 1, 0], [1, 1, 1, 0], qm.Linear(values), reserves=[0, 0, 7, 0])
    found = qm.clear(market, METHOD)
    assert np.allclose(found.prices, [1, 1, 7, np.nan], equal_nan=True)
    assert sp.csr_array(found.allocation).toarray().tolist() == [
        [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0],
    ]  # fmt: skip


def test_a_reduced_market_that_is_too_small_grows(monkeypatch):
    """With hardly any reach at first, null steps and late pairs must lead to the same prices."""
    market = generate.lognormal(5000, 15, seed=2)
    right = qm.clear(market, qm.InteriorPoint()).prices
    monkeypatch.setattr(column_generation, "GENEROSITY", 0.01)
    monkeypatch.setattr(screening, "LEAST_MOVED", 0)
    assert np.allclose(qm.clear(market, METHOD).prices, right, rtol=1e-9, atol=0)


def test_time_is_kept():
    outcome = qm.ColumnGeneration(time_limit=0).solve(generate.lognormal(3000, 10))
    assert outcome.status == "stopped"
    assert np.isfinite(outcome.prices).all()


def test_an_earlier_answer_to_start_from():
    market = generate.lognormal(4000, 12, seed=4)
    before = qm.clear(market, METHOD)
    budgets = market.budgets * np.random.default_rng(0).lognormal(0, 1e-3, market.n)
    changed = market.replace(budgets=budgets)
    cold, warm = qm.clear(changed, METHOD), qm.clear(changed, METHOD, start=before)
    assert np.allclose(cold.prices, warm.prices, rtol=1e-10, atol=0)
    assert warm.stats["iterations"] < cold.stats["iterations"]


def test_other_utilities_are_refused():
    market = generate.integer(5, 3).replace(utility_caps=np.ones(5))
    with pytest.raises(qm.MarketError, match="caps"):
        METHOD.solve(market)


def test_one_buyer_of_many_goods():
    """Each good costs its value's share of the credits; no dense system of the goods' size."""
    values = np.random.default_rng(0).random((1, 5000))
    found = qm.clear(qm.Market([1.0], np.ones(5000), qm.Linear(values)), METHOD)
    assert np.allclose(found.prices, values[0] / values.sum(), rtol=1e-12)


def test_a_start_with_ties_shared_evenly_costs_no_more_passes():
    """Most buyers are tied between several goods, of which the answer to start from takes all."""
    market = generate.integer(6000, 12, seed=1)
    before = qm.clear(market, METHOD)
    changed = market.replace(budgets=market.budgets * 1.001)
    warm, cold = qm.clear(changed, METHOD, start=before), qm.clear(changed, METHOD)
    assert np.allclose(warm.prices, 1.001 * before.prices, rtol=1e-10, atol=0)
    assert warm.stats["passes"] <= cold.stats["passes"]
