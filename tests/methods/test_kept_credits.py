"""Kept credits: methods agree, currencies of pools, and the limit of worthless ones."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from tests import capped

OWN = (qm.Pivoting(), qm.InteriorPoint(), qm.ColumnGeneration(), qm.LinearProgramming())
REFERENCE = qm.EisenbergGale()
MANY, FEW = 500, 60
#: Share by which prices of two methods may differ, and the residual that all meet.
SAME = 1e-9

FAMILIES = ("uniform", "lognormal", "integer", "sparse", "tied", "exponential")
#: Share of the buyers to whom kept credits are worth something.
KEEPS = (0.0, 0.5, 1.0)


def plain(seed):
    """One of the families of ``generate``, in which nobody, about half or all keep credits."""
    rng = np.random.default_rng(seed)
    family = getattr(generate, FAMILIES[seed % len(FAMILIES)])
    turn = seed // len(FAMILIES)
    return family(
        int(rng.integers(2, 13)),
        int(rng.integers(2, 9)),
        seed,
        keep=KEEPS[turn % len(KEEPS)],
        spread=float(rng.choice([0, 2])),
        reserves=turn // len(KEEPS) % 2 == 1,
    )


def pooled(market, seed):
    """The same market in tables, where the teams of two pools count in currencies of their own."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, market.n)
    rates = 10 ** rng.uniform(-2, 2, 2)[side]  # market credits for one of the team's own
    own = market.budgets / rates
    values = sp.csr_array(market.utility.values).tocoo()
    pools = [
        {"pool": f"pool {k}", "weight": market.budgets[side == k].sum()}
        for k in range(2)
        if (side == k).any()
    ]
    teams = [
        {
            "team": market.buyers[i],
            "pool": f"pool {side[i]}",
            "credits": own[i],
            "keep_value": market.keep_values[i] * rates[i],
        }
        for i in range(market.n)
    ]
    bids = [
        {"team": market.buyers[i], "resource": market.goods[j], "value": value}
        for i, j, value in zip(values.row, values.col, values.data, strict=True)
    ]
    resources = [
        {"resource": good, "supply": market.supplies[j], "reserve_price": market.reserves[j]}
        for j, good in enumerate(market.goods)
    ]
    return qm.Market.from_tables(pools=pools, teams=teams, bids=bids, resources=resources)


@cache
def drawn(seed):
    """Every fifth is told in the currencies of two pools."""
    return pooled(plain(seed), seed) if seed % 5 == 4 else plain(seed)


@cache
def prices(seed, method):
    """Prices that certify, or what went wrong."""
    market = drawn(seed)
    try:
        found = method.solve(market)
    except qm.QmoptError as error:
        return str(error)
    seen = qm.certify(market, found.prices, found.allocation, tolerance=SAME)
    return found.prices if seen.certified() else str(seen)


def disagreements(seeds, methods):
    """Everything that fails, and prices that are not those of the first method."""
    first, *others = methods
    found = []
    for seed in seeds:
        right = prices(seed, first)
        if isinstance(right, str):
            found.append(f"seed {seed}, {first}: {right}")
            continue
        for method in others:
            told = prices(seed, method)
            if isinstance(told, str):
                found.append(f"seed {seed}, {method}: {told}")
            elif (np.abs(told - right) > SAME * right).any():
                off = np.nanmax(np.abs(told - right) / right)
                found.append(f"seed {seed}, {method}: prices off by {off:.1e}")
    return found


def test_own_methods_agree_on_five_hundred():
    assert disagreements(range(MANY), OWN) == []


def test_the_convex_program_agrees_on_the_first_sixty():
    assert disagreements(range(FEW), (OWN[0], REFERENCE)) == []


@pytest.mark.slow
def test_the_convex_program_agrees_on_five_hundred():
    assert disagreements(range(MANY), (*OWN, REFERENCE)) == []


def test_they_are_about_kept_credits():
    """Nobody, some or all may keep; of those who may, some do and some do not; others never do."""
    may, do = np.zeros(3, int), np.zeros(2, int)
    for seed in range(FEW):
        market = drawn(seed)
        keeps = market.keep_values[market.active] > 0
        may += [not keeps.any(), keeps.any() and not keeps.all(), keeps.all()]
        unspent = qm.clear(market).unspent[market.active] > 1e-9 * market.budgets[market.active]
        assert not (unspent & ~keeps).any()
        do += [(unspent & keeps).any(), (~unspent & keeps).any()]
    assert may.min() >= 15
    assert do.min() >= 10


