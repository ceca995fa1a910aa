"""One team's absurd numbers are read as they stand, and spoil nobody else's answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qmopt as qm

TAME = st.integers(1, 9)


def cleared(credits, supplies, values):
    """Read a market from tables and clear it; the first team is called absurd."""
    names = ["absurd", *(f"team-{i}" for i in range(1, len(credits)))]
    goods = [f"good-{j}" for j in range(len(supplies))]
    market = qm.Market.from_tables(
        teams={"team": names, "credits": credits},
        resources={"resource": goods, "supply": supplies},
        bids=[
            {"team": name, "resource": good, "value": value}
            for name, row in zip(names, values, strict=True)
            for good, value in zip(goods, row, strict=True)
        ],
    )
    return qm.clear(market)


@st.composite
def markets(draw):
    """Credits, supplies and values of 2 to 5 teams and 2 to 4 resources, all of them tame."""
    n, m = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    some = [draw(st.lists(TAME, min_size=m, max_size=m)) for _ in range(n)]
    credits = draw(st.lists(st.integers(1, 50), min_size=n, max_size=n))
    supplies = draw(st.lists(st.integers(1, 20), min_size=m, max_size=m))
    return np.array(credits, float), np.array(supplies, float), np.array(some, float)


@settings(max_examples=60)
@given(market=markets(), power=st.integers(-300, 300))
def test_values_all_huge_or_tiny_change_no_price(market, power):
    credits, supplies, values = market
    tame = cleared(credits, supplies, values).prices
    values[0] *= 10.0**power
    np.testing.assert_allclose(cleared(credits, supplies, values).prices, tame, rtol=1e-9)


@settings(max_examples=60)
@given(market=markets(), data=st.data())
def test_a_spread_of_thirty_digits_is_certified(market, data):
    credits, supplies, values = market
    powers = data.draw(
        st.lists(st.integers(-15, 15), min_size=len(supplies), max_size=len(supplies))
    )
    values[0] *= 10.0 ** np.array(powers)
    assert cleared(credits, supplies, values).certificate.worst <= 1e-8


@settings(max_examples=40)
@given(market=markets(), data=st.data())
def test_any_spread_is_certified_or_laid_at_the_right_door(market, data):
    credits, supplies, values = market
    some = st.lists(st.integers(-300, 300), min_size=len(supplies), max_size=len(supplies))
    values[0] *= 10.0 ** np.array(data.draw(some))
    try:
        said = cleared(credits, supplies, values).certificate.worst <= 1e-8
    except qm.NotCertified as error:
        said = "absurd" in str(error)
    assert said


@pytest.mark.parametrize("amount", [1e-300, 1e-15, 1e15, 1e150])
@pytest.mark.parametrize("teams", [2, 3, 5])
def test_credits_and_supplies_of_any_size(teams, amount):
    rng = np.random.default_rng(teams)
    credits = rng.integers(1, 50, teams).astype(float)
    supplies = rng.integers(1, 20, 3).astype(float)
    values = rng.integers(1, 9, (teams, 3)).astype(float)
    rich, plenty = credits.copy(), supplies.copy()
    rich[0] = plenty[0] = amount
    assert cleared(rich, supplies, values).certificate.worst <= 1e-8
    assert cleared(credits, plenty, values).certificate.worst <= 1e-8
