"""Mixed utilities against the families that they are made of, and what makes no sense."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import CES, Bundles, CobbDouglas, Linear, Mixed

STORES = {"dense": np.array, "sparse": sp.csr_array}
#: One utility of six buyers and four goods for each family, from weights of that shape.
FAMILIES = {
    "linear": Linear,
    "bundles": lambda weights: Bundles(
        [0, 1, 2, 3, 4, 5, 0, 2], np.vstack([weights, weights[::3] + 1]), np.arange(1, 9)
    ),
    "ces": lambda weights: CES(weights, [0.5, -1, 0.9, -3, 0.2, -0.2]),
    "cobb-douglas": CobbDouglas,
}
GOODS = np.arange(4)


def draw(seed):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((6, 4)) < 0.7, 10 ** rng.uniform(-1, 1, (6, 4)), 0)
    weights[np.arange(6), rng.integers(0, 4, 6)] = 1
    prices, budgets = 10 ** rng.uniform(-1, 1, 4), 10 ** rng.uniform(-1, 2, 6)
    return weights, prices, budgets, rng.random((6, 4)) * (weights > 0), rng


def cut(utility, rng):
    """The same buyers in up to three parts of one family, in any order."""
    group = rng.integers(0, 3, utility.shape[0])
    members = [rng.permutation(np.flatnonzero(group == k)) for k in range(3)]
    return Mixed([(mine, utility.take(mine, GOODS)) for mine in members])


def of_all(seed):
    """Two buyers of each family, mingled; and each with its own utility, of it alone."""
    weights, prices, budgets, units, rng = draw(seed)
    weights = np.vstack([weights, weights[:2] + 1])
    parts = [
        (Linear, [0, 5]),
        (lambda rows: Bundles([0, 1, 0], np.vstack([rows, rows[:1] + 1]), [1, 2, 1]), [4, 2]),
        (lambda rows: CES(rows, [0.5, -1]), [7, 1]),
        (CobbDouglas, [3, 6]),
    ]
    made = [(mine, family(weights[mine])) for family, mine in parts]
    rng.shuffle(made)
    alone = {mine[k]: utility.take(np.array([k]), GOODS) for mine, utility in made for k in (0, 1)}
    more = rng.random((2, 4)) * (weights[6:] > 0)
    return Mixed(made), alone, prices, np.append(budgets, [1, 2]), np.vstack([units, more])


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize("family", FAMILIES)
def test_one_family_in_parts_is_the_family(family, store):
    for seed in range(10):
        weights, prices, budgets, units, rng = draw(seed)
        whole = FAMILIES[family](weights)
        mixed = cut(whole, rng)
        units = store(units)
        assert mixed.shape == whole.shape
        assert (mixed.additive, mixed.homogeneous) == (whole.additive, True)
        for name, *arguments in (
            ("value", units),
            ("unit_cost", prices),
            ("cost", prices, budgets),
            ("excess_cost", prices, units),
            ("conjugate", prices, budgets),
            ("usable", rng.random(4) < 0.5),
            ("wanted", rng.random(6) < 0.5),
        ):
            found, expected = (getattr(u, name)(*arguments) for u in (mixed, whole))
            assert found.dtype == expected.dtype, name
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)
        one, other = mixed.best(prices, budgets), whole.best(prices, budgets)
        np.testing.assert_allclose(one.value, other.value, rtol=1e-12)
        near = {"rtol": 1e-12, "atol": 1e-12}
        np.testing.assert_allclose(one.activities.toarray(), other.activities.toarray(), **near)


def uses(ways, amounts):
    """Units of goods, and amounts, by buyer: whatever the order of activities."""
    n = int(ways.owner.max()) + 1
    pick = sp.csr_array((amounts, (ways.owner, np.arange(len(amounts)))), shape=(n, len(amounts)))
    return (pick @ ways.needs).toarray(), pick.sum(axis=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_its_activities_and_their_levels_are_the_familys_in_another_order(family):
    for seed in range(10):
        weights, prices, _, units, rng = draw(seed)
        whole = FAMILIES[family](weights)
        mixed = cut(whole, rng)
        cost = whole.unit_cost(prices) * (1 + rng.random(6))
        levels = [utility.levels(units) for utility in (mixed, whole)]
        for amounts in (
            levels,
            [u.brought(own + 0.1) for u, own in zip((mixed, whole), levels, strict=True)],
        ):
            one, other = (
                uses(u.activities(), own) for u, own in zip((mixed, whole), amounts, strict=True)
            )
            np.testing.assert_allclose(one[0], other[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-9)
        one, other = (u.worth_using(prices, cost, 0.1) for u in (mixed, whole))
        listed = [
            sorted(zip(w.owner, w.values, w.needs @ prices, strict=True)) for w in (one, other)
        ]
        np.testing.assert_allclose(*listed, rtol=1e-12)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_everybody_has_what_the_own_family_says(store):
    for seed in range(10):
        mixed, alone, prices, budgets, units = of_all(seed)
        assert not mixed.additive
        for i, own in alone.items():
            held = store(units[[i]])
            one = np.array([i])
            for found, expected in (
                (mixed.value(store(units)), own.value(held)),
                (mixed.unit_cost(prices), own.unit_cost(prices)),
                (mixed.excess_cost(prices, store(units)), own.excess_cost(prices, held)),
                (mixed.conjugate(prices, budgets), own.conjugate(prices, budgets[one])),
                (mixed.best(prices, budgets).value, own.best(prices, budgets[one]).value),
            ):
                np.testing.assert_allclose(found[one], expected, rtol=1e-10, atol=1e-12)
            bought = mixed.best(prices, budgets).activities[one].toarray()
            own_best = own.best(prices, budgets[one]).activities.toarray()
            np.testing.assert_allclose(bought, own_best, rtol=1e-12)


def test_the_expression_is_concave_and_has_the_same_value():
    for seed in range(5):
        mixed, _, _, _, units = of_all(seed)
        levels = cp.Variable(len(mixed.activities().owner), nonneg=True)
        expression = mixed.expression(levels)
        assert expression.is_concave()
        levels.value = mixed.levels(units) + 0.1
        parts = np.bincount(mixed.activities().owner, mixed.brought(levels.value))
        np.testing.assert_allclose(expression.value, parts, rtol=1e-9)  # Euler's theorem
        levels.value = mixed.levels(units)
        np.testing.assert_allclose(expression.value, mixed.value(units), rtol=1e-7, atol=1e-7)


def test_part_of_it_in_any_order():
    for seed in range(10):
        mixed, alone, prices, _, units = of_all(seed)
        rng = np.random.default_rng(seed)
        buyers = rng.permutation(8)[: rng.integers(1, 9)]
        taken = mixed.take(buyers, GOODS[::-1])
        assert taken.shape == (len(buyers), 4)
        np.testing.assert_allclose(
            taken.value(units[buyers][:, ::-1]), mixed.value(units)[buyers], rtol=1e-9, atol=1e-12
        )
        expected = [alone[i].unit_cost(prices)[0] for i in buyers]
        np.testing.assert_allclose(taken.unit_cost(prices[::-1]), expected, rtol=1e-12)
        nobody = mixed.take(np.zeros(0, dtype=int), GOODS)
        assert nobody.shape == (0, 4)


def market(utility):
    return qm.Market(np.arange(1, 5), [1, 2], utility)


LINEAR, MIX = Linear([[1, 2], [3, 1]]), Bundles.leontief([[1, 1], [2, 1]])
BOTH = Mixed([([0, 2], LINEAR), ([1, 3], MIX)])


def test_the_order_of_parts_and_within_them_changes_nothing():
    swapped = Mixed([([3, 1], MIX.take(np.array([1, 0]), GOODS[:2])), ([0, 2], LINEAR)])
    assert market(BOTH).hash == market(swapped).hash
    assert repr(BOTH) == repr(swapped) == "Mixed(4 buyers, 2 goods: Linear 2, Bundles 2)"


def test_a_mixed_part_is_its_parts():
    inner = Mixed([([1], Linear([[1, 2]])), ([0, 2], MIX)])
    nested = Mixed([([1, 0, 3], inner), ([2], Linear([[3, 1]]))])
    flat = Mixed([([0], Linear([[1, 2]])), ([1, 3], MIX), ([2], Linear([[3, 1]]))])
    assert market(nested).hash == market(flat).hash


def test_who_has_which_family_makes_another_market():
    """Activities are the same for all of these: one unit of a good, of the same value."""
    weights = np.array([[0.25, 0.75]])
    families = [Linear, CobbDouglas, lambda w: CES(w, -1), lambda w: CES(w, 0.5), Bundles.linear]
    hashes = {
        qm.Market([1, 1], [1, 1], Mixed([([0], one(weights)), ([1], Linear(weights))])).hash
        for one in families
    }
    assert len(hashes) == len(families)


def test_part_without_buyers():
    nobody = CES(np.zeros((0, 2)), np.zeros(0))
    assert market(Mixed([([], nobody), ([0, 2], LINEAR), ([1, 3], MIX)])).hash == market(BOTH).hash


def frame(buyers, goods=("a100", "l4")):
    return pd.DataFrame(np.ones((len(buyers), len(goods))), list(buyers), list(goods))


def test_names_are_those_of_all_parts():
    mixed = Mixed([([2, 0], Linear(frame("zx"))), ([1], CES(frame("y"), -1))])
    assert (mixed.buyers, mixed.goods) == (("x", "y", "z"), ("a100", "l4"))
    assert Mixed([([0, 1, 2], mixed)]).buyers == ("x", "y", "z")
    # of buyers only if all have them; of goods from who has them
    half = Mixed([([0], MIX.take(np.array([0]), GOODS[:2])), ([1], Linear(frame("y")))])
    assert (half.buyers, half.goods) == (None, ("a100", "l4"))


def test_equal_names_in_two_parts():
    """Two teams of one name are an error of the market, unless it names its buyers itself."""
    mixed = Mixed([([0], Linear(frame("x"))), ([1], CES(frame("x"), -1))])
    with pytest.raises(qm.MarketError, match="x"):
        qm.Market([1, 1], [1, 1], mixed)
    assert qm.Market([1, 1], [1, 1], mixed, buyers=["x", "y"]).goods == ("a100", "l4")


class Sated(Linear):
    homogeneous = False


ONE = Linear([[1, 2]])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], "none given"),
        ([ONE], r"parts\[0\]: \(buyers, utility\) expected, got Linear"),
        ([([0], ONE), ([1], [[1, 2]])], r"parts\[1\]: \(buyers, utility\) expected"),
        ([([0], ONE), ([0], ONE)], r"parts\[1\]: buyer 0 is in parts\[0\] already"),
        ([([0, 0], LINEAR)], r"parts\[0\]: buyer 0 is in parts\[0\] already"),
        ([([2], ONE), ([0, 2], LINEAR)], "buyer 1 is in none of them, buyer 2 is"),
        ([([0], ONE), ([2], ONE)], "buyer 1 is in none of them, buyer 2 is"),
        (None, "pairs of buyers and a utility expected, got None"),
        ([([1], ONE)], "buyer 0 is in none of them, buyer 1 is"),
        ([([0, 1], ONE)], r"parts\[0\]: whole numbers of 1 buyers expected"),
        ([([0.0], ONE)], r"parts\[0\]: whole numbers"),
        ([([True], ONE)], r"parts\[0\]: whole numbers"),
        ([([-1], ONE)], r"parts\[0\]: whole numbers"),
        ([([0], ONE), ([1], Linear([[1]]))], r"parts\[1\]: 1 goods, but parts\[0\] has 2"),
        (
            [([0], ONE), ([1], Linear(frame("x"))), ([2], Linear(frame("y", ("l4", "a100"))))],
            r"parts\[2\]: good 0 is 'l4', but 'a100' in parts\[1\]",
        ),
        ([([0], ONE), ([1], Sated([[1, 2]]))], r"parts\[1\]: Sated.* is not homogeneous"),
    ],
)
def test_what_makes_no_sense_is_named(parts, words):
    with pytest.raises(qm.MarketError, match=words):
        Mixed(parts)
