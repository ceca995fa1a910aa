"""More points worked by hand: kept credits, reserves, and the edges of the definition.

As in `certificate_points`: what a point does not name is 0.
"""

from math import inf, log, nan

from tests.certificate_points import point

# ---- Kept credits: B = 3 and s = 2, a chip is worth a kept credit. Right: p = 1, so it costs 2 and
# one credit is kept; utility 2 + 1.
KEEPER = ([[1]], [3], [2])
KEPT = [
    point("kept: right", *KEEPER, [1], [[2]], keep_values=[1]),
    # indifferent between chip and credit, but one chip idles: 1 of 2 credits
    point("kept: one chip idle", *KEEPER, [1], [[1]], {"idle": 0.5, "gap": 0.5}, keep_values=[1]),
    # beta = min(1/1, 2) = 1: keeping all 3 is best, this is 1 + 1. The chip was dear by 1, the
    # other idles (2 credits), h = 3 log 1.5 - 1; the supply costs 4
    point(
        "kept: price too high",
        *KEEPER,
        [2],
        [[1]],
        {"regret": 1 / 3, "idle": 0.5, "gap": (2 + 3 * log(1.5)) / 4},
        keep_values=[1],
    ),
    # beta = 1/2: 3 credits could bring 6, 2 + 2 is 2/3 of it. The 2 kept credits do half of what
    # they could: 2 (1 - 1/2) = 1; h = 3 log 1.5 - 1; the supply costs 1
    point(
        "kept: price too low",
        *KEEPER,
        [0.5],
        [[2]],
        {"regret": 1 / 3, "gap": 3 * log(1.5)},
        keep_values=[1],
    ),
    # kappa = 1/2: a chip is worth two kept credits, so it costs 3/2 at the budget's end. beta =
    # min(2, 3/2), 3 credits for 2 chips, nothing kept.
    point("kept: worth too little to keep", *KEEPER, [1.5], [[2]], keep_values=[0.5]),
    # kappa = 1/2 at p = 2: beta = min(2, 2), so 3 credits bring 3/2: 1 + 1/2. A chip idles.
    point("kept: worth half", *KEEPER, [2], [[1]], {"idle": 0.5, "gap": 0.5}, keep_values=[0.5]),
    # 10 credits, a chip worth 1.5, cap 8. At p = 1.5 keeping is as good as buying; 4 chips cost 6,
    # bring 6, and 2 of the 4 kept credits fill the cap.
    point("kept and capped: right", [[1.5]], [10], [4], [1.5], [[4]], keep_values=[1],
          utility_caps=[8]),
    # at p = 1 a credit spent brings 1.5: beta = 2/3. The 2 kept credits that count could have been
    # 4/3 spent ones: 2/3 over 4.
    point("kept and capped: price too low", [[1.5]], [10], [4], [1], [[4]], {"gap": 1 / 6},
          keep_values=[1], utility_caps=[8]),
    # 6 chips bring 9, more than the cap: none of the kept credits counts, beta (9 - 8) = 1 is
    # wasted, over 9. Not thrift: a kept credit is worth something.
    point("kept and capped: more than enough", [[1.5]], [10], [6], [1.5], [[6]], {"gap": 1 / 9},
          keep_values=[1], utility_caps=[8]),
    # most credits kept: rounding must not drown a gap of 2^-30. The price is 1 + 2^-28 where 1
    # would do: 3 chips dear by 2^-28 each, h = B d^2 / 2 is far below, s p = 3 (1 + 2^-28)
    point(
        "kept: ten million credits beside three",
        [[1]],
        [1e7],
        [3],
        [1 + 2.0**-28],
        [[3]],
        {"regret": 3 * 2.0**-28 / 1e7, "gap": 2.0**-28 / (1 + 2.0**-28)},
        keep_values=[1],
    ),
]  # fmt: skip

# 1/49 and 1/7 do not come back to 1 when multiplied by 49 and 7 in floats; a thousand million kept
# credits must not make a gap of that. By hand as above: a chip costs what it is worth in credits.
ROUNDING = [
    point("kept: a thousand million credits beside three", [[49]], [1e9], [3], [1], [[3]],
          keep_values=[49]),
    # a cap of 1e9 / 7 beyond the 3 chips' 147: kept credits fill it, all that count
    point("kept and capped: a thousand million", [[49]], [1e9], [3], [1], [[3]],
          keep_values=[49], utility_caps=[1e9 / 7]),
    # beta = 0 without a cap is infinitely far off, whatever .9 - .2 and .2 add up to in floats
    *[point(f"free: one of two goods, {spent} of {budget} spent", [[1, 1]], [budget], [1, 1],
            [0, 1], [[1, spent]], {"regret": 1, "idle": 1 - spent, "gap": inf}, keep_values=[worth])
      for budget, spent, worth in ((0.9, 0.2, 0), (1.7, 0.4, 0), (1.8, 0.4, 2))],
    # and so is a team that has nothing of use
    point("nothing of use, .2 of .9 spent", [[1, 0]], [0.9], [1, 1], [1, 1], [[0, 0.2]],
          {"regret": 1, "idle": 1, "gap": inf}),
]  # fmt: skip

