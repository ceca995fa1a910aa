"""Exact numbers on their way: as a file writes them, through the market, to the JSON document."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import qmopt as qm
from qmopt import results, tables
from qmopt.cli import app
from qmopt.rationals import rationals, written
from tests.shipped import CLEARED, WORKLOADS

# three tenths of a chip for as many credits: 1 credit per chip, shared one to two
TENTHS = """
resources = [{resource = "a", supply = 0.3}]
teams = [{team = "x", credits = 0.1}, {team = "y", credits = 0.2}]
bids = [{team = "x", resource = "a", value = 0.7}, {team = "y", resource = "a", value = 0.3}]
"""


@pytest.fixture
def tenths(tmp_path):
    path = tmp_path / "market.toml"
    path.write_text(TENTHS)
    return path


@pytest.mark.parametrize("form", ["toml", "json", "csv"])
def test_decimals_are_kept_as_written(tenths, form, tmp_path):
    held, path = tables.read(tenths, exact=True), tenths
    if form == "json":
        path = tmp_path / "market.json"
        tables.write(held, path)
    elif form == "csv":
        path = tmp_path / "folder"
        tables.write(held, path)
    market = qm.read_market(path, exact=True)
    assert rationals(market).as_written
    found = qm.clear(market, exact=True).exact
    assert found.prices == (1,)
    assert [units for _, _, units in found.allocation] == [Fraction(1, 10), Fraction(1, 5)]
    assert found.utilities == (Fraction(7, 100), Fraction(6, 100))


def test_doubles_are_not_tenths(tenths):
    market = qm.read_market(tenths)
    assert not rationals(market).as_written
    (price,) = qm.clear(market, exact=True).exact.prices
    assert price == (Fraction(0.1) + Fraction(0.2)) / Fraction(0.3) != 1
    # what holds for the one is wrong for the other, if only in the last bits
    assert qm.certify_exact(market, [1], {(0, 0): Fraction(1, 10), (1, 0): Fraction(1, 5)}).failed
    assert math.isclose(price, 1, rel_tol=1e-15)


def test_parquet_holds_doubles(tenths, tmp_path):
    tables.write(tables.read(tenths), tmp_path / "folder", format="parquet")
    market = qm.read_market(tmp_path / "folder", exact=True)
    found = qm.clear(market, exact=True).exact
    assert found.prices == ((Fraction(0.1) + Fraction(0.2)) / Fraction(0.3),)


def test_fractions_from_python():
    held = tables.from_frames(
        exact=True,
        resources={"resource": ["a"], "supply": [Fraction(1, 3)]},
        teams={"team": ["x"], "credits": [Decimal("0.7")]},
        bids={"team": ["x"], "resource": ["a"], "value": [1]},
    )
    found = qm.clear(qm.Market.from_tables(held), exact=True).exact
    assert found.prices == (Fraction(21, 10),)


POOLS = """
resources = [{resource = "a", supply = 0.8}, {resource = "b", supply = 0.3}]
pools = [{pool = "k", weight = 1, minted = 3}, {pool = "l", weight = 0.1}]
teams = [
    {team = "t", credits = 0.1, pool = "k", keep_value = 0.1},
    {team = "u", credits = 0.7, pool = "l"},
    {team = "w", credits = 0.2, pool = "l"},
]
bids = [
    {team = "t", resource = "a", value = 0.1, rate = 0.3},
    {team = "u", resource = "a", value = 1e-300},
    {team = "u", resource = "b", value = 1e-300},
    {team = "w", resource = "a", value = 0.1},
    {team = "w", resource = "b", value = 0.2},
]
guarantees = [
    {team = "t", resource = "a", units = 0.7},
    {team = "u", resource = "a", units = 0.05},
]
"""


def test_pools_guarantees_rates_and_tiny_values(tmp_path):
    # a credit of pool l is worth 0.1 / (0.7 + 0.2) = 1/9. For sale are 0.05 a and 0.3 b; u takes
    # either, so both cost the same, and u and w, who pay 7/90 + 2/90, get all 0.35: 2/7 per chip.
    # t keeps its credits: a brings 0.03 / (2/7) per credit, a kept one 0.1 / (1/3) = 0.3
    (tmp_path / "market.toml").write_text(POOLS)
    found = qm.clear(qm.read_market(tmp_path / "market.toml", exact=True), exact=True)
    assert found.exact.prices == (Fraction(2, 7), Fraction(2, 7))
    assert found.exact.utilities[0] == Fraction(3, 10) * Fraction(1, 30)
    assert found.exact.utilities[1] == Fraction(1, 10**300) * Fraction(7, 90) * Fraction(7, 2)
    assert found.market.supplies.tolist() == [0.05, 0.3]
    document = results.to_json(found)
    rows = {(row["team"], row["resource"]): row for row in document["allocation"]}
    assert rows["t", "a"]["units_exact"] == "7/10"  # guaranteed, and free
    assert rows["t", "a"]["spend_exact"] == "0"
    assert rows["u", "a"]["units_exact"] == "1/10"  # half of it guaranteed
    assert rows["u", "a"]["spend_exact"] == "1/70"


def test_a_guarantee_of_all_leaves_nothing(tmp_path):
    # in doubles, 0.8 - (0.7 + 0.1) is 1.1e-16
    text = POOLS.replace("units = 0.05", "units = 0.1").replace(
        '"a", value = 1e-300', '"b", value = 1e-300', 1
    )
    text = text.replace('    {team = "u", resource = "b", value = 1e-300},\n', "", 1)
    (tmp_path / "market.toml").write_text(text)
    found = qm.clear(qm.read_market(tmp_path / "market.toml", exact=True), exact=True)
    assert found.exact.prices == (None, Fraction(1, 3))
    assert found.excluded["a"] == "no supply"


def test_numbers_that_would_fill_the_memory_are_refused(tenths):
    tenths.write_text(TENTHS.replace("0.7", "1e-300"))
    assert qm.clear(qm.read_market(tenths, exact=True), exact=True).exact.prices == (1,)
    for text in ("1e-999999999", "1e999999999", "1e-401"):
        tenths.write_text(TENTHS.replace("0.7", text))
        with pytest.raises(qm.TableError, match=r"bids\[0\].value"):
            qm.read_market(tenths, exact=True)


def test_a_product_that_is_lost_to_doubles_is_refused(tenths):
    tenths.write_text(TENTHS.replace("value = 0.7", "value = 1e-200, rate = 1e-200"))
    with pytest.raises(qm.MarketError, match="bids: a value times its rate is not 0, but too"):
        qm.clear(qm.read_market(tenths, exact=True), exact=True)


def test_tables_of_another_market_are_refused(tenths):
    market = qm.read_market(tenths, exact=True)
    other = qm.Market(
        [0.1, 0.3], [0.1], market.utility, tables=market.tables, buyers=["x", "y"], goods=["a"]
    )
    with pytest.raises(qm.MarketError, match=r"credits of y: 1/5 as written, but 0.3"):
        qm.clear(other, exact=True)


LONG = {
    "short": 7,
    "round": 10**4299,
    "nines": 10**4300 - 1,
    "zeros": 10**9000 + 1,
    "odd": 3**30_000,
}


@pytest.mark.parametrize("name", LONG)
def test_long_numbers_are_written(name):
    text, value = written(Fraction(LONG[name])), 0
    for k in range(0, len(text), 4000):  # Python reads no more than 4300 digits at once
        piece = text[k : k + 4000]
        value = value * 10 ** len(piece) + int(piece)
    assert value == LONG[name]
    assert text[0] != "0"


def test_the_command_and_its_document(tenths, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    shown = run("clear", tenths, "--exact", "--out", tmp_path / "result")
    assert shown.exit_code == 0
    assert "proved" in shown.stdout
    assert "exactly: a 1\n" in shown.stdout
    printed = run("clear", tenths, "--exact", "--json")
    document = json.loads(printed.stdout)
    assert document["prices_exact"] == {"a": "1"}
    assert document["prices"] == {"a": 1.0}
    held = {row["team"]: row for row in document["allocation"]}
    assert (held["x"]["units_exact"], held["x"]["spend_exact"]) == ("1/10", "1/10")
    assert json.loads((tmp_path / "result" / "result.json").read_text())["prices_exact"] == {
        "a": "1"
    }
    # the text is enough to prove it again, and the document is read as any other result
    prices = {name: tables.rational(text) for name, text in document["prices_exact"].items()}
    units = {
        (row["team"], row["resource"]): tables.rational(row["units_exact"])
        for row in document["allocation"]
    }
    assert qm.certify_exact(qm.read_market(tenths, exact=True), prices, units).proved
    result = tmp_path / "result" / "result.json"
    again = run("certify", tenths, "--prices", result, "--allocation", result, "--quiet")
    assert again.exit_code == 0
    # without --exact nothing is said of it
    plain = json.loads(run("clear", tenths, "--json").stdout)
    assert "prices_exact" not in plain
    assert "units_exact" not in plain["allocation"][0]


@pytest.mark.parametrize(
    "name", [name for name in CLEARED if name not in ("gpu/bundles", *WORKLOADS)]
)
def test_shipped_markets_have_exactly_the_known_prices(name):
    market = qm.read_market(name, exact=True)
    found = qm.clear(market, exact=True).exact
    assert found.certificate.proved
    known = market.tables["expected"]
    prices = dict(zip(market.goods, found.prices, strict=True))
    for resource, price in zip(known.texts("resource"), known.texts("price"), strict=True):
        assert prices[resource] == (None if price is None else tables.rational(price))


def test_bundles_have_no_exact_answer_and_that_is_said():
    with pytest.raises(qm.MarketError, match="exact answers are for linear utilities, got Bundles"):
        qm.clear(qm.read_market("gpu/bundles", exact=True), exact=True)


def test_an_empty_good_has_no_exact_price():
    market = qm.Market([1], [1, 0], qm.Linear([[1, 1]]), goods=["a", "b"])
    assert results.to_json(qm.clear(market, exact=True))["prices_exact"] == {"a": "1", "b": None}
    assert np.isnan(qm.clear(market, exact=True).prices[1])
