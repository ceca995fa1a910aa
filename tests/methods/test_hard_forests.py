"""Markets on which a careless crossover is slow, overflows, or loses what is small."""

import numpy as np
import pytest

import qmopt as qm
from qmopt import generate
from qmopt.forest import without_cycles
from qmopt.methods.crossover import crossover

METHODS = [qm.Pivoting(), qm.EisenbergGale()]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_long_chain_of_lopsided_values(method):
    """Buyer i values good i at 1, good i+1 at a million: 60 such factors leave a double's range.

    Everybody wants the next good, and the last buyer has only its own, so all of it is forced:
    buyer i buys all of good i+1 and the price of good 1, wanted by nobody else at that price, is
    a millionth of the next.
    """
    n = 60
    values = np.eye(n) + 1e6 * np.eye(n, k=1)
    found = qm.clear(qm.Market(np.ones(n), np.ones(n), qm.Linear(values)), method, tolerance=1e-9)
    assert found.certificate.certified(1e-12)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("worth", [1e10, 1e50])
def test_a_spend_that_is_small_beside_what_is_kept(method, worth):
    """Kept credits worth 1e10 and more: prices are 2/worth, and nearly all credits stay."""
    market = qm.Market([1, 2], [1, 1], qm.Linear([[1, 2], [2, 1]]), keep_values=[worth, worth])
    found = qm.clear(market, method, tolerance=1e-9)
    np.testing.assert_allclose(found.prices, [2 / worth, 2 / worth], rtol=1e-12)
    np.testing.assert_allclose(found.allocation, [[0, 1], [1, 0]], atol=1e-12)


def test_thousands_of_identical_teams_take_few_pivots():
    """All tied: cancelling cycles leaves a forest that is right already."""
    market = qm.Market(np.ones(3000), [1, 2, 3], qm.Linear(np.tile([1.0, 2.0, 3.0], (3000, 1))))
    found = qm.clear(market, qm.EisenbergGale(), tolerance=1e-9)
    # values go with supplies 1, 2, 3, so prices do with values: 3000 = p (1*1 + 2*2 + 3*3)
    np.testing.assert_allclose(found.prices, 3000 / 14 * np.array([1, 2, 3]), rtol=1e-12)
    assert found.stats["pivots"] <= 10
    assert np.ptp(found.utilities) == pytest.approx(0, abs=1e-12)


def test_cancelling_cycles_by_hand():
    """Two buyers (0, 1) and two goods (2, 3), all four edges carry 1, and values 1, 2, 2, 1.

    Pushing one unit round towards the dearer values gives each buyer two units of what it prefers.
    """
    source, sink = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    edges, flow = without_cycles(
        4, source, sink, np.log([1.0, 2.0, 2.0, 1.0]), np.ones(4), range(4)
    )
    assert flow.tolist() == [0, 2, 2, 0]
    assert len(edges) <= 3


def test_cancelling_cycles_keeps_what_flows_through_each_node():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, m = rng.integers(1, 8, 2)
        source, sink = (a.ravel() for a in np.indices((n, m)))
        sink = sink + n
        flow, gain = rng.integers(0, 5, n * m).astype(float), np.log(rng.integers(1, 4, n * m))
        order = np.argsort(-flow, kind="stable").tolist()
        edges, after = without_cycles(n + m, source, sink, gain, flow, order)
        assert (after >= 0).all()
        assert len(edges) <= n + m - 1
        for ends in (source, sink):
            np.testing.assert_array_equal(
                np.bincount(ends, weights=after), np.bincount(ends, weights=flow)
            )
        assert gain @ after >= gain @ flow - 1e-9
        kept = np.flatnonzero(after > 0)
        assert set(kept) <= set(edges)


def test_both_starts_end_at_the_same_prices():
    market = generate.tied(40, 15, 3)
    rough = qm.EisenbergGale(crossover=False).solve(market)
    near, far = (
        crossover(market, rough.prices, rough.allocation, near=near) for near in (True, False)
    )
    assert near.finished
    assert far.finished
    np.testing.assert_allclose(near.prices, far.prices, rtol=1e-9)


def test_a_market_is_frozen():
    market = qm.Market([1], [1], qm.Linear([[1]]))
    with pytest.raises(AttributeError, match=r"market\.replace\(budgets=\.\.\.\)"):
        market.budgets = np.ones(1)


def test_replace_keeps_the_rest():
    market = generate.market(5)
    other = market.replace(budgets=2 * market.budgets)
    np.testing.assert_array_equal(other.reserves, market.reserves)
    assert other.buyers == market.buyers
    with pytest.raises(qm.MarketError, match="no argument 'budget'"):
        market.replace(budget=1)


def test_a_solver_by_name_is_told():
    with pytest.raises(qm.MarketError, match=r"such as Clarabel\(\) expected, got 'CLARABEL'"):
        qm.EisenbergGale(solver="CLARABEL")


class Mixes(qm.Utility):
    """Fixed mixes with nothing but what the protocol demands."""

    def __init__(self, mix):
        self.mix = np.asarray(mix, dtype=float)

    @property
    def shape(self):
        return self.mix.shape

    def value(self, allocation):
        held = allocation.toarray() if hasattr(allocation, "toarray") else allocation
        return np.min(np.where(self.mix > 0, held / np.where(self.mix > 0, self.mix, 1), np.inf), 1)

    def activities(self):
        import scipy.sparse as sp

        from qmopt.utilities import Activities

        return Activities(np.arange(len(self.mix)), sp.csr_array(self.mix), np.ones(len(self.mix)))

    def levels(self, allocation):
        return self.value(allocation)

    def take(self, buyers, goods):
        return Mixes(self.mix[np.ix_(buyers, goods)])


def test_a_family_of_five_methods_clears():
    """10 H100 and 100 L4; a job of the first needs 1 and 4, one of the second 2 L4.

    The first takes all 10 H100 with 40 L4, the second 60 L4 for 40 credits: an L4 is 2/3, and the
    first's other 60 - 40 * 2/3 = 100/3 credits pay for 10 H100.
    """
    found = qm.clear(qm.Market([60, 40], [10, 100], Mixes([[1, 4], [0, 2]])))
    np.testing.assert_allclose(found.prices, [10 / 3, 2 / 3], rtol=1e-6)
    np.testing.assert_allclose(found.utilities, [10, 30], rtol=1e-6)


def test_what_is_abundant_is_free_without_a_crossover():
    """Of 1000 L4 only 100 can be used, so they are free; the H100 costs all 100 credits."""
    market = qm.Market([60, 40], [10, 1000], Mixes([[1, 4], [1, 8]]))
    found = qm.clear(market, tolerance=1e-6)
    np.testing.assert_allclose(found.prices, [10, 0], rtol=1e-6)
    assert found.prices[1] == 0
