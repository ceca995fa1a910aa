"""Markets with workloads on the command line: cleared, written, measured again, and accepted."""

import json

import pytest

import qmopt as qm
from tests.shipped import WORKLOADS
from tests.worked_workloads import from_tables, recipes


@pytest.fixture
def jobs(tmp_path):
    """Two teams; a wants a quarter of x, worth 2, and y, worth 1; b wants both alike."""
    path = tmp_path / "jobs.toml"
    qm.tables.write(from_tables().tables, path)
    return path


def document(result):
    return json.loads(result.stdout)


def test_an_answer_names_workloads_and_options(run, jobs):
    result = run("clear", jobs, "--json")
    assert result.exit_code == 0
    found = document(result)
    assert found["status"] == "certified"
    assert found["prices"] == pytest.approx({"x": 1, "y": 1})
    held = {
        (row["team"], row["workload"], row["option"], row["resource"]): row["units"]
        for row in found["allocation"]
    }
    assert held == pytest.approx(
        {
            ("a", "w", "x", "x"): 0.25,
            ("a", None, "y", "y"): 0.75,
            ("b", None, "x", "x"): 0.75,
            ("b", None, "y", "y"): 0.25,
        }
    )
    first, other, _ = found["workloads"]
    assert first == {
        "team": "a", "workload": "w", "demand": 0.25, "served": pytest.approx(0.25),
        "spend": pytest.approx(0.25), "gang": 1, "value": pytest.approx(0.5),
    }  # fmt: skip
    assert other["demand"] is None
    assert other["served"] == pytest.approx(0.75)
    assert found["price_intervals"] == {"x": None, "y": None}
    assert found["unique"] == {"prices": None, "utilities": None, "allocation": None}


def test_tables_for_people_name_them_too(run, jobs):
    lines = run("clear", jobs).stdout.splitlines()
    title = next(k for k, line in enumerate(lines) if line.startswith("Workloads"))
    rows = [line.split() for line in lines[title + 2 : title + 7]]
    assert rows[0] == ["team", "workload", "demand", "served", "spend", "gang", "value"]
    assert rows[2] == ["a", "w", "0.25", "0.25", "0.25", "1", "0.50"]
    # no name where there is none, and no demand where there is no end of it
    assert rows[3] == ["a", "-", "0.75", "0.75", "1", "0.75"]
    assert all("None" not in line for line in lines)
    # each option takes one chip, so that the allocation has said what is done
    assert not any(line.startswith("Activities") for line in lines)


def test_recipes_are_shown_as_options_and_as_chips(run, tmp_path):
    """Two nodes take 8 of 9 x; the last is worth a credit and costs one, the tenth is free."""
    path = tmp_path / "recipes.toml"
    qm.tables.write(recipes().tables, path)
    result = run("clear", path)
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["a", "w", "node", "2"] in rows
    assert ["a", "w", "node", "x", "8"] in [row[:5] for row in rows]
    assert ["a", "w", "node", "y", "4"] in [row[:5] for row in rows]
    assert ["a", "x", "x", "2", "1", "1"] in rows


def test_files_are_measured_as_what_was_cleared(run, jobs):
    out = jobs.parent / "result"
    assert run("clear", jobs, "--out", out, "--quiet").exit_code == 0
    rows = (out / "allocation.csv").read_text().splitlines()
    assert rows[0] == "team,workload,option,resource,units"
    assert [row.rpartition(",")[0] for row in rows[1:]] == [
        "a,w,x,x",
        "a,,y,y",
        "b,,x,x",
        "b,,y,y",
    ]
    files = ("--prices", out / "prices.csv", "--allocation", out / "allocation.csv")
    result = run("certify", jobs, *files, "--json")
    assert result.exit_code == 0
    assert document(result)["certificate"]["worst"] < 1e-8
    both = out / "result.json"
    assert run("certify", jobs, "--prices", both, "--allocation", both, "--quiet").exit_code == 0
    # units for w are a quarter; for anything else they are of no use to a
    text = (out / "allocation.csv").read_text()
    (out / "allocation.csv").write_text(text.replace("b,,x,x,", "a,,x,x,"))
    assert run("certify", jobs, *files, "--quiet").exit_code == 1


def test_prices_alone_ask_for_the_allocation(run, jobs):
    prices = jobs.parent / "prices.csv"
    prices.write_text("resource,price\nx,1\ny,1\n")
    result = run("certify", jobs, "--prices", prices)
    assert result.exit_code == 2
    assert "give the allocation" in result.stderr


