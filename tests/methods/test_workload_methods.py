"""Methods for workloads: what they find is an equilibrium of the kind they say, and they agree."""

import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import qmopt as qm
from qmopt import generate
from qmopt.certificate import measure
from qmopt.notions import judged
from tests.models.test_programs import load

SEEDS, MANY = range(20), range(400)
METHODS = [qm.InteriorPoint(), qm.Split(), qm.EffectiveBudgets()]
textbook = load("nash_welfare").solve


def joint(market, outcome, tolerance=1e-9):
    return measure(market, outcome.prices, None, tolerance, outcome.activities)


def missed(method, tolerance, seeds, **sizes):
    """Seeds of which an answer does not certify as what it says it is, with its worst residual."""
    worst = {}
    for seed in seeds:
        market = generate.workloads(seed, **sizes)
        outcome = method.solve(market)
        seen = joint if outcome.notion == "equilibrium" else judged
        worst[seed] = seen(market, outcome, tolerance).worst
    return {seed: size for seed, size in worst.items() if size > tolerance}


#: Each to be measured as what it claims to be, at a tolerance.
CLAIMS = pytest.mark.parametrize(
    ("method", "tolerance"),
    [(qm.Split(), 1e-9), (qm.EffectiveBudgets(), 1e-6)],
    ids=["Split", "EffectiveBudgets"],
)


@CLAIMS
def test_small_markets(method, tolerance):
    assert missed(method, tolerance, SEEDS, teams=12) == {}


@pytest.mark.slow
@CLAIMS
def test_four_hundred_markets(method, tolerance):
    assert missed(method, tolerance, MANY) == {}


# ---- where all of them are about the same market


