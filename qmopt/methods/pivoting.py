"""Pivot to the equilibrium from nothing: the quickest way for small markets, and exact."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from qmopt.arguments import settings
from qmopt.market import Market
from qmopt.methods.crossover import crossover, earlier
from qmopt.methods.outcome import Outcome, linear_only, restore, trading


@dataclass(frozen=True)
class Pivoting:
    """Run the crossover from shares by credits, without any solver before it.

    A simplex method for linear markets: finite, right to the last bits, and with no compiled solver
    to load. The number of pivots grows a little faster than buyers and goods together, and each
    costs a pass over them, so that large markets are for other methods.

    Parameters
    ----------
    time_limit
        Seconds; what is there by then is measured.

    Examples
    --------
    >>> from qmopt import Linear, Market, clear
    >>> found = clear(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])), Pivoting())
    >>> found.prices.tolist()
    [7.5, 2.5]
    """

    time_limit: float = np.inf

    __post_init__ = settings

    # at the ends of floating point numbers overflow; the certificate judges what comes of it
    @np.errstate(all="ignore")
    def solve(self, market: Market, start: Any = None) -> Outcome:
        """Pivot until nobody wants anything else.

        Parameters
        ----------
        market
            With linear utilities and no utility caps.
        start
            An earlier answer, of the same buyers and goods: the pivots start at its trades.

        Raises
        ------
        MarketError
            If utilities are not linear, or capped.
        """
        begun = time.perf_counter()
        linear_only(market, self)
        inner = trading(market)
        if start is None:
            activities = inner.utility.activities()
            good = activities.needs.indices
            shares = inner.budgets[activities.owner] / inner.budgets.sum()
            units = sp.csr_array(
                (shares * inner.supplies[good], (activities.owner, good)), shape=inner.shape
            )
            prices = np.full(inner.m, inner.budgets.sum() / inner.supplies.sum())
        else:
            prices, units = earlier(market, start)
        crossed = crossover(
            inner, prices, units, near=start is not None, time_limit=self.time_limit
        )
        prices, allocation = restore(market, crossed.prices, crossed.allocation)
        return Outcome(
            prices,
            allocation,
            "optimal" if crossed.finished else "stopped",
            {
                "iterations": crossed.pivots,
                "pivots": crossed.pivots,
                "passes": crossed.passes,
                "seconds": {"solve": time.perf_counter() - begun},
            },
            () if crossed.finished else ("time or pivots ran out before the pivoting was done",),
        )
