"""Linear utilities against a linear program per buyer, and sparse against dense."""

from math import inf, log

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt.utilities.linear import AT_ONCE, Linear
from qmopt.utilities.protocol import Utility

SEEDS = range(120)  # of 1 to 5 buyers each
STORES = {"dense": np.array, "sparse": sp.csr_array}


def draw(seed, *, free=True):
    """Values with zeros (and buyers who value nothing), prices of which some are 0 or infinite."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6), rng.integers(1, 7)
    values = np.where(rng.random((n, m)) < 0.7, 10 ** rng.uniform(-2, 2, (n, m)), 0)
    values[rng.random(n) < 0.1] = 0
    prices = 10 ** rng.uniform(-2, 2, m)
    if free:
        prices[rng.random(m) < 0.05] = 0
    budgets = np.where(rng.random(n) < 0.9, 10 ** rng.uniform(-2, 3, n), 0)
    units = np.where(rng.random((n, m)) < 0.6, rng.random((n, m)), 0)
    return values, prices, budgets, units


def best_by_program(values, prices, budget):
    """Most value that a budget buys, with one linear program."""
    found = linprog(-values, A_ub=[prices], b_ub=[budget], bounds=(0, None))
    return inf if found.status == 3 else -found.fun


def cost_by_program(values, prices, level):
    """Least spend that brings a level of value, with one linear program."""
    found = linprog(prices, A_ub=[-values], b_ub=[-level], bounds=(0, None))
    return inf if found.status == 2 else found.fun


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_best_and_cost_are_those_of_linear_programs(store):
    points = 0
    for seed in SEEDS:
        values, prices, budgets, units = draw(seed)
        utility = Linear(store(values))
        best = utility.best(prices, budgets)
        level = utility.value(units)
        cost = utility.cost(prices, level)
        for i in range(len(budgets)):
            points += 1
            if budgets[i] > 0:
                expected = best_by_program(values[i], prices, budgets[i])
                assert best.value[i] == pytest.approx(expected, rel=1e-7, abs=1e-12)
            else:  # nothing to spend is nothing to have, even of what is free
                assert best.value[i] == 0
            expected = cost_by_program(values[i], prices, level[i])
            assert cost[i] == pytest.approx(expected, rel=1e-7, abs=1e-12)
    assert points >= 300


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_the_best_bundle_brings_the_best_value_and_costs_the_budget(store):
    for seed in SEEDS:
        values, prices, budgets, _ = draw(seed)
        utility = Linear(store(values))
        best = utility.best(prices, budgets)
        brought, spent = utility.value(best.activities), best.activities @ prices
        finite = np.isfinite(best.value) & (best.value > 0)
        np.testing.assert_allclose(brought[finite], best.value[finite], rtol=1e-12)
        np.testing.assert_allclose(spent[finite], budgets[finite], rtol=1e-12)
        assert not brought[~finite].any()
        assert best.activities.shape == values.shape


def test_unit_cost_is_the_cost_of_one_unit():
    for seed in SEEDS:
        values, prices, _, _ = draw(seed)
        cost = Linear(values).unit_cost(prices)
        expected = [cost_by_program(row, prices, 1.0) for row in values]
        np.testing.assert_allclose(cost, expected, rtol=1e-7, atol=1e-12)


def test_the_conjugate_is_the_largest_log_value_less_spend():
    """B log u - cost(u) is largest where B/u = cost(1); on a grid nothing is above it."""
    for seed in SEEDS:
        values, prices, budgets, _ = draw(seed, free=False)
        some = (budgets > 0) & values.any(axis=1)
        values, budgets = values[some], budgets[some]
        if not len(budgets):
            continue
        found = Linear(values).conjugate(prices, budgets)
        for i, row in enumerate(values):
            unit = cost_by_program(row, prices, 1.0)
            top = budgets[i] / unit
            levels = top * np.concatenate([np.linspace(0.5, 1.5, 101), 10.0 ** np.arange(-3, 4)])
            objective = budgets[i] * np.log(levels) - unit * levels
            scale = budgets[i] * max(1, abs(log(top)))
            assert found[i] >= objective.max() - 1e-7 * scale
            assert found[i] == pytest.approx(objective[50], abs=1e-6 * scale)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_excess_cost_is_spend_less_the_cheapest_way(store):
    for seed in SEEDS:
        values, prices, _, units = draw(seed)
        useful = values.any(axis=1)
        values, units = values[useful], units[useful]
        if not len(values):
            continue
        utility = Linear(store(values))
        level = (values * units).sum(axis=1)
        cheapest = [
            cost_by_program(row, prices, goal) for row, goal in zip(values, level, strict=True)
        ]
        excess = utility.excess_cost(prices, store(units))
        np.testing.assert_allclose(excess, units @ prices - cheapest, rtol=1e-6, atol=1e-6)
        assert (excess >= 0).all()
        assert not utility.excess_cost(prices, utility.best(prices, np.ones(len(units))).activities
                                       ).round(12).any()  # fmt: skip


def test_excess_cost_without_cancellation():
    """By hand: 3 units at 1 + 2^-40 where 1 would do cost 3 * 2^-40 more, to the last bit."""
    utility = Linear([[1, 1]])
    found = utility.excess_cost(np.array([1, 1 + 2.0**-40]), np.array([[1e6, 3]]))
    assert found.tolist() == [3 * 2.0**-40]


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_levels_and_activities_add_up_to_bundle_and_value(store):
    for seed in SEEDS:
        values, _, _, units = draw(seed)
        utility = Linear(store(values))
        activities, levels = utility.activities(), utility.levels(store(units))
        assert len(levels) == len(activities.owner) == len(activities.values) == (values > 0).sum()
        used = np.zeros_like(units)
        np.add.at(used, activities.owner, levels[:, None] * activities.needs.toarray())
        np.testing.assert_array_equal(used, np.where(values > 0, units, 0))
        brought = np.bincount(
            activities.owner, weights=levels * activities.values, minlength=len(units)
        )
        np.testing.assert_allclose(brought, utility.value(units), rtol=1e-12)
        np.testing.assert_allclose(utility.expression(levels), brought, rtol=1e-12)


def test_sparse_equals_dense():
    for seed in SEEDS:
        values, prices, budgets, units = draw(seed)
        prices[np.random.default_rng(seed).random(len(prices)) < 0.2] = inf  # not to be had
        dense, sparse = Linear(values), Linear(sp.coo_array(values))
        assert sp.issparse(sparse.values)
        for store in STORES.values():
            allocation = store(units)
            np.testing.assert_allclose(
                sparse.value(allocation), dense.value(allocation), rtol=1e-14
            )
        np.testing.assert_array_equal(sparse.unit_cost(prices), dense.unit_cost(prices))
        one, other = sparse.best(prices, budgets), dense.best(prices, budgets)
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.activities.toarray(), other.activities.toarray())
        goods, buyers = np.isfinite(prices), budgets > 0
        for utility in (dense, sparse):
            expected = (values[:, goods] > 0).any(axis=1)
            np.testing.assert_array_equal(utility.usable(goods), expected)
            np.testing.assert_array_equal(utility.wanted(buyers), (values[buyers] > 0).any(axis=0))


def test_take():
    values = np.arange(12.0).reshape(3, 4)
    for store in STORES.values():
        taken = Linear(store(values)).take(np.array([2, 0]), np.array([3, 1])).values
        assert sp.csr_array(taken).toarray().tolist() == [[11, 9], [3, 1]]


def test_what_is_stored():
    given = np.array([[1.0, 2.0]])
    utility = Linear(given)
    given[0, 0] = 7
    assert utility.values.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        utility.values[0, 0] = 3
    frozen = np.array([[1.0, 2.0]], dtype=np.float32)
    frozen.setflags(write=False)
    assert Linear(frozen).values is frozen  # large values are not copied for nothing
    # explicit zeros and pairs listed twice are cleaned up
    twice = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 0], [1, 1, 0])), shape=(1, 2))
    stored = Linear(twice).values
    assert (stored.nnz, stored.toarray().tolist()) == (1, [[0, 3]])
    frame = pd.DataFrame({"h100": [4, 2], "l4": [1, 1]}, index=["vision", "speech"])
    named = qm.Market([60, 40], [8, 16], Linear(frame))
    assert (named.buyers, named.goods) == (("vision", "speech"), ("h100", "l4"))


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize("bad", [-1, inf, np.nan])
def test_bad_values_are_named(store, bad):
    with pytest.raises(qm.MarketError, match=r"values\[1, 0\] \(buyer 1, good 0\)"):
        Linear(store(np.array([[1, 2], [bad, 1]])))


@pytest.mark.parametrize("bad", [[1, 2], [["a", "b"]], [[True, False]], [[1j]], 3])
def test_bad_shapes_and_types(bad):
    with pytest.raises(qm.MarketError, match="values: "):
        Linear(bad)


# Large values are gone over in blocks


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize("rows", [-1, 0, 1])
def test_blocks_change_nothing(store, dtype, rows):
    """Around the edge of a block of the 7-column matrix: the numbers of a single block."""
    rng = np.random.default_rng(0)
    n, m = AT_ONCE // 7 + rows, 7
    values = np.where(rng.random((n, m)) < 0.8, rng.lognormal(size=(n, m)), 0).astype(dtype)
    values[:3] = 0
    utility = Linear(store(values))
    wide = values.astype(float)
    for prices in (rng.lognormal(size=m), np.array([0, 1, inf, 2, 3, 4, 5.0])):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(wide > 0, prices / wide, inf)
        cost = utility.unit_cost(prices)
        np.testing.assert_array_equal(cost, ratios.min(axis=1))
        cost[0] = 7  # a copy
        np.testing.assert_array_equal(utility.unit_cost(prices), ratios.min(axis=1))
        reach = utility.unit_cost(prices) * (1 + 1e-3)
        found = utility.worth_using(prices, reach, 0.1)
        with np.errstate(invalid="ignore"):
            expected = (prices <= wide * reach[:, None] * 1.1) & (wide > 0)
        owner, good = np.nonzero(expected)
        np.testing.assert_array_equal(found.owner, owner)
        np.testing.assert_array_equal(found.needs.indices, good)
        np.testing.assert_array_equal(found.needs.indptr, np.arange(len(good) + 1))
        np.testing.assert_array_equal(found.values, wide[expected])
    some = np.arange(m) < 2
    np.testing.assert_array_equal(utility.usable(some), (wide[:, :2] > 0).any(axis=1))
    np.testing.assert_array_equal(utility.wanted(np.arange(n) < 3), np.zeros(m, dtype=bool))
    units = sp.random_array((n, m), density=0.1, rng=rng, format="csr")
    expected = (wide * units.toarray()).sum(axis=1)
    np.testing.assert_allclose(utility.value(units), expected, rtol=1e-14)
    np.testing.assert_allclose(utility.value(units.toarray()), expected, rtol=1e-14)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_activities_in_blocks_are_all_activities(store):
    rng = np.random.default_rng(0)
    values = np.where(rng.random((AT_ONCE // 50 + 9, 120)) < 0.5, 1 + rng.random(), 0)
    utility = Linear(store(values))
    whole, parts = utility.activities(), list(utility.activity_blocks())
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate([part.owner for part in parts]), whole.owner)
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), whole.values)
    needs = sp.vstack([part.needs for part in parts], format="csr")
    np.testing.assert_array_equal(needs.indices, whole.needs.indices)
    np.testing.assert_array_equal(needs.indptr, whole.needs.indptr)


def test_what_a_family_says_by_default_is_what_linear_utilities_say():
    for seed in SEEDS:
        values, prices, _, _ = draw(seed, free=False)
        utility = Linear(values)
        reach = np.where(np.isfinite(utility.unit_cost(prices)), utility.unit_cost(prices), 0)
        own = utility.worth_using(prices, reach, 0.5)
        default = Utility.worth_using(utility, prices, reach, 0.5)
        np.testing.assert_array_equal(own.owner, default.owner)
        np.testing.assert_array_equal(own.values, default.values)
        np.testing.assert_array_equal(own.needs.toarray(), default.needs.toarray())


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize("bad", [-1, inf, np.nan])
def test_bad_values_are_named_beyond_the_first_block(store, bad):
    values = np.ones((AT_ONCE // 4, 11))
    values[-2, 5] = bad
    with pytest.raises(qm.MarketError, match=rf"values\[{len(values) - 2}, 5\] "):
        Linear(store(values))
