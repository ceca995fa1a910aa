"""Points whose residuals were worked out by hand: why each part of the definition is there.

A point states all eight residuals: those not named are 0. `log` is the natural logarithm. The gap
is worked from its terms: idle goods above their reserve, bundles dearer than need be, kept credits
that would do more if spent, utility beyond the cap, and h, which is -B (log(1 - d) + d) with
d = 1 - beta u / B while the budget binds, B log(c / u) - beta (c - u) where the cap does.
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np

import qmopt as qm

NAMES = ("negative", "reserve", "overspend", "regret", "thrift", "overallocated", "idle", "gap")


@dataclass(frozen=True)
class Worked:
    """A market, a point, and what every residual is; kept as lists, since it is built many ways."""

    name: str
    values: list
    budgets: list
    supplies: list
    prices: list
    allocation: list
    residuals: dict
    extra: dict
    tolerance: float = 1e-8

    def market(self, store=np.array):
        values = store(np.array(self.values, dtype=float))
        return qm.Market(self.budgets, self.supplies, qm.Linear(values), **self.extra)

    @property
    def expected(self):
        return {name: float(self.residuals.get(name, 0)) for name in NAMES}

    @property
    def certified(self):
        return max(abs(value) for value in self.expected.values()) <= self.tolerance


def point(
    name, values, budgets, supplies, prices, allocation, expect=None, tolerance=1e-8, **extra
):
    return Worked(
        name, values, budgets, supplies, prices, allocation, expect or {}, extra, tolerance
    )


# ---- The textbook market of VER-01: prices 10 and 20, and eleven claims about it, at 1e-6.
# At (10, 20) team 1 gets a unit of value for 10/2 = 5, so 6 credits bring 1.2; team 2 gets it for
# 10/1 = 20/2 = 10, so 24 credits bring 2.4. The supply is worth 30.
PAIR = ([[2, 1], [1, 2]], [6, 24], [1, 1])
RIGHT = [[0.6, 0], [0.4, 1]]


def claim(name, prices, allocation, expect=None):
    return point(f"VER-01: {name}", *PAIR, prices, allocation, expect, tolerance=1e-6)


def h(budget, ratio):
    """Distance of a buyer who got `ratio` of its best value from a buyer who got it all."""
    return budget * (ratio - 1 - log(ratio))


# team 1 pays 10.0000005 * .59999999; beta_1 = 5.00000025, and 2 * .59999999 is above 6 / beta_1.
# team 2: beta_2 = 9.99999975 (second good), utility .40000001 + 2. Good 1 costs 10.0000005 where
# 9.99999975 would do: dear by 7.5e-7 each.
rounded_1 = 5.00000025 * 1.19999998 / 6
rounded_2 = 9.99999975 * 2.40000001 / 24
# the interior point: beta_1 = 5.000045, beta_2 = min(10.00009, 10.000045)
inner_1 = 5.000045 * 1.20001 / 6
inner_2 = 10.000045 * 2.399995 / 24
CLAIMS = [
    claim("exact", [10, 20], RIGHT),
    claim(
        "rounded 1e-7",
        [10.0000005, 19.9999995],
        [[0.59999999, 0], [0.40000001, 1]],
        {
            "overspend": 10.0000005 * 0.59999999 / 6 - 1,
            "regret": 1 - rounded_2,
            "gap": (0.40000001 * 7.5e-7 + h(6, rounded_1) + h(24, rounded_2)) / 30,
        },
    ),
    # everything is free under p+ = 0, and -p s / 0 is infinite
    claim("sign flipped", [-10, -20], RIGHT, {"negative": inf, "regret": 1, "gap": inf}),
    # team 1 pays 12, beta_1 = 10 (either good). Team 2 gets 2.4 where 24 / 5 = 4.8 was to be had,
    # .4 * (20 - 5) = 6 of its 18 credits were too dear. 6 + h(6, 2) + h(24, 1/2) = 18 log 2.
    claim(
        "prices swapped",
        [20, 10],
        RIGHT,
        {"overspend": 1, "regret": 0.5, "gap": 0.6 * log(2)},
    ),
    # both got half of what they could have: 30 (log 2 - 1/2) over 15
    claim("prices halved (weight 0.5)", [5, 10], RIGHT, {"regret": 0.5, "gap": 2 * log(2) - 1}),
    # team 1 pays 33.6, team 2 pays 50.4, beta = (28, 14); dear .4 * (56 - 14) = 16.8; team 1 got
    # 28 * 1.2 / 6 = 5.6 times its best, team 2 got 14 * 2.4 / 24 = 1.4 times
    claim(
        "stale prices of step 2",
        [56, 28],
        RIGHT,
        {"overspend": 4.6, "gap": (54 - 6 * log(5.6) - 24 * log(1.4)) / 84},
    ),
    # team 1 got 1 of 1.2; a tenth of good 1 is idle, 1 of 30 credits; 1 + h(6, 5/6) = 6 log 1.2
    claim(
        "10% of h100 idle",
        [10, 20],
        [[0.5, 0], [0.4, 1]],
        {"regret": 1 / 6, "idle": 0.1, "gap": 0.2 * log(1.2)},
    ),
    # team 1 pays 7. Divided by 1.1: 7/11, 4/11 and 10/11, so that 20/11 credits of good 2 idle;
    # utilities 14/11 of 6/5 (35/33) and 24/11 of 24/10 (10/11)
    claim(
        "over-allocated",
        [10, 20],
        [[0.7, 0], [0.4, 1]],
        {
            "overspend": 1 / 6,
            "overallocated": 0.1,
            "gap": (24 * log(1.1) - 6 * log(35 / 33)) / 30,
        },
    ),
    # team 1 pays 15 for 1.5, half a good too dear by 20 - 5; team 2 gets 1.5 of 2.4
    claim(
        "equal split, right prices",
        [10, 20],
        [[0.5, 0.5], [0.5, 0.5]],
        {"overspend": 1.5, "regret": 0.375, "gap": (24 * log(1.6) - 6 * log(1.25)) / 30},
    ),
    claim(
        "budget missed by 1%",
        [10.1, 20.2],
        RIGHT,
        {"overspend": 0.01, "gap": (0.3 - 30 * log(1.01)) / 30.3},
    ),
    # good 1 is dear to team 2 by 4.5e-5
    claim(
        "interior point, residual 9e-6",
        [10.00009, 20.00009],
        [[0.600005, 0], [0.399995, 1]],
        {
            "overspend": 10.00009 * 0.600005 / 6 - 1,
            "gap": (0.399995 * 4.5e-5 + h(6, inner_1) + h(24, inner_2)) / 30.00018,
        },
    ),
]

# ---- Why each part is there
FAIR_02 = ([[1], [1]], [1e7, 1], [500])
NUM_03 = ([[1, 1e-10], [1, 0]], [1, 1], [1, 1])
NUM_03_RIGHT = [2e10 / (1e10 + 1), 2 / (1e10 + 1)]
THRIFT = ([[1, 1], [1, 0], [0, 1]], [10, 1, 2], [1, 1])
THRIFT_CAPS = [0.5, inf, inf]
WHY = [
    # high takes its 96 for 96/404, low buys 404 with its one credit
    point("FAIR-02: right", *FAIR_02, [1 / 404], [[96], [404]], utility_caps=[96, 960]),
    # low affords 202 at twice the price, so that 202 of 500 idle. Relative to all credits, 1e7 and
    # 1, the gap would be 1e-7.
    point(
        "FAIR-02: twice its price, 40% idle",
        *FAIR_02,
        [1 / 202],
        [[96], [202]],
        {"idle": 0.404, "gap": 0.404},
        utility_caps=[96, 960],
    ),
    # nobody wants l4 at 9e-9, forty-five times 2e-10. All of it idles, yet that is 4.5e-9 of the
    # credits: a price-weighted sum would certify it.
    point(
        "NUM-03: l4 45 times too dear",
        *NUM_03,
        [2, 9e-9],
        [[0.5, 0], [0.5, 0]],
        {"idle": 1, "gap": 9e-9 / (2 + 9e-9)},
    ),
    point(
        "NUM-03: right",
        *NUM_03,
        NUM_03_RIGHT,
        [[0.5 - 0.5e-10, 1], [0.5 + 0.5e-10, 0]],
    ),
    # Team 1 finances its 2 credits by selling what is not its own. With negative units dropped it
    # pays 2 of 1 and good 2 is handed out twice. Halved: (1/2, 0), (0, 1/2), (0, 1/2): half of good
    # 1 idles (1 credit), team 1 has its best, the others half of it: 1 + 2 (log 2 - 1/2), over 3.
    point(
        "negative: paid by selling what others hold",
        [[1, 0], [0, 1], [0, 1]],
        [1, 1, 1],
        [1, 1],
        [2, 1],
        [[1, -1], [0, 1], [0, 1]],
        {"negative": 1, "overspend": 1, "overallocated": 1, "gap": 2 * log(2) / 3},
    ),
    # team 1 wants half a unit of anything and takes it where it costs 2, not 1/2: dear by 3/2 of 5
    point(
        "thrift: half a unit for 2 where 1/2 would do",
        *THRIFT,
        [1, 4],
        [[0, 0.5], [1, 0], [0, 0.5]],
        {"thrift": 3, "gap": 0.3},
        utility_caps=THRIFT_CAPS,
    ),
    point(
        "thrift: right",
        *THRIFT,
        [2, 2],
        [[0.5, 0], [0.5, 0], [0, 1]],
        utility_caps=THRIFT_CAPS,
    ),
]

# ---- DUAL-04: one good, supply 10, 60 and 40 credits, four pairs of caps
DUAL_04 = ([[1], [1]], [60, 40], [10])


def dual(name, caps, price, allocation, expect=None):
    units = [[x] for x in allocation]
    return point(f"DUAL-04: {name}", *DUAL_04, [price], units, expect, utility_caps=caps)


CAPPED = [
    dual("no caps", [inf, inf], 10, [6, 4]),
    dual("a cap of 3", [3, inf], 40 / 7, [3, 7]),
    # a holds 4 and enjoys 3: it paid 80/3 where 20 would do, and threw 20/3 away, of 200/3
    dual("a cap of 3, and more than it", [3, inf], 20 / 3, [4, 6], {"thrift": 1 / 3, "gap": 0.1}),
    dual("caps meet the supply, free", [3, 7], 0, [3, 7]),
    dual("caps meet the supply, in between", [3, 7], 3, [3, 7]),
    dual("caps meet the supply, top price", [3, 7], 40 / 7, [3, 7]),
    # b cannot pay 42, its budget binds: best 20/3, h(40, 1.05) = 2 - 40 log 1.05, over 60
    dual(
        "caps meet the supply, above the top",
        [3, 7],
        6,
        [3, 7],
        {"overspend": 0.05, "gap": (2 - 40 * log(1.05)) / 60},
    ),
    dual("caps below the supply", [3, 4], 0, [3, 4]),
    dual("caps below the supply, more than they want for nothing", [3, 4], 0, [4, 5]),
    dual("caps below the supply, at a price", [3, 4], 1, [3, 4], {"idle": 0.3, "gap": 0.3}),
    # a has 2 of 3, for nothing. No price to compare with: over all 100 credits
    dual("free, and not enough", [3, 4], 0, [2, 4], {"regret": 1 / 3, "gap": 0.6 * log(1.5)}),
    # b asks for the whole cap although it could not pay: beta = 10, B / beta = 4 is below the cap.
    # a: cap binds, u = 2 of 3: h = 60 log 1.5 - 10. b: u = 4 of 4. 4 of 10 idle, 40 credits.
    dual(
        "one bound by its cap, one by its budget",
        [3, 7],
        10,
        [2, 4],
        {"regret": 1 / 3, "idle": 0.4, "gap": (30 + 60 * log(1.5)) / 100},
    ),
]

POINTS = [*CLAIMS, *WHY, *CAPPED]
