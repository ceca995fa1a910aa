"""qmopt clear: answers on standard output, everything else on standard error, and exit codes."""

import json
import subprocess
import sys

import pytest

import qmopt as qm
from tests.shipped import CLEARED

STAND_IN = """
import atexit
import ctypes
import os
import numpy as np
from qmopt.methods import Outcome

RIGHT = (np.array([7.5, 2.5]), np.array([[8.0, 0.0], [0.0, 16.0]]))

def told(point):
    return Outcome(prices=point[0], allocation=point[1], status="optimal")

class Noisy:
    def solve(self, market, start=None):
        os.write(1, b"BANNER by descriptor\\n")
        print("BANNER by print")
        libc = ctypes.CDLL(None)
        libc.printf(b"BANNER by the C library\\n")
        atexit.register(os.write, 1, b"BANNER at exit\\n")
        return told(RIGHT)

class Liar:
    def solve(self, market, start=None):
        return told((RIGHT[0] * 2, RIGHT[1]))

class Broken:
    def solve(self, market, start=None):
        return 1 / 0

class Interrupted:
    def solve(self, market, start=None):
        raise KeyboardInterrupt
"""


@pytest.fixture
def stand_in(tmp_path):
    (tmp_path / "stand_in.py").write_text(STAND_IN)


def test_tables_for_people(run, market):
    result = run("clear", market)
    assert result.exit_code == 0
    for word in ("h100", "a100", "vision", "speech", "7.5", "2.5", "certified", "regret"):
        assert word in result.stdout


