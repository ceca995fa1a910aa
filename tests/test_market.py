"""What a market accepts, what it refuses and how it says so; pools, names, hash."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import qmopt as qm

VALUES = [[4, 1, 3], [2, 1, 5]]


def market(budgets=(60, 40), supplies=(8, 16, 2), values=VALUES, **more):
    utility = values if isinstance(values, qm.Utility) else qm.Linear(values)
    return qm.Market(budgets, supplies, utility, **more)


REFUSALS = {
    "budgets: shape": ({"budgets": [1]}, r"budgets: shape \(2,\) expected, got \(1,\)"),
    "budgets: matrix": ({"budgets": [[60, 40]]}, r"budgets: shape \(2,\) expected, got \(1, 2\)"),
    "budgets: one number": ({"budgets": 60}, r"budgets: shape \(2,\)"),
    "supplies: shape": ({"supplies": [1, 2]}, r"supplies: shape \(3,\) expected, got \(2,\)"),
    "reserves: shape": ({"reserves": [1]}, r"reserves: shape \(3,\)"),
    "keep_values: shape": ({"keep_values": [1]}, r"keep_values: shape \(2,\)"),
    "budgets: text": ({"budgets": ["60", "40"]}, "budgets: numbers expected"),
    "budgets: booleans": ({"budgets": [True, False]}, "budgets: numbers expected, got bool"),
    "budgets: nothing": ({"budgets": [60, None]}, "budgets: numbers expected, got object"),
    "budgets: complex": ({"budgets": [60, 40j]}, "budgets: numbers expected, got complex"),
    "budgets: masked": (
        {"budgets": np.ma.array([60, 40], mask=[False, True])},
        "budgets: numbers expected, got masked",
    ),
    "budgets: nan": ({"budgets": [60, np.nan]}, r"budgets\[1\] \(1\): nan"),
    "budgets: infinite": ({"budgets": [np.inf, 40]}, r"budgets\[0\] \(0\): inf"),
    "budgets: negative": ({"budgets": [60, -40]}, r"budgets\[1\] \(1\): -40"),
    "supplies: nan": ({"supplies": [8, np.nan, 2]}, r"supplies\[1\] \(1\): nan"),
    "supplies: negative": ({"supplies": [8, 16, -2]}, r"supplies\[2\] \(2\): -2"),
    "reserves: infinite": ({"reserves": [0, np.inf, 0]}, r"reserves\[1\] \(1\): inf"),
    "keep_values: infinite": ({"keep_values": [0, np.inf]}, r"keep_values\[1\] \(1\): inf"),
    "utility_caps: nan": ({"utility_caps": [np.nan, 1]}, r"utility_caps\[0\] \(0\): nan"),
    "credit_rate: negative": ({"credit_rate": [1, -1]}, r"credit_rate\[1\] \(1\): -1"),
    "all budgets zero": ({"budgets": [0, 0]}, "no buyer has credits.*no credits"),
    "all supplies zero": ({"supplies": [0, 0, 0]}, "no buyer has credits.*without supply"),
    "all values zero": ({"values": np.zeros((2, 3))}, "no buyer has credits.*values no resource"),
    "buyers: twice": ({"buyers": ["a", "a"]}, r"buyers\[1\]: 'a' stands twice"),
    "buyers: too few": ({"buyers": ["a"]}, "buyers: 2 names expected, got 1"),
    "buyers: numbers": ({"buyers": ["a", 7]}, r"buyers\[1\]: a name is nonempty text, got 7"),
    "buyers: empty name": ({"buyers": ["", "b"]}, r"buyers\[0\]: a name is nonempty text, got ''"),
    "buyers: none": ({"buyers": []}, "buyers: 2 names expected, got 0"),
    "buyers: text": ({"buyers": "ab"}, "buyers: 2 names expected, got 1"),
    "guarantees: shape": (
        {"guarantees": sp.csr_array((1, 3))},
        r"guarantees: shape \(2, 3\) expected, got \(1, 3\)",
    ),
    "goods: twice": ({"goods": ["x", "y", "x"]}, r"goods\[2\]: 'x' stands twice"),
    "goods: too many": ({"goods": list("wxyz")}, "goods: 3 names expected, got 4"),
}


@pytest.mark.parametrize(("given", "words"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(given, words):
    with pytest.raises(qm.MarketError, match=words) as refused:
        market(**given)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, 2, 3], r"values: shape \(buyers, goods\) expected, got \(3,\)"),
        ([[1, 2], [3]], r"values: shape \(buyers, goods\) expected"),
        ([[True, False]], "values: numbers expected, got bool"),
        ([["4", "1"]], "values: numbers expected"),
        (np.array([[1, None]], dtype=object), "values: numbers expected, got object"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), "values: numbers expected, got masked"),
        ([[1, np.nan]], r"values\[0, 1\].*nan"),
        ([[1, 2], [-3, 4]], r"values\[1, 0\].*-3"),
        ([[1, np.inf]], r"values\[0, 1\].*inf"),
        (sp.coo_array([[0, 1], [np.nan, 0]]), r"values\[1, 0\].*nan"),
        (sp.csc_array([[0.0, 1], [0, -2]]), r"values\[1, 1\].*-2"),
        (sp.csr_array(np.array([[True, False]])), "values: numbers expected, got bool"),
    ],
)
def test_values_that_are_refused(values, words):
    with pytest.raises(qm.MarketError, match=words):
        qm.Linear(values)


def test_bad_values_are_named_as_the_frame_names_them():
    frame = pd.DataFrame({"h100": [1.0, 2.0], "a100": [3.0, np.nan]}, index=["vision", "speech"])
    with pytest.raises(qm.MarketError, match=r"values\[1, 1\] \(buyer speech, good a100\): nan"):
        qm.Linear(frame)


def test_a_matrix_is_not_a_utility():
    with pytest.raises(qm.MarketError, match=r"Linear\(values\) expected, got list"):
        qm.Market([1], [1], [[1]])


def test_arrays_are_copies_and_frozen():
    budgets, values = np.array([60.0, 40.0]), np.array(VALUES, float)
    made = market(budgets=budgets, values=values)
    budgets[0] = values[0, 0] = 1e9
    assert made.budgets[0] == 60
    assert made.utility.values[0, 0] == 4
    names = ["budgets", "supplies", "reserves", "keep_values", "utility_caps", "credit_rate"]
    for name in [*names, "active", "sold", "empty"]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(made, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.utility.values[0, 0] = 1
    sparse = market(values=sp.csr_array(values))
    with pytest.raises(ValueError, match="read-only"):
        sparse.utility.values.data[0] = 1


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_every_kind_of_number_gives_doubles(dtype):
    made = market(np.array([60, 40], dtype), np.array([8, 16, 2], dtype), np.array(VALUES, dtype))
    assert made.budgets.dtype == made.supplies.dtype == np.float64
    np.testing.assert_allclose(qm.clear(made).prices, qm.clear(market()).prices, rtol=1e-12)


def test_names_by_default_from_a_frame_and_given():
    assert market().buyers == ("0", "1")
    assert market().goods == ("0", "1", "2")
    frame = pd.DataFrame(VALUES, index=["vision", "speech"], columns=["h100", "a100", 7])
    assert market(values=frame).buyers == ("vision", "speech")
    assert market(values=frame).goods == ("h100", "a100", "7")
    assert market(values=frame, buyers=["a", "b"]).buyers == ("a", "b")
    assert market(buyers=pd.Index(["a", "b"]), goods=np.array(["x", "y", "z"])).goods == tuple(
        "xyz"
    )
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(qm.MarketError, match="'a' stands twice"):
        qm.Market([1], [1, 1], qm.Linear(twice))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array])
def test_sparse_is_kept_sparse_and_clears_alike(kind):
    made = market(values=kind(np.array(VALUES)))
    assert isinstance(made.utility.values, sp.csr_array)
    found = qm.clear(made)
    assert isinstance(found.allocation, sp.csr_array)
    dense = qm.clear(market())
    np.testing.assert_allclose(found.prices, dense.prices, rtol=1e-12)
    np.testing.assert_allclose(found.allocation.toarray(), dense.allocation, atol=1e-12)


def test_duplicate_entries_of_a_sparse_matrix_add_up_and_zeros_are_no_bids():
    values = sp.coo_array(([1.0, 3.0, 0.0, 2.0], ([0, 0, 0, 1], [0, 0, 1, 1])), shape=(2, 2))
    made = qm.Linear(values).values
    assert made.toarray().tolist() == [[4, 0], [0, 2]]
    assert made.nnz == 2


def test_a_large_sparse_market_never_becomes_dense():
    """Twenty thousand teams and goods: dense, the values alone would be 3 GB."""
    count = 20_000
    qm.Market([1], [1], qm.Linear(sp.eye_array(1)))
    tracemalloc.start()
    try:
        made = qm.Market(np.ones(count), np.ones(count), qm.Linear(sp.eye_array(count)))
        assert not made.excluded
        assert made.hash
        half = np.arange(0, count, 2)
        assert made.take(half, half).shape == (count // 2, count // 2)
        assert qm.certify(made, np.ones(count), sp.eye_array(count)).certified(0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


def test_the_hash_is_of_what_bears_on_the_answer():
    base = market()
    assert len(base.hash) == 64
    same = [
        market(),
        market(title="another title", period="1 day"),
        market(budgets=np.float32([60, 40])),
        market(values=sp.csr_array(np.array(VALUES))),
        market(reserves=[0, 0, 0], keep_values=[0, 0], utility_caps=[np.inf, np.inf]),
    ]
    assert {made.hash for made in same} == {base.hash}
    other = [
        market(budgets=[60, np.nextafter(40, 50)]),
        market(budgets=[40, 60]),
        market(supplies=[8, 16, 3]),
        market(values=[[4, 1, 3], [2, 5, 1]]),
        market(values=[[4, 1, 3], [2, 1, 5.5]]),
        market(reserves=[1, 0, 0]),
        market(keep_values=[1, 0]),
        market(utility_caps=[9, np.inf]),
        market(buyers=["a", "b"]),
        market(goods=["a", "b", "c"]),
        market(credit_rate=[2, 1]),
    ]
    assert len({made.hash for made in [base, *other]}) == 1 + len(other)


def test_taking_a_part():
    made = market(
        reserves=[1, 2, 3], keep_values=[0, 1], utility_caps=[9, np.inf], buyers=["a", "b"]
    )
    part = made.take(np.array([1]), np.array([2, 0]))
    assert part.buyers == ("b",)
    assert part.goods == ("2", "0")
    assert part.supplies.tolist() == [2, 8]
    assert part.reserves.tolist() == [3, 1]
    assert part.keep_values.tolist() == [1]
    assert part.utility.values.tolist() == [[5, 2]]
