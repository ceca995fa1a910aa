"""What teams can count on with bundles and caps: what they could afford they do not lack."""

import numpy as np
import pytest

import qmopt as qm
from qmopt import Bundles, Linear, Market
from tests.capped import KINDS, METHOD, draw

SEEDS = range(6)
#: The default here, and linear programs, which cover these, too.
METHODS = [
    pytest.param(METHOD, id="EisenbergGale"),
    pytest.param(qm.LinearProgramming(), id="LinearProgramming", marks=pytest.mark.slow),
]
#: Without kept credits and reserves, where a law speaks of all that is there.
PLAIN = [kind for kind in KINDS if "all" not in kind]


def capped_value(market, units):
    return np.minimum(market.utility_caps, market.utility.value(units))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", PLAIN)
def test_share_of_everything(kind, method):
    """All that is there costs at most all credits, so a share of it by credits is affordable."""
    for seed in SEEDS:
        market = draw(seed, kind)
        found = qm.clear(market, method)
        assert found.prices @ market.supplies <= market.budgets.sum() * (1 + 1e-9)
        share = np.outer(market.budgets / market.budgets.sum(), market.supplies)
        assert (found.utilities >= capped_value(market, share) * (1 - 1e-8)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_prefers_what_it_could_have_bought(kind, method):
    for seed in SEEDS:
        market = draw(seed, kind)
        found = qm.clear(market, method)
        for other in range(market.n):
            paid = found.spend[other]
            part = np.minimum(1, market.budgets / paid) if paid > 0 else np.ones(market.n)
            bundle = np.outer(part, found.allocation[other])
            kept = market.keep_values * (market.budgets - part * paid)
            value = np.minimum(market.utility_caps, market.utility.value(bundle) + kept)
            assert (found.utilities >= value * (1 - 1e-8)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_over_is_at_its_reserve_and_who_has_enough_keeps_the_rest(kind, method):
    for seed in SEEDS:
        market = draw(seed, kind)
        found = qm.clear(market, method)
        left = found.idle > 1e-8 * market.supplies
        np.testing.assert_allclose(found.prices[left], market.reserves[left], atol=1e-12)
        unspent = found.unspent > 1e-8 * market.budgets
        enough = found.utilities >= market.utility_caps * (1 - 1e-8)
        assert (enough | (market.keep_values > 0))[unspent].all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_team_cut_in_two(kind, method):
    """A third and two thirds of its credits and of its cap: together they have what it had."""
    for seed in SEEDS:
        market = draw(seed, kind)
        ways = market.utility.activities()
        mine = ways.owner == 0
        twice = np.append(np.arange(len(mine)), np.flatnonzero(mine))
        owner = np.append(ways.owner, np.full(mine.sum(), market.n))
        family = Bundles(owner, ways.needs[twice], ways.values[twice], buyers=market.n + 1)
        parts = np.array([1 / 3, 2 / 3])

        def cut(numbers, parts=parts):
            return np.append(numbers * np.append(parts[0], np.ones(len(numbers) - 1)),
                             numbers[0] * parts[1])  # fmt: skip

        two = Market(
            cut(market.budgets), market.supplies, family, reserves=market.reserves,
            keep_values=np.append(market.keep_values, market.keep_values[0]),
            utility_caps=cut(market.utility_caps),
        )  # fmt: skip
        one, both = qm.clear(market, method), qm.clear(two, method)
        np.testing.assert_allclose(both.utilities, cut(one.utilities), rtol=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_order_does_not_matter(kind, method):
    for seed in SEEDS:
        market = draw(seed, kind)
        rng = np.random.default_rng(seed)
        buyers, goods = rng.permutation(market.n), rng.permutation(market.m)
        one, other = qm.clear(market, method), qm.clear(market.take(buyers, goods), method)
        np.testing.assert_allclose(other.utilities, one.utilities[buyers], rtol=1e-8)
        if one.unique.prices and isinstance(market.utility, Linear):
            np.testing.assert_allclose(other.prices, one.prices[goods], rtol=1e-7, atol=1e-10)
