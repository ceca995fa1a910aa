"""HiGHS kept warm: signs of duals, changes against cold solves by scipy, limits, and silence."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt.highs import WarmLinearProgram


def supply_program(sign):
    """Two teams, two chips: at 5 and 10 credits per utility the chips are worth 10 and 20.

    Team 0 values the chips at (2, 1), team 1 at (1, 2), so that their units cost at most
    max(5 * 2, 10 * 1) = 10 and max(5 * 1, 10 * 2) = 20 credits.
    """
    rows = sign * np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]])
    below = (np.full(2, -np.inf), np.ones(2))
    lower, upper = below if sign > 0 else (-below[1], -below[0])
    return WarmLinearProgram(
        np.array([-10.0, -5, -10, -20]), sp.csc_array(rows), np.zeros(4), np.full(4, np.inf),
        lower, upper,
    )  # fmt: skip


def test_duals_are_the_change_of_the_least_cost():
    """Minus the price for `used <= supply`, plus the price for `-used >= -supply`: (10, 20)."""
    assert supply_program(1).solve().duals.tolist() == [-10, -20]
    assert supply_program(-1).solve().duals.tolist() == [10, 20]


def cold(cost, matrix, lower, upper, row_upper):
    bounds = np.column_stack([lower, upper])
    return linprog(cost, A_ub=matrix, b_ub=row_upper, bounds=bounds, method="highs")


@pytest.mark.parametrize("seed", range(20))
def test_changes_lead_where_a_cold_solve_leads(seed):
    """Columns, rows, costs and bounds change one after the other; scipy starts afresh each time."""
    rng = np.random.default_rng(seed)
    cost, matrix = rng.normal(size=6), rng.random((4, 6))
    lower, upper, row_upper = np.zeros(6), rng.random(6) + 0.5, rng.random(4) + 0.5
    none = np.full(4, -np.inf)
    program = WarmLinearProgram(cost, sp.csc_array(matrix), lower, upper, none, row_upper)

    def check():
        expected, found = cold(cost, matrix, lower, upper, row_upper), program.solve()
        assert found.optimal
        assert cost @ found.columns == pytest.approx(expected.fun, abs=1e-9)
        np.testing.assert_allclose(found.rows, matrix @ found.columns, atol=1e-9)
        np.testing.assert_allclose(found.duals, expected.ineqlin.marginals, atol=1e-9)

    check()
    more = rng.random((4, 3))
    program.add_columns(-np.ones(3), sp.csc_array(more), np.zeros(3), np.full(3, 0.25))
    cost, matrix = np.append(cost, -np.ones(3)), np.hstack([matrix, more])
    lower, upper = np.append(lower, np.zeros(3)), np.append(upper, np.full(3, 0.25))
    check()
    row = rng.random((1, 9))
    program.add_rows(sp.csr_array(row), np.array([-np.inf]), np.array([0.75]))
    matrix, row_upper = np.vstack([matrix, row]), np.append(row_upper, 0.75)
    check()
    which = np.array([0, 4, 8])
    cost[which] = rng.normal(size=3)
    program.change_costs(which, cost[which])
    check()
    lower[which], upper[which] = 0.01, 0.125
    program.change_bounds(which, lower[which], upper[which])
    check()


def assignment(size):
    """Cost of a random assignment: far more work than a moment."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.repeat(np.arange(size), size), size + np.tile(np.arange(size), size)])
    columns = np.tile(np.arange(size**2), 2)
    matrix = sp.csc_array((np.ones(2 * size**2), (rows, columns)))
    one = np.ones(2 * size)
    return WarmLinearProgram(
        rng.random(size**2), matrix, np.zeros(size**2), np.full(size**2, np.inf), one, one
    )


def test_time_runs_out_and_it_is_said():
    found = assignment(300).solve(time_limit=0.01)
    assert not found.optimal
    assert found.status == "Time limit reached"
    assert found.columns.shape == (90_000,)


def test_slices_of_time_go_on_where_the_last_one_stopped(monkeypatch):
    """However short the slices, the end is that of an undisturbed solve."""
    expected = assignment(60).solve()
    monkeypatch.setattr("qmopt.highs.SLICE", 0)
    monkeypatch.setattr("qmopt.highs.FEWEST", 10)
    found = assignment(60).solve()
    assert found.optimal
    assert found.columns.sum() == pytest.approx(60)
    np.testing.assert_allclose(found.columns, expected.columns, atol=1e-9)


def test_no_point_and_no_program_are_told():
    one = np.ones(1)
    infeasible = WarmLinearProgram(one, sp.csc_array([[1.0]]), one, one, 2 * one, 2 * one)
    assert not infeasible.solve().optimal
    with pytest.raises(qm.SolverFailed, match="the program"):
        WarmLinearProgram(np.array([np.nan]), sp.csc_array([[1.0]]), one, one, one, one)
    program = WarmLinearProgram(one, sp.csc_array([[1.0]]), one, one, one, one)
    with pytest.raises(qm.SolverFailed, match="new columns"):
        program.add_columns(one, sp.csc_array([[np.nan]]), one, one)
    with pytest.raises(qm.SolverFailed, match="new rows"):
        program.add_rows(sp.csr_array([[np.inf]]), one, one)
    with pytest.raises(qm.SolverFailed, match="new costs"):
        program.change_costs(np.array([0]), np.array([np.inf]))
    with pytest.raises(qm.SolverFailed, match="new bounds"):
        program.change_bounds(np.array([0]), np.array([np.nan]), one)


def test_without_highspy(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(qm.SolverNotInstalled, match="pip install highspy"):
        supply_program(1)


@pytest.mark.parametrize("redirect", ["", ">&-"], ids=["open", "closed"])
def test_nothing_on_standard_output(redirect):
    """HiGHS prints a banner when it is constructed; C may hold it back until the process ends."""
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; import qmopt as qm; from qmopt import generate; "
        "qm.LinearProgramming().solve(generate.uniform(30, 10))"
    )
    ran = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {redirect}', sys.executable, code],
        capture_output=True, check=True,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_another_program_in_the_process_may_have_its_own_threads():
    """HiGHS has one pool of threads for all, and fails where it is asked for another number."""
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
import highspy, qmopt as qm
other = highspy.Highs()
other.setOptionValue("output_flag", False)
other.setOptionValue("threads", 2)
other.addVar(0, 1)
other.run()
market = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]))
assert qm.LinearProgramming(crossover=False).solve(market).status == "optimal"
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_an_interrupt_is_heard_inside_a_solve():
    """A solve that would take minutes ends when it is asked to."""
    code = f"""
import signal, sys; sys.path[:0] = {[*sys.path, str(Path(__file__).parent)]!r}
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs of a shell
from test_highs import assignment
program = assignment(800)
print("ready", flush=True)
program.solve()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert b"KeyboardInterrupt" in errors
