"""The certificate of markets with demands: against a cap, a program, plain loops, and its laws."""

from math import inf, log
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import qmopt as qm
from qmopt.certificate import measure
from qmopt.utilities import Bundles, Linear, Workloads
from qmopt.witness import witness

SEEDS = range(200)


def single(seed, *, kept=True):
    """Teams of one demand each, all of whose options are equally valued, and a point.

    One good per option: values and rates differ between teams and between options.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    rates = np.where(rng.random((n, m)) < 0.7, rng.integers(1, 5, (n, m)), 0).astype(float)
    rates[:, 0] = np.maximum(rates[:, 0], 1)
    value, demand = rng.integers(1, 4, n).astype(float), 10 ** rng.uniform(-1, 1, n)
    demand[rng.random(n) < 0.2] = inf
    team, good = np.nonzero(rates)
    needs = np.eye(m)[good]
    utility = Workloads(
        np.arange(n), demand, team, needs, value[team], rates[team, good], teams=n
    )  # fmt: skip
    prices = 10 ** rng.uniform(-1, 1, m)
    reserves = np.where(rng.random(m) < 0.5, prices * rng.choice([0.5, 1], m), 0)
    keeps = np.where(rng.random(n) < (0.5 if kept else 0), 10 ** rng.uniform(-1, 1, n), 0)
    budgets, supplies = 10 ** rng.uniform(-1, 1, n), rng.integers(1, 9, m).astype(float)
    market = qm.Market(budgets, supplies, utility, reserves=reserves, keep_values=keeps)
    units = rng.random((n, m)) * (rng.random((n, m)) < 0.8) * supplies / n
    served = (rates * units).sum(axis=1)
    units /= np.maximum(served / demand, 1)[:, None]  # no more than is wanted
    return market, prices, units[team, good], rates * value[:, None], units


def test_one_demand_is_a_cap_on_value():
    """Without kept credits the same market says the same as linear utilities with caps."""
    for seed in SEEDS:
        market, prices, levels, values, units = single(seed, kept=False)
        utility: Any = market.utility
        cap = utility.most(np.ones(market.m, dtype=bool))
        capped = qm.Market(
            market.budgets, market.supplies, Linear(values), reserves=market.reserves,
            utility_caps=cap,
        )  # fmt: skip
        # what a team has no option for brings nothing; here nobody holds it
        units = np.where(values > 0, units, 0)
        expected = measure(capped, prices, units, 0.1).residuals
        found = measure(market, prices, None, 0.1, activities=levels).residuals
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert measure(market, prices, units, 0.1).residuals == pytest.approx(
            expected, rel=1e-9, abs=1e-12
        )


def welfare(market, value):
    """Nash welfare of what goods bring, with the best of kept credits: F, from its definition."""
    found = 0.0
    for v, budget, worth in zip(value, market.budgets, market.keep_values, strict=True):
        kept = max(budget - v / worth, 0) if worth else 0
        found += budget * log(v + worth * kept) - kept
    return found


def test_the_gap_is_dual_less_primal_value():
    for seed in SEEDS:
        market, prices, levels, _, _ = single(seed)
        prices = np.maximum(prices, market.reserves)
        levels = levels + 1e-3 / market.n * np.minimum(levels, 1)  # may pass a demand by a little
        levels = np.maximum(levels, 1e-9)
        utility: Any = market.utility
        found: Any = measure(market, prices, None, activities=levels)
        inside = levels / (1 + found.overallocated)
        value = np.bincount(utility.owner, utility.worth * inside, market.n)
        idle = market.supplies - utility.taken(inside).sum(axis=0)
        dual = (
            market.supplies @ prices
            + utility.conjugate(prices, market.budgets, market.keep_values).sum()
        )
        gap = (dual - welfare(market, value) - market.reserves @ idle) / (market.supplies @ prices)
        assert found.gap == pytest.approx(gap, rel=1e-9, abs=1e-11)
        assert found.gap >= 0


@pytest.mark.parametrize("seed", range(25))
def test_the_programs_answer_has_no_gap(seed):
    """The textbook program, by Clarabel: its prices and levels certify, but for its accuracy."""
    market, _, _, _, _ = single(seed)
    utility: Any = market.utility
    keeps = market.keep_values
    y: Any = cp.Variable(len(utility.worth), nonneg=True)
    idle, kept = cp.Variable(market.m, nonneg=True), cp.Variable(market.n, nonneg=True)
    by_team = (utility.owner == np.arange(market.n)[:, None]) * utility.worth
    supply = utility.needs.toarray().T @ y + idle <= market.supplies
    ends = np.isfinite(utility.demand)
    by_demand = (utility.workload == np.arange(market.n)[:, None]) * utility.rates
    limits = [by_demand[ends] @ y <= utility.demand[ends]] if ends.any() else []
    objective = (
        market.budgets @ cp.log(by_team @ y + cp.multiply(keeps, kept))
        - cp.sum(kept)
        + market.reserves @ idle
    )
    problem = cp.Problem(cp.Maximize(objective), [supply, *limits])
    problem.solve(cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    prices: Any = supply.dual_value
    found: Any = measure(market, prices, None, activities=np.maximum(y.value, 0))
    # where all demands are met, prices are 0 but for rounding, and nothing to compare with
    assert abs(found.gap) * (market.supplies @ prices) <= 1e-7 * market.budgets.sum()
    # these are of the first order where the gap is of the second
    assert max(found.regret, found.overspend, found.overallocated) <= 3e-4


def several(seed):
    """Teams of several workloads, with recipes; a point of levels, some negative or too high."""
    rng = np.random.default_rng(seed)
    n, m, count = rng.integers(1, 4), rng.integers(1, 5), rng.integers(1, 7)
    team = np.append(np.arange(n), rng.integers(0, n, count))
    demand = np.where(rng.random(len(team)) < 0.8, 10 ** rng.uniform(-1, 1, len(team)), inf)
    workload = np.append(np.arange(len(team)), rng.integers(0, len(team), 4))
    k = len(workload)
    needs = np.where(rng.random((k, m)) < 0.3, rng.integers(1, 4, (k, m)), 0)
    needs[np.arange(k), rng.integers(0, m, k)] += 1
    utility = Workloads(team, demand, workload, needs, rng.integers(1, 5, k), rng.integers(1, 4, k))
    market = qm.Market(
        10 ** rng.uniform(-1, 1, n), rng.integers(1, 9, m), utility,
        keep_values=np.where(rng.random(n) < 0.3, 10 ** rng.uniform(-1, 1, n), 0),
        utility_caps=np.where(rng.random(n) < 0.3, 10 ** rng.uniform(-1, 1.5, n), inf),
    )  # fmt: skip
    levels = rng.random(k) * rng.choice([0, 0.3, 1, -0.1], k)
    return market, 10 ** rng.uniform(-1, 1, m), levels


def test_random_levels_against_plain_loops():
    for seed in SEEDS:
        market, prices, levels = several(seed)
        utility: Any = market.utility
        budgets, supplies = market.budgets, market.supplies
        found = measure(market, prices, None, 0.1, activities=levels)
        negative, over, spend, value = 0.0, 0.0, np.zeros(market.n), np.zeros(market.n)
        served, taken = np.zeros(len(utility.demand)), np.zeros(market.m)
        for k, y in enumerate(levels):
            i, mix = utility.owner[k], utility.needs[[k]].toarray()[0]
            negative = max(negative, *(-y * mix / supplies), -y * (mix @ prices) / budgets[i])
            if y > 0:
                spend[i] += y * (mix @ prices)
                value[i] += y * utility.values[k] * utility.rates[k]
                served[utility.workload[k]] += y * utility.rates[k]
                taken += y * mix
        over = max(0, *(taken / supplies - 1), *(served / utility.demand - 1))
        kept = np.maximum(budgets - spend, 0)
        reached = np.minimum(market.utility_caps, value + market.keep_values * kept)
        best = np.minimum(
            market.utility_caps, utility.best_whole(prices, budgets, market.keep_values)
        )
        assert found.negative == pytest.approx(negative, rel=1e-12, abs=1e-15)
        assert found.overallocated == pytest.approx(over, rel=1e-12, abs=1e-15)
        assert found.overspend == pytest.approx(max(0, *(spend / budgets - 1)), rel=1e-12)
        assert found.regret == pytest.approx(max(0, *(1 - reached / best)), rel=1e-9, abs=1e-15)
        assert (found.gap is None) == (not utility.separate)


def test_the_best_use_is_no_worse_than_levels_that_take_the_same():
    for seed in SEEDS:
        market, prices, levels = several(seed)
        utility: Any = market.utility
        levels = np.maximum(levels, 0)
        levels /= max(1, (utility.served(levels) / utility.demand).max())
        taken = utility.taken(levels)
        told = measure(market, prices, None, activities=levels)
        assert measure(market, prices, taken).regret <= told.regret + 1e-9


def test_who_overserves():
    utility = Workloads(
        [1, 0, 1], [4, 2, 3], [0, 1, 2], [[1], [1], [1]], [1, 1, 1], names=["t5", "ada", "bert"]
    )
    market = qm.Market([9, 9], [10], utility, buyers=["vision", "nlp"])
    assert witness(market, [1], None, "overallocated", [4, 2, 4]) == "workload bert of team nlp"
    assert witness(market, [1], None, "overallocated", [4, 3, 4]) == "workload ada of team vision"
    # 14 of 10 chips are more than 4 of 3 units of demand
    assert witness(market, [1], None, "overallocated", [4, 2, 4.5]) == "workload bert of team nlp"
    crowded = market.replace(supplies=[5])
    assert witness(crowded, [1], None, "overallocated", [4, 2, 4]) == "resource 0"
    assert witness(market, [1], None, "regret", [4, 0, 3]) == "team vision"


def test_no_isinstance_is_needed_for_a_family_of_ones_own():
    """Recipes that say demands of their own are measured at levels, too."""

    class Two(Bundles):
        homogeneous = False

        def demands(self):
            return Workloads([0], [2], [0], [[1]], [1]).demands()

        def served(self, levels):
            return np.array([levels.sum()])

    market = qm.Market([5], [9], Two([0], [[1]], [1]), reserves=[1])
    assert measure(market, [1], None, activities=[3]).overallocated == 0.5
