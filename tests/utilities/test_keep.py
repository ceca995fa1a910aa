"""Kept credits and caps around a family, against linear programs with money as one more good."""

from math import inf, log

import numpy as np
import pytest
from scipy.optimize import linprog

from qmopt.utilities import Linear, keep

SEEDS = range(300)


def draw(seed):
    """One buyer: values, prices, budget, worth of a kept credit, cap, and a bundle."""
    rng = np.random.default_rng(seed)
    m = rng.integers(1, 5)
    values = np.where(rng.random(m) < 0.8, rng.uniform(0.1, 5, m), 0)
    values[0] = 2
    prices = rng.uniform(0.1, 5, m)
    worth = 0 if rng.random() < 0.4 else rng.uniform(0.05, 3)
    cap = inf if rng.random() < 0.4 else rng.uniform(0.5, 20)
    units = np.where(rng.random(m) < 0.6, rng.uniform(0, 3, m), 0)
    return values, prices, rng.uniform(0.5, 10), worth, cap, units


def whole(values, prices, worth):
    return keep.unit_cost(Linear([values]), prices, np.array([worth]))


def best_by_program(values, prices, budget, worth, cap):
    """Most of u <= values @ x + worth * kept, u <= cap, with prices @ x + kept <= budget."""
    m = len(values)
    found = linprog(
        np.append(np.zeros(m + 1), -1),
        A_ub=[[*-values, -worth, 1], [*prices, 1, 0]],
        b_ub=[0, budget],
        bounds=[(0, None)] * (m + 1) + [(None, None if cap == inf else cap)],
    )
    return -found.fun


def cost_by_program(values, prices, worth, level):
    """Least of what is spent or kept for a level of whole utility."""
    found = linprog([*prices, 1], A_ub=[[*-values, -worth]], b_ub=[-level], bounds=(0, None))
    return found.fun


@pytest.mark.parametrize("seed", SEEDS)
def test_best_value_unit_cost_and_conjugate(seed):
    values, prices, budget, worth, cap, _ = draw(seed)
    cost = whole(values, prices, worth)
    budgets, caps = np.array([budget]), np.array([cap])
    assert cost == pytest.approx(cost_by_program(values, prices, worth, 1.0), rel=1e-7)
    best = keep.best_value(cost, budgets, caps)
    assert best == pytest.approx(best_by_program(values, prices, budget, worth, cap), rel=1e-7)
    # B log u - cost(u) over 0 < u <= cap: largest at the best value, on a grid and in fact
    unit = cost_by_program(values, prices, worth, 1.0)
    levels = min(cap, budget / unit) * np.concatenate([np.linspace(0.01, 1, 100), [2, 5, 10]])
    levels = np.minimum(levels, cap)
    objective = budget * np.log(levels) - unit * levels
    found = keep.conjugate(cost, budgets, caps)
    assert found == pytest.approx(objective.max(), abs=1e-6 * budget)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_counts_of_the_kept_credits(seed):
    """The least that fills up to the utility: no more would help, any less would hurt."""
    values, prices, budget, worth, cap, units = draw(seed)
    value, spend = values @ units, prices @ units
    one = np.ones(1)
    utility, kept, counted = keep.enjoyed(
        value * one, spend * one, budget * one, worth * one, cap * one
    )
    assert kept == max(budget - spend, 0)
    assert utility == min(cap, value + worth * max(budget - spend, 0))
    assert 0 <= counted <= kept
    if worth == 0 or value >= cap:
        assert counted == 0
    else:
        assert value + worth * counted == pytest.approx(utility, rel=1e-12)


def test_by_hand():
    """Values 4 and 2 at prices 2 and 3: a unit of value costs 1/2, or 1/4 kept at a worth of 4."""
    linear, prices = Linear([[4, 2]] * 3), np.array([2.0, 3])
    cost = keep.unit_cost(linear, prices, np.array([0, 4, 1]))
    assert cost.tolist() == [0.5, 0.25, 0.5]
    budgets, caps = np.full(3, 3.0), np.array([inf, 8, 6])
    assert keep.best_value(cost, budgets, caps).tolist() == [6, 8, 6]
    np.testing.assert_allclose(
        keep.conjugate(cost, budgets, caps), [3 * log(6) - 3, 3 * log(8) - 2, 3 * log(6) - 3]
    )


def test_nothing_on_sale_and_nothing_to_pay():
    linear = Linear([[1, 0]])
    nothing = np.zeros(1)
    assert keep.unit_cost(linear, np.array([inf, 1]), nothing).tolist() == [inf]
    assert keep.unit_cost(linear, np.array([inf, 1]), np.array([0.5])).tolist() == [2]
    free = keep.unit_cost(linear, np.array([0.0, 1]), nothing)
    assert free.tolist() == [0]
    assert keep.best_value(free, np.ones(1), np.array([inf])).tolist() == [inf]
    assert keep.best_value(free, np.ones(1), np.array([7.0])).tolist() == [7]
    assert keep.best_value(free, nothing, np.array([inf])).tolist() == [0]
    assert keep.conjugate(free, np.ones(1), np.array([inf])).tolist() == [inf]
    np.testing.assert_allclose(keep.conjugate(free, np.ones(1), np.array([7.0])), [log(7)])
