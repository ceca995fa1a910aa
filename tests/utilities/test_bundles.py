"""Bundles against a linear program per buyer, and against the families that they contain."""

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt.utilities import Bundles, Linear

SEEDS = range(150)  # of 1 to 4 buyers each


def draw(seed, *, free=True):
    """Recipes that share goods, prices of which some are 0, budgets and units of which some are."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 5), rng.integers(1, 6)
    count = rng.integers(n, 4 * n + 1)
    owner = np.append(np.arange(n), rng.integers(0, n, count - n))
    needs = np.where(rng.random((count, m)) < 0.5, 10 ** rng.uniform(-1, 1, (count, m)), 0)
    needs[np.arange(count), rng.integers(0, m, count)] = rng.integers(1, 5, count)
    values = 10 ** rng.uniform(-1, 1, count)
    prices = 10 ** rng.uniform(-2, 2, m)
    if free:
        prices[rng.random(m) < 0.1] = 0
    budgets = np.where(rng.random(n) < 0.9, 10 ** rng.uniform(-2, 3, n), 0)
    units = np.where(rng.random((n, m)) < 0.7, 10 ** rng.uniform(-2, 2, (n, m)), 0)
    return Bundles(owner, needs, values), prices, budgets, units


def own(utility, buyer):
    """Needs (k, m) and values (k,) of one buyer's recipes."""
    mine = utility.owner == buyer
    return utility.needs.toarray()[mine], utility.values[mine]


def value_by_program(needs, values, units):
    found = linprog(-values, A_ub=needs.T, b_ub=units)
    return -found.fun


def best_by_program(needs, values, prices, budget):
    """Most value that a budget buys, with units as variables beside the levels."""
    count, m = needs.shape
    rows = np.block([[needs.T, -np.eye(m)], [np.zeros((1, count)), prices[None]]])
    found = linprog(np.append(-values, np.zeros(m)), A_ub=rows, b_ub=np.append(np.zeros(m), budget))
    return inf if found.status == 3 else -found.fun


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_value_and_levels_are_those_of_linear_programs(store):
    for seed in SEEDS:
        utility, _, _, units = draw(seed)
        value, levels = utility.value(store(units)), utility.levels(store(units))
        for i in range(len(units)):
            needs, values = own(utility, i)
            expected = value_by_program(needs, values, units[i])
            assert value[i] == pytest.approx(expected, rel=1e-8, abs=1e-12)
            mine = levels[utility.owner == i]
            assert (mine >= 0).all()
            assert (needs.T @ mine <= units[i] * (1 + 1e-12)).all()
            assert values @ mine == pytest.approx(value[i], rel=1e-12)


def test_best_and_cost_are_those_of_linear_programs():
    for seed in SEEDS:
        utility, prices, budgets, _ = draw(seed)
        best, cost = utility.best(prices, budgets), utility.unit_cost(prices)
        for i, budget in enumerate(budgets):
            expected = best_by_program(*own(utility, i), prices, budget) if budget else 0
            assert best.value[i] == pytest.approx(expected, rel=1e-7, abs=1e-12)
            if budget and expected < inf:
                assert cost[i] == pytest.approx(budget / expected, rel=1e-7)
        finite = np.isfinite(best.value) & (best.value > 0)
        np.testing.assert_allclose(
            utility.value(best.activities)[finite], best.value[finite], rtol=1e-9
        )
        spent = best.activities @ prices
        np.testing.assert_allclose(spent[finite], budgets[finite], rtol=1e-12)


def test_excess_cost_is_spend_less_the_cheapest_way():
    for seed in SEEDS:
        utility, prices, _, units = draw(seed)
        excess = utility.excess_cost(prices, units)
        expected = units @ prices - utility.unit_cost(prices) * utility.value(units)
        np.testing.assert_allclose(excess, expected, rtol=1e-6, atol=1e-7 * (units @ prices).max())
        assert (excess >= 0).all()


def test_doubling_a_bundle_doubles_its_value():
    for seed in SEEDS:
        utility, _, _, units = draw(seed)
        np.testing.assert_allclose(utility.value(2 * units), 2 * utility.value(units), rtol=1e-9)


