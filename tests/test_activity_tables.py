"""Allocations of workloads as rows, and back to levels."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt.generate.workloads import workloads as random_market
from tests.worked_workloads import BIDS, HALVES, from_tables, point, recipes


def test_an_answer_measures_the_same_as_a_table():
    market = from_tables()
    found = point(market, *HALVES)
    tables = found.tables()
    again = qm.certify(market, tables["prices"], tables["allocation"])
    assert again == found.certificate
    assert again.worst == 0


@pytest.mark.parametrize("levels", [[2, 0], [2.5, 5], [0, 5], [0.1, 0.2]])
def test_guaranteed_units_are_told_from_those_bought(levels):
    market = recipes()
    found = point(market, [2, 1], levels)
    assert residuals(market, [2, 1], found.tables()["allocation"]) == pytest.approx(
        of(found.certificate), abs=1e-13
    )


def test_many_guaranteed_units_do_not_blur_those_bought():
    """9.2 x and 4.6 y are in 2.3 nodes, more than the 2 wanted; 33 million x are free."""
    market = recipes().replace(guarantees=sp.csr_array([[1e8 / 3, 0]]))
    found = point(market, [2, 1], [2.3, 0.1])
    again = qm.certify(market, [2, 1], found.tables()["allocation"])
    assert again.overallocated == pytest.approx(0.15)


def of(certificate):
    return {name: size for name, size in certificate.residuals.items() if size is not None}


def residuals(market, prices, rows):
    return of(qm.certify(market, prices, rows))


@pytest.mark.parametrize("seed", range(20))
def test_any_levels_come_back_from_their_rows(seed):
    """Best plans at prices at random, with guarantees on the side, in any order of rows."""
    rng = np.random.default_rng(seed)
    market = random_market(seed, 12, 6)
    free = sp.random_array(market.shape, density=0.3, rng=rng, format="csr")
    market = market.replace(guarantees=free if seed % 2 else None)
    prices = rng.uniform(0.5, 2, market.m) * market.budgets.sum() / market.supplies.sum()
    levels = market.utility.plan(prices, market.budgets * rng.random(market.n), market.keep_values)
    levels *= rng.choice([0.5, 1, 1.2], len(levels))  # some demands are passed
    found = point(market, prices, levels)
    rows = found.tables()["allocation"].sample(frac=1, random_state=seed)
    # what is measured says which way it was: no best use serves more than a demand
    assert residuals(market, prices, rows) == pytest.approx(
        of(found.certificate), rel=1e-9, abs=1e-12
    )


def row(team, workload, option, resource, units):
    names = {"team": team, "workload": workload, "option": option, "resource": resource}
    return names | {"units": units}


REST = [row("b", None, "x", "x", 0.75), row("b", None, "y", "y", 0.25)]


def test_rows_without_options_are_used_in_the_best_way():
    bare = [
        {"team": r["team"], "resource": r["resource"], "units": r["units"]}
        for r in [row("a", None, None, "x", 0.25), row("a", None, None, "y", 0.75), *REST]
    ]
    assert residuals(from_tables(), [1, 1], bare)["regret"] == pytest.approx(0, abs=1e-9)


def test_what_units_are_said_to_be_for_counts():
    """A quarter of x would serve w, worth 2; said to be for a bid worth 1, it is half as good."""
    market = from_tables(bids=[*BIDS, {"team": "a", "resource": "x", "value": 1}])
    told = [row("a", None, "x", "x", 0.25), row("a", None, "y", "y", 0.75), *REST]
    # 1 of 1.25
    assert residuals(market, [1, 1], told)["regret"] == pytest.approx(0.2)
    for k in (0, 1):
        told[k] = told[k] | {"option": None}
    # without a word on it, the best use is meant
    assert residuals(market, [1, 1], told)["regret"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("option", ["x", None])
def test_a_workload_alone_names_the_option_of_its_resource(option):
    told = [row("a", "w", option, "x", 0.5), row("a", None, "y", "y", 0.5), *REST]
    # twice as much as w wants
    assert residuals(from_tables(), [1, 1], told)["overallocated"] == pytest.approx(1)


def test_teams_are_read_one_by_one():
    """b's rows name nothing; that a serves w twice is told all the same."""
    told = [row("a", "w", "x", "x", 0.5), row("a", None, "y", "y", 0.5)]
    told += [row("b", None, None, "x", 0.5), row("b", None, None, "y", 0.5)]
    found = residuals(from_tables(), [1, 1], told)
    assert found["overallocated"] == pytest.approx(1)
    assert found["regret"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        row("a", "w", "y", "y", 0.5),  # no option of w
        row("a", "v", "x", "x", 0.5),  # no workload
        row("a", "w", "x", "y", 0.5),  # not what the option takes
    ],
)
def test_units_for_what_is_not_there_are_paid_for_all_the_same(wrong):
    """a holds and pays them beside a best use, 3/2 in all, so that nothing hides."""
    market = from_tables()
    told = [row("a", "w", None, "x", 0.25), row("a", None, "y", "y", 0.75), wrong]
    found = residuals(market, [1, 1], told)
    plain = np.zeros((2, 2))
    for r in told:
        plain["ab".index(r["team"]), "xy".index(r["resource"])] += r["units"]
    assert found == residuals(market, [1, 1], plain)
    assert found["overspend"] == pytest.approx(0.5)


def test_a_recipe_out_of_proportion_is_used_in_the_best_way():
    """8 x and 2 y make one node of 4 and 2; the other 4 x cost 8 credits and bring 1 each."""
    market = recipes()
    told = [row("a", "w", "node", "x", 8), row("a", "w", "node", "y", 2)]
    told.append(row("a", None, None, "x", 1))  # guaranteed
    found = residuals(market, [2, 1], told)
    held = residuals(market, [2, 1], np.array([[8.0, 2.0]]))
    assert found == pytest.approx(held, abs=1e-9)
    # a kept credit of the market, two of the pool's, is worth 1: at best two nodes, 20 credits kept
    assert found["regret"] == pytest.approx(1 - (15 + 4 + 22) / (30 + 20))


def test_less_than_guaranteed_is_negative():
    told = [row("a", "w", "node", "x", 4), row("a", "w", "node", "y", 2)]
    # 4 x are all that a holds, one of them guaranteed: 3 bought, which go to 3/4 of a node
    assert residuals(recipes(), [2, 1], told) == pytest.approx(
        residuals(recipes(), [2, 1], np.array([[3.0, 2.0]])), abs=1e-9
    )
    assert residuals(recipes(), [2, 1], [row("a", None, None, "y", 1)])["negative"] > 0


def test_negative_units_are_told():
    told = [row("a", "w", "x", "x", -0.25), row("a", None, "y", "y", 0.75), *REST]
    assert residuals(from_tables(), [1, 1], told)["negative"] == pytest.approx(0.25)


def test_options_that_share_all_their_names_are_not_told_apart():
    """Two workloads called alike, which only arrays can have: the best use counts."""
    utility = qm.Workloads(
        [0, 0], [1, 1], [0, 1], [[1], [1]], [2, 1], names=["w", "w"], options=["x", "x"]
    )
    market = qm.Market([1], [2], utility, buyers=["a"], goods=["x"])
    told = [row("a", "w", "x", "x", 1)]
    assert residuals(market, [1], told)["regret"] == pytest.approx(0, abs=1e-9)


def test_prices_alone_ask_for_the_allocation():
    with pytest.raises(qm.MarketError, match="give the allocation"):
        qm.certify(from_tables(), [1, 1])
