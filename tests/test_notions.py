"""What is no equilibrium is returned only where that was asked for, as what it is, and labelled."""

import numpy as np
import pytest

import qmopt as qm
from qmopt import generate
from qmopt.certificate import measure
from qmopt.notions import NOTIONS, accepted, holds, judged
from tests.worked_workloads import from_tables

#: Gives up on the curve at once, where the plain program is all there is.
LOST = qm.EffectiveBudgets(max_iterations=1)


@pytest.fixture(scope="module")
def market():
    """Scarce, with several workloads for most teams: what LOST finds is far from an equilibrium."""
    return generate.workloads(0, teams=8, goods=5, ratio=2)


def test_a_point_that_does_not_certify_is_not_returned(market):
    with pytest.raises(qm.NotCertified, match='accept="split" takes') as caught:
        qm.clear(market, LOST)
    error = caught.value
    assert error.outcome.status == "stopped"
    assert error.certificate.regret > 1e-3
    again = measure(market, error.outcome.prices, None, 1e-8, error.outcome.activities)
    assert error.certificate.residuals == again.residuals


def test_a_split_is_accepted_and_says_so(market):
    found = qm.clear(market, LOST, accept="split")
    assert found.status == "split"
    assert isinstance(found.method, qm.Split)
    assert NOTIONS["split"] in found.notes
    assert found.certificate.certified()
    # for its division of credits, and jointly it is none
    divided = found.outcome.divided
    levels = divided.levels(found.activities)
    assert measure(divided.market, found.prices, None, 1e-8, levels).certified(1e-8)
    whole = measure(market, found.prices, None, 1e-8, found.activities)
    assert whole.regret > 1e-3
    # no team gives more credits than it has, and none is served twice
    given = np.bincount(market.utility.team, divided.credits, market.n)
    assert (given <= market.budgets * (1 + 1e-12)).all()
    assert (found.spend <= market.budgets * (1 + 1e-12)).all()
    assert (market.utility.served(found.activities) <= market.utility.demand * (1 + 1e-12)).all()


def test_nash_welfare_is_accepted_and_says_so(market):
    found = qm.clear(market, LOST, accept="nash_welfare")
    assert found.status == "nash_welfare"
    assert isinstance(found.method, qm.NashWelfare)
    assert NOTIONS["nash_welfare"] in found.notes
    assert not found.certificate.certified()
    assert found.certificate.regret > 1e-3
    assert abs(found.certificate.gap) <= 1e-8
    seen = found.certificate.residuals
    rest = [abs(seen[name]) for name in seen if name not in ("regret", "thrift", "gap")]
    assert max(rest) <= 1e-8


@pytest.mark.parametrize("order", [("split", "nash_welfare"), ("nash_welfare", "split")])
def test_of_several_the_first(market, order):
    assert qm.clear(market, LOST, accept=order).status == order[0]
    assert qm.clear(market, LOST, accept=iter(order)).status == order[0]


@pytest.mark.parametrize(
    ("method", "notion"), [(qm.Split(), "split"), (qm.NashWelfare(), "nash_welfare")]
)
def test_what_was_found_counts_before_what_could_be(market, method, notion):
    """Its own method is not run again for it, nor is the other one first in the order."""
    for accept in (("split", "nash_welfare"), ("nash_welfare", "split")):
        found = qm.clear(market, method, accept=accept)
        assert found.status == notion
        assert found.method is method
        assert found.outcome.notion == notion
    with pytest.raises(qm.NotCertified, match=f'which accept="{notion}" takes'):
        qm.clear(market, method)


def test_the_other_one_is_tried_where_only_it_is_accepted(market):
    assert qm.clear(market, qm.NashWelfare(), accept="split").status == "split"
    assert qm.clear(market, qm.Split(), accept="nash_welfare").status == "nash_welfare"


def test_a_split_that_is_jointly_an_equilibrium_is_certified():
    """A quarter of a credit for the quarter of x that a wants, as at the equilibrium."""
    market = from_tables()
    for method in (qm.Split(credits=[0.25, 0.75, 1]), qm.EffectiveBudgets()):
        found = qm.clear(market, method, accept="split", tolerance=1e-12)
        assert found.status == "certified"
        assert found.method == method
        assert not set(NOTIONS.values()) & set(found.notes)
    # with half for it, what is left over is kept: only a split, as far as x is concerned
    assert qm.clear(market, qm.Split(credits=[0.5, 0.5, 1]), accept="split").status == "split"


def test_names_of_notions():
    assert accepted(()) == ()
    assert accepted("nash_welfare") == ("nash_welfare",)
    for wrong in ("equilibrium", "Split", ["split", "nash"], [3], ""):
        with pytest.raises(qm.MarketError, match="accept: 'split' or 'nash_welfare' expected"):
            qm.clear(from_tables(), accept=wrong)