def test_json_is_one_document(run, market):
    result = run("clear", market, "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["status"] == "certified"
    assert document["prices"] == pytest.approx({"h100": 7.5, "a100": 2.5})


@pytest.mark.parametrize("name", CLEARED)
def test_every_shipped_market_is_shown(run, name):
    market = qm.read_market(name)
    shown = run("clear", name).stdout
    assert all(word in shown for word in (*market.buyers, *market.goods))
    assert ("excluded:" in shown) == bool(market.excluded)
    assert ("guaranteed" in shown) == (market.guarantees is not None)


def test_pools_show_both_currencies(run):
    shown = run("clear", "edge/pools").stdout
    assert all(f"{word} own" in shown for word in ("budget", "spend", "unspent"))
    assert "own  " not in run("clear", "textbook/two-teams").stdout


def test_many_rows_are_counted(run, tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(
        '[[resources]]\nresource = "h100"\nsupply = 100\n'
        + "".join(f'[[teams]]\nteam = "t{k}"\ncredits = 1\n' for k in range(100))
        + "".join(f'[[bids]]\nteam="t{k}"\nresource="h100"\nvalue=1\n' for k in range(100))
    )
    shown = run("clear", path).stdout
    assert shown.count("... and 60 more rows") == 2
    assert "t39" in shown
    assert "t40" not in shown


def test_quiet_prints_nothing(run, market):
    result = run("clear", market, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("solver", ["clarabel", "scs", "Clarabel"])
def test_solver_by_name(run, market, solver):
    result = run("clear", market, "--solver", solver, "--time-limit", 60, "--json")
    assert json.loads(result.stdout)["prices"] == pytest.approx({"h100": 7.5, "a100": 2.5})


def test_a_solver_that_is_not_there_fails_with_one_message(run, market):
    result = run("clear", market, "--solver", "oracle")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "ORACLE" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--method", "simplex"),
        ("--method", "nowhere.at_all:Method"),
        ("--method", "json:NotThere"),
        ("--method", "json:dumps"),
        ("--method", "stand_in:Noisy", "--solver", "scs"),
        ("--method", "stand_in:Noisy", "--time-limit", "5"),
        ("--solver", "ecos", "--time-limit", "5"),
        ("--time-limit", "0"),
        ("--time-limit", "nan"),
        ("--tolerance", "-1"),
        ("--tolerance", "nan"),
        ("--tolerance", "2"),
        ("--near", "no-such.csv"),
        ("no-second-path",),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("stand_in")
def test_a_mistyped_option_is_bad_input(run, market, monkeypatch, arguments):
    monkeypatch.chdir(market.parent)
    result = run("clear", market, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("credits = 60", "credits = -60", ("teams[0].credits", "-60")),
        ("credits = 60", "credits = nan", ("teams[0].credits",)),
        ('team = "speech"\nresource = "a100"', 'team = "speech"\nresource = "b200"', ("b200",)),
        ("[[teams]]", "[[teams]", ("market.toml",)),
    ],
)
def test_bad_tables_name_the_place(run, market, old, new, words):
    market.write_text(market.read_text().replace(old, new, 1))
    result = run("clear", market)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert all(word in result.stderr for word in words)


def test_a_path_that_is_not_there(run, tmp_path):
    result = run("clear", tmp_path / "no-such.toml")
    assert result.exit_code == 2
    assert "no-such.toml" in result.stderr


def test_bad_input_with_json_is_one_document_too(run, market):
    market.write_text(market.read_text().replace("credits = 60", "credits = -60"))
    result = run("clear", market, "--json")
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert document["status"] == "failed"
    assert document["error"]["kind"] == "TableError"


@pytest.mark.usefixtures("stand_in")
def test_no_banner_reaches_standard_output(process, market):
    result = process("clear", market, "--method", "stand_in:Noisy", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["status"] == "certified"
    for how in ("descriptor", "print", "the C library"):
        assert f"BANNER by {how}" in result.stderr
    assert "BANNER at exit" in result.stderr


@pytest.mark.usefixtures("stand_in")
def test_an_answer_that_does_not_certify_is_a_failure(process, market):
    result = process("clear", market, "--method", "stand_in:Liar", "--json")
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert document["error"]["kind"] == "NotCertified"
    assert document["certificate"]["overspend"] == pytest.approx(1)
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("stand_in")
def test_an_interrupt_is_quiet(process, market):
    result = process("clear", market, "--method", "stand_in:Interrupted")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_names_print_as_they_are(process, market):
    long = "a-team-with-quite-a-long-name-" * 5
    text = market.read_text().replace("vision", long).replace("speech", "[red]:smile: x")
    market.write_text(text.replace('"h100"', '"h100\\u0020[/]"'))
    result = process("clear", market)
    assert result.returncode == 0, result.stderr
    assert "[red]:smile: x" in result.stdout
    assert "h100 [/]" in result.stdout
    assert long in result.stdout
    assert "\x1b" not in result.stdout


def test_near_an_allocation_that_runs(run, tmp_path):
    """Equal teams and chips: every division is an equilibrium, so the running one stays."""
    path = tmp_path / "tie.toml"
    path.write_text(
        "".join(f'[[resources]]\nresource = "{r}"\nsupply = 6\n' for r in "xy")
        + "".join(f'[[teams]]\nteam = "{t}"\ncredits = 1\n' for t in "ab")
        + "".join(f'[[bids]]\nteam="{t}"\nresource="{r}"\nvalue=1\n' for t in "ab" for r in "xy")
    )
    running = tmp_path / "running.csv"
    running.write_text("team,resource,units\na,x,6\nb,y,6\n")
    held = json.loads(run("clear", path, "--near", running, "--json").stdout)["allocation"]
    assert {(h["team"], h["resource"]): h["units"] for h in held} == {
        ("a", "x"): pytest.approx(6),
        ("b", "y"): pytest.approx(6),
    }


def test_numbers_as_a_spreadsheet_writes_them(run, tmp_path):
    (tmp_path / "resources.csv").write_text("resource;supply\nh100;1.000,5\n")
    (tmp_path / "teams.csv").write_text("team;credits\nvision;2.001,0\n")
    (tmp_path / "bids.csv").write_text("team;resource;value\nvision;h100;1,25\n")
    options = ("--delimiter", ";", "--decimal", ",", "--thousands", ".")
    result = run("clear", tmp_path, *options, "--json")
    assert json.loads(result.stdout)["prices"] == {"h100": pytest.approx(2)}


def test_whoever_closes_standard_output_wants_the_exit_code_only(market):
    shell = f"exec {sys.executable} -m qmopt clear {market} >&-"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_encoding_that_lacks_a_letter_is_no_reason_to_fail(process, market, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    market.write_text(market.read_text().replace("vision", "vidéo"), encoding="utf-8")
    done = process("clear", market)
    assert done.returncode == 0
    assert r"vid\xe9o" in done.stdout
