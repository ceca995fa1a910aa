"""What prices could still be where each team has one workload: by hand, and from the definition."""

from math import inf, nan

import numpy as np
import pytest
from scipy.optimize import linprog

import qmopt as qm


def jobs(demands, budgets=(60, 40), supply=10, **more):
    """One good; each team has one workload, each unit of which is worth 1."""
    each = range(len(demands))
    utility = qm.Workloads(each, demands, each, np.ones((len(demands), 1)), np.ones(len(demands)))
    return qm.Market(budgets, [supply], utility, **more)


# DUAL-04 with demands in the place of caps. By hand: 100/10; b buys 7 with 40; 3 and 7 take just
# all, for at most 40/7; 3 and 4 leave 3 units idle.
DUAL_04 = [
    ([inf, inf], 10, [6, 4], (10, 10)),
    ([1000, 1000], 10, [6, 4], (10, 10)),
    ([3, inf], 40 / 7, [3, 7], (40 / 7, 40 / 7)),
    ([3, 7], 0, [3, 7], (0, 40 / 7)),
    ([3, 7], 3, [3, 7], (0, 40 / 7)),
    ([3, 7], 40 / 7, [3, 7], (0, 40 / 7)),
    ([3, 4], 0, [3, 4], (0, 0)),
]


@pytest.mark.parametrize(("demands", "price", "units", "interval"), DUAL_04)
def test_demands_from_their_supports(demands, price, units, interval):
    market = jobs(demands)
    found = qm.price_intervals(market, [price], None, units)
    np.testing.assert_allclose(found, [interval], rtol=1e-9, atol=1e-9)
    # levels are the best use of units, so units say as much
    again = qm.price_intervals(market, [price], np.array([units]).T)
    np.testing.assert_array_equal(again, found)
    unique = qm.uniqueness(market, [price], None, units)
    assert unique == qm.Unique(interval[0] == interval[1], True, None)


# One team with 60 credits, a kept one worth 1/2: it never pays more than 2 for a unit.
KEPT = [
    # all 10 met, at any price up to 2; with a reserve from there on
    (10, 10, 0, 1, 10, (0, 2)),
    (10, 10, 1, 1.5, 10, (1, 2)),
    # 10 of 15 wanted: it has use for more, so 2, and 40 credits are kept
    (15, 10, 0, 2, 10, (2, 2)),
    # 40 of 45 wanted: all 60 are spent, 3/2 each; where 40 is all it wants, up to that
    (45, 40, 0, 1.5, 40, (1.5, 1.5)),
    (40, 40, 0, 1, 40, (0, 1.5)),
    # 30 cost 60 at 2: both bounds meet, whether or not it wants more
    (45, 30, 0, 2, 30, (2, 2)),
    # nothing bought, since the reserve is more than 2
    (15, 10, 3, 3, 0, (3, 3)),
]


@pytest.mark.parametrize(("demand", "supply", "reserve", "price", "units", "interval"), KEPT)
def test_kept_credits_of_worth(demand, supply, reserve, price, units, interval):
    market = jobs([demand], [60], supply, keep_values=[0.5], reserves=[reserve])
    found = qm.price_intervals(market, [price], None, [units])
    np.testing.assert_allclose(found, [interval], rtol=1e-9, atol=1e-9)
    # the less a team pays for all it wants, the more of worth it keeps
    unique = qm.uniqueness(market, [price], None, [units])
    alone = interval[0] == interval[1]
    assert unique == qm.Unique(alone, True if alone else None, None)


@pytest.mark.parametrize(("demand", "supply", "reserve", "price", "units", "interval"), KEPT)
def test_they_end_where_the_definition_does(demand, supply, reserve, price, units, interval):
    """Prices in the interval certify with the same units; those beyond its ends do not."""
    market = jobs([demand], [60], supply, keep_values=[0.5], reserves=[reserve])
    allocation = [[units]]
    for price in np.linspace(*interval, 5):
        assert qm.certify(market, [price], allocation, tolerance=1e-12).certified()
    for price in (interval[0] - 0.01, interval[1] + 0.01):
        assert price < 0 or not qm.certify(market, [price], allocation).certified()


