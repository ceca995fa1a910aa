"""CES and Cobb-Douglas against plain formulas and general optimisers; their edges."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import qmopt as qm

RHOS = [0.9, 0.5, 0.1, -0.1, -1.0, -5.0]
FAMILIES = [*RHOS, None]  # None: Cobb-Douglas
STORES = {"dense": np.array, "sparse": sp.csr_array}


def draw(seed, n=3, m=4):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((n, m)) < 0.7, 10 ** rng.uniform(-1, 1, (n, m)), 0)
    weights[np.arange(n), rng.integers(0, m, n)] = 1
    return weights, 10 ** rng.uniform(-1, 1, m), 10 ** rng.uniform(-1, 2, n), rng


def family(rho, weights):
    return qm.CobbDouglas(weights) if rho is None else qm.CES(weights, rho)


def plain(rho, weights, bundle):
    """The formula of the textbook, for one buyer and the goods of positive weight."""
    if rho is None:
        return float(np.prod(bundle ** (weights / weights.sum())))
    return float(((weights * bundle) ** rho).sum() ** (1 / rho))


def optimum(rho, weights, prices, budget):
    """Most value of one credit's worth, by a general optimiser in logs of units."""
    used = weights > 0
    weights, prices = weights[used], prices[used]

    def loss(logs):
        bundle = np.exp(logs)
        return -np.log(plain(rho, weights, bundle / (prices @ bundle)))

    found = minimize(loss, -np.log(prices), method="BFGS", options={"gtol": 1e-9})
    bundle = np.exp(found.x)
    units = np.zeros(len(used))
    units[used] = budget * bundle / (prices @ bundle)
    return float(np.exp(-found.fun)) * budget, units


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize("rho", FAMILIES)
def test_value_best_cost_and_conjugate_are_those_of_a_general_optimiser(rho, store):
    for seed in range(8):
        weights, prices, budgets, rng = draw(seed)
        utility = family(rho, store(weights))
        best = utility.best(prices, budgets)
        units = np.where(weights > 0, rng.random(weights.shape) + 0.01, 0)
        value = utility.value(store(units))
        cost = utility.cost(prices, value)
        conjugate = utility.conjugate(prices, budgets)
        for i, budget in enumerate(budgets):
            most, bundle = optimum(rho, weights[i], prices, budget)
            assert most * (1 - 1e-9) <= best.value[i] <= most * (1 + 1e-5)
            # the value is flat at the best bundle: half as many digits of it
            apart = np.abs(best.activities.toarray()[i] - bundle) @ prices
            assert apart <= 2e-3 * budget
            used = weights[i] > 0
            assert value[i] == pytest.approx(plain(rho, weights[i][used], units[i][used]))
            assert cost[i] == pytest.approx(value[i] * budget / most, rel=1e-5)
            # over all bundles: the best direction, and the scale by search
            scales = np.exp(np.linspace(-1, 1, 2001)) * budget
            highest = (budget * np.log(scales * most / budget) - scales).max()
            assert conjugate[i] == pytest.approx(highest, rel=1e-5, abs=1e-4 * budget)


@pytest.mark.parametrize("rho", FAMILIES)
def test_the_best_bundle_costs_the_budget_and_has_the_best_value(rho):
    for seed in range(40):
        weights, prices, budgets, _ = draw(seed, 5, 6)
        utility = family(rho, weights)
        best = utility.best(prices, budgets)
        np.testing.assert_allclose(best.activities @ prices, budgets, rtol=1e-13)
        np.testing.assert_allclose(utility.value(best.activities), best.value, rtol=1e-12)
        assert utility.excess_cost(prices, best.activities) == pytest.approx(0, abs=1e-11)
        # any other split of the credits is worth less
        other = np.where(weights > 0, np.random.default_rng(seed).random(weights.shape), 0)
        other *= (budgets / (other @ prices))[:, None]
        assert (utility.value(other) <= best.value * (1 + 1e-12)).all()


@pytest.mark.parametrize("rho", FAMILIES)
def test_shares_that_support_a_bundle_are_its_slopes(rho):
    """Euler: units times slopes of the value add up to the value."""
    for seed in range(10):
        weights, _, _, rng = draw(seed)
        utility = family(rho, weights)
        levels = rng.random(len(utility.good)) + 0.1
        held = np.zeros_like(weights)
        held[utility.owner, utility.good] = levels
        brought = utility.brought(levels)
        np.testing.assert_allclose(utility.by_buyer(brought), utility.value(held), rtol=1e-12)
        for k, (i, j) in enumerate(zip(utility.owner, utility.good, strict=True)):
            more, less = held.copy(), held.copy()
            more[i, j] *= 1 + 1e-6
            less[i, j] *= 1 - 1e-6
            slope = (utility.value(more) - utility.value(less))[i] / 2e-6
            assert brought[k] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rho", FAMILIES)
def test_the_expression_is_concave_and_has_the_same_value(rho):
    weights, _, _, rng = draw(3)
    utility = family(rho, weights)
    levels = cp.Variable(len(utility.good), nonneg=True)
    expression = utility.expression(levels)
    assert expression.is_concave()
    levels.value = rng.random(len(utility.good)) + 0.1
    held = np.zeros_like(weights)
    held[utility.owner, utility.good] = levels.value
    np.testing.assert_allclose(expression.value, utility.value(held), rtol=1e-9)


