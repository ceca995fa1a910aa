"""Points of markets with demands, worked out by hand; prices are reserves, so goods may be idle.

A point states its eight residuals, as those of `certificate_points` do: what is not named is 0. The
gap is None where a team has two workloads. Its terms, in credits, before the supply's worth divides
them: spend beyond the cheapest way, value beyond what counts, and the distance to the best value.
"""

from dataclasses import dataclass, field
from math import inf, isclose, log, nan
from typing import Any

import numpy as np
import pytest

import qmopt as qm
from tests.certificate_points import NAMES


@dataclass(frozen=True)
class Demanded:
    name: str
    utility: qm.Workloads
    budgets: list
    supplies: list
    prices: list
    levels: list
    residuals: dict = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    #: Whether the units alone say the same: nothing negative, overserved or without use.
    by_units: bool = True

    def market(self):
        more = {"reserves": np.nan_to_num(self.prices), **self.extra}
        return qm.Market(self.budgets, self.supplies, self.utility, **more)

    @property
    def expected(self):
        return {name: self.residuals.get(name, 0) for name in NAMES}


# ---- One good, a chip of which serves 2 of 6 runs worth 3 each: 3 chips bring all 18. Ten credits;
# four chips at 1 credit. A unit of value costs 1/6, so without a demand 60 would be bought.
RUNS = qm.Workloads([0], [6], [0], [[1]], [3], [2])
# ---- One good, one unit of value per chip: 3 wanted, or 30, or no end of it.
SHORT = qm.Workloads([0], [3], [0], [[1]], [1])
LONG = qm.Workloads([0], [30], [0], [[1]], [1])
ENDLESS = qm.Workloads([0], [inf], [0], [[1]], [1])
# ---- A chip serves 1 of 6, or 2 of them.
SLOW = qm.Workloads([0], [6], [0, 0], [[1], [1]], [1, 1], [1, 2])
# ---- Two goods at 1 and 2 that serve the same demand of 2.
TWO_WAYS = qm.Workloads([0], [2], [0, 0], [[1, 0], [0, 1]], [1, 1])
# ---- Training wants 2 units worth 3 each of good 0; tests want 1 unit worth 1 of good 0 or 1.
TWO = qm.Workloads([0, 0], [2, 1], [0, 1, 1], [[1, 0], [1, 0], [0, 1]], [3, 1, 1])
# ---- Of team 0 only a quarter of good 0 is wanted, at 2, and no end of good 1, at 1; team 1 takes
# any good at 1.
QUARTER = qm.Workloads(
    [0, 0, 1], [0.25, inf, inf], [0, 1, 2, 2], [[1, 0], [0, 1], [1, 0], [0, 1]], [2, 1, 1, 1]
)
# ---- The second way takes a good that is not there beside one that is.
GONE = qm.Workloads([0], [6], [0, 0], [[1, 0], [1, 1]], [1, 1])
# ---- One way, which takes a chip of each of two goods.
BOTH = qm.Workloads([0], [4], [0], [[1, 1]], [1])


def demand(name, utility, budget, supplies, prices, levels, expect=None, by_units=True, **extra):
    budgets = budget if isinstance(budget, list) else [budget]
    return Demanded(name, utility, budgets, supplies, prices, levels, expect or {}, extra, by_units)


