"""Markets in whole numbers, small enough to be checked on paper once they have shrunk."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

import qmopt as qm


@dataclass(frozen=True)
class Numbers:
    """The numbers of a market, as tuples: a failing one can be read, typed in and hashed."""

    budgets: tuple
    supplies: tuple
    values: tuple
    reserves: tuple
    keeps: tuple
    buyers: tuple | None = None
    goods: tuple | None = None

    @property
    def n(self):
        return len(self.budgets)

    @property
    def m(self):
        return len(self.supplies)

    def market(self):
        return qm.Market(
            self.budgets,
            self.supplies,
            qm.Linear(np.reshape(self.values, (self.n, self.m))),
            reserves=self.reserves,
            keep_values=self.keeps,
            buyers=self.buyers,
            goods=self.goods,
        )

    def with_(self, **arrays):
        """These numbers with some of them replaced by arrays."""
        return replace(self, **{name: _tuples(array) for name, array in arrays.items()})

    def take(self, buyers, goods):
        """Some buyers and goods in the order given; one that is named twice stands twice."""
        return self.with_(
            budgets=np.take(self.budgets, buyers),
            supplies=np.take(self.supplies, goods),
            values=np.reshape(self.values, (self.n, self.m))[np.ix_(buyers, goods)],
            reserves=np.take(self.reserves, goods),
            keeps=np.take(self.keeps, buyers),
        )


def _tuples(array):
    if isinstance(array, tuple):
        return array
    plain = np.asarray(array).tolist()
    return tuple(tuple(row) if isinstance(row, list) else row for row in plain)


@st.composite
def markets(draw, *, reserves=True, keeps=True):
    """1 to 5 teams and 1 to 5 goods, whole numbers; half of the markets have ties on purpose.

    Teams without credits or values, goods without supply or takers come up all the time; somebody
    wants something always.
    """
    # the larger of two: mostly several, and yet it shrinks to one
    n, m = (max(draw(st.integers(1, 5)), draw(st.integers(1, 5))) for _ in range(2))

    def several(count, strategy):
        return draw(st.lists(strategy, min_size=count, max_size=count).map(tuple))

    # from 0 to 2, most teams are tied between goods
    value = st.integers(0, draw(st.sampled_from([2, 9])))
    rows = [several(m, value) for _ in range(n)]
    budgets, supplies = several(n, st.integers(0, 12)), several(m, st.integers(0, 6))
    floors = several(m, st.integers(0, 4)) if reserves and draw(st.booleans()) else (0,) * m
    kept = several(n, st.integers(0, 3)) if keeps and draw(st.booleans()) else (0,) * n
    # the last team and good, so that the first can be anything
    rows[-1] = (*rows[-1][:-1], max(rows[-1][-1], 1))
    return Numbers(
        (*budgets[:-1], max(budgets[-1], 1)),
        (*supplies[:-1], max(supplies[-1], 1)),
        tuple(rows),
        floors,
        kept,
    )


#: Whole factors and their inverses, all exact in floating point.
factors = st.sampled_from([1, 2, 4, 1 / 2, 1 / 4, 1024, 1 / 1024])


@st.composite
def marked(draw, **kind):
    """A market, and one of its teams and one of its goods by position."""
    numbers = draw(markets(**kind))
    return numbers, draw(st.integers(0, numbers.n - 1)), draw(st.integers(0, numbers.m - 1))


@st.composite
def with_each(draw, buyers=None, goods=None, **kind):
    """A market, then one draw for each of its teams and one for each of its goods, as arrays."""
    numbers = draw(markets(**kind))
    extra = [
        np.array(draw(st.lists(strategy, min_size=count, max_size=count)))
        for strategy, count in ((buyers, numbers.n), (goods, numbers.m))
        if strategy is not None
    ]
    return numbers, *extra