def test_who_can_use_what():
    """Substitutes do with one good of theirs; complements, and Cobb-Douglas, need all."""
    weights = [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    only_first = np.array([True, False, True])
    assert qm.CES(weights, [0.5, -1, -1]).usable(only_first).tolist() == [True, False, False]
    assert qm.CobbDouglas(weights).usable(only_first).tolist() == [False, False, False]
    assert qm.CobbDouglas(weights).usable(np.array([True, True, False])).tolist() == [
        True, True, False,
    ]  # fmt: skip
    wanted = qm.CobbDouglas(weights).wanted(np.array([True, False, True]))
    assert wanted.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("utility", "cost"),
    [
        (qm.CES([[1, 1]], 0.5), [0, 0, 1]),  # a free substitute is all one needs
        (qm.CES([[1, 1]], -1), [1, 0, np.inf]),
        (qm.CobbDouglas([[1, 1]]), [0, 0, np.inf]),
    ],
)
def test_free_goods_and_missing_ones(utility, cost):
    """Prices (0, 1), (0, 0) and (infinite, 1)."""
    found = [utility.unit_cost(np.array(p))[0] for p in ([0, 1.0], [0, 0], [np.inf, 1.0])]
    np.testing.assert_allclose(found, cost)
    for prices in ([0, 1.0], [0, 0], [np.inf, 1.0], [np.inf, 0]):
        best = utility.best(np.array(prices), np.array([2.0]))
        assert not np.isnan(best.value).any()
        assert np.isfinite(best.activities.data).all()


def test_nothing_held_and_nothing_wanted():
    for utility in (qm.CES([[1, 1], [0, 0]], [-1, 0.5]), qm.CobbDouglas([[1, 1], [0, 0]])):
        assert utility.value(np.zeros((2, 2))).tolist() == [0, 0]
        assert utility.value(np.array([[1.0, 0], [1, 1]])).tolist() == [0, 0]
        assert utility.unit_cost(np.ones(2))[1] == np.inf
        assert utility.best(np.ones(2), np.ones(2)).value[1] == 0
    nobody = qm.CES(np.zeros((2, 2)), 0.5)
    assert nobody.value(np.ones((2, 2))).tolist() == [0, 0]
    assert nobody.best(np.ones(2), np.ones(2)).value.tolist() == [0, 0]


@pytest.mark.parametrize("rho", [1 - 1e-9, 0.9, 0.01, -0.01, -1e6, None])
def test_extremes_are_numbers(rho):
    weights = np.array([[1e-300, 1, 1e300], [1e-10, 1, 1e10]])
    utility = family(rho, weights)
    for prices in (np.ones(3), np.array([1e-300, 1, 1e300]), np.array([1e300, 1e-300, 1])):
        share, cost = utility.spending(prices)
        np.testing.assert_allclose(utility.by_buyer(share), 1, rtol=1e-12)
        assert np.isfinite(cost).all()
        best = utility.best(prices, np.array([1e-5, 1e5]))
        assert not np.isnan(best.value).any()
        assert not np.isnan(utility.value(best.activities)).any()


def test_near_one_it_is_linear_and_near_minus_infinity_a_fixed_mix():
    weights, prices = np.array([[2.0, 1.0, 3.0]]), np.array([1.0, 2.0, 4.0])
    linear = qm.Linear(weights).unit_cost(prices)
    np.testing.assert_allclose(qm.CES(weights, 1 - 1e-6).unit_cost(prices), linear, rtol=1e-5)
    mix = (prices / weights).sum(axis=1)  # one unit takes 1/weight of every good
    np.testing.assert_allclose(qm.CES(weights, -1e6).unit_cost(prices), mix, rtol=1e-5)


def test_refused():
    with pytest.raises(qm.MarketError, match=r"weights\[0, 1\].*good 1"):
        qm.CES([[1, -1]], 0.5)
    with pytest.raises(qm.MarketError, match=r"shares\[0, 0\].*nan"):
        qm.CobbDouglas([[np.nan, 1]])
    for rho in (0, 1, 2, np.nan, -np.inf):
        with pytest.raises(qm.MarketError, match=r"rho\[0\] \(buyer a\).*CobbDouglas for 0"):
            qm.CES(pd.DataFrame([[1, 1]], index=["a"], columns=["x", "y"]), rho)
    with pytest.raises(qm.MarketError, match="too near 0 for 2 goods"):
        qm.CES([[1, 1]], 1e-4)
    with pytest.raises(qm.MarketError, match=r"shape \(1,\) expected, got \(2,\)"):
        qm.CES([[1, 1]], [0.5, 0.5])
    with pytest.raises(qm.MarketError, match="rho: numbers expected"):
        qm.CES([[1, 1]], "half")


def test_names_and_fingerprints():
    frame = pd.DataFrame([[1, 2]], index=["vision"], columns=["h100", "l4"])
    market = qm.Market([1], [1, 1], qm.CES(frame, 0.5))
    assert (market.buyers, market.goods) == (("vision",), ("h100", "l4"))
    sparse = qm.Market([1], [1, 1], qm.CES(sp.csr_array([[1, 2]]), 0.5), buyers=["vision"],
                       goods=["h100", "l4"])  # fmt: skip
    assert market.hash == sparse.hash
    others = [qm.CES(frame, 0.6), qm.CES(frame * 2, 0.5), qm.CobbDouglas(frame)]
    assert len({market.hash, *(qm.Market([1], [1, 1], other).hash for other in others)}) == 4


@pytest.mark.parametrize("rho", FAMILIES)
def test_part_of_it(rho):
    weights, prices, _, _ = draw(5)
    buyers, goods = np.array([2, 0]), np.array([3, 1, 0, 2])
    part = family(rho, sp.csr_array(weights)).take(buyers, goods)
    assert part.sparse
    whole = family(rho, weights).unit_cost(prices)
    np.testing.assert_allclose(part.unit_cost(prices[goods]), whole[buyers], rtol=1e-13)
