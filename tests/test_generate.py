"""What the generator promises: repeatable, varied, and awkward where it says so."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate

#: The features that take turns come round together in 1050 seeds.
SEEDS = range(1050)
FAMILIES = [
    generate.integer,
    generate.uniform,
    generate.lognormal,
    generate.exponential,
    generate.sparse,
    generate.tied,
]


@pytest.fixture(scope="module")
def markets():
    return [generate.market(seed) for seed in SEEDS]


def dense(market):
    values = market.utility.values
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def family_of(market):
    return market.title.split(",")[0]


def test_the_same_seed_gives_the_same_market_and_another_one_another():
    hashes = [generate.market(seed).hash for seed in range(30)]
    assert hashes == [generate.market(seed).hash for seed in range(30)]
    assert len(set(hashes)) == 30


def test_three_hundred_seeds_hold_every_family_with_reserves_and_with_kept_credits(markets):
    seen = {
        (family_of(market), bool(market.reserves.any()), bool(market.keep_values.any()))
        for market in markets[:300]
    }
    assert {family for family, _, _ in seen} == set(generate.FAMILIES)
    assert len(seen) == 4 * len(generate.FAMILIES)


def test_shapes(markets):
    """Many buyers on few goods, the other way round, tiny and ordinary, in every family."""
    for family in generate.FAMILIES:
        mine = [market for market in markets if family_of(market) == family]
        assert sum(market.n >= 50 and market.m <= 5 for market in mine) == 15
        assert sum(market.m >= 50 and market.n <= 5 for market in mine) == 15
        assert sum(market.n <= 6 and market.m <= 6 for market in mine) >= 15
        assert sum(market.n <= 40 and market.m <= 20 for market in mine) == 75
    assert max(market.n for market in markets) > 350
    assert max(market.m for market in markets) > 350
    assert {1, 2, 3} <= {min(market.shape) for market in markets}


def test_budgets_and_values_are_as_far_apart_as_they_say(markets):
    orders = [np.log10(market.budgets.max() / market.budgets.min()) for market in markets]
    for low, high, share in ((0, 0, 0.15), (0, 3, 0.15), (3, 6, 0.15), (10, 13, 0.15)):
        assert np.mean([low <= order <= high for order in orders]) > share
    wide = [dense(market) for market in markets if family_of(market).startswith("wide")]
    assert max(np.log10(v[v > 0].max() / v[v > 0].min()) for v in wide) > 30


def test_some_take_no_part_and_some_supplies_are_whole(markets):
    assert 100 < sum(bool(market.excluded_buyers) for market in markets) < 400
    assert 100 < sum(bool(market.excluded_goods) for market in markets) < 500
    whole = [np.array_equal(market.supplies, market.supplies.round()) for market in markets]
    assert 350 < sum(whole) < 700


def test_a_third_has_reserves_some_of_which_must_bind_and_some_cannot(markets):
    must = cannot = 0
    reserved = [market for market in markets if market.reserves.any()]
    assert 300 <= len(reserved) <= 350
    for market in reserved:
        sold, taking = market.sold, market.active
        # were all of them sold at their reserves, it would cost more than there are credits
        must += (market.reserves * market.supplies)[sold].sum() > market.budgets[taking].sum()
        if market.keep_values.any():
            continue
        # nobody gets more than everything, so unit costs are at least B_i / sum_k v_ik s_k,
        # and no price is below a buyer's unit cost times its value
        worth = dense(market)[taking] * market.supplies
        floor = market.budgets[taking, None] * dense(market)[taking] / worth.sum(1)[:, None]
        cannot += bool((market.reserves <= floor.max(0))[sold].all())
    assert must >= 30
    assert cannot >= 30


def test_kept_credits_of_none_some_all_and_so_much_that_some_keep_everything(markets):
    """A buyer that pays less than any price keeps all; who could not, spends all."""
    share = [(market.keep_values > 0).mean() for market in markets if market.n >= 10]
    assert 0.3 < np.mean([s == 0 for s in share]) < 0.5
    assert np.mean([0 < s < 0.65 for s in share]) > 0.2
    assert np.mean([s > 0.95 for s in share]) > 0.15
    everything = 0
    for market in markets[:200]:
        if market.keep_values.any():
            found = qm.clear(market, qm.InteriorPoint())
            everything += bool((found.unspent == market.budgets)[market.keep_values > 0].any())
    assert everything >= 30


@pytest.mark.parametrize("off", [0, 1e-12])
@pytest.mark.parametrize("seed", range(5))
def test_degenerate_markets_have_the_prices_they_are_built_from(off, seed):
    """Powers of two, each good sold out with nothing kept; and the more ties than spends."""
    market = generate.degenerate(20, 12, seed, off=off, reserves=True, keep=0.5)
    found = qm.clear(market, tolerance=1e-9)
    powers = 2.0 ** np.round(np.log2(found.prices))
    np.testing.assert_allclose(found.prices, powers, rtol=1e-10 if off else 1e-14)
    per_credit = dense(market) / found.prices
    tight = (per_credit > per_credit.max(axis=1)[:, None] * (1 - 1e-9)).sum()
    assert tight > market.n + market.m


def test_nearly_tied_markets_miss_their_ties_by_as_much_as_they_say():
    exact = dense(generate.tied(20, 12, 3))
    near = dense(generate.tied(20, 12, 3, off=1e-12))
    off = np.abs(near / exact - 1)
    assert 1e-13 < np.median(off) < 1e-12
    assert off.max() < 1e-11


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_families(family):
    market = family(12, 7, 3)
    assert market.shape == (12, 7)
    assert (market.budgets == 1).all()
    assert (market.reserves == 0).all()
    assert (dense(market) > 0).any(axis=1).all()
    assert family(12, 7, 3, spread=6).budgets.max() > 1e3
    assert (family(12, 7, 3, reserves=True).reserves > 0).any()
    assert (family(12, 7, 3, keep=1).keep_values > 0).all()
    some = family(200, 7, 3, keep=0.5).keep_values > 0
    assert 60 < some.sum() < 140


def test_integer_values_are_whole_from_1_to_10():
    values = dense(generate.integer(30, 20))
    assert set(np.unique(values)) == set(range(1, 11))


def test_sparse_stays_sparse():
    market = generate.sparse(200, 50)
    assert isinstance(market.utility.values, sp.csr_array)
    wants = np.diff(market.utility.values.indptr)
    assert set(wants) == {1, 2, 3, 4, 5}
    blanked = [generate.market(seed) for seed in range(3, 300, 10)]
    assert all(isinstance(market.utility.values, sp.csr_array) for market in blanked)
    assert all((market.utility.values.data > 0).all() for market in blanked)


def test_tied_columns_are_proportional():
    values = dense(generate.tied(20, 12))
    columns = {tuple(column / column[0]) for column in values.T}
    assert len(columns) <= 4
    rows = {tuple(row / row[0]) for row in values}
    assert len(rows) <= 4


def test_copies():
    market = generate.copies(10)
    assert market.budgets.tolist() == [c * k for k in range(1, 11) for c in (6, 24)]
    assert market.buyers[:3] == ("P0", "Q0", "P1")
    assert market.goods[-2:] == ("A9", "B9")
    values = market.utility.values
    assert isinstance(values, sp.csr_array)
    assert values.nnz == 40
    assert values[[2]].toarray()[0].tolist()[:6] == [0, 0, 2, 1, 0, 0]
    assert values[[3]].toarray()[0].tolist()[:6] == [0, 0, 1, 2, 0, 0]
