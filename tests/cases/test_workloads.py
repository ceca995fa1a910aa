"""Demands in worked examples from papers and other people's code: Nash welfare, and equilibria."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import qmopt as qm
from qmopt.generate import resalloc
from tests.worked_workloads import from_tables


def quarter():
    """Team 0 wants a quarter of good 0 at 2 and any of good 1 at 1; team 1 any good at 1."""
    return qm.Market(
        [1, 1],
        [1, 1],
        qm.Workloads(
            team=[0, 0, 1],
            demand=[1 / 4, np.inf, np.inf],
            workload=[0, 1, 2, 2],
            needs=[[1, 0], [0, 1], [1, 0], [0, 1]],
            values=[2, 1, 1, 1],
        ),
    )


WRITTEN = pytest.mark.parametrize("market", [quarter, from_tables], ids=["arrays", "tables"])


@WRITTEN
def test_nash_welfare_of_a_limited_taste(market):
    """By symmetry of the last credits both prices are equal, and team 0 keeps 2/9.

    It has 1/2 from its quarter and v from good 1, team 1 the other 7/4 - v: 1/(1/2 + v) =
    1/(7/4 - v) gives v = 5/8, prices 8/9. At these it could have 1/2 + (1 - 2/9)/(8/9) = 11/8 in
    place of 9/8: it regrets 1 - 9/11.
    """
    found = qm.clear(market(), qm.NashWelfare(), accept="nash_welfare")
    assert found.status == "nash_welfare"
    assert_allclose(found.prices, [8 / 9, 8 / 9], rtol=1e-12)
    assert_allclose(found.allocation, [[1 / 4, 5 / 8], [3 / 4, 3 / 8]], rtol=1e-12)
    assert_allclose(found.spend, [7 / 9, 1], rtol=1e-12)
    assert found.certificate.regret == pytest.approx(1 - 1.125 / 1.375, rel=1e-12)
    assert f"{found.certificate.regret:.2%}" == "18.18%"
    with pytest.raises(qm.NotCertified, match=r"regret is 0\.18"):
        qm.clear(market(), qm.NashWelfare())


@WRITTEN
def test_the_equilibrium_of_a_limited_taste(market):
    """Prices 1 and 1: a quarter of a credit for the quarter, 3/4 for good 1, and all is sold."""
    found = qm.clear(market(), tolerance=1e-12)
    assert found.status == "certified"
    assert_allclose(found.prices, [1, 1], rtol=1e-12)
    assert_allclose(found.allocation, [[1 / 4, 3 / 4], [3 / 4, 1 / 4]], rtol=1e-12)


def predictions():
    """Shares that pay 1 if "yes" is right; the other side's bid of 0.60 leaves them at 0.40."""
    utility = qm.Workloads(
        team=[0, 0],
        demand=[100, 100],
        workload=[0, 1],
        needs=[[1], [1]],
        values=[0.70, 0.55],
        limit_prices=[0.70, 0.55],
        names=["X", "Y"],
    )
    return qm.Market([50], [200], utility, reserves=[0.40], keep_values=[1], goods=["yes"])


def test_two_limit_orders_of_one_budget():
    """50 credits for 100 shares at up to 0.70 and 100 at up to 0.55, the market at 0.40.

    The plain program stops after the first order: a credit is worth 50/70 to it there, at which
    0.55 for 0.40 does not pay (0.55 * 5/7 = 0.393). It has 70 and 10 kept, and could have 70 and
    25 * 0.55: it regrets 1 - 80/83.75 = 4.478 %.
    """
    market = predictions()
    found = qm.clear(market, qm.NashWelfare(), accept="nash_welfare")
    assert_allclose(found.prices, [0.40], rtol=1e-12)
    assert_allclose(found.activities, [100, 0], atol=1e-10)
    assert_allclose(found.spend, [40], rtol=1e-12)
    worth_of_a_credit = market.budgets[0] / market.utility.value(found.allocation)[0]
    assert worth_of_a_credit == pytest.approx(5 / 7, rel=1e-12)
    assert found.certificate.regret == pytest.approx(1 - 80 / 83.75, rel=1e-12)
    assert f"{found.certificate.regret:.3%}" == "4.478%"


