"""What one might take for a law, and is none: each with a market worked by hand."""

import numpy as np
import pytest

import qmopt as qm
from tests.laws.law import LARGE, METHODS, held_in

pytestmark = pytest.mark.parametrize(
    "method", [*METHODS, *LARGE], ids=lambda method: type(method).__name__
)


def clear(method, budgets, supplies, values, **more):
    market = qm.Market(budgets, supplies, qm.Linear(values), **more)
    return qm.clear(market, method, tolerance=1e-12)


def test_with_reserves_nobody_is_sure_of_its_share_of_everything(method):
    """All credits are the team's, but 5 of them buy half a chip at 10; half a chip stays idle."""
    found = clear(method, [5], [1], [[1]], reserves=[10])
    np.testing.assert_allclose(found.prices, [10], rtol=1e-12)
    np.testing.assert_allclose(held_in(found), [[0.5]], rtol=1e-12)


def test_a_higher_reserve_need_not_earn_more(method):
    """Without kept credits all of them are spent, whatever the reserve; only chips are lost."""
    free, dear = (clear(method, [5], [1], [[1]], reserves=[r]) for r in (0, 10))
    np.testing.assert_allclose(free.spend, [5], rtol=1e-12)
    np.testing.assert_allclose(dear.spend, [5], rtol=1e-12)
    np.testing.assert_allclose([*free.idle, *dear.idle], [0, 0.5], atol=1e-12)
    # who values a kept credit and finds a chip (worth 10) too dear at 20 keeps all of them
    kept = clear(method, [5], [1], [[10]], reserves=[20], keep_values=[1])
    assert kept.spend.tolist() == [0]


def test_more_supply_need_not_lower_a_price(method):
    """At a reserve of 1, or where one more credit kept is worth a chip, the price stays at 1."""
    for supply in (5, 6):
        at_reserve = clear(method, [5], [supply], [[1]], reserves=[1])
        keeping = clear(method, [9], [supply], [[1]], keep_values=[1])
        np.testing.assert_allclose([*at_reserve.prices, *keeping.prices], [1, 1], rtol=1e-12)


def test_a_higher_value_can_raise_the_price_of_another_good(method):
    """Red turns from C to A; blue, to whom A and B are alike, moves on to B, which it makes dearer.

    Before, red (1 credit) and green (1) share C at 2, blue (2) pays 1 for A and for B. After, red
    and blue pay 3 for A and B, alike to blue: 1.5 each; C is left to green at 1.
    """
    budgets, supplies, others = [1, 2, 1], [1, 1, 1], [[1, 1, 0], [0, 0, 1]]
    before = clear(method, budgets, supplies, [[0, 0, 1], *others])
    after = clear(method, budgets, supplies, [[9, 0, 1], *others])
    np.testing.assert_allclose(before.prices, [1, 1, 2], rtol=1e-12)
    np.testing.assert_allclose(after.prices, [1.5, 1.5, 1], rtol=1e-12)


def test_a_poor_team_may_envy_a_rich_one(method):
    """Same tastes, 1 credit and 3: by the credit they are equals, by the bundle they are not."""
    found = clear(method, [1, 3], [4], [[1], [1]])
    np.testing.assert_allclose(held_in(found), [[1], [3]], rtol=1e-12)


def test_what_is_sold_in_all_need_not_be_settled(method):
    """A kept credit is worth just what it buys at the reserve: buy all, some or nothing."""
    found = clear(method, [1], [1], [[1]], reserves=[1], keep_values=[1])
    np.testing.assert_allclose(found.prices, [1], rtol=1e-12)
    np.testing.assert_allclose(found.utilities, [1], rtol=1e-12)
    assert found.unique == qm.Unique(prices=True, utilities=True, allocation=False)
    for units in (0, 0.25, 1):
        assert qm.certify(found.market, [1], [[units]]).worst == 0
