"""Exact equilibria: numbers from paper, and the brute-force oracle, from any start."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qmopt as qm
from qmopt import generate
from qmopt.methods.rational import rational_crossover


def exactly(*texts):
    return tuple(map(Fraction, texts))


def triples(found):
    return [(i, j, str(units)) for i, j, units in found.exact.allocation]


# four teams, five goods (`denizalp/Fisher-market`, its README; prices worked by hand in the model)
FOUR_BY_FIVE = qm.Market(
    [20, 23, 54, 12],
    [1, 2, 6, 4, 3],
    qm.Linear([[1, 3, 5, 1, 2], [2, 5, 6, 2, 6], [6, 3, 5, 1, 4], [3, 3, 4, 2, 6]]),
)


def test_four_by_five():
    found = qm.clear(FOUR_BY_FIVE, exact=True).exact
    assert found.prices == exactly("109/10", "109/18", "109/12", "109/45", "109/15")
    assert found.utilities == exactly("1200/109", "2070/109", "3240/109", "1080/109")
    assert found.certificate.proved


def test_mirrored_tastes():
    found = qm.clear(qm.Market([1, 1], [1, 1, 1], qm.Linear([[1, 2, 3], [3, 2, 1]])), exact=True)
    assert found.exact.prices == exactly("3/4", "1/2", "3/4")
    assert found.exact.utilities == (4, 4)
    assert triples(found) == [(0, 1, "1/2"), (0, 2, "1"), (1, 0, "1"), (1, 1, "1/2")]


# one step changes one number of the last; the answers are worked out beside each
STEPS = [
    # the second team is tied, so p2 = 2 p1, and p1 + p2 = 30
    (6, "1", [[2, 1], [1, 2]], ["10", "20"], [(0, 0, "3/5"), (1, 0, "2/5"), (1, 1, "1")]),
    # now the first team is: p1 = 2 p2, p1 + p2 = 84; it pays 56 and 4
    (60, "1", [[2, 1], [1, 2]], ["56", "28"], [(0, 0, "1"), (0, 1, "1/7"), (1, 1, "6/7")]),
    (6, "1", [[2, 1], [1, 2]], ["10", "20"], [(0, 0, "3/5"), (1, 0, "2/5"), (1, 1, "1")]),
    # p2 = 2 p1, 4/5 p1 + p2 = 30
    (6, "0.8", [[2, 1], [1, 2]], ["75/7", "150/7"], [(0, 0, "14/25"), (1, 0, "6/25"), (1, 1, "1")]),
    # the first team wants the second good, at 8/20 > 2/10 per credit
    (6, "1", [[2, 8], [1, 2]], ["10", "20"], [(0, 1, "3/10"), (1, 0, "1"), (1, 1, "7/10")]),
]


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_five_steps(step, tmp_path):
    budget, supply, values, prices, allocation = STEPS[step]
    rows = [f"{'xy'[i]},{'ab'[j]},{values[i][j]}" for i in range(2) for j in range(2)]
    tables = {
        "resources": ["resource,supply", f"a,{supply}", "b,1"],
        "teams": ["team,credits", f"x,{budget}", "y,24"],
        "bids": ["team,resource,value", *rows],
    }
    for name, lines in tables.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    found = qm.clear(qm.read_market(tmp_path, exact=True), exact=True)
    assert found.exact.prices == exactly(*prices)
    assert triples(found) == allocation


@st.composite
def small_markets(draw):
    """2 x 2 or 2 x 3 (either way round), whole numbers with ties, everybody of use."""
    n, m = draw(st.sampled_from([(2, 2), (2, 3), (3, 2)]))

    def several(low, high, count):
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    values = [several(0, 3, m) for _ in range(n)]
    for k in range(max(n, m)):
        values[k % n][k % m] += not any(values[k % n])
        values[k % n][k % m] += not any(row[k % m] for row in values)
    keep = several(0, 3, n) if draw(st.booleans()) else None
    reserves = several(0, 4, m) if draw(st.booleans()) else None
    return several(1, 9, n), several(1, 4, m), values, keep, reserves


@given(small_markets(), st.integers(0, 99))
def test_the_oracle_from_any_start(exact_prices, numbers, seed):
    budgets, supplies, values, keep, reserves = numbers
    market = qm.Market(budgets, supplies, qm.Linear(values), keep_values=keep, reserves=reserves)
    prices = tuple(exact_prices(*numbers))
    assert qm.clear(market, exact=True).exact.prices == prices
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(market.n, 0.3), market.m).T
    for patience in (None, 0, 1):
        found = rational_crossover(
            market, rng.random(market.m), shares, patience=patience, floats_first=False
        )
        assert found.prices == prices
        assert qm.certify_exact(market, found.prices, found.allocation).proved


STARTS = {
    "equal shares": lambda market, rng: np.ones(market.shape),
    "one each": lambda market, rng: np.eye(*market.shape),
    "nothing": lambda market, rng: np.zeros(market.shape),
    "nonsense": lambda market, rng: np.where(rng.random(market.shape) < 0.5, np.nan, np.inf),
}
#: Ties everywhere, and markets whose equilibria leave pairs of the forest without a credit.
TIED = {
    "integer": generate.integer(14, 9, 1),
    "few ratios": generate.tied(15, 8, 2, spread=2),
    "reserves": generate.tied(12, 8, 3, reserves=True),
    "all alike": qm.Market(np.ones(9), np.ones(7), qm.Linear(np.ones((9, 7)))),
    "all alike, square": qm.Market(np.ones(8), np.ones(8), qm.Linear(np.ones((8, 8)))),
    "blocks": qm.Market([2, 2, 2, 2], [1, 1, 1, 1], qm.Linear(np.kron(np.eye(2), np.ones((2, 2))))),
    "kept credits": qm.Market(
        [3, 3, 3, 1], [1, 1, 1], qm.Linear(np.ones((4, 3))), keep_values=[0.5, 0.5, 0, 1]
    ),
}


@pytest.mark.parametrize("patience", [None, 0], ids=["as they are", "perturbed at once"])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", TIED)
def test_ties_end(name, start, patience):
    market, rng = TIED[name], np.random.default_rng(0)
    found = rational_crossover(
        market,
        np.ones(market.m),
        STARTS[start](market, rng),
        patience=patience,
        floats_first=False,
    )
    assert qm.certify_exact(market, found.prices, found.allocation).proved
    assert len(found.allocation) <= market.n + market.m - 1
    assert found.prices == qm.clear(market, exact=True).exact.prices


def test_budgets_in_general_position_are_really_tried(monkeypatch):
    from qmopt.methods import rational

    tried = []
    perturbed = rational.perturbed
    monkeypatch.setattr(
        rational, "perturbed", lambda *a: tried.append(1) or perturbed(*a), raising=True
    )
    market = TIED["integer"]
    start = np.ones(market.m), np.ones(market.shape)
    found = rational_crossover(market, *start, patience=0, floats_first=False)
    assert tried
    assert qm.certify_exact(market, found.prices, found.allocation).proved


@pytest.mark.parametrize("seed", range(0, 60, 7))
def test_random_markets(seed):
    market = generate.market(seed)
    found = qm.clear(market, exact=True)
    assert found.exact.certificate.proved
    assert found.exact.utilities[0].denominator > 0
    np.testing.assert_allclose(
        [float(u) for u in found.exact.utilities], found.utilities, rtol=1e-12
    )
    again = qm.clear(market)
    np.testing.assert_allclose(found.prices, again.prices, rtol=1e-9)


def test_what_floats_cannot_tell():
    # the second team values good 1 more by the last bit, and has as much more credit: it buys good
    # 1 and pays all it has, 1 + e; at those prices the first team would rather have good 0
    e = Fraction(1, 2**52)
    market = qm.Market([1, 1 + 2**-52], [1, 1], qm.Linear([[1, 1], [1, 1 + 2**-52]]))
    found = qm.clear(market, exact=True).exact
    assert found.prices == (1, 1 + e)
    assert found.allocation == [(0, 0, 1), (1, 1, 1)]


def test_a_crumb_beside_a_mountain():
    # prices are equal since the first team is tied, and add up to all credits, 10**22 + 1; the
    # second team, which wants good 1 only, gets what one credit buys of it
    market = qm.Market([1e22, 1], [1, 1], qm.Linear([[1, 1], [0, 1]]))
    found = qm.clear(market, exact=True).exact
    half = Fraction(10**22 + 1, 2)
    assert found.prices == (half, half)
    assert found.allocation == [(0, 0, 1), (0, 1, 1 - 1 / half), (1, 1, 1 / half)]


def test_kept_credits_and_reserves():
    # the first keeps 96 since a chip brings as much per credit at 4; the second pays the reserve
    # of 2 for 3 of 5 chips
    market = qm.Market(
        [100, 6], [1, 5], qm.Linear([[4, 0], [0, 3]]), keep_values=[1, 0], reserves=[0, 2]
    )
    found = qm.clear(market, exact=True)
    assert found.exact.prices == (4, 2)
    assert found.exact.utilities == (100, 9)
    assert triples(found) == [(0, 0, "1"), (1, 1, "3")]


def test_who_takes_no_part():
    market = qm.Market(
        [6, 0, 5], [3, 2, 0, 1], qm.Linear([[1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 2, 0]]),
        reserves=[0, 7, 0, 0],
    )  # fmt: skip
    found = qm.clear(market, exact=True)
    assert found.exact.prices == (2, 7, None, 0)
    assert found.exact.utilities == (3, 0, 0)
    assert np.isnan(found.prices[2])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_arrays_are_the_nearest_doubles(sparse):
    values = generate.sparse(30, 10, 4).utility.values
    market = qm.Market(
        np.ones(30), np.full(10, 3), qm.Linear(values if sparse else values.todense())
    )
    found = qm.clear(market, exact=True)
    dense = found.allocation.toarray() if sparse else found.allocation
    for j, price in enumerate(found.exact.prices):
        assert found.prices[j] == float(price)
    for i, j, units in found.exact.allocation:
        assert dense[i, j] == float(units)
    assert np.count_nonzero(dense) == len(found.exact.allocation)
    assert found.certificate.certified(1e-12)


def test_copies():
    found = qm.clear(generate.copies(50), exact=True).exact
    assert found.prices == tuple(10 * k * part for k in range(1, 51) for part in (1, 2))
    assert found.utilities[:2] == exactly("6/5", "12/5")


def test_the_method_does_not_matter():
    market = generate.integer(20, 12, 5, reserves=True)
    prices = [
        qm.clear(market, method, exact=True).exact.prices
        for method in (qm.Pivoting(), qm.InteriorPoint(), qm.EisenbergGale())
    ]
    assert prices[0] == prices[1] == prices[2]


def test_the_ends_of_floats():
    market = qm.Market([2, 1], [1e300, 1e-300], qm.Linear([[1, 0], [0, 1]]))
    found = qm.clear(market, exact=True).exact
    assert found.prices == (2 / Fraction(1e300), 1 / Fraction(1e-300))
    with pytest.raises(qm.NotCertified, match="too large for a double"):
        qm.clear(qm.Market([1e300], [1e-300], qm.Linear([[1]])), exact=True)
    # the second team's utility per credit, 1e-600, is beyond doubles, and this is said
    with pytest.raises(qm.NotCertified, match="proved in rationals, but in doubles"):
        qm.clear(market.replace(utility=qm.Linear([[1, 0], [0, 1e-300]])), exact=True)


def test_what_it_does_not_do():
    market = FOUR_BY_FIVE
    with pytest.raises(qm.MarketError, match="near: an exact answer does not choose"):
        qm.clear(market, near=np.zeros(market.shape), exact=True)
    with pytest.raises(qm.MarketError, match="buyer 0: utility caps"):
        qm.clear(market.replace(utility_caps=[1, np.inf, 2, 3]), exact=True)
    start = np.ones(5), np.ones((4, 5))
    assert rational_crossover(market, *start, time_limit=-1, floats_first=False) is None


class Says:
    """A method that says what it is told to."""

    def __init__(self, prices, allocation):
        self.outcome = qm.Outcome(prices, allocation, "optimal")

    def solve(self, market):
        return self.outcome


def test_any_point_will_do_but_not_any_shape():
    market = FOUR_BY_FIVE
    right = exactly("109/10", "109/18", "109/12", "109/45", "109/15")
    for number in (np.nan, np.inf, -1.0, 0.0, 1e300):
        method = Says(np.full(5, number), np.full((4, 5), number))
        assert qm.clear(market, method, exact=True).exact.prices == right
    with pytest.raises(qm.MarketError, match=r"returned prices: shape \(5,\) expected"):
        qm.clear(market, Says(np.ones(4), np.ones((4, 5))), exact=True)


def test_a_time_limit_holds_for_the_rationals():
    with pytest.raises(qm.NotCertified, match="time ran out"):
        qm.clear(generate.integer(20, 20), qm.Pivoting(time_limit=1e-9), exact=True)
