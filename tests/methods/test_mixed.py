"""Markets whose buyers have utilities of different families."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import CES, Bundles, CobbDouglas, Linear, Market, Mixed
from qmopt.methods.choose import choose

KINDS = {
    "linear": Linear,
    "leontief": Bundles.leontief,
    "recipes": lambda w: Bundles(np.tile(np.arange(len(w)), 2), np.vstack([w, w[:, ::-1]])),
    "ces": lambda w: CES(w, np.resize([0.5, -1, 0.7, -3], len(w))),
    "cobb-douglas": CobbDouglas,
}
ADDITIVE = ("linear", "leontief", "recipes")


def draw(seed, kinds, each=2, goods=4, keep=0.0):
    """Some buyers of each kind in any order, weights within two orders of magnitude."""
    rng = np.random.default_rng(seed)
    n = each * len(kinds)
    places = rng.permutation(n).reshape(len(kinds), each)
    parts = [
        (mine, KINDS[kind](np.exp(rng.normal(size=(each, goods)))))
        for kind, mine in zip(kinds, places, strict=True)
    ]
    keeps = np.where(rng.random(n) < keep, np.exp(rng.normal(-1, 1, n)), 0)
    budgets, supplies = np.exp(rng.normal(size=n)), np.exp(rng.normal(size=goods))
    return Market(budgets, supplies, Mixed(parts), keep_values=keeps)


# Worked by hand

#: Two units of each of two goods, and buyers who look at them in mirrored ways: equal prices, and
#: 24 credits for 4 units, 6 for each. Linear buyers take the good that they prefer; CES and the
#: Cobb-Douglas pair split credits 2 and 2, 1 and 3, 3 and 1; a job costs 6 + 12, and 3 buy 1/6.
MIRRORED = Market(
    [3, 3, 4, 4, 4, 3, 3],
    [2, 2],
    Mixed(
        [
            ([0, 1], Linear([[2, 1], [1, 2]])),
            ([2], CES([[1, 1]], -1)),
            ([3, 4], CobbDouglas([[1, 3], [3, 1]])),
            ([5, 6], Bundles.leontief([[1, 2], [2, 1]])),
        ]
    ),
)
HELD = np.array([[3, 0], [0, 3], [2, 2], [1, 3], [3, 1], [1, 2], [2, 1]]) / 6
#: The harmonic sum 1/(3 + 3); (1/6)^(1/4) (1/2)^(3/4) = 27^(1/4)/6.
ENJOYED = [1, 1, 1 / 6, 27**0.25 / 6, 27**0.25 / 6, 1 / 6, 1 / 6]


def test_the_hand_worked_point_is_an_equilibrium_to_the_last_bits():
    found = qm.certify(MIRRORED, [6, 6], HELD, tolerance=1e-14)
    assert found.certified()
    np.testing.assert_allclose(MIRRORED.utility.value(HELD), ENJOYED, rtol=1e-14)


@pytest.mark.parametrize("prices", [(6 + 1e-6, 6 - 1e-6), (6, 5.99), (5, 7)])
def test_other_prices_are_not(prices):
    assert not qm.certify(MIRRORED, prices, HELD, tolerance=1e-8).certified()


def test_mirrored_buyers_of_four_families():
    found = qm.clear(MIRRORED)
    np.testing.assert_allclose(found.prices, [6, 6], rtol=1e-8)
    np.testing.assert_allclose(found.utilities, ENJOYED, rtol=1e-8)
    np.testing.assert_allclose(found.allocation, HELD, atol=1e-7)


#: Prices 2, 2, 3. Linear: 4/2 per credit from good 0 beats 3/2, so its 6 credits go there.
#: Cobb-Douglas: 2 and 2 of its 4 to goods 0 and 1. Leontief: a job costs 2 + 3, and 5 credits buy
#: it. CES: at rho = 1/2 credits go as weight over price, so 3 and 3 to goods 1 and 2. That makes
#: 8, 2 + 2 + 3 and 3 + 3 credits for 4, 7/2 and 2 units.
UNEVEN = Market(
    [6, 4, 5, 6],
    [4, 3.5, 2],
    Mixed(
        [
            ([0], Linear([[4, 3, 0]])),
            ([1], CobbDouglas([[1, 1, 0]])),
            ([2], Bundles.leontief([[0, 1, 1]])),
            ([3], CES([[0, 2, 3]], 0.5)),
        ]
    ),
)


def test_prices_put_together_from_what_each_family_spends():
    found = qm.clear(UNEVEN)
    np.testing.assert_allclose(found.prices, [2, 2, 3], rtol=1e-8)
    held = [[3, 0, 0], [1, 1, 0], [0, 1, 1], [0, 1.5, 1]]
    np.testing.assert_allclose(found.allocation, held, atol=1e-7)
    # (sqrt(2 * 3/2) + sqrt(3 * 1))^2
    np.testing.assert_allclose(found.utilities, [12, 1, 1, 12], rtol=1e-8)


def test_who_keeps_credits_among_them():
    """A kept credit of the linear buyer is worth 2, as is one that it spends on good 0 at 2.

    Of its 100 it spends the 6 that are left to buy there, whatever it has more; all else stands.
    """
    rich = UNEVEN.replace(budgets=[100, 4, 5, 6], keep_values=[2, 0, 0, 0])
    found = qm.clear(rich)
    np.testing.assert_allclose(found.prices, [2, 2, 3], rtol=1e-8)
    np.testing.assert_allclose(found.unspent, [94, 0, 0, 0], atol=1e-6)
    # the Cobb-Douglas buyer keeps all where a unit of value costs more than it is worth: 4 at (2,
    # 2), which leaves 6 credits for 4 units of good 0 and 5 for 3.5 of good 1; at these the linear
    # buyer has 4/1.5 and 3/(10/7), and the unit of value costs 2 sqrt(1.5 p)
    patient = UNEVEN.replace(keep_values=[0, 1, 0, 0])
    found = qm.clear(patient)
    assert found.unspent[1] == pytest.approx(4, abs=1e-6)
    np.testing.assert_allclose(found.prices @ patient.supplies, 17, rtol=1e-8)


def test_a_long_route_among_linear_buyers():
    """u is 1/(p + q) for the long one, 1/p and 1/q for the others: p = q = 3/2, 1/3 + 2/3 = 1."""
    parts = [([1], Bundles.leontief([[1, 1]])), ([0, 2], Linear([[1, 0], [0, 1]]))]
    found = qm.clear(Market([1, 1, 1], [1, 1], Mixed(parts)))
    np.testing.assert_allclose(found.prices, [1.5, 1.5], rtol=1e-12)
    np.testing.assert_allclose(found.utilities, [2 / 3, 1 / 3, 2 / 3], rtol=1e-12)
    np.testing.assert_allclose(found.price_intervals, np.full((2, 2), 1.5), rtol=1e-9)


@pytest.mark.parametrize("family", [CES, Bundles.leontief], ids=["ces", "leontief"])
def test_values_kept_sparse_keep_allocations_sparse(family):
    """Good 0 goes to the linear buyer, good 1 to the other, who looks at nothing else."""
    other = family([[0, 1]], -1) if family is CES else family([[0, 1]])
    parts = [([1], Linear(sp.csr_array([[1.0, 0.0]]))), ([0], other)]
    found = qm.clear(Market([6, 4], [2, 2], Mixed(parts)))
    assert sp.issparse(found.allocation)
    np.testing.assert_allclose(found.prices, [2, 3], rtol=1e-8)
    assert not sp.issparse(qm.clear(UNEVEN).allocation)


def test_a_good_that_is_not_there_would_be_bought_at_any_price():
    """By CES, a little; a linear buyer alone stops at 4/2 of its credits' worth."""
    parts = [([0], Linear([[4, 2]])), ([1], CES([[1, 1]], 0.5))]
    found = qm.clear(Market([2, 2], [0, 4], Mixed(parts)))
    assert np.isnan(found.price_intervals[0]).all()
    alone = qm.clear(Market([2, 2], [0, 4], Mixed([parts[0], ([1], Linear([[1, 1]]))])))
    np.testing.assert_allclose(alone.prices, [np.nan, 1])
    assert alone.price_intervals[0, 0] == pytest.approx(2)


