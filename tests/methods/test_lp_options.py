"""Options in a box of prices, sweeps of bids, one program, the crossover on few options."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods import lp_crossing
from qmopt.methods.lp_alike import alike
from qmopt.methods.lp_box import TANGENTS, solve_box
from qmopt.methods.lp_options import Near, Options
from qmopt.methods.outcome import trading


@pytest.mark.parametrize("sparse", [False, True])
def test_near_options_are_those_that_can_be_best_in_the_box(sparse):
    """Against all prices at the corners of the box, one good dear and the others cheap in turn."""
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=(40, 6)) * (rng.random((40, 6)) < 0.7)
    values[:, 0] += 0.01
    market = qm.Market(
        np.ones(40), np.ones(6), qm.Linear(sp.csr_array(values) if sparse else values),
        keep_values=np.where(np.arange(40) % 3, 0, 0.8),
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        options, worth = Options.of(market), np.log(values)
    centre, half = rng.normal(size=6) / 4, np.full(6, 0.2)
    found = options.near(centre, half, 1000)
    expected = {
        (i, 6) for i in range(40) if i % 3 == 0 and np.log(0.8) >= (worth[i] - centre - half).max()
    }
    for good in range(6):
        cheap = np.where(np.arange(6) == good, centre - half, centre + half)
        best = np.maximum((worth - cheap).max(axis=1), options.keep)
        expected |= {(i, good) for i in np.flatnonzero(worth[:, good] - cheap[good] >= best)}
    assert set(zip(found.buyer.tolist(), found.good.tolist(), strict=True)) == expected
    assert options.near(centre, half, 1) is None


@pytest.mark.parametrize("sparse", [False, True])
def test_sweeps_are_those_of_proportional_bids(sparse):
    """The closed form against bids that are carried along."""
    rng = np.random.default_rng(1)
    values, budgets, keep = rng.random((20, 5)), rng.random(20) + 0.5, rng.random(20)
    market = qm.Market(
        budgets, np.ones(5), qm.Linear(sp.csr_array(values) if sparse else values), keep_values=keep
    )
    options, total = Options.of(market), np.zeros(5)
    worth = np.column_stack([values, keep])  # the last good is money, at price 1
    shares = np.column_stack([np.ones((20, 5)), np.full(20, options.scale)])
    for sweep in range(1, 6):
        gains = worth * shares
        bids = budgets[:, None] * gains / gains.sum(axis=1, keepdims=True)
        prices = np.append(bids.sum(axis=0)[:5], 1.0)
        shares = bids / prices
        found = options.bid(sweep, total) * options.scale
        np.testing.assert_allclose(found, prices[:5], rtol=1e-12)
        total += np.log(found / options.scale)


def test_row_duals_are_log_prices():
    """The market of prices 10 and 20, in credits of 24, in a box of half width 1 around 1.

    Tangents touch at log prices 1/8 apart, so that the duals are as near to log 10/24 and
    log 20/24, and the tie of team 1 holds exactly: their difference is log 2.
    """
    market = qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]))
    options = Options.of(market)
    centre, half = np.zeros(2), np.ones(2)
    near = options.near(centre, half, 10)
    point = solve_box(near, options.budgets, centre, half, options.floor, np.inf)
    assert point.status == "Optimal"
    np.testing.assert_allclose(
        point.log_prices, np.log([10 / 24, 20 / 24]), atol=2 / (TANGENTS - 1)
    )
    assert point.log_prices[1] - point.log_prices[0] == pytest.approx(np.log(2), abs=1e-9)
    assert point.spend.sum() == pytest.approx(30 / 24)


def test_the_dual_value_never_rises_above_the_centres():
    """The centre is a point of the program's dual, so that its prices are no worse there."""

    def dual(options, log_prices):
        return np.exp(log_prices).sum() + options.budgets @ options.best(log_prices)

    for seed in range(10):
        market = generate.uniform(30, 8, seed)
        options = Options.of(market)
        centre, half = np.log(options.bid(1, np.zeros(8))), np.full(8, 0.5)
        for _ in range(5):
            near = options.near(centre, half, 1000)
            found = solve_box(near, options.budgets, centre, half, options.floor, np.inf)
            assert (np.abs(found.log_prices - centre) <= half + 1e-9).all()
            assert dual(options, found.log_prices) <= dual(options, centre) + 1e-9
            centre, half = found.log_prices, half / 4


