"""The model as a product: what is in it, in which units, and what a row of one's own does."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate

TWO = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]))  # prices 7.5 and 2.5 by hand
SOLVERS = {
    "Clarabel": qm.Clarabel(),
    "Scs": qm.Scs(),
    "Cvxpy": qm.Cvxpy("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10),
}


def variables(market):
    return sum(variable.size for variable in qm.eisenberg_gale(market).problem.variables())


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_pairs_of_zero_value_are_never_variables(kind):
    rng = np.random.default_rng(0)
    values = rng.integers(1, 9, (30, 12)) * (rng.random((30, 12)) < 0.3)
    values[:, 0] += 1
    values[3], values[:, 5] = 0, 0  # a team without use, a good without takers
    market = qm.Market(np.ones(30), np.ones(12), qm.Linear(kind(values)))
    assert variables(market) == np.count_nonzero(values)


def test_nor_are_those_of_teams_and_goods_that_take_no_part():
    values = [[2, 1, 3], [1, 2, 3], [5, 5, 5]]
    assert variables(qm.Market([6, 24, 0], [1, 1, 0], qm.Linear(values))) == 4


def test_one_more_for_each_keeper_and_each_reserve():
    market = qm.Market(
        [6, 24, 1], [1, 1], qm.Linear([[2, 1], [1, 2], [0, 1]]), keep_values=[0, 1, 1]
    )
    assert variables(market) == 5 + 2
    reserved = qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]), reserves=[3, 0])
    assert variables(reserved) == 4 + 1


def test_inside_it_is_scaled():
    """Whatever the units outside, the numbers that a solver sees are the same."""

    def numbers(chips, credit, worth):
        values = np.array([[2, 1], [1, 2], [3, 0]]) * np.reshape(worth, (3, 1)) / chips
        market = qm.Market(
            np.multiply([6, 24, 3], credit), np.multiply([1, 2], chips), qm.Linear(values)
        )
        data, *_ = qm.eisenberg_gale(market).problem.get_problem_data(cp.CLARABEL)
        return data["A"].toarray(), data["b"], data["c"]

    plain = numbers([1, 1], 1, [1, 1, 1])
    scaled = numbers([1e9, 1e-6], 1e12, [1e-15, 1, 1e20])
    for before, after in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-12)
        assert np.abs(after).max() < 100


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_allocation_in_chips_and_prices_in_credits(solver):
    model = qm.eisenberg_gale(TWO)
    assert model.allocation.shape == (2, 2)
    model.problem.solve(solver=solver)
    np.testing.assert_allclose(model.allocation.value, [[8, 0], [0, 16]], atol=0.02)
    np.testing.assert_allclose(model.prices(), [7.5, 2.5], rtol=0.02)
    assert (model.prices() > 0).all()
    prices, units = model.point()
    np.testing.assert_array_equal(prices, model.prices())
    np.testing.assert_allclose(units, model.allocation.value, atol=1e-6)


def test_teams_and_goods_that_take_no_part_have_their_place():
    market = qm.Market(
        [5, 6, 24, 0],
        [0, 1, 4, 1],
        qm.Linear([[1, 0, 0, 0], [0, 2, 0, 1], [0, 1, 0, 2], [1, 1, 1, 1]]),
    )
    model = qm.eisenberg_gale(market)
    model.problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(model.prices(), [np.nan, 10, 0, 20], rtol=1e-3)
    expected = [[0] * 4, [0, 0.6, 0, 0], [0, 0.4, 0, 1], [0] * 4]
    np.testing.assert_allclose(model.allocation.value, expected, atol=1e-3)


def test_before_it_is_solved_there_is_nothing_to_read():
    model = qm.eisenberg_gale(TWO)
    with pytest.raises(qm.SolverFailed, match=r"solve a problem that has model\.supply"):
        model.prices()
    with pytest.raises(qm.SolverFailed, match="solve the problem first"):
        model.point()


def with_row(model, row):
    problem = cp.Problem(model.problem.objective, [*model.problem.constraints, row])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return qm.certify(model.market, *model.point(), tolerance=1e-4)


def test_a_row_that_does_not_bind_leaves_an_equilibrium():
    model = qm.eisenberg_gale(TWO)
    assert with_row(model, cp.sum(model.allocation[1]) >= 3).certified()
    assert with_row(model, model.allocation[0, 0] <= 8.5).certified()


def test_a_row_that_binds_is_measured_and_does_not_certify():
    """The first team must leave a chip; it would have paid for it."""
    model = qm.eisenberg_gale(TWO)
    certificate = with_row(model, model.allocation[1, 0] >= 1)
    np.testing.assert_allclose(model.allocation.value[:, 0], [7, 1], rtol=1e-4)
    assert not certificate.certified()
    assert certificate.worst > 0.01
    assert not with_row(model, cp.sum(model.allocation[0]) <= 6).certified()


# Solver objects, and what reaches the solver


class Asked(Exception):
    """Carries what a solver was asked."""


@pytest.mark.parametrize(
    ("solver", "name", "options"),
    [
        (
            qm.Clarabel(tolerance=1e-9, step_fraction=0.9, time_limit=7),
            "CLARABEL",
            {"tol_feas": 1e-9, "tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "max_step_fraction": 0.9}
            | {"time_limit": 7},
        ),
        (
            qm.Scs(tolerance=1e-5, max_iterations=70),
            "SCS",
            {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 70},
        ),
        (qm.Cvxpy("CLARABEL", max_iter=3), "CLARABEL", {"max_iter": 3}),
    ],
    ids=["Clarabel", "Scs", "Cvxpy"],
)
def test_options_reach_the_solver(solver, name, options, monkeypatch):
    def solve(problem, **asked):
        raise Asked(asked)

    monkeypatch.setattr(cp.Problem, "solve", solve)
    with pytest.raises(Asked) as asked:
        qm.EisenbergGale(solver).solve(TWO)
    assert asked.value.args[0] == {"solver": name, **options}


def test_options_have_an_effect():
    few = qm.EisenbergGale(qm.Cvxpy("CLARABEL", max_iter=3), crossover=False).solve(TWO)
    many = qm.EisenbergGale(qm.Clarabel(), crossover=False).solve(TWO)
    assert few.stats["iterations"] == 3 < many.stats["iterations"]
    assert few.status == "user_limit"
    assert qm.EisenbergGale(qm.Scs(max_iterations=5)).solve(TWO).stats["iterations"] == 5


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_every_solver_ends_at_the_exact_prices(solver):
    found = qm.clear(TWO, qm.EisenbergGale(solver))
    np.testing.assert_allclose(found.prices, [7.5, 2.5], rtol=1e-12)
    assert found.stats["seconds"].keys() >= {"build", "solve", "crossover", "certify"}


def test_without_crossover_you_get_the_solvers_own_numbers():
    method = qm.EisenbergGale(qm.Clarabel(tolerance=1e-6), crossover=False)
    rough = qm.clear(TWO, method, tolerance=1e-2)
    assert "pivots" not in rough.stats
    with pytest.raises(qm.NotCertified, match=r"Clarabel.*optimal") as refused:
        qm.clear(TWO, method, tolerance=1e-12)
    np.testing.assert_allclose(refused.value.outcome.prices, [7.5, 2.5], rtol=1e-2)


@pytest.mark.parametrize("name", ["GUROBI_OF_NOBODY", "clarabell", ""])
def test_a_solver_that_is_not_there(name):
    with pytest.raises(
        qm.SolverNotInstalled, match=r"not installed.*found are.*CLARABEL"
    ) as refused:
        qm.clear(TWO, qm.EisenbergGale(qm.Cvxpy(name)))
    assert isinstance(refused.value, ImportError)


def test_a_solver_of_another_kind_is_no_solver_here():
    """HiGHS has no logarithms: without crossover a failure, with it a note."""
    with pytest.raises(qm.SolverFailed, match="HIGHS"):
        qm.EisenbergGale(qm.Cvxpy("HIGHS"), crossover=False).solve(TWO)
    found = qm.clear(TWO, qm.EisenbergGale(qm.Cvxpy("HIGHS")))
    np.testing.assert_allclose(found.prices, [7.5, 2.5], rtol=1e-12)
    assert "HIGHS" in found.notes[0]


@pytest.mark.parametrize("solver", [qm.Cvxpy("CLARABEL", foo=3), qm.Cvxpy("SCS", foo=3)])
def test_an_option_that_the_solver_does_not_know(solver):
    with pytest.raises(qm.QmoptError, match="foo"):
        qm.clear(TWO, qm.EisenbergGale(solver))


BIG = generate.integer(150, 60, 1, spread=3)


@pytest.mark.parametrize("method_limit", [True, False], ids=["of the method", "of the solver"])
@pytest.mark.parametrize("solver", [qm.Clarabel, qm.Scs])
def test_a_time_limit_ends_in_a_measured_point_or_a_failure(solver, method_limit):
    if method_limit:
        method = qm.EisenbergGale(solver(), crossover=False, time_limit=1e-3)
    else:
        method = qm.EisenbergGale(solver(time_limit=1e-3), crossover=False)
    with pytest.raises((qm.NotCertified, qm.SolverFailed)) as refused:
        qm.clear(BIG, method)
    if refused.type is qm.NotCertified:
        assert not refused.value.certificate.certified()
        assert refused.value.outcome.status != "optimal"


def test_a_time_limit_is_for_solve_and_crossover_together():
    with pytest.raises(qm.NotCertified, match="ran out of time"):
        qm.clear(BIG, qm.EisenbergGale(time_limit=1e-3))


# What the program covers, and what it does not


def test_caps_are_refused_by_name_by_those_that_do_not_take_them():
    market = qm.Market(
        [1, 2], [1], qm.Linear([[1], [1]]), utility_caps=[np.inf, 1], buyers=["free", "capped"]
    )
    for method in (qm.Pivoting(), qm.ColumnGeneration(), qm.ProportionalResponse()):
        with pytest.raises(qm.MarketError, match=r"capped.*utility caps.*EisenbergGale"):
            qm.clear(market, method)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_kept_credits_by_hand(solver):
    """A kept credit is worth 1 to the first team, which has far too many.

    It pays up to 4 for a unit of good 0 and takes it all for 8; good 1 goes to the second team
    for its 5 credits. 92 credits are kept.
    """
    market = qm.Market([100, 5], [2, 5], qm.Linear([[4, 0.5], [0, 3]]), keep_values=[1, 0])
    found = qm.clear(market, qm.EisenbergGale(solver), tolerance=1e-9)
    np.testing.assert_allclose(found.prices, [4, 1], rtol=1e-12)
    np.testing.assert_allclose(found.allocation, [[2, 0], [0, 5]], rtol=1e-12)
    np.testing.assert_allclose(found.unspent, [92, 0], atol=1e-12)
    np.testing.assert_allclose(found.utilities, [100, 15], rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_reserves_by_hand(solver):
    """Eight chips at 3 each and 12 credits: four are sold, four stay. A low reserve has no say."""
    market = qm.Market([12, 4], [8, 2], qm.Linear([[1, 0], [0, 1]]), reserves=[3, 1])
    found = qm.clear(market, qm.EisenbergGale(solver), tolerance=1e-9)
    np.testing.assert_allclose(found.prices, [3, 2], rtol=1e-12)
    np.testing.assert_allclose(found.allocation, [[4, 0], [0, 2]], rtol=1e-12)
    np.testing.assert_allclose(found.idle, [4, 0], atol=1e-12)


def test_both_by_hand():
    """At the reserve of 2 a credit brings 1.5 units of value, kept 1: all 10 are spent on 5 chips.

    With kept credits worth 2 none is spent, and all chips are idle at their reserve.
    """
    for worth, bought in ((1, 5), (2, 0)):
        market = qm.Market([10], [8], qm.Linear([[3]]), keep_values=[worth], reserves=[2])
        found = qm.clear(market, tolerance=1e-9)
        assert found.prices.tolist() == [2]
        assert found.allocation.tolist() == [[bought]]
        assert found.idle.tolist() == [8 - bought]
        assert found.unspent.tolist() == [10 - 2 * bought]


def test_nothing_is_printed(capfd):
    for solver in (*SOLVERS.values(), qm.Cvxpy("HIGHS"), qm.Cvxpy("OSQP")):
        found = qm.clear(generate.market(4), qm.EisenbergGale(solver))
        qm.certify(found.market, found.prices)
        qm.price_intervals(found.market, found.prices, found.allocation)
        qm.clear(found.market, near=found.allocation)
    capped = qm.Market([60, 40], [10], qm.Linear([[1], [1]]), utility_caps=[3, 7])
    qm.price_intervals(capped, [0.0], [[3], [7]])
    assert capfd.readouterr() == ("", "")
