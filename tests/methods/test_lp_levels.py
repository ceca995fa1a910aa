"""Linear programs in levels: bundles and utility caps, by hand, against the conic program."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import Bundles, Linear, Market
from qmopt.methods import lowest, lp_levels
from qmopt.methods.lp_scaled import Scaled
from qmopt.methods.outcome import trading
from qmopt.utilities.pairs import total_by
from tests.capped import KINDS, METHOD, draw

LP, ALONE = qm.LinearProgramming(), qm.LinearProgramming(crossover=False)
INF = np.inf
LINKS = Bundles.leontief([[1, 1], [1, 0], [0, 1]])

# Market, prices, units; each worked in a line.
BY_HAND = {
    # a + 3b = 9 and 4a + b = 18 jobs; 1/a = c + 4g and 1/b = 3c + g
    "CPUs and memory": (
        Market([1, 1], [9, 18], Bundles.leontief([[1, 4], [3, 1]])),
        [1 / 5, 1 / 90], [[45 / 11, 180 / 11], [54 / 11, 18 / 11]],
    ),
    # mirrored jobs: equal prices of 200, a job costs 600
    "mirrored": (
        Market([100] * 4, [1, 1], Bundles.leontief([[1, 2]] * 2 + [[2, 1]] * 2)),
        [200, 200], [[1 / 6, 1 / 3]] * 2 + [[1 / 3, 1 / 6]] * 2,
    ),
    # 1/(p + q) for the long route, 1/p and 1/q for the others: p = q = 3/2
    "two links": (Market([1] * 3, [1, 1], LINKS), [1.5, 1.5],
                  [[1 / 3, 1 / 3], [2 / 3, 0], [0, 2 / 3]]),
    # a kept credit brings the long one 1 and the route 1/2: it keeps its credit
    "two links, or keep": (Market([1] * 3, [1, 1], LINKS, keep_values=[1, 0, 0]), [1, 1],
                           [[0, 0], [1, 0], [0, 1]]),
    # the first gets 3 of 10 for its cap, the second buys 7 for its 40 credits
    "one cap": (Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, INF]), [40 / 7],
                [[3], [7]]),
    # caps meet the supply: of the prices from 0 to 40/7 the lowest
    "caps of all": (Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, 7]), [0],
                    [[3], [7]]),
    "caps of less": (Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, 4]), [0],
                     [[3], [4]]),
    # the cap leaves 7 chips to 40 credits, which buy 4 at the reserve of 10
    "a cap and a reserve": (
        Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, INF], reserves=[10]), [10],
        [[3], [4]],
    ),
    # a kept credit is worth 1 to the second, which pays no more for a chip and gets all but 3
    "a cap and a kept credit": (
        Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, INF], keep_values=[0, 1]), [1],
        [[3], [7]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BY_HAND.values(), ids=BY_HAND)
def test_worked_by_hand(case):
    market, prices, units = case
    found = qm.clear(market, LP, tolerance=1e-12)
    np.testing.assert_allclose(found.prices, prices, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sp.csr_array(found.allocation).toarray(), units, atol=1e-11)


#: Supply, bids of units at a limit price, interval of prices, units.
AUCTIONS = {
    "between two bids": (5, [(3, 10), (2, 8), (4, 5)], (5, 8), [3, 2, 0]),
    "a tie": (5, [(5, 7), (5, 7)], (7, 7), None),
    "within a bid": (4, [(3, 10), (2, 8), (4, 5)], (8, 8), [3, 1, 0]),
    "enough for all": (20, [(3, 10), (2, 8)], (0, 0), [3, 2]),
}


@pytest.mark.parametrize(("supply", "bids", "interval", "units"), AUCTIONS.values(), ids=AUCTIONS)
def test_auctions_at_one_price(supply, bids, interval, units):
    """A chip brings its limit in credits that are worth keeping; a good of its own limits a bid."""
    count = len(bids)
    wanted, limits = zip(*bids, strict=True)
    family = Bundles(np.arange(count), np.column_stack([np.ones(count), np.eye(count)]), limits)
    market = Market(np.full(count, 1000), [supply, *wanted], family, keep_values=np.ones(count))
    found = qm.clear(market, LP, tolerance=1e-10)
    np.testing.assert_allclose(found.price_intervals[0], interval, rtol=1e-9, atol=1e-9)
    assert interval[0] - 1e-9 <= found.prices[0] <= interval[1] + 1e-9
    assert found.allocation[:, 0].sum() == pytest.approx(min(supply, sum(wanted)), rel=1e-12)
    if units is not None:
        np.testing.assert_allclose(found.allocation[:, 0], units, atol=1e-12)


def agrees(market, tolerance):
    """Certified, with the utilities of the conic program, and its prices where these are settled.

    Those of plain bids are the lowest, so that they are always comparable.
    """
    found, peer = (qm.clear(market, method, tolerance=tolerance) for method in (LP, METHOD))
    np.testing.assert_allclose(found.utilities, peer.utilities, rtol=1e-8)
    if peer.unique.prices or isinstance(market.utility, Linear):
        scale = market.budgets.sum() / market.supplies
        np.testing.assert_allclose(found.prices / scale, peer.prices / scale, rtol=1e-8, atol=1e-10)
    else:
        assert not found.unique.prices


@pytest.mark.parametrize("kind", KINDS)
def test_the_conic_program_finds_the_same(kind):
    for seed in range(15):
        agrees(draw(seed, kind), 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_of_them(kind):
    for seed in range(300):
        agrees(draw(seed, kind), 1e-9)


def test_families_side_by_side():
    """Plain bids of some and recipes of others, with a cap each: an activity is an activity."""
    for seed in range(10):
        plain, recipes = draw(seed, "linear, caps"), draw(seed, "bundles")
        m = min(plain.m, recipes.m)
        one = Linear(plain.utility.activities().needs.toarray()[: plain.n, :m] + 1.0)
        ways = recipes.utility
        two = Bundles(ways.owner, ways.needs[:, :m] + sp.csr_array(np.ones((len(ways.owner), m))))
        n = plain.n + recipes.n
        family = qm.Mixed([(range(plain.n), one), (range(plain.n, n), two)])
        most = family.value(np.tile(plain.supplies[:m], (n, 1)))
        rng = np.random.default_rng(seed)
        caps = np.where(rng.random(n) < 0.4, most * rng.uniform(0.01, 1, n), INF)
        agrees(Market(rng.uniform(1, 9, n), plain.supplies[:m], family, utility_caps=caps), 1e-9)


def spread(market, seed):
    """Budgets that differ by eight orders of magnitude more."""
    far = 10 ** np.random.default_rng(seed).uniform(-4, 4, market.n)
    return market.replace(budgets=market.budgets * far)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_teams_do_not_drown_the_smallest(kind):
    for seed in range(10):
        qm.clear(spread(draw(seed, kind), seed), LP)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_teams_large_and_small(kind):
    """One market in a hundred may be too much for it, and is then refused."""
    refused = []
    for seed in range(200):
        try:
            qm.clear(spread(draw(seed, kind), seed), LP)
        except qm.NotCertified as error:
            refused.append((seed, str(error)))
    assert len(refused) <= 2, refused


@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_it_claims_bounds_the_gap_measured(kind):
    """Without crossover. Nothing is handed out twice.

    With kept credits it bounds that of the program's own point: the certificate takes for kept what
    is not spent.
    """
    for seed in range(15):
        market = draw(seed, kind)
        market = market.replace(keep_values=np.zeros(market.n))
        outcome = qm.LinearProgramming(crossover=False, tolerance=1e-6).solve(market)
        certificate = qm.certify(market, outcome.prices, outcome.allocation)
        assert outcome.status == "optimal"
        assert certificate.overallocated == 0
        assert certificate.gap <= outcome.stats["gap"] * (1 + 1e-6) + 1e-9


def test_utilities_lie_in_the_range_that_the_tangents_cover():
    for kind in KINDS:
        for seed in range(15):
            market = draw(seed, kind)
            inner = trading(market)
            found = qm.clear(market, METHOD)
            held = sp.csr_array(found.allocation)[market.active][:, market.sold]
            scaled = Scaled.of(inner)
            levels = inner.utility.levels(held) / scaled.full
            brought = total_by(scaled.owner, scaled.worth * levels, inner.n)
            kept = (found.unspent / market.budgets)[market.active]
            utility = np.minimum(brought + scaled.keep * kept, scaled.caps)
            assert (utility >= scaled.low * (1 - 1e-9)).all()
            assert (utility <= scaled.high * (1 + 1e-9)).all()


def test_a_free_good_that_is_used_up_for_nothing():
    """Two recipes as cheap, one of which takes a free good, too; whatever gap the search ends at.

    Left to itself the dual simplex hands the free good out to the last unit.
    """
    for tolerance in 10.0 ** -np.arange(5, 13):
        for kind, seed in (("bundles", 95), ("bundles, caps", 169)):
            qm.clear(draw(seed, kind), qm.LinearProgramming(tolerance), tolerance=1e-10)


def test_activities_join_when_they_are_wanted(monkeypatch):
    """Started with one recipe for each team and good it finds the others."""
    rng = np.random.default_rng(0)
    needs = np.where(rng.random((400, 12)) < 0.2, rng.uniform(0.5, 2, (400, 12)), 0.0)
    needs[np.arange(400), rng.integers(0, 12, 400)] += 1
    family = Bundles(np.repeat(np.arange(40), 10), needs, rng.uniform(1, 3, 400))
    market = Market(rng.uniform(1, 9, 40), rng.uniform(1, 9, 12), family)
    whole = ALONE.solve(market)
    assert whole.stats["columns"] == 400
    assert whole.stats["solves"] == whole.stats["iterations"]
    monkeypatch.setattr(lp_levels, "SMALL", 0)
    monkeypatch.setattr(lp_levels, "FEW", 1)
    few = ALONE.solve(market)
    assert few.stats["columns"] < 400
    assert few.stats["solves"] > few.stats["iterations"]
    assert qm.certify(market, few.prices, few.allocation).gap <= 2e-9
    np.testing.assert_allclose(few.prices, whole.prices, rtol=1e-3, atol=1e-9)


def test_time_and_programs_run_out_and_it_is_said():
    market = draw(3, "bundles, caps")
    one = qm.LinearProgramming(crossover=False, max_iterations=1).solve(market)
    assert (one.status, one.stats["iterations"]) == ("stopped", 1)
    none = qm.LinearProgramming(crossover=False, time_limit=0).solve(market)
    assert (none.status, none.stats["iterations"], none.stats["gap"]) == ("stopped", 0, None)
    assert np.isfinite(none.prices).all()
    assert not sp.csr_array(none.allocation).sum()
    with pytest.raises(qm.NotCertified):
        qm.clear(market, qm.LinearProgramming(crossover=False, time_limit=0))


def test_a_gap_out_of_reach_ends_the_search():
    outcome = qm.LinearProgramming(tolerance=1e-300, crossover=False).solve(draw(3, "bundles"))
    assert outcome.status in ("stalled", "stopped", "optimal")
    assert outcome.stats["gap"] <= 1e-12


@pytest.mark.parametrize("word", ["fails", "gives up"])
def test_a_solver_that_fails_leaves_what_there_is(monkeypatch, word):
    """The second program fails: the point of the first is polished, and measured like any other."""
    whole, calls = lp_levels.WarmLinearProgram.solve, []

    def solve(self, time_limit=INF):
        calls.append(self)
        found = whole(self, time_limit)
        if len(calls) < 2:
            return found
        if word == "fails":
            raise qm.SolverFailed("HiGHS says 'Error'")
        return type(found)(found.columns, found.rows, found.duals, "Unknown")

    monkeypatch.setattr(lp_levels.WarmLinearProgram, "solve", solve)
    market = draw(3, "linear, caps")
    outcome = ALONE.solve(market)
    assert outcome.status.startswith("stopped: HiGHS says")
    assert outcome.stats["iterations"] == 1
    assert outcome.stats["gap"] > 1e-6
    assert qm.certify(market, outcome.prices, outcome.allocation).gap < 0.5


def test_where_nothing_exact_is_found_it_is_said(monkeypatch):
    monkeypatch.setattr(lowest, "polish", lambda *_: None)
    outcome = LP.solve(draw(3, "bundles"))
    assert outcome.notes == (
        "nothing exact was found near the linear programs' point: their own numbers",
    )
