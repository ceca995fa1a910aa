"""Which way prices move: up with credits, reserves and new teams, down with supply.

In linear markets goods are substitutes, with reserves and kept credits too: theorems, with their
proof on the theory page. Every change here is drawn for all teams or goods at once.
"""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from tests.laws.law import at_most, law
from tests.laws.markets import marked, with_each

MORE = st.integers(0, 5)


@law(with_each(goods=MORE))
def test_more_supply_lowers_every_price(clear, drawn):
    """And by no more than the factor that the supply grew by; every team does at least as well."""
    numbers, more = drawn
    before = clear(numbers)
    supplies = numbers.supplies + more
    after = clear(numbers.with_(supplies=supplies))
    assume((after.market.active == before.market.active).all())  # or credits came with the chips
    both = ~before.market.empty
    at_most(after.prices[both], before.prices[both])
    at_most(before.utilities, after.utilities)
    # a good that is new costs at most what drove the last team away before
    new = before.market.empty & after.market.sold
    choke = np.maximum(before.price_intervals[:, 0], before.market.reserves)
    at_most(after.prices[new], choke[new])
    if not new.any():
        growth = (supplies[both] / before.market.supplies[both]).max()
        at_most(before.prices[both] / growth, after.prices[both])


@law(with_each(buyers=MORE))
def test_more_credits_raise_every_price(clear, drawn):
    """New teams too; by no more than the factor that credits grew by. Nobody else gains."""
    numbers, more = drawn
    before = clear(numbers)
    budgets = numbers.budgets + more
    after = clear(numbers.with_(budgets=budgets))
    at_most(before.prices, after.prices)
    others = more == 0
    at_most(after.utilities[others], before.utilities[others])
    was = before.market.budgets
    growth = np.where(more > 0, np.inf, 1.0)
    np.divide(budgets, was, out=growth, where=was > 0)
    at_most(after.prices[~before.market.empty] / growth.max(), before.prices[~before.market.empty])
    # who grew most of all does not lose by it
    most = growth == growth.max()
    at_most(before.utilities[most], after.utilities[most])


@law(with_each(buyers=MORE, goods=MORE))
def test_higher_reserves_and_less_worth_of_keeping_raise_every_price(clear, drawn):
    numbers, less, more = drawn
    before = clear(numbers)
    keeps = np.maximum(np.array(numbers.keeps) - less, 0)
    after = clear(numbers.with_(reserves=numbers.reserves + more, keeps=keeps))
    at_most(before.prices, after.prices)
    at_most(after.utilities, before.utilities)


@law(marked(), st.integers(1, 9))
def test_a_higher_value_raises_that_price(clear, drawn, more):
    """Of the good that became worth more to somebody; other prices may go either way."""
    numbers, buyer, good = drawn
    before = clear(numbers)
    values = np.array(numbers.values)
    values[buyer, good] += more
    after = clear(numbers.with_(values=values))
    at_most(before.prices[good], after.prices[good])
