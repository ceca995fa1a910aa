"""Fixed mixes, caps and kept credits in markets that were once answered wrongly elsewhere."""

import numpy as np
import pytest

import qmopt as qm
from qmopt import Bundles, Linear, Market


def test_fixed_mixes_by_the_market_and_not_by_dominant_shares():
    """9 CPUs and 18 GB; a task of a takes 1 and 4, one of b 3 and 1 (the example of the DRF paper).

    Both run out: a + 3b = 9 and 4a + b = 18, so a = 45/11, b = 18/11. One credit each pays for
    them: 1/a = c + 4g and 1/b = 3c + g, so c = 1/5, g = 1/90. Dominant shares give 3 and 2 tasks.
    """
    found = qm.clear(Market([1, 1], [9, 18], Bundles.leontief([[1, 4], [3, 1]])))
    np.testing.assert_allclose(found.prices, [1 / 5, 1 / 90], rtol=1e-12)
    np.testing.assert_allclose(found.utilities, [45 / 11, 18 / 11], rtol=1e-12)
    np.testing.assert_allclose(found.price_intervals[:, 0], [1 / 5, 1 / 90], rtol=1e-9)
    assert found.unique.prices
    assert found.certificate.certified(1e-12)


def test_two_pairs_of_mirrored_teams():
    """One unit of either good: jobs of 1 and 2 for two teams, of 2 and 1 for two others.

    By symmetry prices are equal, so 200 each of 400 credits; a job costs 600 and 100 credits buy
    1/6 of one.
    """
    found = qm.clear(Market([100] * 4, [1, 1], Bundles.leontief([[1, 2]] * 2 + [[2, 1]] * 2)))
    np.testing.assert_allclose(found.prices, [200, 200], rtol=1e-12)
    expected = [[1 / 6, 1 / 3]] * 2 + [[1 / 3, 1 / 6]] * 2
    np.testing.assert_allclose(found.allocation, expected, rtol=1e-12)


LINKS = Bundles.leontief([[1, 1], [1, 0], [0, 1]])


def test_a_long_route_over_two_links():
    """u is 1/(p + q) for the long one, 1/p and 1/q for the others: p = q = 3/2, 1/3 + 2/3 = 1."""
    found = qm.clear(Market([1, 1, 1], [1, 1], LINKS))
    np.testing.assert_allclose(found.prices, [1.5, 1.5], rtol=1e-12)
    np.testing.assert_allclose(found.utilities, [1 / 3, 2 / 3, 2 / 3], rtol=1e-12)


def test_a_long_route_with_another_way():
    """A kept credit brings the long one 1, the route 1/2 per credit: it keeps its credit."""
    found = qm.clear(Market([1, 1, 1], [1, 1], LINKS, keep_values=[1, 0, 0]))
    np.testing.assert_allclose(found.prices, [1, 1], rtol=1e-12)
    np.testing.assert_allclose(found.unspent, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.allocation, [[0, 0], [1, 0], [0, 1]], atol=1e-12)
    assert found.allocation[0].tolist() == [0, 0]


@pytest.mark.parametrize("family", [Linear, Bundles.linear])
def test_nobody_pays_more_than_a_kept_credit_is_worth(family):
    """A credit kept is worth one. Forced to be spent, ten credits would cost 2 for each chip."""
    method = qm.EisenbergGale()
    found = qm.clear(Market([10], [5], family([[1]]), keep_values=[1]), method)
    np.testing.assert_allclose([found.prices[0], found.unspent[0]], [1, 5], rtol=1e-12)
    # a is indifferent between credits and both goods: 1 and 3; b gets 3 of good 0 for its credits
    two = Market([10, 3], [5, 2], family([[1, 3], [4, 2]]), keep_values=[1, 1])
    found = qm.clear(two, method)
    np.testing.assert_allclose(found.prices, [1, 3], rtol=1e-12)
    np.testing.assert_allclose(found.allocation, [[2, 2], [3, 0]], atol=1e-12)
    np.testing.assert_allclose(found.unspent, [2, 0], atol=1e-12)


