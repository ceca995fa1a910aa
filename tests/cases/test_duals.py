"""Prices are duals: their sign, their scale, and what happens when a row stands twice.

The market is worked by hand (see ``test_no_part.py``): prices 10 and 20.
"""

import cvxpy as cp
import numpy as np
import pytest

import qmopt as qm

BASE = ([6, 24], [1, 1], [[2, 1], [1, 2]])
ACCURATE = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
SOLVERS = {
    "Clarabel": qm.Clarabel(),
    "Clarabel, rough": qm.Clarabel(tolerance=1e-6),
    "Scs": qm.Scs(),
    "by CVXPY's name": qm.Cvxpy("CLARABEL"),
}


def market(factor=1.0):
    budgets, supplies, values = BASE
    return qm.Market(np.multiply(factor, budgets), supplies, qm.Linear(values))


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_every_solver_leads_to_the_same_positive_prices(solver):
    found = qm.clear(market(), qm.EisenbergGale(solver))
    np.testing.assert_allclose(found.prices, [10, 20], rtol=1e-12)
    np.testing.assert_allclose(found.allocation, [[0.6, 0], [0.4, 1]], atol=1e-12)
    np.testing.assert_allclose(found.utilities, [1.2, 2.4], rtol=1e-12)
    assert found.prices @ found.market.supplies == pytest.approx(30, rel=1e-12)
    assert found.unspent.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_solvers_own_prices_have_the_right_sign(solver):
    """Without crossover, rough; never negative, and all credits are in them."""
    outcome = qm.EisenbergGale(solver, crossover=False).solve(market())
    assert (outcome.prices > 0).all()
    np.testing.assert_allclose(outcome.prices, [10, 20], rtol=1e-3)
    np.testing.assert_allclose(outcome.prices.sum(), 30, rtol=1e-4)


def spellings(model):
    """The program in other spellings, each with the factor between its duals and the prices."""
    objective, used = model.problem.objective.args[0], model.supply.args[0]
    return {
        "<= and maximise": cp.Problem(cp.Maximize(objective), [model.supply]),
        "<= and minimise": cp.Problem(cp.Minimize(-objective), [model.supply]),
        "== and maximise": cp.Problem(cp.Maximize(objective), [used == 1]),
    }


@pytest.mark.parametrize("spelling", ["<= and maximise", "<= and minimise", "== and maximise"])
def test_spellings_of_the_model(spelling):
    model = qm.eisenberg_gale(market())
    problem = spellings(model)[spelling]
    problem.solve(solver=cp.CLARABEL, **ACCURATE)
    if problem.constraints[0] is model.supply:
        np.testing.assert_allclose(model.prices(), [10, 20], rtol=1e-4)
    else:  # the model reads its own row only, and says so when it has no dual
        with pytest.raises(qm.SolverFailed, match=r"solve a problem that has model\.supply"):
            model.prices()
        # inside a credit is an average budget, and goods are shares of their supply
        np.testing.assert_allclose(problem.constraints[0].dual_value * 15, [10, 20], rtol=1e-4)


@pytest.mark.parametrize("row", [0, 1])
def test_a_supply_row_written_twice(row):
    """The copies share the price: what the model reads alone is caught by the certificate."""
    model = qm.eisenberg_gale(market())
    copy = cp.sum(model.allocation[:, row]) <= 1
    problem = cp.Problem(model.problem.objective, [*model.problem.constraints, copy])
    problem.solve(solver=cp.CLARABEL, **ACCURATE)
    prices, allocation = model.point()
    on_the_copy = float(copy.dual_value) * 15  # the objective is in average budgets
    np.testing.assert_allclose(prices[row] + on_the_copy, [10, 20][row], rtol=1e-4)
    assert on_the_copy > 1e-3  # so that there is something to be caught
    certificate = qm.certify(model.market, prices, allocation, tolerance=1e-4)
    assert not certificate.certified()
    mended = prices.copy()
    mended[row] += on_the_copy
    assert qm.certify(model.market, mended, allocation, tolerance=1e-4).certified()


@pytest.mark.parametrize("factor", [0.001, 1000.0])
def test_a_factor_on_the_objective_is_not_a_price_level(factor):
    """The duals are multiples of the prices, and the model tells by which."""
    model = qm.eisenberg_gale(market())
    objective = cp.Maximize(factor * model.problem.objective.args[0])
    cp.Problem(objective, model.problem.constraints).solve(solver=cp.CLARABEL)
    prices, allocation = model.point()
    np.testing.assert_allclose(
        model.supply.dual_value * 15, np.multiply(factor, [10, 20]), rtol=1e-2
    )
    np.testing.assert_allclose(prices, [10, 20], rtol=2e-4)
    assert qm.certify(model.market, prices, allocation, tolerance=1e-3).certified()


class Altered:
    """A method that changes the program before it is solved, then crosses over as usual."""

    def __init__(self, change):
        self.change = change

    def solve(self, market):
        change = self.change

        class Solver(qm.Clarabel):
            def solve(self, problem):
                return super().solve(change(problem))

        return qm.EisenbergGale(Solver()).solve(market)


@pytest.mark.parametrize("factor", [0.001, 1.0, 1000.0])
def test_the_crossover_needs_no_scale(factor):
    """Only shares are read off the solver's point: a weight on the objective has no effect."""
    method = Altered(
        lambda problem: cp.Problem(
            cp.Maximize(factor * problem.objective.args[0]), problem.constraints
        )
    )
    np.testing.assert_allclose(qm.clear(market(), method).prices, [10, 20], rtol=1e-12)


def test_the_crossover_needs_no_duals_of_one_row():
    def doubled(problem):
        (supply,) = problem.constraints
        return cp.Problem(problem.objective, [supply, supply.args[0][1] <= 1])

    np.testing.assert_allclose(qm.clear(market(), Altered(doubled)).prices, [10, 20], rtol=1e-12)


@pytest.mark.parametrize("factor", [1e-6, 0.001, 1000.0, 1e6])
def test_prices_are_in_the_currency_of_the_budgets(factor):
    found = qm.clear(market(factor))
    np.testing.assert_allclose(found.prices, np.multiply(factor, [10, 20]), rtol=1e-12)


def test_a_resource_that_stands_twice_in_the_tables_is_refused():
    with pytest.raises(qm.TableError, match=r"resources\[2\].*l4@west.* there twice"):
        qm.Market.from_tables(
            resources={"resource": ["h100@east", "l4@west", "l4@west"], "supply": [1, 1, 1]},
            teams={"team": ["t1"], "credits": [6]},
            bids={"team": ["t1"], "resource": ["l4@west"], "value": [1]},
        )


def test_a_good_that_stands_twice_is_refused():
    with pytest.raises(qm.MarketError, match=r"goods\[1\]: 'l4' stands twice"):
        qm.Market([1], [1, 1], qm.Linear([[1, 1]]), goods=["l4", "l4"])
