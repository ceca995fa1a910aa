"""The JSON document, field by field, against the contract as written by hand here."""

import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qmopt as qm
from qmopt import results
from tests.shipped import CLEARED

NUMBER, TEXT, TRUTH = (int, float), str, bool
MAYBE = (int, float, type(None))
RESIDUAL = (int, float, str)  # "inf" is the only text

TOP = {
    "schema": int, "status": TEXT, "tolerance": NUMBER, "method": dict, "market": dict,
    "prices": dict, "price_intervals": dict, "allocation": list, "teams": dict, "idle": dict,
    "certificate": dict, "unique": dict, "excluded": dict, "stats": dict, "notes": list,
}  # fmt: skip
TEAM = {"budget": NUMBER, "spend": NUMBER, "unspent": NUMBER, "utility": NUMBER, "best": MAYBE}
HELD = {"team": TEXT, "resource": TEXT, "units": NUMBER, "spend": NUMBER}
ACTIVITY = {"team": TEXT, "option": TEXT, "units": NUMBER}
LABEL = (str, type(None))
FOR = {"team": TEXT, "workload": LABEL, "option": LABEL}
WORKLOAD = {
    "team": TEXT, "workload": LABEL, "demand": MAYBE, "served": NUMBER, "spend": NUMBER,
    "gang": int, "value": NUMBER,
}  # fmt: skip
CERTIFICATE = {
    "negative": RESIDUAL, "reserve": RESIDUAL, "overspend": RESIDUAL, "regret": RESIDUAL,
    "thrift": RESIDUAL, "overallocated": RESIDUAL, "idle": RESIDUAL, "gap": (*RESIDUAL, type(None)),
    "worst": RESIDUAL,
}  # fmt: skip
UNIQUE = dict.fromkeys(("prices", "utilities", "allocation"), (bool, type(None)))


def check(found, fields, *, exact=True):
    """Check the keys, their order, and the type of each value."""
    names = list(found)[: len(fields)]
    assert names == list(fields)
    assert not exact or len(found) == len(fields)
    for name, types in fields.items():
        assert isinstance(found[name], types), name


def check_document(document, market):
    jobs = isinstance(market.utility, qm.Workloads)
    done = {"activities": list} if jobs or isinstance(market.utility, qm.Bundles) else {}
    done |= {"workloads": list} if jobs else {}
    names = list(TOP)
    place = names.index("teams")
    check(document, {k: TOP[k] for k in names[:place]} | done | {k: TOP[k] for k in names[place:]})
    for row in document.get("activities", []):
        check(row, FOR | {"option": TEXT, "units": NUMBER} if jobs else ACTIVITY)
        assert row["units"] > 0
    for row in document.get("workloads", []):
        check(row, WORKLOAD)
    assert document["schema"] == 1
    assert document["status"] == "certified"
    check(document["method"], {"name": TEXT, "settings": dict})
    assert len(document["market"]["hash"]) == 64
    for name in ("prices", "price_intervals", "idle"):
        assert list(document[name]) == list(market.goods)
    assert all(isinstance(price, MAYBE) for price in document["prices"].values())
    for bounds in document["price_intervals"].values():
        assert bounds is None or (len(bounds) == 2 and all(isinstance(b, MAYBE) for b in bounds))
    for row in document["allocation"]:
        check(row, FOR | HELD if jobs else HELD, exact="guaranteed" not in row)
        assert row["units"] != 0
    assert list(document["teams"]) == list(market.buyers)
    for row in document["teams"].values():
        check(row, TEAM, exact=False)
    check(document["certificate"], CERTIFICATE)
    check(document["unique"], UNIQUE)
    assert all(isinstance(reason, TEXT) for reason in document["excluded"].values())
    assert all(isinstance(note, TEXT) for note in document["notes"])


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} in the document")

    return json.loads(text, parse_constant=refuse)


