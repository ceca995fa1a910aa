"""Activities with limits: the products, the step, the start, the last bits, and what comes out."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import qmopt as qm
from qmopt import generate
from qmopt.certificate import measure
from qmopt.methods.activities.homotopy import Curve, effective
from qmopt.methods.activities.iterate import Iterate, Missed, Products
from qmopt.methods.activities.path import follow
from qmopt.methods.activities.products import Between
from qmopt.methods.activities.reduced import Reduced
from qmopt.methods.activities.scaled import Scaled
from qmopt.methods.activities.settle import settle
from qmopt.methods.outcome import trading
from tests.capped import KINDS, draw

seeds = st.integers(0, 2**32 - 1)


def some(rng, rows, columns):
    """Small whole numbers, about half of them 0, so that sums are exact."""
    return sp.csr_array(rng.integers(1, 5, (rows, columns)) * (rng.random((rows, columns)) < 0.5))


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_a_product_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    rows, middle, columns = (int(k) for k in rng.integers(1, 7, 3))
    left, right = some(rng, rows, middle), some(rng, middle, columns)
    numbers = rng.integers(-3, 4, middle).astype(float)
    between = Between(left, right)
    expected = (left @ sp.diags_array(numbers) @ right).toarray()
    entries = between(numbers)
    assert (between.dense(entries) == expected).all()
    assert (between.matrix(entries).toarray() == expected).all()
    assert (entries == expected[between.row, between.column]).all()
    # each place once, in order, and only those that are not 0 by their pattern
    pattern = ((left > 0).astype(int) @ (right > 0).astype(int)).toarray() > 0
    assert (np.argwhere(pattern) == np.column_stack([between.row, between.column])).all()


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_entries_of_a_finer_product_are_gathered_by_owner(seed):
    """Rows of the finer one belong to rows of the coarse one, which has all of their places."""
    rng = np.random.default_rng(seed)
    owners, rows, middle, columns = (int(k) for k in rng.integers(1, 6, 4))
    whose, fine, right = (
        rng.integers(0, owners, rows),
        some(rng, rows, middle),
        some(rng, middle, columns),
    )
    sums = sp.csr_array((np.ones(rows), (whose, np.arange(rows))), shape=(owners, rows))
    coarse, finer = Between(sums @ fine, right), Between(fine, right)
    numbers = rng.integers(1, 4, middle).astype(float)
    gathered = coarse.gathered(finer, whose) @ finer(numbers)
    assert (coarse.dense(gathered) == (sums @ finer.matrix(finer(numbers))).toarray()).all()


def system(seed):
    """Workloads with kept credits, or recipes with caps on utility, kept credits and reserves."""
    if seed % 3 == 0:
        return Scaled(trading(draw(seed, "bundles, caps, all")))
    market = generate.workloads(seed, teams=7, goods=4)
    return Scaled(trading(market), np.full(7, 0.01) if seed % 2 else None)


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("seed", range(12))
def test_a_step_solves_its_equations(seed, share):
    """Each as the module writes it, to first order, at a point within all bounds."""
    scaled, rng = system(seed), np.random.default_rng(seed)
    here = Iterate(*(part * rng.uniform(0.5, 2, len(part)) for part in scaled.start()))
    products = Products(*(rng.normal(size=len(part)) for part in here.products()))
    counts = (len(here.room), len(here.idle), len(here.costs))
    missed = Missed(*(rng.normal(size=count) for count in counts))
    move = Reduced(scaled, here, share).solve(products, missed)
    value, gained = scaled.value(here.levels), scaled.value(move.levels)
    spent = here.costs * gained + value * move.costs
    asked = scaled.needs @ move.prices + scaled.uses.T @ move.rents
    sides = [
        (here.levels * move.slacks + here.slacks * move.levels, products.activities),
        (here.room * move.rents + here.rents * move.room, products.limits),
        (here.idle * move.prices + here.prices * move.idle, products.goods),
        (asked - scaled.worth * move.costs[scaled.owner], move.slacks),
        (scaled.uses @ move.levels + move.room, missed.limits),
        (scaled.needs.T @ move.levels + move.idle, missed.goods),
        (spent - share * (scaled.rented @ move.rents), missed.budgets),
    ]
    size = max(float(np.abs(part).max()) for part in move)
    for left, right in sides:
        assert_allclose(left, right, rtol=0, atol=1e-10 * max(size, 1))


@pytest.mark.parametrize("seed", range(12))
def test_the_start_is_within_all_bounds(seed):
    scaled = system(seed)
    start = scaled.start()
    assert min(float(part.min()) for part in start) > 0
    # no good and no limit is used up, unless by credits that are kept
    assert scaled.handed_out(start.levels).max() < 1
    spent = start.levels.copy()
    spent[scaled.count :] = 0
    assert scaled.used_up(spent).max() < 1


@pytest.mark.parametrize("seed", range(8))
def test_the_end_of_the_path_is_where_the_equations_hold(seed):
    """At share 0; the same numbers as those of the conditions that the module states."""
    scaled = system(seed)
    here, _, _ = follow(scaled, 1e-9)
    assert scaled.missed(here, 0.0).largest(scaled.budgets) <= 1e-8
    slacks = scaled.slacks(here.prices, here.rents, here.costs)
    assert_allclose(slacks, here.slacks, atol=1e-8 * max(1, here.costs.max()))
    assert here.product() <= 1e-8 * scaled.weight


# ---- the last bits, from a point that is given by hand


def quarter(demand=0.25):
    """Team 0 wants so much of good 0 at 2 and any of good 1 at 1; team 1 any good at 1."""
    needs = [[1, 0], [0, 1], [1, 0], [0, 1]]
    utility = qm.Workloads([0, 0, 1], [demand, np.inf, np.inf], [0, 1, 2, 2], needs, [2, 1, 1, 1])
    return qm.Market([1, 1], [1, 1], utility)


def near(**parts):
    """A point near an end, everything else as small as at the end of a path."""
    lengths = {"levels": 4, "slacks": 4, "room": 1, "rents": 1, "idle": 2, "prices": 2, "costs": 2}
    return Iterate(*(
        np.array(parts[name], dtype=float) if name in parts else np.full(length, 1e-9)
        for name, length in lengths.items()
    ))  # fmt: skip


def test_the_equilibrium_to_the_last_bit():
    """Prices 1 and 1, a rent of 1/4 for the quarter: 1 + 1/4 is what 1.25 of value costs."""
    scaled = Scaled(quarter())
    assert_allclose(scaled.full, [0.25, 1, 1, 1])
    here = near(
        levels=[1.01, 0.74, 0.76, 0.25], rents=[0.24], prices=[1.02, 0.97], costs=[0.98, 1.03]
    )
    prices, levels = settle(scaled, here, 1.0)
    assert_allclose(prices, [1, 1], rtol=1e-15)
    assert_allclose(levels, [0.25, 0.75, 0.75, 0.25], rtol=1e-15)


def test_the_plain_program_to_the_last_bit():
    """Prices of 8/9: no rent is spent, so 1.125 of value is what the one credit is for."""
    here = near(
        levels=[1.01, 0.62, 0.76, 0.38], rents=[0.23], prices=[0.9, 0.88], costs=[0.9, 0.87]
    )
    prices, levels = settle(Scaled(quarter()), here, 0.0)
    assert_allclose(prices, [8 / 9, 8 / 9], rtol=1e-15)
    assert_allclose(levels, [0.25, 0.625, 0.75, 0.375], rtol=1e-15)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_limit_that_is_met_without_a_rent(share):
    """A demand of 1/2 for one credit at price 2, where there is 1 for two teams alike: 1/2 each.

    Supply, budgets and the limit say the same thing twice, whichever side the limit is put on.
    """
    utility = qm.Workloads([0, 1], [0.5, np.inf], [0, 1], [[1], [1]], [1, 1])
    scaled = Scaled(qm.Market([1, 1], [1], utility))
    usual = {"levels": [1, 0.5], "slacks": [1e-9] * 2, "idle": [1e-9], "costs": [1, 2]}
    for room, rent in ((1e-9, 1e-4), (1e-4, 1e-9)):
        here = near(**usual, prices=[2.01], room=[room], rents=[rent])
        prices, levels = settle(scaled, here, share)
        assert_allclose(prices, [2], rtol=1e-15)
        assert_allclose(levels, [0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_limit_that_is_taken_to_be_met_and_cannot_be(share):
    """Credits buy 1 of the 3/2 that are wanted: there is no such point, or one of negative rent."""
    utility = qm.Workloads([0, 1], [1.5, np.inf], [0, 1], [[1], [1]], [1, 1])
    scaled = Scaled(qm.Market([1, 1], [2], utility))
    here = near(
        levels=[0.5, 0.5], slacks=[1e-9] * 2, idle=[1e-9], prices=[2.0], costs=[1.0, 1.0],
        room=[1e-6], rents=[1e-5],
    )  # fmt: skip
    prices, levels = settle(scaled, here, share)
    assert_allclose(prices, [1], rtol=1e-15)
    assert_allclose(levels, [1, 1], rtol=1e-15)


def test_a_curve_ends_where_all_rents_are_spent():
    """Shares grow from 0 to 1 along it, and its end is the equilibrium, prices 1 and 1."""
    curve = Curve()
    shares = [curve.share(np.log(barrier))[0] for barrier in (0.3, 0.03, 0.003, 3e-11)]
    assert_allclose(shares, [0, 1 - 1e-3, 1 - 1e-6, 1], atol=1e-15)
    # the derivative by the logarithm, from a difference
    at, step = np.log(0.1), 1e-5
    slope = (curve.share(at + step)[0] - curve.share(at - step)[0]) / (2 * step)
    assert curve.share(at)[1] == pytest.approx(slope, rel=1e-8)
    scaled = Scaled(quarter(), np.full(2, 1e-3))
    found = effective(scaled)
    assert found.finished
    assert_allclose(found.here.prices, [1, 1], rtol=1e-8)
    assert not effective(scaled, most=1).finished


# ---- bundles and caps on utility, by the interior point


def proves(market, one, other, tolerance):
    """Assert that prices of one answer go with the allocation of another: one convex program."""
    # a price of 1e-23 is 0 but for rounding, and says of the other answer's idle chips nothing
    prices = np.where(one.prices > 1e-15 * one.prices.max(), one.prices, 0)
    seen = measure(market, prices, other.allocation, tolerance)
    assert seen.certified(), seen


def against_the_model(seed, kind):
    market = draw(seed, kind)
    ours = qm.clear(market, qm.InteriorPoint(), tolerance=1e-9)
    model = qm.clear(market, qm.EisenbergGale(), tolerance=1e-8)
    proves(market, ours, model, 1e-7)
    proves(market, model, ours, 1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_bundles_and_caps_as_the_model_has_them(kind):
    for seed in range(5):
        against_the_model(seed, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_markets_of_bundles_and_caps_as_the_model_has_them(kind):
    for seed in range(5, 105):
        against_the_model(seed, kind)


@pytest.mark.slow
def test_a_hundred_thousand_capped_teams():
    rng = np.random.default_rng(0)
    n, m = 100_000, 20
    values = rng.uniform(0.5, 2, (n, m)) * (1 + np.arange(m) / m)
    supplies = n / m * rng.uniform(0.2, 1, m)
    caps = np.where(rng.random(n) < 0.7, rng.uniform(0.1, 2, n), np.inf)
    market = qm.Market(rng.lognormal(size=n), supplies, qm.Linear(values), utility_caps=caps)
    found = qm.clear(market, qm.InteriorPoint(), tolerance=1e-8)
    assert (found.utilities > caps * (1 - 1e-9)).mean() > 0.05
    assert found.prices.min() > 0
