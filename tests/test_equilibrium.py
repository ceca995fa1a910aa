"""Clearing and what comes back: columns, tables, notes, refusals."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate

TWO = qm.Market(
    [60, 40],
    [8, 16],
    qm.Linear([[4, 1], [2, 1]]),
    buyers=["vision", "speech"],
    goods=["h100", "a100"],
)


def mixed(**more):
    """Prices 10 and 20 by hand, beside an empty good, an unwanted one and teams without part."""
    return qm.Market(
        [6, 24, 5, 0],
        [1, 1, 0, 4],
        qm.Linear([[2, 1, 7, 0], [1, 2, 0, 0], [0, 0, 3, 0], [5, 5, 5, 5]]),
        buyers=["a", "b", "c", "d"],
        goods=["w", "x", "y", "z"],
        **more,
    )


def test_columns_of_an_answer():
    found = qm.clear(mixed())
    np.testing.assert_allclose(found.prices, [10, 20, np.nan, 0], rtol=1e-12)
    np.testing.assert_allclose(found.utilities, [1.2, 2.4, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(found.best, [1.2, 2.4, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(found.spend, [6, 24, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.unspent, [0, 0, 5, 0], atol=1e-12)
    np.testing.assert_allclose(found.idle, [0, 0, 0, 4], atol=1e-12)
    assert found.status == "certified"
    assert found.unique == qm.Unique(prices=True, utilities=True, allocation=True)
    assert set(found.excluded) == {"c", "d", "y", "z"}
    assert found.certificate == qm.certify(found.market, found.prices, found.allocation)


def test_only_an_empty_good_has_no_number():
    found = qm.clear(mixed())
    assert np.flatnonzero(np.isnan(found.prices)).tolist() == [2]
    for column in (found.utilities, found.best, found.spend, found.unspent, found.idle):
        assert np.isfinite(column).all()
    assert np.isfinite(found.allocation).all()


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_what_always_holds(seed):
    market = generate.market(seed)
    found = qm.clear(market)
    units = sp.csr_array(found.allocation).toarray()
    prices = np.nan_to_num(found.prices)
    np.testing.assert_allclose(found.spend, units @ prices, rtol=1e-12)
    np.testing.assert_allclose(
        found.spend + found.unspent, market.budgets, atol=1e-9 * market.budgets.max()
    )
    np.testing.assert_allclose(
        found.idle, np.maximum(market.supplies - units.sum(axis=0), 0), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(found.utilities, found.best, rtol=1e-8)
    # who takes part spends every credit, unless a kept one is worth something
    all_of_it = market.active & (market.keep_values == 0)
    np.testing.assert_allclose(found.spend[all_of_it], market.budgets[all_of_it], rtol=1e-8)
    low, high = found.price_intervals.T
    there = ~market.empty
    assert (low[there] <= found.prices[there]).all()
    assert (high[there] >= found.prices[there]).all()
    assert sp.issparse(found.allocation) == sp.issparse(market.utility.values)


def test_tables():
    tables = qm.clear(TWO).tables()
    assert set(tables) == {"prices", "allocation", "teams"}
    prices, allocation, teams = tables["prices"], tables["allocation"], tables["teams"]
    assert prices["resource"].tolist() == ["h100", "a100"]
    assert prices["price"].tolist() == [7.5, 2.5]
    assert (prices["low"] <= prices["price"]).all()
    assert (prices["price"] <= prices["high"]).all()
    assert allocation[["team", "resource", "units", "spend"]].values.tolist() == [
        ["vision", "h100", 8, 60],
        ["speech", "a100", 16, 40],
    ]
    assert teams["team"].tolist() == ["vision", "speech"]
    assert teams[["budget", "spend", "unspent", "utility", "best"]].values.tolist() == [
        [60, 60, 0, 32, 32],
        [40, 40, 0, 16, 16],
    ]


def test_guarantees_are_in_the_tables_and_cost_nothing():
    market = qm.Market.from_tables(
        resources=[{"resource": "h100", "supply": 10}],
        teams=[
            {"team": "a", "credits": 6},
            {"team": "b", "credits": 2},
            {"team": "c", "credits": 0},
        ],
        bids=[{"team": team, "resource": "h100", "value": 1} for team in "ab"],
        guarantees=[
            {"team": "b", "resource": "h100", "units": 5},
            {"team": "c", "resource": "h100", "units": 1},
        ],
    )
    found = qm.clear(market)
    assert found.prices.tolist() == [2]
    np.testing.assert_allclose(found.allocation, [[3], [1], [0]], rtol=1e-12)
    rows = found.tables()["allocation"].set_index("team")
    np.testing.assert_allclose(rows["units"][["a", "b", "c"]], [3, 6, 1])
    np.testing.assert_allclose(rows["spend"][["a", "b", "c"]], [6, 2, 0])


def test_pools_see_their_own_credits_too():
    market = qm.Market.from_tables(
        resources=[{"resource": "h100", "supply": 10}],
        teams=[
            {"team": "a", "credits": 3, "pool": "p"},
            {"team": "b", "credits": 50, "pool": "q"},
        ],
        bids=[{"team": team, "resource": "h100", "value": 1} for team in "ab"],
        pools=[{"pool": "p", "weight": 60}, {"pool": "q", "weight": 40, "minted": 100}],
    )
    found = qm.clear(market)
    assert found.prices.tolist() == [8]
    np.testing.assert_allclose(found.spend, [60, 20])
    teams = found.tables()["teams"]
    np.testing.assert_allclose(teams["spend"], [60, 20])
    np.testing.assert_allclose(teams["spend_own"], [3, 50])


class Returns:
    def __init__(self, prices, allocation):
        self.outcome = qm.Outcome(np.asarray(prices, float), allocation, "optimal", notes=("mine",))

    def solve(self, market):
        return self.outcome


def test_what_does_not_certify_is_not_returned():
    wrong = Returns([5, 5], np.array([[8.0, 0], [0, 16]]))
    with pytest.raises(qm.NotCertified, match=r"not an equilibrium at tolerance 1e-08.*mine") as no:
        qm.clear(TWO, wrong)
    assert no.value.outcome is wrong.outcome
    assert no.value.certificate == qm.certify(TWO, [5, 5], [[8, 0], [0, 16]])
    assert isinstance(no.value, RuntimeError)
    assert isinstance(no.value, qm.QmoptError)


def test_the_tolerance_decides():
    nearly = Returns([7.5 * (1 + 1e-6), 2.5], np.array([[8.0, 0], [0, 16]]))
    with pytest.raises(qm.NotCertified):
        qm.clear(TWO, nearly)
    found = qm.clear(TWO, nearly, tolerance=1e-5)
    assert found.certificate.tolerance == 1e-5
    assert found.outcome is nearly.outcome
    assert found.notes == ("mine",)
    assert qm.clear(TWO, tolerance=0).certificate.worst == 0


@pytest.mark.parametrize("tolerance", [-1e-9, 1, np.nan, np.inf])
def test_a_tolerance_is_a_small_number(tolerance):
    with pytest.raises(qm.MarketError, match="tolerance"):
        qm.clear(TWO, tolerance=tolerance)


@pytest.mark.parametrize(
    "method", ["eisenberg_gale", 7, object(), qm.EisenbergGale, qm.Clarabel(), qm.Clarabel]
)
def test_a_method_is_an_object_that_solves(method):
    with pytest.raises(qm.MarketError, match=r"method: an object with solve\(market\) expected"):
        qm.clear(TWO, method)


def test_an_answer_says_how_it_was_found():
    found = qm.clear(TWO, qm.EisenbergGale(qm.Clarabel(tolerance=1e-9)))
    assert found.method.solver.tolerance == 1e-9
    assert found.stats["iterations"] > 0
    assert found.stats["passes"] >= 1
    assert all(took >= 0 for took in found.stats["seconds"].values())
    assert found.notes == ()


def test_a_running_allocation_as_a_frame():
    market = qm.Market([3, 3], [2, 2], qm.Linear([[1, 1], [1, 1]]))
    running = pd.DataFrame([[2, 0], [0, 2]])
    np.testing.assert_allclose(qm.clear(market, near=running).allocation, running, atol=1e-9)


@pytest.mark.parametrize("units", [np.nan, np.inf, -1.0])
def test_a_running_allocation_holds_finite_units(units):
    with pytest.raises(qm.MarketError, match=r"near: .* units of a100 for vision"):
        qm.clear(TWO, near=[[8, units], [0, 16]])
    with pytest.raises(qm.MarketError, match=r"near: .* units of a100 for vision"):
        qm.clear(TWO, near=sp.csr_array([[8, units], [0, 16]]))


@pytest.mark.parametrize("given", ["abc", [["a", "b"], ["c", "d"]], [[1, 2], [3]], {}])
def test_what_is_not_numbers_is_refused(given):
    with pytest.raises(qm.MarketError, match="near: numbers "):
        qm.clear(TWO, near=given)
    with pytest.raises(qm.MarketError, match="allocation: numbers "):
        qm.certify(TWO, [7.5, 2.5], given)
    with pytest.raises(qm.MarketError, match="prices: numbers "):
        qm.certify(TWO, given)


@pytest.mark.parametrize("price", [5e-324, 1e-310, 1e-200, 1e200, 1.7e308, np.nan, np.inf, -1, 0])
def test_absurd_prices_alone_are_measured(price):
    for prices in ([price, price], [price, 2.5], [7.5, price]):
        certificate = qm.certify(TWO, prices)
        assert not certificate.certified(1e-3)
        assert not np.isnan(certificate.worst)


@pytest.mark.parametrize("method", [None, qm.EisenbergGale(), qm.EisenbergGale(qm.Scs())])
def test_the_same_market_gives_the_same_bits(method):
    market = generate.tied(20, 10, 3, spread=2)
    one, other = (qm.clear(market, method) for _ in range(2))
    np.testing.assert_array_equal(one.prices, other.prices)
    np.testing.assert_array_equal(one.allocation, other.allocation)


def test_methods_agree():
    for seed in range(0, 45, 2):
        market = generate.market(seed)
        one, other = qm.clear(market, qm.Pivoting()), qm.clear(market, qm.EisenbergGale())
        np.testing.assert_allclose(one.prices, other.prices, rtol=1e-10)
        np.testing.assert_allclose(one.utilities, other.utilities, rtol=1e-8)


def test_nothing_is_printed(capfd):
    found = qm.clear(mixed())
    qm.certify(found.market, found.prices)
    qm.clear(found.market, near=found.allocation)
    assert found.price_intervals.shape == (4, 2)
    assert found.unique.prices
    assert capfd.readouterr() == ("", "")