# ---- Reserves: B = 1, s = 6, reserve 1. Right: p = 1, one unit sold, five idle.
RESERVED = ([[1]], [1], [6])
RESERVES = [
    point("reserve: right", *RESERVED, [1], [[1]], reserves=[1]),
    # 5.2 of 6 idle above the reserve: 5.2 * .25 of 7.5 credits
    point(
        "reserve: price above it",
        *RESERVED,
        [1.25],
        [[0.8]],
        {"idle": 5.2 / 6, "gap": 5.2 * 0.25 / 7.5},
        reserves=[1],
    ),
    # idle units below their reserve count against the gap: 4.75 * (-.2) of 4.8
    point(
        "reserve: price below it",
        *RESERVED,
        [0.8],
        [[1.25]],
        {"reserve": 0.2, "gap": -4.75 * 0.2 / 4.8},
        reserves=[1],
    ),
    # an unwanted good stays at its reserve; the money buys the first
    point("reserve: unwanted good", [[1, 0]], [1], [1, 2], [1, 3], [[1, 0]], reserves=[0, 3]),
    # reserves of which one is met twice over, the other short by half; both sold out
    point(
        "reserve: the worst counts",
        [[1, 0], [0, 1]],
        [2, 1],
        [1, 1],
        [2, 1],
        [[1, 0], [0, 1]],
        {"reserve": 0.5},
        reserves=[1, 2],
    ),
    # a reserve of an empty good is not asked for
    point(
        "reserve: of an empty good", [[1, 5]], [1], [1, 0], [1, nan], [[1, 0]], reserves=[0.5, 4]
    ),
]

# ---- Nothing costs anything, and goods that some cannot have
EMPTY = ([[2, 1, 7], [1, 2, 0]], [6, 24], [1, 1, 0])
RIGHT = [[0.6, 0, 0], [0.4, 1, 0]]
FREE_AND_EMPTY = [
    # no cap: there is no best
    point("free: without a cap", [[1]], [5], [2], [0], [[2]], {"regret": 1, "gap": inf}),
    # one good costs nothing, the other is 90% idle; spend + kept must not round the gap to a number
    point(
        "free: one of two goods",
        [[1, 1]],
        [0.3],
        [1, 1],
        [0, 1],
        [[1, 0.1]],
        {"regret": 1, "idle": 0.9, "gap": inf},
    ),
    # Free goods may idle. 5 units, cap 3, 2 held: h = 7 log 1.5, over all 7 credits
    point("free: with a cap", [[1]], [7], [5], [0], [[2]], {"regret": 1 / 3, "gap": log(1.5)},
          utility_caps=[3]),
    # the empty good has no price, whatever is written in its place
    point("empty: no price", *EMPTY, [10, 20, nan], RIGHT),
    point("empty: a price", *EMPTY, [10, 20, 35], RIGHT),
    point("empty: price 0 is no bargain", *EMPTY, [10, 20, 0], RIGHT),
    point("empty: negative price", *EMPTY, [10, 20, -5], RIGHT),
    point("empty: infinite price", *EMPTY, [10, 20, inf], RIGHT),
    # units of nothing: all is divided by infinity, so the gap is that of having nothing
    point(
        "empty: units of it",
        *EMPTY,
        [10, 20, nan],
        [[0.6, 0, 1e-9], [0.4, 1, 0]],
        {"overallocated": inf, "gap": inf},
    ),
    point(
        "empty: negative units of it",
        *EMPTY,
        [10, 20, nan],
        [[0.6, 0, -1e-9], [0.4, 1, 0]],
        {"negative": inf},
    ),
    # they bring nothing either: team 1 has 1 of 6/5, and a tenth of good 1 idles
    point("empty: units of it, not enough of the rest", *EMPTY, [10, 20, nan],
          [[0.5, 0, 1], [0.4, 1, 0]],
          {"regret": 1 / 6, "overallocated": inf, "idle": 0.1, "gap": inf}),
    # here having nothing means keeping 3 credits, at no loss: both chips idle, 2 of 2 credits
    point(
        "empty: units of it, beside a keeper",
        [[1, 1]],
        [3],
        [2, 0],
        [1, nan],
        [[2, 1]],
        {"overallocated": inf, "gap": 1},
        keep_values=[1],
    ),
]  # fmt: skip

