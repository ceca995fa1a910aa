"""Linear programs in boxes of prices: hand-worked markets, gaps measured, peers."""

import ast
import inspect
from fractions import Fraction

import numpy as np
import pytest

import qmopt as qm
from qmopt import generate
from qmopt.methods import (
    lp,
    lp_alike,
    lp_box,
    lp_levels,
    lp_options,
    lp_scaled,
    lp_search,
    lp_segments,
    lp_units,
)  # fmt: skip

ALONE = qm.LinearProgramming(crossover=False)


class Other(qm.Utility):
    """Some other family of one buyer and one good; only its shape is asked for."""

    shape = (1, 1)

    def usable(self, goods):
        return np.ones(1, dtype=bool)

    def wanted(self, buyers):
        return np.ones(1, dtype=bool)

    def value(self, allocation): ...
    def unit_cost(self, prices): ...
    def best(self, prices, budgets): ...
    def excess_cost(self, prices, allocation): ...
    def expression(self, levels): ...
    def activities(self): ...
    def levels(self, allocation): ...
    def take(self, buyers, goods): ...


def measured(market, method=ALONE):
    """Prices, and the certificate of what the linear programs reach alone."""
    outcome = method.solve(market)
    return outcome, qm.certify(market, outcome.prices, outcome.allocation)


# Each worked by hand: budgets, supplies, values, kept credits' worth, reserves, prices.
BY_HAND = {
    # 30 credits for both goods; team 1 is tied, so that good 1 costs twice good 0
    "two teams": ([6, 24], [1, 1], [[2, 1], [1, 2]], None, None, [10, 20]),
    # 8 credits buy 4 of 8 units at the reserve of 2
    "a reserve that binds": ([8], [8], [[5]], None, [2], [2]),
    # the reserve on good 0 binds (6 credits, 3 of 4 units); good 1 takes all of team 1
    "one of two reserves": ([6, 5], [4, 5], [[1, 0], [0, 1]], None, [2, 0.5], [2, 1]),
    # a chip is worth 1 credit at most: 4 are spent, 6 kept
    "kept credits": ([10], [4], [[3]], [3], None, [1]),
    # team 1 keeps 8 of its 10 at price 1/2 of good 1; team 0 cannot
    "one who keeps": ([3, 10], [1, 4], [[1, 0], [0, 1]], [0, 2], None, [3, 0.5]),
    # team 0 would pay 1 at most, the reserve is 2: it keeps all; team 1 pays 2 for 3 of 5 units
    "kept for the reserve": ([7, 6], [5], [[1], [1]], [1, 0], [2], [2]),
}


@pytest.mark.parametrize("case", BY_HAND.values(), ids=BY_HAND)
def test_worked_by_hand(case, exact_prices):
    budgets, supplies, values, keep, reserves, prices = case
    rational = [None if a is None else [Fraction(x) for x in a] for a in (keep, reserves)]
    assert exact_prices(budgets, supplies, values, *rational) == prices
    market = qm.Market(budgets, supplies, qm.Linear(values), keep_values=keep, reserves=reserves)
    outcome, certificate = measured(market)
    np.testing.assert_allclose(outcome.prices, prices, rtol=1e-3)
    assert certificate.gap <= 1e-9
    assert certificate.overallocated <= 1e-12
    found = qm.clear(market, qm.LinearProgramming(), tolerance=1e-12)
    np.testing.assert_allclose(found.prices, prices, rtol=1e-14)


def test_sixty_awkward_markets():
    """Gap alone, and the prices of the pivoting method after the crossover."""
    wrong = []
    for seed in range(60):
        market = generate.market(seed)
        outcome, certificate = measured(market)
        if not certificate.gap <= 1e-8:
            wrong.append((seed, market.title, outcome.stats["gap"], certificate.gap))
        found = qm.clear(market, qm.LinearProgramming(), tolerance=1e-9)
        peer = qm.clear(market, qm.Pivoting(), tolerance=1e-9)
        if not np.allclose(found.prices, peer.prices, rtol=1e-9, atol=0, equal_nan=True):
            wrong.append((seed, market.title, found.prices / peer.prices - 1))
    assert wrong == []


@pytest.mark.slow
def test_two_thousand_awkward_markets():
    """Every one is answered, to a gap of 1e-8 alone and certified at 1e-9 after the crossover."""
    wrong = []
    for seed in range(2000):
        market = generate.market(seed)
        try:
            _, certificate = measured(market)
            qm.clear(market, qm.LinearProgramming(), tolerance=1e-9)
        except qm.QmoptError as error:
            wrong.append((seed, market.title, str(error)))
        else:
            if not certificate.gap <= 1e-8:
                wrong.append((seed, market.title, certificate.gap))
    assert wrong == []


