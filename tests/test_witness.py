"""Who a residual is about, by hand."""

import pytest

import qmopt as qm
from qmopt.witness import witness

MARKET = qm.Market(
    [60, 40, 0], [8, 16, 2], qm.Linear([[4, 1, 0], [2, 1, 0], [1, 1, 0]]),
    reserves=[0, 0, 1], buyers=["vision", "speech", "poor"], goods=["h100", "a100", "k80"],
)  # fmt: skip

POINTS = {
    # vision pays 8 * 8 = 64 of 60; nobody else is over
    "a price too high": (
        [8, 2.5, 1], [[8, 0, 0], [0, 16, 0], [0, 0, 0]], "overspend", "team vision",
    ),
    # speech gets half of what its 40 credits buy
    "half withheld": ([7.5, 2.5, 1], [[8, 0, 0], [0, 8, 0], [0, 0, 0]], "regret", "team speech"),
    "half idle": ([7.5, 2.5, 1], [[8, 0, 0], [0, 8, 0], [0, 0, 0]], "idle", "resource a100"),
    # a team without credits holds something dear: infinitely over its budget
    "a gift": ([7.5, 2.5, 1], [[8, 0, 0], [0, 15, 0], [0, 1, 0]], "overspend", "team poor"),
    "nine of eight": (
        [7.5, 2.5, 1], [[9, 0, 0], [0, 16, 0], [0, 0, 0]], "overallocated", "resource h100",
    ),
    "under its reserve": (
        [7.5, 2.5, 0.5], [[8, 0, 0], [0, 16, 0], [0, 0, 0]], "reserve", "resource k80",
    ),
    "nobody's": ([7.5, 2.5, 1], [[8, 0, 0], [0, 16, 0], [0, 0, 0]], "gap", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_who(name):
    prices, allocation, residual, who = POINTS[name]
    assert witness(MARKET, prices, allocation, residual) == who


class Wrong:
    def solve(self, market):
        return qm.Outcome(market.supplies * 0 + 1, [[4, 0, 0], [4, 16, 0], [0, 0, 0]], "optimal")


def test_an_answer_that_does_not_hold_names_who():
    with pytest.raises(qm.NotCertified, match=r"regret is 0\.\d+ \(team vision\)"):
        qm.clear(MARKET, Wrong())


def test_a_method_that_returns_something_else_is_told():
    class Tuple:
        def solve(self, market):
            return market.supplies, None

    with pytest.raises(qm.MarketError, match=r"an Outcome.*expected, got tuple"):
        qm.clear(MARKET, Tuple())


def test_near_is_not_dropped_in_silence():
    class Mix(qm.Utility):
        shape = (1, 1)

        def value(self, allocation):
            return qm.Linear([[1]]).value(allocation)

        def activities(self):
            return qm.Linear([[1]]).activities()

        def levels(self, allocation):
            return qm.Linear([[1]]).levels(allocation)

        def take(self, buyers, goods):
            return self

    found = qm.clear(qm.Market([3], [2], Mix()), near=[[1]])
    assert any("near" in note for note in found.notes)
