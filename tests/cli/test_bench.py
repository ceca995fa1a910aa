"""qmopt bench: what it prints, what it writes, and how it takes methods of one's own."""

import json

import pandas as pd
import pytest

from qmopt.bench import SUITES, peers

OWN = """
import qmopt as qm

class Equal:
    '''Everybody gets an equal part of everything, at equal prices.'''

    def solve(self, market):
        units = market.supplies / market.n + 0 * market.utility.values
        prices = market.budgets.sum() / market.supplies.sum() + 0 * market.supplies
        return qm.Outcome(prices, units, 'fair')

class Broken:
    def solve(self, market):
        raise RuntimeError('no idea')
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a module of somebody's methods, to be in."""
    (tmp_path / "their_methods.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_table_for_each_market(run):
    result = run("bench", "textbook/two-teams", "edge/pools", "--method", "pivoting", "--repeat", 1)
    assert result.exit_code == 0
    assert "textbook/two-teams: 2 x 2" in result.stdout
    assert "edge/pools: 4 x 2" in result.stdout
    assert "pivoting" in result.stdout
    assert "certified" in result.stdout
    assert "cores" in result.stdout


def test_the_list_names_every_suite_and_peer(run):
    result = run("bench", "--list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in [*SUITES, *peers(), "pivoting"])


def test_json_is_one_document_of_finite_numbers(run, market):
    result = run(
        "bench", market, "--json", "--repeat", 1, "--method", "pivoting", "--method", "kelley"
    )
    document = json.loads(result.stdout, parse_constant=pytest.fail)
    assert [row["method"] for row in document["rows"]] == ["pivoting", "kelley"]
    assert document["rows"][0]["status"] == "certified"
    assert document["options"]["repeat"] == 1
    assert document["machine"]
    assert document["versions"]


def test_a_method_of_ones_own_and_one_that_fails(run, own):
    result = run(
        "bench", "textbook/two-teams", "--repeat", 1, "--json",
        "--method", "their_methods:Equal", "--method", "their_methods:Broken",
    )  # fmt: skip
    assert result.exit_code == 0
    equal, broken = json.loads(result.stdout)["rows"]
    assert (equal["status"], equal["claimed"]) == ("not certified", "fair")
    assert equal["worst"] > 0.1
    assert (broken["status"], broken["error"]) == ("failed", "RuntimeError: no idea")


def test_failures_are_told_below_the_table(run, own):
    result = run("bench", "textbook/two-teams", "--repeat", 1, "--method", "their_methods:Broken")
    assert "their_methods:Broken: RuntimeError: no idea" in result.stdout


def test_peers_stand_beside_ours(run):
    result = run("bench", "textbook/two-teams", "--peers", "--repeat", 1, "--json")
    methods = [row["method"] for row in json.loads(result.stdout)["rows"]]
    assert set(peers()) < set(methods)
    assert {"pivoting", "interior-point", "eisenberg-gale"} < set(methods)
    assert len(methods) == len(set(methods))


def test_out_writes_results_and_plots(run, tmp_path):
    folder = tmp_path / "compared"
    result = run("bench", "textbook/two-teams", "--method", "pivoting", "--out", folder)
    assert {path.name for path in folder.iterdir()} == {
        "results.json", "results.csv", "profile.png", "size.png", "gap.png",
    }  # fmt: skip
    assert "written: " in result.stdout
    assert pd.read_csv(folder / "results.csv")["method"].tolist() == ["pivoting"]
    assert "qmopt" in json.loads((folder / "results.json").read_text())["options"]["command"]


def test_without_matplotlib_the_results_are_written_all_the_same(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    folder = tmp_path / "compared"
    result = run("bench", "textbook/two-teams", "--method", "pivoting", "--out", folder)
    assert result.exit_code == 0
    assert "pip install 'qmopt[plot]'" in result.stderr
    assert {path.name for path in folder.iterdir()} == {"results.json", "results.csv"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["squares:huge"], "no suite"),
        (["no/such/market"], "no/such/market"),
        (["models", "--method", "nonsense"], "nonsense"),
        (["models", "--time-limit", "0"], "--time-limit"),
        (["models", "--repeat", "0"], "--repeat"),
    ],
)
def test_bad_input_ends_with_2_and_a_message(run, arguments, words):
    result = run("bench", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_folder_of_somebody_else_is_refused_before_anything_runs(run, tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    result = run("bench", "squares", "--peers", "--out", tmp_path)
    assert result.exit_code == 2
    assert (tmp_path / "results.csv").read_text() == "mine"


def test_quiet_prints_nothing(run):
    result = run("bench", "textbook/two-teams", "--method", "pivoting", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_help_teaches(run):
    assert "Example: qmopt bench" in run("bench", "--help").stdout


def test_an_interrupt_leaves_what_was_measured(run, tmp_path, monkeypatch):
    from qmopt.bench import compare

    real, calls = compare.run, []

    def run_until_interrupted(method, case, **options):
        calls.append(options["label"])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(method, case, **options)

    monkeypatch.setattr(compare, "run", run_until_interrupted)
    folder = tmp_path / "compared"
    result = run("bench", "textbook/two-teams", "--peers", "--repeat", 1, "--out", folder)
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert len(json.loads((folder / "results.json").read_text())["rows"]) == 1