def test_the_document_of_two_teams():
    market = qm.Market(budgets=[60, 40], supplies=[8, 16], utility=qm.Linear([[4, 1], [2, 1]]))
    document = strict(results.dumps(results.to_json(qm.clear(market))))
    check_document(document, market)
    assert document["prices"] == pytest.approx({"0": 7.5, "1": 2.5})
    assert [(h["team"], h["resource"]) for h in document["allocation"]] == [("0", "0"), ("1", "1")]
    assert document["allocation"][0]["spend"] == pytest.approx(60)
    assert document["teams"]["1"] == pytest.approx(
        {"budget": 40, "spend": 40, "unspent": 0, "utility": 16, "best": 16}
    )
    assert document["unique"] == {"prices": True, "utilities": True, "allocation": True}


@pytest.mark.parametrize("name", CLEARED)
def test_the_documents_of_the_shipped_markets(name):
    market = qm.read_market(name)
    check_document(strict(results.dumps(results.to_json(qm.clear(market)))), market)


def test_what_is_not_defined_is_null_and_who_takes_no_part_is_listed():
    market = qm.Market(
        budgets=[60, 0], supplies=[8, 0], utility=qm.Linear([[4, 1], [2, 1]]), buyers=["a", "b"],
        goods=["here", "gone"],
    )  # fmt: skip
    document = strict(results.dumps(results.to_json(qm.clear(market))))
    check_document(document, market)
    assert document["prices"] == {"here": pytest.approx(7.5), "gone": None}
    assert set(document["excluded"]) == {"b", "gone"}
    assert document["idle"]["gone"] == 0


def test_pools_add_own_credits():
    market = qm.Market.from_tables(
        resources=[{"resource": "h100", "supply": 11}],
        pools=[
            {"pool": "research", "weight": 3, "minted": 300},
            {"pool": "product", "weight": 1, "minted": 1000},
        ],
        teams=[
            {"team": "vision", "pool": "research", "credits": 60},
            {"team": "ads", "pool": "product", "credits": 500},
        ],
        bids=[
            {"team": "vision", "resource": "h100", "value": 4},
            {"team": "ads", "resource": "h100", "value": 1},
        ],
    )
    document = strict(results.dumps(results.to_json(qm.clear(market))))
    check_document(document, market)
    vision, ads = document["teams"].values()
    assert (vision["budget"], vision["budget_own"]) == pytest.approx((0.6, 60))
    assert (ads["spend"], ads["spend_own"]) == pytest.approx((0.5, 500))
    assert ads["unspent_own"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("given_", "read"),
    [
        (math.nan, None),
        (math.inf, None),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (2**53, 2**53),
        (2**53 + 1, "9007199254740993"),
        (-(2**60), "-1152921504606846976"),
        ((1, np.array([1.5, np.nan])), [1, [1.5, None]]),
        ({"key": {"inner": {1}}}, {"key": {"inner": "{1}"}}),
    ],
)
def test_values_as_json_holds_them(given_, read):
    assert strict(results.dumps({"value": given_}))["value"] == read


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_to_the_same_bits(number):
    assert strict(results.dumps({"value": number}))["value"] == number


@given(st.text())
def test_any_name_survives(name):
    text = results.dumps({name: name})
    assert text.isascii()
    assert strict(text) == {name: name}


def test_an_infinite_residual_is_text():
    market = qm.Market(budgets=[1], supplies=[1], utility=qm.Linear([[1]]))
    certificate = qm.certify(market, [math.nan], [[1]])
    document = strict(results.dumps(results.verdict(market, certificate)))
    assert document["status"] == "not certified"
    assert document["certificate"]["negative"] == "inf"
    assert document["certificate"]["worst"] == "inf"
    check(document["certificate"], CERTIFICATE)


def test_settings_of_methods_nest():
    @dataclass
    class Inner:
        tolerance: float = 1e-12

    @dataclass
    class Outer:
        solver: Inner = field(default_factory=Inner)
        crossover: bool = True

    assert results.described(Outer()) == {
        "name": "Outer",
        "settings": {
            "solver": {"name": "Inner", "settings": {"tolerance": 1e-12}},
            "crossover": True,
        },
    }
    assert results.described(object()) == {"name": "object", "settings": {}}
