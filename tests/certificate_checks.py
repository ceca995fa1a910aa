"""What the certificate must do, as functions of the modules that define it.

Each check takes a `definition`: an object with the modules `certificate`, `point`, `keep` and
`pairs`. The tests hand in the real ones, the mutation run broken copies.
"""

import re
from dataclasses import FrozenInstanceError
from itertools import product
from math import inf, isclose, log, nan
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from tests import certificate_demands
from tests.certificate_draws import draw
from tests.certificate_edges import EDGES
from tests.certificate_points import PAIR, POINTS, RIGHT

WORKED = [*POINTS, *EDGES]
assert len({worked.name for worked in WORKED}) == len(WORKED)
STORES = {"dense": np.array, "sparse": sp.csr_array}
SEEDS = range(60)


def compare(found, expected):
    """Equal up to rounding; what is 0 may be off by a few last bits of 1."""
    wrong = {
        name: (found[name], value)
        for name, value in expected.items()
        if not (found[name] == value or isclose(found[name], value, rel_tol=1e-12, abs_tol=4e-15))
    }
    assert not wrong, f"measured, by hand: {wrong}"


def worked_point(definition, worked):
    """All eight residuals and the verdict, in every kind of storage."""
    for values, units in product(STORES.values(), STORES.values()):
        allocation = units(np.array(worked.allocation, dtype=float))
        found = definition.certificate.measure(
            worked.market(values), worked.prices, allocation, worked.tolerance
        )
        compare(found.residuals, worked.expected)
        worst = max(abs(value) for value in worked.expected.values())
        compare({"worst": found.worst}, {"worst": worst})
        assert found.certified() is worked.certified
        assert (found.notes != ()) is (not np.nan_to_num(worked.prices).clip(0).any())


def random_points(definition, seeds=SEEDS):
    """Every residual against plain loops over decimals, at points with everything in them."""
    for seed, tolerance in product(seeds, (1e-8, 0.1)):
        drawn = draw(seed)
        market = drawn.market(list(STORES.values())[seed % 2])
        found = definition.certificate.measure(market, drawn.prices, drawn.units, tolerance)
        compare(found.residuals, drawn.expected(tolerance))


# A team that buys .999 of its cap at the good twice as dear: satisfied from 1e-3 on.
NEARLY = next(worked for worked in EDGES if worked.name == "thrift: not yet satisfied")
RESERVE = next(worked for worked in EDGES if worked.name == "reserve: price below it")


def other_tolerances(definition):
    """Certified at another tolerance counts as satisfied who is so at that tolerance."""
    market = NEARLY.market()
    found = definition.certificate.measure(market, NEARLY.prices, NEARLY.allocation)
    gap = NEARLY.expected["gap"]  # .336
    compare({"worst": found.worst, "thrift": found.thrift}, {"worst": gap, "thrift": 0})
    assert found.tolerance == 1e-8
    # the capped team alone counts: .001 below the cap, twice the cost
    np.testing.assert_allclose(found.satiation, [0.001])
    np.testing.assert_allclose(found.excess, [1])
    assert not found.certified(1e-4)
    assert not found.certified(0.9)  # thrift is 1 there
    assert found.certified(1.0)
    loose = definition.certificate.measure(market, NEARLY.prices, NEARLY.allocation, 0.5)
    assert (loose.tolerance, loose.thrift, loose.worst) == (0.5, 1, 1)
    assert not loose.certified()
    assert not loose.certified(0.0)
    # satisfied means: at least (1 - tolerance) of the cap, the bound included
    half = qm.Market([10, 1], [1, 1], qm.Linear([[1, 1], [1, 0]]), utility_caps=[1, inf])
    found = definition.certificate.measure(half, [1, 2], [[0, 0.5], [1, 0]], 0.5)
    assert found.thrift == 1
    assert definition.certificate.measure(half, [1, 2], [[0, 0.5], [1, 0]], 0.49).thrift == 0


