"""qmopt clear --out: four files that read back, and nothing of anybody else's overwritten."""

import json

import pytest

FILES = {"result.json", "prices.csv", "allocation.csv", "team_results.csv"}


@pytest.mark.parametrize("tolerance", ["1e-8", "1e-12"])
def test_what_is_written_certifies_at_the_same_tolerance(run, market, tolerance):
    out = market.parent / "result"
    # thirds: prices and units that no short decimal holds
    market.write_text(market.read_text().replace("credits = 60", "credits = 19"))
    assert run("clear", market, "--out", out, "--tolerance", tolerance).exit_code == 0
    assert {path.name for path in out.iterdir()} == FILES
    result = run(
        "certify", market, "--prices", out / "prices.csv",
        "--allocation", out / "allocation.csv", "--tolerance", tolerance,
    )  # fmt: skip
    assert result.exit_code == 0, result.stdout


def test_columns_are_those_of_the_input_tables(run, market):
    out = market.parent / "result"
    run("clear", market, "--out", out, "--quiet")
    assert (out / "prices.csv").read_text().splitlines()[0] == "resource,price"
    assert (out / "allocation.csv").read_text().splitlines()[0] == "team,resource,units"
    assert json.loads((out / "result.json").read_text())["status"] == "certified"


def test_names_survive_the_round_trip(run, market):
    names = {"vision": "=1+1", "speech": "007", '"h100"': '"a, \\"b\\""', '"a100"': '"NA"'}
    text = market.read_text()
    for old, new in names.items():
        text = text.replace(old, new)
    market.write_text(text)
    out = market.parent / "result"
    assert run("clear", market, "--out", out).exit_code == 0
    assert '\n=1+1,"a, ""b""",' in (out / "allocation.csv").read_text()
    files = ("--prices", out / "prices.csv", "--allocation", out / "allocation.csv")
    assert run("certify", market, *files).exit_code == 0


def test_guarantees_are_in_the_files_and_do_not_count_as_bought(run, market):
    guarantee = '[[guarantees]]\nteam = "speech"\nresource = "h100"\nunits = 2\n'
    market.write_text(market.read_text() + guarantee)
    out = market.parent / "result"
    assert run("clear", market, "--out", out).exit_code == 0
    # six H100 are left: vision buys them at 10, and speech all A100 at 2.5, as 2/10 < 1/2.5
    assert (out / "prices.csv").read_text() == "resource,price\nh100,10.0\na100,2.5\n"
    assert "speech,h100,2.0\n" in (out / "allocation.csv").read_text()
    files = ("--prices", out / "prices.csv", "--allocation", out / "allocation.csv")
    assert run("certify", market, *files).exit_code == 0


def test_a_resource_without_supply_has_no_row(run, market):
    market.write_text(market.read_text() + '[[resources]]\nresource = "b200"\nsupply = 0\n')
    out = market.parent / "result"
    assert run("clear", market, "--out", out).exit_code == 0
    assert "b200" not in (out / "prices.csv").read_text()
    assert json.loads((out / "result.json").read_text())["prices"]["b200"] is None
    assert run("certify", market, "--prices", out / "prices.csv").exit_code == 0


def test_earlier_results_are_replaced_and_neighbours_left_alone(run, market):
    out = market.parent / "result"
    run("clear", market, "--out", out)
    (out / "notes.txt").write_text("mine")
    market.write_text(market.read_text().replace("credits = 60", "credits = 64"))
    assert run("clear", market, "--out", out).exit_code == 0
    assert "h100,8.0" in (out / "prices.csv").read_text()
    assert (out / "notes.txt").read_text() == "mine"
    assert {path.name for path in out.iterdir()} == FILES | {"notes.txt"}


@pytest.mark.parametrize("held", ["teams.csv", "resources.csv", "bids.parquet", "market.toml"])
def test_a_market_folder_is_refused(run, market, held):
    out = market.parent / "other"
    out.mkdir()
    (out / held).write_text("somebody's")
    result = run("clear", market, "--out", out)
    assert result.exit_code == 2
    assert "market folder" in result.stderr
    assert [path.name for path in out.iterdir()] == [held]


def test_the_folder_of_the_market_itself_is_refused(run, market):
    assert run("clear", market, "--out", market.parent).exit_code == 2
    assert not (market.parent / "prices.csv").exists()


@pytest.mark.parametrize("held", ["prices.csv", "result.json"])
def test_files_of_somebody_else_are_never_overwritten(run, market, held):
    out = market.parent / "other"
    out.mkdir()
    (out / held).write_text("somebody's")
    assert run("clear", market, "--out", out).exit_code == 2
    assert (out / held).read_text() == "somebody's"


def test_a_file_is_not_a_folder(run, market):
    assert run("clear", market, "--out", market).exit_code == 2
    assert "[[teams]]" in market.read_text()
