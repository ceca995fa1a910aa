"""What must not matter: units, names, order, bystanders, and how teams and goods are cut up."""

import numpy as np
from hypothesis import strategies as st

from tests.laws.law import held_in, law, same
from tests.laws.markets import factors, marked, markets, with_each


def floats(numbers):
    return np.array(numbers, dtype=float)


def same_answer(one, other, price=1.0, utility=1.0, units=1.0):
    """Assert that an answer is another one times factors; bundles are where they are unique."""
    same(one.prices, price * other.prices)
    same(one.utilities, utility * other.utilities)
    assert one.unique.allocation == other.unique.allocation
    if one.unique.allocation:
        same(held_in(one), units * held_in(other), scale=one.market.supplies)


@law(markets(), factors)
def test_unit_of_credits(clear, numbers, factor):
    """Prices, reserves and spends scale with the credits, the worth of a kept one inversely."""
    found = clear(numbers)
    scaled = numbers.with_(
        budgets=factor * np.array(numbers.budgets),
        reserves=factor * np.array(numbers.reserves),
        keeps=np.array(numbers.keeps) / factor,
    )
    again = clear(scaled)
    same_answer(again, found, price=factor)
    if found.unique.allocation:
        same(again.spend, factor * found.spend, scale=again.market.budgets)


@law(with_each(buyers=factors))
def test_units_of_value(clear, drawn):
    """Each team may count its utility as it likes; kept credits are counted likewise."""
    numbers, factor = drawn
    scaled = numbers.with_(
        values=factor[:, None] * np.array(numbers.values), keeps=factor * numbers.keeps
    )
    found, again = clear(numbers), clear(scaled)
    same_answer(again, found, utility=factor)
    same(again.best, factor * found.best)


@law(with_each(goods=factors))
def test_units_of_goods(clear, drawn):
    """Chips, nodes or racks: twice as many at half the price."""
    numbers, factor = drawn
    scaled = numbers.with_(
        supplies=factor * numbers.supplies,
        values=np.array(numbers.values) / factor,
        reserves=np.array(numbers.reserves) / factor,
    )
    same_answer(clear(scaled), clear(numbers), price=1 / factor, units=factor)


@law(markets(), st.randoms(use_true_random=False))
def test_order_and_names(clear, numbers, random):
    """Shuffled, under other names, every team and good gets what it got: ties included."""
    buyers = random.sample(range(numbers.n), numbers.n)
    goods = random.sample(range(numbers.m), numbers.m)
    named = numbers.with_(
        buyers=tuple(f"team {i}" for i in range(numbers.n)),
        goods=tuple(f"good {j}" for j in range(numbers.m)),
    )
    shuffled = named.take(buyers, goods).with_(
        buyers=tuple(named.buyers[i] for i in buyers), goods=tuple(named.goods[j] for j in goods)
    )
    found, again = clear(numbers), clear(shuffled)
    same(again.prices, found.prices[goods])
    same(again.utilities, found.utilities[buyers])
    supplies = np.array(shuffled.supplies)
    same(held_in(again), held_in(found)[np.ix_(buyers, goods)], scale=supplies)
    told = again.columns()["prices"]
    by_name = dict(zip(told["resource"], told["price"], strict=True))
    same([by_name[name] for name in named.goods], found.prices)


