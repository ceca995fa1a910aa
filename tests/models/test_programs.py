"""The textbook programs agree with hand-worked prices, with each other, and in every spelling.

They are the oracles of the other tests and share no code with the package, so they are checked here
against numbers worked by hand.
"""

import importlib.util
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

PROGRAMS = Path(__file__).parents[2] / "models" / "programs"
CLOSE = 1e-4


def load(name):
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


eisenberg_gale = load("eisenberg_gale")
shmyrev = load("shmyrev")
SOLVERS = {"eisenberg_gale": eisenberg_gale.solve, "shmyrev": shmyrev.solve}

# the second team is tied on both chips, so p2 = 2 p1, and p1 + p2 = 30
TWO_CHIPS = ([6, 24], [1, 1], [[2, 1], [1, 2]], [10, 20])

# budgets, supplies, values, prices: each derived in the `about` of its file in models/markets
WORKED = {
    "two chips": TWO_CHIPS,
    "two teams": ([60, 40], [8, 16], [[4, 1], [2, 1]], [7.5, 2.5]),
    "four by five": (
        [20, 23, 54, 12],
        [1, 2, 6, 4, 3],
        [[1, 3, 5, 1, 2], [2, 5, 6, 2, 6], [6, 3, 5, 1, 4], [3, 3, 4, 2, 6]],
        [10.9, 109 / 18, 109 / 12, 109 / 45, 109 / 15],
    ),
    "mirrored tastes": ([1, 1], [1, 1, 1], [[1, 2, 3], [3, 2, 1]], [0.75, 0.5, 0.75]),
    "pari-mutuel": ([1, 1], [1, 1], [[10.85, 10.5], [0.5, 0.5]], [1, 1]),
    "two camps": ([100] * 4, [1, 1], [[1, 2], [1, 2], [2, 1], [2, 1]], [200, 200]),
}


@pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("case", WORKED)
def test_prices_worked_by_hand(case, solve):
    budgets, supplies, values, expected = WORKED[case]
    prices, allocation = solve(budgets, supplies, values)
    np.testing.assert_allclose(prices, expected, rtol=CLOSE)
    np.testing.assert_allclose(prices @ supplies, np.sum(budgets), rtol=1e-8)
    np.testing.assert_allclose(allocation.sum(axis=0), supplies, rtol=CLOSE)
    np.testing.assert_allclose(allocation @ prices, budgets, rtol=CLOSE)


@pytest.mark.parametrize("seed", range(20))
def test_the_two_programs_agree(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 8, 2)
    budgets, supplies = rng.integers(1, 100, n), rng.integers(1, 10, m)
    values = rng.integers(0, 10, (n, m))
    values[:, 0] += 1  # nobody without a use for anything
    prices, _ = eisenberg_gale.solve(budgets, supplies, values)
    again, _ = shmyrev.solve(budgets, supplies, values)
    wanted = values.any(axis=0)
    assert (prices[wanted] > 0).all()
    assert (prices[~wanted] == 0).all()
    np.testing.assert_allclose(prices, again, rtol=CLOSE)
    for found in (prices, again):
        np.testing.assert_allclose(found @ supplies, budgets.sum(), rtol=1e-8)


@pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
def test_who_and_what_takes_no_part(solve):
    """An unwanted good, an empty one, a team without a use, a team without credits."""
    budgets, supplies = [6, 24, 5, 0], [1, 1, 4, 0]
    values = [[2, 1, 0, 7], [1, 2, 0, 0], [0, 0, 0, 3], [5, 5, 0, 0]]
    prices, allocation = solve(budgets, supplies, values)
    np.testing.assert_allclose(prices, [10, 20, 0, np.nan], rtol=CLOSE)
    np.testing.assert_allclose(
        allocation, [[0.6, 0, 0, 0], [0.4, 1, 0, 0], [0] * 4, [0] * 4], atol=CLOSE
    )


# The same program in other spellings: how the supply row is written, and which way one optimises.
SPELLINGS = {
    "<= and maximise": lambda use: (cp.Maximize, use <= 1),
    "== and maximise": lambda use: (cp.Maximize, use == 1),
    "<= and minimise": lambda use: (cp.Minimize, use <= 1),
}


@pytest.mark.parametrize("factor", [1, 0.001, 1000])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_turns_the_sign_of_a_price(spelling, factor):
    budgets, supplies, values, expected = TWO_CHIPS
    written = eisenberg_gale.program(budgets, supplies, values)
    use = written.supply.args[0]
    sense, supply = SPELLINGS[spelling](use)
    utility = written.problem.objective.args[0]
    objective = sense(factor * (utility if sense is cp.Maximize else -utility))
    cp.Problem(objective, [supply]).solve(solver=cp.CLARABEL, **eisenberg_gale.ACCURACY)
    prices = supply.dual_value
    assert (prices > 0).all()
    # the objective's factor is on the duals too, until they are scaled to the budgets
    np.testing.assert_allclose(prices.sum(), factor, rtol=CLOSE)
    np.testing.assert_allclose(prices * sum(budgets) / prices.sum(), expected, rtol=CLOSE)


def test_a_supply_row_written_twice_splits_the_price():
    """No copy alone is the price; the sum of the copies' duals is."""
    budgets, supplies, values, expected = TWO_CHIPS
    written = eisenberg_gale.program(budgets, supplies, values)
    copy = written.supply.args[0][1] <= 1
    cp.Problem(written.problem.objective, [written.supply, copy]).solve(
        solver=cp.CLARABEL, **eisenberg_gale.ACCURACY
    )
    prices = sum(budgets) * (written.supply.dual_value + np.array([0, float(copy.dual_value)]))
    np.testing.assert_allclose(prices, expected, rtol=CLOSE)
    assert 0 <= sum(budgets) * float(copy.dual_value) <= expected[1] * (1 + CLOSE)


@pytest.mark.parametrize("name", SOLVERS)
def test_the_scripts_run(name, capsys):
    source = (PROGRAMS / f"{name}.py").read_text()
    exec(compile(source, name, "exec"), {"__name__": "__main__"})
    assert "[7.5 2.5]" in capsys.readouterr().out


@pytest.mark.parametrize("name", SOLVERS)
def test_the_programs_know_nothing_of_the_package(name):
    assert "qmopt" not in (PROGRAMS / f"{name}.py").read_text()
