"""The reduced market: a few undecided buyers with few pairs each, and stand-ins for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.graph import distinct
from qmopt.market import Market
from qmopt.methods.scan import Indices
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import pairs as pairs_of
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Allocation, Array

if TYPE_CHECKING:
    from qmopt.methods.screening import Look

#: Pairs up to which arrays are quicker than their sparse kind.
SMALL = 4096
#: Share by which prices to start from may be off, in units of the middle margin.
OFF = 6.0


class Pairs(NamedTuple):
    """Pairs of a buyer (its place among those looked at) and a good (m: the bank), by row."""

    row: Indices
    good: Indices

    def with_more(self, other: Pairs) -> Pairs:
        """Add pairs, each once, and put all in order."""
        rows, goods = (np.concatenate(both) for both in zip(self, other, strict=True))
        width = int(goods.max(initial=0)) + 1
        key = distinct(rows * width + goods)
        return Pairs(key // width, key % width)


class Reduced:
    """The reduced market of a look.

    Parameters
    ----------
    look
        Where it comes from.
    pairs
        Of the undecided buyers.
    decided
        Shape (k,): who spends everything on its best.

    Attributes
    ----------
    market
        The undecided buyers in order of their rows, then a stand-in for each good with constant
        spend; all goods that have a market.
    """

    def __init__(self, look: Look, pairs: Pairs, decided: NDArray[np.bool_]) -> None:
        self.look, self.pairs, self.decided = look, pairs, decided
        self.whole = whole = look.screen.market
        goods = look.screen.goods
        self.undecided, row = np.unique(pairs.row, return_inverse=True)
        place = np.full(whole.m + 1, -1)
        place[goods] = np.arange(len(goods))
        constant = total_by(look.liked.first[decided], look.budgets[decided], whole.m + 1)[goods]
        stood_for = np.flatnonzero(constant > 0)
        value = look.screen.values.at(look.buyers[pairs.row], pairs.good)
        bank = pairs.good == whole.m
        count = len(self.undecided)
        keep = np.zeros(count + len(stood_for))
        keep[row[bank]] = value[bank]
        values = sp.csr_array(
            (
                np.concatenate([value[~bank], np.ones(len(stood_for))]),
                (
                    np.concatenate([row[~bank], count + np.arange(len(stood_for))]),
                    np.concatenate([place[pairs.good[~bank]], stood_for]),
                ),
            ),
            shape=(len(keep), len(goods)),
        )
        self.market = Market(
            np.concatenate([look.budgets[self.undecided], constant[stood_for]]),
            whole.supplies[goods],
            Linear(values.toarray() if len(keep) * len(goods) <= SMALL else values),
            reserves=whole.reserves[goods],
            keep_values=keep,
        )

    def better(self, look: Look, tolerance: float) -> Pairs:
        """List what at new prices is better for a buyer than all that it may choose from.

        Parameters
        ----------
        look
            At the new prices.
        tolerance
            Share by which it has to be better.
        """
        values, per_credit = self.look.screen.values, np.append(look.per_credit, 1.0)
        old = self.look.liked.first
        rows = np.flatnonzero((look.liked.first != old) | (look.liked.top != look.liked.first))
        mine = np.full(len(old), np.inf)
        mine[rows] = values.at(look.buyers[rows], old[rows]) * per_credit[old[rows]]
        chosen = values.at(look.buyers[self.pairs.row], self.pairs.good)
        np.maximum.at(mine, self.pairs.row, chosen * per_credit[self.pairs.good])
        rows = rows[look.liked.best[rows] > mine[rows] * (1 + tolerance)]
        return Pairs(rows, look.liked.top[rows])

    def grown(self, pairs: Pairs) -> Reduced:
        """Return the reduced market with more pairs."""
        return self.look.reduce(self.pairs.with_more(pairs))

    def holding(self, whole: sp.csr_array, prices: Array) -> sp.csr_array:
        """Restrict an allocation (n, m) to the reduced market; stand-ins buy at the prices (m,)."""
        goods = self.look.screen.goods
        mine = whole[self.look.buyers[self.undecided]][:, goods]
        stand_ins = sp.csr_array(cast(Any, self.market.utility).values)[len(self.undecided) :]
        spend = sp.diags_array(self.market.budgets[len(self.undecided) :]) @ stand_ins
        return sp.csr_array(sp.vstack([mine, spend @ sp.diags_array(1 / prices[goods])]))

    @property
    def near(self) -> tuple[Array, float]:
        """Prices to start from, and by what share they may be off."""
        look = self.look
        off = OFF * float(np.median(look.margin[self.undecided])) if self.undecided.size else 0.0
        return look.prices[look.screen.goods], min(max(off, 1e-4), 0.3)

    def prices(self, reduced: Array) -> Array:
        """Put prices of the reduced market back among all, (m,); nan for the others."""
        prices = np.full(self.whole.m, np.nan)
        prices[self.look.screen.goods] = reduced
        return prices

    def allocation(self, prices: Array, reduced: Allocation) -> sp.csr_array:
        """Put an allocation of the reduced market back among all, (n, m); the decided buy."""
        look, market = self.look, self.whole
        rows, columns, units = pairs_of(reduced)
        mine = rows < len(self.undecided)
        good = look.liked.first[self.decided]
        buys = np.flatnonzero(self.decided)[good < market.m]
        good = good[good < market.m]
        return sp.csr_array(
            (
                np.concatenate([units[mine], look.budgets[buys] / prices[good]]),
                (
                    look.buyers[np.concatenate([self.undecided[rows[mine]], buys])],
                    np.concatenate([look.screen.goods[columns[mine]], good]),
                ),
            ),
            shape=market.shape,
        )
