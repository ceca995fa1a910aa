"""Options in a box of prices, sweeps of bids, one program, the crossover on few options."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods import lp_crossing
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
