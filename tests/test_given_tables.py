"""What certify and near= take: tables in any order, labelled matrices, arrays; and their words."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import qmopt as qm

TEAMS, CHIPS = ["vision", "speech"], ["h100", "a100"]
# 7.5 and 2.5 credits, as the README works out; 1 h100 of 9 is guaranteed to speech
MARKET = qm.Market.from_tables(
    resources={"resource": CHIPS, "supply": [9, 16]},
    teams={"team": TEAMS, "credits": [60, 40]},
    bids={"team": np.repeat(TEAMS, 2).tolist(), "resource": CHIPS * 2, "value": [4, 1, 2, 1]},
    guarantees=[{"team": "speech", "resource": "h100", "units": 1}],
)
# equal teams and chips: every division is an equilibrium, so that near decides
TIED = qm.Market([1, 1], [6, 6], qm.Linear(np.ones((2, 2))), buyers=TEAMS, goods=CHIPS)
RUNNING = pd.DataFrame({"units": [6.0, 6.0], "resource": ["a100", "h100"], "team": TEAMS})
ACROSS = [[0, 6], [6, 0]]


def test_tables_of_an_answer_are_measured():
    tables = qm.clear(MARKET).tables()
    assert tables["allocation"]["guaranteed"].tolist() == [0, 1, 0]
    for order in (slice(None), slice(None, None, -1)):
        prices, held = tables["prices"][order], tables["allocation"][order]
        assert qm.certify(MARKET, prices, held).certified(1e-12)
        assert qm.certify(MARKET, prices.set_index("resource"), held.iloc[:, ::-1]).certified()
        assert qm.certify(MARKET, prices).certified()


def test_guaranteed_units_are_no_purchase():
    """One h100 in a table is what speech was guaranteed; in a matrix it is bought."""
    held = [("vision", "h100", 8), ("speech", "h100", 1), ("speech", "a100", 16)]
    rows = pd.DataFrame(held, columns=["team", "resource", "units"])
    prices = {"a100": 2.5, "h100": 7.5}
    assert qm.certify(MARKET, prices, rows).worst == 0
    bought = pd.DataFrame([[16, 0], [0, 8]], index=TEAMS[::-1], columns=CHIPS[::-1])
    assert qm.certify(MARKET, prices, bought).worst == 0
    assert qm.certify(MARKET, prices, bought + np.eye(2)).overallocated == 1 / 8
    # and whoever does not hold its guarantee has been taken something
    assert qm.certify(MARKET, prices, rows.drop(1)).negative > 0


@pytest.mark.parametrize(
    "given",
    [
        RUNNING,
        RUNNING.assign(spend=1.0, note="x"),
        RUNNING.set_index(["team", "resource"]),
        RUNNING.to_dict("list"),
        RUNNING.to_dict("records"),
        RUNNING.pivot_table(index="team", columns="resource", values="units", fill_value=0),
        pd.DataFrame(ACROSS, index=TEAMS, columns=CHIPS),
        pd.DataFrame([[0, 6], [6, 0]], index=TEAMS[::-1], columns=CHIPS[::-1]),
        pd.DataFrame(ACROSS),
        ACROSS,
        sp.csr_array(ACROSS),
    ],
    ids=range(11),
)
def test_near_takes_what_there_is(given):
    assert qm.clear(TIED, near=given).allocation.tolist() == ACROSS


def test_who_is_not_in_the_table_holds_nothing():
    alone = pd.DataFrame([[6]], index=["speech"], columns=["h100"])
    assert qm.clear(TIED, near=alone).allocation.tolist() == ACROSS
    nobody = RUNNING.iloc[:0]
    assert qm.clear(TIED, near=nobody).certificate.certified()


def test_what_is_held_less_than_guaranteed_is_nothing_bought():
    few = pd.DataFrame({"team": ["vision"], "resource": ["h100"], "units": [8]})
    assert qm.clear(MARKET, near=few).allocation.tolist() == [[8, 0], [0, 16]]


def test_near_an_answer_of_another_order():
    turned = qm.Market([1, 1], [6, 6], qm.Linear(np.ones((2, 2))), buyers=TEAMS, goods=CHIPS[::-1])
    running = qm.clear(TIED, near=ACROSS)
    assert qm.clear(turned, near=running).allocation.tolist() == [[6, 0], [0, 6]]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            RUNNING.replace("a100", "a10"),
            r"near\[0\].resource: the market has no .* 'a10'; did",
        ),
        (
            RUNNING.replace("vision", "visoin"),
            r"near\[0\].team: .* 'visoin'; did you mean 'vis",
        ),
        (RUNNING.assign(units=[1, np.nan]), r"near\[1\].units: is missing"),
        (RUNNING.assign(units=[1, -1]), r"near\[1\].units: is negative"),
        (RUNNING.assign(units=["six", "1"]), r"near\[0\].units: 'six'"),
        (RUNNING.rename(columns={"units": "chips"}), r"near.units: the column is missing"),
        (pd.concat([RUNNING, RUNNING]), r"near\[2\].* is there twice; the first is near\[0\]"),
        (RUNNING.iloc[:, [0, 0, 1, 2]], r"near: the column 'units' is there twice"),
        (pd.DataFrame(ACROSS, TEAMS, ["h100", "a10"]), "near: .* no resource 'a10'; did you mean"),
        (pd.DataFrame(ACROSS, ["speech"] * 2, CHIPS), "near: the team 'speech' is there twice"),
        (pd.DataFrame([["x", 1]], ["speech"], CHIPS), "near: numbers expected"),
        (pd.DataFrame([[np.nan, 1]], ["speech"], CHIPS), "near: nan units of h100 for speech"),
        ([[1, 2, 3]], r"near: shape \(2, 2\) expected, got \(1, 3\)"),
        (sp.csr_array([[1.0]]), r"near: shape \(2, 2\) expected, got \(1, 1\)"),
        ("running.csv", "near: .* expected, got 'running.csv'; pandas.read_csv"),
        ({}, "near: .* got an empty dict"),
        ({"team": ["vision"], "resource": []}, "near: "),
    ],
    ids=range(17),
)
def test_what_is_wrong_with_near_is_said_of_near(given, says):
    with pytest.raises((qm.MarketError, qm.TableError), match=says) as refused:
        qm.clear(TIED, near=given)
    assert "allocation" not in str(refused.value)


def test_what_is_wrong_with_prices_is_said_of_prices():
    for given, says in (
        (None, "prices: .* expected, got None"),
        (
            {"resource": ["h10"], "price": [1]},
            r"prices\[0\].resource: .*'h10'; did you mean 'h1",
        ),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), "prices.resource: the column is missing"),
    ):
        with pytest.raises((qm.MarketError, qm.TableError), match=says):
            qm.certify(TIED, given)
