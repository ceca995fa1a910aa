"""Laws of CES and Cobb-Douglas markets, on drawn markets in small whole numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qmopt as qm

#: Powers by family; None stands for Cobb-Douglas.
POWERS = {
    "substitutes": [0.9, 0.5, 0.2],
    "complements": [-0.2, -1.0, -4.0],
    "mixed": [0.9, 0.5, -0.2, -1.0, -4.0],
    "cobb-douglas": [None],
}
FAMILIES = [*POWERS]
TOLERANCE = 1e-10
#: Share by which equal numbers may differ.
NEAR = 1e-7


class Numbers:
    """A drawn market: weights, powers, budgets, supplies, reserves."""

    def __init__(self, weights, rho, budgets, supplies, reserves):
        self.weights, self.rho = np.asarray(weights, float), list(rho)
        self.budgets, self.supplies = np.asarray(budgets, float), np.asarray(supplies, float)
        self.reserves = np.asarray(reserves, float)

    def __repr__(self):
        return (
            f"Numbers({self.weights.tolist()}, {self.rho}, {self.budgets.tolist()}, "
            f"{self.supplies.tolist()}, {self.reserves.tolist()})"
        )

    def but(self, **changes):
        return Numbers(**(vars(self) | changes))

    def solved(self):
        if self.rho[0] is None:
            utility = qm.CobbDouglas(self.weights)
        else:
            utility = qm.CES(self.weights, self.rho)
        market = qm.Market(self.budgets, self.supplies, utility, reserves=self.reserves)
        return qm.clear(market, qm.Newton(), tolerance=TOLERANCE)


@st.composite
def numbers(draw, family, *, reserved=True):
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    weights = np.array(draw(st.lists(st.integers(0, 5), min_size=n * m, max_size=n * m)))
    weights = weights.reshape(n, m)
    weights[:, 0] += weights.sum(axis=1) == 0
    rho = draw(st.lists(st.sampled_from(POWERS[family]), min_size=n, max_size=n))
    budgets = draw(st.lists(st.integers(1, 20), min_size=n, max_size=n))
    supplies = draw(st.lists(st.integers(1, 20), min_size=m, max_size=m))
    some = st.sampled_from([0, 0, 1, 4]) if reserved else st.just(0)
    reserves = draw(st.lists(some, min_size=m, max_size=m))
    return Numbers(weights, rho, budgets, supplies, reserves)


def law(check, **kinds):
    """Make a test of ``check(numbers)`` for each family."""

    @pytest.mark.parametrize("family", FAMILIES)
    @settings(max_examples=60)
    @given(data=st.data())
    def test(family, data):
        check(data.draw(numbers(family, **kinds)))

    test.__doc__ = check.__doc__
    return test


def same(found, expected, scale=1.0):
    np.testing.assert_allclose(found, expected, rtol=NEAR, atol=NEAR * scale)


def accounts(drawn):
    """Everybody spends all; goods above their reserve are sold out; prices are unique."""
    found = drawn.solved()
    same(found.spend, drawn.budgets)
    sold = found.market.sold
    dear = sold & (found.prices > drawn.reserves)
    assert (found.idle[dear] <= NEAR * drawn.supplies[dear]).all()
    # all wanted: with a finite elasticity more of anything is always better
    assert (found.prices[sold] > 0).all()
    low, high = found.price_intervals.T
    assert (low <= found.prices).all()
    assert (found.prices <= high).all()
    assert found.unique == qm.Unique(True, True, True)
    assert qm.certify(found.market, found.prices, tolerance=1e-8).certified()


def unit_of_credits(drawn):
    """Seven times the credits and reserves, seven times the prices; bundles as before."""
    found = drawn.solved()
    more = drawn.but(budgets=7 * drawn.budgets, reserves=7 * drawn.reserves).solved()
    same(more.prices, 7 * found.prices, found.prices.max())
    same(more.allocation, found.allocation, drawn.supplies.max())


def units_of_value(drawn):
    """Weights of a buyer times a constant change its utility only."""
    found = drawn.solved()
    times = np.arange(2.0, 2 + len(drawn.budgets))
    other = drawn.but(weights=drawn.weights * times[:, None]).solved()
    same(other.prices, found.prices, found.prices.max())
    by = np.ones_like(times) if drawn.rho[0] is None else times
    same(other.utilities, by * found.utilities)


def units_of_goods(drawn):
    """A good counted by the half: twice the supply, half the weight, half the price."""
    found = drawn.solved()
    by = np.where(np.arange(len(drawn.supplies)) == 0, 2.0, 1.0)
    weights = drawn.weights if drawn.rho[0] is None else drawn.weights / by
    other = drawn.but(
        weights=weights, supplies=drawn.supplies * by, reserves=drawn.reserves / by
    ).solved()
    same(other.prices * by, found.prices, found.prices.max())
    same(other.allocation, found.allocation * by, drawn.supplies.max())


def order(drawn):
    """Buyers and goods in the other order: the same answer in that order."""
    found = drawn.solved()
    turned = Numbers(
        drawn.weights[::-1, ::-1], drawn.rho[::-1], drawn.budgets[::-1], drawn.supplies[::-1],
        drawn.reserves[::-1],
    ).solved()  # fmt: skip
    same(turned.prices[::-1], found.prices, found.prices.max())
    same(turned.allocation[::-1, ::-1], found.allocation, drawn.supplies.max())


def cut(drawn):
    """A buyer cut in two, or two alike merged: same prices, together the same bundle."""
    found = drawn.solved()
    budgets = np.append(drawn.budgets, 0.75 * drawn.budgets[0])
    budgets[0] *= 0.25
    both = drawn.but(
        weights=np.vstack([drawn.weights, drawn.weights[:1]]),
        rho=[*drawn.rho, drawn.rho[0]],
        budgets=budgets,
    ).solved()
    same(both.prices, found.prices, found.prices.max())
    same(both.allocation[-1], 3 * both.allocation[0], drawn.supplies.max())
    same(both.allocation[0] + both.allocation[-1], found.allocation[0], drawn.supplies.max())


def fair_share(drawn):
    """Without reserves nobody is worse off than with its share, by credits, of everything."""
    found = drawn.solved()
    share = np.outer(drawn.budgets / drawn.budgets.sum(), drawn.supplies)
    assert (found.utilities >= found.market.utility.value(share) * (1 - NEAR)).all()


def no_envy(drawn):
    """Nobody prefers, by the credit, what another one holds."""
    found = drawn.solved()
    for i, budget in enumerate(drawn.budgets):
        others = found.allocation * (budget / drawn.budgets)[:, None]
        for other in others:
            held = np.tile(other, (len(drawn.budgets), 1))
            assert found.utilities[i] >= found.market.utility.value(held)[i] * (1 - NEAR)


test_accounts = law(accounts)
test_unit_of_credits = law(unit_of_credits)
test_units_of_value = law(units_of_value)
test_units_of_goods = law(units_of_goods)
test_order = law(order)
test_a_buyer_cut_in_two = law(cut)
test_share_of_everything = law(fair_share, reserved=False)
test_no_envy = law(no_envy)


@settings(max_examples=60)
@given(numbers("cobb-douglas"))
def test_cobb_douglas_prices_are_sums_of_shares(drawn):
    """``p = max(reserve, sum of budgets * shares / supply)``, whatever else is for sale."""
    shares = drawn.weights / drawn.weights.sum(axis=1, keepdims=True)
    expected = np.maximum(drawn.budgets @ shares / drawn.supplies, drawn.reserves)
    np.testing.assert_allclose(drawn.solved().prices, expected, rtol=1e-9)


@pytest.mark.parametrize("family", ["substitutes", "cobb-douglas"])
@settings(max_examples=60)
@given(data=st.data())
def test_more_supply_raises_no_price_of_substitutes(family, data):
    """Gross substitutes: where there is more of one good, no price rises."""
    drawn = data.draw(numbers(family))
    more = drawn.but(supplies=drawn.supplies + (np.arange(len(drawn.supplies)) == 0))
    found, after = drawn.solved(), more.solved()
    assert (after.prices <= found.prices * (1 + NEAR) + NEAR * found.prices.max()).all()


def test_more_supply_raises_the_price_of_a_complement():
    """``rho = -1``, one buyer: prices are as the inverse squares of supplies, and cost 5 credits.

    One unit of each: 2.5 and 2.5. Four of good 0: 1/16 to 1, so 5 = p (4/16 + 1), 1/4 and 4.
    """
    before = Numbers([[1, 1]], [-1], [5], [1, 1], [0, 0]).solved()
    after = Numbers([[1, 1]], [-1], [5], [4, 1], [0, 0]).solved()
    np.testing.assert_allclose(before.prices, [2.5, 2.5], rtol=1e-12)
    np.testing.assert_allclose(after.prices, [0.25, 4], rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=25)
@given(data=st.data())
def test_the_dual_is_least_at_the_answer(family, data):
    """``sum s p + sum of conjugates`` is convex in prices, and no other prices have less."""
    drawn = data.draw(numbers(family, reserved=False))
    found = drawn.solved()
    wanted = found.market.sold
    utility = found.market.utility.take(np.arange(len(drawn.budgets)), np.flatnonzero(wanted))
    prices, supplies = found.prices[wanted], drawn.supplies[wanted]

    def dual(q):
        return supplies @ q + utility.conjugate(q, drawn.budgets).sum()

    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        other = prices * np.exp(size * rng.normal(size=len(prices)))
        assert dual(other) >= dual(prices) * (1 - 1e-12) - 1e-12
        middle = dual((prices + other) / 2)
        assert middle <= (dual(prices) + dual(other)) / 2 + 1e-12 * drawn.budgets.sum() * 10


def test_a_price_of_a_ten_millionth_is_as_right_as_the_others():
    """The fourth buyer needs goods 1 and 2 and there is plenty of good 1 (found by drawing)."""
    weights = [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 3, 1]]
    drawn = Numbers(weights, [-0.2, -0.2, -0.2, -4], [1, 1, 1, 1], [1, 5, 1], [0, 0, 0])
    accounts(drawn)
