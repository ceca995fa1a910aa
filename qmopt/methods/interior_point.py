"""Interior point: follow the central path by its structure, then cross over."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from qmopt.arguments import named, settings
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.central_path import CentralPath
from qmopt.methods.crossover import crossover
from qmopt.methods.outcome import Outcome, refuse_caps, restore, trading
from qmopt.utilities.linear import Linear


@dataclass(frozen=True)
class InteriorPoint:
    """Follow the central path of the Eisenberg-Gale program, then cross over.

    Parameters
    ----------
    tolerance
        Merit at which the path is left: the largest of complementarity, budgets missed and supplies
        missed, all relative.
    crossover
        Whether to cross over to exact prices. Without it you get the best iterate.
    max_iterations
        Newton steps at most.
    time_limit
        Seconds for all; what is there by then is measured.

    Examples
    --------
    >>> from qmopt import Linear, Market, clear
    >>> found = clear(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])), InteriorPoint())
    >>> found.prices.tolist()
    [7.5, 2.5]
    """

    tolerance: float = 1e-11
    crossover: bool = True
    max_iterations: int = 100
    time_limit: float = np.inf

    __post_init__ = settings

    # where an iterate leaves the range of floats it is not kept
    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Follow the path, keep the best iterate, cross over.

        Raises
        ------
        MarketError
            If utilities are not linear, or capped.
        """
        begun = time.monotonic()
        if not isinstance(market.utility, Linear):
            raise MarketError(f"InteriorPoint needs linear utilities, got {named(market.utility)}")
        refuse_caps(market)
        inner = trading(market)
        assert isinstance(inner.utility, Linear)
        path = CentralPath(inner, inner.utility, narrow=self.crossover)
        status = path.follow(self.tolerance, self.max_iterations, begun + self.time_limit)
        prices, allocation = path.best_point()
        solved = time.monotonic()
        stats: dict[str, Any] = {"iterations": path.iterations}
        notes: tuple[str, ...] = ()
        if self.crossover:
            left = self.time_limit - (solved - begun)
            crossed = crossover(inner, prices, allocation, time_limit=left)
            prices, allocation = crossed.prices, crossed.allocation
            stats |= {"pivots": crossed.pivots, "passes": crossed.passes}
            if not crossed.finished:
                notes = ("the crossover ran out of time or pivots before it was done",)
        prices, allocation = restore(market, prices, allocation)
        stats["seconds"] = {"solve": solved - begun, "crossover": time.monotonic() - solved}
        return Outcome(prices, allocation, status, stats, notes)
