"""Many buyers with one demand each: by hand, against CVXPY, weak duality, rounds against the path.

Threads change nothing, not even the last bit.
"""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from qmopt.generate import resalloc
from qmopt.methods.demands import path as demand_path
from qmopt.methods.demands.newton import Blocks
from qmopt.methods.demands.path import Rounds, solve
from qmopt.methods.demands.rows import Buyers

INF = np.inf


def draw(seed, n=None, m=None):
    """A market of any kind: ties, demands without end, reserves, kept credits, slack supplies."""
    rng = np.random.default_rng(seed)
    n, m = n or int(rng.integers(1, 12)), m or int(rng.integers(1, 6))
    whole = rng.random() < 0.4

    def positive(size, most):
        if whole:
            return rng.integers(1, most + 1, size).astype(float)
        return 10 ** rng.uniform(-1, 1, size)

    counts = rng.integers(1, m + 1, n)
    goods = np.concatenate([rng.permutation(m)[:count] for count in counts])
    rows = (np.r_[0, np.cumsum(counts)], goods, positive(len(goods), 3), positive(len(goods), 2))
    budgets = np.ones(n) if whole else positive(n, 1)
    endless = rng.random(n) < rng.choice([0, 0.3, 1])
    supplies = positive(m, 3) * n / m * rng.choice([0.1, 0.3, 1, 3])
    usual = budgets.sum() / supplies.sum()
    return Buyers.of(
        budgets,
        np.where(endless, INF, positive(n, 3)),
        rows,
        supplies,
        reserves=usual * rng.choice([0, 0.3, 1, 3], m) * (rng.random() < 0.4),
        keeps=rng.choice([0, 0.3, 1, 3], n) / usual * (rng.random() < 0.4),
    )


def conic(given):
    """The program as a textbook has it: its value, and the prices of the supplies."""
    n, m, k = len(given.budgets), len(given.supplies), len(given.goods)
    own = sp.csr_array((np.ones(k), (given.buyers, np.arange(k))), shape=(n, k))
    used = sp.csr_array((np.ones(k), (given.goods, np.arange(k))), shape=(m, k))
    y, kept, idle = cp.Variable(k, nonneg=True), cp.Variable(n, nonneg=True), cp.Variable(m)
    value = own @ cp.multiply(given.worths, y) + cp.multiply(given.keeps, kept)
    some = np.flatnonzero(np.isfinite(given.demands))
    supply = used @ y + idle <= given.supplies
    problem = cp.Problem(
        cp.Maximize(given.budgets @ cp.log(value) - cp.sum(kept) + given.reserves @ idle),
        [supply, idle >= 0, (own @ cp.multiply(given.rates, y))[some] <= given.demands[some]],
    )
    problem.solve(cp.CLARABEL)
    return problem.value, supply.dual_value


def dense(worths, demands=1.0, rates=1.0):
    """Rows of options of everybody on everything."""
    n, m = np.shape(worths)
    return (np.arange(n + 1) * m, np.tile(np.arange(m), n), np.ravel(worths), rates), demands


@pytest.mark.parametrize("seed", range(25))
def test_as_the_textbook_program(seed):
    given = draw(seed)
    found = solve(given)
    best, _ = conic(given)
    credit = given.budgets.sum()
    assert found.status == "optimal"
    assert_allclose(given.welfare(found.levels), best, atol=1e-6 * credit)
    assert -1e-12 * credit <= given.gap(found.prices, found.levels) <= 1e-8 * credit


@pytest.mark.parametrize("seed", range(5))
def test_prices_of_many_buyers_as_the_textbook_program(seed):
    """With 60 buyers of continuous numbers on 3 scarce goods, prices are unique."""
    rng = np.random.default_rng(seed)
    rows, demand = dense(rng.uniform(0.5, 2, (60, 3)))
    given = Buyers.of(rng.uniform(0.5, 2, 60), demand, rows, [10.0, 8.0, 5.0])
    _, prices = conic(given)
    assert_allclose(solve(given).prices, prices, rtol=2e-5)


def test_feasible_whatever_happens():
    for seed in range(40):
        given = draw(seed)
        levels = solve(given).levels
        used = np.bincount(given.goods, levels, len(given.supplies))
        served = np.bincount(given.buyers, given.rates * levels, len(given.budgets))
        assert levels.min() >= 0
        assert (used <= given.supplies * (1 + 1e-14)).all()
        assert (served <= given.demands * (1 + 1e-14)).all()


