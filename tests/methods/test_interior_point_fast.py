"""What makes the interior point quick changes nothing: compiled passes, dropped pairs, starts."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods import central_path, crossover, laplacian, newton_pairs
from qmopt.methods.central_path import CentralPath
from qmopt.methods.edges import traded, wider
from qmopt.methods.outcome import trading
from tests.methods.test_crossover import FAMILIES, STARTS


def iterate(seed, shape=(7, 5)):
    """Values with zeros among them, some units and slacks, and moves of prices and costs."""
    rng = np.random.default_rng(seed)
    values = rng.random(shape) * (rng.random(shape) < 0.7)
    values[:, 0] += 0.1
    live = values > 0
    x, z = live * rng.lognormal(size=shape), np.where(live, rng.lognormal(size=shape), 1.0)
    n, m = shape
    duals = rng.normal(size=m), rng.normal(size=n)
    return values, x, z, duals, rng.random(n), rng.random(m)


def passes(pairs, x, z, duals, per_buyer, per_good):
    """All four passes, one after the other, as a list of arrays and numbers."""
    here = pairs.moved(x, z, 0.1 * x, duals, 0.5, 0.01)
    found = [*here, *pairs.predicted(here, duals)]
    push, *sums = pairs.corrected(here, duals, per_buyer, per_good)
    return [*found, push, *sums, *pairs.finished(here, push, duals)]


@pytest.mark.parametrize("seed", range(5))
def test_plain_compiled_and_sparse_passes_agree(seed):
    values, x, z, *rest = iterate(seed)
    live = values > 0
    plain = passes(newton_pairs.DensePairs(values), x, z, *rest)
    compiled = passes(newton_pairs.CompiledPairs(values), x, z, *rest)
    sparse = passes(newton_pairs.SparsePairs(sp.csr_array(values)), x[live], z[live], *rest)
    for one, other, third in zip(plain, compiled, sparse, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-13, atol=1e-14)
        one = one[live] if np.shape(one) == values.shape else one
        np.testing.assert_allclose(third, one, rtol=1e-13, atol=1e-14)


def test_a_pass_worked_by_hand():
    """One buyer, two goods of value 2 and 0: the second pair is dead and stays as it is.

    Price moves of 1 and 1 and a cost move of 1 change the slack of 4 by 1 - 2 = -1, half of which
    is taken; units of 6 move by a third of 6.
    """
    for kind in (newton_pairs.DensePairs, newton_pairs.CompiledPairs):
        pairs = kind(np.array([[2.0, 0.0]]))
        duals = np.array([1.0, 1.0]), np.array([1.0])
        x, z = np.array([[6.0, 0.0]]), np.array([[4.0, 1.0]])
        here = pairs.moved(x, z, x, duals, 1 / 3, 0.5)
        assert here.x.tolist() == [[8, 0]]
        assert here.z.tolist() == [[3.5, 1]]
        assert (here.gained.tolist(), here.taken.tolist(), here.total) == ([16], [8, 0], 28)
        assert pairs.predicted(here, duals) == (-1 / 3.5, 0, pytest.approx(-8), 28 / 3.5**2)


def test_compiled_and_plain_elimination_agree(monkeypatch):
    rng = np.random.default_rng(0)
    weights = rng.random((130, 130)) ** 9
    weights, excess = weights + weights.T, rng.random(130) * 1e-6
    found = []
    for large in (0, 10**9):
        monkeypatch.setattr(laplacian, "LARGE", large)
        found.append(laplacian.factor(weights, excess))
    one, other = found
    # nothing is subtracted: every element agrees to the last bits, small ones too
    np.testing.assert_allclose(other.pivots, one.pivots, rtol=1e-13)
    np.testing.assert_allclose(other.lower, one.lower, rtol=1e-13)


def markets():
    yield from (trading(market) for market in FAMILIES.values())
    yield trading(generate.uniform(40, 60, 1))
    yield trading(generate.lognormal(60, 25, 2, reserves=True))
    yield trading(generate.sparse(60, 40, 3))


@pytest.mark.parametrize("slack", [0.0, 0.01, 0.3])
def test_whatever_is_dropped_the_prices_are_exact(slack, monkeypatch):
    """Even where each buyer keeps one pair, and needs others, the crossover finds them."""
    exact = [qm.clear(market, qm.Pivoting()).prices for market in markets()]
    monkeypatch.setattr(central_path, "DENSE", 0)
    monkeypatch.setattr(central_path, "FEWER", 1.0)
    monkeypatch.setattr(central_path, "SLACK", slack)
    monkeypatch.setattr(central_path, "SHARE", 1e9 if slack == 0 else 0.5)
    monkeypatch.setattr(crossover, "MANY", 0)
    dropped = 0
    for market, prices in zip(markets(), exact, strict=True):
        path = CentralPath(market, market.utility, narrow=True)
        before = path.pairs.values.size
        with np.errstate(all="ignore"):
            path.follow(1e-11, 100, np.inf)
        dropped += path.pairs.values.size < before
        found = qm.clear(market, qm.InteriorPoint(), tolerance=1e-10)
        np.testing.assert_allclose(found.prices, prices, rtol=1e-10)
    assert dropped > 3


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_crossover_that_lists_few_pairs_ends_at_the_same_prices(family, start, monkeypatch):
    market = trading(FAMILIES[family])
    exact = qm.clear(market).prices
    monkeypatch.setattr(crossover, "MANY", 0)
    crossed = crossover.crossover(market, *start(market, np.random.default_rng(3)))
    assert crossed.finished
    np.testing.assert_allclose(crossed.prices, exact, rtol=1e-10)
    assert qm.certify(market, crossed.prices, crossed.allocation).certified(1e-11)


@pytest.mark.parametrize("wrap", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_what_is_listed_and_what_is_wanted_besides(wrap):
    """Both teams buy the first good. At prices 2 and 1 the second team wants the second good.

    It costs it 2/1 per utility there and 1/3 here, so that the gain is 3/1 * 2 = 6; at a price of
    6 it wants nothing any more.
    """
    market = qm.Market([2, 2], [1, 1], qm.Linear(wrap([[4.0, 1.0], [1.0, 3.0]])))
    prices, units = np.array([2.0, 9.0]), np.array([[0.5, 0.0], [0.5, 0.0]])
    graph = traded(market, prices, units, 1e-9)
    # the second team's best at these prices, 1/2 against 3/9, is what it buys
    assert (graph.source.tolist(), graph.sink.tolist()) == ([0, 1], [2, 2])
    assert graph.value.tolist() == [4, 1]
    more = wider(graph, np.array([0.5, 2.0, 2.0, 1.0, 1.0]), 1e-11)
    assert (more.source.tolist(), more.sink.tolist()) == ([0, 1, 1], [2, 2, 3])
    assert more.value.tolist() == [4, 1, 3]
    assert wider(graph, np.array([0.5, 2.0, 2.0, 6.0, 1.0]), 1e-11) is None
    assert wider(more, np.array([0.5, 2.0, 2.0, 1.0, 1.0]), 1e-11) is None


METHODS = {"Pivoting": qm.Pivoting(), "InteriorPoint": qm.InteriorPoint()}


def work(outcome):
    return outcome.stats["iterations"] + outcome.stats["pivots"]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("sparse", [False, True])
def test_an_earlier_answer_saves_work_and_changes_nothing(method, sparse):
    market = generate.uniform(60, 40, 0)
    values = market.utility.values
    utility = qm.Linear(sp.csr_array(values)) if sparse else market.utility
    old = qm.clear(market, method)
    again = method.solve(market, start=old)
    assert work(again) <= 1
    np.testing.assert_allclose(again.prices, old.prices, rtol=1e-13)
    rng = np.random.default_rng(1)
    for spread in (0.001, 0.1, 1.0):
        budgets = market.budgets * np.exp(spread * rng.standard_normal(market.n))
        new = qm.Market(budgets, market.supplies, utility)
        cold, warm = qm.clear(new, method), qm.clear(new, method, start=old)
        np.testing.assert_allclose(warm.prices, cold.prices, rtol=1e-12)
        if spread == 0.001:
            assert work(warm.outcome) < work(cold.outcome)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_start_without_some_of_the_prices(method):
    """A good that was empty has no price yet, a team without credits bought nothing."""
    values = generate.uniform(12, 9, 0).utility.values
    budgets, supplies = np.ones(12), np.ones(9)
    budgets[3], supplies[4] = 0, 0
    old = qm.clear(qm.Market(budgets, supplies, qm.Linear(values)), method)
    budgets[3], supplies[4], budgets[5], supplies[6] = 1, 1, 0, 0
    new = qm.Market(budgets, supplies, qm.Linear(values))
    warm = qm.clear(new, method, start=old)
    np.testing.assert_allclose(warm.prices, qm.clear(new).prices, rtol=1e-12)


def test_without_a_crossover_a_start_still_helps_the_path():
    market = generate.uniform(60, 40, 0)
    old = qm.clear(market)
    rough = qm.InteriorPoint(crossover=False, tolerance=1e-8)
    found = rough.solve(market, start=old)
    np.testing.assert_allclose(found.prices, old.prices, rtol=1e-6)
    assert "pivots" not in found.stats


@pytest.mark.parametrize("shape", [(250, 200), (200, 250)], ids=str)
def test_large_enough_to_be_compiled_and_narrowed(shape):
    """Dense, thick as a sparse market, and thin: the same prices, those of the undivided path."""
    rng = np.random.default_rng(4)
    for share in (1.0, 0.3, 0.05):
        values = rng.random(shape) * (rng.random(shape) < share)
        values[np.arange(shape[0]), np.arange(shape[0]) % shape[1]] = 0.7
        values[np.arange(shape[1]) % shape[0], np.arange(shape[1])] = 0.9
        budgets = rng.random(shape[0]) + 0.5
        found = []
        for wrap in (np.array, sp.csr_array):
            market = qm.Market(
                budgets,
                np.ones(shape[1]),
                qm.Linear(wrap(values)),
                reserves=0.1 * (np.arange(shape[1]) % 3 == 0),
            )
            answer = qm.clear(market, qm.InteriorPoint(), tolerance=1e-10)
            assert sp.issparse(answer.allocation) == (wrap is sp.csr_array)
            path = CentralPath(market, market.utility)
            path.follow(1e-7, 100, np.inf)
            np.testing.assert_allclose(path.best_point()[0], answer.prices, rtol=1e-4)
            found.append(answer.prices)
        np.testing.assert_allclose(found[1], found[0], rtol=1e-11)
