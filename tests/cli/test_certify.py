"""qmopt certify: prices and allocations from anywhere, measured."""

import json

import pytest


@pytest.fixture
def files(market):
    """Write the equilibrium of the market, as its README works it out by hand."""
    prices, allocation = market.parent / "prices.csv", market.parent / "allocation.csv"
    prices.write_text("resource,price\na100,2.5\nh100,7.5\n")
    allocation.write_text("team,resource,units\nspeech,a100,16\nvision,h100,8\n")
    return prices, allocation


def test_an_equilibrium(run, market, files):
    result = run("certify", market, "--prices", files[0], "--allocation", files[1])
    assert result.exit_code == 0
    assert "certified: worst 0" in result.stdout


def test_prices_alone(run, market, files):
    assert run("certify", market, "--prices", files[0]).exit_code == 0


def test_half_withheld_is_regret_and_idle_chips(run, market, files):
    files[1].write_text("team,resource,units\nspeech,a100,8\nvision,h100,8\n")
    result = run("certify", market, "--prices", files[0], "--allocation", files[1], "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["status"] == "not certified"
    assert document["certificate"]["regret"] == pytest.approx(1 / 2)
    assert document["certificate"]["idle"] == pytest.approx(1 / 2)


def test_a_tolerance_decides(run, market, files):
    files[0].write_text("resource,price\na100,2.5\nh100,7.6\n")
    command = ("certify", market, "--prices", files[0], "--allocation", files[1])
    assert run(*command).exit_code == 1
    assert run(*command, "--tolerance", "0.02").exit_code == 0


def test_the_market_may_bring_its_own(run, market):
    own = (
        '[[prices]]\nresource = "h100"\nprice = 7.5\n[[prices]]\nresource = "a100"\nprice = 2.5\n'
        '[[allocation]]\nteam = "vision"\nresource = "h100"\nunits = 8\n'
    )
    market.write_text(market.read_text() + own)
    result = run("certify", market, "--json")
    # all A100 are idle, and speech has nothing
    assert result.exit_code == 1
    assert json.loads(result.stdout)["certificate"]["regret"] == 1


def test_a_missing_price_is_infinitely_wrong(run, market, files):
    files[0].write_text("resource,price\nh100,7.5\n")
    result = run("certify", market, "--prices", files[0], "--allocation", files[1], "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["certificate"]["negative"] == "inf"


def test_without_prices_there_is_nothing_to_measure(run, market):
    result = run("certify", market)
    assert result.exit_code == 2
    assert "--prices" in result.stderr


@pytest.mark.parametrize("wrong", [0, 1])
def test_unknown_names_name_the_place(run, market, files, wrong):
    files[wrong].write_text(files[wrong].read_text().replace("h100", "b200"))
    result = run("certify", market, "--prices", files[0], "--allocation", files[1])
    assert result.exit_code == 2
    assert "b200" in result.stderr
    assert "line" in result.stderr


def test_quiet(run, market, files):
    command = ("certify", market, "--prices", files[0], "--allocation", files[1], "--quiet")
    assert run(*command).stdout == ""
    files[0].write_text("resource,price\na100,2.5\nh100,7.6\n")
    result = run(*command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "not certified" in result.stderr