POINTS = [
    demand("all runs", RUNS, 10, [4], [1], [3]),
    demand("all runs, for nothing", RUNS, 10, [4], [0], [3]),
    # 12 of 18; the gap is 10 log(18/12) - (18 - 12)/6
    demand("two thirds of the runs", RUNS, 10, [4], [1], [2],
           {"regret": 1 / 3, "gap": (10 * log(1.5) - 1) / 4}),
    # 8 of 6, for 4 credits where 3 buy 6; three quarters of it are just right
    demand("more runs than wanted", RUNS, 10, [4], [1], [4],
           {"overallocated": 1 / 3, "thrift": 1 / 3}, by_units=False),
    # good 1 costs one credit more
    # chips that serve 2 each serve 1; what 2 credits bought costs 1, and 6 would be best
    demand("half a chip's worth", SLOW, 10, [4], [1], [2, 0],
           {"regret": 2 / 3, "gap": (10 * log(3) - 1) / 4}, by_units=False),
    demand("a dearer way than need be", TWO_WAYS, 10, [5, 5], [1, 2], [1, 1],
           {"thrift": 0.5, "gap": 1 / 15}),
    # 1 of 5 units is given back, for 2 of 40 credits; or for 2 of 4
    demand("a negative level, by units", TWO_WAYS, 40, [5, 5], [1, 2], [2, -1],
           {"negative": 0.2}, by_units=False),
    demand("a negative level, by credits", TWO_WAYS, 4, [5, 5], [1, 2], [2, -1],
           {"negative": 0.5}, by_units=False),
    # 2 + 3 credits of 10, though each good alone is at most 3
    demand("a negative level of two goods", BOTH, 10, [100, 100], [2, 3], [-1],
           {"negative": 0.5, "regret": 1, "gap": inf}, by_units=False),
    demand("a level that is no number", TWO_WAYS, 10, [5, 5], [1, 2], [2, nan],
           {"negative": inf, "overallocated": inf, "gap": inf}, by_units=False),
    demand("a level without end", TWO_WAYS, 10, [5, 5], [1, 2], [inf, 0],
           {"overallocated": inf, "overspend": inf, "thrift": inf, "gap": inf}, by_units=False),
    # a kept credit is worth 1/2: 3 units, and 7 credits worth 3.5
    demand("the rest is kept", SHORT, 10, [4], [1], [3], keep_values=[0.5]),
    # 2 + 4 instead of 6.5; the missing unit would replace 2 kept credits, for 1
    demand("too much is kept", SHORT, 10, [4], [1], [2],
           {"regret": 1 / 13, "gap": 1 / 4}, keep_values=[0.5]),
    # a kept credit is worth 2: 1 + 18 instead of 20; the unit replaced half a credit, for 1
    demand("too little is kept", SHORT, 10, [4], [1], [1],
           {"regret": 0.05, "gap": 0.125}, keep_values=[2]),
    # 25 instead of 20 for nothing: 10 log 20 - 10 less 10 log 25 - 25
    demand("overspent, and kept credits worth more", LONG, 10, [40], [1], [25],
           {"overspend": 1.5, "gap": (15 - 10 * log(1.25)) / 40}, keep_values=[2]),
    # 10 would be bought: 10 log(10/v) - (10 - v)
    demand("a half of what the credits buy", LONG, 10, [40], [1], [5],
           {"regret": 0.5, "gap": (10 * log(2) - 5) / 40}),
    demand("four fifths", LONG, 10, [40], [1], [8],
           {"regret": 0.2, "gap": (10 * log(1.25) - 2) / 40}),
    demand("no end of demand", ENDLESS, 10, [40], [1], [8],
           {"regret": 0.2, "gap": (10 * log(1.25) - 2) / 40}),
    demand("no end of demand, and free", ENDLESS, 10, [4], [0], [4], {"regret": 1, "gap": inf}),
    demand("all credits", ENDLESS, 10, [40], [1], [10]),
    # a utility above 2 is not needed
    demand("a cap below the demand", SHORT, 10, [4], [1], [2], utility_caps=[2]),
    demand("beyond the cap", SHORT, 10, [4], [1], [3],
           {"thrift": 0.5, "gap": 0.25}, utility_caps=[2]),
    # 18 instead of 6; the other 12 cost a sixth each
    demand("far beyond the cap", RUNS, 10, [4], [1], [3],
           {"thrift": 2, "gap": 0.5}, utility_caps=[6]),
    # 2 units and 4 of 8 kept credits, worth 2; a unit more would save two of them, for 1
    demand("a cap and kept credits", SHORT, 10, [4], [1], [2],
           {"gap": 0.25}, utility_caps=[4], keep_values=[0.5]),
    # training 2 * 3, tests 1, for 3 credits
    demand("two workloads", TWO, 10, [10, 5], [1, 4], [2, 1, 0], {"gap": None}),
    demand("tests where they are dear", TWO, 10, [10, 5], [1, 4], [2, 0, 1],
           {"thrift": 1, "gap": None}),
    # the levels are a worse use than the units allow: 1 * 3 + 1 of 7, and training would be first
    demand("tests before training", TWO, 2, [10, 5], [1, 4], [1, 1, 0],
           {"regret": 1 / 3, "gap": None}, by_units=False),
    # training twice over: 12 instead of 6
    demand("one of two demands overserved", TWO, 10, [10, 5], [1, 4], [4, 1, 0],
           {"overallocated": 1, "thrift": 2 / 3, "gap": None}, by_units=False),
    demand("a quarter", QUARTER, [1, 1], [1, 1], [1, 1], [0.25, 0.75, 0.75, 0.25],
           {"gap": None}, reserves=[0, 0]),
    # at 8/9 team 0 could have 1/4 * 2 and 7/8
    demand("a quarter, and too cheap", QUARTER, [1, 1], [1, 1], [8 / 9, 8 / 9],
           [0.25, 0.625, 0.75, 0.375], {"regret": 2 / 11, "gap": None}, reserves=[0, 0]),
    # 2 of 6 units of value, and the second way leads nowhere
    demand("a good that is not there", GONE, 10, [4, 0], [1, nan], [2, 1],
           {"overallocated": inf, "regret": 2 / 3, "gap": inf}, by_units=False),
    demand("only what is there", GONE, 2, [4, 0], [1, nan], [2, 0]),
    demand("a way that is not there", TWO_WAYS, 10, [5, 0], [1, nan], [1, 0],
           {"regret": 0.5, "gap": (10 * log(2) - 1) / 5}),
    # all 6 units of demand are 6 of value: satisfied with what is there
    demand("satisfied with what is there", GONE, 10, [8, 0], [1, nan], [6, 0]),
]  # fmt: skip


