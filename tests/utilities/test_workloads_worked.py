"""Workloads by hand, what makes no sense, and their curves at the ends of what floats can do."""

from math import inf, log
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt.utilities import Bundles, Linear, Workloads
from qmopt.utilities.hull import _first, corners

ONE, NONE = np.ones(1), np.zeros(1)


def quarter():
    """Team 0 wants a quarter of good 0 at 2 and any of good 1 at 1; team 1 any good at 1."""
    needs = [[1, 0], [0, 1], [1, 0], [0, 1]]
    return Workloads([0, 0, 1], [0.25, inf, inf], [0, 1, 2, 2], needs, [2, 1, 1, 1])


def test_a_quarter_of_a_good():
    """At 8/9, 2/9 buys a quarter worth 1/2, and the other 7/9 buy 7/8 at 1 each."""
    utility, none, ones = quarter(), np.zeros(2), np.ones(2)
    best = utility.best_whole(np.full(2, 8 / 9), ones, none)
    np.testing.assert_allclose(best, [1.375, 1.125], rtol=1e-15)
    plan = utility.plan(np.full(2, 8 / 9), ones, none)
    np.testing.assert_allclose(plan[:2], [0.25, 0.875], rtol=1e-15)
    assert utility.plan(ones, ones, none)[:2].tolist() == [0.25, 0.75]
    assert utility.value(np.array([[0.25, 0.75], [0.75, 0.25]])).tolist() == [1.25, 1]
    assert utility.cost(ones, np.array([1.25, 1])).tolist() == [1, 1]
    # log(V) - t: at slope 1 up to V = 1, from the quarter worth 1/2 on
    np.testing.assert_allclose(utility.conjugate(ones, ones), [-0.75, -1], rtol=1e-15)


def test_what_free_goods_bring():
    utility = quarter()
    free, none, credits = np.array([0.0, 1]), np.zeros(2), np.array([1.0, 0])
    # the quarter is free; team 1 would have no end of good 0, but no credits
    assert utility.best_whole(free, credits, none).tolist() == [1.5, 0]
    assert utility.best_whole(free, np.ones(2), none).tolist() == [1.5, inf]
    assert utility.plan(free, np.ones(2), none).tolist() == [0.25, 1, 0, 0]
    assert utility.cost(free, np.array([0.5, 7])).tolist() == [0, 0]
    assert utility.best(free, np.ones(2)).activities.toarray().tolist() == [[0.25, 1], [0, 0]]
    # log(1/2 + t) - t is largest at t = 1/2
    assert utility.conjugate(free, np.ones(2)).tolist() == [-0.5, inf]
    assert utility.conjugate(free, credits)[1] == 0


def test_a_kept_credit_is_worth_as_much_as_the_last_bought_one_at_least():
    utility, ones = quarter(), np.ones(2)
    # at prices 1 only the quarter, at 2 for a credit, is worth buying: 1/2 and 3/4 * 1.5
    assert utility.best_whole(ones, ones, np.array([1.5, 0.5])).tolist() == [1.625, 1]
    assert utility.plan(ones, ones, np.array([1.5, 1.5])).tolist() == [0.25, 0, 0, 0]
    # log(V) - t - k: up to V = 3/2, of which a quarter is bought and 2/3 of a credit kept
    found = utility.conjugate(ones, ones, np.array([1.5, 0]))[0]
    assert found == pytest.approx(log(1.5) - 0.25 - 2 / 3, rel=1e-15)


def test_prices_without_end_are_out_of_reach():
    utility = quarter()
    gone = np.array([inf, 2.0])
    assert utility.best_whole(gone, np.ones(2), np.zeros(2)).tolist() == [0.5, 0.5]
    assert utility.cost(gone, np.array([7.0, 7])).tolist() == [14, 14]
    assert utility.cost(np.full(2, inf), np.array([7.0, 0])).tolist() == [inf, 0]
    assert utility.conjugate(np.full(2, inf), np.ones(2)).tolist() == [-inf, -inf]
    assert utility.best_whole(np.full(2, inf), np.ones(2), np.zeros(2)).tolist() == [0, 0]
    assert utility.unit_cost(gone).tolist() == [2, 2]


