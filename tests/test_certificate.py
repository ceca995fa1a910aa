"""The certificate against points worked by hand, a slow second implementation, and its own laws."""

import json
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qmopt as qm
from qmopt import certificate, point
from qmopt.certificate import measure
from qmopt.utilities import keep, pairs
from tests.certificate_checks import CHECKS, definition_of, random_points
from tests.certificate_draws import Draw, draw
from tests.certificate_points import CLAIMS

DEFINITION = definition_of(certificate, point, keep, pairs)
EQUILIBRIUM = {"VER-01: exact", "VER-01: rounded 1e-7"}


@pytest.mark.parametrize("name", CHECKS)
def test_the_definition(name):
    CHECKS[name](DEFINITION)


def test_many_random_points_against_plain_loops():
    random_points(DEFINITION, range(60, 660))


def test_eleven_claims_and_who_is_right():
    """Only the equilibrium and its rounding pass at 1e-6; the interior point would at 1e-4."""
    passed = set()
    for worked in CLAIMS:
        found = measure(worked.market(), worked.prices, worked.allocation, 1e-6)
        passed |= {worked.name} if found.certified() else set()
        inner = worked.name == "VER-01: interior point, residual 9e-6"
        assert found.certified(1e-4) == (inner or worked.name in EQUILIBRIUM)
    assert len(CLAIMS) == 11
    assert passed == EQUILIBRIUM


def test_the_linear_formula_misreads_exact_equilibria():
    """Gap as if nothing could be kept, reserved or capped, and all credits were spent."""

    def naive(market, price, utilities, relative_to):
        beta = price  # every value is 1
        dual = market.supplies @ [price] + sum(
            b * log(b / beta) - b if b else 0 for b in market.budgets
        )
        return (dual - market.budgets @ np.log(utilities)) / relative_to

    one, two = qm.Linear([[1]]), qm.Linear([[1], [1]])
    kept = qm.Market([3], [2], one, keep_values=[1])  # one of 3 credits is kept: 2 - 3 over 2
    assert naive(kept, 1, [3], relative_to=2) == pytest.approx(-0.5, abs=1e-15)
    assert measure(kept, [1], [[2]]).certified(0)
    idle = qm.Market([1], [6], one, reserves=[1])  # five units idle, worth 5 credits of one
    assert naive(idle, 1, [1], relative_to=1) == pytest.approx(5, abs=1e-15)
    assert measure(idle, [1], [[1]]).certified(0)
    # the first team stops at 1 of 5.8: 1 + 5.8 log 5.8 - 5.8 over 2
    capped = qm.Market([5.8, 1], [2], two, utility_caps=[1, inf])
    assert naive(capped, 1, [1, 1], relative_to=2) == pytest.approx(2.7, abs=3e-3)
    assert measure(capped, [1], [[1], [1]]).certified(0)


def test_one_team_in_a_million():
    """It loses a thousandth; the gap, a sum over all, hardly moves."""
    n = 1_000_000
    market = qm.Market(np.ones(n), [n], qm.Linear(np.ones((n, 1))))
    units = np.ones((n, 1))
    units[123_456] = 0.999
    found = measure(market, [1], units)
    assert found.gap == pytest.approx((0.001 - log(0.999) - 0.001) / n, rel=1e-6)  # 1e-9
    assert found.idle == pytest.approx(1e-9, rel=1e-6)
    assert found.regret == pytest.approx(1e-3, rel=1e-12)
    assert not found.certified()


@pytest.mark.parametrize("seed", range(200))
def test_the_gap_is_never_negative_where_prices_meet_reserves(seed):
    drawn = draw(seed, rude=False)
    drawn = drawn._replace(prices=np.maximum(drawn.prices, drawn.reserves))
    assert measure(drawn.market(), drawn.prices, drawn.units).gap >= 0


def same(one, other):
    for name, value in one.residuals.items():
        assert other.residuals[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name


def whole(draw):
    """Whole numbers only, so that factors keep ties ties."""
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 3))

    def numbers(low, high, *shape):
        size = int(np.prod(shape))
        found = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
        return np.array(found, dtype=float).reshape(shape)

    caps = numbers(0, 9, n)
    drawn = Draw(
        values=numbers(0, 4, n, m),
        budgets=numbers(0, 9, n),
        supplies=numbers(0, 5, m),
        reserves=numbers(0, 2, m),
        keeps=numbers(0, 1, n),
        caps=np.where(caps == 0, inf, caps),
        prices=numbers(0, 4, m),
        units=numbers(-1, 3, n, m),
    )
    drawn.values[0, 0], drawn.budgets[0], drawn.supplies[0] = 1, 3, 2
    return drawn


points = st.composite(whole)()
factors = st.sampled_from([0.25, 0.7, 3, 10])


def scaled(drawn, **changes):
    return drawn._replace(**changes)


def judged(drawn, tolerance=1e-8):
    return measure(drawn.market(), drawn.prices, drawn.units, tolerance)


@given(points, factors)
@settings(max_examples=60)
def test_another_currency_changes_nothing(drawn, factor):
    other = scaled(
        drawn,
        budgets=drawn.budgets * factor,
        prices=drawn.prices * factor,
        reserves=drawn.reserves * factor,
        keeps=drawn.keeps / factor,
    )
    same(judged(drawn), judged(other))


@given(points, factors)
@settings(max_examples=60)
def test_another_unit_of_value_of_one_team_changes_nothing(drawn, factor):
    unit = np.ones(len(drawn.budgets))
    unit[0] = factor
    other = scaled(
        drawn,
        values=drawn.values * unit[:, None],
        keeps=drawn.keeps * unit,
        caps=drawn.caps * unit,
    )
    same(judged(drawn), judged(other))


@given(points, factors)
@settings(max_examples=60)
def test_another_unit_of_a_good_changes_nothing(drawn, factor):
    unit = np.ones(len(drawn.supplies))
    unit[0] = factor
    other = scaled(
        drawn,
        supplies=drawn.supplies * unit,
        units=drawn.units * unit,
        values=drawn.values / unit,
        prices=drawn.prices / unit,
        reserves=drawn.reserves / unit,
    )
    same(judged(drawn), judged(other))


@given(points, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_order_changes_nothing(drawn, random):
    teams = random.sample(range(len(drawn.budgets)), len(drawn.budgets))
    goods = random.sample(range(len(drawn.supplies)), len(drawn.supplies))
    by_team = {name: getattr(drawn, name)[teams] for name in ("budgets", "keeps", "caps")}
    by_good = {name: getattr(drawn, name)[goods] for name in ("supplies", "reserves", "prices")}
    by_pair = {name: getattr(drawn, name)[np.ix_(teams, goods)] for name in ("values", "units")}
    same(judged(drawn), judged(drawn._replace(**by_team, **by_good, **by_pair)))


def test_residuals_are_plain_numbers():
    """So that they go into a JSON document as they are."""
    market = qm.Market([60, 40], [10], qm.Linear([[1], [1]]))
    assert json.loads(json.dumps(measure(market, [10], [[6], [4]]).residuals))["gap"] == 0
