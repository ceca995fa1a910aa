"""From tables to a market: pools and their currencies, guarantees, sparse bids."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt.rationals import rationals

RESOURCES = [{"resource": "h100", "supply": 8}, {"resource": "a100", "supply": 16}]
TEAMS = [{"team": "vision", "credits": 60}, {"team": "speech", "credits": 40}]
BIDS = [
    {"team": "vision", "resource": "h100", "value": 4},
    {"team": "vision", "resource": "a100", "value": 1},
    {"team": "speech", "resource": "h100", "value": 2},
    {"team": "speech", "resource": "a100", "value": 1},
]


def from_tables(resources=RESOURCES, teams=TEAMS, bids=BIDS, **more):
    return qm.Market.from_tables(resources=resources, teams=teams, bids=bids, **more)


def test_tables_and_constructor_say_the_same():
    told = from_tables(
        resources=[RESOURCES[0] | {"reserve_price": 1.5}, RESOURCES[1]],
        teams=[TEAMS[0], TEAMS[1] | {"keep_value": 0.25}],
    )
    made = qm.Market(
        [60, 40],
        [8, 16],
        qm.Linear([[4, 1], [2, 1]]),
        reserves=[1.5, 0],
        keep_values=[0, 0.25],
        buyers=["vision", "speech"],
        goods=["h100", "a100"],
    )
    assert told.hash == made.hash
    assert qm.clear(told).prices.tolist() == qm.clear(made).prices.tolist()
    assert (told.utility_caps == np.inf).all()
    assert (told.credit_rate == 1).all()
    assert told.guarantees is None


def test_the_order_of_bids_does_not_matter_and_a_rate_multiplies():
    halved = [bid | {"value": bid["value"] / 2, "rate": 2} for bid in BIDS]
    assert from_tables(bids=BIDS[::-1]).hash == from_tables(bids=halved).hash == from_tables().hash


def test_either_tables_or_frames():
    with pytest.raises(qm.MarketError, match="either tables or the tables by name"):
        qm.Market.from_tables()
    read = from_tables().tables
    assert qm.Market.from_tables(read).hash == from_tables().hash
    with pytest.raises(qm.MarketError, match="either tables or the tables by name"):
        qm.Market.from_tables(read, resources=RESOURCES)


# Pools: a credit of pool k is worth weight / minted market credits.

POOLED = [
    {"team": "a", "credits": 10, "pool": "north", "keep_value": 3},
    {"team": "b", "credits": 30, "pool": "north"},
    {"team": "c", "credits": 5, "pool": "south", "keep_value": 3},
]
POOLED_BIDS = [
    {"team": team, "resource": "h100", "value": value} for team, value in (("a", 4), ("c", 1))
]


def pooled(pools, teams=POOLED, bids=POOLED_BIDS, **more):
    return from_tables(teams=teams, bids=bids, pools=pools, **more)


def test_budgets_are_credits_times_weight_over_minted():
    market = pooled(
        [
            {"pool": "north", "weight": 200, "minted": 1000},
            {"pool": "south", "weight": 30, "minted": 10},
        ]
    )
    np.testing.assert_allclose(market.credit_rate, [0.2, 0.2, 3])
    np.testing.assert_allclose(market.budgets, [2, 6, 15])
    # worth of a kept credit is per credit: per market credit it is divided by the rate
    np.testing.assert_allclose(market.keep_values, [15, 0, 1])


def test_minted_is_by_default_what_the_pools_teams_offer_with_or_without_bids():
    market = pooled([{"pool": "north", "weight": 200}, {"pool": "south", "weight": 30}])
    np.testing.assert_allclose(market.credit_rate, [5, 5, 6])
    np.testing.assert_allclose(market.budgets, [50, 150, 30])
    assert market.excluded == {
        "b": "values no resource",
        "a100": "wanted by no team with credits",
    }


def test_with_the_default_a_pools_budgets_add_up_to_its_weight():
    market = pooled([{"pool": "north", "weight": 7}, {"pool": "south", "weight": 11}])
    assert market.budgets[:2].sum() == pytest.approx(7)
    assert market.budgets[2:].sum() == pytest.approx(11)


def test_one_pool_may_mint_and_another_not():
    market = pooled(
        [{"pool": "north", "weight": 200, "minted": 400}, {"pool": "south", "weight": 5}]
    )
    np.testing.assert_allclose(market.budgets, [5, 15, 5])


def test_a_pool_that_mints_nothing_has_no_exchange_rate():
    teams = [*POOLED[:2], POOLED[2] | {"credits": 0}]
    with pytest.raises(qm.MarketError, match=r"pools\[1\]\.minted.*'south' mints 0 credits"):
        pooled([{"pool": "north", "weight": 200}, {"pool": "south", "weight": 30}], teams)


@pytest.mark.parametrize("column", ["weight", "minted"])
def test_nor_may_it_say_so(column):
    pools = [{"pool": "north", "weight": 200}, {"pool": "south", "weight": 30} | {column: 0}]
    with pytest.raises(qm.TableError, match=rf"pools\[1\]\.{column}: 0 is not above 0"):
        pooled(pools)


def test_a_team_without_pool_beside_a_pools_table_is_an_error():
    teams = [*POOLED[:2], {"team": "c", "credits": 5}]
    with pytest.raises(qm.TableError, match=r"teams\[2\].*pool"):
        pooled([{"pool": "north", "weight": 200}], teams)


def test_without_pools_credits_are_market_credits():
    market = from_tables(teams=[TEAMS[0] | {"keep_value": 3}, TEAMS[1]])
    assert market.budgets.tolist() == [60, 40]
    assert market.keep_values.tolist() == [3, 0]


def test_a_currency_of_ones_own_changes_nothing():
    """Minting ten times the credits and offering ten times as many is the same market."""
    pools = [{"pool": "north", "weight": 200, "minted": 400}, {"pool": "south", "weight": 30}]
    inflated = [
        team | {"credits": team["credits"] * 10, "keep_value": team.get("keep_value", 0) / 10}
        for team in POOLED
    ]
    before = pooled(pools)
    after = pooled([pools[0] | {"minted": 4000}, pools[1]], inflated)
    np.testing.assert_allclose(after.budgets, before.budgets, rtol=1e-14)
    np.testing.assert_allclose(after.keep_values, before.keep_values, rtol=1e-14)


# Guarantees: taken out of the supply first, handed out free.


def test_guarantees_are_carved_out_of_the_supply():
    market = from_tables(
        guarantees=[
            {"team": "speech", "resource": "h100", "units": 3},
            {"team": "vision", "resource": "h100", "units": 1.5},
            {"team": "speech", "resource": "a100", "units": 16},
        ]
    )
    assert market.supplies.tolist() == [3.5, 0]
    assert market.guarantees.toarray().tolist() == [[1.5, 0], [3, 16]]
    found = qm.clear(market)
    np.testing.assert_allclose(found.prices, [100 / 3.5, np.nan])
    np.testing.assert_allclose(found.allocation, [[2.1, 0], [1.4, 0]])
    assert found.excluded == {"a100": "no supply"}


def test_guarantees_beyond_the_supply_are_an_error():
    with pytest.raises(qm.TableError, match="h100"):
        from_tables(
            guarantees=[
                {"team": "speech", "resource": "h100", "units": 5},
                {"team": "vision", "resource": "h100", "units": 4},
            ]
        )


def test_guarantees_of_all_but_rounding_leave_nothing():
    thirds = [
        {"team": team, "resource": "h100", "units": 0.1} for team in ("vision", "speech", "third")
    ]
    market = from_tables(
        resources=[{"resource": "h100", "supply": 0.3}, RESOURCES[1]],
        teams=[*TEAMS, {"team": "third", "credits": 0}],
        guarantees=thirds,
    )
    assert 0 <= market.supplies[0] < 1e-15


# Options: a recipe of several resources makes bundles; one of a single resource is a plain bid.

ROOM = [*RESOURCES, {"resource": "port", "supply": 6}]
SERVERS = [
    {"team": "vision", "option": "server", "resource": "h100", "units": 4},
    {"team": "vision", "option": "server", "resource": "port", "units": 1},
]


def test_recipes_of_several_resources_make_bundles():
    bids = [
        {"team": "vision", "option": "server", "value": 3, "rate": 2},
        {"team": "vision", "resource": "a100", "value": 1},
        {"team": "speech", "resource": "h100", "option": "alone", "value": 2},
    ]
    utility = from_tables(ROOM, bids=bids, needs=SERVERS[::-1]).utility
    assert utility.owner.tolist() == [0, 0, 1]
    assert utility.options == ("server", "a100", "alone")
    assert utility.values.tolist() == [6, 1, 2]
    assert utility.needs.toarray().tolist() == [[4, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_two_teams_may_name_their_options_alike():
    bids = [{"team": team, "option": "server", "value": 1} for team in ("vision", "speech")]
    needs = [*SERVERS, {"team": "speech", "option": "server", "resource": "a100", "units": 2}]
    utility = from_tables(ROOM, bids=bids, needs=needs).utility
    assert utility.needs.toarray().tolist() == [[4, 0, 1], [0, 2, 0]]


def test_an_option_of_one_resource_is_a_plain_bid():
    """Eight chips worth 32 together are worth 4 each."""
    bids = [*BIDS[1:], {"team": "vision", "option": "eight", "value": 32}]
    needs = [{"team": "vision", "option": "eight", "resource": "h100", "units": 8}]
    assert from_tables(bids=bids, needs=needs).hash == from_tables().hash


def test_of_several_options_for_one_resource_the_best_is_taken():
    worse = [BIDS[0] | {"option": "slow", "value": 3}, BIDS[3] | {"option": "slower", "value": 0}]
    for bids in ([*BIDS, *worse], [*worse, *BIDS]):
        assert from_tables(bids=bids).hash == from_tables().hash


def test_options_are_kept_as_written(tmp_path):
    """Three chips worth 1 together: a third each, not a double near it."""
    bids = [{"team": "vision", "option": "three", "value": 1}, {**BIDS[2], "value": 0.1}, BIDS[3]]
    needs = [{"team": "vision", "option": "three", "resource": "h100", "units": 3}]
    qm.tables.write(from_tables(bids=bids, needs=needs).tables, tmp_path / "market.toml")
    market = qm.read_market(tmp_path / "market.toml", exact=True)
    exact = rationals(market)
    assert [Fraction(*value) for value in exact.values] == [
        Fraction(1, 3), Fraction(1, 10), Fraction(1),
    ]  # fmt: skip
    assert qm.clear(market, exact=True).exact.certificate.proved


def test_few_bids_among_many_pairs_are_kept_sparse():
    teams = [{"team": f"t{k}", "credits": 1} for k in range(200)]
    bids = [{"team": f"t{k}", "resource": "h100", "value": 1} for k in range(200)]
    many = [*RESOURCES, *({"resource": f"r{k}", "supply": 1} for k in range(98))]
    market = from_tables(many, teams, bids)
    assert sp.issparse(market.utility.values)
    assert market.utility.values.nnz == 200
    assert not sp.issparse(from_tables().utility.values)
