"""From tables with workloads to arrays, and answers of workloads as tables."""

from math import inf

import numpy as np
import pytest

import qmopt as qm
from qmopt.methods.outcome import Divided
from tests.worked_workloads import BIDS, GOODS, HALVES, LIMITED, TEAMS, from_tables, point, recipes

# From tables to arrays.


def test_bids_without_a_workload_are_one_of_their_team_without_end():
    utility = from_tables().utility
    assert isinstance(utility, qm.Workloads)
    assert utility.team.tolist() == [0, 0, 1]
    assert list(utility.names) == ["w", "", ""]
    assert utility.demand.tolist() == [0.25, inf, inf]
    assert utility.workload.tolist() == [0, 1, 2, 2]
    assert utility.options == ("x", "y", "x", "y")
    assert utility.values.tolist() == [2, 1, 1, 1]
    assert utility.rates.tolist() == [1, 1, 1, 1]
    assert utility.needs.toarray().tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]


def test_tables_and_constructor_say_the_same():
    made = qm.Market(
        [1, 1],
        [1, 1],
        qm.Workloads(
            [0, 0, 1], [0.25, inf, inf], [0, 1, 2, 2], [[1, 0], [0, 1], [1, 0], [0, 1]],
            [2, 1, 1, 1],
        ),
        buyers=["a", "b"],
        goods=["x", "y"],
    )  # fmt: skip
    assert made.hash == from_tables().hash


def test_gangs_limits_and_rates_come_along():
    workloads = [
        {"team": "a", "workload": "w", "demand": 3, "gang": 8, "priority": 2, "limit_price": 0.5},
        {"team": "b", "workload": "w", "demand": 4, "deadline": "2026-12-18"},
    ]
    bids = [
        {"team": "b", "workload": "w", "resource": "x", "value": 5, "rate": 0.5},
        {"team": "a", "workload": "w", "resource": "y", "value": 7, "rate": 3},
    ]
    utility = from_tables(workloads=workloads, bids=bids).utility
    assert utility.gangs.tolist() == [8, 1]
    assert utility.limit_prices.tolist() == [0.5, inf]
    assert utility.workload.tolist() == [1, 0]
    assert utility.values.tolist() == [5, 7]
    assert utility.rates.tolist() == [0.5, 3]
    assert utility.worth.tolist() == [2.5, 21]


def test_limits_are_in_own_credits_as_credits_and_keep_values_are():
    """A credit of north is worth 200/1000 market credits, one of south 30/10."""
    market = from_tables(
        pools=[
            {"pool": "north", "weight": 200, "minted": 1000},
            {"pool": "south", "weight": 30, "minted": 10},
        ],
        teams=[
            {"team": "a", "credits": 10, "pool": "north", "keep_value": 1},
            {"team": "b", "credits": 5, "pool": "south", "keep_value": 1},
        ],
        workloads=[{"team": team, "workload": "w", "demand": 1, "limit_price": 6} for team in "ab"],
        bids=[{"team": team, "workload": "w", "resource": "x", "value": 6} for team in "ab"],
    )
    np.testing.assert_allclose(market.budgets, [2, 15])
    np.testing.assert_allclose(market.keep_values, [5, 1 / 3])
    np.testing.assert_allclose(market.utility.limit_prices, [1.2, 18])


def test_recipes_belong_to_their_workload():
    """Two jobs of a team call their options alike, and mean other servers."""
    workloads = [{"team": "a", "workload": job, "demand": 9} for job in ("train", "serve")]
    bids = [
        {"team": "a", "workload": "train", "option": "node", "value": 2, "rate": 3},
        {"team": "a", "workload": "serve", "option": "node", "value": 1},
        {"team": "a", "option": "node", "value": 0.5},
        {"team": "a", "workload": "serve", "resource": "y", "value": 1},
    ]
    needs = [
        {"team": "a", "option": "node", "resource": "y", "units": 7},
        {"team": "a", "workload": "serve", "option": "node", "resource": "x", "units": 4},
        {"team": "a", "workload": "train", "option": "node", "resource": "y", "units": 2},
        {"team": "a", "workload": "train", "option": "node", "resource": "x", "units": 8},
    ]
    utility = from_tables(workloads=workloads, bids=bids, needs=needs).utility
    assert list(utility.names) == ["train", "serve", ""]
    assert utility.workload.tolist() == [0, 1, 2, 1]
    assert utility.needs.toarray().tolist() == [[8, 2], [4, 0], [0, 7], [0, 1]]
    assert utility.worth.tolist() == [6, 1, 0.5, 1]


def test_dense_values_say_nothing_of_workloads():
    with pytest.raises(qm.MarketError, match=r"workloads\[0\]\.workload.*dense values"):
        qm.Market.from_tables(resources=GOODS, teams=TEAMS, workloads=LIMITED, values=np.eye(2))


def test_who_wants_nothing_is_left_out_and_told():
    teams = [*TEAMS, {"team": "c", "credits": 1}, {"team": "d", "credits": 1}]
    workloads = [*LIMITED, *({"team": "c", "workload": job, "demand": 0} for job in "uv")]
    bids = [*BIDS, {"team": "c", "workload": "u", "resource": "x", "value": 3}]
    market = from_tables(teams=teams, workloads=workloads, bids=bids)
    assert market.active.tolist() == [True, True, False, False]
    assert market.excluded == {
        "c": "wants nothing: no demand above 0",
        "d": "values no resource",
    }
    assert market.utility.demand.tolist() == [0.25, 0, 0, inf, inf]