# Against the families themselves


@pytest.mark.parametrize("kind", KINDS)
def test_one_family_in_parts_clears_as_the_family(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        whole = KINDS[kind](np.exp(rng.normal(size=(4, 3))))
        mine, others = np.split(rng.permutation(4), 2)
        goods = np.arange(3)
        parts = [(half, whole.take(half, goods)) for half in (mine, others)]
        market = Market(np.exp(rng.normal(size=4)), np.exp(rng.normal(size=3)), whole)
        right = qm.clear(market)
        found = qm.clear(market.replace(utility=Mixed(parts)), tolerance=1e-6)
        near = 1e-9 if kind in ADDITIVE else 1e-6
        np.testing.assert_allclose(found.utilities, right.utilities, rtol=near)
        if kind in ("leontief", "recipes") and not right.unique.prices:
            continue
        np.testing.assert_allclose(found.prices, right.prices, rtol=near, atol=near)


def test_it_is_for_the_convex_program():
    assert isinstance(choose(UNEVEN), qm.EisenbergGale)
    for method in (qm.Pivoting(), qm.Newton(), qm.InteriorPoint()):
        with pytest.raises(qm.MarketError, match="Mixed"):
            qm.clear(UNEVEN, method)
    with pytest.raises(qm.MarketError, match="give the allocation"):
        qm.certify(UNEVEN, [2, 2, 3])


# Random markets

ALL = tuple(KINDS)
#: Seeds by kinds and share of keepers at which Clarabel gets stuck before a millionth.
STUCK = {(("linear", "ces"), 0.5): [17]}


@pytest.mark.parametrize("keep", [0, 0.5])
def test_sums_of_activities_are_right_to_the_last_bits(keep):
    for seed in range(10):
        found = qm.clear(draw(seed, ADDITIVE, keep=keep), tolerance=1e-12)
        assert found.certificate.certified(1e-12)


def test_with_caps_and_reserves_too():
    for seed in range(10):
        market, rng = draw(seed, ADDITIVE, keep=0.3), np.random.default_rng(seed)
        most = market.utility.value(np.tile(market.supplies, (market.n, 1)))
        caps = np.where(rng.random(market.n) < 0.5, most * 10 ** rng.uniform(-2, 0.3), np.inf)
        reserves = np.where(rng.random(market.m) < 0.5, 10 ** rng.uniform(-2, 1), 0)
        found = qm.clear(market.replace(utility_caps=caps, reserves=reserves), tolerance=1e-10)
        assert found.certificate.certified(1e-10)


@pytest.mark.parametrize("keep", [0, 0.5])
@pytest.mark.parametrize("kinds", [("linear", "ces"), ("leontief", "cobb-douglas"), ALL], ids=str)
def test_all_kinds_to_a_millionth(kinds, keep):
    """Nothing takes the solver's point to the last bits here; nine in ten come to 1e-10."""
    missed = []
    for seed in range(20):
        try:
            found = qm.clear(draw(seed, kinds, keep=keep), tolerance=1e-6)
        except qm.NotCertified:
            missed.append(seed)
        else:
            assert found.certificate.worst <= 1e-6
    assert set(missed) <= set(STUCK.get((kinds, keep), ()))


def test_the_order_of_parts_changes_nothing():
    for seed in range(3):
        market = draw(seed, ALL)
        backwards = market.replace(utility=Mixed(market.utility.parts[::-1]))
        one, other = (qm.clear(each, tolerance=1e-6) for each in (market, backwards))
        assert one.prices.tolist() == other.prices.tolist()
        assert one.allocation.tolist() == other.allocation.tolist()


def test_units_of_value_do_not_matter():
    """Each family in a unit of its own, twice as small for every next buyer."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = np.exp(rng.normal(size=(6, 3)))
        scale = 2.0 ** np.arange(6)[:, None]

        def mixed(w):
            return Mixed([([0, 3], Linear(w[[0, 3]])), ([5, 1], CES(w[[5, 1]], [0.5, -1])),
                          ([2, 4], Bundles.leontief(1 / w[[2, 4]]))])  # fmt: skip

        budgets = np.exp(rng.normal(size=6))
        one, other = (
            qm.clear(Market(budgets, [1, 2, 3], mixed(w)), tolerance=1e-6)
            for w in (weights, weights * scale)
        )
        np.testing.assert_allclose(one.prices, other.prices, rtol=1e-6)
        np.testing.assert_allclose(one.utilities * scale.ravel(), other.utilities, rtol=1e-6)
