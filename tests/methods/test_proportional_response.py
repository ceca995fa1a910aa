"""Proportional response: hand-worked prices, what is proved of it, and what it is told to keep."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods import bids as bidding


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_two_teams_by_hand(kind):
    """Q buys both, so B costs twice A, and together they cost all 30 credits: 10 and 20."""
    market = qm.Market([6, 24], [1, 1], qm.Linear(kind([[2.0, 1.0], [1.0, 2.0]])))
    found = qm.clear(market, qm.ProportionalResponse(tolerance=1e-10))
    np.testing.assert_allclose(found.prices, [10, 20], rtol=1e-9)
    assert sp.issparse(found.allocation) == sp.issparse(market.utility.values)
    assert found.outcome.status == "optimal"


def test_a_kept_credit_is_a_good_of_price_one():
    """A chip is worth 2 to a team of 10 credits and a credit 1: it pays no more than 2 a chip.

    Four chips then cost 8, and the team keeps 2 credits.
    """
    market = qm.Market([10], [4], qm.Linear([[2]]), keep_values=[1])
    outcome = qm.ProportionalResponse(tolerance=1e-12).solve(market)
    np.testing.assert_allclose(outcome.prices, [2])
    np.testing.assert_allclose(outcome.allocation, [[4]])


def test_the_seller_bids_what_is_missing_to_the_reserve():
    """10 credits on 4 chips at a reserve of 5: two are sold at exactly 5, two stay idle."""
    market = qm.Market([10], [4], qm.Linear([[2]]), reserves=[5])
    outcome = qm.ProportionalResponse().solve(market)
    assert (outcome.prices.tolist(), outcome.allocation.tolist()) == ([5], [[2]])


def test_random_markets_certify_at_its_tolerance_or_say_that_they_stopped():
    """Seeds 0..119, reserves and kept credits included: no claim that the certificate denies."""
    stopped = []
    for seed in range(120):
        market = generate.market(seed)
        outcome = qm.ProportionalResponse(tolerance=1e-5, max_iterations=3000).solve(market)
        measured = qm.certify(market, outcome.prices, outcome.allocation)
        residuals = measured.residuals
        exact = ("negative", "reserve", "overspend", "overallocated", "idle")
        assert max(residuals[name] for name in exact) <= 1e-12, seed
        if outcome.status == "optimal":
            assert measured.worst <= 1.0001e-5, seed
        else:
            stopped.append(seed)
            assert any("stopped" in note for note in outcome.notes)
    assert len(stopped) < 12


def shmyrev(market, bids, kept):
    """The function that is proved to fall, with the seller's bids at their best."""
    values, worth = market.utility.values, market.reserves * market.supplies
    sums = bids.sum(axis=0)
    seller = np.maximum(worth - sums, 0)
    revenue = sums + seller
    total = (revenue * np.log(revenue) - revenue).sum() - (bids * np.log(values)).sum()
    total -= (bids * np.log(market.supplies)).sum()
    total -= (kept * np.log(np.where(kept > 0, market.keep_values, 1))).sum()
    return total - (seller * np.log(np.where(worth > 0, worth, 1))).sum()