@law(
    markets(),
    st.lists(st.sampled_from(["no credits", "no values", "no supply"]), max_size=2),
    st.lists(st.sampled_from(["no takers", "no supply"]), max_size=2),
    st.integers(0, 4),
)
def test_bystanders(clear, numbers, teams, goods, reserve):
    """A team that can buy nothing and a good that nobody buys change nothing for the others."""
    values = floats(numbers.values)
    budgets, keeps = list(numbers.budgets), list(numbers.keeps)
    supplies, reserves = list(numbers.supplies), list(numbers.reserves)
    for kind in goods:
        supplies.append(0 if kind == "no supply" else 3)
        reserves.append(reserve)
        column = np.full(numbers.n, 0 if kind == "no takers" else 5)
        values = np.column_stack([values, column])
    for kind in teams:
        budgets.append(0 if kind == "no credits" else 7)
        keeps.append(reserve)
        wants = np.array(supplies) == 0 if kind == "no supply" else np.ones(len(supplies))
        values = np.vstack([values, 0 * wants if kind == "no values" else 5 * wants])
    crowded = numbers.with_(
        budgets=budgets, supplies=supplies, values=values, reserves=reserves, keeps=keeps
    )
    found, again = clear(numbers), clear(crowded)
    n, m = numbers.n, numbers.m
    same(again.prices[:m], found.prices)
    same(again.utilities[:n], found.utilities)
    assert again.unique.allocation == found.unique.allocation
    same(held_in(again)[:n, :m], held_in(found), scale=found.market.supplies)
    extra = [np.nan if kind == "no supply" else reserve for kind in goods]
    same(again.prices[m:], extra)
    assert not held_in(again)[n:].any()
    assert not held_in(again)[:, m:].any()
    one, other = found.market, again.market
    assert len(other.excluded_buyers) == len(one.excluded_buyers) + len(teams)
    assert len(other.excluded_goods) == len(one.excluded_goods) + len(goods)


@law(marked(), st.integers(1, 3), factors)
def test_a_team_cut_in_two(clear, drawn, part, unit):
    """Two teams of the same tastes are one with the credits of both, and the other way round."""
    numbers, team, _ = drawn
    whole = numbers.with_(budgets=4 * np.array(numbers.budgets))
    cut = whole.take([*range(numbers.n), team], range(numbers.m))
    budgets, values, keeps = map(floats, (cut.budgets, cut.values, cut.keeps))
    budgets[team] *= part / 4
    budgets[-1] *= 1 - part / 4
    values[-1] *= unit
    keeps[-1] *= unit
    one, two = clear(whole), clear(cut.with_(budgets=budgets, values=values, keeps=keeps))
    same(two.prices, one.prices)
    others = np.arange(numbers.n) != team
    same(two.utilities[:-1][others], one.utilities[others])
    same(two.utilities[team], one.utilities[team] * part / 4)
    same(two.utilities[-1], one.utilities[team] * (1 - part / 4) * unit)
    held = held_in(two)
    together = held[:-1].copy()
    together[team] += held[-1]
    same(together, held_in(one), scale=one.market.supplies)


@law(marked(), st.integers(1, 3), factors)
def test_a_good_cut_in_two(clear, drawn, part, unit):
    """Chips that everybody values alike cost the same, under one name or two."""
    numbers, _, good = drawn
    cut = numbers.take(range(numbers.n), [*range(numbers.m), good])
    supplies, values, reserves = map(floats, (cut.supplies, cut.values, cut.reserves))
    supplies[good] *= part / 4
    supplies[-1] *= (1 - part / 4) * unit
    values[:, -1] /= unit
    reserves[-1] /= unit
    one, two = clear(numbers), clear(cut.with_(supplies=supplies, values=values, reserves=reserves))
    same(two.prices[:-1], one.prices)
    same(two.prices[-1], one.prices[good] / unit)
    same(two.utilities, one.utilities)
    held = held_in(two)
    together = held[:, :-1].copy()
    together[:, good] += held[:, -1] / unit
    same(together, held_in(one), scale=one.market.supplies)


@law(markets(), markets())
def test_two_markets_side_by_side(clear, here, there):
    """Markets that share no good are cleared as if each were alone."""
    values = np.zeros((here.n + there.n, here.m + there.m))
    values[: here.n, : here.m] = here.values
    values[here.n :, here.m :] = there.values
    both = here.with_(
        values=values,
        budgets=here.budgets + there.budgets,
        supplies=here.supplies + there.supplies,
        reserves=here.reserves + there.reserves,
        keeps=here.keeps + there.keeps,
    )
    left, right, found = clear(here), clear(there), clear(both)
    same(found.prices, np.append(left.prices, right.prices))
    same(found.utilities, np.append(left.utilities, right.utilities))
    held = held_in(found)
    same(held[: here.n, : here.m], held_in(left), scale=left.market.supplies)
    same(held[here.n :, here.m :], held_in(right), scale=right.market.supplies)
    assert not held[here.n :, : here.m].any()
    assert not held[: here.n, here.m :].any()
