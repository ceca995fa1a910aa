"""What people tripped over in their first hour, each with what should have happened."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import qmopt as qm

VALUES = pd.DataFrame([[4, 1], [2, 1]], index=["vision", "speech"], columns=["h100", "a100"])


def run(*arguments, cwd):
    """Run the command under test, installed or not, from a folder of the reader's."""
    return subprocess.run(
        [sys.executable, "-m", "qmopt", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(qm.__file__).parents[1])},
    )  # fmt: skip


def test_labels_are_heeded():
    """Credits and supplies in another order than the values: the labels say whose they are."""
    credit = pd.Series({"speech": 40, "vision": 60})
    market = qm.Market(credit, pd.Series({"a100": 16, "h100": 8}), qm.Linear(VALUES))
    assert market.budgets.tolist() == [60, 40]
    assert market.supplies.tolist() == [8, 16]
    prices = pd.Series({"a100": 2.5, "h100": 7.5})
    assert qm.certify(market, prices, [[8, 0], [0, 16]]).certified()
    assert market.replace(budgets=credit).budgets.tolist() == [60, 40]


def test_labels_that_are_not_the_names_are_refused():
    with pytest.raises(qm.MarketError, match=r"budgets: labels and names differ: .*'sales'"):
        qm.Market(pd.Series({"sales": 1, "vision": 2}), [8, 16], qm.Linear(VALUES))


def test_positions_are_labels_too():
    assert qm.Market(pd.Series([60, 40]), [8, 16], qm.Linear(VALUES)).budgets.tolist() == [60, 40]


def test_there_is_no_negative_zero():
    market = qm.Market([60, 40], [8, 16], qm.Linear(VALUES), keep_values=[-0.0, 0])
    assert qm.clear(market).prices.tolist() == [7.5, 2.5]


def test_a_good_that_somebody_would_pay_anything_for_has_no_choke_price():
    """The second team has 5 credits and wants only what is not there."""
    found = qm.clear(qm.Market([6, 5], [1, 0], qm.Linear([[1, 0], [0, 3]])))
    assert np.isnan(found.price_intervals[1]).all()
    assert found.excluded == {
        "1": "as a team: values only resources without supply; as a resource: no supply"
    }


def test_near_takes_an_answer():
    market = qm.Market([1, 1], [1, 1], qm.Linear([[1, 1], [1, 1]]))
    running = qm.clear(market, near=[[1, 0], [0, 1]])
    assert qm.clear(market, near=running).allocation.tolist() == [[1, 0], [0, 1]]


def test_answers_are_themselves():
    market = qm.Market([1], [1], qm.Linear([[1]]))
    one, other = qm.clear(market), qm.clear(market)
    assert one == one
    assert one != other
    assert len({one, other}) == 2
    with pytest.raises(ValueError, match="read-only"):
        one.prices[0] = 2


@pytest.mark.parametrize("given", ["q3", [1, 2], None])
def test_a_market_is_asked_for(given):
    with pytest.raises(qm.MarketError, match="a Market expected, got"):
        qm.clear(given)


@pytest.mark.parametrize("multiple", [1, 0.001, 1000])
def test_a_multiple_of_the_objective_changes_no_price(multiple):
    import cvxpy as cp

    model = qm.eisenberg_gale(qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]])))
    objective = cp.Maximize(multiple * model.problem.objective.args[0])
    cp.Problem(objective, model.problem.constraints).solve(solver="CLARABEL")
    np.testing.assert_allclose(model.prices(), [10, 20], rtol=2e-4)


def test_an_infeasible_row_has_no_prices():
    import cvxpy as cp

    model = qm.eisenberg_gale(qm.Market([60, 40], [8, 16], qm.Linear(VALUES)))
    rows = [*model.problem.constraints, model.allocation[0, 0] >= 9]
    cp.Problem(model.problem.objective, rows).solve(solver="CLARABEL")
    with pytest.raises(qm.SolverFailed, match="infeasible one has none"):
        model.prices()


