"""A solver's word decides nothing: its point is measured, whatever it calls it.

Nine reports as solvers have given them, each played by a stand-in that leaves the report's point
on the problem and says the report's word. Budgets are 0.4 and 1.6 and supplies 1, so that the
model's inside is its outside; prices 2/3 and 4/3 by hand (the second team is tied on both goods).
"""

import cvxpy as cp
import numpy as np
import pytest

import qmopt as qm

TOLERANCE = 1e-6
PRICES = np.array([2 / 3, 4 / 3])
UNITS = np.array([[0.6, 0], [0.4, 1]])


def market():
    return qm.Market([0.4, 1.6], [1, 1], qm.Linear([[2, 1], [1, 2]]))


# word, error of the allocation (None: no point), error of the prices (None: no duals), acceptable
REPORTS = {
    "unknown, but the point is fine": ("kUnknown", 0.0, 1.3e-7, True),
    "unknown, supply broken by 0.2%": ("kUnknown", 0.002, 1.3e-7, False),
    "out of time, no point": ("kTimeLimit", None, None, False),
    "out of time, a point without prices": ("kTimeLimit", 0.0, None, False),
    "no progress, but the point is fine": ("InsufficientProgress", 1e-9, 5e-9, True),
    "almost solved, off by 1e-4": ("AlmostSolved", 1e-4, 1e-4, False),
    "optimal, and far from it": ("optimal", 0.4, 1e-9, False),
    "unbounded, where it is infeasible": ("unbounded", None, None, False),
    "optimal, an empty problem": ("optimal", 0.0, None, False),
}
ACCEPTABLE = [name for name, report in REPORTS.items() if report[-1]]
REFUSED = [name for name in REPORTS if name not in ACCEPTABLE]
WORDS = sorted({word for word, *_ in REPORTS.values()})


def plays(monkeypatch, word, off_units, off_prices):
    """Have CVXPY come back with a report instead of solving anything."""

    def solve(problem, *arguments, **options):
        problem._status = word
        problem._solver_stats = cp.problems.problem.SolverStats("stand-in", num_iters=1)
        (levels,) = problem.variables()
        levels.save_value(None if off_units is None else UNITS.ravel() * (1 + off_units))
        (supply,) = problem.constraints
        supply.dual_variables[0].save_value(
            None if off_prices is None else PRICES * (1 + off_prices)
        )

    monkeypatch.setattr(cp.Problem, "solve", solve)


@pytest.fixture(params=["dual", "crossover"])
def crosses(request):
    return request.param == "crossover"


@pytest.mark.parametrize("name", ACCEPTABLE)
def test_what_holds_is_accepted_whatever_the_word(name, crosses, monkeypatch):
    word, off_units, off_prices, _ = REPORTS[name]
    plays(monkeypatch, word, off_units, off_prices)
    found = qm.clear(market(), qm.EisenbergGale(crossover=crosses), tolerance=TOLERANCE)
    assert found.certificate.certified(TOLERANCE)
    assert found.status == "certified"
    assert found.outcome.status == word
    np.testing.assert_allclose(found.prices, PRICES, rtol=TOLERANCE)


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_hold_is_refused_whatever_the_word(name, monkeypatch):
    word, off_units, off_prices, _ = REPORTS[name]
    plays(monkeypatch, word, off_units, off_prices)
    with pytest.raises((qm.NotCertified, qm.SolverFailed)) as refused:
        qm.clear(market(), qm.EisenbergGale(crossover=False), tolerance=TOLERANCE)
    if off_units is None or off_prices is None:
        assert refused.type is qm.SolverFailed
        assert word in str(refused.value) or "dual" in str(refused.value)
    else:
        assert refused.type is qm.NotCertified
        assert word in str(refused.value)
        assert not refused.value.certificate.certified(TOLERANCE)
        assert refused.value.outcome.status == word


@pytest.mark.parametrize("name", REFUSED)
def test_the_crossover_finds_its_way_and_is_measured_too(name, monkeypatch):
    """From a bad point, or from none, the answer counts by its own certificate."""
    word, off_units, off_prices, _ = REPORTS[name]
    plays(monkeypatch, word, off_units, off_prices)
    found = qm.clear(market(), qm.EisenbergGale(), tolerance=TOLERANCE)
    np.testing.assert_allclose(found.prices, PRICES, rtol=1e-12)
    if off_units is None or off_prices is None:
        assert any("crossover started from shares" in note for note in found.notes)


class Says:
    """A method of somebody else's: a point, and a word for it."""

    def __init__(self, word, prices, allocation):
        self.outcome = qm.Outcome(np.asarray(prices), np.asarray(allocation), word)

    def solve(self, market):
        return self.outcome


@pytest.mark.parametrize("word", [*WORDS, "", "infeasible"])
def test_no_word_makes_or_breaks_a_point(word):
    assert qm.clear(market(), Says(word, PRICES, UNITS)).outcome.status == word
    for prices, units in (
        (PRICES[::-1], UNITS),
        (-PRICES, UNITS),
        (PRICES / 2, UNITS),
        (PRICES, UNITS * 1.1),
        (PRICES, UNITS * 0.9),
        (PRICES, np.full((2, 2), 0.5)),
        (PRICES, np.zeros((2, 2))),
        ([np.nan, 4 / 3], UNITS),
        (PRICES, [[0.6, np.nan], [0.4, 1]]),
        ([np.inf, 4 / 3], UNITS),
    ):
        with pytest.raises(qm.NotCertified) as refused:
            qm.clear(market(), Says(word, prices, units), tolerance=1e-3)
        assert not refused.value.certificate.certified()


def test_a_point_of_the_wrong_shape_is_refused():
    with pytest.raises(qm.MarketError, match="shape"):
        qm.clear(market(), Says("optimal", [1, 2, 3], UNITS))
    with pytest.raises(qm.MarketError, match="shape"):
        qm.clear(market(), Says("optimal", PRICES, UNITS[:1]))


@pytest.mark.parametrize("number", [np.nan, np.inf, -1.0, 0.0, 1e300])
def test_a_point_of_nonsense(number):
    """The crossover finds its way from any point; without it, nonsense is refused."""

    class Nonsense(qm.Clarabel):
        """Leaves the same number everywhere, and no statistics."""

        def solve(self, problem):
            for variable in problem.variables():
                variable.save_value(np.full(variable.shape, number))
            for row in problem.constraints:
                row.dual_variables[0].save_value(np.full(row.shape, number))
            return "optimal"

    found = qm.clear(market(), qm.EisenbergGale(Nonsense()))
    np.testing.assert_allclose(found.prices, PRICES, rtol=1e-12)
    with pytest.raises(qm.NotCertified):
        qm.clear(market(), qm.EisenbergGale(Nonsense(), crossover=False))
