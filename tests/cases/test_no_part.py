"""Who and what takes no part: no use, no credits, no supply, no takers. The rest is not disturbed.

The two teams and two goods of the middle are worked by hand: the second team is tied on both, so
the second good costs twice the first, and together they cost the 30 credits.
"""

import numpy as np
import pytest

import qmopt as qm

BASE = ([6, 24], [1, 1], [[2, 1], [1, 2]])
PRICES, ALLOCATION = [10, 20], [[0.6, 0], [0.4, 1]]
GOODS = ["h100@east", "l4@west"]


def check_base(found, tolerance=1e-9):
    """The two teams and two goods that come first are as if nothing else were there."""
    np.testing.assert_allclose(found.prices[:2], PRICES, rtol=tolerance)
    np.testing.assert_allclose(found.allocation[:2, :2], ALLOCATION, atol=1e-12)
    np.testing.assert_allclose(found.utilities[:2], [1.2, 2.4], rtol=tolerance)
    np.testing.assert_allclose(found.spend[:2], [6, 24], rtol=tolerance)
    np.testing.assert_allclose(found.unspent[:2], 0, atol=1e-12)
    assert found.certificate.certified(1e-9)


def test_teams_without_use_or_credits():
    market = qm.Market(
        [6, 24, 5, 0],
        [1, 1],
        qm.Linear([[2, 1], [1, 2], [0, 0], [5, 5]]),
        buyers=["t1", "t2", "t3", "t4"],
        goods=GOODS,
    )
    found = qm.clear(market)
    check_base(found)
    assert found.unique.allocation
    assert (found.allocation[2:] == 0).all()
    assert found.unspent[2:].tolist() == [5, 0]
    assert found.spend[2:].tolist() == found.utilities[2:].tolist() == [0, 0]
    assert found.excluded == {"t3": "values no resource", "t4": "no credits"}


def test_an_empty_good_has_no_price():
    """Not 0, and not some solver's dual; its lower end is where the first team would turn to it."""
    market = qm.Market(
        [6, 24], [1, 1, 0], qm.Linear([[2, 1, 7], [1, 2, 0]]), goods=[*GOODS, "b200@north"]
    )
    found = qm.clear(market)
    check_base(found)
    assert np.isnan(found.prices[2])
    assert (found.allocation[:, 2] == 0).all()
    assert found.idle[2] == 0
    low, high = found.price_intervals[2]
    assert low == pytest.approx(35, rel=1e-9)
    assert np.isnan(high)
    assert found.excluded == {"b200@north": "no supply"}


def test_a_team_that_wants_only_an_empty_good():
    """It keeps its credits, and the market is not infeasible for everybody because of it."""
    market = qm.Market(
        [6, 24, 5],
        [1, 1, 0],
        qm.Linear([[2, 1, 0], [1, 2, 0], [0, 0, 3]]),
        buyers=["t1", "t2", "t3"],
        goods=[*GOODS, "b200@north"],
    )
    found = qm.clear(market)
    check_base(found)
    assert np.isnan(found.prices[2])
    assert found.unspent[2] == 5
    assert (found.allocation[2] == 0).all()
    assert found.excluded == {
        "t3": "values only resources without supply",
        "b200@north": "no supply",
    }


def test_a_good_that_nobody_wants_is_free_and_idle():
    market = qm.Market(
        [6, 24], [1, 1, 4], qm.Linear([[2, 1, 0], [1, 2, 0]]), goods=[*GOODS, "b200@north"]
    )
    found = qm.clear(market)
    check_base(found)
    assert found.prices[2] == 0
    assert (found.allocation[:, 2] == 0).all()
    assert found.idle[2] == 4
    assert found.price_intervals[2].tolist() == [0, 0]
    assert found.unique.allocation
    assert found.excluded == {"b200@north": "wanted by no team with credits"}


def test_an_unwanted_good_costs_its_reserve():
    market = qm.Market(
        [6, 24, 0],
        [1, 1, 4],
        qm.Linear([[2, 1, 0], [1, 2, 0], [0, 0, 9]]),
        reserves=[0, 0, 2.5],
    )
    found = qm.clear(market)
    check_base(found)
    assert found.prices[2] == 2.5
    assert found.idle[2] == 4
    assert (found.allocation[2] == 0).all()


def test_in_every_guise(dressed):
    case = dressed(*BASE)
    found = qm.clear(case.market, tolerance=1e-9)
    np.testing.assert_allclose(case.prices(found), PRICES, rtol=1e-12)
    np.testing.assert_allclose(case.allocation(found), ALLOCATION, atol=1e-12)
    assert np.isnan(found.prices).tolist() == case.market.empty.tolist()
    unwanted = ~case.market.sold & ~case.market.empty
    assert (found.prices[unwanted] == 0).all()
    assert found.idle[unwanted].tolist() == case.market.supplies[unwanted].tolist()
    out = ~case.market.active
    assert found.unspent[out].tolist() == case.market.budgets[out].tolist()
    buyers, goods = np.array(case.market.buyers), np.array(case.market.goods)
    assert set(found.excluded) == {*buyers[out], *goods[~case.market.sold]}