@pytest.mark.parametrize("seed", range(10))
def test_the_proof_holds_on_drawn_markets(seed):
    """f falls at each step, and stays within KL(equilibrium | first bids) / T of its minimum."""
    rng = np.random.default_rng(seed)
    market = qm.Market(
        rng.random(8) + 0.2, rng.random(5) + 0.5, qm.Linear(rng.random((8, 5)) + 0.05),
        reserves=rng.random(5) * (seed % 2), keep_values=rng.random(8) * (seed % 3 > 0) + 0.0,
    )  # fmt: skip
    best = qm.clear(market, qm.Pivoting())
    least = shmyrev(market, best.allocation * best.prices, best.unspent * (market.keep_values > 0))
    points = []
    for steps in range(1, 62):
        outcome = qm.ProportionalResponse(tolerance=0, max_iterations=steps).solve(market)
        bids = outcome.allocation * outcome.prices
        kept = (market.budgets - bids.sum(axis=1)) * (market.keep_values > 0)
        points.append((shmyrev(market, bids, np.maximum(kept, 0)), bids, np.maximum(kept, 0)))
    heights = np.array([point[0] for point in points])
    scale = market.budgets.sum()
    assert (np.diff(heights) <= 1e-12 * scale).all()
    assert (heights >= least - 1e-9 * scale).all()
    _, bids, kept = points[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        theirs, money = best.allocation * best.prices, best.unspent * (market.keep_values > 0)
        distance = np.nansum(theirs * np.log(theirs / bids)) + np.nansum(
            np.where(money > 1e-12, money * np.log(money / kept), 0)
        )
    steps = np.arange(1, 61)
    assert (steps * (heights[1:] - least) <= distance + 1e-9 * scale).all()


def test_blocks_change_nothing(monkeypatch):
    """The same bids whether rows are worked on one by one or all at once, dense and sparse."""
    for market in (generate.uniform(30, 20, 1), generate.sparse(40, 15, 1)):
        method = qm.ProportionalResponse(max_iterations=50)
        whole = method.solve(market)
        monkeypatch.setattr(bidding, "BLOCK", 7)
        pieces = method.solve(market)
        monkeypatch.undo()
        np.testing.assert_allclose(pieces.prices, whole.prices, rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_memory_is_one_array_of_bids(sparse):
    """Beside the values: 8 bytes a value, vectors of buyers and goods, and the blocks."""
    values = np.random.default_rng(0).random((20_000, 100)) + 0.1
    if sparse:
        values = sp.csr_array(np.where(values > 0.6, values, 0))
    market = qm.Market(np.ones(20_000), np.ones(100), qm.Linear(values))
    assert market.active.all()
    stored = values.nnz if sparse else values.size
    tracemalloc.start()
    qm.ProportionalResponse(max_iterations=20).solve(market)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.25 * 8 * stored + 40 * 8 * 20_000


def test_who_takes_no_part_gets_nothing():
    market = qm.Market(
        [6, 24, 0], [1, 1, 3, 0], qm.Linear([[2, 1, 0, 9], [1, 2, 0, 9], [1, 1, 1, 1]])
    )
    outcome = qm.ProportionalResponse().solve(market)
    np.testing.assert_allclose(outcome.prices, [10, 20, 0, np.nan], rtol=1e-6)
    assert not outcome.allocation[2].any()
    assert qm.clear(market, qm.ProportionalResponse()).status == "certified"


def test_a_crossover_finishes_a_rough_point():
    market = generate.uniform(40, 30, 2)
    rough = qm.ProportionalResponse(tolerance=1e-3, crossover=True)
    found = qm.clear(market, rough, tolerance=1e-12)
    np.testing.assert_allclose(found.prices, qm.clear(market).prices, rtol=1e-11)


def test_numbers_far_apart_are_measured_not_believed():
    """Values over 600 orders of magnitude: either it certifies, or an error says what happened."""
    market = qm.Market([1, 1], [1, 1], qm.Linear([[1e300, 1e-300], [1e-300, 1e300]]))
    found = qm.clear(market, qm.ProportionalResponse())
    np.testing.assert_allclose(found.prices, [1, 1])


def test_what_it_does_not_cover_is_told():
    with pytest.raises(qm.MarketError, match="caps"):
        qm.ProportionalResponse().solve(qm.Market([1], [1], qm.Linear([[1]]), utility_caps=[1]))
    with pytest.raises(qm.MarketError, match="tolerance"):
        qm.ProportionalResponse(tolerance=-1)


def test_time_runs_out_and_it_is_said():
    with pytest.raises(qm.NotCertified, match="stopped after 0 steps"):
        qm.clear(generate.uniform(30, 20, 0), qm.ProportionalResponse(time_limit=0))
