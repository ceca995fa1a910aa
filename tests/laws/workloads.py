"""Markets of workloads in whole numbers, small enough to be checked on paper once they shrank."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from hypothesis import strategies as st

import qmopt as qm
from qmopt.certificate import measure

#: Residual that answers have to meet.
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Jobs:
    """The numbers of a market of workloads, as tuples: one that fails can be read and typed in."""

    budgets: tuple
    keeps: tuple
    supplies: tuple
    reserves: tuple
    team: tuple
    demand: tuple
    workload: tuple
    needs: tuple
    values: tuple
    rates: tuple

    def market(self):
        utility = qm.Workloads(
            self.team, self.demand, self.workload, np.reshape(self.needs, (-1, len(self.supplies))),
            self.values, self.rates, teams=len(self.budgets),
        )  # fmt: skip
        return qm.Market(
            self.budgets, self.supplies, utility, reserves=self.reserves, keep_values=self.keeps
        )


@st.composite
def jobs(draw):
    """1 to 4 teams and goods, 1 to 6 workloads of 1 to 3 options; half have ties on purpose.

    Teams without credits or workloads, goods without supply, and demands of nothing or without an
    end come up all the time; somebody wants something always.
    """

    def several(count, strategy):
        return draw(st.lists(strategy, min_size=count, max_size=count).map(tuple))

    n, m = (max(draw(st.integers(1, 4)), draw(st.integers(1, 4))) for _ in range(2))
    count = max(draw(st.integers(1, 6)), draw(st.integers(1, 6)))
    most = draw(st.sampled_from([2, 9]))
    options = several(count, st.integers(1, 3))
    workload = tuple(np.repeat(np.arange(count), options).tolist())
    # most options take one good, as chips do
    row = st.integers(0, m - 1).map(lambda good: tuple(int(j == good) for j in range(m)))
    mix = st.lists(st.integers(0, 2), min_size=m, max_size=m).map(tuple).filter(any)
    demand = several(count, st.sampled_from([0, 1, 1, 2, 3, 5, 8, np.inf]))
    kept = several(n, st.integers(0, 3)) if draw(st.booleans()) else (0,) * n
    floors = several(m, st.integers(0, 3)) if draw(st.booleans()) else (0,) * m
    needs = tuple(draw(st.sampled_from([row, row, row, mix])) for _ in workload)
    needs = tuple(draw(kind) for kind in needs)
    team = several(count, st.integers(0, n - 1))
    budgets, supplies = list(several(n, st.integers(0, 12))), list(several(m, st.integers(0, 6)))
    # the first option of the last workload can be had and paid
    last = workload.index(count - 1)
    budgets[team[-1]] = max(budgets[team[-1]], 1)
    supplies = [max(s, 1) if x else s for s, x in zip(supplies, needs[last], strict=True)]
    return Jobs(
        tuple(budgets), kept, tuple(supplies), floors, team, (*demand[:-1], max(demand[-1], 1)),
        workload, needs, several(len(workload), st.integers(1, most)),
        several(len(workload), st.integers(1, most)),
    )  # fmt: skip


def written(market):
    """The numbers of a market of workloads, all of whose options are kept."""
    utility = market.utility
    arrays = (
        market.budgets, market.keep_values, market.supplies, market.reserves, utility.team,
        utility.demand, utility.workload, utility.needs.toarray(), utility.values, utility.rates,
    )  # fmt: skip
    return Jobs(*map(tuples, arrays))


def tuples(array):
    plain = np.asarray(array).tolist()
    return tuple(tuple(row) if isinstance(row, list) else row for row in plain)


@dataclass(frozen=True)
class Answer:
    """What a method claims: an equilibrium of a market, with levels of all options, kept or not."""

    jobs: Jobs
    prices: np.ndarray
    levels: np.ndarray


@lru_cache(maxsize=5000)
def answer(method, numbers):
    """What a method found; of a split, in its divided market. It certifies."""
    market = numbers.market()
    outcome = method.solve(market)
    if outcome.divided is None:
        levels = np.zeros(len(numbers.workload))
        levels[np.array(numbers.demand)[np.array(numbers.workload)] > 0] = outcome.activities
        found = Answer(numbers, outcome.prices, levels)
    else:
        divided = outcome.divided
        levels = divided.levels(outcome.activities)
        found = Answer(written(divided.market), outcome.prices, levels)
    assert certifies(found)
    return found


def certifies(found):
    """Whether prices and levels are an equilibrium."""
    numbers = found.jobs
    kept = np.array(numbers.demand)[np.array(numbers.workload)] > 0
    seen = measure(numbers.market(), found.prices, None, TOLERANCE, found.levels[kept])
    assert seen.certified(), seen
    return True