def test_all_of_them_at_once():
    market = qm.Market(
        budgets=[6, 24, 5, 0, 3],
        supplies=[1, 1, 4, 0],
        utility=qm.Linear([[2, 1, 0, 7], [1, 2, 0, 0], [0, 0, 0, 0], [5, 5, 5, 5], [0, 0, 0, 1]]),
    )
    found = qm.clear(market)
    check_base(found)
    assert found.prices[2] == 0
    assert np.isnan(found.prices[3])
    assert set(market.excluded_buyers) == {"2", "3", "4"}
    assert set(market.excluded_goods) == {"2", "3"}
    assert "as a team" in found.excluded["2"]
    assert "as a resource" in found.excluded["2"]


# Data with which no equilibrium is defined: refused before anything is solved, by name.
def market(budgets=(6, 24), supplies=(1, 1), values=((2, 1), (1, 2))):
    return qm.Market(
        budgets, supplies, qm.Linear(np.array(values)), buyers=["t1", "t2"], goods=GOODS
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"supplies": [np.inf, 1]}, ["supplies[0]", "h100@east", "inf"]),
        ({"budgets": [np.nan, 24]}, ["budgets[0]", "t1", "nan"]),
        ({"budgets": [-6, 24]}, ["budgets[0]", "t1", "-6"]),
        ({"budgets": [6, np.inf]}, ["budgets[1]", "t2", "inf"]),
        ({"supplies": [1, -1]}, ["supplies[1]", "l4@west", "-1"]),
        ({"supplies": [1, np.nan]}, ["supplies[1]", "l4@west", "nan"]),
        ({"values": [[np.inf, 1], [1, 2]]}, ["values[0, 0]", "inf"]),
        ({"values": [[2, 1], [1, np.nan]]}, ["values[1, 1]", "nan"]),
        ({"values": [[-2, 1], [1, 2]]}, ["values[0, 0]", "-2"]),
        ({"values": [[2, 1, 1], [1, 2, 0]]}, ["goods", "3 names expected, got 2"]),
        ({"budgets": [0, 0]}, ["no buyer has credits", "t1", "t2"]),
        ({"values": [[0, 0], [0, 0]]}, ["no buyer has credits", "values no resource"]),
        ({"supplies": [0, 0]}, ["no buyer has credits", "without supply"]),
    ],
)
def test_bad_numbers_are_refused_by_name(changed, words):
    with pytest.raises(qm.MarketError) as refused:
        market(**changed)
    assert all(word in str(refused.value) for word in words)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0)])
def test_a_market_without_teams_or_goods_is_refused(shape):
    n, m = shape
    with pytest.raises(qm.MarketError, match=f"{n} buyers and {m} goods"):
        qm.Market(np.ones(n), np.ones(m), qm.Linear(np.ones(shape)))


TABLES = {
    "resources": {"resource": GOODS, "supply": [1, 1]},
    "teams": {"team": ["t1", "t2"], "credits": [6, 24]},
    "bids": {
        "team": ["t1", "t1", "t2", "t2"],
        "resource": [*GOODS, *GOODS],
        "value": [2, 1, 1, 2],
    },
}


def tables(**changed):
    """The base market as tables, one column of one of them changed."""
    given = {name: dict(table) for name, table in TABLES.items()}
    for place, column in changed.items():
        name, key = place.split("__")
        given[name][key] = column
    return given


def test_the_base_as_tables():
    check_base(qm.clear(qm.Market.from_tables(**tables())))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"resources__supply": [np.inf, 1]}, ["resources[0].supply", "inf"]),
        ({"resources__supply": [1, -1]}, ["resources[1].supply", "-1"]),
        ({"teams__credits": [-6, 24]}, ["teams[0].credits", "-6"]),
        ({"bids__value": [np.inf, 1, 1, 2]}, ["bids[0].value", "inf"]),
        ({"bids__value": [2, 1, -1, 2]}, ["bids[2].value", "-1"]),
        ({"bids__resource": ["h200@mars", "l4@west", *GOODS]}, ["bids[0].resource", "h200@mars"]),
        ({"resources__resource": ["l4@west", "l4@west"]}, ["l4@west"]),
        ({"teams__credits": [0, 0]}, ["no buyer has credits"]),
    ],
)
def test_bad_tables_are_refused_by_place(changed, words):
    with pytest.raises((qm.TableError, qm.MarketError)) as refused:
        qm.Market.from_tables(**tables(**changed))
    assert all(word in str(refused.value) for word in words)


@pytest.mark.parametrize("missing", ["teams", "resources"])
def test_tables_without_teams_or_resources_are_refused(missing):
    given = {name: dict(table) for name, table in TABLES.items()}
    given[missing] = {key: [] for key in given[missing]}
    with pytest.raises((qm.TableError, qm.MarketError)):
        qm.Market.from_tables(**given)
