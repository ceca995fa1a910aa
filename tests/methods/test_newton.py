"""Newton's method in prices: hand-worked markets, the conic reference, reserves, and its edges."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt.methods import smooth_dual

SYMMETRIC = [[1, 2], [1, 2], [2, 1], [2, 1]]


def draw(seed, n=5, m=4, *, reserves=False):
    """Mixed families of one market: powers from nearly linear to nearly fixed mixes."""
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((n, m)) < 0.7, 10 ** rng.uniform(-1, 1, (n, m)), 0)
    weights[np.arange(n), rng.integers(0, m, n)] = 1
    utility = qm.CES(weights, rng.choice([-4, -1, -0.3, 0.3, 0.6, 0.9], n))
    if seed % 4 == 0:
        utility = qm.CobbDouglas(weights)
    budgets, supplies = 10 ** rng.uniform(0, 2, n), 10 ** rng.uniform(0, 1, m)
    at = budgets.sum() / supplies.sum() * rng.choice([0, 0.3, 1, 3], m) if reserves else None
    return qm.Market(budgets, supplies, utility, reserves=at)


@pytest.mark.parametrize(
    ("utility", "bundles"),
    [
        (qm.CobbDouglas(SYMMETRIC), [[1 / 6, 1 / 3]] * 2 + [[1 / 3, 1 / 6]] * 2),
        # shares of spending at equal prices: as weight ** (rho / (1 - rho))
        (qm.CES(SYMMETRIC, 0.5), [[1 / 6, 1 / 3]] * 2 + [[1 / 3, 1 / 6]] * 2),
        (qm.CES(SYMMETRIC, -1), [[1 - 0.5**0.5, 0.5**0.5 - 0.5]] * 2
            + [[0.5**0.5 - 0.5, 1 - 0.5**0.5]] * 2),
    ],
    ids=["cobb-douglas", "substitutes", "complements"],
)  # fmt: skip
def test_four_buyers_of_a_public_example(utility, bundles):
    """``fisherExample`` of github.com/denizalp/Fisher-market: prices are 200 and 200.

    400 credits, one unit of each good, and the goods are symmetric, so both cost 200.
    """
    found = qm.clear(qm.Market([100] * 4, [1, 1], utility), tolerance=1e-12)
    assert isinstance(found.method, qm.Newton)
    np.testing.assert_allclose(found.prices, [200, 200], rtol=1e-13)
    np.testing.assert_allclose(found.allocation, bundles, rtol=1e-12)


def test_cobb_douglas_by_hand():
    """Good 0 gets 60/2 + 40/4 = 40 credits for 8 units, good 1 the other 60 for 20."""
    market = qm.Market([60, 40], [8, 20], qm.CobbDouglas([[1, 1], [1, 3]]))
    found = qm.clear(market, qm.Newton(), tolerance=1e-13)
    np.testing.assert_allclose(found.prices, [5, 3], rtol=1e-14)
    np.testing.assert_allclose(found.allocation, [[6, 10], [2, 10]], rtol=1e-14)
    assert found.stats["iterations"] == 0
    assert found.unique == qm.Unique(True, True, True)


def test_complements_by_hand():
    """``1/u = 1/x + 1/y``, both buyers alike: units as the roots of inverse prices, 2 to 1.

    So prices are 1 to 4, and 2 p + 4 p = 4 credits: 2/3 and 8/3. Three quarters to the first.
    """
    market = qm.Market([3, 1], [2, 1], qm.CES([[1, 1], [1, 1]], -1))
    found = qm.clear(market, qm.Newton(), tolerance=1e-13)
    np.testing.assert_allclose(found.prices, [2 / 3, 8 / 3], rtol=1e-13)
    np.testing.assert_allclose(found.allocation, [[1.5, 0.75], [0.5, 0.25]], rtol=1e-13)
    np.testing.assert_allclose(found.utilities, [0.5, 1 / 6], rtol=1e-13)


def test_a_symmetric_pair_of_complements_by_hand():
    """Each weighs its own good 4 times: at equal prices it buys sqrt(1/4) as much of it."""
    market = qm.Market([3, 3], [2, 2], qm.CES([[4, 1], [1, 4]], -1))
    found = qm.clear(market, qm.Newton(), tolerance=1e-13)
    np.testing.assert_allclose(found.prices, [1.5, 1.5], rtol=1e-13)
    np.testing.assert_allclose(found.allocation, [[2 / 3, 4 / 3], [4 / 3, 2 / 3]], rtol=1e-13)


def test_a_reserve_by_hand():
    """10 credits in equal shares; good 0 would cost 5 but is held at 10: half of it stays idle."""
    market = qm.Market([10], [1, 1], qm.CobbDouglas([[1, 1]]), reserves=[10, 0])
    found = qm.clear(market, tolerance=1e-13)
    assert found.prices.tolist() == [10, 5]
    np.testing.assert_allclose(found.allocation, [[0.5, 1]], rtol=1e-14)
    np.testing.assert_allclose(found.idle, [0.5, 0], atol=1e-14)


def test_a_substitute_so_dear_that_its_demand_is_no_float():
    """rho = 0.99, a million times dearer: a share of 1e6 ** -99 is 0; all goes on the other."""
    market = qm.Market([1], [1, 1], qm.CES([[1, 1]], 0.99), reserves=[0, 1e6])
    found = qm.clear(market, tolerance=1e-12)
    np.testing.assert_allclose(found.prices, [1, 1e6], rtol=1e-13)
    np.testing.assert_allclose(found.allocation, [[1, 0]], rtol=1e-13)


@pytest.mark.parametrize("reserves", [False, True], ids=["plain", "reserves"])
def test_the_conic_reference_finds_the_same(reserves):
    """Prices of a conic solver are right to about the root of its gap."""
    for seed in range(12):
        market = draw(seed, reserves=reserves)
        newton = qm.clear(market, qm.Newton(), tolerance=1e-10)
        conic = qm.EisenbergGale(crossover=False).solve(market)
        np.testing.assert_allclose(newton.prices, conic.prices, rtol=2e-4, atol=1e-6)
        value = market.utility.value(conic.allocation)
        np.testing.assert_allclose(newton.utilities, value, rtol=2e-5)
        # and the measured gap bounds how far its prices are
        low, high = qm.price_intervals(market, conic.prices, conic.allocation).T
        slack = 1e-9
        assert (low <= newton.prices * (1 + slack)).all(), seed
        assert (newton.prices <= high * (1 + slack)).all(), seed


def test_kept_credits_go_to_the_reference_by_hand():
    """Half and half of two goods with 1 unit each is worth 1, a kept credit 1/4.

    10 credits: at prices p each, a unit of value costs 2p, as much as 1/(1/4) = 4 credits at p = 2.
    So both goods cost 2, and 6 credits are kept.
    """
    market = qm.Market([10], [1, 1], qm.CobbDouglas([[1, 1]]), keep_values=[0.25])
    found = qm.clear(market, tolerance=1e-6)
    assert isinstance(found.method, qm.EisenbergGale)
    np.testing.assert_allclose(found.prices, [2, 2], rtol=1e-6)
    np.testing.assert_allclose(found.unspent, [6], rtol=1e-6)
    assert found.unique.allocation is None
    with pytest.raises(qm.MarketError, match=r"buyer 0: keep_values: .* EisenbergGale does"):
        qm.clear(market, qm.Newton())
    with pytest.raises(qm.MarketError, match="prices alone leave it open"):
        qm.certify(market, found.prices)


def test_many_random_markets_certify():
    for seed in range(150):
        market = draw(seed, 1 + seed % 9, 1 + seed % 7, reserves=seed % 2 == 1)
        found = qm.clear(market, qm.Newton(), tolerance=1e-11)
        assert qm.certify(market, found.prices, tolerance=1e-9).certified(), seed
        off = found.prices * (1 + 1e-3 * (np.arange(market.m) == 0))
        if found.allocation[:, 0].sum() > 0:
            assert not qm.certify(market, off, tolerance=1e-6).certified()


def test_the_whole_answer_lies_in_the_intervals_of_any_point():
    """Even rough prices bound the equilibrium, substitutes and complements alike."""
    for seed in range(60):
        market = draw(seed)
        right = qm.clear(market, qm.Newton(), tolerance=1e-11).prices
        rng = np.random.default_rng(seed)
        prices = right * np.exp(rng.normal(0, rng.choice([1e-4, 1e-2, 0.5]), market.m))
        demand = market.utility.best(prices, market.budgets).activities.toarray()
        allocation = demand / np.maximum(demand.sum(axis=0) / market.supplies, 1)
        low, high = qm.price_intervals(market, prices, allocation).T
        assert (low <= right * (1 + 1e-12)).all(), seed
        assert (right <= high * (1 + 1e-12)).all(), seed


@pytest.mark.parametrize("rho", [-0.9, 0.9, "cobb-douglas"])
def test_a_thousand_buyers_and_five_hundred_goods(rho):
    rng = np.random.default_rng(7)
    n, m = 1000, 500
    held = rng.random((n, m)) < 0.2
    held[np.arange(n), rng.integers(0, m, n)] = True
    held[rng.integers(0, n, m), np.arange(m)] = True
    weights = sp.csr_array(np.where(held, 30 * rng.random((n, m)), 0))
    budgets = rng.random(n)
    utility = qm.CobbDouglas(weights) if rho == "cobb-douglas" else qm.CES(weights, rho)
    found = qm.clear(qm.Market(budgets / budgets.sum(), np.ones(m), utility), tolerance=1e-10)
    assert found.stats["iterations"] <= 25
    assert sp.issparse(found.allocation)


@pytest.mark.parametrize("rho", [0.99, 0.999, -20, -300])
def test_nearly_linear_and_nearly_fixed_mixes(rho):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        weights = rng.random((8, 6)) + 0.05
        qm.clear(qm.Market(rng.random(8), np.ones(6), qm.CES(weights, rho)), tolerance=1e-9)


def test_weights_and_budgets_far_apart():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        weights = 10 ** rng.uniform(-12, 12, (4, 4))
        utility = qm.CES(weights, rng.choice([-2, -0.5, 0.5, 0.8], 4))
        market = qm.Market(10 ** rng.uniform(-6, 6, 4), 10 ** rng.uniform(-6, 6, 4), utility)
        found = qm.clear(market, qm.Newton(), tolerance=1e-9)
        assert np.isfinite(found.prices).all()


def test_who_and_what_takes_no_part():
    """A complement that is not there leaves its buyer out; a substitute does not."""
    utility = qm.CES([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [0.5, -1, 0.5])
    market = qm.Market([4, 5, 6], [2, 0, 1, 0], utility)
    found = qm.clear(market)
    np.testing.assert_allclose(found.prices, [2, np.nan, 0, np.nan])
    np.testing.assert_allclose(found.allocation, [[2, 0, 0, 0], [0] * 4, [0] * 4])
    assert set(found.excluded) == {"1", "2", "3"}
    # at any price somebody would buy good 1, nobody would buy good 3
    np.testing.assert_array_equal(found.price_intervals[[1, 3], 0], [np.nan, 0])


def test_what_it_does_not_cover():
    with pytest.raises(qm.MarketError, match="Newton needs CES or CobbDouglas, got Linear"):
        qm.Newton().solve(qm.Market([1], [1], qm.Linear([[1]])))
    with pytest.raises(qm.MarketError, match="utility caps"):
        qm.Newton().solve(qm.Market([1], [1], qm.CES([[1]], 0.5), utility_caps=[1]))
    with pytest.raises(qm.MarketError, match="tolerance"):
        qm.Newton(tolerance=-1)


def test_it_stops_when_told_and_says_so():
    market = draw(1, 9, 7)
    assert qm.Newton(max_iterations=1).solve(market).status == "iterations"
    assert qm.Newton(time_limit=0).solve(market).status == "time"
    with pytest.raises(qm.NotCertified):
        qm.clear(market, qm.Newton(max_iterations=1), tolerance=1e-12)


def test_conjugate_gradients_and_factors_agree(monkeypatch):
    rng = np.random.default_rng(2)
    n, m = 60, 120  # more goods than are factored at once
    weights = np.where(rng.random((n, m)) < 0.3, rng.random((n, m)), 0)
    weights[rng.integers(0, n, m), np.arange(m)] = 1
    weights[np.arange(n), rng.integers(0, m, n)] = 1
    market = qm.Market(rng.random(n) + 0.1, np.ones(m), qm.CES(sp.csr_array(weights), -0.5))
    found = qm.clear(market, tolerance=1e-11)
    assert found.stats["inner"] > 0
    monkeypatch.setattr(smooth_dual, "MOST_STEPS", 0)
    factored = qm.clear(market, tolerance=1e-11)
    assert factored.stats["inner"] == 0
    np.testing.assert_allclose(factored.prices, found.prices, rtol=1e-10)


def test_the_conic_reference_takes_shares_whose_sums_round():
    rng = np.random.default_rng(4)
    market = qm.Market(rng.random(7), np.ones(11), qm.CobbDouglas(rng.random((7, 11))))
    conic = qm.clear(market, qm.EisenbergGale(), tolerance=1e-6)
    np.testing.assert_allclose(conic.prices, qm.clear(market).prices, rtol=1e-6)


@pytest.mark.parametrize("utility", [qm.CES(SYMMETRIC, 0.5), qm.CobbDouglas(SYMMETRIC)])
def test_a_multiple_of_the_objective_leaves_the_model_s_prices(utility):
    model = qm.eisenberg_gale(qm.Market([100] * 4, [1, 1], utility))
    problem = cp.Problem(cp.Maximize(3 * model.problem.objective.expr), model.problem.constraints)
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(model.prices(), [200, 200], rtol=1e-3)
