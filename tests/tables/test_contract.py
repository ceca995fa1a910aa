"""Each rule of the contract broken once, in tables made in Python."""

# One refusal a line, however long its words.
# ruff: noqa: E501

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


@pytest.mark.parametrize(
    ("table", "row", "change", "complaint"),
    [
        (
            "resources",
            0,
            {"supply": float("inf")},
            "resources[0].supply: inf is not a finite number",
        ),
        ("teams", 0, {"credits": float("nan")}, "teams[0].credits: is missing"),
        ("teams", 1, {"credits": -6}, "teams[1].credits: -6 is negative"),
        ("teams", 1, {"credits": True}, "teams[1].credits: true is not a number"),
        (
            "teams",
            1,
            {"credits": "6"},
            "teams[1].credits: '6' is text, not a number; a number goes without quotes",
        ),
        ("teams", 1, {"credits": None}, "teams[1].credits: is missing"),
        ("teams", 1, {"credits": 10**400}, "teams[1].credits: "),
        ("teams", 1, {"keep_value": -1}, "teams[1].keep_value: -1 is negative"),
        (
            "teams",
            1,
            {"utility_cap": float("inf")},
            "teams[1].utility_cap: inf is not a finite number",
        ),
        ("teams", 1, {"team": "a"}, "teams[1]: team 'a' is there twice; the first is teams[0]"),
        (
            "teams",
            1,
            {"team": "b\u2028"},
            "teams[1].team: 'b\\u2028' holds the control character U+2028",
        ),
        (
            "teams",
            1,
            {"pool": None},
            "teams[1].pool: is missing; with a table pools every team has one",
        ),
        (
            "teams",
            1,
            {"pool": "prodct"},
            "teams[1].pool: unknown pool 'prodct'; did you mean 'product'?",
        ),
        (
            "resources",
            1,
            {"resource": "h100@east"},
            "resources[1]: resource 'h100@east' is there twice; the first is resources[0]",
        ),
        ("resources", 1, {"unit": 0}, "resources[1].unit: 0 is not above 0"),
        ("resources", 1, {"reserve_price": -0.5}, "resources[1].reserve_price: -0.5 is negative"),
        ("pools", 1, {"weight": 0}, "pools[1].weight: 0 is not above 0"),
        ("pools", 1, {"minted": 0}, "pools[1].minted: 0 is not above 0"),
        (
            "pools",
            1,
            {"pool": "research"},
            "pools[1]: pool 'research' is there twice; the first is pools[0]",
        ),
        ("pool_supply", 0, {"units": 17}, "pool_supply: the pools own 17 of 16 units of 'l4@west'"),
        (
            "guarantees",
            0,
            {"units": 16.5},
            "guarantees: teams are guaranteed 16.5 of 16 units of 'l4@west'",
        ),
        ("guarantees", 0, {"team": "c"}, "guarantees[0].team: unknown team 'c'"),
        ("workloads", 0, {"gang": 2.5}, "workloads[0].gang: 2.5 is not a whole number from 1 up"),
        ("workloads", 0, {"gang": 0}, "workloads[0].gang: 0 is not a whole number from 1 up"),
        (
            "workloads",
            0,
            {"priority": float("-inf")},
            "workloads[0].priority: -inf is not a finite number",
        ),
        (
            "workloads",
            0,
            {"deadline": "tomorrow"},
            "workloads[0].deadline: 'tomorrow' is not an ISO 8601 date such as '2026-03-01T18:00'",
        ),
        (
            "workloads",
            1,
            {"workload": "train"},
            "workloads[1]: team 'a', workload 'train' is there twice; the first is workloads[0]",
        ),
        ("bids", 0, {"value": -2}, "bids[0].value: -2 is negative"),
        ("bids", 0, {"rate": 0}, "bids[0].rate: 0 is not above 0"),
        ("bids", 0, {"resource": "h200@mars"}, "bids[0].resource: unknown resource 'h200@mars'"),
        (
            "bids",
            0,
            {"workload": "trian"},
            "bids[0].workload: unknown workload 'trian' of team 'a'; did you mean 'train'?",
        ),
        (
            "bids",
            2,
            {"workload": "train"},
            "bids[2].workload: unknown workload 'train' of team 'b'",
        ),
        (
            "bids",
            2,
            {"resource": None},
            "bids[2]: a bid names a resource, or an option that the table needs describes",
        ),
        (
            "bids",
            1,
            {"option": "mixt"},
            "bids[1]: has no resource, and the table needs has no option 'mixt' of workload 'train' of team 'a'",
        ),
        (
            "bids",
            1,
            {"resource": "l4@west"},
            "bids[1]: has a resource, and its option 'mixed' of workload 'train' of team 'a' has needs too (needs[0])",
        ),
        (
            "bids",
            1,
            {"option": "h100@east", "resource": "l4@west"},
            "bids[1]: team 'a', workload 'train', option 'h100@east' is there twice; the first is bids[0]",
        ),
        ("needs", 1, {"units": 0}, "needs[1].units: 0 is not above 0"),
        (
            "needs",
            1,
            {"resource": "h100@east"},
            "needs[1]: team 'a', workload 'train', option 'mixed', resource 'h100@east' is there twice; the first is needs[0]",
        ),
        (
            "needs",
            1,
            {"option": "other"},
            "needs[1]: no bid is for option 'other' of workload 'train' of team 'a'",
        ),
        ("expected", 0, {"price": "1/0"}, "expected[0].price: '1/0' divides by zero"),
        ("expected", 0, {"price": "-1/2"}, "expected[0].price: '-1/2' is negative"),
        (
            "expected",
            0,
            {"price": "ten"},
            "expected[0].price: 'ten' is neither a number nor a fraction such as '109/18'",
        ),
        ("expected", 0, {"price": True}, "expected[0].price: true is not a number"),
        ("market", 0, {"title": 3}, "market.title: 3 is a number; text goes in quotes"),
    ],
)
def test_refusals(refused, full, table, row, change, complaint):
    full[table][row] |= change
    lines = refused(**full)
    assert any(line.startswith(complaint) for line in lines), lines


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("resources", "resources: the table is missing"),
        ("teams", "teams: the table is missing"),
        ("bids", "bids: the table is missing, and so are dense values"),
        ("pools", "teams[0].pool: unknown pool 'research': there is no table pools"),
        ("workloads", "bids[0].workload: unknown workload 'train': there is no table workloads"),
        ("needs", "bids[1]: has no resource, and the table needs has no option 'mixed'"),
    ],
)
def test_missing_tables(refused, full, table, complaint):
    del full[table]
    assert any(line.startswith(complaint) for line in refused(**full))


@pytest.mark.parametrize("table", ["resources", "teams"])
def test_a_market_needs_rows(refused, plain, table):
    plain[table] = []
    assert f"{table}: has no rows: a market needs {table}" in refused(**plain)


def test_a_market_without_bids_may_say_so(plain):
    plain["bids"] = []
    assert len(tables.from_frames(**plain)["bids"]) == 0


def test_every_required_column_and_cell(refused, full):
    for name, spec in CONTRACT.items():
        for column in spec.required_columns:
            without = [{k: v for k, v in row.items() if k != column} for row in full[name]]
            lines = refused(**{**full, name: without})
            assert f"{name}.{column}: the column is missing" in lines
            blank = [dict(row) for row in full[name]]
            blank.append(dict.fromkeys(blank[0], None))
            assert f"{name}[{len(blank) - 1}].{column}: is missing" in refused(
                **{**full, name: blank}
            )


def test_unknown_names(refused, plain):
    plain["teams"][0]["credit"] = 1
    assert refused(**plain, price=[]) == [
        "price: unknown table 'price'; did you mean 'prices'?",
        "teams: unknown column 'credit'; did you mean 'credits'?",
    ]


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
