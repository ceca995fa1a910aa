"""Caps and bundles after the conic solver: random markets, and theorems about caps."""

import numpy as np
import pytest
from scipy.optimize import brentq

import qmopt as qm
from qmopt import Bundles, Linear, Market
from qmopt.methods.polish import polish
from tests.capped import KINDS, METHOD, draw

METHODS = [METHOD, qm.LinearProgramming(), qm.InteriorPoint()]
NAMES = [type(method).__name__ for method in METHODS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", range(2))
def test_random_markets_to_the_last_bits(kind, block):
    for seed in range(10 * block, 10 * block + 10):
        found = qm.clear(draw(seed, kind), METHOD, tolerance=1e-10)
        assert not any("nothing exact" in note for note in found.notes)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "caps" in kind])
def test_a_cap_is_a_smaller_budget(kind):
    """Had everybody brought what it paid, nobody would need a cap: the same point certifies."""
    for seed in range(20):
        market = draw(seed, kind)
        if "all" in kind:
            market = market.replace(keep_values=np.zeros(market.n))
        found = qm.clear(market, METHOD, tolerance=1e-10)
        paid = np.where(found.spend > 1e-9 * market.budgets.sum(), found.spend, 0)
        if not paid.all():  # at prices of 0 there is no budget to speak of
            continue
        same = market.replace(budgets=paid, utility_caps=None)
        assert qm.certify(same, found.prices, found.allocation).certified(1e-8)


