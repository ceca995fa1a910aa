"""A market cleared again and again after changes: no old number may live on.

PAR-01: after parameters change, a kept model or a warm start must answer as a cold one does.
Prices in fractions, worked by hand: steps 1 and 3 are two teams (6, 24) with values (2, 1) and
(1, 2), where B costs twice A; in step 2 the first team has 60 and buys both; in step 4 there is
less of A; in step 5 the first team wants B.
"""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate

FIRST = qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]))
STEPS = [
    (FIRST, [10, 20], [[3 / 5, 0], [2 / 5, 1]]),
    (FIRST.replace(budgets=[60, 24]), [56, 28], [[1, 1 / 7], [0, 6 / 7]]),
    (FIRST, [10, 20], [[3 / 5, 0], [2 / 5, 1]]),
    (FIRST.replace(supplies=[0.8, 1]), [75 / 7, 150 / 7], [[14 / 25, 0], [6 / 25, 1]]),
    (FIRST.replace(utility=qm.Linear([[2, 8], [1, 2]])), [10, 20], [[0, 3 / 10], [1, 7 / 10]]),
]
METHODS = [
    qm.Pivoting(), qm.InteriorPoint(), qm.ColumnGeneration(), qm.LinearProgramming(),
    qm.EisenbergGale(), qm.ProportionalResponse(tolerance=1e-10),
]  # fmt: skip
WARM = [method for method in METHODS if "start" in inspect.signature(method.solve).parameters]


def check(found, prices, allocation, rtol):
    np.testing.assert_allclose(found.prices, prices, rtol=rtol)
    np.testing.assert_allclose(np.asarray(found.allocation @ np.eye(2)), allocation, atol=rtol)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_one_method_object_keeps_nothing(method):
    rough = isinstance(method, qm.ProportionalResponse)
    for market, prices, allocation in STEPS:
        found = qm.clear(market, method, tolerance=1e-6 if rough else 1e-9)
        check(found, prices, allocation, 1e-4 if rough else 1e-9)


@pytest.mark.parametrize("method", WARM, ids=lambda method: type(method).__name__)
def test_each_step_from_the_one_before(method):
    before = None
    for market, prices, allocation in STEPS:
        before = qm.clear(market, method, start=before, tolerance=1e-9)
        check(before, prices, allocation, 1e-9)


@pytest.mark.parametrize("method", WARM, ids=lambda method: type(method).__name__)
def test_from_any_step_to_any_other(method):
    answers = [qm.clear(market, method) for market, _, _ in STEPS]
    for start in answers:
        for market, prices, allocation in STEPS:
            check(qm.clear(market, method, start=start), prices, allocation, 1e-9)


def test_what_cannot_be_started_from():
    other = qm.clear(qm.Market([1, 1, 1], [1, 1], qm.Linear(np.ones((3, 2)))))
    with pytest.raises(qm.MarketError, match=r"start: .* shape \(2, 2\)"):
        qm.clear(FIRST, qm.ColumnGeneration(), start=other)
    with pytest.raises(qm.MarketError, match="start: an earlier answer expected, got 'x'"):
        qm.clear(FIRST, start="x")
    named = qm.clear(qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]), goods=["a", "b"]))
    with pytest.raises(qm.MarketError, match=r"start: .* other goods"):
        qm.clear(FIRST, qm.ColumnGeneration(), start=named)
    found = qm.clear(FIRST)
    with pytest.raises(qm.MarketError, match=r"start: EisenbergGale\(.* does not take one"):
        qm.clear(FIRST, qm.EisenbergGale(), start=found)


def test_a_default_that_takes_no_start_says_so():
    market = generate.copies(501)
    found = qm.clear(market)
    again = qm.clear(market, start=found)
    assert isinstance(found.method, qm.LinearProgramming)
    assert any("LinearProgramming" in note and "from nothing" in note for note in again.notes)


@pytest.mark.parametrize(
    ("prices", "allocation", "at_fault"),
    [
        ([10, "x"], np.eye(2), "start: prices: numbers expected"),
        ([10, 20], "x", "start: allocation: numbers expected"),
        ([10, 20, 30], np.eye(2), r"start: prices: shape \(2,\) expected"),
    ],
)
@pytest.mark.parametrize("method", WARM, ids=lambda method: type(method).__name__)
def test_a_broken_start_is_named(method, prices, allocation, at_fault):
    with pytest.raises(qm.MarketError, match=at_fault):
        qm.clear(FIRST, method, start=qm.Outcome(prices, allocation, "mine"))


@pytest.mark.parametrize("kind", [list, sp.coo_array, sp.csc_matrix])
@pytest.mark.parametrize("method", WARM, ids=lambda method: type(method).__name__)
def test_a_start_may_come_in_any_kind_of_array(method, kind):
    held = np.array([[0.6, 0], [0.4, 1]])
    start = qm.Outcome([10, np.nan], held.tolist() if kind is list else kind(held), "mine")
    check(qm.clear(FIRST, method, start=start), [10, 20], held, 1e-9)