def test_recipes_leave_their_mix_open():
    """A node takes x and two y; three nodes use up both for at most 12 credits: x + 2 y <= 4."""
    utility = qm.Workloads([0], [3], [0], [[1, 2]], [5])
    found = qm.price_intervals(qm.Market([12], [3, 6], utility), [0, 0], None, [3])
    np.testing.assert_allclose(found, [[0, 4], [0, 2]], rtol=1e-9)
    # one more wanted: x + 2 y = 4
    utility = qm.Workloads([0], [4], [0], [[1, 2]], [5])
    market = qm.Market([12], [3, 6], utility)
    found = qm.price_intervals(market, [4, 0], None, [3])
    np.testing.assert_allclose(found, [[0, 4], [0, 2]], rtol=1e-9)
    assert qm.uniqueness(market, [4, 0], None, [3]) == qm.Unique(False, True, None)


def test_rates_count_units_of_demand():
    """An A serves 2 of 6, a B serves 1: with 2 A and 2 B sold, A costs twice a B, at most 12/3."""
    utility = qm.Workloads([0], [6], [0, 0], [[1, 0], [0, 1]], [3, 3], [2, 1])
    market = qm.Market([12], [2, 2], utility)
    found = qm.price_intervals(market, [2, 1], None, [2, 2])
    np.testing.assert_allclose(found, [[0, 4], [0, 2]], rtol=1e-9)


def test_what_is_not_there():
    """On sale for up to 40/7: who has enough would take what serves as well at that price alone."""
    utility = qm.Workloads([0, 1], [3, 7], [0, 1, 1], [[1, 0], [1, 0], [0, 1]], [1, 1, 1])
    market = qm.Market([60, 40], [10, 0], utility)
    found = qm.price_intervals(market, [2, nan], None, [3, 7, 0])
    np.testing.assert_allclose(found[0], [0, 40 / 7], rtol=1e-9)
    assert found[1, 0] == pytest.approx(2)
    assert np.isnan(found[1, 1])


def test_rough_or_several_workloads_are_not_known():
    assert np.isnan(qm.price_intervals(jobs([3, 7]), [3], None, [3, 6.9])).all()
    assert qm.uniqueness(jobs([3, 7]), [3], None, [3, 6.9]) == qm.Unique(None, None, None)
    both = qm.Workloads([0, 0], [3, 7], [0, 1], [[1], [1]], [1, 1])
    market = qm.Market([100], [10], both)
    assert qm.certify(market, [3], [[10]]).certified()
    assert np.isnan(qm.price_intervals(market, [3], None, [3, 7])).all()
    assert qm.uniqueness(market, [3], None, [3, 7]) == qm.Unique(None, None, None)


#: Mirrored teams: each wants 2/3 of its good at 3, and any amount of the other at 1. By hand, three
#: equilibria; at prices 3 and 1, scaled, a team is indifferent between the two goods.
MIRRORED = [
    ([1, 1], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], (7 / 3, 7 / 3)),
    ([3 / 2, 1 / 2], [[5 / 9, 1 / 3], [4 / 9, 2 / 3]], (2, 22 / 9)),
    ([1 / 2, 3 / 2], [[2 / 3, 4 / 9], [1 / 3, 5 / 9]], (22 / 9, 2)),
]


def test_one_purse_for_several_workloads_has_equilibria_far_apart():
    utility = qm.Workloads(
        [0, 0, 1, 1], [2 / 3, inf, 2 / 3, inf], range(4), [[1, 0], [0, 1], [0, 1], [1, 0]],
        [3, 1, 3, 1],
    )  # fmt: skip
    market = qm.Market([1, 1], [1, 1], utility)
    for prices, allocation, utilities in MIRRORED:
        assert qm.certify(market, prices, allocation).certified(1e-12)
        np.testing.assert_allclose(utility.value(np.array(allocation)), utilities, rtol=1e-9)
        assert np.isnan(qm.price_intervals(market, prices, allocation)).all()
        assert qm.uniqueness(market, prices, allocation) == qm.Unique(None, None, None)
    # in between, 2/3 at 5/4 leave team 0 just 2/9 of the other, and team 1 holds 2/3 of it
    between = qm.certify(market, [5 / 4, 3 / 4], [[2 / 3, 2 / 9], [1 / 3, 2 / 3]])
    assert between.idle == pytest.approx(1 / 9)


