"""Each rule of the contract broken once, in tables made in Python."""

# One refusal a line, however long its words.
# ruff: noqa: E501

import pytest

from qmopt.tables.schema import CONTRACT


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