#: Caps on two teams with 60 and 40 credits for ten chips: price, its interval, chips.
CAPS = {
    "none": ((np.inf, np.inf), 10, (10, 10), (6, 4)),
    "one": ((3, np.inf), 40 / 7, (40 / 7, 40 / 7), (3, 7)),
    "as much as there is": ((3, 7), 0, (0, 40 / 7), (3, 7)),
    "less than there is": ((3, 4), 0, (0, 0), (3, 4)),
}


@pytest.mark.parametrize("family", [Linear, Bundles.linear])
@pytest.mark.parametrize(("caps", "price", "interval", "chips"), CAPS.values(), ids=CAPS)
def test_caps_and_the_price_that_they_leave_open(family, caps, price, interval, chips):
    """Uncapped 100/10. Cap 3: the other buys 7 for 40, the first pays 120/7 and keeps 300/7.

    Caps of 3 and 7 meet the supply at every price up to 40/7. Plain bids get the lowest.
    """
    market = Market([60, 40], [10], family([[1], [1]]), utility_caps=caps)
    found = qm.clear(market, qm.EisenbergGale())
    assert found.certificate.certified(1e-12)
    np.testing.assert_allclose(found.allocation[:, 0], chips, rtol=1e-12)
    np.testing.assert_allclose(found.price_intervals[0], interval, rtol=1e-6, atol=0)
    if family is Linear or interval[0] == interval[1]:
        np.testing.assert_allclose(found.prices, [price], rtol=1e-12)
    low, high = interval
    assert low * (1 - 1e-12) <= found.prices[0] <= high * (1 + 1e-12)
    assert found.unique.prices == (interval[0] == interval[1])
    spend = np.minimum([60, 40], np.array(chips) * found.prices[0])
    np.testing.assert_allclose(found.unspent, [60, 40] - spend, atol=1e-9)


def auction(supply, bids):
    """Bids of units at limit prices: a chip brings its limit in credits that are worth keeping.

    How many units a bid is for is the supply of a good that no other one needs; its price is what
    the bidder would still have paid.
    """
    count = len(bids)
    needs = np.column_stack([np.ones(count), np.eye(count)])
    limits = [limit for _, limit in bids]
    return Market(
        np.full(count, 1000),
        [supply, *(units for units, _ in bids)],
        Bundles(np.arange(count), needs, limits),
        keep_values=np.ones(count),
    )


#: Supply, bids of units at a limit price, interval of prices, units.
AUCTIONS = {
    "between two bids": (5, [(3, 10), (2, 8), (4, 5)], (5, 8), (3, 2, 0)),
    "a tie": (5, [(5, 7), (5, 7)], (7, 7), (2.5, 2.5)),
    "within a bid": (4, [(3, 10), (2, 8), (4, 5)], (8, 8), (3, 1, 0)),
    "enough for all": (20, [(3, 10), (2, 8)], (0, 0), (3, 2)),
}


@pytest.mark.parametrize(("supply", "bids", "interval", "units"), AUCTIONS.values(), ids=AUCTIONS)
def test_auctions_at_one_price(supply, bids, interval, units):
    """The price is where demand at it meets the supply, without anything added to a tie."""
    found = qm.clear(auction(supply, bids))
    np.testing.assert_allclose(found.price_intervals[0], interval, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.allocation[:, 0].sum(), sum(units), rtol=1e-12)
    # of a tie, the solver's own middle
    np.testing.assert_allclose(found.allocation[:, 0], units, atol=1e-4)
    low, high = interval
    assert low * (1 - 1e-9) <= found.prices[0] <= high * (1 + 1e-9)


def test_an_auction_of_nothing_has_no_price():
    with pytest.raises(qm.MarketError, match="only resources without supply"):
        auction(0, [(3, 10), (2, 8)])
