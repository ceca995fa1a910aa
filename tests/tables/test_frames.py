"""Tables made in Python, pandas among it."""

# One refusal a line, however long its words.
# ruff: noqa: E501

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from qmopt import tables
from qmopt.errors import TableError


@pytest.mark.parametrize(
    "teams",
    [
        pd.DataFrame({"team": ["a", "b"], "credits": [6, 24]}),
        pd.DataFrame({"team": ["a", "b"], "credits": [6, 24]}, index=[7, 7]),
        pd.DataFrame({"credits": [6.0, 24.0]}, index=pd.Index(["a", "b"], name="team")),
        pd.DataFrame({"team": pd.Categorical(["a", "b"]), "credits": pd.array([6, 24], "Int64")}),
        pd.DataFrame(
            {"team": pd.array(["a", "b"], "string"), "credits": [Decimal(6), Fraction(24)]}
        ),
        pd.DataFrame({"team": ["a", "b"], "credits": [6, 24], "pool": [None, np.nan]}),
        {"team": np.array(["a", "b"]), "credits": np.array([6, 24], dtype=np.uint8)},
        {"team": ("a", "b"), "credits": pd.Series([6.0, 24.0])},
        {"team": ["a", "b"], "credits": [np.float32(6), np.int64(24)]},
        [{"team": "a", "credits": 6}, {"team": np.str_("b"), "credits": 24, "_why": object()}],
    ],
)
def test_one_table_in_many_shapes(plain, teams):
    plain["teams"] = teams
    market = tables.from_frames(**plain, pools=None)
    assert list(market["teams"].rows()) == [
        {"team": "a", "credits": 6.0},
        {"team": "b", "credits": 24.0},
    ]
    assert market.source == "tables"


def test_what_pandas_calls_missing_is_missing(plain):
    plain["teams"] = pd.DataFrame(
        {"team": ["a", "b"], "credits": [6, 24], "keep_value": pd.array([None, 2], "Float64")}
    )
    plain["workloads"] = pd.DataFrame(
        {
            "team": ["a", "a"],
            "workload": ["x", "y"],
            "demand": [1, 2],
            "deadline": pd.to_datetime(["2026-03-01", None]),
        }
    )
    market = tables.from_frames(**plain)
    assert market["teams"].numbers("keep_value", default=0).tolist() == [0, 2]
    assert market["workloads"].column("deadline") == ["2026-03-01T00:00:00", None]


@pytest.mark.parametrize(
    ("teams", "complaint"),
    [
        (
            pd.DataFrame({"team": [7, 8], "credits": [1, 2]}),
            "teams[0].team: 7 is a number in a column of text, where zeros and digits may be lost already; read or make the column with dtype=str",
        ),
        (
            pd.DataFrame({"team": ["a", "b"], "credits": [1, np.nan]}),
            "teams[1].credits: is missing",
        ),
        (pd.DataFrame({"team": ["a", None], "credits": [1, 2]}), "teams[1].team: is missing"),
        (
            pd.DataFrame({"team": ["a", "b"], "credits": [1, np.inf]}),
            "teams[1].credits: inf is not a finite number",
        ),
        (
            pd.DataFrame({"team": ["a", "b"], "credits": [True, False]}),
            "teams[0].credits: true is not a number",
        ),
        (
            pd.DataFrame({"team": ["a", "b"], "credits": ["1", "2"]}),
            "teams[0].credits: '1' is text, not a number; a number goes without quotes",
        ),
        (
            pd.DataFrame([["a", 1, 2]], columns=["team", "credits", "credits"]),
            "teams: the column 'credits' is there twice",
        ),
        (
            {"team": ["a", "b"], "credits": [1]},
            "teams: the columns differ in length: team 2, credits 1",
        ),
        (
            {"team": "ab", "credits": [1, 2]},
            "teams.team: 'ab' is not a column: a list, array or Series",
        ),
        (
            {"team": ["a", "b"], "credits": np.array([1, np.inf])},
            "teams[1].credits: inf is not a finite number",
        ),
        ({"team": ["a", "b"], "credits": [1, np.bool_(True)]}, "teams[1].credits: "),
        (
            {"team": ["a", "b"], "credits": [1, Decimal("NaN")]},
            "teams[1].credits: Decimal('NaN') is not a finite number",
        ),
        ({"team": ["a", "b"], "credits": [1, Decimal("1e999999999")]}, "teams[1].credits: "),
        ({"team": ["a", "b"], "credits": [1, 1j]}, "teams[1].credits: 1j is not a number"),
        ({"team": ["a", "b"], "credits": [1, -Fraction(1, 3)]}, "teams[1].credits: -0.333"),
        ("teams.csv", "teams: a str is no DataFrame, dict of columns or list of dict rows"),
        (7, "teams: a int is no DataFrame, dict of columns or list of dict rows"),
        (["a"], "teams[0]: 'a' is not a row of named cells"),
    ],
)
def test_refusals(plain, refused, teams, complaint):
    plain["teams"] = teams
    lines = refused(**plain)
    assert any(line.startswith(complaint) for line in lines), lines


def test_exact_numbers(plain):
    plain["teams"] = {"team": ["a", "b"], "credits": [Fraction(1, 3), Decimal("0.1")]}
    plain["resources"] = {"resource": ["h100@east", "l4@west"], "supply": np.array([0.1, 4])}
    market = tables.from_frames(**plain, exact=True)
    assert market["teams"].column("credits").tolist() == [Fraction(1, 3), Fraction(1, 10)]
    assert market["resources"].column("supply")[0] == Fraction(0.1) != Fraction(1, 10)
    assert tables.from_frames(**plain)["teams"].column("credits").tolist() == [1 / 3, 0.1]


def test_a_third_fits_no_file(plain, tmp_path):
    plain["teams"][0]["credits"] = Fraction(1, 3)
    market = tables.from_frames(**plain, exact=True)
    for name in ("m.toml", "m.json", "csv"):
        with pytest.raises(TableError, match="1/3 has no finite decimal"):
            tables.write(market, tmp_path / name)
    with pytest.raises(TableError, match="1/3 has no finite decimal"):
        tables.write(market, tmp_path / "parquet", format="parquet")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "teams" in path.name]


def test_the_market_as_one_dict(plain):
    assert tables.from_frames(**plain, market={"title": "x"}).market["title"] == "x"


def test_values_are_copied_and_kept(plain):
    del plain["bids"]
    mine = np.array([[2.0, 0], [0, 1]])
    market = tables.from_frames(**plain, values=mine)
    mine[0, 0] = -1
    assert market.values.tolist() == [[2, 0], [0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        market.values[0, 0] = 3


def test_values_refusals(plain, refused):
    bids = plain.pop("bids")
    assert refused(**plain, values=[[1, 2]]) == [
        "values: has shape (1, 2), and there are 2 teams and 2 resources"
    ]
    assert refused(**plain, values=[[1, 2], [3, -4]]) == [
        "values[1, 1]: -4.0 is negative (team 'b', resource 'l4@west')"
    ]
    assert refused(**plain, bids=bids, values=np.ones((2, 2))) == [
        "bids: dense values are there as well: a market has either"
    ]
    (line,) = refused(**plain, values=pd.DataFrame([[1, 2], [3, 4]]))
    assert line.startswith("values: a DataFrame has an order of its own")
    assert refused(**plain, values=[["x", "y"]]) == ["values: holds <U1, not numbers"]
