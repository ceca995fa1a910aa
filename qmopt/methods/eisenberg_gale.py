"""The reference method: the Eisenberg-Gale program by a conic solver, then exact prices."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qmopt.arguments import of_kind, settings
from qmopt.errors import SolverFailed
from qmopt.market import Market
from qmopt.methods.crossover import crossover
from qmopt.methods.lowest import polished
from qmopt.methods.outcome import (
    Outcome,
    refuse_limit_prices,
    restore,
    restore_levels,
    trading,
    workloads_only,
)
from qmopt.methods.program import EisenbergGaleModel, eisenberg_gale
from qmopt.solvers import Clarabel, Solver
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads


@dataclass(frozen=True)
class EisenbergGale:
    """Solve the Eisenberg-Gale program with CVXPY, then cross over to exact prices.

    A conic solver's prices are right to 1e-4 ... 1e-7; the crossover takes its shares and pivots to
    the prices they point at, right to the last bits. With bundles or utility caps, Newton's method
    on the equations that the solver's point implies takes the place of pivots. Other families get
    the solver's own numbers. Where caps leave the prices of plain bids open, they are the lowest,
    of every good at once.

    Parameters
    ----------
    solver
        Such as ``Clarabel(tolerance=1e-12)``, ``Scs()`` or ``Cvxpy("NAME", option=...)``.
    crossover
        Whether to cross over. Without it you get the solver's own numbers.
    time_limit
        Seconds for solve and crossover together; what is there by then is measured.
    """

    solver: Solver = field(default_factory=Clarabel)
    crossover: bool = True
    time_limit: float = np.inf

    def __post_init__(self) -> None:
        of_kind("EisenbergGale: solver", self.solver, Solver, "an object such as Clarabel()")
        settings(self)

    # at the ends of floating point numbers overflow; the certificate judges what comes of it
    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Write the program, have it solved, cross over.

        Raises
        ------
        SolverNotInstalled, SolverFailed
            If there is no solver, or no point.
        """
        if isinstance(market.utility, Workloads):
            refuse_limit_prices(market, workloads_only(market, self), self)
        clock = [time.perf_counter()]
        model = eisenberg_gale(market)
        clock.append(time.perf_counter())
        left = self.time_limit - (clock[-1] - clock[0])
        notes: list[str] = []
        stats: dict[str, Any] = {"iterations": None}
        near, levels, notion = True, None, "equilibrium"
        capped = market.utility_caps.min() < np.inf
        crosses = self.crossover and isinstance(market.utility, Linear) and not capped
        try:
            status = self.solver.within(left).solve(model.problem)
            prices, allocation = model.point()
            # a solver of one's own need not leave a solution on the problem
            stats["iterations"] = getattr(model.problem.solution, "attr", {}).get("num_iters")
        except SolverFailed as failure:
            if not crosses:
                raise
            # the crossover finds its way from any point; the worse the point, the longer
            status, near = "failed", False
            notes.append(f"{failure}; the crossover started from shares by credits instead")
            prices, allocation = model.fair_point()
        clock.append(time.perf_counter())
        if crosses:
            inner = trading(market)
            buyers, goods = np.flatnonzero(market.active), np.flatnonzero(market.sold)
            crossed = crossover(
                inner,
                prices[goods],
                allocation[buyers][:, goods],
                near=near,
                time_limit=self.time_limit - (clock[-1] - clock[0]),
            )
            prices, allocation = restore(market, crossed.prices, crossed.allocation)
            stats |= {"pivots": crossed.pivots, "passes": crossed.passes}
            if not crossed.finished:
                notes.append("the crossover ran out of time or pivots before it was done")
        elif self.crossover and market.utility.additive:
            left = self.time_limit - (clock[-1] - clock[0])
            exact = _polished(model, time.monotonic() + left)
            if exact is None:
                notes.append("nothing exact was found near the solver's point: its own numbers")
            else:
                prices, allocation, levels = restore_levels(market, *exact)
        if isinstance(market.utility, Workloads):
            notion = "equilibrium" if market.utility.separate else "nash_welfare"
            if levels is None:
                sold = prices[market.sold]
                prices, allocation, levels = restore_levels(market, sold, model.levels())
        else:
            levels = None  # bundles say all
        clock.append(time.perf_counter())
        phases = ("build", "solve", "crossover")
        stats["seconds"] = dict(zip(phases, np.diff(clock).tolist(), strict=True))
        return Outcome(
            prices, allocation, status, stats, tuple(notes), activities=levels, notion=notion
        )


def _polished(model: EisenbergGaleModel, deadline: float) -> tuple[Array, Array] | None:
    """Take a solved model's point to the last bits, where its sides can be told."""
    market = model.market
    rough = model.prices()[market.sold], model.levels(), model.kept()
    return polished(trading(market), *rough, deadline)
