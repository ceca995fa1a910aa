"""The textbook program of CES and Cobb-Douglas markets: by hand, and as an oracle for ours."""

import numpy as np
import pytest

import qmopt as qm
from tests.models.test_programs import load

solve = load("ces").solve
SYMMETRIC = [[1, 2], [1, 2], [2, 1], [2, 1]]

# budgets, supplies, weights, power, prices
WORKED = {
    # 400 credits, and two goods that are alike but for their numbers
    "two camps, substitutes": ([100] * 4, [1, 1], SYMMETRIC, 0.5, [200, 200]),
    "two camps, complements": ([100] * 4, [1, 1], SYMMETRIC, -1, [200, 200]),
    "two camps, Cobb-Douglas": ([100] * 4, [1, 1], SYMMETRIC, 0, [200, 200]),
    # 60/2 + 40/4 credits for 8 units, 60/2 + 120/4 for 20
    "shares": ([60, 40], [8, 20], [[1, 1], [1, 3]], 0, [5, 3]),
    # prices as the inverse squares of supplies, 4 credits for two units and one
    "complements": ([3, 1], [2, 1], [[1, 1], [1, 1]], -1, [2 / 3, 8 / 3]),
    # substitutes with rho = 1/2: as the inverse roots, so p = c/2, c for 4 units and 1: 3 c = 6
    "substitutes": ([5, 1], [4, 1], [[1, 1], [1, 1]], 0.5, [1, 2]),
}


@pytest.mark.parametrize("case", WORKED)
def test_prices_worked_by_hand(case):
    budgets, supplies, weights, rho, expected = WORKED[case]
    prices, allocation = solve(budgets, supplies, weights, rho)
    np.testing.assert_allclose(prices, expected, rtol=1e-4)
    np.testing.assert_allclose(allocation @ prices, budgets, rtol=1e-4)
    utility = qm.CES(weights, rho) if rho else qm.CobbDouglas(weights)
    found = qm.clear(qm.Market(budgets, supplies, utility), tolerance=1e-12)
    np.testing.assert_allclose(found.prices, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["mixed", "cobb-douglas"])
def test_newton_finds_the_prices_of_the_textbook(kind):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(1, 6), rng.integers(1, 6)
        weights = np.where(rng.random((n, m)) < 0.7, 10 ** rng.uniform(-1, 1, (n, m)), 0)
        weights[np.arange(n), rng.integers(0, m, n)] = 1
        budgets, supplies = 10 ** rng.uniform(-1, 1, n), 10 ** rng.uniform(-1, 1, m)
        rho = rng.choice([-3, -1, -0.2, 0.3, 0.8], n) if kind == "mixed" else np.zeros(n)
        utility = qm.CES(weights, rho) if kind == "mixed" else qm.CobbDouglas(weights)
        found = qm.clear(qm.Market(budgets, supplies, utility), qm.Newton(), tolerance=1e-11)
        prices, allocation = solve(budgets, supplies, weights, rho)
        worth = budgets.sum() / supplies
        np.testing.assert_allclose(prices / worth, found.prices / worth, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(allocation @ prices, budgets, rtol=1e-4)