def test_two_limit_orders_of_one_budget_in_equilibrium():
    """All 50 are spent, the last 10 on 25 shares; limits hold since a kept credit is worth 1."""
    found = qm.clear(predictions(), tolerance=1e-12)
    assert_allclose(found.prices, [0.40], rtol=1e-12)
    assert_allclose(found.activities, [100, 25], rtol=1e-12)
    assert found.spend[0] == pytest.approx(50, rel=1e-12)
    # in a split nobody pays beyond a limit either
    split = qm.clear(predictions(), qm.Split(credits=[40, 10]), accept="split")
    assert_allclose(split.activities, [100, 25], rtol=1e-12)


def affordable(speeds, prices):
    """Best speed that one credit buys, as one chip's time of one kind or of two, (n,)."""
    best = (speeds * np.minimum(1, 1 / prices)).max(axis=1)
    for cheap in np.flatnonzero(prices < 1):
        for dear in np.flatnonzero(prices >= 1):
            part = (1 - prices[cheap]) / (prices[dear] - prices[cheap])
            best = np.maximum(best, (1 - part) * speeds[:, cheap] + part * speeds[:, dear])
    return best


def jobs(count):
    """Each has one credit, and wants one chip's time of any kind."""
    speeds, supplies = resalloc(count)
    kinds = len(supplies)
    utility = qm.Workloads(
        np.arange(count),
        np.ones(count),
        np.repeat(np.arange(count), kinds),
        sp.kron(np.ones((count, 1)), sp.eye_array(kinds)),
        speeds.ravel(),
    )
    return qm.Market(np.ones(count), supplies, utility), speeds


def regrets(speeds, found):
    """Regret and spend of each job, by plain loops over kinds of chips."""
    chips = found.activities.reshape(speeds.shape)
    best = affordable(speeds, found.prices)
    return 1 - (speeds * chips).sum(axis=1) / best, chips @ found.prices


def test_a_thousand_jobs_with_one_demand_each():
    market, speeds = jobs(1000)
    found = qm.clear(market, qm.NashWelfare(), accept="nash_welfare")
    regret, _ = regrets(speeds, found)
    assert abs(found.certificate.gap) <= 1e-9
    assert found.certificate.regret == pytest.approx(regret.max(), rel=1e-9)


@pytest.mark.slow
def test_a_million_jobs_with_one_demand_each():
    """The numbers that benchmarks/results/nash-welfare.txt has, by the public way.

    The dual: what supplies come to at the prices, and for each job the most of log speed - spend.
    """
    market, speeds = jobs(1_000_000)
    outcome = qm.NashWelfare().solve(market)
    prices = [0.7020037, 1.7542045, 3.9077917, 6.1947603]
    assert_allclose(outcome.prices, prices, rtol=0, atol=5e-7)
    chips = outcome.activities.reshape(speeds.shape)
    assert (chips >= 0).all()
    assert chips.sum(axis=1).max() <= 1 + 1e-12
    assert (chips.sum(axis=0) <= market.supplies * (1 + 1e-9)).all()
    conjugate = market.utility.conjugate(outcome.prices, market.budgets, np.zeros(market.n))
    dual = market.supplies @ outcome.prices + conjugate.sum()
    welfare = np.log((speeds * chips).sum(axis=1)).sum()
    assert dual == pytest.approx(-1521834.8924, abs=1e-4)
    assert -1e-12 <= (dual - welfare) / market.n <= 1e-9
    regret, spend = regrets(speeds, outcome)
    assert f"{regret.mean():.1%}" == "11.8%"
    # spending less than their credit
    assert np.mean(spend < 1 - 1e-6) == pytest.approx(0.8167, abs=1e-3)