# ---- Teams that take no part: no credits, no use for anything, a cap of 0
OUTSIDERS = [
    point("outsiders hold nothing", [[1, 0], [1, 0], [0, 0], [1, 0]], [2, 0, 5, 1], [1, 1], [2, 0],
          [[1, 0], [0, 0], [0, 0], [0, 0]], utility_caps=[inf, inf, inf, 0]),
    point("outsiders hold what is free", [[1, 0], [1, 0], [0, 0]], [2, 0, 5], [1, 1], [2, 0],
          [[1, 0], [0, 0.5], [0, 0.5]]),
    # half of the good for a team without credits: team 1 got half, h = log 2 - 1/2, and the
    # program has no use for the other half credit
    point("a team without credits pays", [[1], [1]], [1, 0], [1], [1], [[0.5], [0.5]],
          {"overspend": inf, "regret": 0.5, "gap": log(2)}),
    point("a team that wants nothing pays", [[1], [0]], [1, 4], [1], [1], [[0.5], [0.5]],
          {"overspend": inf, "regret": 0.5, "gap": log(2)}),
    point("a team with a cap of 0 pays", [[1], [1]], [1, 4], [1], [1], [[0.5], [0.5]],
          {"overspend": inf, "regret": 0.5, "gap": log(2)}, utility_caps=[inf, 0]),
    # its units count as handed out: 1 + 1/2; divided by 3/2, team 1 has 2/3 and pays as much
    point("a team that wants nothing takes too much", [[1], [0]], [1, 4], [1], [1], [[1], [0.5]],
          {"overspend": inf, "overallocated": 0.5, "gap": log(1.5)}),
    # it values only what is not there
    point("a team that wants only what is not there", [[1, 0], [0, 3]], [1, 4], [1, 0], [1, nan],
          [[1, 0], [0, 0]]),
]  # fmt: skip

# ---- Below zero. Good 2 is unwanted: its price may be 0, and it may idle.
BELOW = ([[1, 0], [1, 0]], [9, 1], [1, 2])
BELOW_ZERO = [
    # -x/s = .3/2; at a price of 0 nobody is paid
    point("negative units of a free good", *BELOW, [10, 0], [[0.9, 0], [0.1, -0.3]],
          {"negative": 0.15}),
    # paid out .5 * 10 to the second team, of its 1 credit; -x/s = .5. Team 1: 1.5 units for 15 of
    # 9. Divided by 1.5: team 1 has all, and pays 10 of 9; team 2 has nothing.
    point("negative units of a dear good", *BELOW, [10, 0], [[1.5, 0], [-0.5, 0]],
          {"negative": 5, "overspend": 2 / 3, "regret": 1, "overallocated": 0.5, "gap": inf}),
    # -p s = 2 of 10 credits; nobody holds it
    point("a negative price", *BELOW, [10, -1], [[0.9, 0], [0.1, 0]], {"negative": 0.2}),
    point("a negative price beside an empty good", [[1, 0, 1]], [10], [1, 2, 0], [10, -1, nan],
          [[1, 0, 0]], {"negative": 0.2}),
    # team 2 is paid 2 credits for taking it, of 1
    point("paid to take it", *BELOW, [10, -1], [[0.9, 0], [0.1, 2]], {"negative": 2}),
    # the other way about: negative units at a negative price cost something; -x/s = .15 < .2
    point("two wrongs", *BELOW, [10, -1], [[0.9, 0], [0.1, -0.3]], {"negative": 0.2}),
]  # fmt: skip

# ---- When a team counts as satisfied. Team 1 buys .999 of the cap 1 at the good that costs 2, not
# 1: paid 1.998 for .999, dear by .999; teams 2 and 3 buy the rest. The supply costs 3, and
# h = 10 log(1/.999) - .001.
NEARLY = (
    [[1, 1], [1, 0], [0, 1]],
    [10, 1, 0.002],
    [1, 1],
    [1, 2],
    [[0, 0.999], [1, 0], [0, 0.001]],
)
NEARLY_GAP = (0.998 - 10 * log(0.999)) / 3
# one capped team, 1 credit in all: it pays p for the second good although the first is free
CRUMBS = ([[1, 1]], [1], [1, 1])


def crumbs(price, thrift):
    return point(f"thrift: pays {price} where nothing would do", *CRUMBS, [0, price], [[0, 1]],
                 {"thrift": thrift, "gap": 1}, utility_caps=[1])  # fmt: skip


SATISFIED = [
    point("thrift: not yet satisfied", *NEARLY, {"regret": 0.001, "gap": NEARLY_GAP},
          utility_caps=[1, inf, inf]),
    point("thrift: satisfied at 1e-2", *NEARLY, {"regret": 0.001, "thrift": 1, "gap": NEARLY_GAP},
          tolerance=1e-2, utility_caps=[1, inf, inf]),
    crumbs(0.25, inf),
    crumbs(1.5e-14, inf),
    crumbs(1e-14, inf),  # not below 1e-14 of all credits
    crumbs(0.9e-14, 0),
    # of all credits, not one team's: 3 and 5 here
    *[point(f"thrift: pays {price} of 8", [[1, 1], [1, 0]], [3, 5], [2, 1], [0, price],
            [[0, 1], [1, 0]], {"thrift": thrift, "gap": 1}, utility_caps=[1, 1])
      for price, thrift in ((7e-14, 0), (9e-14, inf))],
]  # fmt: skip

EDGES = [*KEPT, *ROUNDING, *RESERVES, *FREE_AND_EMPTY, *OUTSIDERS, *BELOW_ZERO, *SATISFIED]
