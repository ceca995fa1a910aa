"""Workloads against a linear program per team, and against numbers worked out by hand."""

from math import inf
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize_scalar

from qmopt.utilities import Workloads

TEAMS = 2000


def draw(seed):
    """One team's 1 to 5 workloads with 1 to 6 options each, prices, credits, worth of kept ones.

    Small whole numbers in half of the draws make ties; goods may be free, demands endless or none,
    credits from a hundredth of what all demands cost to three times that.
    """
    rng = np.random.default_rng(seed)
    m, count = rng.integers(1, 6), rng.integers(1, 6)
    whole = rng.random() < 0.5

    def numbers(size, free=0.0):
        drawn = rng.integers(1, 5, size) if whole else 10 ** rng.uniform(-1, 1, size)
        return np.where(rng.random(size) < free, 0.0, drawn)

    workload = np.repeat(np.arange(count), rng.integers(1, 7, count))
    k = len(workload)
    needs = np.where(rng.random((k, m)) < 0.4, numbers((k, m)), 0)
    needs[np.arange(k), rng.integers(0, m, k)] += numbers(k)
    demand = numbers(count, free=0.1)
    demand[rng.random(count) < 0.2] = inf
    utility = Workloads(
        np.zeros(count, int), demand, workload, needs, numbers(k, free=0.05), numbers(k), teams=1
    )
    prices = numbers(m, free=0.1)
    ends = np.where(np.isfinite(demand), demand, 5)
    needed = (ends[workload] * (needs @ prices)).sum() / k + 0.1
    credits = needed * 10 ** rng.uniform(-2, 0.5)
    keep = numbers(1) / 2 if rng.random() < 0.5 else np.zeros(1)
    return utility, prices, np.array([credits]), keep


def program(utility, prices, budget, keep):
    """Most value of levels and kept credits that a budget pays for, by HiGHS."""
    ends = np.flatnonzero(np.isfinite(utility.demand))
    serve = (utility.workload == ends[:, None]) * utility.rates
    cost = utility.needs @ prices
    rows = np.block([[serve, np.zeros((len(ends), 1))], [cost, 1]])
    tight: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        -np.append(utility.worth, keep), A_ub=rows, b_ub=np.append(utility.demand[ends], budget),
        options=tight,
    )  # fmt: skip
    return inf if found.fun is None else -found.fun


def close(found, expected, share=1e-9):
    assert found == pytest.approx(expected, rel=share, abs=1e-13)


def test_best_plan_and_cost_are_those_of_linear_programs():
    finite = 0
    for seed in range(TEAMS):
        utility, prices, credits, keep = draw(seed)
        best = utility.best_whole(prices, credits, keep)
        expected = program(utility, prices, credits[0], keep[0])
        close(best[0], expected)
        if expected == inf:
            continue
        finite += 1
        levels = utility.plan(prices, credits, keep)
        assert (levels >= 0).all()
        assert (utility.served(levels) <= utility.demand * (1 + 1e-12)).all()
        spend = levels @ (utility.needs @ prices)
        assert spend <= credits[0] * (1 + 1e-12)
        close(utility.worth @ levels + keep[0] * (credits[0] - spend), expected)
        # the cheapest way to the best value costs what it costs, and buys it
        alone = utility.best(prices, credits)
        cost = utility.cost(prices, alone.value)
        assert cost[0] <= credits[0] * (1 + 1e-9)  # the last bits of a value may cost more
        if cost[0] > 0:
            close(utility.best_whole(prices, cost, np.zeros(1))[0], alone.value[0])
        close((alone.activities @ prices)[0], cost[0])
    assert finite > TEAMS / 2


def test_cost_is_the_inverse_of_best():
    for seed in range(300):
        utility, prices, credits, _ = draw(seed)
        most = utility.best_whole(prices, credits, np.zeros(1))
        if not 0 < most[0] < inf:
            continue
        for share in (1e-6, 0.2, 0.9, 1):
            cost = utility.cost(prices, share * most)
            if cost[0] > 0:
                close(utility.best_whole(prices, cost, np.zeros(1))[0], share * most[0])
            less = utility.best_whole(prices, cost * 0.999, np.zeros(1))
            assert less[0] < share * most[0] or cost[0] == 0


def test_conjugate_is_the_largest_over_all_spends():
    """B log V(t) - t is concave in t, and largest at no more than the credits."""
    for seed in range(600):
        utility, prices, credits, keep = draw(seed)
        found = utility.conjugate(prices, credits, keep)[0]
        most = utility.best_whole(prices, credits, keep)[0]
        if most in (0, inf):
            assert found == (inf if most else -inf)
            continue

        def lost(spend, utility=utility, prices=prices, credits=credits, keep=keep):
            value = utility.best_whole(prices, np.array([spend]), keep)[0]
            return spend - credits[0] * np.log(value) if value else inf

        searched = minimize_scalar(
            lost, bounds=(1e-9 * credits[0], credits[0]), options={"xatol": 1e-9 * credits[0]}
        )
        ends = min(lost(1e-9 * credits[0]), lost(credits[0]), searched.fun)
        assert found == pytest.approx(-ends, rel=1e-12, abs=1e-8 * credits[0])


def test_all_teams_at_once_are_each_team_alone():
    draws: Any = [draw(seed) for seed in range(200)]
    offset = np.cumsum([0] + [len(d[0].demand) for d in draws])
    # every team sees its own prices: goods of its own
    needs = sp.block_diag([d[0].needs for d in draws], format="csr")
    utility = Workloads(
        np.repeat(np.arange(len(draws)), np.diff(offset)),
        np.concatenate([d[0].demand for d in draws]),
        np.concatenate([d[0].workload + k for d, k in zip(draws, offset[:-1], strict=True)]),
        needs,
        np.concatenate([d[0].values for d in draws]),
        np.concatenate([d[0].rates for d in draws]),
        teams=len(draws),
    )
    prices = np.concatenate([d[1] for d in draws])
    credits, keeps = (np.concatenate([d[part] for d in draws]) for part in (2, 3))
    best = utility.best_whole(prices, credits, keeps)
    np.testing.assert_array_equal(best, [d[0].best_whole(*d[1:])[0] for d in draws])
    np.testing.assert_array_equal(
        utility.plan(prices, credits, keeps), np.concatenate([d[0].plan(*d[1:]) for d in draws])
    )
    np.testing.assert_array_equal(
        utility.conjugate(prices, credits, keeps), [d[0].conjugate(*d[1:])[0] for d in draws]
    )
