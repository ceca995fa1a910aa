"""Large markets: names when asked for, sparse answers to dense values, and memory."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt.methods import outcome


def market(n, m, seed=0, **more):
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=(n, m))
    return qm.Market(np.ones(n), np.full(m, n / m), qm.Linear(values), **more)


# Names


def test_default_names_are_a_tuple_when_asked_for():
    made = market(3, 2)
    assert "buyers" not in vars(made)
    assert made.buyers == ("0", "1", "2")
    assert made.goods == ("0", "1")
    assert isinstance(made.buyers, tuple)
    assert made.buyers is made.buyers


def test_clearing_makes_no_names():
    made = market(300, 3)
    qm.clear(made, qm.ColumnGeneration())
    assert "buyers" not in vars(made)
    changed = made.replace(budgets=np.full(300, 2.0))
    assert "buyers" not in vars(changed)
    assert changed.named_like(made)


def test_names_by_default_and_names_given_are_the_same_names():
    made = market(3, 2)
    assert made.named_like(market(3, 2, buyers=["0", "1", "2"]))
    assert not made.named_like(market(3, 2, buyers=["0", "2", "1"]))
    assert not made.named_like(market(3, 3))
    assert made.hash == market(3, 2, buyers=["0", "1", "2"], goods=["0", "1"]).hash


def test_a_part_keeps_its_default_names():
    part = market(5, 3).take(np.array([4, 1]), np.array([2, 0]))
    assert (part.buyers, part.goods) == (("4", "1"), ("2", "0"))


def test_errors_name_by_default():
    with pytest.raises(qm.MarketError, match=r"budgets\[1\] \(1\): -1.0 is not"):
        qm.Market([1, -1], [1], qm.Linear([[1], [1]]))
    with pytest.raises(qm.MarketError, match="1: no credits"):
        qm.Market([0, 0], [1], qm.Linear([[1], [1]]))


# What the allocation is


def test_column_generation_answers_sparsely_to_dense_values():
    for values in (np.random.default_rng(0).lognormal(size=(60, 4)), np.ones((60, 4))):
        tied = qm.Market(np.ones(60), np.full(4, 15), qm.Linear(values))
        found = qm.clear(tied, qm.ColumnGeneration())
        assert sp.issparse(found.allocation)
        other = qm.clear(tied, qm.Pivoting())
        assert isinstance(other.allocation, np.ndarray)
        np.testing.assert_allclose(found.allocation.toarray(), other.allocation, atol=1e-8)


def test_many_pairs_make_an_allocation_sparse(monkeypatch):
    made = qm.Market([6, 4, 0], [8, 16], qm.Linear([[4, 1], [2, 1], [1, 1]]))
    dense = qm.clear(made, qm.Pivoting()).allocation
    monkeypatch.setattr(outcome, "MOST_DENSE", 5)
    found = qm.clear(made, qm.Pivoting()).allocation
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), dense)


# Memory

CLEAR = """
import resource, sys
import numpy as np
import qmopt as qm

def peak():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024)

def cleared(n, m):
    values = np.empty((n, m))
    rng = np.random.default_rng(0)
    for begin in range(0, n, 1000):
        values[begin : begin + 1000] = 1 - rng.random((min(1000, n - begin), m))
    values.setflags(write=False)
    before = peak()
    market = qm.Market(np.ones(n), np.full(m, n / m), qm.Linear(values))
    found = qm.clear(market)
    assert found.certificate.certified(1e-10) and type(found.method).__name__ == "ColumnGeneration"
    return peak() - before

cleared(20_000, 50)  # loads and compiles what there is
more = cleared(200_000, 50)
print(more)
"""


@pytest.mark.slow
def test_memory_beyond_the_values():
    """It goes with buyers, not with pairs: less than the 800 bytes that 100 goods take.

    What is imported and compiled is there before.
    """
    run = subprocess.run(
        [sys.executable, "-c", CLEAR], capture_output=True, text=True, check=True, timeout=600
    )
    assert float(run.stdout) <= 700 * 200_000
