"""Arguments of a wrong type or size: an error of ours that names the argument."""

import math

import numpy as np
import pandas as pd
import pytest

import qmopt as qm
from qmopt.arguments import named
from qmopt.tables import Limits

MARKET = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]))
WRONG = {
    "path: .* got None": lambda: qm.read_market(None),
    "path: .* got 3": lambda: qm.read_market(3),
    r"path: .* got \['q3'\]": lambda: qm.read_market(["q3"]),
    "delimiter: one character expected, got None": lambda: qm.read_market("q", delimiter=None),
    "decimal: one character expected, got 1": lambda: qm.read_market("q", decimal=1),
    "thousands: one character expected, got 0": lambda: qm.read_market("q", thousands=0),
    "limits: .* got {'rows': 3}": lambda: qm.read_market("q", limits={"rows": 3}),
    "limits: .* got the class Limits: write": lambda: qm.read_market("q", limits=Limits),
    "tolerance: .* got 'x'": lambda: qm.clear(MARKET, tolerance="x"),
    "tolerance: .* got None": lambda: qm.clear(MARKET, tolerance=None),
    "tolerance: .* got -1": lambda: qm.clear(MARKET, tolerance=-1),
    "tolerance: .* got nan": lambda: qm.clear(MARKET, tolerance=math.nan),
    "tolerance: .* got True": lambda: qm.clear(MARKET, tolerance=True),
    "tolerance: .* got 1$": lambda: qm.certify(MARKET, [7.5, 2.5], tolerance=1),
    "tolerance: a number of at least 0 .* 'y'": (
        lambda: qm.certify(MARKET, [7.5, 2.5]).certified("y")
    ),
    "prices: .* got None": lambda: qm.certify(MARKET, None),
    "prices: .* 'prices.csv'; pandas.read_csv": lambda: qm.certify(MARKET, "prices.csv"),
    "prices: numbers expected": lambda: qm.certify(MARKET, qm.clear(MARKET)),
    "a Market expected, got DataFrame": lambda: qm.certify(pd.DataFrame(), [1]),
    "near: one table expected, got several: prices, allocation, teams": (
        lambda: qm.clear(MARKET, near=qm.clear(MARKET).tables())
    ),
    "near: numbers expected, got Market": lambda: qm.clear(MARKET, near=MARKET),
    "Pivoting: time_limit: .* got 'x'": lambda: qm.Pivoting(time_limit="x"),
    "Pivoting: time_limit: .* got -1": lambda: qm.Pivoting(time_limit=-1),
    "Pivoting: time_limit: .* got nan": lambda: qm.Pivoting(time_limit=math.nan),
    "Pivoting: time_limit: .* got None": lambda: qm.Pivoting(time_limit=None),
    "InteriorPoint: tolerance: .* got -1": lambda: qm.InteriorPoint(tolerance=-1),
    "InteriorPoint: max_iterations: .* 1.5": lambda: qm.InteriorPoint(max_iterations=1.5),
    "InteriorPoint: crossover: .* 'no'": lambda: qm.InteriorPoint(crossover="no"),
    r"EisenbergGale: solver: .* Clarabel\(\) expected, got 'clar": (
        lambda: qm.EisenbergGale(solver="clarabel")
    ),
    r"got the class Scs: write Scs\(\)": lambda: qm.EisenbergGale(solver=qm.Scs),
    "EisenbergGale: time_limit: .* nan": lambda: qm.EisenbergGale(time_limit=math.nan),
    "Clarabel: tolerance: .* 'x'": lambda: qm.Clarabel(tolerance="x"),
    "Clarabel: time_limit: .* -1": lambda: qm.Clarabel(time_limit=-1),
    "Clarabel: step_fraction: .* 7": lambda: qm.Clarabel(step_fraction=7),
    "Scs: max_iterations: .* 0": lambda: qm.Scs(max_iterations=0),
    r"method: .* such as Pivoting\(\) .* got 'pivoting'": lambda: qm.clear(MARKET, "pivoting"),
    "method: .* got the class Pivoting": lambda: qm.clear(MARKET, qm.Pivoting),
    "method: .* got object$": lambda: qm.clear(MARKET, object()),
    "budgets: numbers expected, got None": lambda: qm.Market(None, [1], qm.Linear([[1]])),
    r"tables: .* by their names \(resources=...*, got {": lambda: qm.Market.from_tables(
        {"teams": []}
    ),
    "buyers: 1 names expected, got 5": lambda: qm.Market([1], [1], qm.Linear([[1]]), buyers=5),
    "market: a Market expected, got None": lambda: qm.eisenberg_gale(None),
}


@pytest.mark.parametrize("says", WRONG)
def test_the_argument_is_named(says):
    with pytest.raises(qm.MarketError, match=says):
        WRONG[says]()


@pytest.mark.parametrize("limit", [0, 1, 0.5, np.float64(2), np.int64(3), math.inf])
def test_numbers_of_any_kind_are_time_limits(limit):
    assert qm.Pivoting(time_limit=limit).time_limit == limit


class Unnamed:
    """A method without a repr, that gives out chips which are not there."""

    def __init__(self, prices, allocation, status="fine"):
        self.outcome = qm.Outcome(prices, allocation, status)

    def solve(self, market):
        return self.outcome


def test_a_method_without_a_repr_goes_by_its_class():
    with pytest.raises(qm.NotCertified) as refused:
        qm.clear(MARKET, Unnamed([7.5, 2.5], [[9, 0], [0, 16]], object()))
    assert "found by Unnamed, whose own word on it is object" in str(refused.value)
    assert " at 0x" not in str(refused.value)
    with pytest.raises(qm.MarketError, match="method Unnamed returned prices: shape"):
        qm.clear(MARKET, Unnamed([7.5], [[8, 0], [0, 16]]))
    with pytest.raises(qm.MarketError, match="method Unnamed returned allocation: numbers"):
        qm.clear(MARKET, Unnamed([7.5, 2.5], [["a", 0], [0, 16]]))


class Torn:
    def __repr__(self):
        raise RuntimeError


def test_names_of_things_in_messages():
    assert named(Torn()) == "Torn"
    assert named(np.zeros((100, 100))) == "a ndarray"
    assert named(lambda: None) == "<lambda>"