def test_one_good_against_its_equation():
    """Demand min(B_i/p, c_i) meets the supply."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = rng.integers(2, 30)
        budgets, caps = np.exp(rng.normal(size=n)), np.exp(rng.normal(size=n))
        supply = caps.sum() * rng.uniform(0.05, 0.95)
        market = Market(budgets, [supply], Linear(np.ones((n, 1))), utility_caps=caps)
        found = qm.clear(market)

        def missing(price, budgets=budgets, caps=caps, supply=supply):
            return np.minimum(budgets / price, caps).sum() - supply

        price = brentq(missing, 1e-9, 1e9, xtol=1e-14, rtol=1e-14)
        np.testing.assert_allclose(found.prices, [price], rtol=1e-9)
        np.testing.assert_allclose(found.utilities, np.minimum(budgets / price, caps), rtol=1e-9)


@pytest.mark.parametrize("kind", ["linear, caps", "bundles, caps"])
def test_caps_that_do_not_bind_change_nothing(kind):
    for seed in range(15):
        free = draw(seed, kind).replace(utility_caps=None)
        found = qm.clear(free, METHOD)
        wide = qm.clear(free.replace(utility_caps=2 * found.utilities), METHOD)
        np.testing.assert_allclose(wide.utilities, found.utilities, rtol=1e-9)
        if kind.startswith("linear"):  # of bundles, prices may be open
            np.testing.assert_allclose(wide.prices, found.prices, rtol=1e-8, atol=1e-12)
        # at the cap to the last bit: prices stay right, whatever else is
        tight = free.replace(utility_caps=found.utilities)
        assert qm.certify(tight, found.prices, found.allocation).certified(1e-8)
        qm.clear(tight, METHOD)


def test_an_infinite_cap_is_none():
    for seed in range(5):
        market = draw(seed, "bundles")
        none = METHOD.solve(market)
        infinite = METHOD.solve(market.replace(utility_caps=np.full(market.n, np.inf)))
        assert none.prices.tolist() == infinite.prices.tolist()
    market = Market([6, 4], [2], Linear([[1], [1]]), utility_caps=[np.inf, np.inf])
    assert isinstance(qm.clear(market).method, qm.Pivoting)


def test_the_thrifty_answer_is_the_limit_of_worthless_credits():
    """With kept credits worth ever less, prices and spends tend to those at a worth of 0."""
    for seed in range(15):
        market = draw(seed, "linear, caps")
        found = qm.clear(market, METHOD)
        if not found.unique.prices:
            continue
        for worth in (1e-5, 1e-7):
            size = worth * market.utility.value(np.tile(market.supplies, (market.n, 1)))
            near = qm.clear(market.replace(keep_values=size / market.budgets.sum()), METHOD)
            np.testing.assert_allclose(near.prices, found.prices, rtol=100 * worth, atol=1e-9)
            np.testing.assert_allclose(near.spend, found.spend, rtol=100 * worth, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_units_do_not_matter(kind):
    """Credits in cents, goods in dozens, values in another unit: utilities tell the same story."""
    for seed in range(8):
        market = draw(seed, kind)
        rng = np.random.default_rng(seed)
        worth, dozen = 10 ** rng.uniform(-2, 2, market.n), 10 ** rng.uniform(-2, 2, market.m)
        ways = market.utility.activities()
        needs = ways.needs.multiply(1 / dozen)
        family = Bundles(ways.owner, needs, ways.values * worth[ways.owner], buyers=market.n)
        other = Market(
            100 * market.budgets, market.supplies / dozen, family,
            reserves=100 * market.reserves * dozen, utility_caps=market.utility_caps * worth,
            keep_values=market.keep_values * worth / 100,
        )  # fmt: skip
        one, two = qm.clear(market, METHOD), qm.clear(other, METHOD)
        np.testing.assert_allclose(two.utilities, one.utilities * worth, rtol=1e-8)
        if one.unique.prices and two.unique.prices:
            expected = 100 * dozen * one.prices
            scale = 1e-9 * expected.max()
            np.testing.assert_allclose(two.prices, expected, rtol=1e-6, atol=scale)


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_where_caps_meet_the_supply_the_lowest_prices_are_returned(method):
    """All value a good alike, up to caps that take all there is: any price per value will do.

    Up to the one at which the first team has just enough for its cap.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        worth, supplies = rng.integers(1, 4, 3), rng.integers(2, 9, 3)
        all_value = int(worth @ supplies)
        cuts = np.sort(rng.choice(np.arange(1, all_value), 3, replace=False))
        caps = np.diff([0, *cuts, all_value]).astype(float)
        budgets = rng.integers(5, 50, 4)
        market = Market(budgets, supplies, Linear(np.tile(worth, (4, 1))), utility_caps=caps)
        found = qm.clear(market, method)
        np.testing.assert_allclose(found.prices, 0, atol=1e-9)
        highest = (budgets / caps).min() * worth
        expected = np.column_stack([np.zeros(3), highest])
        np.testing.assert_allclose(found.price_intervals, expected, rtol=1e-8)
        assert not found.unique.prices
        # a reserve of 1/4 of that on good 0 lifts all of them, as low as it can
        found = qm.clear(market.replace(reserves=[highest[0] / 4, 0, 0]), method)
        np.testing.assert_allclose(found.prices, highest / 4, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_prices_are_open_in_one_part_of_a_market_and_told_in_another(method):
    """Two caps take good 0, and 32 credits buy the 10 units of good 1.

    To whom good 1 is worth twice good 0, that has to cost no less than half of 3.2; and no more
    than 40/7, with which the second cap is paid.
    """
    values, caps = [[1, 0], [1, 0], [1, 2], [0, 1]], [3, 7, np.inf, np.inf]
    market = Market([60, 40, 20, 12], [10, 10], Linear(values), utility_caps=caps)
    found = qm.clear(market, method, tolerance=1e-12)
    np.testing.assert_allclose(found.prices, [1.6, 3.2], rtol=1e-12)
    np.testing.assert_allclose(found.price_intervals, [[1.6, 40 / 7], [3.2, 3.2]], rtol=1e-12)


@pytest.mark.parametrize("rich", 10.0 ** np.arange(1, 11))
def test_a_cap_that_its_owner_could_pay_many_times(rich):
    """It takes 8 of 20 units, of both goods, and 5 and 7 credits buy what is left of each: at 1."""
    values, caps = [[1, 1], [1, 0], [0, 1]], [8, np.inf, np.inf]
    market = Market([rich, 5, 7], [10, 10], Linear(values), utility_caps=caps)
    rough = np.array([1.0001, 0.9998]), np.array([4.999, 3.0003, 5.0006, 7.0002]), np.zeros(3)
    found = polish(market, *rough)
    assert found is not None
    np.testing.assert_allclose(found[0], 1, rtol=1e-14)
    np.testing.assert_allclose(found[1], [5, 3, 5, 7], rtol=1e-14)


@pytest.mark.parametrize("seed", [114, 180, 217, 231, 380])
def test_where_there_is_enough_for_all_everything_is_free(seed):
    """To the last bit: any price at all would be a gap."""
    for method in METHODS:
        found = qm.clear(draw(seed, "linear, caps"), method, tolerance=1e-12)
        assert not found.prices.any()


def test_a_cap_that_looks_met_and_is_not():
    """The solver had it within a thousandth; yet 6 credits buy 5.995 of 6 at 6/5.995."""
    market = Market([6, 4], [9.99], Linear([[1], [1]]), utility_caps=[6, np.inf])
    price = 10 / 9.99
    found = polish(market, np.array([0.49]), np.array([5.999, 3.991]), np.zeros(2))
    assert found is not None
    np.testing.assert_allclose(found[0], price, rtol=1e-14)
    np.testing.assert_allclose(found[1], np.array([6, 4]) / price, rtol=1e-14)


@pytest.mark.parametrize("used", [0, 1, 3, 5.5, 6])
def test_a_free_good_that_is_used_up_or_not(used):
    """Two recipes of the same worth, one of which takes of good 1, of which there are 6, too."""
    market = Market([10], [10, 6], Bundles([0, 0], [[1, 0], [1, 1]]))
    found = polish(market, np.array([1.0, 0.0]), np.array([10.0 - used, used]), np.zeros(1))
    assert found is not None
    prices, levels = found
    np.testing.assert_allclose(prices, [1, 0], atol=1e-15)
    assert levels.sum() == pytest.approx(10, rel=1e-15)
    assert qm.certify(market, prices, market.utility.taken(levels)).certified(1e-12)


def test_without_polish_you_get_the_solvers_own_numbers():
    market = Market([1, 1], [9, 18], Bundles.leontief([[1, 4], [3, 1]]))
    rough = qm.EisenbergGale(qm.Clarabel(tolerance=1e-5), crossover=False).solve(market)
    exact = qm.EisenbergGale(qm.Clarabel(tolerance=1e-5)).solve(market)
    error = [np.abs(point.prices - [1 / 5, 1 / 90]).max() for point in (rough, exact)]
    assert error[1] < 1e-15 < error[0] < 1e-3


@pytest.mark.parametrize("solver", [qm.Clarabel(), qm.Scs()], ids=["Clarabel", "Scs"])
def test_any_solver_ends_at_the_same_point(solver):
    market = Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, np.inf])
    found = qm.clear(market, qm.EisenbergGale(solver))
    np.testing.assert_allclose(found.prices, [40 / 7], rtol=1e-12)
