"""Flows on forests of lopsided sizes: nobody misses what it needs by a large share."""

from fractions import Fraction

import numpy as np
import pytest

import qmopt as qm
from qmopt.forest import flows, grow
from qmopt.level import level


def missed(ends, needed, flow):
    """Share by which each requirement is missed, in rationals."""
    total = [Fraction(0)] * len(needed)
    for (one, other), amount in zip(ends, flow.tolist(), strict=True):
        total[one] += Fraction(amount)
        total[other] += Fraction(amount)
    return [float(abs(t - Fraction(x)) / Fraction(x)) for t, x in zip(total, needed, strict=True)]


@pytest.mark.parametrize("root", range(5))
def test_a_small_team_between_two_large_parts(root):
    """Large team, good, small team, good, large team: the goods' worths have rounded by 1e-4."""
    ends = [(0, 1), (1, 2), (2, 3), (3, 4)]
    needed = [1e12, 1e12 + 2**-13, 1e-6, 1e12, 1e12]
    forest = grow(5, ends, [root, *range(5)])
    plain, _ = flows(forest, needed, 4)
    if root == 4:  # from the large, the rounding of one reaches the small one in between
        assert max(missed(ends, needed, np.maximum(plain, 0))) > 1e-3
    found = level(forest, np.array(needed), np.array(needed), np.maximum(plain, 0))
    assert (found >= 0).all()
    assert max(missed(ends, needed, found)) < 1e-14


def test_random_trees_of_sixteen_orders():
    """Requirements are those of a flow on the tree, rounded; every one is met to the last bits."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        nodes = int(rng.integers(2, 30))
        ends = [(int(rng.integers(0, k)), k) for k in range(1, nodes)]
        exact = [Fraction(float(x)) for x in 10 ** rng.uniform(-8, 8, nodes - 1)]
        total = [Fraction(0)] * nodes
        for (one, other), amount in zip(ends, exact, strict=True):
            total[one] += amount
            total[other] += amount
        needed = [float(t) for t in total]
        forest = grow(nodes, ends, rng.permutation(nodes).tolist())
        start = np.maximum(flows(forest, needed, nodes - 1)[0], 0)
        found = level(forest, np.array(needed), np.array(needed), start)
        assert (found >= 0).all()
        assert max(missed(ends, needed, found)) < 1e-14


def test_the_bank_takes_what_there_is():
    """A team of 5 spends 2 on a good and keeps the rest; the bank has no requirement."""
    forest = grow(3, [(0, 1), (0, 2)], [2, 0, 1])
    needed = np.array([5.0, 2.0, np.inf])
    assert level(forest, needed, needed, np.array([0.0, 0.0])).tolist() == [2, 3]


def test_what_no_flow_meets_stays_as_it_is():
    """A good worth 3 cannot be paid by a team of 1."""
    forest = grow(2, [(0, 1)], [0, 1])
    needed = np.array([1.0, 3.0])
    assert level(forest, needed, needed, np.array([1.0])).tolist() == [1]


@pytest.mark.parametrize("method", [qm.Pivoting(), qm.InteriorPoint()])
def test_a_team_of_one_credit_beside_teams_of_1e12(method):
    """Two goods, each wanted by a large team; a small one is tied between them.

    Supplies and large budgets are 1e12, so both prices are 1 up to what the small team adds; its
    credit is below the last bits of theirs by itself, and it must spend just that.
    """
    market = qm.Market([1e12, 1e-6, 1e12], [1e12, 1e12], qm.Linear([[1, 0], [1, 1], [0, 1]]))
    found = qm.clear(market, method, tolerance=1e-12)
    np.testing.assert_allclose(found.prices, 1, rtol=1e-15)
    np.testing.assert_allclose(found.spend, market.budgets, rtol=1e-12)
