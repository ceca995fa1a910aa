"""Prices alone: right ones certify, wrong ones do not."""

from math import inf, nan

import numpy as np
import pytest

import qmopt as qm
from tests.certificate_checks import WORKED

# An allocation of what is free, to teams that want only so much of it, is not looked for yet: with
# caps, prices of 0 are judged with their allocation alone (tests/certificate_points.py).
RIGHT = [
    worked
    for worked in WORKED
    if worked.certified
    and worked.tolerance <= 1e-6
    and ("utility_caps" not in worked.extra or 0 not in worked.prices)
]


@pytest.mark.parametrize("worked", RIGHT, ids=lambda worked: worked.name)
def test_prices_of_an_equilibrium_certify_without_their_allocation(worked):
    found = qm.certify(worked.market(), worked.prices, tolerance=worked.tolerance)
    assert found.certified(), found.residuals
    assert found.tolerance == worked.tolerance


# Markets whose equilibrium prices are known and unique, and prices that are not those.
PAIR = qm.Market([6, 24], [1, 1], qm.Linear([[2, 1], [1, 2]]))
TIED = qm.Market([1, 3], [1, 1], qm.Linear([[1, 1], [2, 2]]))
UNWANTED = qm.Market([6, 24], [1, 1, 5], qm.Linear([[2, 1, 0], [1, 2, 0]]))
WITH_RESERVE = qm.Market([6, 24], [1, 1, 5], qm.Linear([[2, 1, 0], [1, 2, 0]]), reserves=[0, 0, 3])
EMPTY = qm.Market([6, 24], [1, 1, 0], qm.Linear([[2, 1, 7], [1, 2, 0]]))
IDLE = qm.Market([1], [6], qm.Linear([[1]]), reserves=[1])
KEPT = qm.Market([3], [2], qm.Linear([[1]]), keep_values=[1])
CAPPED = qm.Market([60, 40], [10], qm.Linear([[1], [1]]), utility_caps=[3, 7])
THRIFT = qm.Market(
    [10, 1, 2], [1, 1], qm.Linear([[1, 1], [1, 0], [0, 1]]), utility_caps=[0.5, inf, inf]
)
# a team without credits, one that wants nothing: they hold nothing
OUTSIDERS = qm.Market([6, 24, 0, 9], [1, 1], qm.Linear([[2, 1], [1, 2], [1, 1], [0, 0]]))
VERDICTS = [
    (PAIR, [10, 20], True),
    (PAIR, [20, 10], False),
    (PAIR, [5, 10], False),
    (PAIR, [10.1, 20.2], False),
    (PAIR, [10.0001, 19.9999], False),
    (PAIR, [-10, -20], False),
    (PAIR, [0, 0], False),
    (PAIR, [nan, 20], False),
    (PAIR, [inf, 20], False),
    (PAIR, [10, -inf], False),
    (TIED, [2, 2], True),
    (TIED, [1, 3], False),
    (TIED, [2.1, 1.9], False),
    (UNWANTED, [10, 20, 0], True),
    (UNWANTED, [10, 20, 1], False),
    (UNWANTED, [10, 20, nan], False),
    (UNWANTED, [10, 20, -1], False),
    (WITH_RESERVE, [10, 20, 3], True),
    (WITH_RESERVE, [10, 20, 4], False),
    (WITH_RESERVE, [10, 20, 2], False),
    (WITH_RESERVE, [10, 20, 0], False),
    (EMPTY, [10, 20, nan], True),
    (EMPTY, [10, 20, 1], True),  # no price at all, whatever is written there
    (EMPTY, [20, 10, nan], False),
    (IDLE, [1], True),
    (IDLE, [1.01], False),
    (IDLE, [0.99], False),
    (KEPT, [1], True),
    (KEPT, [1.5], False),
    (KEPT, [0.9], False),
    (CAPPED, [3], True),
    (CAPPED, [40 / 7], True),
    (CAPPED, [6], False),
    (THRIFT, [2, 2], True),
    (THRIFT, [1, 4], False),
    (THRIFT, [1.5, 1.5], False),
    (OUTSIDERS, [10, 20], True),
    (OUTSIDERS, [10, 29], False),
]


@pytest.mark.parametrize(("market", "prices", "right"), VERDICTS)
def test_right_or_wrong(market, prices, right):
    found = qm.certify(market, prices)
    assert found.certified() is right, found.residuals
    assert found.certified(1e-5) is right


@pytest.mark.parametrize("seed", range(40))
def test_random_prices_are_found_right_then_wrong(seed):
    """With the credits that its own demand asks for, any price vector is an equilibrium's."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 7), rng.integers(1, 5)
    values, prices = rng.integers(1, 5, (n, m)), rng.integers(1, 9, m).astype(float)
    best = (values / prices).argmax(axis=1)
    # teams may buy several goods: all of those that tie, in whole units
    tied = np.isclose(values / prices, (values / prices).max(axis=1)[:, None], rtol=1e-12)
    units = np.where(tied, rng.integers(0, 3, (n, m)), 0)
    units[np.arange(n), best] += 1
    sold = units.sum(axis=0)
    market = qm.Market(units @ prices, sold, qm.Linear(values))
    unsold = np.where(sold == 0, nan, prices)
    assert qm.certify(market, unsold).certified()
    assert not qm.certify(market, unsold * 1.001).certified()
    if (sold > 0).sum() > 1:
        skewed = unsold * np.where(np.arange(m) == np.flatnonzero(sold)[0], 1.001, 1)
        assert not qm.certify(market, skewed).certified()


class Other(qm.Utility):
    """A family that is not linear, for the one error."""

    shape = (1, 1)
    value = unit_cost = best = excess_cost = expression = activities = levels = take = None

    def usable(self, goods):
        return np.array([True])

    def wanted(self, buyers):
        return np.array([True])


def test_other_families_need_the_allocation():
    market = qm.Market([1], [1], Other())
    with pytest.raises(qm.MarketError, match="give the allocation"):
        qm.certify(market, [1])