def alone(seed):
    """One workload for each team, all options equally valued; nobody, half or all keep credits."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(2, 7))
    whole = rng.random() < 0.3
    rates = rng.integers(1, 4, (n, m)) if whole else np.exp(rng.normal(size=(n, m)))
    team, good = np.nonzero(rng.random((n, m)) < 0.6)
    budgets, supplies = np.exp(rng.normal(size=n)), rng.integers(1, 9, m)
    demand = np.exp(rng.normal(size=n)) * supplies.sum() / n
    demand[rng.random(n) < 0.2] = np.inf
    worth = np.exp(rng.normal(size=n))
    utility = qm.Workloads(
        np.arange(n), demand, team, np.eye(m)[good], worth[team], rates[team, good], teams=n
    )
    keeps = np.where(rng.random(n) < (0, 0.5, 1)[seed % 3], 10 ** rng.uniform(-1, 1, n), 0)
    reserves = np.where(rng.random(m) < 0.3, 10 ** rng.uniform(-2, 0, m), 0)
    return qm.Market(budgets, supplies, utility, keep_values=keeps, reserves=reserves)


@pytest.mark.parametrize("seed", range(15))
def test_one_workload_each_is_one_convex_program(seed):
    """Then any method's prices go with any other's allocation: optima of a program and its dual."""
    market = alone(seed)
    found = [method.solve(market) for method in METHODS]
    for one in found:
        for other in found:
            seen = measure(market, one.prices, None, 1e-9, other.activities)
            assert seen.gap is not None
            assert seen.certified(), (seen, one.status, other.status)


@pytest.mark.parametrize("seed", range(6))
def test_without_an_end_they_are_bundles_are_linear(seed):
    """Prices of a linear market without kept credits and reserves are unique."""
    plain = generate.lognormal(9, 6, seed)
    values = np.asarray(plain.utility.values)
    expected = qm.clear(plain, qm.Pivoting(), tolerance=1e-12).prices
    team, good = np.nonzero(values)
    worth, needs = values[team, good], np.eye(plain.m)[good]
    endless = np.full(plain.n, np.inf)
    # a unit of demand is worth 1 and a chip serves as many as it is worth; and the other way round
    by_rate = qm.Workloads(np.arange(plain.n), endless, team, needs, np.ones(len(team)), worth)
    by_value = qm.Workloads(np.arange(plain.n), endless, team, needs, worth)
    bundles = plain.replace(utility=qm.Bundles(team, needs, worth))
    found = [qm.InteriorPoint().solve(bundles)]
    found += [method.solve(plain.replace(utility=by_rate)) for method in METHODS]
    found += [
        method.solve(plain.replace(utility=by_value)) for method in (*METHODS[2:], qm.NashWelfare())
    ]
    for outcome in found:
        assert_allclose(outcome.prices, expected, rtol=1e-9)


def evened(market):
    """The same with equal values within each workload, and a small reserve on every good."""
    utility = market.utility
    top = np.zeros(len(utility.demand))
    np.maximum.at(top, utility.workload, utility.values)
    family = qm.Workloads(
        utility.team, utility.demand, utility.workload, utility.needs, top[utility.workload],
        utility.rates, teams=market.n,
    )  # fmt: skip
    price = 0.05 * market.budgets.sum() / market.supplies.sum()
    return market.replace(utility=family, reserves=np.full(market.m, price))


def credits_of(market, outcome):
    """What is spent on each workload, and an equal part of what its team keeps."""
    utility = market.utility
    asked = (utility.needs @ outcome.prices) * outcome.activities
    spend = np.bincount(utility.workload, weights=asked, minlength=len(utility.demand))
    kept = market.budgets - np.bincount(utility.team, weights=spend, minlength=market.n)
    kept[kept < 1e-9 * market.budgets] = 0
    return spend + (kept / np.bincount(utility.team, minlength=market.n))[utility.team]


@pytest.mark.parametrize("seed", range(15))
def test_an_equilibrium_is_a_split_by_what_it_spends(seed):
    """And back: credits divided as they are best spent make the split an equilibrium.

    Each workload is served at least cost for its credits, and none would rather spend what it
    keeps: either it has all that it wants, or a kept credit is worth more. Goods are not free here,
    so that what gets nothing needs no credits; rounding may not give more than a team has.
    """
    market = evened(generate.workloads(seed, teams=12))
    whole = qm.EffectiveBudgets().solve(market)
    split = qm.Split(credits=credits_of(market, whole) * (1 - 1e-12)).solve(market)
    divided = split.divided
    levels = divided.levels(whole.activities)
    assert measure(divided.market, whole.prices, None, 1e-9, levels).certified()
    assert joint(market, split, 1e-9).certified()


@pytest.mark.parametrize("seed", range(12))
def test_nash_welfare_as_the_textbook_program(seed):
    """Welfare is the same, and either's prices prove the other's levels best."""
    market = evened(generate.workloads(seed, teams=8, goods=6))
    utility = market.utility
    ours = qm.NashWelfare().solve(market)
    prices, levels = textbook(
        market.budgets, market.supplies, utility.team, utility.demand, utility.workload,
        utility.needs.toarray(), utility.values, utility.rates,
        reserves=market.reserves, keep_values=market.keep_values,
    )  # fmt: skip
    assert_allclose(ours.prices, prices, rtol=1e-6, atol=1e-6 * prices.max())
    for point in ((prices, ours.activities), (ours.prices, np.maximum(levels, 0))):
        claim = qm.Outcome(point[0], None, "", activities=point[1], notion="nash_welfare")
        assert abs(judged(market, claim, 1e-6).gap) <= 1e-6
    assert abs(judged(market, ours, 1e-9).gap) <= 1e-9


def test_the_textbook_page_by_hand():
    """The welfare of tests/cases: 1/(1/2 + v) = 1/(7/4 - v), so v = 5/8 and prices 8/9."""
    prices, levels = textbook(
        [1, 1], [1, 1], [0, 0, 1], [1 / 4, np.inf, np.inf], [0, 1, 2, 2],
        [[1, 0], [0, 1], [1, 0], [0, 1]], [2, 1, 1, 1], [1, 1, 1, 1],
    )  # fmt: skip
    assert_allclose(prices, [8 / 9, 8 / 9], rtol=1e-6)
    assert_allclose(levels, [1 / 4, 5 / 8, 3 / 4, 3 / 8], rtol=1e-5)
    assert "qmopt" not in Path(load("nash_welfare").__file__).read_text("utf-8")


# ---- limits, what takes no part, and what is refused


def test_no_workload_pays_more_than_its_limit_in_a_split():
    """For each unit of demand served, whatever its options are worth beside each other."""
    at_limit = 0
    for seed in range(6):
        market = generate.workloads(seed, teams=12, ratio=2)
        utility, rng = market.utility, np.random.default_rng(seed)
        usual = market.budgets.sum() / market.supplies.sum() / np.median(utility.rates)
        limits = usual * 10 ** rng.uniform(-1, 1, len(utility.demand))
        limited = qm.Workloads(
            utility.team, utility.demand, utility.workload, utility.needs, utility.values,
            utility.rates, teams=market.n, limit_prices=limits,
        )  # fmt: skip
        outcome = qm.Split().solve(market.replace(utility=limited))
        assert judged(market, outcome, 1e-9).certified()
        asked = (utility.needs @ outcome.prices) * outcome.activities
        spend = np.bincount(utility.workload, weights=asked, minlength=len(limits))
        served = utility.served(outcome.activities)
        assert (spend <= limits * served * (1 + 1e-9)).all()
        at_limit += np.isclose(spend, limits * served, rtol=1e-9)[served > 0].sum()
    assert at_limit > 10


def partly():
    """Goods: scarce, not there, wanted by nobody, plenty. Of four teams two have no use or credits.

    Team 3 spends 2 on good 0, of which team 0 wants 2 of 4: at price 1 both have 2. Team 0 has 5 of
    good 3 for nothing, and keeps 4.
    """
    utility = qm.Workloads(
        team=[0, 0, 1, 2, 3],
        demand=[2, 5, np.inf, 0, np.inf],
        workload=[0, 1, 2, 3, 4, 4],
        needs=np.eye(4)[[0, 3, 0, 0, 0, 1]],
        values=[3, 1, 1, 1, 1, 9],
    )
    return qm.Market([6, 0, 1, 2], [4, 0, 3, 100], utility, reserves=[0, 0, 0.5, 0])


@pytest.mark.parametrize("method", [qm.Split(), qm.EffectiveBudgets(), qm.NashWelfare()], ids=repr)
def test_what_takes_no_part(method):
    market = partly()
    outcome = method.solve(market)
    assert_allclose(outcome.prices, [1, np.nan, 0.5, 0], rtol=1e-12, atol=1e-12)
    # options of value only: team 2's workload wants nothing, so its option is left out
    assert_allclose(outcome.activities, [2, 5, 0, 2, 0], atol=1e-10)
    expected = np.zeros((4, 4))
    expected[0, [0, 3]], expected[3, 0] = [2, 5], 2
    assert_allclose(outcome.allocation, expected, atol=1e-10)
    assert joint(market, outcome).certified()


def test_credits_that_a_team_does_not_have_are_not_given():
    market = partly()
    with pytest.raises(qm.MarketError, match=r"workloads of team 0 are given 7 of its 6 credits"):
        qm.Split(credits=[4, 3, 0, 1, 2]).solve(market)
    with pytest.raises(qm.MarketError, match="credits"):
        qm.Split(credits=[4, -3, 0, 1, 2]).solve(market)
    with pytest.raises(qm.MarketError, match="credits"):
        qm.Split(credits=[4, 2]).solve(market)
    # less than it has is for it to say: 1/4 of good 0 at price 1/4 + 2/4 = 3/4 for 4 units
    few = qm.Split(credits=[1, 0, 0, 0, 2]).solve(market)
    assert_allclose(few.prices[0], 3 / 4, rtol=1e-12)


def test_limit_prices_that_do_not_hold_jointly_are_told():
    market = qm.Market([4], [5], qm.Workloads([0], [9], [0], [[1]], [2], limit_prices=[1]))
    for method in (qm.EffectiveBudgets(), qm.NashWelfare(), qm.InteriorPoint()):
        with pytest.raises(qm.MarketError, match=r"limit_price 1: .*a split takes any limit"):
            method.solve(market)
    # a credit kept is worth 2 there, as much as what one chip at 1 credit brings
    assert_allclose(qm.Split().solve(market).prices, [4 / 5], rtol=1e-12)


class Clock:
    """A clock that is a second on whenever somebody looks."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.mark.parametrize(
    "method", [qm.Split, qm.EffectiveBudgets, qm.NashWelfare], ids=lambda kind: kind.__name__
)
@pytest.mark.parametrize("limit", [1e-9, 3, 12])
def test_time_runs_out_and_it_is_said(method, limit, monkeypatch):
    """What is there by then is returned, after few looks more than there were seconds."""
    market = generate.workloads(3, teams=20)
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    outcome = method(time_limit=limit).solve(market)
    assert outcome.status == "stopped"
    assert clock.now <= limit + 12
    assert np.isfinite(outcome.prices).all()
    assert np.isfinite(outcome.activities).all()
    assert (outcome.prices >= market.reserves).all()
    assert (outcome.activities >= 0).all()