def test_an_exchange_rate_that_no_double_holds():
    def market(weight, minted):
        return qm.Market.from_tables(
            resources=[{"resource": "l4", "supply": 1}],
            pools=[{"pool": "ads", "weight": weight, "minted": minted}],
            teams=[{"team": "a", "credits": 1, "pool": "ads"}],
            bids=[{"team": "a", "resource": "l4", "value": 1}],
        )

    for weight, minted in ((1e-300, 1e300), (1e300, 1e-300)):
        with pytest.raises(qm.MarketError, match="pool 'ads' has an exchange rate of"):
            market(weight, minted)


@pytest.fixture
def spreadsheets(tmp_path):
    """A market as a European spreadsheet writes it."""
    folder = tmp_path / "q3"
    folder.mkdir()
    (folder / "resources.csv").write_text("resource;supply\nh100;8\na100;16,5\n")
    (folder / "teams.csv").write_text("team;credits\nvision;1.060,5\nspeech;40\n")
    (folder / "bids.csv").write_text(
        "team;resource;value\nvision;h100;4\nvision;a100;1\nspeech;h100;2\nspeech;a100;1\n"
    )
    return tmp_path


FLAGS = ("--delimiter", ";", "--decimal", ",", "--thousands", ".")


def test_results_are_read_beside_a_spreadsheet(spreadsheets):
    """The market's files are written one way, ours another: the header tells them apart."""
    assert run("clear", "q3", *FLAGS, "--out", "result", "-q", cwd=spreadsheets).returncode == 0
    for arguments in (
        ("certify", "q3", *FLAGS, "--prices", "result/prices.csv"),
        ("certify", "q3", *FLAGS, "--prices", "result/prices.csv",
         "--allocation", "result/allocation.csv"),
        ("clear", "q3", *FLAGS, "--near", "result/allocation.csv", "-q"),
    ):  # fmt: skip
        ran = run(*arguments, cwd=spreadsheets)
        assert ran.returncode == 0, ran.stderr


def test_a_failed_run_leaves_no_certified_result(spreadsheets):
    assert run("clear", "q3", *FLAGS, "--out", "result", "-q", cwd=spreadsheets).returncode == 0
    (spreadsheets / "giving.py").write_text(
        "import qmopt as qm\n"
        "class Everything:\n"
        "    def solve(self, market):\n"
        "        return qm.Outcome(market.supplies * 0 + 1, market.utility.values * 9, 'fine')\n"
    )
    failed = run(
        "clear", "q3", *FLAGS, "--out", "result", "-q", "--method", "giving:Everything",
        cwd=spreadsheets,
    )  # fmt: skip
    assert failed.returncode == 1
    assert json.loads((spreadsheets / "result" / "result.json").read_text())["status"] == "failed"
    assert run("clear", "q3", *FLAGS, "--out", "result", "-q", cwd=spreadsheets).returncode == 0


def test_a_folder_around_a_market_points_at_it(tmp_path):
    assert run("new", "mine", cwd=tmp_path).returncode == 0
    ran = run("clear", "mine", cwd=tmp_path)
    assert ran.returncode == 2
    assert "perhaps mine/market.toml was meant" in ran.stderr


def test_a_missing_price_is_named(tmp_path):
    (tmp_path / "prices.csv").write_text("resource,price\nh100,7.5\n")
    found = qm.read_market("textbook/two-teams")
    short = [np.nan if good != found.goods[0] else 7.5 for good in found.goods]
    from qmopt.witness import witness

    assert witness(found, short, np.zeros(found.shape), "negative") == (
        f"resource {found.goods[1]} has no price"
    )


def test_help_by_its_short_name(tmp_path):
    short, long = run("clear", "-h", cwd=tmp_path), run("clear", "--help", cwd=tmp_path)
    assert short.returncode == 0
    assert "--tolerance" in short.stdout
    assert short.stdout == long.stdout


def test_messages_of_the_command_speak_of_its_options(spreadsheets):
    ran = run("clear", "q3", cwd=spreadsheets)
    assert ran.returncode == 2
    assert "declare --delimiter ';'" in ran.stderr
    assert "declare --decimal ',', --thousands '.'" in ran.stderr