def test_cost_beyond_all_demands_and_rounding():
    utility = Workloads([0, 0], [3, 2], [0, 1], [[1], [1]], [1, 2])
    assert utility.most(np.array([True])).tolist() == [7]
    assert utility.most(np.array([False])).tolist() == [0]
    cost = [utility.cost(ONE, np.array([v]))[0] for v in (4, 7, 7 * (1 + 1e-13), 7 * (1 + 1e-11))]
    assert cost == [2, 5, 5, inf]


def draw(seed):
    """Two teams of a few workloads that share goods, and units, some of them none."""
    rng = np.random.default_rng(seed)
    m, count, k = rng.integers(1, 5), rng.integers(2, 6), rng.integers(2, 10)
    needs = np.where(rng.random((k, m)) < 0.4, rng.integers(1, 4, (k, m)), 0)
    needs[np.arange(k), rng.integers(0, m, k)] += 1
    demand = np.where(rng.random(count) < 0.7, 10 ** rng.uniform(-1, 1, count), inf)
    utility = Workloads(
        rng.integers(0, 2, count), demand, rng.integers(0, count, k), needs,
        10 ** rng.uniform(-1, 1, k), rng.integers(1, 4, k), teams=2,
    )  # fmt: skip
    return utility, np.where(rng.random((2, m)) < 0.8, 10 ** rng.uniform(-1, 1, (2, m)), 0)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_value_and_levels_are_those_of_a_linear_program(store):
    for seed in range(150):
        utility, units = draw(seed)
        levels, value = utility.levels(store(units)), utility.value(store(units))
        assert (levels >= 0).all()
        assert (utility.served(levels) <= utility.demand * (1 + 1e-12)).all()
        assert (utility.taken(levels).toarray() <= units * (1 + 1e-12)).all()
        ends = np.flatnonzero(np.isfinite(utility.demand))
        for i in range(2):
            mine = utility.owner == i
            if not mine.any():
                assert value[i] == 0
                continue
            serve = ((utility.workload == ends[:, None]) * utility.rates)[:, mine]
            rows = np.vstack([utility.needs.toarray()[mine].T, serve])
            found = linprog(
                -utility.worth[mine], rows, np.concatenate([units[i], utility.demand[ends]])
            )
            assert value[i] == pytest.approx(-(found.fun or 0), rel=1e-8, abs=1e-12)
            assert utility.worth[mine] @ levels[mine] == pytest.approx(value[i], rel=1e-12)


def test_excess_cost_is_spend_less_the_cheapest_way():
    for seed in range(150):
        utility, units = draw(seed)
        prices = 10 ** np.random.default_rng(seed).uniform(-1, 1, units.shape[1])
        excess, spend = utility.excess_cost(prices, units), units @ prices
        np.testing.assert_allclose(
            excess, spend - utility.cost(prices, utility.value(units)), atol=1e-6 * spend.max()
        )
        assert (excess >= 0).all()


def test_endless_demands_are_recipes():
    values = np.array([[3.0, 1, 0], [1, 2, 2]])
    team, good = np.nonzero(values)
    each = values[team, good]
    utility = Workloads([0, 1], [inf, inf], team, np.eye(3)[good], each)
    recipes, prices = Bundles.linear(values), np.array([2.0, 1, 3])
    credits, none = np.array([6.0, 5]), np.zeros(2)
    best = utility.best_whole(prices, credits, none)
    assert best.tolist() == recipes.best(prices, credits).value.tolist() == [9, 10]
    np.testing.assert_allclose(
        utility.conjugate(prices, credits), recipes.conjugate(prices, credits), rtol=1e-15
    )
    assert utility.separate is False  # team 1 values its goods differently
    assert recipes.best_whole(prices, credits, np.array([0, 4.0])).tolist() == [9, 20]
    assert Linear(values).best_whole(prices, credits, none).tolist() == [9, 10]


