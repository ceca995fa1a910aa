"""Whatever a market holds, every format gives it back to the last bit."""

import tempfile
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from qmopt import tables
from qmopt.tables.lookalikes import folded, looks
from qmopt.tables.names import bad_characters
from qmopt.tables.schema import CONTRACT, Kind

ODD = [
    "007",
    "7",
    "NA",
    "NO",
    "null",
    "TRUE",
    "1e5",
    "1234567890123456789",
    "nan",
    "None",
    "-",
    "#",
]
ODD += [
    "1234567890123456788",
    "a,b",
    'say "x"',
    "it's",
    "a\\b",
    "größe",
    "日本",
    "=1",
    " a",
    "[[x]]",
]
FEWER = settings(max_examples=40)  # each is a market of a dozen tables
FORMATS = ["market.toml", "market.json", "csv", "parquet"]

seen = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff")
ids = st.one_of(st.sampled_from(ODD), st.text(seen, min_size=1)).filter(
    lambda name: name.strip() and not bad_characters(name, in_id=True)
)
prose = st.text(st.one_of(seen, st.sampled_from("\n\r\t")), min_size=1).filter(
    lambda text: text.strip() and not bad_characters(text, in_id=False)
)
doubles = st.floats(0, allow_nan=False, allow_infinity=False, allow_subnormal=True)
decimals = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(0, 10**12), st.integers(0, 15)
)


def cells(kind, numbers):
    """Return a strategy for one cell."""
    return {
        Kind.ID: ids,
        Kind.TEXT: prose,
        Kind.NUMBER: st.builds(lambda x, sign: x * sign, numbers, st.sampled_from([-1, 1])),
        Kind.NOT_NEGATIVE: numbers,
        Kind.POSITIVE: numbers.filter(lambda x: x > 0),
        Kind.COUNT: st.integers(1, 64),
        Kind.RATIONAL: st.sampled_from(["109/18", "10.9", "1e-3", "0"]),
        Kind.DATE: st.datetimes().map(datetime.isoformat),
    }[kind]


def apart(likeness):
    """Return a key that no two workloads of a team share."""
    return lambda owned: (owned[0], likeness(owned[1]))


@st.composite
def markets(draw, numbers=doubles):
    """Rows of any of the tables, with names, keys and sums that agree."""
    some_ids = st.lists(ids, min_size=1, max_size=3, unique_by=(folded, looks))
    resources, teams, pools = draw(some_ids), draw(some_ids), draw(some_ids)
    owned = draw(
        st.lists(
            st.tuples(st.sampled_from(teams), ids),
            max_size=3,
            unique_by=(apart(folded), apart(looks)),
        )
    )
    pooled = draw(st.booleans())
    keys = {
        "market": [{}],
        "resources": [{"resource": name} for name in resources],
        "pools": [{"pool": name} for name in pools] if pooled else [],
        "teams": [
            {"team": name, "pool": draw(st.sampled_from(pools)) if pooled else None}
            for name in teams
        ],
        "workloads": [{"team": team, "workload": name} for team, name in owned],
    }
    for name in ("pool_supply", "bids", "guarantees", "allocation", "prices", "expected"):
        first = {"pool_supply": "pool", "prices": None, "expected": None}.get(name, "team")
        whose = {"team": teams, "pool": pools if pooled else [], None: [None]}[first]
        pairs = [(who, resource) for who in whose for resource in resources]
        chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        keys[name] = [
            {"resource": resource} | ({first: who} if first else {}) for who, resource in chosen
        ]
    for row in keys["bids"]:
        own = [workload for team, workload in owned if team == row["team"]]
        row["workload"] = draw(st.sampled_from([None, *own]))
        row["option"] = None
    if recipe := draw(st.booleans()):
        recipe = f"both {draw(ids)}"
        keys["bids"].append({"team": teams[0], "option": recipe, "resource": None})
        keys["needs"] = [{"team": teams[0], "option": recipe, "resource": r} for r in resources]
    return {
        name: [_filled(draw, CONTRACT[name], row, numbers) for row in rows]
        for name, rows in keys.items()
    }