def test_a_crossover_of_few_options_takes_in_what_it_missed(monkeypatch):
    """Told of one option per buyer it still ends where all values say, and no sooner."""
    monkeypatch.setattr(lp_crossing, "SMALL", 0)
    wrong = []
    for seed in range(60):
        market = generate.market(seed)
        inner = trading(market)
        options = Options.of(inner)
        rough = qm.ProportionalResponse(max_iterations=3, crossover=False).solve(inner)
        log_prices = np.log(rough.prices * inner.supplies / options.scale)
        near = options.near(log_prices, np.zeros(inner.m), options.size)
        _, first = np.unique(near.buyer, return_index=True)
        near = Near(*(part[first] for part in near))
        found = lp_crossing.cross(inner, options, near, rough.prices, rough.allocation, np.inf)
        certificate = qm.certify(inner, found.prices, found.allocation, tolerance=1e-9)
        if not (found.finished and certificate.certified()):
            wrong.append((seed, market.title, found, certificate))
        late = lp_crossing.cross(inner, options, near, rough.prices, rough.allocation, 0)
        assert not late.finished
    assert wrong == []


def test_buyers_alike_are_one():
    """Rows 0, 2 and 3 are proportional, 1 and 4 are; row 5 differs from row 1 by a part in 1e7.

    Kept credits count: what is worth 1 to buyer 0 has to be worth 3 to buyer 2, whose values are
    three times as large, and is worth less to buyer 3.
    """
    rows = [[1, 2, 0], [4, 1, 1], [3, 6, 0], [5, 10, 0], [2, 0.5, 0.5], [4, 1, 1 + 1e-7]]
    budgets = [1, 2, 3, 4, 5, 6]
    values = np.array(rows * 2)
    keep = [1, 0, 3, 4, 0, 0] * 2
    market = qm.Market(budgets * 2, [1, 2, 3], qm.Linear(values), keep_values=keep)
    found = alike(Options.of(market))
    kinds = np.array([0, 1, 0, 2, 1, 3] * 2)
    same = found.kind[:, None] == found.kind
    assert (same == (kinds[:, None] == kinds)).all()
    credit = np.array([8, 14, 8, 12])[kinds]
    np.testing.assert_allclose(found.options.budgets[found.kind] * 6, credit)
    np.testing.assert_allclose(found.share, np.array(budgets * 2) / credit)
    scale = np.exp(found.more) / np.array([1, 4, 3, 5, 2, 4] * 2)  # of the first value of each
    for kind in range(4):
        np.testing.assert_allclose(scale[found.kind == kind], scale[found.kind == kind][0])
    outcome = qm.LinearProgramming(crossover=False).solve(market)
    certificate = qm.certify(market, outcome.prices, outcome.allocation)
    assert certificate.gap <= 1e-9
    # the bundles of buyers alike are as their budgets
    np.testing.assert_allclose(outcome.allocation[2], 3 * outcome.allocation[0], rtol=1e-12)
    exact = qm.clear(market, qm.LinearProgramming(), tolerance=1e-12)
    np.testing.assert_allclose(outcome.prices, exact.prices, rtol=1e-3)
    np.testing.assert_allclose(exact.prices, qm.clear(market, qm.Pivoting()).prices, rtol=1e-12)


def test_few_alike_are_left_as_they_are():
    assert alike(Options.of(generate.uniform(40, 5))) is None
    assert alike(Options.of(generate.sparse(40, 5))) is None


@pytest.mark.parametrize("reserves", [False, True])
def test_a_large_market_of_few_kinds(reserves):
    """Its gap is measured on the buyers as they are."""
    market = generate.tied(2000, 30, 4, spread=6, reserves=reserves)
    outcome = qm.LinearProgramming(crossover=False).solve(market)
    certificate = qm.certify(market, outcome.prices, outcome.allocation)
    assert certificate.gap <= 1e-9
    assert outcome.stats["gap"] == pytest.approx(certificate.gap, abs=1e-11)
