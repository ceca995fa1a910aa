"""Deadlines are kept by real processes that are really ended."""

import os
import time

import pytest

import qmopt as qm
from qmopt import generate
from qmopt.deadline import hold


def test_an_answer_comes_back_whole():
    assert hold(lambda: {"prices": [1.5] * 100_000}, 60)["prices"][-1] == 1.5


def test_an_exception_comes_back_as_itself():
    def work():
        raise qm.MarketError("no chips")

    with pytest.raises(qm.MarketError, match="no chips"):
        hold(work, 60)


def test_work_that_does_not_end_is_ended(tmp_path):
    """The child writes its number, then hangs; afterwards no such process is there."""
    told = tmp_path / "pid"

    def work():
        told.write_text(str(os.getpid()))
        time.sleep(600)

    with pytest.raises(TimeoutError):
        hold(work, 0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_a_child_that_dies_is_no_answer():
    with pytest.raises(ChildProcessError):
        hold(lambda: os._exit(3), 60)


def test_a_limit_that_does_not_bite_changes_nothing():
    market = generate.uniform(20, 10, 0)
    free, held = (
        qm.clear(market, qm.EisenbergGale(time_limit=limit)) for limit in (float("inf"), 60)
    )
    assert held.prices.tolist() == free.prices.tolist()
    assert held.outcome.status == free.outcome.status == "optimal"
    assert held.stats["iterations"] == free.stats["iterations"] > 0


def test_a_solver_that_is_too_slow_is_ended_and_the_answer_measured():
    """Clarabel needs seconds to set this up; the crossover starts from shares, and runs out too."""
    market = generate.uniform(3000, 50, 0, spread=3)
    with pytest.raises(qm.NotCertified, match="no point in time") as refused:
        qm.clear(market, qm.EisenbergGale(time_limit=0.2))
    assert "ran out" in str(refused.value)
    assert refused.value.outcome.status == "failed"
