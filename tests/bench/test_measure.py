"""What one run measures, and that whatever a method does is a row."""

import os
import sys
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.bench import bench, process
from qmopt.bench.row import Row
from tests.bench import stand_ins


def only(table):
    [row] = table.to_dict("records")
    return row


def test_a_row_says_it_all(market):
    row = only(bench(qm.Pivoting(), market, repeat=2))
    assert (row["market"], row["buyers"], row["goods"], row["pairs"]) == (
        "one for each",
        20,
        20,
        20,
    )
    assert (row["method"], row["status"], row["claimed"]) == ("Pivoting", "certified", "optimal")
    assert row["settings"].startswith("Pivoting(")
    assert 0 < row["seconds"] <= row["median"]
    assert row["runs"] == 2
    assert row["passes"] >= 1
    assert row["worst"] <= 1e-12
    assert row["price_error"] <= 1e-12
    assert row["reference"]
    assert row["source"] == "measured"
    for package in ("qmopt", "numpy", "scipy", "python"):
        assert package in row["versions"]
    assert "cores" in row["machine"]


@pytest.mark.parametrize(
    ("method", "status", "words"),
    [
        (stand_ins.Raises(), "failed", "ZeroDivisionError: so much for that"),
        (stand_ins.Dies(), "failed", "process ended"),
        (stand_ins.Mumbles(), "failed", "Outcome(prices, allocation, status) expected"),
        (stand_ins.WrongShape(), "not covered", "prices"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_failure_is_a_row(market, method, status, words):
    row = only(bench(method, market, repeat=1))
    assert row["status"] == status
    assert words in row["error"]


def test_a_method_without_end_is_ended(market, impatient):
    row = only(bench(stand_ins.NeverEnds(), market, time_limit=0.2))
    assert (row["status"], row["error"]) == ("time limit", "ended while it ran")
    assert np.isnan(row["worst"])


def test_a_method_hears_of_the_time_limit(market):
    assert only(bench(stand_ins.HearsOfTheLimit(), market, time_limit=7))["claimed"] == "within 7 s"
    told = stand_ins.HearsOfTheLimit(time_limit=3)
    assert only(bench(told, market, time_limit=7))["claimed"] == "within 3 s"


def test_numbers_that_are_none_are_infinitely_wrong(market):
    row = only(bench(stand_ins.Boasts(), market, repeat=1))
    assert (row["status"], row["claimed"]) == ("not certified", "optimal")
    assert row["worst"] == np.inf
    assert pd.isna(row["iterations"])


def test_the_others_run_all_the_same(market):
    table = bench([stand_ins.Dies(), qm.Pivoting()], [market, market], repeat=1)
    assert table["status"].tolist() == ["failed", "certified"] * 2


def test_memory_is_that_of_the_run_alone(market):
    """64 MiB and 8 MiB, whatever this process and the other run hold."""
    ballast = np.ones(2**24)
    table = bench({"64": stand_ins.Hungry(64), "8": stand_ins.Hungry(8)}, market, repeat=1)
    large, small = table["peak_mib"]
    if sys.platform == "linux":
        assert 63 < large < 72
        assert 7 < small < 16
    assert ballast.all()


def test_what_a_method_starts_is_ended_with_it(market, tmp_path):
    told = tmp_path / "child"
    row = only(bench(stand_ins.Starts(str(told)), market, repeat=1))
    assert row["runs"] == 1
    child = int(told.read_text("ascii"))
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if "Z" in status_of(child):  # ended, and nobody has asked for it yet
            return
        time.sleep(0.05)
    raise AssertionError("still there")


def status_of(process):
    with open(f"/proc/{process}/stat", encoding="ascii") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0]


def test_a_fresh_process_does_where_forking_does_not(market, monkeypatch):
    monkeypatch.setattr(process, "_start_method", lambda: "spawn")
    assert only(bench(qm.Pivoting(), market, repeat=1))["status"] == "certified"


def test_nothing_a_method_prints_comes_out(market, capfd):
    class Loud:
        def solve(self, market):
            print("here")
            os.write(1, b"and here")
            return stand_ins.given(market)

    bench(Loud(), market, repeat=1)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("kind", ["float32", "sparse", "own"])
def test_any_kind_of_values(kind):
    values = np.random.default_rng(0).random((9, 4)) + 0.1
    utility = {
        "float32": lambda: qm.Linear(values.astype(np.float32)),
        "sparse": lambda: qm.Linear(sp.csr_array(values)),
        "own": lambda: Mix(values),
    }[kind]()
    market = qm.Market(np.ones(9), np.ones(4), utility)
    row = only(bench(qm.EisenbergGale(), market, repeat=1, tolerance=1e-4))
    assert row["status"] == "certified"
    assert row["reference"]  # of fixed mixes, the answer itself is right to the last bits


class Mix(qm.Utility):
    """The least of all units over what a job needs of them."""

    def __init__(self, mix):
        self.mix = mix

    @property
    def shape(self):
        return self.mix.shape

    def value(self, allocation):
        held = allocation.toarray() if sp.issparse(allocation) else allocation
        return (held / self.mix).min(axis=1)

    def activities(self):
        from qmopt.utilities import Activities

        n = len(self.mix)
        return Activities(np.arange(n), sp.csr_array(self.mix), np.ones(n))

    def levels(self, allocation):
        return self.value(allocation)

    def take(self, buyers, goods):
        return Mix(self.mix[np.ix_(buyers, goods)])


def test_runs_are_repeated_while_they_fit(market):
    class Slow:
        def solve(self, market):
            time.sleep(0.15)
            return stand_ins.given(market)

    assert only(bench(Slow(), market, repeat=9, time_limit=0.4))["runs"] <= 3


def test_the_time_limit_of_a_solver_needs_no_process_of_its_own(market):
    """The run is held as a whole, so a conic solver works in it, and its memory is counted."""
    row = only(bench(qm.EisenbergGale(), generate.uniform(60, 40, 1), repeat=1, time_limit=60))
    assert row["status"] == "certified"
    assert row["peak_mib"] > 1 or sys.platform != "linux"


def test_a_row_knows_whether_it_was_measured():
    assert Row("", "m", 1, 1, "a", "failed").measured
    assert not Row("", "m", 1, 1, "a", "published", source="elsewhere").measured


def test_what_cannot_be_sent_to_a_fresh_process_is_a_row(market, monkeypatch):
    class Local:
        def solve(self, market):
            return stand_ins.given(market)

    monkeypatch.setattr(process, "_start_method", lambda: "spawn")
    table = bench([Local(), qm.Pivoting()], market, repeat=1)
    assert table["status"].tolist() == ["failed", "certified"]
    assert "cannot be sent to a fresh process" in table["error"][0]


def test_memory_runs_out_in_a_row_not_on_the_machine(market, monkeypatch):
    monkeypatch.setattr(process, "SHARE", 0.02)
    table = bench({"greedy": stand_ins.Hungry(4096), "modest": qm.Pivoting()}, market, repeat=1)
    if sys.platform == "linux":
        assert table["status"].tolist() == ["failed", "certified"]
        assert "MemoryError" in table["error"][0]