def gap_below_zero_fails(definition):
    """With a larger supply the gap of a price below its reserve passes the reserve residual."""
    market = qm.Market([1], [100], qm.Linear([[1]]), reserves=[1])
    found = definition.certificate.measure(market, [0.8], [[1.25]], 0.2)
    # 98.75 idle units, each .2 below the reserve, of 80 credits
    assert isclose(found.gap, -0.246875)
    assert found.reserve <= 0.2
    assert not found.certified()
    assert found.certified(0.25)
    assert isclose(found.worst, 0.246875)


class NotHomogeneous(qm.Linear):
    homogeneous = False


def without_a_program(definition):
    """A family without a convex program has no gap, and is judged by the rest."""
    market = qm.Market([6, 24], [1, 1], NotHomogeneous(PAIR[0]))
    found = definition.certificate.measure(market, [10, 20], RIGHT)
    assert found.gap is None
    assert found.residuals["gap"] is None
    assert found.worst <= 1e-15
    assert found.certified()
    assert not definition.certificate.measure(market, [20, 10], RIGHT).certified()


def broken_numbers(definition):
    """A number that is not one, anywhere, is an infinite residual and never certified."""
    market = qm.Market([6, 24], [1, 1], qm.Linear(PAIR[0]))
    prices, units = np.array([10.0, 20.0]), np.array(RIGHT)
    for broken, place in product((nan, inf, -inf), range(2)):
        bad = prices.copy()
        bad[place] = broken
        found = definition.certificate.measure(market, bad, units)
        assert found.negative == inf
        assert found.worst == inf
        assert not found.certified(0.5)
    for (broken, residual), store in product(
        ((nan, "negative"), (nan, "overallocated"), (inf, "overallocated"), (-inf, "negative")),
        STORES.values(),
    ):
        for place in product(range(2), range(2)):
            bad = units.copy()
            bad[place] = broken
            found = definition.certificate.measure(market, prices, store(bad))
            assert getattr(found, residual) == inf
            assert found.worst == inf
            assert not any(np.isnan(value) for value in found.residuals.values())
            assert not found.certified(0.5)
    # prices so large that sums overflow
    market = qm.Market([6, 24], [4, 4], qm.Linear(PAIR[0]))
    for prices in ([1e308, 1e308], [inf, 1], [1e308, 0]):
        found = definition.certificate.measure(market, prices, units)
        assert found.worst == inf
        assert not any(np.isnan(value) for value in found.residuals.values())
    # where the price is missing, the good is as free as can be
    market = qm.Market([6, 24], [1, 1], qm.Linear(PAIR[0]))
    found = definition.certificate.measure(market, [nan, 20], units)
    compare(
        found.residuals,
        dict.fromkeys(found.residuals, 0) | {"negative": inf, "regret": 1, "gap": inf},
    )


