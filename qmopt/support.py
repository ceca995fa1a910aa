"""Which allocation: the flows that prices leave open, chosen by a rule.

Prices and utilities of an equilibrium are settled long before it is settled who holds which chip.
Rules choose among the flows on the tight graph: any that meets the requirements (to judge prices
alone), equal treatment (pro rata among ties), and the one nearest to a running allocation, which is
in :mod:`qmopt.nearest`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.sparse.linalg import splu

from qmopt.forest import flows, grow, without_cycles
from qmopt.hubs import Hubs
from qmopt.level import level
from qmopt.market import Market
from qmopt.solvers import linear_program
from qmopt.tight import TightGraph, tight_graph
from qmopt.utilities.protocol import Array

#: Share of a requirement that correcting a flow may miss before what is lost is led back.
LOST = 1e-13
#: Share by which scaling may leave requirements missed to Newton's method.
ALMOST = 1e-6
#: Nodes on the smaller side up to which a dense matrix of it is quickest.
MOST_HUBS = 2000
TINY = float(np.finfo(float).tiny)


def supporting_allocation(market: Market, prices: Array, tolerance: float) -> sp.csr_array:
    """Find an allocation of best bundles that comes closest to clearing the market at given prices.

    Parameters
    ----------
    market
        With linear utilities.
    prices
        Shape (m,), credits per unit.
    tolerance
        Share by which a pair may be worse than the best and still be bought.

    Returns
    -------
    csr_array
        Shape (n, m), units. Requirements that no flow can meet are missed by as small a share of
        the requirement as the worst of them needs; the certificate then shows it.
    """
    graph = tight_graph(market, prices, tolerance, idle_at_reserve=True)
    closest = closest_flow(graph)
    flow = balance(graph, closest)
    if missed(graph, flow) > LOST:
        # what the solver was off by may sit on edges outside the forest; on a forest nothing can
        order = np.argsort(-closest / graph.least_requirement, kind="stable")
        order = order[closest[order] > 0].tolist()
        ends, gain = (graph.source, graph.sink), np.zeros(len(closest))
        _, alone = without_cycles(graph.bank + 1, *ends, gain, closest, order)
        others = (balance(graph, alone), closest)
        flow = min(flow, *others, key=lambda flow: missed(graph, flow))
    return graph.allocation(flow)


def missed(graph: TightGraph, flow: Array) -> float:
    """Return the largest share of a requirement that a flow misses."""
    off = np.abs(graph.requirement - graph.incidence @ flow)
    return float((off / np.maximum(graph.requirement, TINY)).max(initial=0.0))


def closest_flow(graph: TightGraph) -> Array:
    """Flow on a tight graph, shape (E,) credits, that misses the least share of requirements.

    Flows are scaled by the smaller requirement of their ends, so that small teams count as much as
    large ones.
    """
    edges = len(graph.source)
    scale = graph.least_requirement
    required = np.where(graph.requirement > 0, graph.requirement, 1.0)
    shares = sp.csr_array(sp.diags_array(1 / required) @ graph.incidence @ sp.diags_array(scale))
    shares = shares[np.diff(shares.indptr) > 0]
    # one more variable: the share by which a requirement may be missed
    slack = sp.csr_array(np.ones((shares.shape[0], 1)))
    rows = sp.vstack([sp.hstack([shares, slack]), sp.hstack([shares, -slack])])
    ones, infinite = np.ones(shares.shape[0]), np.full(shares.shape[0], np.inf)
    found = linear_program(
        np.append(np.zeros(edges), 1.0),
        sp.csr_array(rows),
        np.concatenate([ones, -infinite]),
        np.concatenate([infinite, ones]),
    )
    if found is None:  # missing everything is feasible: this is the solver's failure
        return np.zeros(edges)
    return np.maximum(found[:edges], 0) * scale


def balance(graph: TightGraph, flow: Array) -> Array:
    """Move a flow that nearly meets the requirements onto them, along its heaviest forest."""
    nodes = graph.bank + 1
    kept = _heaviest(graph, flow / graph.least_requirement)
    first = np.append(graph.bank, np.argsort(-graph.requirement, kind="stable"))
    ends = np.stack([graph.source[kept], graph.sink[kept]], axis=1)
    missing = np.append(graph.requirement - graph.incidence @ flow, 0.0)
    forest = grow(nodes, ends, first.tolist())
    correction, _ = flows(forest, missing.tolist(), len(kept))
    balanced = flow.copy()
    balanced[kept] += correction
    balanced = np.maximum(balanced, 0)
    if missed(graph, balanced) > LOST:
        rest = balanced.copy()
        rest[kept] = 0
        needed = np.append(np.maximum(graph.requirement - graph.incidence @ rest, 0), np.inf)
        size = np.append(graph.requirement, np.inf)
        balanced[kept] = level(forest, needed, size, balanced[kept])
    return balanced


def _heaviest(graph: TightGraph, weight: Array) -> NDArray[np.int64]:
    """Edges of a spanning forest of greatest total weight, heaviest first."""
    order = np.argsort(-weight, kind="stable")
    nodes = graph.bank + 1
    rank = np.arange(1.0, len(order) + 1)
    ranked = sp.csr_array((rank, (graph.source[order], graph.sink[order])), shape=(nodes, nodes))
    kept = np.sort(minimum_spanning_tree(ranked).data).astype(np.int64)
    return order[kept - 1]


def pro_rata(graph: TightGraph, flow: Array, sweeps: int = 50, steps: int = 60) -> Array:
    """Equal treatment among ties: the flow of greatest entropy that meets the requirements.

    Only what can change is changed. Without other constraints, each buyer gets of each good the
    share that its budget is of all; equal buyers get equal bundles, whatever their order. Found by
    alternating scaling, then Newton's method on its dual.

    Parameters
    ----------
    graph, flow
        A tight graph and a flow on it, shape (E,), that meets the requirements.
    sweeps, steps
        At most so many sweeps of scaling and Newton steps.
    """
    loose = graph.loose(flow)
    if not loose.any():
        return flow
    spread = flow.copy()
    spread[loose] = entropic(graph.part(loose, flow), sweeps, steps)
    return spread


def entropic(graph: TightGraph, sweeps: int = 50, steps: int = 60) -> Array:
    """Flow of greatest entropy, shape (E,), on a graph of which every edge may carry some."""
    ends = graph.incidence
    nodes = np.flatnonzero(np.diff(ends.indptr) > 0)
    ends, target = sp.csr_array(ends[nodes]), graph.requirement[nodes]
    # flow = prior * exp(sum of the potentials at its ends); with requirements as potentials and
    # their total as divisor, the prior already is the pro-rata flow where everything is tied
    parts, part = connected_components(ends @ ends.T, directed=False)
    side = nodes < graph.market.n
    total = np.bincount(part[side], weights=target[side], minlength=parts)
    by_edge = sp.csr_array(ends.T)
    part = part[by_edge.indices[by_edge.indptr[:-1]]]
    pair = graph.is_pair
    prior = np.ones(len(pair))
    prior[pair] /= total[part[pair]]  # parts without a buyer have no pairs either
    potential = np.log(target)

    def at(potential: Array) -> Array:
        return prior * np.exp(by_edge @ potential)

    for _ in range(sweeps):
        for mine in (side, ~side):
            now = ends @ at(potential)
            potential = potential + np.where(mine, np.log(target / now), 0.0)
        if np.abs(now / target - 1).max() < ALMOST:
            break
    hubs = Hubs(ends, side) if min(side.sum(), (~side).sum()) <= MOST_HUBS else None
    last = np.inf
    for _ in range(steps):
        moving = at(potential)
        short = target - ends @ moving
        worst = float(np.abs(short / target).max())
        if worst < 1e-14 or (worst < ALMOST**2 and worst > last / 2):
            break
        last = worst
        try:
            if hubs is None:
                step = _newton(ends, moving, short, target)
            else:
                step = hubs.solver(moving)(short)
        except np.linalg.LinAlgError:  # what is left is balanced
            break
        length, value = 1.0, float(moving.sum() - target @ potential)
        # where no flow changes by a third, the whole step is right, and the value could not tell:
        # near its least it is flat to within rounding for half of the digits
        while length > 1e-10 and np.abs(by_edge @ step).max() * length > 1 / 4:
            trial = potential + length * step
            if float(at(trial).sum() - target @ trial) <= value:
                break
            length /= 2
        potential = potential + length * step
    return balance(graph, at(potential))


def _newton(ends: sp.csr_array, weights: Array, short: Array, target: Array) -> Array:
    """Solve the weighted normal equations where both sides are large, by a sparse factorization."""
    size = 1 / np.sqrt(target)
    curvature = sp.diags_array(size) @ ends @ sp.diags_array(weights) @ ends.T
    hessian = curvature @ sp.diags_array(size) + 1e-13 * sp.eye_array(len(size))
    return size * splu(sp.csc_array(hessian)).solve(size * short)
