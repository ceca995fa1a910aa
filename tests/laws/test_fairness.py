"""What teams can count on: their share, no envy, efficiency, and nothing to gain by leaving."""

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.laws.law import at_most, held_in, law
from tests.laws.markets import markets, with_each


def bundles(found):
    """Units of each good and, as one more good, kept credits: of each team, (n, m+1)."""
    kept = np.where(found.market.active, found.unspent, 0)
    return np.column_stack([held_in(found), kept])


def worths(found):
    """What each team gets from a unit of each good and from a kept credit, (n, m+1)."""
    market = found.market
    return np.column_stack([market.utility.values, market.keep_values])


@law(markets(reserves=False, keeps=False))
def test_share_of_everything(clear, numbers):
    """Every team does at least as well as with its share, by credits, of every good."""
    found, market = clear(numbers), numbers.market()
    credits = market.budgets * market.active
    share = np.outer(credits / credits.sum(), market.supplies)
    at_most(market.utility.value(share)[market.active], found.utilities[market.active])


@law(markets())
def test_share_of_what_is_sold(clear, numbers):
    """With reserves and kept credits: its share of every good that is sold and of what is kept."""
    found, market = clear(numbers), numbers.market()
    credits = market.budgets * market.active
    share = np.outer(credits / credits.sum(), bundles(found).sum(axis=0))
    at_most((worths(found) * share).sum(axis=1), found.utilities)


@law(markets())
def test_no_envy(clear, numbers):
    """Nobody would swap with a team of as many credits, nor, by the credit, with any other."""
    found, market = clear(numbers), numbers.market()
    active, credits = market.active, market.budgets
    others = worths(found) @ bundles(found).T  # what team i thinks of the bundle of team k
    per_credit = others[np.ix_(active, active)] / credits[active]
    mine = found.utilities[active] / credits[active]
    at_most(per_credit, mine[:, None], scale=np.maximum(mine[:, None], per_credit))


@law(markets())
def test_efficient(clear, numbers):
    """No other use of chips and credits helps a team, or the seller, and hurts none of them.

    The seller counts credits, and an idle unit at its reserve. With a unit of utility weighed by
    what it costs, the equilibrium has the largest sum of all gains that there is.
    """
    found, market = clear(numbers), numbers.market()
    active = market.active
    seller = np.append(market.reserves, 1.0)
    weight = market.budgets[active] / found.utilities[active]
    gains = np.vstack([weight[:, None] * worths(found)[active], seller])
    left = np.append(found.idle, found.spend.sum())
    there = bundles(found)[active].sum(axis=0) + left
    # any split of all chips and credits, the seller's part included
    best = linprog(
        -gains.ravel() / market.budgets.sum(),
        A_eq=np.tile(np.eye(len(seller)), len(gains)),
        b_eq=there,
    )
    assert best.status == 0
    at_most(-best.fun * market.budgets.sum(), weight @ found.utilities[active] + seller @ left)


@law(with_each(buyers=st.booleans()))
def test_no_coalition_does_better_alone(clear, drawn):
    """Not with its share, by credits, of every good that is sold and of what is kept."""
    numbers, chosen = drawn
    found, market = clear(numbers), numbers.market()
    chosen = chosen & market.active if (chosen & market.active).any() else market.active
    members, credits = np.flatnonzero(chosen), market.budgets * market.active
    share = credits[chosen].sum() / credits.sum() * bundles(found).sum(axis=0)
    goods = len(share)
    # the largest factor by which all of them could multiply their utility
    more = np.zeros((len(members), len(members) * goods + 1))
    for k, i in enumerate(members):
        more[k, k * goods : (k + 1) * goods] = -worths(found)[i] / found.utilities[i]
    more[:, -1] = 1
    resources = np.column_stack([np.tile(np.eye(goods), len(members)), np.zeros(goods)])
    best = linprog(
        np.append(np.zeros(len(members) * goods), -1.0),
        A_ub=np.vstack([more, resources]),
        b_ub=np.append(np.zeros(len(members)), share),
    )
    assert best.status == 0
    at_most(-best.fun, 1)