def test_separate_is_one_workload_of_one_value():
    def of(team, workload, values, demand=None):
        needs = np.ones((len(workload), 1))
        return Workloads(team, demand or [1] * len(team), workload, needs, values).separate

    assert of([0, 1], [0, 0, 1], [2, 2, 3])
    assert not of([0, 0], [0, 1], [2, 2])
    assert not of([0], [0, 0], [2, 3])
    assert of([0], [0, 0], [2, 0])  # what has no value is no option
    assert of([0, 0], [0, 1], [2, 3], demand=[1, 0])  # what wants nothing is none
    assert of([0, 0], [0, 0], [2, 2])


def test_take_leaves_out_options_that_need_what_is_not_there():
    utility = Workloads(
        [1, 0, 1], [4, 5, 6], [0, 1, 2, 2], [[1, 2, 0], [0, 3, 0], [0, 0, 1], [0, 1, 0]],
        [5, 2, 1, 3], [1, 2, 3, 4], names=["a", "b", "c"], options=list("wxyz"),
        gangs=[8, 1, 2], limit_prices=[1, inf, 3],
    )  # fmt: skip
    taken = utility.take(np.array([1]), np.array([2, 1]))
    assert taken.shape == (1, 2)
    assert (list(taken.names), list(taken.options)) == (["a", "c"], ["y", "z"])
    assert taken.team.tolist() == taken.owner.tolist() == [0, 0]
    assert taken.workload.tolist() == [1, 1]
    assert taken.needs.toarray().tolist() == [[1, 0], [0, 1]]
    assert taken.demand.tolist() == [4, 6]
    assert (taken.values.tolist(), taken.rates.tolist()) == ([1, 3], [3, 4])
    assert (taken.gangs.tolist(), taken.limit_prices.tolist()) == ([8, 2], [1, 3])
    assert taken.worth.tolist() == [3, 12]
    swapped = utility.take(np.array([1, 0]), np.arange(3))
    assert swapped.team.tolist() == [0, 1, 0]


def test_what_brings_nothing_is_left_out_and_workloads_stay():
    utility = Workloads([0, 0, 1], [2, 0, 3], [0, 0, 1, 2], np.ones((4, 1)), [1, 0, 1, 1], teams=3)
    assert utility.options == ("0", "3")
    assert utility.workload.tolist() == [0, 2]
    assert utility.demand.tolist() == [2, 0, 3]
    assert utility.served(np.array([1.0, 2])).tolist() == [1, 0, 2]
    assert utility.usable(np.array([True])).tolist() == [True, True, False]
    assert utility.wanted(np.array([False, False, True])).tolist() == [False]
    assert utility.shape == (3, 1)
    assert utility.homogeneous is utility.additive is False


NEEDS = [[1], [1]]


