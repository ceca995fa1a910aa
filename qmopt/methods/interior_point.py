"""Interior point: follow the central path by its structure, then go to the last bits."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qmopt.arguments import named, of_kind, settings
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.central_path import CentralPath
from qmopt.methods.crossover import crossover, earlier
from qmopt.methods.interior_activities import solve_activities
from qmopt.methods.outcome import Outcome, refuse_limit_prices, restore, trading, workloads_only
from qmopt.methods.pivots import Crossed
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads

#: Pivots from an earlier answer, as a share of buyers and goods in percent, that are tried first.
FEW_PIVOTS = 10
#: Share by which the prices of an earlier answer may be off.
OFF = 0.03


@dataclass(frozen=True)
class InteriorPoint:
    """Follow the central path of the Eisenberg-Gale program, then go to the last bits.

    For linear utilities, bundles, mixtures of them, and workloads of which each team has one; with
    kept credits, reserve prices and utility caps. For linear utilities without caps the crossover
    pivots to exact prices; otherwise it solves the equations that the path's end implies.

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
    def solve(self, market: Market, start: Any = None) -> Outcome:
        """Follow the path, keep the best iterate, cross over.

        Parameters
        ----------
        market
            Whose values are sums of activities.
        start
            An earlier answer, of the same buyers and goods. If few pivots lead from it to the new
            equilibrium there is no path to follow; otherwise the path starts near its prices. Other
            families start from nothing, and a note says so.

        Raises
        ------
        MarketError
            If values are no sums of activities, or a team has several workloads.
        """
        begun = time.monotonic()
        of_kind("market", market, Market, "a Market")
        if not isinstance(market.utility, Linear) or market.utility_caps.min() < np.inf:
            return self._activities(market, start)
        inner = trading(market)
        assert isinstance(inner.utility, Linear)
        crossed, near = (None, None) if start is None else self._from_start(inner, market, start)
        stats: dict[str, Any] = {"iterations": 0}
        status, point, solved = "optimal", None, time.monotonic()
        if crossed is None or not crossed.finished:
            path = CentralPath(inner, inner.utility, near, narrow=self.crossover)
            status = path.follow(self.tolerance, self.max_iterations, begun + self.time_limit)
            point = path.best_point()
            stats["iterations"] = path.iterations
            solved = time.monotonic()
            left = self.time_limit - (solved - begun)
            crossed = crossover(inner, *point, time_limit=left) if self._crosses(left) else None
        notes: tuple[str, ...] = ()
        if self.crossover and crossed is None:
            notes = ("time ran out before the crossover",)
        if crossed is not None:
            point = crossed.prices, crossed.allocation
            stats |= {"pivots": crossed.pivots, "passes": crossed.passes}
            if not crossed.finished:
                notes = ("the crossover ran out of time or pivots before it was done",)
        assert point is not None
        prices, allocation = restore(market, *point)
        stats["seconds"] = {"solve": solved - begun, "crossover": time.monotonic() - solved}
        return Outcome(prices, allocation, status, stats, notes)

    def _activities(self, market: Market, start: Any) -> Outcome:
        """Solve a market of activities with limits."""
        utility = market.utility
        if isinstance(utility, Workloads):
            refuse_limit_prices(market, workloads_only(market, self), self)
        if not (utility.additive or utility.separate):
            several = len(utility.demands().units) > 0
            told = "teams with several workloads" if several else named(utility)
            raise MarketError(
                "InteriorPoint needs values that are sums of activities, without demands or with "
                f"one for each team, got: {told}"
            )
        cold = () if start is None else ("InteriorPoint starts from nothing in this family",)
        found = solve_activities(
            market,
            tolerance=self.tolerance,
            crossover=self.crossover,
            most=self.max_iterations,
            time_limit=self.time_limit,
        )
        return replace(found, notes=(*cold, *found.notes))

    def _crosses(self, left: float) -> bool:
        return self.crossover and left > 0

    def _from_start(
        self, inner: Market, market: Market, start: Any
    ) -> tuple[Crossed | None, tuple[Array, float] | None]:
        """Cross over from an earlier answer, if few pivots do; and prices for a path from there."""
        prices, allocation = earlier(market, start)
        near = (prices, OFF) if ((prices > 0) & (prices < np.inf)).all() else None
        if not self.crossover:
            return None, near
        few = FEW_PIVOTS * (inner.n + inner.m) // 100
        return crossover(
            inner, prices, allocation, time_limit=self.time_limit, most_pivots=few
        ), near