@pytest.mark.parametrize("accept", ["split", "nash_welfare", ("split", "nash_welfare")])
def test_elsewhere_nothing_is_changed(accept):
    """Linear utilities have neither; what does not certify is not returned there either."""
    linear = generate.uniform(20, 10, 0)
    plain, same = qm.clear(linear), qm.clear(linear, accept=accept)
    assert same.status == "certified"
    assert same.method == plain.method
    assert (same.prices == plain.prices).all()
    assert (same.allocation == plain.allocation).all()
    assert same.notes == plain.notes
    with pytest.raises(qm.NotCertified):
        qm.clear(linear, qm.InteriorPoint(crossover=False, max_iterations=2), accept=accept)


def test_a_claim_is_measured_as_what_it_claims(market):
    """A split's prices with half of its levels, and Nash welfare's with too many, do not hold."""
    split = qm.Split().solve(market)
    assert holds("split", judged(market, split, 1e-8))
    welfare = qm.NashWelfare().solve(market)
    assert holds("nash_welfare", judged(market, welfare, 1e-8))
    for notion, found in (("split", split), ("nash_welfare", welfare)):
        for factor in (0.5, 1.01):
            wrong = qm.Outcome(
                found.prices, None, "by hand", activities=factor * found.activities,
                notion=notion, divided=found.divided,
            )  # fmt: skip
            assert not holds(notion, judged(market, wrong, 1e-8))
        dear = qm.Outcome(
            1.01 * found.prices, None, "by hand", activities=found.activities,
            notion=notion, divided=found.divided,
        )  # fmt: skip
        assert not holds(notion, judged(market, dear, 1e-8))


@pytest.mark.parametrize("given", [None, 1, True, b"split", ["splt"], [None]])
def test_what_is_no_notion_is_refused(given):
    with pytest.raises(qm.MarketError, match="accept: 'split' or 'nash_welfare' expected"):
        qm.clear(jobs(), accept=given)


def test_notes_say_what_was_tried_first():
    """Nobody's method is replaced in silence."""
    found = qm.clear(jobs(), qm.NashWelfare(), accept="split")
    assert found.status == "split"
    assert any("found by NashWelfare" in note for note in found.notes)


def test_what_was_accepted_is_not_advised_again():
    with pytest.raises(qm.NotCertified) as raised:
        qm.clear(jobs(), qm.Split(time_limit=1e-9), accept="split")
    assert "accept=" not in str(raised.value)


@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_a_job_that_its_limit_keeps_out_leaves_its_credits_to_the_others(limit):
    """It takes none at about 1 a chip; of 8 credits all but its equal part, 0.1, buy 8 chips."""
    found = qm.clear(jobs(limit), qm.Split(), accept="split")
    assert found.activities[0] <= 1e-9
    assert found.unspent[0] <= 0.11
    assert found.prices == pytest.approx([0.9875, 0.9875])


def jobs(limit=np.inf):
    """A job of at most one chip, worth 2, and work without end; 4 credits and 4 chips each."""
    utility = qm.Workloads(
        [0, 0, 1], [1, np.inf, np.inf], [0, 1, 2, 2], [[1, 0], [0, 1], [1, 0], [0, 1]],
        [2, 1, 1, 1], limit_prices=[limit, np.inf, np.inf],
    )  # fmt: skip
    return qm.Market([4, 4], [4, 4], utility)


def test_a_workload_without_a_bid_is_named():
    utility = qm.Workloads([0, 0], [1, 8], [0], [[1]], [2], names=["train", "evaluate"])
    found = qm.clear(qm.Market([3], [2], utility, buyers=["vision"]))
    assert "no bid of worth for workload evaluate of team vision" in found.notes


def test_the_best_outcome_is_attached_and_no_worse_than_a_split():
    """One system of equations leads nowhere, so that what a split finds is nearer."""
    market = generate.workloads(3)
    with pytest.raises(qm.NotCertified) as raised:
        qm.clear(market, qm.EffectiveBudgets(max_iterations=1))
    split = qm.Split().solve(market)
    worst = measure(market, split.prices, None, 1e-8, split.activities).worst
    assert raised.value.certificate.worst <= worst
    assert raised.value.outcome.notion == "equilibrium"


def test_no_credits_go_where_there_are_no_chips():
    """The better option takes a good without supply, so all 4 credits buy the 2 of the other."""
    utility = qm.Workloads([0], [8], [0, 0], [[1, 0], [0, 1]], [1, 9])
    market = qm.Market([4], [2, 0], utility, reserves=[1, 0])
    found = qm.clear(market, qm.Split(), accept="split")
    np.testing.assert_allclose(found.allocation, [[2, 0]])
    assert found.prices[0] == pytest.approx(2)
