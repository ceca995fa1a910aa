"""Names are text as they stand, from a spreadsheet to the answer."""

import numpy as np
import pytest

import qmopt as qm

TEAMS = [
    "007",
    "7",
    "NA",
    "NO",
    "null",
    "TRUE",
    "1e5",
    "1234567890123456789",
    "1234567890123456788",
    "nan",
    "None",
    "0x1F",
    "2024-01-01",
    "Zoë",
]
CREDITS = list(range(1, len(TEAMS) + 1))


def frames():
    return {
        "resources": {"resource": ["010", "NaN"], "supply": [1, 2]},
        "teams": {"team": TEAMS, "credits": CREDITS},
        "bids": {
            "team": TEAMS * 2,
            "resource": ["010"] * len(TEAMS) + ["NaN"] * len(TEAMS),
            "value": [1] * (2 * len(TEAMS)),
        },
    }


def folder(place):
    """The same as CSV files, written by hand."""
    place.joinpath("resources.csv").write_text("resource,supply\n010,1\nNaN,2\n", "utf-8")
    teams = "".join(f"{team},{credit}\n" for team, credit in zip(TEAMS, CREDITS, strict=True))
    place.joinpath("teams.csv").write_text("team,credits\n" + teams, "utf-8")
    bids = "".join(f"{team},{good},1\n" for good in ("010", "NaN") for team in TEAMS)
    place.joinpath("bids.csv").write_text("team,resource,value\n" + bids, "utf-8")
    return place


def check(market):
    assert market.buyers == tuple(TEAMS)
    assert market.goods == ("010", "NaN")
    assert market.budgets.tolist() == CREDITS
    found = qm.clear(market)
    total = sum(CREDITS)
    np.testing.assert_allclose(found.prices, [total / 3, total / 3], rtol=1e-12)
    teams = found.tables()["teams"]
    assert teams["team"].tolist() == TEAMS
    np.testing.assert_allclose(teams["spend"], CREDITS, rtol=1e-9)


def test_from_tables():
    check(qm.Market.from_tables(**frames()))


def test_from_a_folder(tmp_path):
    check(qm.read_market(folder(tmp_path)))


def test_from_a_spreadsheets_csv(tmp_path):
    """Byte-order mark, CRLF, spaces round the headers, blank lines at the end."""
    folder(tmp_path)
    for path in tmp_path.glob("*.csv"):
        head, *rows = path.read_text("utf-8").splitlines()
        text = "\r\n".join([" " + head.replace(",", " , ") + " ", *rows, "", ""])
        path.write_bytes(text.encode("utf-8-sig"))
    check(qm.read_market(tmp_path))


@pytest.mark.parametrize("name", ["007", "NA", "1234567890123456789"])
def test_a_team_that_is_excluded_is_named_as_it_stands(name):
    given = frames()
    given["teams"]["credits"] = [0 if team == name else 1 for team in TEAMS]
    assert qm.Market.from_tables(**given).excluded == {name: "no credits"}