def test_of_a_split_they_are_those_of_its_division():
    """Two demands of one team take all 10; with 60 and 40 credits as two teams, with 80 and 20 as
    the second can pay, 20/7."""
    both = qm.Workloads([0, 0], [3, 7], [0, 1], [[1], [1]], [1, 2])
    market = qm.Market([100], [10], both, keep_values=[0.001])
    for credits, highest in ([60, 40], 40 / 7), ([80, 20], 20 / 7):
        outcome = qm.Split(credits=credits).solve(market)
        levels = outcome.divided.levels(outcome.activities)
        found = qm.price_intervals(outcome.divided.market, outcome.prices, None, levels)
        np.testing.assert_allclose(found, [[0, highest]], rtol=1e-9, atol=1e-9)


def test_an_answer_that_is_a_split_says_those():
    """Half its credit for each workload: 6/7 is the only price for that division.

    The first keeps 2/7 of its 1/2; the other 1/2 and team 1's credit buy the remaining 7/4.
    """
    utility = qm.Workloads(
        [0, 0, 1], [1 / 4, inf, inf], [0, 1, 2, 2], [[1, 0], [0, 1], [1, 0], [0, 1]], [2, 1, 1, 1]
    )
    market = qm.Market([1, 1], [1, 1], utility)
    half = qm.clear(market, qm.Split(credits=[1 / 2, 1 / 2, 1]), accept="split")
    assert half.status == "split"
    np.testing.assert_allclose(half.price_intervals, np.full((2, 2), 6 / 7), rtol=1e-9)
    assert half.unique == qm.Unique(True, True, None)
    # the best division is an equilibrium of the teams, of which there might be others
    best = qm.clear(market, qm.Split(credits=[1 / 4, 3 / 4, 1]))
    assert best.status == "certified"
    assert np.isnan(best.price_intervals).all()
    assert best.unique == qm.Unique(None, None, None)