@pytest.mark.parametrize(
    "market",
    [
        generate.lognormal(400, 30), generate.uniform(400, 30), generate.uniform(30, 400),
        generate.sparse(2000, 200), generate.tied(200, 20),
        generate.lognormal(300, 20, spread=6, reserves=True),
    ],
    ids=lambda market: market.title,
)  # fmt: skip
def test_the_gap_it_claims_is_the_gap_measured(market):
    outcome, certificate = measured(market)
    assert outcome.status == "optimal"
    assert certificate.gap <= 1e-9
    assert outcome.stats["gap"] == pytest.approx(certificate.gap, abs=1e-11)
    assert certificate.overallocated <= 1e-11
    crossed = qm.LinearProgramming().solve(market)
    assert crossed.stats["gap"] == outcome.stats["gap"]  # its own, not that of the crossover
    assert qm.certify(market, crossed.prices, crossed.allocation).worst <= 1e-9


def test_columns_are_generated(monkeypatch):
    """Started with one option for each buyer and good it finds the others."""
    market = generate.uniform(200, 20)
    generous = ALONE.solve(market)
    monkeypatch.setattr(lp_box, "FEW", 1)
    outcome, certificate = measured(market)
    assert certificate.gap <= 1e-9
    assert outcome.stats["columns"] < generous.stats["columns"]
    assert outcome.stats["solves"] > outcome.stats["iterations"]


def test_the_box_shrinks_while_too_much_is_in_it(monkeypatch):
    monkeypatch.setattr(lp_search, "MOST_OPTIONS", 100)
    outcome, certificate = measured(generate.uniform(200, 20))
    assert certificate.gap <= 1e-9
    assert outcome.stats["columns"] <= 100 + 200


def test_ties_do_not_hold_it_up(monkeypatch):
    """Where everything is tied no box is small enough, and there is no need of one."""
    monkeypatch.setattr(lp_search, "MOST_OPTIONS", 1)
    market = qm.Market(np.arange(1, 31), np.ones(10), qm.Linear(np.ones((30, 10))))
    outcome, certificate = measured(market)
    assert certificate.gap <= 1e-9
    np.testing.assert_allclose(outcome.prices, 46.5, rtol=1e-3)  # 465 credits, 10 equal goods


def test_values_are_worked_on_in_chunks(monkeypatch):
    market = generate.uniform(50, 7)
    whole = ALONE.solve(market)
    monkeypatch.setattr(lp_options, "CHUNK", 30)
    parts = ALONE.solve(market)
    np.testing.assert_allclose(parts.prices, whole.prices, rtol=1e-9)


def test_time_and_programs_run_out_and_it_is_said():
    market = generate.uniform(200, 40)
    one = qm.LinearProgramming(crossover=False, max_iterations=1).solve(market)
    assert (one.status, one.stats["iterations"]) == ("stopped", 1)
    outcome, certificate = measured(market, qm.LinearProgramming(crossover=False, time_limit=0))
    assert (outcome.status, outcome.stats["iterations"]) == ("stopped", 0)
    assert np.isfinite(outcome.prices).all()
    assert certificate.overspend < np.inf
    with pytest.raises(qm.NotCertified, match="ran out"):
        qm.clear(market, qm.LinearProgramming(time_limit=0))


def test_a_gap_out_of_reach_ends_the_search():
    outcome, certificate = measured(
        generate.uniform(40, 10), qm.LinearProgramming(tolerance=1e-300, crossover=False)
    )
    assert outcome.status in ("stalled", "optimal", "stopped")
    assert certificate.gap <= 1e-10


def test_a_solver_that_fails_leaves_what_there_is(monkeypatch):
    def fails(*_):
        raise qm.SolverFailed("HiGHS says 'Error'")

    monkeypatch.setattr(lp_search, "solve_box", fails)
    outcome = ALONE.solve(generate.uniform(20, 5))
    assert outcome.status == "stopped: HiGHS says 'Error'"
    found = qm.clear(generate.uniform(20, 5), qm.LinearProgramming())  # the crossover does it all
    assert found.certificate.worst <= 1e-9


def test_what_it_does_not_cover_is_told():
    with pytest.raises(qm.MarketError, match="linear utilities or bundles"):
        ALONE.solve(qm.Market([1], [1], Other()))


def test_it_stands_alone():
    """None of its files knows another method; the crossover is a choice."""
    own = (lp, lp_alike, lp_box, lp_levels, lp_options, lp_scaled, lp_search, lp_segments, lp_units)
    known = {module.__name__ for module in own} | {"qmopt.methods.outcome"}
    for module in own:  # lp_crossing and lowest are the crossover
        tree = ast.parse(inspect.getsource(module))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        methods = {name for name in imported if name and name.startswith("qmopt.methods.")}
        crossover = {"qmopt.methods.lp_crossing", "qmopt.methods.lowest"}
        assert methods <= (known | crossover if module is lp else known)
