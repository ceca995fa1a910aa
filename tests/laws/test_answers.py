"""What holds in every equilibrium by itself: accounts, what judges say, how ties are settled."""

import importlib.util
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

import qmopt as qm
from tests.laws.law import METHODS, TOLERANCE, answer, at_most, held_in, law, same
from tests.laws.markets import factors, marked, markets, with_each

PROGRAMS = Path(__file__).parents[2] / "models" / "programs"


def load(name):
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEXTBOOK = [load("eisenberg_gale"), load("shmyrev")]


@lru_cache(maxsize=20_000)
def textbook(program, numbers):
    # at its tolerance of 1e-10 the solver calls some points inaccurate; the prices are what counts
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        return program.solve(numbers.budgets, numbers.supplies, np.array(numbers.values))[0]


def revenues(found, prices):
    """What the supply of each good costs, as a share of everything."""
    worth = np.nan_to_num(prices) * found.market.supplies
    return worth / worth.sum()


@law(markets())
def test_every_method_finds_the_same_certified_prices(clear, numbers):
    found, other = clear(numbers), answer(METHODS[0], numbers)
    assert found.certificate.certified(TOLERANCE)
    same(found.prices, other.prices)
    same(found.utilities, other.utilities)


@law(markets(reserves=False, keeps=False))
def test_the_textbook_programs_find_the_same_prices(clear, numbers):
    found = clear(numbers)
    for program in TEXTBOOK:
        prices = textbook(program, numbers)
        assert (np.isnan(prices) == found.market.empty).all()
        np.testing.assert_allclose(
            revenues(found, found.prices), revenues(found, prices), atol=1e-4
        )


@law(markets())
def test_accounts(clear, numbers):
    """Credits are spent unless they are worth keeping; units are sold unless at their reserve."""
    found, market = clear(numbers), numbers.market()
    active, credits = market.active, market.budgets
    at_most(found.spend, credits)
    assert (found.spend[~active] == 0).all()
    at_most(0, held_in(found))
    spender = active & (market.keep_values == 0)
    same(found.spend[spender], credits[spender])
    # whoever keeps credits gets no more for spending them
    keeper = active & (found.unspent > TOLERANCE * credits)
    same(found.best[keeper], (market.keep_values * credits)[keeper])
    dear = found.prices > market.reserves * (1 + TOLERANCE)
    same(found.idle[dear], 0, scale=market.supplies[dear])
    assert (np.isnan(found.prices) == market.empty).all()
    at_most(market.reserves[~market.empty], found.prices[~market.empty])
    prices, sold = np.nan_to_num(found.prices), market.supplies - found.idle
    same(found.spend.sum(), prices @ sold, scale=credits.sum())
    same(found.utilities, found.best)


@law(markets())
def test_the_price_intervals_hold_every_price(clear, numbers):
    found = clear(numbers)
    low, high = found.price_intervals[~found.market.empty].T
    for method in METHODS:
        price = answer(method, numbers).prices[~found.market.empty]
        # the other's price is itself known to its last bits only
        assert (low <= price * (1 + 1e-12)).all()
        assert (price * (1 - 1e-12) <= high).all()


@law(markets())
def test_prices_alone_are_certified(clear, numbers):
    found = clear(numbers)
    assert qm.certify(found.market, found.prices, tolerance=TOLERANCE).certified()


@law(marked(), st.sampled_from([1e-3, -1e-3]))
def test_other_prices_are_refused(clear, drawn, error):
    """Prices are unique, so one that is a thousandth off cannot belong to any allocation."""
    numbers, _, good = drawn
    found = clear(numbers)
    sold = np.flatnonzero(found.market.sold)
    good = sold[good % len(sold)]
    assert found.unique.prices
    prices = found.prices.copy()
    prices[good] *= 1 + error
    assert not qm.certify(found.market, prices).certified()


@law(with_each(buyers=st.lists(st.integers(0, 9), min_size=5, max_size=5)))
def test_any_running_allocation_leaves_prices_alone(clear, drawn):
    numbers, running = drawn
    found = clear(numbers)
    again = qm.clear(found.market, found.method, tolerance=TOLERANCE, near=running[:, : numbers.m])
    assert again.certificate.certified(TOLERANCE)
    same(again.prices, found.prices)
    same(again.utilities, found.utilities)
    if found.unique.allocation:
        same(held_in(again), held_in(found), scale=found.market.supplies)


@law(markets())
def test_an_allocation_is_unique_whoever_says_so(clear, numbers):
    """Where it is told to be the only one, every method has found just that one."""
    found, other = clear(numbers), answer(METHODS[0], numbers)
    assert found.unique == other.unique
    if found.unique.allocation:
        same(held_in(found), held_in(other), scale=found.market.supplies)


@law(marked(), st.lists(st.tuples(st.integers(1, 3), factors), min_size=1, max_size=2))
def test_equal_teams_hold_equal_bundles(clear, drawn, copies):
    """Equal but for the unit of value; with other credits, bundles are in proportion to them."""
    numbers, team, _ = drawn
    crowd = numbers.take([*range(numbers.n), *[team] * len(copies)], range(numbers.m))
    credits, unit = (np.append(np.ones(numbers.n), column) for column in np.transpose(copies))
    crowd = crowd.with_(
        budgets=credits * crowd.budgets,
        values=unit[:, None] * np.array(crowd.values),
        keeps=unit * crowd.keeps,
    )
    found = clear(crowd)
    held = np.column_stack([held_in(found), found.unspent]) / credits[:, None]
    scale = np.append(found.market.supplies, found.market.budgets.sum())
    for row in range(numbers.n, crowd.n):
        same(held[row], held[team], scale=scale)
