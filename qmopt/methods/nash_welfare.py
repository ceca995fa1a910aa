"""The plain program with demands: indicative prices, no equilibrium."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from qmopt.arguments import settings
from qmopt.market import Market
from qmopt.methods.interior_activities import solve_activities
from qmopt.methods.outcome import Outcome, refuse_limit_prices, workloads_only


@dataclass(frozen=True)
class NashWelfare:
    """Maximise the product of utilities, weighted by credits, under demands of workloads.

    The program of Eisenberg and Gale with one row for each demand. Its duals are prices at which a
    team with a demand that is met keeps credits that it would rather spend, so that it is no
    equilibrium; the certificate says by how much (``regret``). For budgets that are only weights,
    and as an indication of prices: ``clear(market, NashWelfare(), accept="nash_welfare")``.

    Parameters
    ----------
    tolerance
        Merit at which the central path is left.
    crossover
        Whether to go on to the last bits.
    max_iterations
        Newton steps at most.
    time_limit
        Seconds for all; what is there by then is measured.

    Examples
    --------
    Team 0 wants a quarter of good 0 at most, worth 2, and good 1, worth 1; to team 1 both are worth
    1. Both prices come out as 8/9. There the best that team 0 could buy is worth 11/8, but it gets
    9/8 and keeps 2/9 of its credit: it regrets 2/11.

    >>> from qmopt import Market, Workloads, clear
    >>> utility = Workloads(
    ...     team=[0, 0, 1], demand=[1 / 4, np.inf, np.inf], workload=[0, 1, 2, 2],
    ...     needs=[[1, 0], [0, 1], [1, 0], [0, 1]], values=[2, 1, 1, 1],
    ... )
    >>> found = clear(Market([1, 1], [1, 1], utility), NashWelfare(), accept="nash_welfare")
    >>> found.status, found.prices.round(9).tolist(), round(found.certificate.regret, 9)
    ('nash_welfare', [0.888888889, 0.888888889], 0.181818182)
    """

    tolerance: float = 1e-11
    crossover: bool = True
    max_iterations: int = 150
    time_limit: float = np.inf

    __post_init__ = settings

    def solve(self, market: Market) -> Outcome:
        """Follow the central path, then go to the last bits.

        Raises
        ------
        MarketError
            If utilities are not workloads, or a limit price does not go with a joint budget.
        """
        refuse_limit_prices(market, workloads_only(market, self), self)
        found = solve_activities(
            market,
            tolerance=self.tolerance,
            crossover=self.crossover,
            most=self.max_iterations,
            time_limit=self.time_limit,
        )
        return replace(found, notion="nash_welfare")