def test_one_good_by_hand():
    """Credits 3 and 1, one chip, demands of one chip and a tenth of one.

    The second would take a quarter; it gets its tenth, and nine tenths go to the first, for
    3 / 0.9 a chip. So the second spends a third of its credit.
    """
    given = Buyers.of([3, 1], [1, 0.1], ([0, 1, 2], [0, 0], [5, 7], 1), [1])
    found = solve(given)
    assert_allclose(found.prices, [10 / 3], rtol=1e-8)
    assert_allclose(found.levels, [0.9, 0.1], rtol=1e-8)


def test_speed_counts_against_demand():
    """One buyer of 2 units of demand, 4 credits, which a fast chip serves at 2 a chip, a slow at 1.

    Both chips serve 3, more than 2: half of the slow chip is too many, and costs nothing.
    """
    given = Buyers.of([4], [2], ([0, 2], [0, 1], [6, 1], [2, 1]), [0.5, 3])
    found = solve(given)
    # fast: 0.5 chips serve 1; the slow serve the other unit, 1 of 3 chips; value 3 + 1 = 4. One
    # credit of value is worth beta = 4 / 4; slow: 0 + mu = beta; fast: p + 2 mu = 6 beta.
    assert_allclose(found.levels, [0.5, 1], rtol=1e-7)
    assert_allclose(found.prices, [4, 0], atol=1e-7)


def test_all_demands_met_means_no_price():
    rows, demand = dense([[2, 1], [1, 3], [1, 1]])
    found = solve(Buyers.of([1, 2, 3], demand, rows, [5, 5]))
    assert_allclose(found.prices, 0, atol=1e-8)


def test_plain_fisher_by_hand():
    """Two buyers of 1 credit, each likes the good of its own best, one chip each: both cost 1."""
    rows, demand = dense([[2, 1], [1, 2]], INF)
    found = solve(Buyers.of(1, demand, rows, [1, 1]))
    assert_allclose(found.prices, [1, 1], rtol=1e-8)
    assert_allclose(found.levels, [1, 0, 0, 1], atol=1e-8)


def test_reserves_leave_chips_idle():
    """4 credits at a reserve of 2 buy 2 of 5 chips."""
    found = solve(Buyers.of([3, 1], INF, ([0, 1, 2], [0, 0], 1, 1), [5], reserves=[2]))
    assert_allclose(found.prices, [2], rtol=1e-7)
    assert_allclose(found.levels, [1.5, 0.5], rtol=1e-7)
    assert (found.prices >= 2).all()


