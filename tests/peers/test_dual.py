"""SciPy minimises the dual program and finds the same prices, kept credits and reserves included.

In logarithms of the prices q and of the costs per unit of utility b the dual is smooth, with linear
constraints::

    minimise   sum_j s_j exp(q_j) - sum_i B_i b_i
    subject to b_i <= q_j - log v_ij,   b_i <= -log keep_i,   q_j >= log reserve_j
"""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import qmopt as qm


def dual_prices(budgets, supplies, values, keep, reserves):
    n, m = values.shape
    rows, floors = [], []
    for i in range(n):
        for j in np.flatnonzero(values[i] > 0):
            row = np.zeros(m + n)
            row[j], row[m + i] = 1, -1
            rows.append(row)
            floors.append(np.log(values[i, j]))
        if keep[i] > 0:
            row = np.zeros(m + n)
            row[m + i] = -1
            rows.append(row)
            floors.append(np.log(keep[i]))
    for j in np.flatnonzero(reserves > 0):
        row = np.zeros(m + n)
        row[j] = 1
        rows.append(row)
        floors.append(np.log(reserves[j]))
    rows, floors = np.array(rows), np.array(floors)
    unit = budgets.sum()  # so that the dual is about 1

    def dual(point):
        return (supplies @ np.exp(point[:m]) - budgets @ point[m:]) / unit

    def slope(point):
        return np.concatenate([supplies * np.exp(point[:m]), -budgets]) / unit

    start = np.zeros(m + n)
    start[:m] = np.log(np.maximum(unit / supplies.sum(), np.maximum(reserves, 1e-9)))
    slack = rows[:, :m] @ start[:m] - floors
    for i in range(n):  # as dear as the constraints let it be
        mine = rows[:, m + i] < 0
        start[m + i] = slack[mine].min()
    found = minimize(
        dual,
        start,
        jac=slope,
        method="SLSQP",
        constraints=LinearConstraint(rows, floors, np.inf),
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return np.exp(found.x[:m])


KINDS = {"plain": (0, 0), "kept credits": (0.6, 0), "reserves": (0, 0.6), "both": (0.5, 0.5)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_has_the_same_prices(kind):
    keeping, reserved = KINDS[kind]
    rng = np.random.default_rng(sorted(KINDS).index(kind))
    kept = idle = 0
    for _ in range(25):
        n, m = rng.integers(1, 7), rng.integers(1, 5)
        budgets, supplies = rng.uniform(1, 9, n), rng.uniform(1, 5, m)
        values = rng.uniform(0.2, 2, (n, m)) * (rng.random((n, m)) < 0.8)
        values[np.arange(n), rng.integers(m, size=n)] += 0.2
        values[rng.integers(n, size=m), np.arange(m)] += 0.2
        level = budgets.sum() / supplies.sum()
        keep = rng.uniform(0.3, 2, n) / level * (rng.random(n) < keeping)
        reserves = rng.uniform(0.3, 2, m) * level * (rng.random(m) < reserved)
        market = qm.Market(
            budgets, supplies, qm.Linear(values), keep_values=keep, reserves=reserves
        )
        found = qm.clear(market, tolerance=1e-10)
        prices = dual_prices(budgets, supplies, values, keep, reserves)
        np.testing.assert_allclose(found.prices, prices, rtol=1e-4)
        kept += bool((found.unspent > 1e-6).any())
        idle += bool((found.idle > 1e-6).any())
    # so that each kind is about what it says
    assert (kept > 5) == (keeping > 0)
    assert (idle > 5) == (reserved > 0)
