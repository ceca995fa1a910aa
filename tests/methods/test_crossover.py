"""The crossover reaches the exact prices from wherever it starts, ties or no ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qmopt as qm
from qmopt import generate
from qmopt.methods.crossover import crossover

CLOSE = 1e-12


def equal_shares(market, rng):
    return np.ones(market.m), np.tile(market.supplies / market.n, (market.n, 1))


def random_shares(market, rng):
    shares = rng.dirichlet(np.full(market.n, 0.3), market.m).T
    return rng.lognormal(size=market.m), shares * market.supplies


def one_hot(market, rng):
    shares = np.zeros(market.shape)
    shares[rng.integers(market.n, size=market.m), np.arange(market.m)] = 1
    return rng.lognormal(size=market.m), shares * market.supplies


def nothing(market, rng):
    return np.zeros(market.m), np.zeros(market.shape)


def nonsense(market, rng):
    return np.full(market.m, np.nan), np.where(rng.random(market.shape) < 0.5, -1e300, np.inf)


STARTS = {f.__name__: f for f in (equal_shares, random_shares, one_hot, nothing, nonsense)}


def whole(low, high, count):
    return st.lists(st.integers(low, high), min_size=count, max_size=count)


@st.composite
def small_markets(draw, extras):
    """2 x 2 or 2 x 3 (either way round), whole numbers; ties wanted, everybody of use."""
    n, m = draw(st.sampled_from([(2, 2), (2, 3), (3, 2)]))
    values = draw(st.lists(whole(0, 3, m), min_size=n, max_size=n))
    for i in range(n):
        values[i][i % m] += not any(values[i])
    for j in range(m):
        values[j % n][j] += not any(row[j] for row in values)
    keep = draw(whole(0, 3, n)) if extras else None
    reserves = draw(whole(0, 4, m)) if extras else None
    return draw(whole(1, 9, n)), draw(whole(1, 4, m)), values, keep, reserves


@pytest.mark.parametrize("extras", [False, True], ids=["plain", "kept credits and reserves"])
def test_exact_prices_from_every_start(extras, exact_prices):
    @given(small_markets(extras), st.integers(0, 99))
    def check(numbers, seed):
        budgets, supplies, values, keep, reserves = numbers
        exact = [float(price) for price in exact_prices(*numbers)]
        market = qm.Market(
            budgets, supplies, qm.Linear(values), keep_values=keep, reserves=reserves
        )
        rng = np.random.default_rng(seed)
        for start in STARTS.values():
            crossed = crossover(market, *start(market, rng))
            assert crossed.finished
            np.testing.assert_allclose(crossed.prices, exact, rtol=CLOSE)
            certificate = qm.certify(market, crossed.prices, crossed.allocation)
            assert certificate.certified(CLOSE)
        np.testing.assert_allclose(qm.clear(market).prices, exact, rtol=CLOSE)

    check()


def test_the_oracle_on_prices_worked_by_hand(exact_prices):
    assert exact_prices([6, 24], [1, 1], [[2, 1], [1, 2]]) == [10, 20]
    # credits that are worth 1 each: the first team spends only where a chip brings 1 per credit
    assert exact_prices([100, 5], [2, 5], [[4, 0], [0, 3]], keep=[1, 0]) == [4, 1]
    # at a reserve of 3 only 2 of the 4 chips are bought
    assert exact_prices([6], [4], [[1]], reserves=[3]) == [3]


FAMILIES = {
    "integer": generate.integer(20, 12, 1),
    "ties": generate.tied(25, 10, 2, spread=2),
    "uniform": generate.uniform(15, 15, 3, spread=4),
    "log-normal, reserves": generate.lognormal(15, 8, 4, spread=3, reserves=True),
    "sparse": generate.sparse(40, 5, 5),
    "all alike": qm.Market(np.ones(12), np.ones(9), qm.Linear(np.ones((12, 9)))),
    "kept credits": qm.Market(
        [5, 50, 500, 5],
        [1, 2, 3],
        qm.Linear([[1, 2, 3], [3, 2, 1], [2, 2, 2], [1, 5, 1]]),
        keep_values=[0, 0.5, 0.5, 1],
    ),
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_all_starts_end_at_the_same_prices(family, start):
    market = FAMILIES[family]
    market = market.take(np.flatnonzero(market.active), np.flatnonzero(market.sold))
    exact = crossover(market, *equal_shares(market, None)).prices
    rng = np.random.default_rng(7)
    for _ in range(3):
        crossed = crossover(market, *start(market, rng))
        assert crossed.finished
        np.testing.assert_allclose(crossed.prices, exact, rtol=1e-10)
        assert qm.certify(market, crossed.prices, crossed.allocation).certified(1e-11)
        assert crossed.allocation.nnz <= market.n + market.m - 1


def test_pivots_are_reported_and_a_good_start_needs_none():
    market = generate.lognormal(30, 15, 0)
    rough = crossover(market, *one_hot(market, np.random.default_rng(0)))
    assert rough.pivots > 0
    assert rough.passes > 1
    again = crossover(market, rough.prices, rough.allocation)
    assert (again.pivots, again.passes) == (0, 1)
    np.testing.assert_array_equal(again.prices, rough.prices)
    assert qm.clear(market).stats["pivots"] >= 0


@pytest.mark.parametrize("stop", [{"time_limit": 0.0}, {"time_limit": -1.0}, {"most_pivots": 1}])
def test_it_stops_when_told_to(stop):
    market = generate.integer(60, 30, 0)
    crossed = crossover(market, *one_hot(market, np.random.default_rng(0)), **stop)
    assert not crossed.finished
    assert not qm.certify(market, crossed.prices, crossed.allocation).certified(1e-6)
    assert np.isfinite(crossed.prices).all()
    assert (crossed.allocation.data >= 0).all()


def test_running_out_of_time_is_said_and_not_certified():
    market = generate.integer(60, 30, 0)
    with pytest.raises(qm.NotCertified, match="ran out of time") as refused:
        qm.clear(market, qm.EisenbergGale(time_limit=0))
    assert any("ran out of time" in note for note in refused.value.outcome.notes)


def test_only_linear_utilities():
    market = qm.Market([1], [1], Other())
    with pytest.raises(TypeError, match="linear utilities"):
        crossover(market, np.ones(1), np.ones((1, 1)))


class Other(qm.Utility):
    """Some other family of one buyer and one good; only its shape is asked for."""

    shape = (1, 1)

    def usable(self, goods):
        return np.ones(1, dtype=bool)

    def wanted(self, buyers):
        return np.ones(1, dtype=bool)

    def value(self, allocation): ...
    def unit_cost(self, prices): ...
    def best(self, prices, budgets): ...
    def excess_cost(self, prices, allocation): ...
    def expression(self, levels): ...
    def activities(self): ...
    def levels(self, allocation): ...
    def take(self, buyers, goods): ...
