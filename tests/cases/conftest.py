"""One market in many guises: what must not change an answer, and how to read it back.

A fault that was met once comes back with other numbers. So each case is tried as it was reported
and in every guise: other orders, other units, and with things added that take no part.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import qmopt as qm


@dataclass
class Guise:
    """A market in other clothes; ``prices`` and ``allocation`` undress an answer."""

    market: qm.Market
    teams: np.ndarray
    goods: np.ndarray
    chips: np.ndarray  # units here per unit of the case, by good
    credits: float  # credits here per credit of the case

    def prices(self, found):
        return found.prices[self.goods] * self.chips / self.credits

    def allocation(self, found):
        return found.allocation[np.ix_(self.teams, self.goods)] / self.chips

    def unspent(self, found):
        return found.unspent[self.teams] / self.credits


@dataclass
class Case:
    budgets: np.ndarray
    supplies: np.ndarray
    values: np.ndarray

    def guise(self, teams=None, goods=None, chips=None, credit=1.0, worth=None):
        """Reorder and rescale; supplies and prices of a case are read back in its own units."""
        n, m = self.values.shape
        teams = np.arange(n) if teams is None else np.asarray(teams)
        goods = np.arange(m) if goods is None else np.asarray(goods)
        chips = np.ones(m) if chips is None else np.resize(chips, m).astype(float)
        worth = np.ones(n) if worth is None else np.resize(worth, n).astype(float)
        values = self.values * worth[:, None] / chips
        market = qm.Market(
            (self.budgets * credit)[teams],
            (self.supplies * chips)[goods],
            qm.Linear(values[np.ix_(teams, goods)]),
        )
        return Guise(market, np.argsort(teams), np.argsort(goods), chips, credit)

    def beside(self, budget=None, row=None, supply=None, column=None):
        """The case with one more team or good, put first so that every place moves up by one."""
        budgets, supplies, values = self.budgets, self.supplies, self.values
        n, m = values.shape
        teams, goods = np.arange(n), np.arange(m)
        if supply is not None:
            supplies = np.append(supply, supplies)
            values = np.column_stack([np.resize(column, n), values])
            goods = goods + 1
        if budget is not None:
            budgets = np.append(budget, budgets)
            values = np.vstack([np.resize(row, values.shape[1]), values])
            teams = teams + 1
        market = qm.Market(budgets, supplies, qm.Linear(values))
        return Guise(market, teams, goods, np.ones(m), 1.0)


GUISES = {
    "as reported": lambda case: case.guise(),
    "turned round": lambda case: case.guise(
        np.arange(len(case.budgets))[::-1], np.arange(len(case.supplies))[::-1]
    ),
    "rolled": lambda case: case.guise(
        np.roll(np.arange(len(case.budgets)), 1), np.roll(np.arange(len(case.supplies)), 1)
    ),
    "chips in thousands": lambda case: case.guise(chips=[1e-3]),
    "chips in mixed units": lambda case: case.guise(chips=[7, 1e5, 1 / 3]),
    "another currency": lambda case: case.guise(credit=1e6),
    "a dear currency": lambda case: case.guise(credit=3e-7),
    "values in each team's own unit": lambda case: case.guise(worth=[1e-9, 3, 1e9]),
    "everything at once": lambda case: case.guise(
        np.arange(len(case.budgets))[::-1], None, [1e-4, 11], 1e4, [1e6, 1e-6]
    ),
    "an unwanted good": lambda case: case.beside(supply=4, column=0),
    "an empty good": lambda case: case.beside(supply=0, column=7),
    "a team without credits": lambda case: case.beside(budget=0, row=5),
    "a team without values": lambda case: case.beside(budget=5, row=0),
    "a team after an empty good": lambda case: case.beside(
        budget=5, row=[1, 0, 0, 0, 0][: len(case.supplies) + 1], supply=0, column=0
    ),
}


@pytest.fixture(params=GUISES)
def dressed(request):
    """Function from the numbers of a case to one of its guises."""

    def dress(budgets, supplies, values):
        numbers = (np.array(numbers, float) for numbers in (budgets, supplies, values))
        return GUISES[request.param](Case(*numbers))

    return dress