def _filled(draw, spec, row, numbers):
    for column in spec.columns:
        if column.name in row or column.kind is Kind.ID:
            continue
        cell = cells(column.kind, numbers)
        row[column.name] = draw(cell if column.required else st.none() | cell)
    if spec.name in ("pool_supply", "guarantees"):
        row["units"] = draw(st.integers(0, 4))
    if spec.name == "resources":
        row["supply"] = row["supply"] + 1000  # nothing is owned or promised beyond it
    return row


def through(market, name, **how):
    """Write a market and read it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        form = {"format": "parquet"} if name == "parquet" else {}
        tables.write(market, path, **form)
        back = tables.read(path, **how)
        if isinstance(back.values, np.memmap):  # the file goes away with its folder
            back = tables.Tables(back.tables, np.array(back.values), back.source)
        return back


@pytest.mark.parametrize("name", FORMATS)
@FEWER
@given(rows=markets())
def test_every_format_gives_back_what_it_got(name, rows):
    market = tables.from_frames(**rows)
    assert through(market, name) == market


@pytest.mark.parametrize("name", FORMATS)
@FEWER
@given(rows=markets(decimals))
def test_exact_numbers_stay_exact(name, rows):
    market = tables.from_frames(exact=True, **rows)
    back = through(market, name, exact=True)
    assert back == market
    supply = back["resources"].column("supply")
    assert all(isinstance(number, Fraction) for number in supply)


@FEWER
@given(rows=markets())
def test_frames_give_back_what_they_got(rows):
    market = tables.from_frames(**rows)
    assert tables.from_frames(**{name: market[name].frame() for name in market}) == market
    assert tables.from_frames(**market.tables) == market


@FEWER
@given(rows=markets())
def test_a_chain_through_all_formats(rows):
    market = tables.from_frames(**rows)
    back = market
    for name in FORMATS:
        back = through(back, name)
    assert back == market


@pytest.mark.parametrize("name", ["csv", "parquet"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.coo_matrix])
def test_dense_values(name, form, plain):
    del plain["bids"]
    market = tables.from_frames(**plain, values=form([[0.1, 0], [0, 5e-324]]))
    back = through(market, name)
    assert back == market
    assert sparse.issparse(back.values) == (form is not np.array)


def test_decimals_are_kept_as_written(tmp_path):
    for name, text in {
        "m.toml": '[[prices]]\nresource = "x"\nprice = 0.10\n',
        "m.json": '{"prices": [{"resource": "x", "price": 0.10}]}',
        "prices.csv": "resource,price\nx,0.10\n",
    }.items():
        path = tmp_path / name
        path.write_text(text)
        assert tables.read_table(path, "prices", exact=True).column("price")[0] == Fraction(1, 10)
        assert tables.read_table(path, "prices").column("price")[0] == 0.1


def test_exact_numbers_too_long_to_keep(tmp_path, complaints):
    path = tmp_path / "prices.csv"
    path.write_text("resource,price\nx,1e-999999999\ny,1e999999999\nz,0e999999999\n")
    lines = complaints(tables.read_table, path, "prices", exact=True)
    assert lines[0].endswith("prices[0].price: 1e-999999999 is too close to 0 for a number here")
    assert lines[1].endswith("prices[1].price: 1e999999999 is too large for a number here")
    assert (
        "prices[2].price: 0e999999999 has an exponent of 999,999,999; the limit is 400" in lines[2]
    )


def test_equality_sees_a_last_bit_an_order_and_a_name(plain):
    market = tables.from_frames(**plain)
    plain["teams"].reverse()
    assert tables.from_frames(**plain) != market
    plain["teams"].reverse()
    plain["teams"][0]["credits"] = np.nextafter(6, 7)
    assert tables.from_frames(**plain) != market
    plain["teams"][0] = {"team": "a", "credits": 6, "keep_value": 0}
    assert tables.from_frames(**plain) != market
    assert market != "market"