def duplicates_add_up(definition):
    """A sparse allocation may list a pair twice: the sum counts, and the caller's data stay."""
    market = qm.Market([1], [1, 1], qm.Linear([[1, 0]]))
    twice = sp.csr_array((np.array([2.0, -1.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    found = definition.certificate.measure(market, [1, 0], twice)
    compare(found.residuals, dict.fromkeys(found.residuals, 0))
    assert twice.data.tolist() == [2, -1]


def bad_arguments(definition):
    market = qm.Market([6, 24], [1, 1], qm.Linear(PAIR[0]))
    measure = definition.certificate.measure
    for prices in (10, [10], [10, 20, 30], [[10, 20]]):
        with pytest.raises(qm.MarketError, match=r"prices: shape \(2,\) expected"):
            measure(market, prices, RIGHT)
    for store, shape in product(STORES.values(), ((1, 2), (2, 1), (3, 2))):
        message = re.escape(f"allocation: shape (2, 2) expected, got {shape}")
        with pytest.raises(qm.MarketError, match=message):
            measure(market, [10, 20], store(np.zeros(shape)))
    for tolerance in (-1e-9, 1, 1.5, nan):
        with pytest.raises(qm.MarketError, match="tolerance: a number from 0 to 1"):
            measure(market, [10, 20], RIGHT, tolerance)
    assert measure(market, [10, 20], [[0.5, 0], [0.5, 1]], 0).tolerance == 0


def the_object(definition):
    """Frozen; two measurements of one point are equal; the notes say what was divided by."""
    market = qm.Market([60, 40], [10], qm.Linear([[1], [1]]), utility_caps=[3, 4])
    found = definition.certificate.measure(market, [0], [[3], [4]])
    assert found == definition.certificate.measure(market, [0], [[3], [4]])
    assert found != definition.certificate.measure(market, [0], [[3], [3]])
    assert found.satiation.tolist() == found.excess.clip(0).tolist() == [0, 0]
    assert "satiation" not in repr(found)
    assert "excess" not in repr(found)
    assert all(
        meaning in found._repr_html_() for meaning in definition.certificate.MEANING.values()
    )
    assert found.notes == ("everything is free: idle credits and gap are relative to all budgets",)
    assert list(found.residuals) == list(definition.certificate.MEANING)
    with pytest.raises(FrozenInstanceError):
        found.gap = 0.0


def kept_credits_and_caps(definition):
    """`keep`, by hand; a dash is a number that is not there: no cap, nothing kept."""
    keep, array = definition.keep, np.array
    #  value, spend, budget, worth, cap -> utility, kept, counted
    cases = array(
        [
            (6, 4, 10, 1, 8, 8, 6, 2),
            (6, 4, 10, 1, inf, 12, 6, 6),
            (6, 4, 10, 0.5, 8, 8, 6, 4),
            (6, 4, 10, 0, 8, 6, 6, 0),
            (9, 4, 10, 1, 8, 8, 6, 0),
            (9, 4, 10, 0, 8, 8, 6, 0),
            (6, 12, 10, 1, inf, 6, 0, 0),
        ]
    ).T
    found = keep.enjoyed(*cases[:5])
    np.testing.assert_array_equal([found.utility, found.kept, found.counted], cases[5:])

    linear = qm.Linear([[4, 2], [4, 2], [0, 0], [0, 0]])
    cost = keep.unit_cost(linear, array([2.0, 3.0]), array([0, 4, 0, 0.5]))
    assert cost.tolist() == [0.5, 0.25, inf, 2]
    budgets, caps = np.full(7, 3.0), array([inf, 5, 6, 7, 7, inf, 1])
    cost = array([0.5, 0.5, 0.5, 0.5, 0, 0, 0.5])
    assert keep.best_value(cost, budgets, caps).tolist() == [6, 5, 6, 6, 7, inf, 1]
    assert keep.best_value(cost[:1], array([0.5]), caps[:1]).tolist() == [1]  # half a credit
    none = keep.best_value(array([0, 0.5, 0.5]), np.zeros(3), array([inf, inf, 5]))
    assert none.tolist() == [0, 0, 0]
    free = 3 * log(6) - 3
    np.testing.assert_allclose(
        keep.conjugate(cost, budgets, caps),
        [free, 3 * log(5) - 2.5, free, free, 3 * log(7), inf, -0.5],
        rtol=1e-15,
    )


def numbers_on_pairs(definition):
    matrix = np.array([[0, 2, 0], [3, 0, 4.0]])
    for store in STORES.values():
        found = [part.tolist() for part in definition.pairs.pairs(store(matrix))]
        assert found == [[0, 1, 1], [1, 0, 2], [2, 3, 4]]
        rows, columns = np.array([1, 0, 1]), np.array([2, 0, 0])
        assert definition.pairs.entries(store(matrix), rows, columns).tolist() == [4, 0, 3]
        none = np.zeros(0, dtype=int)
        assert definition.pairs.entries(store(matrix), none, none).shape == (0,)
    total = definition.pairs.total_by(np.array([2, 0, 2]), np.array([1, 2, 4.0]), 4)
    assert total.tolist() == [2, 0, 5, 0]


CHECKS = {
    **{
        worked.name: (lambda definition, worked=worked: worked_point(definition, worked))
        for worked in WORKED
    },
    **{
        check.__name__.replace("_", " "): check
        for check in (
            other_tolerances,
            gap_below_zero_fails,
            without_a_program,
            broken_numbers,
            duplicates_add_up,
            bad_arguments,
            the_object,
            kept_credits_and_caps,
            numbers_on_pairs,
            random_points,
        )
    },
    **certificate_demands.CHECKS,
}


def definition_of(certificate, point, keep, pairs):
    return SimpleNamespace(certificate=certificate, point=point, keep=keep, pairs=pairs)