def test_workloads_without_bids_are_no_market():
    with pytest.raises(qm.MarketError, match="a: values no resource"):
        from_tables(bids={"team": [], "resource": [], "value": []})


def test_exact_numbers_make_the_same_market_but_no_exact_answer(tmp_path):
    path = tmp_path / "market.toml"
    qm.tables.write(from_tables().tables, path)
    market = qm.read_market(path, exact=True)
    assert market.hash == qm.read_market(path).hash == from_tables().hash
    with pytest.raises(qm.MarketError, match="exact answers are for linear utilities"):
        qm.clear(market, exact=True)


# Answers as rows. At prices 1 and 1, a takes its quarter of x and 3/4 of y, b the rest.


def test_rows_of_an_answer():
    found = point(from_tables(), *HALVES)
    assert found.certificate.worst == 0
    columns = found.columns()
    assert columns["allocation"] | {} == {
        "team": ["a", "a", "b", "b"],
        "workload": ["w", None, None, None],
        "option": ["x", "y", "x", "y"],
        "resource": ["x", "y", "x", "y"],
        "units": pytest.approx([0.25, 0.75, 0.75, 0.25]),
        "spend": pytest.approx([0.25, 0.75, 0.75, 0.25]),
    }
    assert columns["activities"] == {
        "team": ["a", "a", "b", "b"],
        "workload": ["w", None, None, None],
        "option": ["x", "y", "x", "y"],
        "units": pytest.approx([0.25, 0.75, 0.75, 0.25]),
    }
    assert columns["workloads"] == {
        "team": ["a", "a", "b"],
        "workload": ["w", None, None],
        "demand": pytest.approx([0.25, inf, inf]),
        "served": pytest.approx([0.25, 0.75, 1]),
        "spend": pytest.approx([0.25, 0.75, 1]),
        "gang": pytest.approx([1, 1, 1]),
        "value": pytest.approx([0.5, 0.75, 1]),
    }


def test_an_option_of_two_resources_has_two_rows_and_what_is_free_its_own():
    """8 x at 2 and 4 y at 1 for two nodes: 20 market credits, 40 of the pool's."""
    columns = point(recipes(), [2, 1], [2, 0]).columns()
    held = columns["allocation"]
    rows = zip(*(held[name] for name in ("workload", "option", "resource")), strict=True)
    assert list(rows) == [("w", "node", "x"), ("w", "node", "y"), (None, None, "x")]
    assert held["units"].tolist() == [8, 4, 1]
    assert held["spend"].tolist() == [16, 4, 0]
    assert held["guaranteed"].tolist() == [0, 0, 1]
    served = {name: column[0] for name, column in columns["workloads"].items()}
    assert served == {
        "team": "a", "workload": "w", "demand": 6, "served": 6, "spend": 20, "spend_own": 40,
        "gang": 4, "value": 30,
    }  # fmt: skip


def test_what_is_free_stands_with_a_plain_bid_for_it():
    held = point(recipes(), [2, 1], [1, 5]).columns()["allocation"]
    assert held["option"] == ["node", "node", "x"]
    assert held["units"].tolist() == [4, 2, 6]
    assert held["spend"].tolist() == [8, 2, 10]
    assert held["guaranteed"].tolist() == [0, 0, 1]


def test_a_split_tells_credits_of_each_workload():
    market = from_tables()
    divided = Divided(market, np.array([0.4, 0.6, 1.0]), np.arange(4))
    found = point(market, *HALVES, notion="split", divided=divided)
    assert found.columns()["workloads"]["credits"].tolist() == [0.4, 0.6, 1.0]
    assert "credits" not in point(market, *HALVES).columns()["workloads"]


def test_units_of_no_use_stand_in_rows_without_option():
    """Without levels the best use is shown: of a whole x a uses a quarter."""
    market = from_tables()
    found = point(market, *HALVES)
    allocation = np.array([[1.0, 0.5], [0.0, 0.5]])
    bare = qm.Equilibrium(
        market, found.method, found.outcome, found.prices, allocation, found.certificate
    )
    held = bare.columns()["allocation"]
    assert held["workload"] == ["w", None, None, None]
    assert held["option"] == ["x", "y", None, "y"]
    assert held["resource"] == ["x", "y", "x", "y"]
    np.testing.assert_allclose(held["units"], [0.25, 0.5, 0.75, 0.5], rtol=1e-9)
    assert qm.certify(market, [1, 1], bare.tables()["allocation"]).residuals == pytest.approx(
        qm.certify(market, [1, 1], allocation).residuals, abs=1e-9
    )


def test_a_notebook_shows_workloads_and_leaves_out_names_that_are_not_there():
    page = point(from_tables(), *HALVES)._repr_html_()
    assert "<caption>Workloads, units of demand, credits" in page
    assert page.count("<table>") == 5
    # bids for no workload: one of a and two of b, in two tables, and both teams once more
    assert page.count('<td style="text-align:left"></td>') == 3 + 3 + 2
    assert "None" not in page
