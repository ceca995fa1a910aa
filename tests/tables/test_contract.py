"""What the contract says of tables that keep it, and of sums, claims and fractions."""

# One refusal a line, however long its words.

import pytest

from qmopt import tables
from qmopt.errors import TableError
from qmopt.tables.schema import CONTRACT, Kind


def test_a_market_of_every_table(full):
    market = tables.from_frames(**full)
    assert market.names == tuple(CONTRACT)
    assert market.market == {"title": "Everything", "period": "1 day"}
    assert market["bids"].column("option") == [None, "mixed", None]
    assert market["bids"].options() == ["h100@east", "mixed", "l4@west"]
    assert market["teams"].numbers("utility_cap", default=float("inf")).tolist() == [
        50,
        float("inf"),
    ]
    assert market["expected"].column("price") == ["109/18"]
    assert market["workloads"].column("deadline") == [None, "2026-03-01"]


def test_what_is_absent_is_empty(plain):
    market = tables.from_frames(**plain)
    assert "pools" not in market
    assert len(market["pools"]) == 0
    assert market["pools"].column("weight") is None
    assert market["teams"].column("pool") is None
    assert market.market == {"period": "1 hour"}
    assert market.values is None
    with pytest.raises(KeyError, match="did you mean 'bids'"):
        market["bid"]
    with pytest.raises(KeyError, match="teams has no column 'value'"):
        market["teams"].column("value")


def test_columns_cannot_be_written_to(plain):
    with pytest.raises(ValueError, match="read-only"):
        tables.from_frames(**plain)["teams"].column("credits")[0] = 7


def test_a_market_without_bids_may_say_so(plain):
    plain["bids"] = []
    assert len(tables.from_frames(**plain)["bids"]) == 0


def test_sums_forgive_rounding_and_no_more(plain, refused):
    """0.1 + 0.2 is more than 0.3 in doubles, by half a billionth of a billionth."""
    plain["resources"][0]["supply"] = 0.3
    plain["guarantees"] = [
        {"team": "a", "resource": "h100@east", "units": 0.1},
        {"team": "b", "resource": "h100@east", "units": 0.2},
    ]
    assert len(tables.from_frames(**plain)["guarantees"]) == 2
    plain["guarantees"][1]["units"] = 0.2001
    assert refused(**plain)[0].startswith("guarantees: teams are guaranteed 0.3001")


def test_a_claim_may_be_negative(plain):
    """Prices and allocations are measured, and the certificate has a residual for their signs."""
    plain["prices"] = [{"resource": "h100@east", "price": -10}]
    plain["allocation"] = [{"team": "a", "resource": "h100@east", "units": -1e-17}]
    market = tables.from_frames(**plain)
    assert market["prices"].column("price").tolist() == [-10]
    assert market["allocation"].column("units").tolist() == [-1e-17]


def test_rational():
    assert tables.rational("109/18") * 18 == 109
    assert tables.rational(" 10.9 ") * 10 == 109
    for text in ("1/0", "x", "1/2/3", "", "inf", "1e999", "1e-999999999", "0x1", "1_0"):
        with pytest.raises(TableError):
            tables.rational(text)


def test_kinds_are_all_used():
    used = {column.kind for spec in CONTRACT.values() for column in spec.columns}
    assert used == set(Kind)


def test_ten_thousand_references_and_keys(refused):
    """A hundred teams by a hundred resources; one row repeated and one name wrong."""
    teams = [f"{i:03d}" for i in range(100)]
    kinds = [f"kind {j}" for j in range(100)]
    frames = {
        "resources": {"resource": kinds, "supply": [1] * 100},
        "teams": {"team": teams, "credits": [1] * 100},
        "bids": {
            "team": [team for team in teams for _ in kinds],
            "resource": kinds * 100,
            "value": [1.0] * 10_000,
        },
    }
    assert len(tables.from_frames(**frames)["bids"]) == 10_000
    frames["bids"]["resource"][9_999] = "kind 98"
    frames["bids"]["resource"][500] = "kind -1"
    assert refused(**frames) == [
        "bids[9999]: team '099', option 'kind 98' is there twice; the first is bids[9998]",
        "bids[500].resource: unknown resource 'kind -1'; did you mean 'kind 1'?",
    ]
