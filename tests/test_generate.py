"""What the generator promises: repeatable, varied, and awkward where it says so."""

import numpy as np
import pytest
import scipy.sparse as sp

from qmopt import generate

SEEDS = range(300)
FAMILIES = [generate.integer, generate.uniform, generate.lognormal, generate.sparse, generate.tied]


def dense(market):
    values = market.utility.values
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def test_the_same_seed_gives_the_same_market_and_another_one_another():
    hashes = [generate.market(seed).hash for seed in range(30)]
    assert hashes == [generate.market(seed).hash for seed in range(30)]
    assert len(set(hashes)) == 30


def test_fifteen_seeds_hold_every_family_with_and_without_reserves():
    seen = {
        (market.title.split(",")[0], bool((market.reserves > 0).any()))
        for market in map(generate.market, range(45))
    }
    assert seen == {(family, reserve) for family in generate.FAMILIES for reserve in (True, False)}


def test_the_list_is_as_varied_as_it_says():
    markets = [generate.market(seed) for seed in SEEDS]
    buyers = {market.n for market in markets}
    goods = {market.m for market in markets}
    assert min(buyers) == 1
    assert max(buyers) == 40
    assert goods == set(range(1, 21))
    budgets = np.concatenate([market.budgets for market in markets])
    assert budgets.min() < 2
    assert budgets.max() > 5e5
    assert any(market.excluded_buyers for market in markets)
    assert any(market.excluded_goods for market in markets)
    whole = [np.array_equal(market.supplies, market.supplies.round()) for market in markets]
    assert 100 < sum(whole) < 200


def test_a_third_has_reserves_some_of_which_must_bind_and_some_cannot():
    must = cannot = 0
    for seed in SEEDS:
        market = generate.market(seed)
        if seed % 3 != 2:
            assert (market.reserves == 0).all()
            continue
        sold, taking = market.sold, market.active
        # were all of them sold at their reserves, it would cost more than there are credits
        must += (market.reserves * market.supplies)[sold].sum() > market.budgets[taking].sum()
        # nobody gets more than everything, so unit costs are at least B_i / sum_k v_ik s_k,
        # and no price is below a buyer's unit cost times its value
        worth = dense(market)[taking] * market.supplies
        floor = (market.budgets[taking, None] * dense(market)[taking] / worth.sum(1)[:, None]).max(
            0
        )
        cannot += bool((market.reserves <= floor)[sold].all())
    assert must >= 10
    assert cannot >= 10


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_families(family):
    market = family(12, 7, 3)
    assert market.shape == (12, 7)
    assert (market.budgets == 1).all()
    assert (market.reserves == 0).all()
    assert (dense(market) > 0).any(axis=1).all()
    assert family(12, 7, 3, spread=6).budgets.max() > 1e3
    assert (family(12, 7, 3, reserves=True).reserves > 0).any()


def test_integer_values_are_whole_from_1_to_10():
    values = dense(generate.integer(30, 20))
    assert set(np.unique(values)) == set(range(1, 11))


def test_sparse_stays_sparse():
    market = generate.sparse(200, 50)
    assert isinstance(market.utility.values, sp.csr_array)
    wants = np.diff(market.utility.values.indptr)
    assert set(wants) == {1, 2, 3, 4, 5}
    blanked = [generate.market(seed) for seed in range(3, 300, 5)]
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
