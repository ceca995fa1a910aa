"""What prices could still be and what is unique: by hand, and where the answer is known exactly."""

from fractions import Fraction
from math import inf, nan
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import qmopt as qm
from qmopt import catalogue, tables

# ---- DUAL-04: one good, 10 units, 60 and 40 credits, four pairs of caps. By hand: 100/10; b buys 7
# with 40; caps 3 and 7 take just all, for at most 40/7; caps 3 and 4 leave 3 units idle.
DUAL_04 = [
    ([1000, 1000], 10, [6, 4], (10, 10)),
    ([3, inf], 40 / 7, [3, 7], (40 / 7, 40 / 7)),
    ([3, 7], 0, [3, 7], (0, 40 / 7)),
    ([3, 7], 3, [3, 7], (0, 40 / 7)),
    ([3, 7], 40 / 7, [3, 7], (0, 40 / 7)),
    ([3, 4], 0, [3, 4], (0, 0)),
]


def dual_04(caps):
    return qm.Market([60, 40], [10], qm.Linear([[1], [1]]), utility_caps=caps)


@pytest.mark.parametrize(("caps", "price", "units", "interval"), DUAL_04)
@pytest.mark.parametrize("store", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_prices_under_caps_from_their_supports(caps, price, units, interval, store):
    market, allocation = dual_04(caps), store(np.array([units], dtype=float).T)
    found = qm.price_intervals(market, [price], allocation)
    np.testing.assert_allclose(found, [interval], rtol=1e-9, atol=1e-9)
    unique = qm.uniqueness(market, [price], allocation)
    assert unique.prices is (interval[0] == interval[1])
    assert unique.utilities is True


def test_without_caps_the_gap_alone_bounds_the_price():
    """At an exact answer only rounding is left: a few parts in 1e8, its square root."""
    low, high = qm.price_intervals(dual_04([inf, inf]), [10], [[6], [4]])[0]
    assert 10 * (1 - 1e-7) < low <= 10 <= high < 10 * (1 + 1e-7)


def test_the_bound_by_hand():
    """One buyer, one good, half of it sold at twice its price: the ends solve the equation.

    r = 2, and the gap is the idle half, 1 credit: z log z - z + 1 <= 1/2 for the ratio z of the
    right price (1, z = 1/2, left side .153) to the given one.
    """
    market = qm.Market([1], [1], qm.Linear([[1]]))
    low, high = qm.price_intervals(market, [2], [[0.5]])[0] / 2
    for end in (low, high):
        assert end * np.log(end) - end + 1 == pytest.approx(0.5, rel=1e-9)
    assert low < 0.5 < 1 < high
    # a gap as large as the value of the supply leaves nothing to say from below
    assert qm.price_intervals(market, [1e6], [[1e-6]])[0, 0] < 1


def test_rough_under_caps_is_not_known():
    found = qm.price_intervals(dual_04([3, 7]), [3], [[3], [6.9]])
    assert np.isnan(found).all()
    assert qm.uniqueness(dual_04([3, 7]), [3], [[3], [6.9]]) == qm.Unique(None, None, None)


def test_the_thrifty_team():
    """Right: (2, 2). Teams 2 and 3 spend 1 and 2, and team 1's half unit joins the two prices."""
    market = qm.Market(
        [10, 1, 2], [1, 1], qm.Linear([[1, 1], [1, 0], [0, 1]]), utility_caps=[0.5, inf, inf]
    )
    point = [2, 2], [[0.5, 0], [0.5, 0], [0, 1]]
    np.testing.assert_allclose(qm.price_intervals(market, *point), [[2, 2], [2, 2]], rtol=1e-9)


def test_a_cap_with_reserve_and_kept_credits():
    """By hand: 4 units, cap 3 of a team that holds 3; one idles at the reserve 1/2 and fixes it.

    Then a team with worth 1 for a kept credit, 10 credits, value 3/2, cap 8: 4 units bring 6, and
    two kept credits that count fix beta = 1, so the price is 3/2.
    """
    idle = qm.Market([10], [4], qm.Linear([[1]]), reserves=[0.5], utility_caps=[3])
    np.testing.assert_allclose(qm.price_intervals(idle, [0.5], [[3]]), [[0.5, 0.5]], rtol=1e-9)
    kept = qm.Market([10], [4], qm.Linear([[1.5]]), keep_values=[1], utility_caps=[8])
    np.testing.assert_allclose(qm.price_intervals(kept, [1.5], [[4]]), [[1.5, 1.5]], rtol=1e-9)
    # sold out, a reserve below and a budget above: 3 units for at most 10 credits
    between = qm.Market([10], [3], qm.Linear([[1]]), reserves=[0.5], utility_caps=[3])
    np.testing.assert_allclose(qm.price_intervals(between, [2], [[3]]), [[0.5, 10 / 3]], rtol=1e-9)


def test_goods_without_price_or_takers():
    """DEG-02: 7 for what costs 10 per 2 elsewhere, so at 35 nobody wants it any more."""
    values = [[2, 1, 7, 0], [1, 2, 0, 0]]
    market = qm.Market([6, 24], [1, 1, 0, 5], qm.Linear(values), reserves=[0, 0, 0, 3])
    point = [10, 20, nan, 3], [[0.6, 0, 0, 0], [0.4, 1, 0, 0]]
    found = qm.price_intervals(market, *point)
    np.testing.assert_allclose(found[:2], [[10, 10], [20, 20]], rtol=1e-6)
    assert found[2, 0] == pytest.approx(35)
    assert np.isnan(found[2, 1])
    assert found[3].tolist() == [3, 3]
    # nobody would have it: its choke price is 0
    nobody = qm.Market([6, 24], [1, 1, 0], qm.Linear([[2, 1, 0], [1, 2, 0]]))
    assert qm.price_intervals(nobody, [10, 20, nan], [[0.6, 0, 0], [0.4, 1, 0]])[2, 0] == 0


def test_what_is_free_stays_free():
    """r = 0 gives [0, 0]; the other good's interval is as wide as the gap makes it."""
    market = qm.Market([6], [1, 2], qm.Linear([[1, 0]]))
    found = qm.price_intervals(market, [6, 0], [[0.9, 0]])
    assert found[1].tolist() == [0, 0]
    assert found[0, 0] < 6 < found[0, 1]


# ---- Equilibria known exactly: prices first, then credits and supplies that go with them


class Known(NamedTuple):
    market: qm.Market
    prices: np.ndarray
    units: np.ndarray
    tight: np.ndarray
    keepers: np.ndarray
    at_reserve: np.ndarray


def known(seed):
    """Prices are powers of 2 and the rest whole, so that ties are ties in floats, too."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6), rng.integers(1, 5)
    prices = 2.0 ** rng.integers(0, 4, m)
    values = rng.integers(1, 4, (n, m)) * np.where(rng.random((n, m)) < 0.7, prices, 1)
    per_credit = values / prices
    tight = per_credit == per_credit.max(axis=1)[:, None]
    units = np.where(tight & (rng.random((n, m)) < 0.5), rng.integers(1, 4, (n, m)), 0)
    units[np.arange(n), tight.argmax(axis=1)] += 1
    sold = units.sum(axis=0)
    units[0, (sold == 0) & tight[0]] += 1
    there = units.sum(axis=0) > 0
    prices, values = prices[there], values[:, there]
    tight, units = tight[:, there], units[:, there].astype(float)
    keepers = (seed % 3 == 1) & (rng.random(n) < 0.6)
    at_reserve = (seed % 3 == 2) & (rng.random(there.sum()) < 0.6)
    kept = np.where(keepers, rng.integers(0, 3, n), 0)
    idle = np.where(at_reserve, rng.integers(0, 3, there.sum()), 0)
    market = qm.Market(
        units @ prices + kept,
        units.sum(axis=0) + idle,
        qm.Linear(values),
        keep_values=np.where(keepers, per_credit.max(axis=1), 0),
        reserves=np.where(at_reserve, prices, 0),
    )
    return Known(market, prices, units, tight, keepers, at_reserve)


def bounds_by_program(found):
    """Least and most units of each tight pair over all allocations at these prices."""
    n, m = found.market.shape
    pairs = np.argwhere(found.tight)
    keepers, idle = np.flatnonzero(found.keepers), np.flatnonzero(found.at_reserve)
    rows = np.zeros((n + m, len(pairs) + len(keepers) + len(idle)))
    for k, (i, j) in enumerate(pairs):
        rows[i, k], rows[n + j, k] = found.prices[j], 1
    for k, i in enumerate(keepers, len(pairs)):
        rows[i, k] = 1
    for k, j in enumerate(idle, len(pairs) + len(keepers)):
        rows[n + j, k] = 1
    right = [*found.market.budgets, *found.market.supplies]
    for k in range(len(pairs)):
        cost = np.zeros(rows.shape[1])
        cost[k] = 1
        yield (
            linprog(cost, A_eq=rows, b_eq=right).fun,
            -linprog(-cost, A_eq=rows, b_eq=right).fun,
        )


SEEDS = range(150)


def test_the_allocation_is_unique_when_no_program_finds_another():
    seen = []
    for seed in SEEDS:
        found = known(seed)
        assert qm.certify(found.market, found.prices, found.units).certified(1e-14)
        unique = qm.uniqueness(found.market, found.prices, found.units)
        alone = all(high - low < 1e-7 for low, high in bounds_by_program(found))
        assert unique == qm.Unique(True, True, alone), seed
        seen.append(alone)
    assert 20 < sum(seen) < len(seen) - 20


def holds(interval, price):
    """Allow for the last bits of the ends and of a price that is itself a float."""
    return (interval[:, 0] <= price * (1 + 1e-12)) & (price * (1 - 1e-12) <= interval[:, 1])


def perturbed(market, prices, units, seed):
    """The same point exactly, and roughly: prices, units, both, or prices below their reserves."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-7, 0)

    def about(numbers):
        return numbers * (1 + size * rng.uniform(-1, 1, numbers.shape))

    yield prices, units
    yield about(prices), units
    yield prices, about(units)
    yield about(prices), about(units)
    yield prices * (1 - size), units
    yield prices * (1 + size), units


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_hold_the_exact_price(seed):
    found = known(seed)
    for prices, units in perturbed(found.market, found.prices, found.units, seed):
        interval = qm.price_intervals(found.market, prices, units)
        assert holds(interval, found.prices).all()


@pytest.mark.parametrize("seed", range(100))
def test_intervals_hold_the_price_that_clearing_finds(seed):
    """Whole-number markets, cleared to 1e-12; E19 to E22 have prices from paper below."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 9), rng.integers(1, 6)
    values = rng.integers(0, 6, (n, m))
    values[0, 0] = 1
    budgets, supplies = rng.integers(1, 50, n), rng.integers(1, 9, m)
    level = budgets.sum() / supplies.sum()
    worth = np.where((seed % 3 == 1) & (rng.random(n) < 0.5), values.max(axis=1) / level, 0)
    floor = np.where((seed % 3 == 2) & (rng.random(m) < 0.7), level * rng.uniform(0.3, 2, m), 0)
    market = qm.Market(budgets, supplies, qm.Linear(values), keep_values=worth, reserves=floor)
    found = qm.clear(market, tolerance=1e-12)
    for prices, units in perturbed(market, found.prices, np.asarray(found.allocation), seed):
        interval = qm.price_intervals(market, prices, units)
        bounded = ~np.isnan(interval).any(axis=1)
        assert (holds(interval, found.prices) | ~bounded).all()
    assert not np.isnan(qm.price_intervals(market, found.prices, found.allocation)).any()


TEXTBOOK = [name for name in catalogue.names() if name.startswith("textbook/")]


@pytest.mark.parametrize("name", TEXTBOOK)
def test_intervals_hold_the_prices_from_paper(name):
    market = qm.read_market(name)
    table = tables.read(catalogue.path(name))["expected"]
    exact = dict(zip(table.column("resource"), table.column("price"), strict=True))
    prices = np.array([float(Fraction(exact[good])) for good in market.goods])
    units = np.asarray(qm.clear(market).allocation)
    for seed in range(5):
        for rough, held in perturbed(market, prices, units, seed):
            assert holds(qm.price_intervals(market, rough, held), prices).all()


# ---- Uniqueness by hand
def unique(values, budgets, supplies, prices, allocation, **extra):
    market = qm.Market(budgets, supplies, qm.Linear(values), **extra)
    assert qm.certify(market, prices, allocation).worst <= 1e-15
    return qm.uniqueness(market, prices, allocation).allocation


ONES = [[1, 1], [1, 1]]


def test_ties():
    # both may hold either, whatever they hold now
    assert unique(ONES, [1, 1], [1, 1], [1, 1], [[0.5, 0.5], [0.5, 0.5]]) is False
    assert unique(ONES, [1, 1], [1, 1], [1, 1], [[1, 0], [0, 1]]) is False
    # a forest: team 1 holds good 1, team 2 some of it and good 2
    assert unique([[2, 1], [1, 2]], [6, 24], [1, 1], [10, 20], [[0.6, 0], [0.4, 1]]) is True
    # team 1 likes both alike, but team 2 has use for the second alone and takes all of it
    assert unique([[1, 1], [0, 1]], [1, 1], [1, 1], [1, 1], [[1, 0], [0, 1]]) is True
    # a third team with the same tie has something to swap with the first
    assert unique([[1, 1], [0, 1], [1, 1]], [1, 1, 1], [2, 1], [1, 1],
                  [[1, 0], [0, 1], [1, 0]]) is True  # fmt: skip
    assert unique([[1, 1], [0, 1], [1, 1]], [1, 1, 1], [1, 2], [1, 1],
                  [[1, 0], [0, 1], [0, 1]]) is False  # fmt: skip


def test_ties_through_the_bank():
    one = [[1], [1]]
    # two teams that do not care whether they keep or buy may swap; one alone has to buy it all
    assert unique(one, [3, 3], [2], [1], [[1], [1]], keep_values=[1, 1]) is False
    assert unique(one, [1, 3], [2], [1], [[1], [1]], keep_values=[0, 1]) is True
    # a team that likes two goods alike, each with a unit to spare at its reserve
    assert unique([[1, 1]], [2], [2, 2], [1, 1], [[1, 1]], reserves=[1, 1]) is False
    assert unique([[1, 1]], [3], [1, 3], [2, 1], [[0, 3]], reserves=[2, 1]) is True
    assert unique([[1]], [2], [3], [1], [[2]], reserves=[1]) is True
    # keep or buy what would idle otherwise
    assert unique([[1]], [3], [3], [1], [[2]], keep_values=[1], reserves=[1]) is False


def test_rough_points_and_other_families():
    market = qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]))
    assert qm.uniqueness(market, [10, 20.1], [[0.6, 0], [0.4, 1]]) == qm.Unique(None, None, None)
    # what is free may be taken beyond one's want, so nothing is said of who holds it
    assert qm.uniqueness(dual_04([3, 4]), [0], [[3], [4]]) == qm.Unique(True, True, None)
