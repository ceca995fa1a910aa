"""A market of activities in numbers near 1, as linear programs like them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array


@dataclass(frozen=True)
class Scaled:
    """A market in numbers near 1, everybody active and everything sold.

    Credits are in average budgets, goods in supplies, utilities in what a share by credits brings,
    levels in what would use up the scarcest good.

    Parameters
    ----------
    budgets, keep, caps
        Shape (n,): credits; utility of keeping all of them; most utility that is wanted.
    low, high
        Shape (n,): the utility in any equilibrium is between these.
    floor
        Shape (m,): reserve price of the whole supply.
    owner, uses, worth
        Shapes (K,), (K, m) and (K,): the activities.
    full
        Shape (K,): units of an activity that a level of 1 stands for.

    Examples
    --------
    Two teams with 60 and 40 credits for ten chips. A share by credits is 6 and 4 chips, and with
    100 credits for all of them nobody has less; the lower bounds are half of that.

    >>> from qmopt import Linear
    >>> scaled = Scaled.of(Market([60, 40], [10], Linear([[1], [1]]), utility_caps=[3, np.inf]))
    >>> scaled.budgets.tolist(), scaled.full.tolist(), scaled.caps.tolist()
    ([1.2, 0.8], [10.0, 10.0], [1.0, inf])
    >>> scaled.low.tolist(), scaled.high.tolist(), scaled.worth.round(9).tolist()
    ([0.5, 0.5], [1.0, 2.5], [3.333333333, 2.5])
    """

    budgets: Array
    keep: Array
    caps: Array
    low: Array
    high: Array
    floor: Array
    owner: NDArray[np.int64]
    uses: sp.csr_array
    worth: Array
    full: Array

    @classmethod
    def of(cls, market: Market) -> Scaled:
        """Scale the part of a market that trades, whose value is a sum of activities."""
        n, credit = market.n, market.budgets.sum() / market.n
        ways = market.utility.activities()
        share = sp.csr_array(ways.needs @ sp.diags_array(1 / market.supplies))
        full = 1 / share.max(axis=1).toarray().ravel()
        worth, budgets = ways.values * full, market.budgets / credit
        keep = market.keep_values * market.budgets
        # no price is higher: above its reserve a good is sold out, and all credits buy no more
        dearest = np.maximum(market.reserves, market.budgets.sum() / market.supplies)
        least = market.budgets / market.utility.unit_cost(dearest)
        most = total_by(ways.owner, worth, n) + keep
        # half of the least, so that whoever gets just that does not depend on a tie
        low = np.minimum(np.maximum(least, keep), market.utility_caps) / 2
        high = np.minimum(most, market.utility_caps)
        unit = np.clip(budgets / n * (most - keep) + keep, low, high)
        return cls(
            budgets=budgets,
            keep=keep / unit,
            caps=market.utility_caps / unit,
            low=low / unit,
            high=high / unit,
            floor=market.reserves * market.supplies / credit,
            owner=ways.owner,
            uses=sp.csr_array(sp.diags_array(full) @ share),
            worth=worth / unit[ways.owner],
            full=full,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""
        return len(self.budgets), len(self.floor)


class Levels(NamedTuple):
    """Scaled: prices of supplies (m,), levels (K,), shares of budgets that are kept (n,)."""

    gap: float
    prices: Array
    levels: Array
    kept: Array