def drawn(seed):
    """A market of one workload each, and an exact answer to it: prices first, then the rest.

    Prices are powers of 2 and all else whole or half, so that ties are ties in floats, too.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    prices = 2.0 ** rng.integers(0, 3, m)
    owner = np.repeat(np.arange(n), m)
    needs = np.tile(np.eye(m), (n, 1))
    # as many units of demand per credit on tight goods as anywhere, half as many elsewhere
    rates = np.where(rng.random((n, m)) < 0.6, prices, prices / 2)
    rates[np.arange(n), rng.integers(0, m, n)] = prices.max() * 2
    cost = (prices / rates).min(axis=1)
    tight = prices / rates == cost[:, None]
    units = np.where(tight, rng.integers(0, 4, (n, m)), 0.0)
    units[np.arange(n), tight.argmax(axis=1)] += 1
    there = units.sum(axis=0) > 0
    units[0] += ~there & tight[0]
    served, spend = (rates * units).sum(axis=1), units @ prices
    enough = rng.random(n) < 0.5
    keeps = np.where(rng.random(n) < 0.5, 1 / cost, 0.0)
    # who has enough may be short of worth or credits to spend; who keeps is indifferent
    keeps = np.where(enough & (keeps > 0) & (rng.random(n) < 0.5), keeps / 2, keeps)
    kept = np.where(enough | (keeps > 0), rng.integers(0, 4, n), 0)
    idle = ~(units.sum(axis=0) > 0)
    market = qm.Market(
        spend + kept,
        units.sum(axis=0) + idle,
        qm.Workloads(np.arange(n), np.where(enough, served, 2 * served), owner, needs,
                     np.ones(n * m), rates.ravel()),
        keep_values=keeps,
        reserves=np.where(idle, prices, np.where(rng.random(m) < 0.3, prices / 2, 0)),
    )  # fmt: skip
    return market, prices, units.ravel()


def oracle(market, prices, levels):
    """Rows over prices and costs of value, straight from what best buyers and sellers do."""
    n, m = market.shape
    rates, demand = market.utility.rates.reshape(n, m), market.utility.demand
    units = levels.reshape(n, m)
    below, equal, bounds = [], [], []
    for i in range(n):
        for j in range(m):  # rate * beta <= price, equal where bought
            row = np.zeros(m + n)
            row[j], row[m + i] = -1, rates[i, j]
            (equal if units[i, j] > 0 else below).append(row)
    for j in range(m):
        sold_out = units[:, j].sum() == market.supplies[j]
        bounds.append((market.reserves[j], None if sold_out else market.reserves[j]))
    for i in range(n):
        served = rates[i] @ units[i]
        most = market.budgets[i] / served
        if market.keep_values[i] > 0:
            most = min(most, 1 / market.keep_values[i])
        bounds.append((0 if served == demand[i] else most, most))
    return below, equal, bounds


def extreme(market, rows, cost):
    below, equal, bounds = rows
    found = linprog(
        cost, A_ub=below or None, b_ub=[0] * len(below) or None, A_eq=equal or None,
        b_eq=[0] * len(equal) or None, bounds=bounds,
    )  # fmt: skip
    return found.x[: market.m]


def test_intervals_are_those_of_all_prices_that_certify():
    """Ends by another linear program; what it finds certifies, and so does all in between."""
    wide = 0
    for seed in range(60):
        market, prices, levels = drawn(seed)
        assert qm.certify(market, prices, levels.reshape(market.shape)).certified(1e-13), seed
        found = qm.price_intervals(market, prices, None, levels)
        rows, corners = oracle(market, prices, levels), []
        for j in range(market.m):
            cost = np.zeros(market.m + market.n)
            for end, sign in enumerate((1, -1)):
                cost[j] = sign
                corners.append(extreme(market, rows, cost))
                np.testing.assert_allclose(found[j, end], corners[-1][j], rtol=1e-8, atol=1e-8)
        middle = np.mean(corners, axis=0)
        for supporting in (*corners, middle):
            certificate = qm.certify(market, supporting, levels.reshape(market.shape))
            assert certificate.certified(1e-8), seed
        single = bool((found[:, 1] - found[:, 0] < 1e-8).all())
        assert qm.uniqueness(market, prices, None, levels).prices is single
        wide += not single
    assert 10 < wide < 50


def test_no_price_that_certifies_lies_outside():
    """Whatever prices are tried near an answer, those that certify are within the intervals."""
    inside = 0
    for seed in range(60):
        market, prices, levels = drawn(seed)
        low, high = qm.price_intervals(market, prices, None, levels).T
        rng = np.random.default_rng(seed)
        for _ in range(20):
            # all prices together, since ties hold them together
            tried = prices * rng.choice([0.25, 0.5, 0.75, 1.25, 1.5])
            if qm.certify(market, tried, levels.reshape(market.shape)).certified(1e-12):
                inside += 1
                assert (low <= tried * (1 + 1e-9)).all(), seed
                assert (tried <= high * (1 + 1e-9)).all(), seed
    assert inside > 50


@pytest.mark.parametrize("seed", range(8))
def test_an_interior_point_answer_has_its_intervals(seed):
    """Two methods that may return different prices state the same intervals."""
    market, prices, levels = drawn(seed)
    by_hand = qm.price_intervals(market, prices, None, levels)
    found = qm.clear(market, qm.InteriorPoint(), tolerance=1e-9)
    np.testing.assert_allclose(found.price_intervals, by_hand, rtol=1e-6, atol=1e-8)
