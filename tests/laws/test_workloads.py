"""What must not matter to workloads: units, order, who takes no part, and how they are cut up.

Equilibria need not be unique, so that two answers cannot be compared. Instead an answer, put into
the other market's clothes, has to certify there; and what a method finds there has to certify here
once it is undressed. A split is dressed with the market in which it certifies, the divided one.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import qmopt as qm
from tests.laws.law import SEED
from tests.laws.workloads import Answer, Jobs, answer, certifies, jobs, tuples

#: Drawn markets of which an answer is dressed, and of which one is found again, quick and thorough.
DRESSED, FOUND, MANY = 100, 10, 150
METHODS = [qm.EffectiveBudgets(), qm.Split()]


@dataclass(frozen=True)
class Guise:
    """The same market in other clothes, with prices there by those here, and levels both ways.

    ``dress`` (K there, K here) makes levels there of levels here, ``undress`` the other way round;
    goods there that are not here come last, at price 0 (nan where there are none of them).
    """

    jobs: Jobs
    dress: np.ndarray
    undress: np.ndarray
    price: np.ndarray
    more: tuple = ()

    def dressed(self, found):
        prices = np.append(found.prices * self.price, self.more)
        return Answer(self.jobs, prices, self.dress @ found.levels)

    def undressed(self, found, numbers):
        prices = found.prices[: len(self.price)] / self.price
        return Answer(numbers, prices, self.undress @ found.levels)


def array(numbers):
    return np.array(numbers, dtype=float)


def guise(numbers, dress=None, undress=None, price=1.0, more=(), **arrays):
    """Numbers with some of them replaced; levels and prices are the same where nothing is said."""
    same = np.eye(len(numbers.workload))
    other = replace(numbers, **{name: tuples(numbers_) for name, numbers_ in arrays.items()})
    dress = same if dress is None else dress
    undress = np.linalg.pinv(dress) if undress is None else undress
    return Guise(other, dress, undress, price * np.ones(len(numbers.supplies)), more)


def powers(rng, count):
    """Factors from 1/16 to 16, exact in floating point."""
    return 2.0 ** rng.integers(-4, 5, count)


# ---- units


def credits(numbers, rng):
    """Prices and reserves go with credits, what a kept one is worth against them."""
    [factor] = powers(rng, 1)
    return guise(
        numbers, price=factor, budgets=factor * array(numbers.budgets),
        reserves=factor * array(numbers.reserves), keeps=array(numbers.keeps) / factor,
    )  # fmt: skip


def goods(numbers, rng):
    """Chips, nodes or racks: twice as many at part the price."""
    factor = powers(rng, len(numbers.supplies))
    return guise(
        numbers, price=1 / factor, supplies=factor * array(numbers.supplies),
        reserves=array(numbers.reserves) / factor, needs=array(numbers.needs) * factor,
    )  # fmt: skip


def demands(numbers, rng):
    """Runs, or thousands of steps: more of them are wanted and served, each worth less."""
    factor = powers(rng, len(numbers.demand))
    of = factor[list(numbers.workload)]
    return guise(
        numbers, demand=factor * array(numbers.demand), rates=of * array(numbers.rates),
        values=array(numbers.values) / of,
    )  # fmt: skip


def options(numbers, rng):
    """A unit of an option may be one chip or a node of eight, which serves eight times as much."""
    factor = powers(rng, len(numbers.workload))
    return guise(
        numbers, dress=np.diag(1 / factor), needs=array(numbers.needs) * factor[:, None],
        rates=array(numbers.rates) * factor,
    )  # fmt: skip


def values(numbers, rng):
    """Each team counts value, and with it what kept credits are worth, as it likes."""
    factor = powers(rng, len(numbers.budgets))
    of = factor[array(numbers.team)[list(numbers.workload)].astype(int)]
    return guise(numbers, values=of * array(numbers.values), keeps=factor * array(numbers.keeps))


# ---- order, and what is beside it


def order(numbers, rng):
    """Teams, workloads and options come in another order."""
    teams, jobs_, ways = (
        rng.permutation(len(part)) for part in (numbers.budgets, numbers.demand, numbers.workload)
    )
    new_team, new_job = np.argsort(teams), np.argsort(jobs_)
    return guise(
        numbers, dress=np.eye(len(ways))[ways],
        budgets=array(numbers.budgets)[teams], keeps=array(numbers.keeps)[teams],
        team=new_team[np.array(numbers.team)[jobs_]], demand=array(numbers.demand)[jobs_],
        workload=new_job[np.array(numbers.workload)[ways]], needs=array(numbers.needs)[ways],
        values=array(numbers.values)[ways], rates=array(numbers.rates)[ways],
    )  # fmt: skip


def bystanders(numbers, rng):
    """A good that nobody needs, one that is not there with an option on it, a workload that wants
    nothing, and a team without credits.

    Nothing is changed by them, whatever the numbers that stand beside.
    """
    count, m, width = len(numbers.workload), len(numbers.supplies), len(numbers.demand)
    some = int(rng.integers(count))
    needs = np.hstack([array(numbers.needs), np.zeros((count, 2))])
    other, gone = needs[some].copy(), np.zeros(m + 2)
    gone[m + 1] = 1
    dress = np.vstack([np.eye(count), np.zeros((3, count))])
    return guise(
        numbers, dress=dress, undress=dress.T, more=(0, np.nan),
        budgets=(*numbers.budgets, 0), keeps=(*numbers.keeps, 2),
        supplies=(*numbers.supplies, 5, 0), reserves=(*numbers.reserves, 0, 1),
        team=(*numbers.team, numbers.team[numbers.workload[some]], len(numbers.budgets)),
        demand=(*numbers.demand, 0, 3),
        workload=(*numbers.workload, numbers.workload[some], width, width + 1),
        needs=np.vstack([needs, gone, other, other]),
        values=(*numbers.values, 9, 9, 9), rates=(*numbers.rates, 9, 9, 9),
    )  # fmt: skip


def worse_options(numbers, rng):
    """Beside some options there is one that takes twice the goods for the same: nobody needs it."""
    count = len(numbers.workload)
    some = np.flatnonzero(rng.random(count) < 0.5)
    same = np.eye(count)
    return guise(
        numbers, dress=np.vstack([same, np.zeros((len(some), count))]),
        # where goods are free it may be used: the better one does the same
        undress=np.hstack([same, same[:, some]]),
        workload=(*numbers.workload, *np.array(numbers.workload)[some]),
        needs=np.vstack([array(numbers.needs), 2 * array(numbers.needs)[some]]),
        values=(*numbers.values, *array(numbers.values)[some]),
        rates=(*numbers.rates, *array(numbers.rates)[some]),
    )  # fmt: skip


# ---- cut up and put together


def twice_the_options(numbers, rng):
    """Some options are there twice."""
    count = len(numbers.workload)
    some = np.flatnonzero(rng.random(count) < 0.5)
    same, part = np.eye(count), np.ones(count)
    part[some] = 1 / 4
    return guise(
        numbers, dress=np.vstack([np.diag(part), 3 / 4 * same[some]]),
        undress=np.hstack([same, same[:, some]]),
        workload=(*numbers.workload, *np.array(numbers.workload)[some]),
        needs=np.vstack([array(numbers.needs), array(numbers.needs)[some]]),
        values=(*numbers.values, *array(numbers.values)[some]),
        rates=(*numbers.rates, *array(numbers.rates)[some]),
    )  # fmt: skip


def cut(numbers, jobs_, more, team):
    """Cut some workloads into a quarter and three: the others come last, of given teams."""
    count = len(numbers.workload)
    of, part = np.array(numbers.workload), np.ones(len(numbers.demand))
    part[jobs_] = 1 / 4
    ways = np.flatnonzero(np.isin(of, jobs_))
    place = np.full(len(part), -1)
    place[jobs_] = len(part) + np.arange(len(jobs_))
    same = np.eye(count)
    return guise(
        numbers, dress=np.vstack([np.diag(part[of]), 3 / 4 * same[ways]]),
        undress=np.hstack([same, same[:, ways]]),
        team=(*numbers.team, *team),
        demand=(*(part * array(numbers.demand)), *(3 / 4 * array(numbers.demand)[jobs_])),
        workload=(*numbers.workload, *place[of[ways]]),
        needs=np.vstack([array(numbers.needs), array(numbers.needs)[ways]]),
        values=(*numbers.values, *array(numbers.values)[ways]),
        rates=(*numbers.rates, *array(numbers.rates)[ways]), **more,
    )  # fmt: skip


def workloads_cut(numbers, rng):
    """A workload of 8 units is one of 2 and one of 6 of the same team."""
    jobs_ = np.flatnonzero(rng.random(len(numbers.demand)) < 0.5)
    return cut(numbers, jobs_, {}, np.array(numbers.team, dtype=int)[jobs_])


def teams_cut(numbers, rng):
    """A team with a quarter of the credits and of each demand, and one with the rest."""
    i = int(rng.integers(len(numbers.budgets)))
    jobs_ = np.flatnonzero(np.array(numbers.team) == i)
    budgets = array(numbers.budgets)
    budgets[i] /= 4
    more = {"budgets": (*budgets, 3 * budgets[i]), "keeps": (*numbers.keeps, numbers.keeps[i])}
    return cut(numbers, jobs_, more, [len(budgets)] * len(jobs_))


GUISES = [credits, goods, demands, options, values, order, bystanders, worse_options,
          twice_the_options, workloads_cut, teams_cut]  # fmt: skip
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
every_guise = pytest.mark.parametrize("put_on", GUISES, ids=lambda guise: guise.__name__)


@every_guise
@every_method
def test_an_answer_holds_in_other_clothes(method, put_on):
    passed = 0

    @seed(SEED)
    @settings(max_examples=DRESSED, deadline=None)
    @given(numbers=jobs(), drawn=st.integers(0, 2**32 - 1))
    def check(numbers, drawn):
        nonlocal passed
        found = answer(method, numbers)
        assert certifies(put_on(found.jobs, np.random.default_rng(drawn)).dressed(found))
        passed += 1

    check()
    assert passed >= DRESSED


@every_guise
@every_method
@pytest.mark.parametrize("examples", [FOUND, pytest.param(MANY, marks=pytest.mark.slow)])
def test_an_answer_is_found_in_other_clothes(method, put_on, examples):
    """It certifies there; and here, unless it is a split, whose credits may be divided anew."""

    @seed(SEED)
    @settings(max_examples=examples, deadline=None)
    @given(numbers=jobs(), drawn=st.integers(0, 2**32 - 1))
    def check(numbers, drawn):
        other = put_on(numbers, np.random.default_rng(drawn))
        found = answer(method, other.jobs)
        if found.jobs == other.jobs:
            assert certifies(other.undressed(found, numbers))

    check()