@pytest.mark.parametrize(
    ("arguments", "more", "words"),
    [
        (([0, -1], [1, 1], [0, 1], NEEDS, [1, 1]), {}, r"team\[1\]: -1 is negative"),
        (([0, 2], [1, 1], [0, 1], NEEDS, [1, 1]), {"teams": 2}, r"team\[1\]: team 2 of 2"),
        (([0.5], [1], [0, 0], NEEDS, [1, 1]), {}, "team: one whole number"),
        (([0], [1], [0, 1], NEEDS, [1, 1]), {}, r"workload\[1\]: workload 1 of 1"),
        (([0], [-1], [0, 0], NEEDS, [1, 1]), {"names": ["ada"]}, r"demand\[0\] \(ada\): -1"),
        (([0], [np.nan], [0, 0], NEEDS, [1, 1]), {}, r"demand\[0\] \(0\): nan"),
        (([0], [1, 2], [0, 0], NEEDS, [1, 1]), {}, r"demand: shape \(1,\)"),
        (([0], [1], [0, 0], NEEDS, [1]), {}, r"values: shape \(2,\)"),
        (([0], [1], [0, 0], NEEDS, [1, inf]), {"options": ["a", "b"]}, r"values\[1\] \(b\): inf"),
        (([0], [1], [0, 0], NEEDS, [1, 1], [1, 0]), {}, r"rates\[1\] \(1\): a positive number"),
        (([0], [1], [0, 0], NEEDS, [1, 1], [1, inf]), {}, r"rates\[1\] \(1\): inf"),
        (([0], [1], [0, 0], [[1], [-1]], [1, 1]), {}, r"needs\[1, 0\]: -1"),
        (([0], [1], [0, 0], [[1], [0]], [1, 1]), {}, r"needs\[1\] .*takes nothing"),
        (([0], [1], [0, 0], [[1]], [1, 1]), {}, "2 recipes expected"),
        (([0], [1], [0, 0], NEEDS, [1, 1]), {"names": ["a", "b"]}, "names: 1 names expected"),
        (([0], [1], [0, 0], NEEDS, [1, 1]), {"options": ["a"]}, "options: 2 names expected"),
        (([0], [1], [0, 0], NEEDS, [1, 1]), {"gangs": [1.5]}, r"gangs\[0\] \(0\): a whole number"),
        (([0], [1], [0, 0], NEEDS, [1, 1]), {"gangs": [0]}, r"gangs\[0\] \(0\): a whole number"),
        (([0], [1], [0, 0], NEEDS, [1, 1]), {"limit_prices": [-1]}, r"limit_prices\[0\] .*-1"),
    ],
)
def test_what_makes_no_sense_is_named(arguments, more, words):
    with pytest.raises(qm.MarketError, match=words):
        Workloads(*arguments, **more)


def test_a_market_is_another_with_other_demands():
    def fingerprint(**changes: Any):
        given: Any = {"demand": [2, 3], "workload": [0, 1], "rates": [1, 1]} | changes
        utility = Workloads([0, 0], needs=NEEDS, values=[1, 1], **given)
        return qm.Market([1], [1], utility).hash

    others = [
        fingerprint(demand=[2, 4]), fingerprint(workload=[0, 0]), fingerprint(gangs=[1, 2]),
        fingerprint(limit_prices=[1, 1]), fingerprint(workload=[1, 0]), fingerprint(),
    ]  # fmt: skip
    assert len(set(others)) == 6
    assert fingerprint() == fingerprint()


def corners_one_by_one(cost, value):
    """The cheapest point of the steepest line from each corner to the next."""
    found, x, y = [], 0.0, 0.0
    while True:
        ahead = [k for k in range(len(cost)) if value[k] > y and cost[k] < inf]
        if not ahead:
            return found
        slope = {k: (value[k] - y) / (cost[k] - x) if cost[k] > x else inf for k in ahead}
        steepest = max(slope.values())
        best = max((k for k in ahead if slope[k] == steepest), key=lambda k: value[k])
        found.append(best)
        x, y = cost[best], value[best]


def test_corners_are_found_as_by_walking_along():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        k = rng.integers(1, 30)
        cost = np.where(rng.random(k) < 0.1, inf, rng.choice(2.0 ** np.arange(-3, 9), k))
        cost[rng.random(k) < 0.1] = 0
        value = rng.choice(2.0 ** np.arange(-3, 5), k)
        found = corners(np.zeros(k, int), cost, value)
        other = corners_one_by_one(cost, value)
        assert [(cost[i], value[i]) for i in found] == [(cost[i], value[i]) for i in other]


@pytest.mark.parametrize("shape", ["concave", "convex", "one high"])
def test_a_hundred_thousand_options_of_one_workload_take_few_passes(shape, monkeypatch):
    count = 100_000
    cost = np.arange(1.0, count + 1)
    value = {"concave": np.sqrt(cost), "convex": cost**2, "one high": np.sqrt(cost)}[shape]
    if shape == "one high":
        value[-1] = 1e9
    passes = []
    monkeypatch.setattr(
        "qmopt.utilities.hull._first", lambda *a, of=_first: passes.append(1) or of(*a)
    )
    found = corners(np.zeros(count, int), cost, value)
    assert len(found) == (count if shape == "concave" else 1)
    assert len(passes) <= 40