def test_a_currency_is_a_unit():
    """Told in the currencies of two pools, a market has the same prices in market credits."""
    seen = 0
    for seed in range(4, MANY, 5):
        market, same = plain(seed), drawn(seed)
        np.testing.assert_allclose(same.budgets, market.budgets, rtol=1e-13)
        np.testing.assert_allclose(same.keep_values, market.keep_values, rtol=1e-13)
        seen += len(set(same.credit_rate.tolist())) > 1
        one, other = qm.clear(market), qm.clear(same)
        np.testing.assert_allclose(other.prices, one.prices, rtol=1e-11)
        np.testing.assert_allclose(other.utilities, one.utilities, rtol=1e-11)
    assert seen > 80


@pytest.mark.parametrize("method", [*OWN, REFERENCE], ids=lambda m: type(m).__name__)
def test_two_pools_of_different_rates_by_hand(method):
    """An own credit of north is worth 100/400 = 1/4 in the market, one of south 60/20 = 3.

    a has 240, 60 in the market; an h100 is worth 24 of its own to it and an l4 4, as much as it
    would pay: 6 and 1 in the market. b has 10, 30 in the market; an h100 is worth 4 of its own to
    it, 12 in the market, and an l4 1/2. At prices 6 and 1 an h100 brings b twice what it costs, an
    l4 half as much again: it buys 5 of 10 h100. a takes the others and all 20 l4, for 30 and 20
    credits, and keeps 10, which are 40 of its own. Were a kept credit of the market worth 1 to a,
    it would pay 24 for an h100.
    """
    market = qm.Market.from_tables(
        pools=[
            {"pool": "north", "weight": 100, "minted": 400},
            {"pool": "south", "weight": 60, "minted": 20},
        ],
        teams=[
            {"team": "a", "pool": "north", "credits": 240, "keep_value": 1},
            {"team": "b", "pool": "south", "credits": 10, "keep_value": 1},
        ],
        resources=[{"resource": "h100", "supply": 10}, {"resource": "l4", "supply": 20}],
        bids=[
            {"team": "a", "resource": "h100", "value": 24},
            {"team": "a", "resource": "l4", "value": 4},
            {"team": "b", "resource": "h100", "value": 4},
            {"team": "b", "resource": "l4", "value": 0.5},
        ],
    )
    found = qm.clear(market, method, tolerance=1e-12)
    np.testing.assert_allclose(found.prices, [6, 1], rtol=1e-12)
    held = sp.csr_array(found.allocation).toarray()
    np.testing.assert_allclose(held, [[5, 20], [5, 0]], rtol=1e-12)
    np.testing.assert_allclose(found.unspent, [10, 0], atol=1e-11)
    np.testing.assert_allclose(found.unspent / market.credit_rate, [40, 0], atol=1e-10)


@pytest.mark.parametrize("kind", ["linear, caps", "bundles, caps"])
def test_worthless_credits_are_the_limit_of_almost_worthless_ones(kind):
    """What caps leave unspent does not bring prices up: as if it were worth a little to keep it.

    Credits that are worth less than what any good brings leave the answer as it is, and thrifty
    teams at their caps pay as little as those. At a billionth, one rounding of a utility is as much
    as 1e-7 kept credits, and the certificate can be no better than that.
    """
    moved = 0
    for seed in range(12):
        market = capped.draw(seed, kind)
        found = qm.clear(market, REFERENCE)
        if not found.unique.prices:
            continue
        per_credit = found.utilities / market.budgets
        for share, tolerance in ((1e-3, SAME), (1e-6, 1e-8), (1e-9, 1e-5)):
            near = market.replace(keep_values=share * per_credit)
            other = qm.clear(near, REFERENCE, tolerance=tolerance)
            worth = (np.nan_to_num(found.prices) * market.supplies).max()
            off = np.nan_to_num(other.prices - found.prices) * market.supplies
            assert np.abs(off).max() <= SAME * worth
            np.testing.assert_allclose(other.unspent, found.unspent, atol=SAME * worth)
        far = qm.clear(market.replace(keep_values=3 * per_credit), REFERENCE, tolerance=1e-6)
        moved += not np.allclose(far.prices, found.prices, rtol=1e-3, equal_nan=True)
    assert moved >= 10
