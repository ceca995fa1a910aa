"""Linear programs in levels of activities: bundles, and utility caps.

The program of Eisenberg and Gale, with the log of each utility replaced by segments between
tangents (:mod:`qmopt.methods.lp_segments`)::

    maximise   sum_i (B_i sum_s slope_is z_is - kept_i) + sum_j reserve_j idle_j
    where      sum_s z_is = value_i(levels) + keep_value_i kept_i,   0 <= z_is <= width_is
    subject to sum_k needs_kj level_k + idle_j <= s_j

The duals of the supply rows are prices. Tangents move closer to where the last program ended;
that changes costs and bounds only, and the dual simplex goes on from its basis. How far the
segments are above the logs bounds the duality gap: the program bounds the dual from above.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.errors import SolverFailed
from qmopt.highs import Solution, WarmLinearProgram
from qmopt.methods.lp_box import rank
from qmopt.methods.lp_scaled import Levels, Scaled
from qmopt.methods.lp_segments import TANGENTS, above_log, first_grid, next_grid, segments
from qmopt.progress import tell
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Activities up to which a program has all of them; beyond, those that are wanted.
SMALL = 20_000
#: Of each buyer and of each good, activities to begin with, and that join at a time.
FEW = 8
#: Reduced cost, in average budgets, of an activity that is wanted.
WANTED = 1e-9
#: Price that is put on what is at its reserve to leave more of it, in units of the grid and of
#: the least budget.
WHISPER = 1e-6
#: Bound of levels and kept credits that nothing reaches: what is bounded suits the dual simplex.
LOOSE = 4.0
#: Programs without any gain of the gap after which there is none to be had.
PATIENCE = 8


class LevelSearch:
    """The program between changes, and the best point so far.

    ``programs``, ``solves`` and ``columns`` count.
    """

    def __init__(self, scaled: Scaled) -> None:
        self.scaled = scaled
        n, m = scaled.shape
        self.best: Levels | None = None
        self.programs = self.solves = self.columns = 0
        self.keepers = np.flatnonzero(scaled.keep)
        self.grid = first_grid(scaled.low, scaled.high)
        # costs are counted from these duals, in these units
        self.duals, self.unit = np.zeros(m + n), 1.0
        self.fixed = self._fixed()
        self.chosen = self._first()
        self.matrix = sp.csc_array(sp.hstack([self.fixed, self._columns(self.chosen)]))

    def run(self, tolerance: float, most: int, deadline: float) -> str:
        """Move the tangents until the gap is small; say how it ended."""
        scaled, worse = self.scaled, 0
        reach = np.log(scaled.high / scaled.low)
        program = self._program()
        while self.programs < most and time.monotonic() < deadline:
            try:
                found = self._solved(program, deadline)
            except SolverFailed as error:
                return f"stopped: {error}"
            if not found.optimal:
                return f"stopped: HiGHS says {found.status!r}"
            self.programs += 1
            duals = self.duals + self.unit * found.duals
            point, utility = self._measured(found.columns, duals)
            tell("linear program {}, gap {:.1e}", self.programs, point.gap)
            worse += 1
            if self.best is None or point.gap < self.best.gap:
                self.best, worse = point, 0
            if point.gap <= tolerance:
                self._tidy(program, duals, above_log(self.grid, utility).max(), deadline)
                return "optimal"
            if worse >= PATIENCE:
                return "stalled"
            self.grid = next_grid(self.grid, np.log(utility), reach)
            self.duals, self.unit = duals, float(np.diff(self.grid, axis=1).min(axis=1).max())
            costs, widths = self._costs()
            program.change_costs(np.arange(len(costs)), costs)
            program.change_bounds(np.arange(widths.size), np.zeros(widths.size), widths.ravel())
        return "stopped"

    def _tidy(self, program: WarmLinearProgram, duals: Array, off: float, deadline: float) -> None:
        """Of levels that are as good, take those that leave most of what is at its reserve.

        The equations of a good that is free and used up all the same are hard to tell. The prices
        stay, since any best levels go with any best duals. ``off`` is the most by which segments
        are above a log so far.
        """
        assert self.best is not None
        self.duals, self.unit = duals, self.unit * float(self.scaled.budgets.min())
        costs, _ = self._costs()
        at_reserve = self.best.prices == self.scaled.floor
        end = self.fixed.shape[1]
        costs[end - len(at_reserve) : end] -= WHISPER * at_reserve
        program.change_costs(np.arange(len(costs)), costs)
        try:
            found = program.solve(deadline - time.monotonic())
        except SolverFailed:
            return
        if found.optimal:
            point, utility = self._measured(found.columns, duals)
            if above_log(self.grid, utility).max() <= 2 * off:
                self.best = point

    def ended(self) -> Levels:
        """Return the best point; without one, equal prices and nothing for anybody."""
        if self.best is None:
            n, m = self.scaled.shape
            prices = np.maximum(np.full(m, n / m), self.scaled.floor)
            return Levels(np.inf, prices, np.zeros(len(self.scaled.owner)), np.zeros(n))
        return self.best

    def _program(self) -> WarmLinearProgram:
        """Columns: segments, kept credits, idle goods, levels. Rows: supplies, utilities."""
        n, m = self.scaled.shape
        costs, widths = self._costs()
        sides = np.concatenate([np.ones(m), np.zeros(n)])
        upper = np.full(len(costs), LOOSE)
        upper[: widths.size] = widths.ravel()
        return WarmLinearProgram(costs, self.matrix, np.zeros(len(costs)), upper, sides, sides)

    def _fixed(self) -> sp.csc_array:
        """Columns of segments, kept credits and idle goods."""
        scaled, keepers = self.scaled, self.keepers
        n, m = scaled.shape
        count = n * TANGENTS
        rows = [m + np.repeat(np.arange(n), TANGENTS), m + keepers, np.arange(m)]
        numbers = np.concatenate([-np.ones(count), scaled.keep[keepers], np.ones(m)])
        places = np.concatenate(rows), np.arange(len(numbers))
        return sp.csc_array((numbers, places), shape=(m + n, len(numbers)))

    def _costs(self) -> tuple[Array, Array]:
        """Reduced costs of all columns at the last duals, in units of the grid; widths."""
        scaled = self.scaled
        slopes, widths = segments(self.grid, scaled.caps)
        costs = np.zeros(self.matrix.shape[1])
        told = [(-scaled.budgets[:, None] * slopes).ravel(), scaled.budgets[self.keepers]]
        costs[: self.fixed.shape[1]] = np.concatenate([*told, -scaled.floor])
        return (costs - self.matrix.T @ self.duals) / self.unit, widths

    def _columns(self, which: NDArray[np.int64]) -> sp.csc_array:
        """Columns of some activities: what they use, and what they are worth to their owner."""
        (n, _), owner = self.scaled.shape, self.scaled.owner[which]
        places = np.arange(len(which)), owner
        worth = sp.csr_array((self.scaled.worth[which], places), shape=(len(which), n))
        uses: Any = self.scaled.uses[which]
        return sp.csc_array(sp.hstack([uses, worth]).T)

    def _first(self) -> NDArray[np.int64]:
        """All activities, or those that bring most were all goods of one price."""
        every = np.arange(len(self.scaled.owner))
        if len(every) <= SMALL:
            return every
        return self._few(every, self.scaled.uses.sum(axis=1) / self.scaled.worth)

    def _few(self, which: NDArray[np.int64], cost: Array) -> NDArray[np.int64]:
        """Of some activities, the few cheapest of each buyer and of each scarcest good."""
        lot = np.random.default_rng(0).random(len(which))
        good = np.asarray(self.scaled.uses[which].argmax(axis=1)).ravel()
        kept = rank(self.scaled.owner[which], cost, lot) < FEW
        return which[kept | (rank(good, cost, lot) < FEW)]

    def _solved(self, program: WarmLinearProgram, deadline: float) -> Solution:
        """Solve with the activities there are; price the others, add what is wanted, and again."""
        scaled, (_, m) = self.scaled, self.scaled.shape
        every = np.arange(len(scaled.owner))
        while True:
            found = program.solve(deadline - time.monotonic())
            self.solves += 1
            self.columns = len(self.chosen)
            if self.columns == len(every) or not found.optimal:
                return found
            duals = self.duals + self.unit * found.duals
            reduced = -(scaled.uses @ duals[:m] + scaled.worth * duals[m + scaled.owner])
            reduced[self.chosen] = 0
            wanted = reduced < -WANTED * self.unit
            if not wanted.any():
                return found
            new = self._few(every[wanted], reduced[wanted])
            columns = self._columns(new)
            cost = -(columns.T @ self.duals) / self.unit
            program.add_columns(cost, columns, np.zeros(len(new)), np.full(len(new), LOOSE))
            self.chosen = np.concatenate([self.chosen, new])
            self.matrix = sp.csc_array(sp.hstack([self.matrix, columns]))

    def _measured(self, columns: Array, duals: Array) -> tuple[Levels, Array]:
        """Return the point with its gap, and utilities within the range."""
        scaled, (n, m) = self.scaled, self.scaled.shape
        begin = n * TANGENTS
        levels, kept = np.zeros(len(scaled.owner)), np.zeros(n)
        levels[self.chosen] = np.maximum(columns[self.fixed.shape[1] :], 0)
        kept[self.keepers] = np.maximum(columns[begin : begin + len(self.keepers)], 0)
        utility = total_by(scaled.owner, scaled.worth * levels, n) + scaled.keep * kept
        # what is above the reserve by no more than the tolerance is at it
        sold = -duals[:m] > scaled.floor + WANTED * self.unit
        prices = np.where(sold, -duals[:m], scaled.floor)
        lost = float(scaled.budgets @ above_log(self.grid, utility))
        gap = lost / (float(prices.sum()) or n)  # over the worth of supplies, as everywhere
        point = Levels(np.inf if np.isnan(gap) else gap, prices, levels, kept)
        return point, np.clip(utility, scaled.low, scaled.high)
