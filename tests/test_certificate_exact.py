"""The exact checker: every condition by an example worked by hand, and what it refuses to read."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import qmopt as qm
from qmopt import certificate_exact

F = Fraction
# the second team is tied, so good 1 costs twice as much as good 0, together 30 credits
TWO = qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]), buyers=["x", "y"], goods=["a", "b"])
PRICES = [10, 20]
SHARES = [[F(3, 5), 0], [F(2, 5), 1]]


def verdict(market, prices, allocation):
    found = qm.certify_exact(market, prices, allocation)
    return found.failed, found.who, found.by


def test_an_equilibrium():
    found = qm.certify_exact(TWO, PRICES, SHARES)
    assert found.proved
    assert str(found) == "an equilibrium, exactly"


def test_what_is_wrong_in_words():
    said = "not an equilibrium: regret at x by 1/5"
    assert str(qm.certify_exact(TWO, PRICES, [[F(1, 2), 0], [F(2, 5), 1]])) == said
    said = "not an equilibrium: regret at x by infinitely much"
    assert str(qm.certify_exact(TWO, [0, 0], SHARES)) == said


WRONG = {
    "a negative price": (TWO, [-10, 20], SHARES, ("negative", "a", 10)),
    "negative units": (
        # x holds 1/5 of b as well, and owes a tenth of it to y: by value nothing is amiss
        TWO, PRICES, [[F(7, 10), F(-1, 10)], [F(3, 10), F(11, 10)]], ("negative", "x, b", F(1, 10)),
    ),
    "below the reserve": (
        TWO.replace(reserves=[0, 21]), PRICES, SHARES, ("reserve", "b", 1),
    ),
    "no price": (TWO, [10, None], SHARES, ("price", "b", None)),
    "more than the budget": (
        TWO, PRICES, [[F(3, 5) + F(1, 10**30), 0], [F(2, 5), 1]],
        ("overspend", "x", F(10, 10**30)),
    ),
    "less than it could have": (
        TWO, PRICES, [[F(1, 2), 0], [F(2, 5), 1]], ("regret", "x", F(1, 5)),
    ),
    "something worse": (
        TWO, PRICES, [[0, F(3, 10)], [1, F(7, 10)]], ("regret", "x", F(9, 10)),
    ),
    "more than there is": (
        TWO.replace(supplies=[1, 0.5]), PRICES, SHARES, ("overallocated", "b", F(1, 2)),
    ),
    "left over at a price": (
        TWO.replace(supplies=[1, 2]), PRICES, SHARES, ("idle", "b", 1),
    ),
    "left over above its reserve": (
        TWO.replace(supplies=[1, 2], reserves=[0, 19]), PRICES, SHARES, ("idle", "b", 1),
    ),
    "everything for free": (TWO, [0, 0], [[1, 0], [0, 1]], ("regret", "x", None)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    market, prices, allocation, said = WRONG[name]
    assert verdict(market, prices, allocation) == said


def test_prices_too_long_for_one_denominator(monkeypatch):
    monkeypatch.setattr(certificate_exact, "LONG", 0)
    for market, prices, allocation, said in WRONG.values():
        assert verdict(market, prices, allocation) == said
    market = qm.Market([20, 7], [3, 7], qm.Linear([[2, 0], [0, 5]]), keep_values=[0.25, 0.5])
    prices = [F(20, 3), 1]
    assert qm.certify_exact(market, prices, [[3, 0], [0, 7]]).proved
    for wrong in ([F(20, 3), 2], [F(20, 3) + F(1, 9), 1], [F(19, 3), 1]):
        assert not qm.certify_exact(market, wrong, [[3, 0], [0, 7]]).proved


def test_left_over_at_the_reserve_is_right():
    market = TWO.replace(supplies=[1, 2], reserves=[0, 20])
    assert qm.certify_exact(market, PRICES, SHARES).proved


def test_kept_credits():
    # a chip brings 4 for 2 credits to the first, 2 per credit, as much as a kept one does
    market = qm.Market([10, 3], [1, 1], qm.Linear([[4, 0], [0, 1]]), keep_values=[2, 0])
    assert qm.certify_exact(market, [2, 3], [[1, 0], [0, 1]]).proved
    # at 3 it had rather kept its credits: 10 of them bring 20, and it has 4 + 14
    assert verdict(market, [3, 3], [[1, 0], [0, 1]]) == ("regret", "0", 2)
    # at 1 it would buy ten
    assert verdict(market, [1, 3], [[1, 0], [0, 1]]) == ("regret", "0", 40 - 22)


def test_caps_and_thrift():
    # the first wants 1/2 in all, from good 0 or 1 alike. At (1, 4) good 0 would do for half a
    # credit, but it pays two for good 1; at (2, 2) it is a quarter of one or the other
    market = qm.Market(
        [10, 1, 2], [1, 1], qm.Linear([[1, 1], [1, 0], [0, 1]]),
        utility_caps=[0.5, np.inf, np.inf],
    )  # fmt: skip
    assert verdict(market, [1, 4], [[0, F(1, 2)], [1, 0], [0, F(1, 2)]]) == (
        "thrift", "0", F(3, 2),
    )  # fmt: skip
    assert qm.certify_exact(market, [2, 2], [[F(1, 2), 0], [F(1, 2), 0], [0, 1]]).proved
    assert verdict(market, [2, 2], [[F(1, 4), 0], [F(1, 2), 0], [0, 1]])[:2] == ("regret", "0")


def test_a_cap_that_does_not_bind_and_one_that_is_passed():
    # half a credit a chip that is worth 3: the two credits of the first bring 12, below its cap
    market = qm.Market([2, 1], [4, 1], qm.Linear([[3, 0], [0, 1]]), utility_caps=[100, np.inf])
    assert qm.certify_exact(market, [F(1, 2), 1], [[4, 0], [0, 1]]).proved
    assert verdict(market, [F(1, 2), 1], [[3, 0], [0, 1]]) == ("regret", "0", 3)
    # with a cap of 6 two chips for one credit do; a third is one too many, for half a credit
    market = market.replace(utility_caps=[6, np.inf], supplies=[3, 1], reserves=[0.5, 0])
    assert qm.certify_exact(market, [F(1, 2), 1], [[2, 0], [0, 1]]).proved
    assert verdict(market, [F(1, 2), 1], [[3, 0], [0, 1]]) == ("thrift", "0", F(1, 2))


def test_a_cap_that_is_reached_for_free():
    # good 0 is free and there is enough of it: who pays for good 1 instead pays too much
    market = qm.Market([3, 1], [9, 2], qm.Linear([[1, 1], [0, 1]]), utility_caps=[2, np.inf])
    assert qm.certify_exact(market, [0, F(1, 2)], [[2, 0], [0, 2]]).proved
    assert verdict(market, [0, F(1, 2)], [[1, 1], [0, 1]]) == ("thrift", "0", F(1, 2))
    assert verdict(market, [0, F(1, 2)], [[1, 0], [0, 2]]) == ("regret", "0", 1)


def test_kept_credits_beside_prices_in_thirds():
    # a kept credit brings 3/4, a chip at 4/3 brings as much; the second pays 1/3 for a chip
    market = qm.Market([10, 1], [1, 3], qm.Linear([[1, 0], [0, 0.5]]), keep_values=[0.75, 0.125])
    assert qm.certify_exact(market, [F(4, 3), F(1, 3)], [[1, 0], [0, 3]]).proved
    assert verdict(market, [F(4, 3), F(1, 3)], [[1, 0], [0, 2]])[:2] == ("regret", "1")
    assert verdict(market, [F(5, 3), F(1, 3)], [[1, 0], [0, 3]]) == ("regret", "0", F(1, 4))


def test_who_takes_no_part():
    market = qm.Market(
        [6, 0, 5, 1], [3, 2, 0, 1], qm.Linear([[1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 2, 0], [1] * 4]),
        reserves=[0, 7, 0, 0], utility_caps=[np.inf, np.inf, np.inf, 0],
    )  # fmt: skip
    prices, nothing = [2, 7, None, 0], [0] * 4
    first = [3, 0, 0, 0]
    assert qm.certify_exact(market, [2.0, 7.0, np.nan, 0.0], [first, *[nothing] * 3]).proved
    assert qm.certify_exact(market, prices, [first, nothing, nothing, nothing]).proved
    # what is free may go to anybody
    assert qm.certify_exact(market, prices, [first, nothing, [0, 0, 0, 1], nothing]).proved
    # but who has no credits, no use for anything, or wants nothing must not pay
    for i in (1, 2, 3):
        held = [first, *[nothing] * 3]
        held[i] = [0, F(1, 7), 0, 0]
        assert verdict(market, prices, held) == ("overspend", str(i), 1)
    # what is not there has no price and no units
    assert verdict(market, [2, 7, 0, 0], [first, *[nothing] * 3]) == ("price", "2", None)
    some = [first, [0, 0, F(1, 9), 0], nothing, nothing]
    assert verdict(market, prices, some) == ("overallocated", "2", F(1, 9))


FORMS = {
    "rows": (PRICES, SHARES),
    "by position": (PRICES, {(0, 0): F(3, 5), (1, 0): F(2, 5), (1, 1): 1}),
    "by name": ({"b": 20, "a": 10}, {("x", "a"): F(3, 5), ("y", "a"): F(2, 5), ("y", "b"): 1}),
    "tuples": ((F(10), F(20)), [("x", 0, F(3, 5)), (1, "a", F(2, 5)), (np.int64(1), 1, 1)]),
    "objects": (np.array(PRICES), np.array(SHARES, dtype=object)),
    "single precision": ([np.float32(10), np.int8(20)], SHARES),
    "whole doubles": (np.array([10.0, 20.0]), SHARES),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_point(form):
    prices, allocation = FORMS[form]
    assert qm.certify_exact(TWO, prices, allocation).proved


def test_doubles_are_what_they_are():
    market = TWO.replace(budgets=[5, 25])  # 1/2 and 1/2 of good 0 are doubles
    half = np.array([[0.5, 0], [0.5, 1]])
    assert qm.certify_exact(market, [10.0, 20.0], half).proved
    assert qm.certify_exact(market, [10.0, 20.0], sp.csr_array(half)).proved
    assert qm.certify_exact(market, [10.0, np.nextafter(20, 30)], half).failed == "overspend"


BAD = {
    "too few prices": ([10], SHARES, "prices: 2 expected, got 1"),
    "a text": ("ab", SHARES, "prices: a sequence of numbers expected, got str"),
    "no price by name": ({"a": 10}, SHARES, "prices: none for b"),
    "another name": ({"a": 1, "b": 2, "c": 3}, SHARES, "no resource is called 'c'"),
    "an infinite price": ([10, np.inf], SHARES, "price of b: a finite number expected"),
    "a price as text": ([10, "20"], SHARES, "price of b: a finite number expected, got '20'"),
    "a decimal": ([10, Decimal(20)], SHARES, "price of b: a finite number expected"),
    "a truth": ([10, True], SHARES, "price of b: a finite number expected, got True"),
    "units that are no number": (PRICES, [[np.nan, 0], [0, 0]], "units of x, a"),
    "too few rows": (PRICES, [[1, 0]], "allocation: 2 rows of 2 expected"),
    "rows of another length": (PRICES, [[1, 0], [1]], "allocation: 2 rows of 2 expected"),
    "another matrix": (PRICES, np.ones((3, 2)), r"allocation: shape \(2, 2\) expected"),
    "another sparse matrix": (PRICES, sp.csr_array((2, 3)), r"allocation: shape \(2, 2\) expected"),
    "nobody": (PRICES, {("z", "a"): 1}, "allocation: no buyer 'z'"),
    "one too far": (PRICES, [(0, 2, 1)], "allocation: no good 2"),
    "from the end": (PRICES, [(-1, 0, 1)], "allocation: no buyer -1"),
    "a position in floats": (PRICES, [(1.0, 0, 1)], "allocation: no buyer 1.0"),
    "a position that is a truth": (PRICES, [(True, 0, 1)], "allocation: no buyer True"),
    "half of a pair": (PRICES, {1: 1}, r"\(buyer, good, units\) expected"),
    "rows and tuples": (PRICES, [[0, 1], (0, 0, 1)], "allocation: 2 rows of 2 expected"),
    "twice": (PRICES, [(0, 0, 1), ("x", "a", 1)], "units of x, a are there twice"),
    "not a pair": (PRICES, {"x": 1}, r"\(buyer, good, units\) expected"),
    "a number": (PRICES, 5, "allocation: a sequence of numbers expected"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_point_is_refused(name):
    prices, allocation, message = BAD[name]
    with pytest.raises(qm.MarketError, match=message):
        qm.certify_exact(TWO, prices, allocation)


@st.composite
def points(draw):
    """A market in small whole numbers, and its equilibrium, moved by an eighth or not at all."""
    n, m = draw(st.integers(1, 3)), draw(st.integers(1, 3))

    def several(low, high, count):
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    values = [several(0, 2, m) for _ in range(n)]
    values[0][0] = 1
    market = qm.Market(
        [1, *several(0, 4, n - 1)],
        [1, *several(0, 3, m - 1)],
        qm.Linear(values),
        keep_values=several(0, 2, n),
        reserves=several(0, 2, m),
    )
    exact = qm.clear(market, exact=True).exact
    prices, units = list(exact.prices), {(i, j): x for i, j, x in exact.allocation}
    moved = draw(st.sampled_from([F(0), F(1, 8), F(-1, 8)]))
    at = draw(st.integers(0, n - 1)), draw(st.integers(0, m - 1))
    if draw(st.booleans()):
        units[at] = units.get(at, 0) + moved
    elif prices[at[1]] is not None:
        prices[at[1]] += moved
    return market, prices, units


@given(points())
def test_it_agrees_with_the_certificate_in_floats(point):
    # all numbers are small, so that what is wrong is wrong by more than a thousandth
    market, prices, units = point
    allocation = np.zeros(market.shape)
    for (i, j), amount in units.items():
        allocation[i, j] = float(amount)
    rounded = [np.nan if price is None else float(price) for price in prices]
    exact = qm.certify_exact(market, prices, units)
    measured = qm.certify(market, rounded, allocation)
    assert exact.proved == (measured.worst < 1e-12)
    if not exact.proved:
        assert measured.worst > 1e-4
