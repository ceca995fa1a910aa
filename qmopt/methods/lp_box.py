"""Shmyrev's program in a box of prices, as a linear program with few rows.

In whole supplies and logs, with the spends b[i, j] of buyers and the worth r_j of supplies::

    min  sum_j r_j (log r_j - 1) - sum_ij b[i, j] worth[i, j]    over  sum_j b[i, j] = B_i,
                                                                      sum_i b[i, j] = r_j

Only the m terms in r_j are curved. Each is replaced by the largest of a few of its tangents, at
log prices that divide the box around a centre evenly: r_j is a sum of segments, cheap ones first,
and the dual of its row is a log price that stays in the box. So only options that are best
somewhere in the box matter. A buyer with one of them spends a constant; one with two has a
variable between 0 and its budget and no row; every other has a row. Costs are measured from the
centre in units of the box: with it, the solver's absolute tolerances shrink.

A reserve price cuts the tangents below it off: what is left at its slope is the worth of idle
units. A kept credit is spent at the bank, whose price is 1, and which has no row.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.highs import WarmLinearProgram
from qmopt.methods.lp_options import Near
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Tangents to each price term.
TANGENTS = 17
#: Options per buyer, and buyers per good, that a restricted program starts with or is given more.
FEW = 8
#: Reduced cost, in units of the box, of an option that is wanted.
WANTED = 1e-9
TINY = float(np.finfo(float).tiny)


class BoxPoint(NamedTuple):
    """Where the linear program ended.

    ``spend`` has one entry for each option that was near, and adds up to the budgets;
    ``log_prices`` (m,) are the row duals, in the box.
    """

    spend: Array
    log_prices: Array
    status: str
    solves: int
    columns: int


def solve_box(
    near: Near, budgets: Array, centre: Array, half: Array, floor: Array, deadline: float
) -> BoxPoint:
    """Solve the program in the box of log prices ``centre - half`` to ``centre + half``.

    Columns are generated: of the options, the few nearest to the best at the centre first, then
    what the duals price in.

    Parameters
    ----------
    near
        Every option that can be the best of its buyer in the box.
    budgets
        Shape (n,), all positive.
    centre, half, floor
        Shape (m,): log prices of whole supplies, half the widths of the box, log reserves.
    deadline
        Of ``time.monotonic()``; where it strikes the point is what there is.

    Raises
    ------
    SolverFailed
        If HiGHS returns no numbers.
    SolverNotInstalled
        If there is no highspy.
    """
    box = _Box(near, budgets, centre, half, floor)
    flow, duals, status, solves, columns = box.generate(deadline)
    moved = np.clip(duals[: len(centre)] * box.unit, -half, half)
    return BoxPoint(box.spends(flow), np.maximum(centre + moved, floor), status, solves, columns)


class _Box:
    def __init__(
        self, near: Near, budgets: Array, centre: Array, half: Array, floor: Array
    ) -> None:
        self.near, self.budgets, self.m = near, budgets, len(centre)
        self.centre, self.half, self.floor = centre, half, floor
        self.unit = float(half.max())
        # credits per unit of flow: about the mean worth of a supply
        self.credit = min(float(budgets.sum()), float(np.exp(centre).sum())) / self.m
        dear = near.worth - np.append(centre, 0.0)[near.good]
        order = np.lexsort((-dear, near.buyer))
        buyer = near.buyer[order]
        start = np.flatnonzero(np.append(True, buyer[1:] != buyer[:-1]))
        count = np.diff(np.append(start, len(buyer)))
        self.base = order[start]  # the best option of each buyer takes what the others leave
        self.other = np.delete(order, start)
        owner = near.buyer[self.other]
        self.cost = np.maximum(dear[self.base][owner] - dear[self.other], 0) / self.unit
        self.rows = np.flatnonzero(count > 2)
        self.row_of = np.full(len(start), -1)
        self.row_of[self.rows] = self.m + np.arange(len(self.rows))

    def generate(self, deadline: float) -> tuple[Array, Array, str, int, int]:
        """Solve with few columns, price the others, add what is wanted, and again."""
        columns = self._columns()
        upper = self.budgets[self.near.buyer[self.other]] / self.credit
        slope, width = self._segments()
        constant = total_by(self.near.good[self.base], self.budgets, self.m + 1)[: self.m]
        limit = self.budgets[self.rows] / self.credit
        chosen = self._few(np.arange(len(self.other)), self.cost)
        program = WarmLinearProgram(
            np.concatenate([slope.ravel(), self.cost[chosen]]),
            sp.csc_array(sp.hstack([self._segment_columns(), columns[:, chosen]])),
            np.zeros(slope.size + len(chosen)),
            np.concatenate([width.ravel(), upper[chosen]]),
            np.concatenate([constant / self.credit, np.full(len(limit), -np.inf)]),
            np.concatenate([constant / self.credit, limit]),
        )
        left = np.setdiff1d(np.arange(len(self.other)), chosen)
        solves = 0
        while True:
            found = program.solve(deadline - time.monotonic())
            solves += 1
            if not left.size or not found.optimal or time.monotonic() > deadline:
                break
            reduced = self.cost[left] - columns[:, left].T @ found.duals
            wanted = reduced < -WANTED
            if not wanted.any():
                break
            new = self._few(left[wanted], reduced[wanted])
            program.add_columns(self.cost[new], columns[:, new], np.zeros(len(new)), upper[new])
            chosen = np.concatenate([chosen, new])
            left = np.setdiff1d(left, new)
        flow = np.zeros(len(self.other))
        flow[chosen] = found.columns[slope.size :]
        return flow, found.duals, found.status, solves, len(chosen)

    def spends(self, flow: Array) -> Array:
        """Credits on every option, from flows that keep to the budgets but for tolerances."""
        near, owner = self.near, self.near.buyer[self.other]
        flow = np.clip(flow * self.credit, 0, self.budgets[owner])
        total = total_by(owner, flow, len(self.budgets))
        flow *= np.minimum(1, self.budgets / np.maximum(total, TINY))[owner]
        spend = np.zeros(len(near.buyer))
        spend[self.other] = flow
        left = self.budgets - total_by(owner, flow, len(self.budgets))
        spend[self.base] = np.maximum(left, 0)
        return spend

    def _columns(self) -> sp.csc_array:
        """Return the matrix of credits moved from bases to other options, (rows, others)."""
        good, base = self.near.good[self.other], self.near.good[self.base]
        owner = self.near.buyer[self.other]
        rows = np.concatenate([good, base[owner], self.row_of[owner]])
        columns = np.tile(np.arange(len(good)), 3)
        signs = np.repeat([-1.0, 1.0, 1.0], len(good))
        exists = rows >= 0
        exists[: 2 * len(good)] &= rows[: 2 * len(good)] < self.m  # the bank has no row
        return sp.csc_array(
            (signs[exists], (rows[exists], columns[exists])),
            shape=(self.m + len(self.rows), len(good)),
        )

    def _segment_columns(self) -> sp.csc_array:
        count = self.m * TANGENTS
        return sp.csc_array(
            (np.ones(count), np.repeat(np.arange(self.m), TANGENTS), np.arange(count + 1)),
            shape=(self.m + len(self.rows), count),
        )

    def _segments(self) -> tuple[Array, Array]:
        """Slopes from the centre in boxes, and widths in units of flow, (m, TANGENTS)."""
        grid = np.linspace(-1, 1, TANGENTS)
        point = np.maximum(self.centre[:, None] + self.half[:, None] * grid, self.floor[:, None])
        step = np.diff(point, axis=1)
        # two tangents meet at the logarithmic mean of the prices where they touch
        mean = np.where(step > 0, np.expm1(step) / np.where(step > 0, step, 1), 1.0)
        meet = np.exp(point[:, :-1] - np.log(self.credit)) * mean
        width = np.maximum(np.diff(meet, axis=1, prepend=0.0), 0)
        last = np.full((self.m, 1), np.inf)
        return (point - self.centre[:, None]) / self.unit, np.concatenate([width, last], axis=1)

    def _few(self, others: NDArray[np.int64], cost: Array) -> NDArray[np.int64]:
        """Of some options, the few cheapest of each buyer and of each good; ties by lot."""
        lot = np.random.default_rng(0).random(len(others))
        place = self.other[others]
        kept = rank(self.near.buyer[place], cost, lot) < FEW
        kept |= rank(self.near.good[place], cost, lot) < FEW
        return others[kept]


def rank(group: NDArray[np.int64], cost: Array, lot: Array) -> NDArray[np.int64]:
    """Place of each within its group, cheapest first; ties by lot."""
    order = np.lexsort((lot, cost, group))
    sorted_group = group[order]
    start = np.flatnonzero(np.append(True, sorted_group[1:] != sorted_group[:-1])[: len(group)])
    rank = np.empty(len(group), dtype=np.int64)
    count = np.diff(np.append(start, len(group)))
    rank[order] = np.arange(len(group)) - np.repeat(start, count)
    return rank