def test_one_good_per_recipe_is_linear():
    for seed in SEEDS[:30]:
        rng = np.random.default_rng(seed)
        values = np.where(rng.random((3, 4)) < 0.7, rng.uniform(0.1, 9, (3, 4)), 0)
        values[:, 0] = 1
        prices, units = rng.uniform(0.1, 5, 4), rng.random((3, 4))
        plain, recipes = Linear(values), Bundles.linear(values)
        np.testing.assert_allclose(recipes.value(units), plain.value(units), rtol=1e-12)
        np.testing.assert_allclose(recipes.unit_cost(prices), plain.unit_cost(prices), rtol=1e-14)
        one = qm.clear(qm.Market([5, 3, 2], [1, 2, 3, 4], plain))
        other = qm.clear(qm.Market([5, 3, 2], [1, 2, 3, 4], recipes))
        np.testing.assert_allclose(one.prices, other.prices, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.utilities, other.utilities, rtol=1e-9)


def test_one_recipe_per_buyer_is_leontief():
    utility = Bundles.leontief([[1, 4], [3, 1]])
    np.testing.assert_allclose(utility.value(np.array([[3.0, 8.0], [6.0, 9.0]])), [2, 2])
    np.testing.assert_allclose(utility.unit_cost(np.array([2.0, 1.0])), [6, 7])


def test_take_leaves_out_recipes_that_need_what_is_not_there():
    utility = Bundles([0, 0, 1], [[1, 2, 0], [0, 3, 0], [0, 0, 1]], [5, 2, 1], options=list("abc"))
    taken = utility.take(np.array([1, 0]), np.array([2, 1]))
    assert taken.shape == (2, 2)
    assert taken.options == ("b", "c")
    assert taken.owner.tolist() == [1, 0]
    assert taken.needs.toarray().tolist() == [[0, 3], [1, 0]]
    # without supply of good 0, buyer 0 still has its second recipe
    found = qm.clear(qm.Market([6, 1], [0, 3, 1], utility))
    np.testing.assert_allclose(found.prices, [np.nan, 2, 1])
    np.testing.assert_allclose(found.utilities, [2, 1])


def test_usable_and_wanted():
    utility = Bundles([0, 2], [[1, 1, 0], [0, 0, 1]], buyers=4)
    assert utility.shape == (4, 3)
    assert utility.usable(np.array([True, False, True])).tolist() == [False, False, True, False]
    assert utility.wanted(np.array([True, True, False, True])).tolist() == [True, True, False]


def test_recipes_of_no_value_are_left_out():
    utility = Bundles([0, 0], [[1], [2]], [0, 3])
    assert utility.options == ("1",)
    assert utility.value(np.array([[4.0]])).tolist() == [6]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0], [[-1]]), r"needs\[0, 0\]: -1"),
        (([0, 0], [[1, 2], [np.nan, 1]]), r"needs\[1, 0\]: nan"),
        (([0], [[inf]]), r"needs\[0, 0\]: inf"),
        (([0, 0], [[1], [0]]), r"needs\[1\] \(recipe 1\): takes nothing"),
        (([0, 0], [[1]]), "2 recipes expected"),
        (([0], [[1]], [-2]), r"values\[0\]: -2"),
        (([0], [[1]], [inf]), r"values\[0\]: inf"),
        (([0], [[1]], [1, 2]), "1 recipes expected"),
        (([-1], [[1]]), r"owner\[0\]: -1 is negative"),
        (([0.5], [[1]]), "owner: one whole number"),
        (([0], [1]), "needs: shape"),
        (([0], [["a"]]), "needs: numbers expected"),
        (([0, 0], [[1], [1, 2]]), "needs: rows of one length"),
    ],
)
def test_what_makes_no_sense_is_named(arguments, words):
    with pytest.raises(qm.MarketError, match=words):
        Bundles(*arguments)


def test_owners_beyond_the_buyers_and_names_for_others():
    with pytest.raises(qm.MarketError, match=r"owner\[1\]: buyer 2 of 2"):
        Bundles([0, 2], [[1], [1]], buyers=2)
    with pytest.raises(qm.MarketError, match="options: 2 names expected, got 1"):
        Bundles([0, 0], [[1], [1]], options=["a"])


def test_a_market_is_another_with_other_needs():
    def market(units):
        return qm.Market([1], [1], Bundles.leontief([[units]]))

    assert market(2).hash == market(2).hash != market(3).hash
