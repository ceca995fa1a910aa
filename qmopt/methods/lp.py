"""Linear programs on HiGHS: in shrinking boxes of prices, or with tangents that move closer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from qmopt.arguments import named, of_kind, settings
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.lowest import polished
from qmopt.methods.lp_alike import alike
from qmopt.methods.lp_crossing import cross
from qmopt.methods.lp_levels import LevelSearch
from qmopt.methods.lp_options import Options
from qmopt.methods.lp_scaled import Scaled
from qmopt.methods.lp_search import BoxSearch
from qmopt.methods.lp_units import in_units
from qmopt.methods.outcome import Outcome, restore, trading
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array


@dataclass(frozen=True)
class LinearProgramming:
    """Linear programs on HiGHS, with columns generated; stands alone, without any other method.

    For linear values without caps, Shmyrev's program is curved in the m prices only. A few tangents
    to these terms within a box of prices make a linear program of few rows, whose row duals are log
    prices; the next box lies around them and is smaller. The gap of the whole market, from one pass
    over all values, decides when that is enough. Memory: one copy of the values, and what is within
    the box.

    For bundles and utility caps it is the program of Eisenberg and Gale, curved in the n utilities,
    with tangents that move closer to where the last program ended; how far they are above the logs
    there bounds the gap. Memory: some copies of the activities.

    Parameters
    ----------
    tolerance
        Gap at which the linear programs end, as :attr:`Certificate.gap` measures it; with bundles
        or caps a bound of that of the program's point, kept credits with it. HiGHS's own tolerances
        let it get to about 1e-10.
    crossover
        Whether to go on to exact prices, with bundles or caps by Newton's method on the equations
        that the point implies. Without it you get the best linear program's point.
    max_iterations
        Linear programs at most.
    time_limit
        Seconds for all; what is there by then is measured.

    Notes
    -----
    ``stats["gap"]`` is what the linear programs reached by themselves, before the crossover.
    Where caps leave the prices of plain bids open, they are the lowest, of every good at once.

    References
    ----------
    Program: V. I. Shmyrev, J. Appl. Ind. Math. 3(4), 2009. That moving a box around the last dual
    point makes cutting planes steady is an old idea (the boxstep method of Marsten, Hogan and
    Blankenship, Operations Research 23(3), 1975; entry checked only). The rest is ours.

    Examples
    --------
    >>> from qmopt import Linear, Market, clear
    >>> found = clear(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])), LinearProgramming())
    >>> found.prices.tolist()
    [7.5, 2.5]
    """

    tolerance: float = 1e-9
    crossover: bool = True
    max_iterations: int = 50
    time_limit: float = np.inf

    __post_init__ = settings

    # the logs of nothing are infinite, and at the ends of the range the certificate judges
    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Solve programs until the gap is small, keep the point of least gap, go on from there.

        Raises
        ------
        MarketError
            If values are not sums of activities, as those of linear utilities and bundles are.
        SolverNotInstalled
            If there is no highspy.
        """
        of_kind("market", market, Market, "a Market")
        if not market.utility.additive:
            raise MarketError(
                f"LinearProgramming needs linear utilities or bundles, got {named(market.utility)}"
            )
        inner = trading(market)
        plain = isinstance(market.utility, Linear) and market.utility_caps.min() == np.inf
        prices, allocation, status, stats, notes = (
            self._in_boxes(inner) if plain else self._in_levels(inner)
        )
        prices, allocation = restore(market, prices, allocation)
        return Outcome(prices, allocation, status, stats, notes)

    def _in_boxes(self, inner: Market) -> _Found:
        """Linear values without caps: boxes of prices, then the crossover."""
        begun = time.monotonic()
        options = Options.of(inner)
        kinds = alike(options)
        search = BoxSearch(options if kinds is None else kinds.options)
        status = search.run(self.tolerance, self.max_iterations, begun + self.time_limit)
        point = search.ended()
        if kinds is not None:
            near, share = kinds.expand(point.near, point.share)
            point = point._replace(near=near, share=share)
        prices, allocation = search.units(point, inner)
        stats = _stats(search, point.gap)
        notes: tuple[str, ...] = ()
        solved = time.monotonic()
        if self.crossover:
            left = self.time_limit - (solved - begun)
            crossed = cross(inner, options, point.near, prices, allocation, left)
            prices, allocation = crossed.prices, crossed.allocation
            stats |= {"pivots": crossed.pivots, "passes": crossed.passes}
            if not crossed.finished:
                notes = ("the crossover ran out of time or pivots before it was done",)
        stats["seconds"] = {"solve": solved - begun, "crossover": time.monotonic() - solved}
        return _Found(prices, sp.csr_array(allocation), status, stats, notes)

    def _in_levels(self, inner: Market) -> _Found:
        """Bundles and caps: tangents to utilities, then the equations that the point implies."""
        begun = time.monotonic()
        scaled = Scaled.of(inner)
        search = LevelSearch(scaled)
        status = search.run(self.tolerance, self.max_iterations, begun + self.time_limit)
        point = search.ended()
        prices, levels, kept = in_units(inner, scaled, point)
        stats = _stats(search, point.gap)
        notes: tuple[str, ...] = ()
        solved = time.monotonic()
        if self.crossover:
            exact = polished(inner, prices, levels, kept, begun + self.time_limit)
            if exact is None:
                notes = (
                    "nothing exact was found near the linear programs' point: their own numbers",
                )
            else:
                prices, levels = exact
        stats["seconds"] = {"solve": solved - begun, "crossover": time.monotonic() - solved}
        return _Found(prices, inner.utility.taken(levels), status, stats, notes)


class _Found(NamedTuple):
    """Of the part that trades: prices (m,), units (n, m), and what there is to say."""

    prices: Array
    allocation: sp.csr_array
    status: str
    stats: dict[str, Any]
    notes: tuple[str, ...]


def _stats(search: BoxSearch | LevelSearch, gap: float) -> dict[str, Any]:
    return {
        "iterations": search.programs,
        "solves": search.solves,
        "columns": search.columns,
        "gap": gap if np.isfinite(gap) else None,
    }