def test_kept_credits_by_hand():
    """Whoever values a kept credit at 1 pays no more than 2 for a chip worth 2.

    Alone on 2 chips with 10 credits it would pay 5; so the price is 2, and 6 credits are kept.
    """
    given = Buyers.of([10], INF, ([0, 1], [0], 2, 1), [2], keeps=[1])
    found = solve(given)
    assert_allclose(found.prices, [2], rtol=1e-8)
    assert_allclose(given.welfare(found.levels), 10 * np.log(10) - 6, rtol=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_no_prices_beat_the_dual(seed):
    """Weak duality: at any prices above the reserves, for any chips within the limits."""
    given = draw(seed)
    rng = np.random.default_rng(seed)
    usual = given.budgets.sum() / given.supplies.sum()
    prices = np.maximum(given.reserves, usual * 10 ** rng.uniform(-2, 2, len(given.supplies)))
    levels = given.fitting(10 ** rng.uniform(-2, 1, len(given.goods)))
    best = solve(given)
    assert given.gap(prices, levels) >= 0
    assert given.gap(prices, best.levels) >= -1e-9
    assert given.gap(best.prices, levels) >= -1e-9


def test_each_conjugate_is_reached():
    """The dual of one buyer at the prices that the path finds for it is what it gets."""
    for seed in range(40):
        given = draw(seed, n=1)
        found = solve(given)
        assert given.gap(found.prices, found.levels) <= 1e-8 * given.budgets.sum()


def test_few_rounds_are_enough(monkeypatch):
    """Each has a quarter of the digits that it lacks, at least; so the last of 5 has them all.

    At first a part of the open stands for all of them.
    """
    speeds, supplies = resalloc(40_000, 5)
    rows, demand = dense(speeds)
    given, said = Buyers.of(1, demand, rows, supplies), []
    monkeypatch.setattr(demand_path, "OPEN", 4000)
    monkeypatch.setattr(demand_path, "tell", lambda words, *numbers: said.append(numbers))
    with Blocks(1) as blocks:
        rounds = Rounds(given, blocks, 1e-9, 200, INF)
        levels = rounds.run()
    assert levels is not None
    assert given.gap(rounds.price, given.fitting(levels)) <= 1e-8 * 40_000
    # whatever is told is of rounds that were not the last: which, how many open, prices and chips
    assert said[0][1] > 4000
    assert len(said) <= 4
    assert [off for *_, off, _ in said] == sorted((off for *_, off, _ in said), reverse=True)


@pytest.mark.parametrize("seed", range(6))
def test_rounds_end_where_the_path_ends(seed, monkeypatch):
    given = draw(seed, 4000, 4)
    whole = solve(given)
    monkeypatch.setattr(demand_path, "LARGE", 1000)
    monkeypatch.setattr(demand_path, "SAMPLE", 500)
    monkeypatch.setattr(demand_path, "OPEN", 400)
    rounds = solve(given)
    credit = given.budgets.sum()
    assert rounds.status == "optimal"
    assert given.gap(rounds.prices, rounds.levels) <= 1e-8 * credit
    assert given.gap(rounds.prices, whole.levels) <= 1e-8 * credit


def test_the_same_bits_on_any_threads():
    speeds, supplies = resalloc(50_000, 5)
    rows, demand = dense(speeds)
    given = Buyers.of(1, demand, rows, supplies)
    one, three = solve(given, threads=1), solve(given, threads=3)
    np.testing.assert_array_equal(one.prices, three.prices)
    np.testing.assert_array_equal(one.levels, three.levels)


def test_twenty_thousand_jobs():
    """A fiftieth of the published problem: prices within sampling of those of a million jobs."""
    speeds, supplies = resalloc(20_000)
    rows, demand = dense(speeds)
    given = Buyers.of(1, demand, rows, supplies)
    found = solve(given)
    assert found.status == "optimal"
    assert 0 <= given.gap(found.prices, found.levels) + 1e-8 <= 1e-9 * 20_000
    assert_allclose(found.prices, [0.702, 1.754, 3.908, 6.195], rtol=0.02)


@pytest.mark.slow
def test_a_million_jobs():
    """The optimum of resalloc's medium problem.

    The source has Mosek's prices, 2e-6 off, and those of its own method, up to 1e-2 off.
    """
    speeds, supplies = resalloc()
    rows, demand = dense(speeds)
    given = Buyers.of(1, demand, rows, supplies)
    found = solve(given)
    assert_allclose(found.prices, [0.7020037, 1.7542045, 3.9077917, 6.1947603], atol=5e-7)
    assert_allclose(given.dual_value(found.prices), -1521834.8924, atol=1e-4)
    assert given.gap(found.prices, found.levels) <= 1e-9 * len(speeds)


def test_steps_and_time_run_out():
    given = draw(3)
    assert solve(given, most=2).status == "stopped"
    speeds, supplies = resalloc(50_000)
    rows, demand = dense(speeds)
    assert solve(Buyers.of(1, demand, rows, supplies), deadline=-INF).status == "stopped"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"budgets": 0}, "budgets must be positive"),
        ({"demands": 0}, "demands must be positive"),
        ({"rows": ([0, 1, 2], [0, 0], 1, 0)}, "rates must be positive"),
        ({"rows": ([0, 1, 2], [0, 0], [1, 0], 1)}, "nothing of worth"),
        ({"rows": ([0, 1, 1], [0, 0], 1, 1)}, "begin must rise"),
        ({"rows": ([0, 1, 2], [0, 1], 1, 1)}, "not there"),
        ({"supplies": [INF]}, "supplies must be positive and finite"),
        ({"reserves": -1}, "reserves must be finite and not negative"),
    ],
)
def test_what_makes_no_sense_is_named(changed, words):
    numbers = {"budgets": 1, "demands": 1, "rows": ([0, 1, 2], [0, 0], 1, 1), "supplies": [1]}
    with pytest.raises(ValueError, match=words):
        Buyers.of(**(numbers | changed))