@pytest.mark.parametrize("name", WORKLOADS)
def test_shipped_markets_clear_and_certify_again(run, tmp_path, name):
    result = run("clear", name, "--out", tmp_path)
    assert result.exit_code == 0
    market = qm.read_market(name)
    words = {*market.buyers, *market.goods, *market.tables["workloads"].texts("workload")}
    assert all(word in result.stdout for word in words)
    files = ("--prices", tmp_path / "prices.csv", "--allocation", tmp_path / "allocation.csv")
    assert run("certify", name, *files, "--quiet").exit_code == 0
    assert name in run("models").stdout


# What is less than an equilibrium is asked for by name, says so, and exits with 3.


@pytest.mark.parametrize("spelt", ["nash_welfare", "nash-welfare"])
def test_indicative_prices_say_so(run, jobs, spelt):
    """At 8/9 for both, a's quarter of x costs it 2/9; what it keeps is what it regrets."""
    result = run("clear", jobs, "--method", "nash-welfare", "--accept", spelt, "--json")
    assert result.exit_code == 3
    found = document(result)
    assert found["status"] == "nash_welfare"
    assert found["prices"] == pytest.approx({"x": 8 / 9, "y": 8 / 9})
    assert found["certificate"]["regret"] == pytest.approx(2 / 11)
    assert "indicative prices" in found["notes"][-1]
    assert all("credits" not in row for row in found["workloads"])


def test_a_split_tells_credits(run):
    command = ("clear", "gpu/queue", "--method", "split", "--accept", "split")
    result = run(*command, "--json")
    assert result.exit_code == 3
    found = document(result)
    assert found["status"] == "split"
    assert "not jointly" in found["notes"][-1]
    # of workloads with these credits it is an equilibrium; a team with one purse could do better
    assert found["certificate"]["worst"] <= 1e-8
    assert any(team["utility"] < team["best"] * (1 - 1e-4) for team in found["teams"].values())
    spent = {}
    for row in found["workloads"]:
        assert row["spend"] <= row["credits"] * (1 + 1e-9)
        spent[row["team"]] = spent.get(row["team"], 0) + row["credits"]
    for team, credits in spent.items():
        assert credits <= found["teams"][team]["budget"] * (1 + 1e-9)
    result = run(*command)
    assert result.exit_code == 3
    assert (
        "Certificate of the split, in which each workload has credits of its own" in result.stdout
    )
    assert "not jointly" in result.stdout


def test_either_may_be_accepted_and_an_equilibrium_is_better(run, jobs):
    result = run("clear", jobs, "--accept", "split", "--accept", "nash_welfare", "--json")
    assert result.exit_code == 0
    assert document(result)["status"] == "certified"


def test_what_was_not_accepted_is_not_returned(run, jobs):
    result = run("clear", jobs, "--method", "nash-welfare")
    assert result.exit_code in (1, 2)
    assert "nash_welfare" in result.stderr


def test_nobody_knows_what_to_accept_by_another_name(run, jobs):
    result = run("clear", jobs, "--accept", "anything")
    assert result.exit_code == 2
    assert "anything" in result.stderr
    assert "nash_welfare" in result.stderr


def test_a_limit_price_holds_in_own_credits(run, tmp_path):
    """50 market credits for 4 chips, but no more than 3 for each: 6 of the pool's."""
    market = qm.Market.from_tables(
        resources=[{"resource": "x", "supply": 4}],
        pools=[{"pool": "p", "weight": 50, "minted": 100}],
        teams=[{"team": "a", "credits": 100, "pool": "p"}],
        workloads=[{"team": "a", "workload": "w", "demand": 10, "limit_price": 6}],
        bids=[{"team": "a", "workload": "w", "resource": "x", "value": 5}],
    )
    path = tmp_path / "limit.toml"
    qm.tables.write(market.tables, path)
    refused = run("clear", path)
    assert refused.exit_code == 2
    assert "team a, workload w: limit_price 6" in refused.stderr
    found = document(run("clear", path, "--accept", "split", "--json"))
    assert found["prices"] == pytest.approx({"x": 3})
    assert found["workloads"][0]["served"] == pytest.approx(4)
    assert found["workloads"][0]["spend"] == pytest.approx(12)
    assert found["workloads"][0]["spend_own"] == pytest.approx(24)
