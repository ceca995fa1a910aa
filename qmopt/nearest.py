"""The flow on a tight graph that moves the fewest chips away from what runs.

A linear program: of the flow on each pair, what runs already up to what ran there is *kept* and
the rest is *new*, and both stand for chips. Small ones go to HiGHS. Large ones, of many buyers and
few goods, are solved by an interior point whose equations are dense in the few goods alone; pushing
flow round cycles then makes a forest of it, and can only bring it nearer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from qmopt.forest import without_cycles
from qmopt.hubs import Hubs
from qmopt.solvers import linear_program
from qmopt.support import balance, entropic, missed
from qmopt.tight import TightGraph
from qmopt.utilities.pairs import entries
from qmopt.utilities.protocol import Allocation, Array

#: Edges beyond which the interior point is quicker.
LARGE = 5000
#: Nodes on the smaller side up to which its dense matrix fits.
MOST_HUBS = 4000
#: Steps of the interior point at most, and the residuals (relative) at which it stops.
STEPS, DONE = 100, 1e-11
TINY = float(np.finfo(float).tiny)


def nearest_flow(graph: TightGraph, flow: Array, near: Allocation) -> Array:
    """Flow, shape (E,) credits, that meets the requirements and moves the fewest chips.

    Parameters
    ----------
    graph, flow
        A tight graph, and a flow (E,) that meets its requirements about as well as can be.
    near
        Shape (n, m), units: what runs.
    """
    program = _Program(graph, near)
    hubs = min(len(set(graph.source.tolist())), len(set(graph.sink.tolist())))
    if len(graph.source) <= LARGE or hubs > MOST_HUBS:
        nearest = program.by_simplex(2 * missed(graph, flow) + 1e-10)
    else:
        nearest = program.forest(program.by_interior_point())
    return balance(graph, nearest)


class _Program:
    """Columns: new flow on every edge, then kept flow on pairs that run, scaled by their ends."""

    def __init__(self, graph: TightGraph, near: Allocation) -> None:
        self.graph = graph
        pair = graph.is_pair
        good = graph.sink[pair] - graph.market.n
        chips = np.zeros(len(pair))
        chips[pair] = 1 / graph.prices[good]
        running = np.zeros(len(pair))
        running[pair] = entries(near, graph.source[pair], good) * graph.prices[good]
        self.scale = graph.least_requirement
        running = np.minimum(running, self.scale)
        self.runs = np.flatnonzero(running > 0)
        self.edge = np.concatenate([np.arange(len(pair)), self.runs])
        self.upper = running[self.runs] / self.scale[self.runs]
        chips *= self.scale
        chips /= max(float(chips.max(initial=0.0)), TINY)
        self.cost = np.concatenate([chips, -chips[self.runs]])
        self.used = np.flatnonzero(np.diff(graph.incidence.indptr) > 0)
        required = 1 / np.maximum(graph.requirement[self.used], TINY)
        self.ends = sp.csr_array(
            sp.diags_array(required) @ graph.incidence[self.used] @ sp.diags_array(self.scale)
        )

    def by_simplex(self, off: float) -> Array:
        """Flow on the edges (E,), by HiGHS; requirements may be missed by a share ``off``."""
        count, runs = len(self.scale), len(self.runs)
        rows = sp.csr_array(self.ends[:, self.edge])
        caps = sp.csr_array(
            (np.ones(runs), (np.arange(runs), count + np.arange(runs))), (runs, count + runs)
        )
        ones = np.ones(rows.shape[0])
        found = linear_program(
            self.cost,
            sp.csr_array(sp.vstack([rows, caps])),
            np.concatenate([ones - off, np.full(runs, -np.inf)]),
            np.concatenate([ones + off, self.upper]),
        )
        return np.zeros(count) if found is None else self._together(np.maximum(found, 0))

    def _together(self, columns: Array) -> Array:
        return self._by_edge(columns) * self.scale

    def by_interior_point(self) -> Array:
        """Columns, by Mehrotra's predictor and corrector."""
        edge, runs, upper, cost = self.edge, self.runs, self.upper, self.cost
        count, ends, back = len(self.scale), self.ends, sp.csr_array(self.ends.T)
        hubs = Hubs(ends, self.used < self.graph.market.n)
        # equal treatment is inside the bounds; where something ran, half of it is kept flow
        spread = np.maximum(entropic(self.graph) / self.scale, 1e-9)
        kept = np.minimum(spread[runs], upper) / 2
        x = np.concatenate([spread, kept])
        x[runs] -= kept
        room, y = upper - x[count:], np.zeros(ends.shape[0])
        low, high = np.ones(len(cost)), np.ones(len(runs))
        for _ in range(STEPS):
            missing = 1 - np.asarray(ends @ self._by_edge(x))
            dual = cost - np.asarray(back @ y)[edge] - low
            dual[count:] += high
            merit = float(x @ low + room @ high)
            size = 1 + abs(float(cost @ x))
            if max(merit / size, float(np.abs(missing).max()), float(np.abs(dual).max())) < DONE:
                break
            inverse = low / x
            inverse[count:] += high / room
            try:
                solve = hubs.solver(self._by_edge(1 / inverse))
            except np.linalg.LinAlgError:  # as near as it gets
                break

            def step(
                to_low: Array,
                to_high: Array,
                here: tuple[Array, ...] = (x, room, low, high, missing, dual, 1 / inverse),
                solve: Callable[[Array], Array] = solve,
            ) -> tuple[Array, ...]:
                """Return a step towards products of the bounds' two sides."""
                x, room, low, high, missing, dual, weight = here
                push = to_low / x - dual
                push[count:] -= to_high / room
                dy = solve(missing - ends @ self._by_edge(weight * push))
                dx = weight * (np.asarray(back @ dy)[edge] + push)
                droom = -dx[count:]
                return dx, droom, (to_low - low * dx) / x, (to_high - high * droom) / room, dy

            dx, droom, dlow, dhigh, _ = step(-x * low, -room * high)
            primal = min(_room(x, dx), _room(room, droom))
            other = min(_room(low, dlow), _room(high, dhigh))
            ahead = (x + primal * dx) @ (low + other * dlow)
            ahead += (room + primal * droom) @ (high + other * dhigh)
            center = (float(ahead) / merit) ** 3 * merit / (len(x) + len(room))
            dx, droom, dlow, dhigh, dy = step(
                center - x * low - dx * dlow, center - room * high - droom * dhigh
            )
            primal = min(1.0, 0.995 * min(_room(x, dx, 2), _room(room, droom, 2)))
            other = min(1.0, 0.995 * min(_room(low, dlow, 2), _room(high, dhigh, 2)))
            if not np.isfinite(dx).all() or max(primal, other) < 1e-6:
                break
            x, room = x + primal * dx, room + primal * droom
            y, low, high = y + other * dy, low + other * dlow, high + other * dhigh
        return x

    def _by_edge(self, columns: Array) -> Array:
        count = len(self.scale)
        added = columns[:count].copy()
        added[self.runs] += columns[count:]
        return added

    def forest(self, columns: Array) -> Array:
        """Flow on the edges (E,) with as few of them as can be, moving no more chips.

        What is kept goes over a node of its own per pair, whose other edge is what is not.
        """
        graph, count, runs = self.graph, len(self.scale), self.runs
        own = graph.bank + 1 + np.arange(len(runs))
        new, kept = columns[:count] * self.scale, columns[count:] * self.scale[runs]
        flow = np.concatenate([new, kept, np.maximum(self.upper * self.scale[runs] - kept, 0)])
        size = np.concatenate([self.scale, self.scale[runs], self.scale[runs]])
        gain = np.concatenate([-self.cost / self.scale[self.edge], np.zeros(len(runs))])
        order = np.argsort(-flow / size, kind="stable")
        _, left = without_cycles(
            graph.bank + 1 + len(runs),
            np.concatenate([graph.source, graph.source[runs], graph.sink[runs]]),
            np.concatenate([graph.sink, own, own]),
            gain,
            flow,
            order[flow[order] > 0],  # type: ignore[arg-type]
        )
        found = left[:count].copy()
        found[runs] += left[count : count + len(runs)]
        return found


def _room(at: Array, step: Array, most: float = 1.0) -> float:
    """Tell how far a step may go before something is negative."""
    falls = step < 0
    return float((-at[falls] / step[falls]).min(initial=most))
