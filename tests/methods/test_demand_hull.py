"""A buyer's exact answer to prices: against a linear program, its slope, and its margin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from qmopt.methods.demands.hull import conjugates, respond, settle, survey
from qmopt.methods.demands.rows import Buyers


def buyer(seed, m=5):
    """One buyer of any kind, prices, and the passes' arrays with the bank as last good."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, m + 1))
    rows = ([0, count], rng.permutation(m)[:count], rng.uniform(0.5, 3, count))
    given = Buyers.of(
        rng.uniform(0.5, 3),
        np.inf if seed % 4 == 0 else rng.uniform(0.3, 3),
        (*rows, rng.uniform(0.5, 2, count)),
        np.ones(m),
        keeps=rng.uniform(0.3, 2) if seed % 3 == 0 else 0.0,
    )
    return given, given.banked()[0], np.append(rng.uniform(0.2, 3, m), 1.0)


def answer(made, price):
    """Demand by good, its slope, the margin."""
    size, margin = len(price), np.empty(1)
    taken, bend = np.zeros(size), np.zeros((size, size))
    scale = np.append(price[:-1], 0.0)
    survey(0, 1, *made.rows, price, scale, margin, taken, bend)
    return taken, bend, margin[0]


def conjugate(made, price):
    found = np.empty(1)
    conjugates(*made.rows, price, found)
    return found[0]


@pytest.mark.parametrize("seed", range(80))
def test_beta_and_mu_are_the_best_bounds(seed):
    """Of ``demand mu + B log(B / beta) - B`` over what no option beats, by a fine grid of beta."""
    given, made, price = buyer(seed)
    cost = price[made.goods]
    beta, mu, _, _ = respond(
        0, len(made.goods), *made.rows[1:4], price, given.budgets[0], given.demands[0]
    )
    assert (beta * made.worths <= (cost + mu * made.rates) * (1 + 1e-12)).all()
    assert mu >= 0

    def bound(beta):
        served = made.rates > 0
        if (beta * made.worths[~served] > cost[~served]).any():
            return np.inf
        least = ((beta * made.worths - cost) / np.where(served, made.rates, 1))[served]
        least = max(least.max(initial=0), 0)
        if np.isinf(given.demands[0]):
            return np.inf if least > 0 else -given.budgets[0] * np.log(beta)
        return given.demands[0] * least - given.budgets[0] * np.log(beta)

    own = conjugate(made, price) - given.budgets[0] * (np.log(given.budgets[0]) - 1)
    assert own <= min(bound(b) for b in beta * np.geomspace(0.2, 5, 401)) + 1e-12


@pytest.mark.parametrize("seed", range(80))
def test_no_more_value_for_what_it_spends(seed):
    """A linear program finds no more value for the credits spent, within the demand."""
    given, made, price = buyer(seed)
    y, cost = np.empty(len(made.goods)), price[made.goods]
    settle(0, 1, *made.rows, price, y)
    rows, limits = [cost], [cost @ y]
    if np.isfinite(given.demands[0]):
        rows, limits = [cost, made.rates], [cost @ y, given.demands[0]]
        assert made.rates @ y <= given.demands[0] * (1 + 1e-12)
    best = -linprog(-made.worths, A_ub=rows, b_ub=limits).fun
    assert_allclose(made.worths @ y, best, rtol=1e-9)
    # and the conjugate is what that is worth
    own = given.budgets[0] * np.log(made.worths @ y) - cost @ y
    assert_allclose(conjugate(made, price), own, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(80))
def test_demand_is_the_slope_of_the_conjugate_and_bends_as_said(seed):
    """By central differences inside the margin, where everything is smooth."""
    _, made, price = buyer(seed)
    taken, bend, margin = answer(made, price)
    assert margin > 0
    for j in range(len(price) - 1):
        step = np.zeros(len(price))
        step[j] = min(1e-5, margin / 2) * price[j]
        rise = conjugate(made, price + step) - conjugate(made, price - step)
        assert_allclose(rise / (2 * step[j]), -taken[j], rtol=1e-4, atol=1e-5)
        more = answer(made, price + step)[0] - answer(made, price - step)[0]
        assert_allclose(more[:-1] / (2 * step[j]), -bend[j, :-1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("seed", range(80))
def test_nothing_is_dropped_within_the_margin(seed):
    """Prices move by up to the margin, each its own way: the same two options are in use."""
    given, made, price = buyer(seed)
    rng = np.random.default_rng(seed)
    margin = answer(made, price)[2]

    def used(price):
        return respond(
            0, len(made.goods), *made.rows[1:4], price, given.budgets[0], given.demands[0]
        )[2:]

    for _ in range(30):
        moves = np.append(rng.choice([-1, 1, rng.uniform(-1, 1)], len(price) - 1), 0.0)
        assert used(price * (1 + 0.999 * min(margin, 1) * moves)) == used(price)


def test_the_walk_by_hand():
    """Demand of one chip; a slow kind of speed 1 at 1 credit, a fast one of speed 3 at 4.

    For 1 credit all of the slow, for 4 all of the fast: 1.5 speed per credit on the way. With 2
    credits: beta = 1.5, so u = 2 / 1.5 = 4 / 3, a sixth of the fast, and mu = beta - 1 = 1 / 2.
    """
    given = Buyers.of([2], [1], ([0, 2], [0, 1], [1, 3], 1), [1, 1])
    price, y = np.array([1.0, 4.0, 1.0]), np.empty(2)
    beta, mu, here, other = respond(0, 2, *given.rows[1:4], price, 2.0, 1.0)
    assert (beta, mu, here, other) == (1.5, 0.5, 0, 1)
    settle(0, 1, *given.rows, price, y)
    assert_allclose(y, [5 / 6, 1 / 6])
