"""The limits of exact answers: of time, of digits, and of doubles."""

from fractions import Fraction

import numpy as np
import pytest

import qmopt as qm
from qmopt import generate
from qmopt.deadline import hold
from qmopt.methods.rational_forest import Settled
from qmopt.proving import prove
from tests.methods.test_rational import Says


class Clock:
    """A clock that is at 0 until it has been looked at so many times."""

    def __init__(self, looks):
        self.looks = looks

    def monotonic(self):
        self.looks -= 1
        return 0.0 if self.looks >= 0 else np.inf


def test_time_may_run_out_anywhere(monkeypatch):
    """Whenever it does, that is what is said; and every loop over buyers looks at the clock."""
    market = generate.integer(20, 4)
    outcome = qm.Pivoting().solve(market)
    many, said = 10**6, []
    clock = Clock(many)
    monkeypatch.setattr("qmopt.deadline.time", clock)
    whole = prove(market, outcome, 1e9)
    needed = many - clock.looks
    # numbers twice, the forest, flows, prices, budgets, units; the proof and the utilities
    assert needed > 12 * market.n
    for looks in range(0, needed, 7):
        clock.looks = looks
        with pytest.raises(qm.NotCertified, match=r"time_limit left 1000000000\.0 s") as refused:
            prove(market, outcome, 1e9)
        assert refused.value.outcome is outcome
        said.append(str(refused.value).rsplit(" ", 1)[-1])
    assert set(said) == {"found", "proved"}
    clock.looks = needed
    assert prove(market, outcome, 1e9) == whole


def test_the_limit_is_kept_with_thousands_of_buyers():
    """From a point this rough the exact answer takes many times as long."""
    rng = np.random.default_rng(3)
    market = qm.Market(
        rng.integers(1, 100, 5000), np.full(50, 4000.0), qm.Linear(rng.random((5000, 50)))
    )
    rough = Says(np.ones(50), np.zeros((5000, 50)))
    rough.time_limit = 0.2
    with pytest.raises(qm.NotCertified, match=r"ran out in the exact step: .* left 0\.2 s"):
        hold(lambda: qm.clear(market, rough, exact=True), 120)


def test_buyers_of_one_good_keep_numbers_short(monkeypatch):
    """Each value has a factor of its own; those of at most 2 buyers get into all levels."""
    settled, units = [], Settled.units
    monkeypatch.setattr(Settled, "units", lambda self: settled.append(self) or units(self))
    market = generate.uniform(400, 3, 0)
    assert qm.clear(market, exact=True).exact.certificate.proved
    # a level is a product of 4 ratios of 53 bits, or brought to their denominator; not of 400
    assert max(level.bit_length() for level in settled[0].level) < 20 * 53
    assert sum(settled[0].leaf) >= 398


def test_what_is_proved_is_not_lost_where_doubles_fail():
    """Kept credits at 1e300 each: their last bit is more than all else."""
    market = qm.Market([6], [5], qm.Linear([[3]]), keep_values=[1e300])
    with pytest.raises(qm.NotCertified, match="proved in rationals, but in doubles") as refused:
        qm.clear(market, exact=True)
    exact = refused.value.exact
    assert exact.prices == (3 / Fraction(1e300),)
    assert exact.allocation == [(0, 0, 5)]
    assert exact.utilities == (6 * Fraction(1e300),)
    assert qm.certify_exact(market, exact.prices, exact.allocation).proved


def test_what_is_too_large_for_doubles_is_not_lost():
    market = qm.Market([1e300, 1], [1e-300, 1], qm.Linear([[1, 0], [0, 1]]))
    with pytest.raises(qm.NotCertified, match="too large for a double") as refused:
        qm.clear(market, exact=True)
    assert refused.value.exact.prices == (Fraction(1e300) / Fraction(1e-300), 1)
