"""Numbers many orders of magnitude apart: solvers answer "optimal" and are wrong.

Both markets are worked by hand, in shares of the supplies.
"""

import contextlib

import numpy as np
import pytest

import qmopt as qm

# In shares of the supplies both rows are multiples of (2, 1) and (1, 2). The second team buys both
# goods, so a share of the second costs twice a share of the first, and together 1000.001 credits.
NINE_ORDERS = ([0.001, 1000], [1e6, 0.001], [[2000, 1e12], [1e-15, 2e-6]])
NINE_ORDERS_PRICES = [1000001 / 3e9, 2000002 / 3]

# Only the first team has use for the second good, and hardly any: it must be sold out all the
# same, and as this team buys the first good too, prices are as its values.
FAINT = ([1, 1], [1, 1], [[1, 1e-10], [1, 0]])
FAINT_PRICES = [20000000000 / 10000000001, 2 / 10000000001]


def test_supplies_nine_orders_apart(dressed):
    case = dressed(*NINE_ORDERS)
    found = qm.clear(case.market, tolerance=1e-9)
    np.testing.assert_allclose(case.prices(found), NINE_ORDERS_PRICES, rtol=1e-12)
    np.testing.assert_allclose(
        case.allocation(found),
        [[3000000 / 1000001, 0], [999998000000 / 1000001, 0.001]],
        rtol=1e-12,
    )
    assert case.allocation(found)[0, 1] == 0
    # what is unspent is what subtracting leaves of the budget's last bits
    np.testing.assert_allclose(case.unspent(found) / [0.001, 1000], 0, atol=1e-14)


def test_utilities_fifteen_orders_apart():
    market = qm.Market(NINE_ORDERS[0], NINE_ORDERS[1], qm.Linear(NINE_ORDERS[2]))
    found = qm.clear(market)
    np.testing.assert_allclose(found.utilities, [5999.994000006, 2.999997000003e-9], rtol=1e-12)
    np.testing.assert_allclose(found.spend, [0.001, 1000], rtol=1e-12)
    assert found.unique.allocation


def test_a_faint_value_still_sells_the_good_out(dressed):
    case = dressed(*FAINT)
    found = qm.clear(case.market, tolerance=1e-9)
    np.testing.assert_allclose(case.prices(found), FAINT_PRICES, rtol=1e-12)
    np.testing.assert_allclose(
        case.allocation(found), [[0.49999999995, 1], [0.50000000005, 0]], rtol=1e-12
    )
    assert case.prices(found)[1] > 0
    assert case.allocation(found)[1, 1] == 0
    np.testing.assert_allclose(found.idle[case.goods] / case.chips, 0, atol=1e-14)


@pytest.mark.parametrize("exponent", [-30, -20, -12, -6, -3, 3, 6, 12, 20, 30])
def test_a_faint_value_of_any_size(exponent):
    """Prices 2/(1+e) and 2e/(1+e); the first team is left with (1-e)/2 of the first good."""
    e = 10.0**exponent
    found = qm.clear(qm.Market([1, 1], [1, 1], qm.Linear([[1, e], [1, 0]])))
    if e < 1:
        np.testing.assert_allclose(found.prices, [2 / (1 + e), 2 * e / (1 + e)], rtol=1e-12)
        assert found.allocation[0, 1] == pytest.approx(1, rel=1e-12)
    else:  # the first team then wants the second good only
        np.testing.assert_allclose(found.prices, [1, 1], rtol=1e-12)
        np.testing.assert_allclose(found.allocation, [[0, 1], [1, 0]], atol=1e-12)


@pytest.mark.parametrize("orders", [3, 6, 9, 12])
def test_budgets_spread_over_many_orders(orders):
    """One good: its price is the sum of all budgets, and each gets its share, the poorest too."""
    budgets = 10.0 ** np.linspace(-orders, orders, 2 * orders + 1)
    found = qm.clear(qm.Market(budgets, [8], qm.Linear(np.ones((len(budgets), 1)))))
    assert found.prices[0] == pytest.approx(budgets.sum() / 8, rel=1e-12)
    np.testing.assert_allclose(found.allocation[:, 0], 8 * budgets / budgets.sum(), rtol=1e-9)


SMALLEST, LARGEST = 5e-324, 1.7e308
EXTREMES = [1e-300, 1e-150, 1e-50, 1e50, 1e150, 1e300]
PLACES = ["budgets", "supplies", "values", "keep_values", "reserves"]


def with_extreme(place, number, both):
    numbers = {"budgets": [1, 2], "supplies": [1, 1], "keep_values": [0, 0], "reserves": [0, 0]}
    values = np.array([[1.0, 2.0], [2.0, 1.0]])
    if place == "values":
        values[0] = [number, number if both else 1]
    else:
        numbers[place] = [number, number if both else numbers[place][1]]
    return qm.Market(utility=qm.Linear(values), **numbers)


@pytest.mark.parametrize("number", EXTREMES)
@pytest.mark.parametrize("place", PLACES)
def test_numbers_three_hundred_orders_apart(place, number):
    for both in (False, True):
        found = qm.clear(with_extreme(place, number, both), tolerance=1e-9)
        assert np.isfinite(found.prices).all()


@pytest.mark.parametrize("number", [SMALLEST, 1e-310, LARGEST])
@pytest.mark.parametrize("place", PLACES)
def test_numbers_at_the_ends_of_floating_point(place, number):
    """An equilibrium, or an error that says there is none: no warning, no hanging, no lie."""
    for both in (False, True):
        with contextlib.suppress(qm.NotCertified):
            found = qm.clear(with_extreme(place, number, both))
            assert found.certificate.certified()
            assert np.isfinite(found.prices).all()


def test_supplies_at_both_ends():
    """All spending on the scarce good would vanish below the least double: not certified, not 0."""
    market = qm.Market([1, 2], [1e300, 1e-300], qm.Linear([[1, 2], [2, 1]]))
    with pytest.raises(qm.NotCertified):
        qm.clear(market)