def same(found, expected):
    def equal(one, other):
        if one is None or other is None:
            return one is other
        return one == other or isclose(one, other, rel_tol=1e-12, abs_tol=4e-15)

    wrong = {name: found[name] for name in NAMES if not equal(found[name], expected[name])}
    assert not wrong, f"measured {wrong}, by hand {expected}"


def demanded_point(definition, worked):
    """All residuals, from levels alone, from levels and what they take, and from that alone."""
    market, measure = worked.market(), definition.certificate.measure
    found = measure(market, worked.prices, None, activities=worked.levels)
    same(found.residuals, worked.expected)
    sizes = [abs(size) for size in worked.expected.values() if size is not None]
    assert found.certified() is (max(sizes) <= 1e-8)
    if np.isfinite(worked.levels).all():
        taken = worked.utility.taken(np.array(worked.levels, dtype=float))
        both = measure(market, worked.prices, taken, activities=worked.levels)
        same(both.residuals, worked.expected)
        if worked.by_units:
            same(measure(market, worked.prices, taken).residuals, worked.expected)


def levels_and_units_must_agree(definition):
    worked = POINTS[0]
    market, measure = worked.market(), definition.certificate.measure
    for units in (2.9, 3.1, 0, 3 * (1 + 1.5e-9), 3 * (1 - 1.5e-9)):
        with pytest.raises(qm.MarketError, match="not what the activities take"):
            measure(market, [1], [[units]], activities=[3])
    rounded = measure(market, [1], [[3 * (1 + 0.6e-9)]], activities=[3])
    assert rounded.residuals == measure(market, [1], None, activities=[3]).residuals
    with pytest.raises(qm.MarketError, match=r"activities: shape \(1,\) expected, got \(2,\)"):
        measure(market, [1], None, activities=[3, 3])
    with pytest.raises(qm.MarketError, match="activities: numbers expected"):
        measure(market, [1], None, activities=["three"])
    with pytest.raises(qm.MarketError, match=r"allocation: shape \(1, 1\) expected"):
        measure(market, [1], [[3, 3]], activities=[3])
    plain = qm.Market([1], [1], qm.Linear([[1]]))
    with pytest.raises(qm.MarketError, match="Linear is measured at its allocation"):
        measure(plain, [1], [[1]], activities=[1])


def what_is_missed(definition):
    """`keep.missed`, by hand: credits 10 and a unit cost of 1, unless the row says otherwise."""
    rows = np.array([
        # value, cost, worth of a kept credit, top -> missed
        (10, 1, 0, inf, 0),
        (5, 1, 0, inf, 10 * log(2) - 5),
        (20, 1, 0, inf, 10 - 10 * log(2)),
        (10, 1, 1, inf, 0),
        (4, 1, 1, inf, 0),  # a kept credit is as good
        (0, 1, 1, inf, 0),
        (4, 1, 0.5, inf, 10 * log(2) - 5 + 1),  # up to 5, and from 5 to 10
        (4, 1, 0.5, 5, 1),
        (4, 1, 0.5, 4, 0),
        (0, 1, 2, 6, 0),
        (4, 1, 2, 6, 2),  # half of each
        (5, 1, 2, 5, 2.5),
        (8, 1, 0, 8, 0),
        (4, 1, 0, 8, 10 * log(2) - 4),
        (0, 1, 0, 8, inf),
        (4, 0, 0, 8, 10 * log(2)),  # free
    ]).T  # fmt: skip
    value, cost, worth, top, expected = rows
    budgets = np.full(len(value), 10.0)
    found = definition.keep.missed(value, cost, budgets, worth, top)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)

    # next to the best, a half of the square of the distance, and next to nothing, the logarithm
    near = np.array([3 - 1e-8, 3 + 1e-8, 1.23e-14, 1e-20])
    found = definition.keep.missed(near, *np.array([[3.0], [9], [0], [inf]]) * np.ones(4))
    right = [5e-17, 5e-17, 9 * log(3 / 1.23e-14) - 9, 9 * log(3e20) - 9]
    np.testing.assert_allclose(found, right, rtol=1e-6)


CHECKS = {
    **{
        worked.name: (lambda definition, worked=worked: demanded_point(definition, worked))
        for worked in POINTS
    },
    "levels and units must agree": levels_and_units_must_agree,
    "what is missed": what_is_missed,
}
