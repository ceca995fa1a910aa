"""Which allocation: the flows that prices leave open, chosen by a rule.

Prices and utilities of an equilibrium are settled long before it is settled who holds which chip.
Three rules choose among the flows on the tight graph: any that meets the requirements (to judge
prices alone), the one nearest to a running allocation, and equal treatment (pro rata among ties).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from qmopt.forest import flows, grow, heaviest, without_cycles
from qmopt.level import level
from qmopt.market import Market
from qmopt.solvers import linear_program
from qmopt.tight import TightGraph, tight_graph
from qmopt.utilities.pairs import entries
from qmopt.utilities.protocol import Allocation, Array

#: Share of a requirement that correcting a flow may miss before what is lost is led back.
LOST = 1e-13
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
    if _missed(graph, flow) > LOST:
        # what the solver was off by may sit on edges outside the forest; on a forest nothing can
        order = np.argsort(-closest / graph.least_requirement, kind="stable")
        order = order[closest[order] > 0].tolist()
        ends, gain = (graph.source, graph.sink), np.zeros(len(closest))
        _, alone = without_cycles(graph.bank + 1, *ends, gain, closest, order)
        others = (balance(graph, alone), closest)
        flow = min(flow, *others, key=lambda flow: _missed(graph, flow))
    return graph.allocation(flow)


def _missed(graph: TightGraph, flow: Array) -> float:
    """Largest share of a requirement that a flow misses."""
    off = np.abs(graph.requirement - graph.incidence @ flow)
    return float((off / np.maximum(graph.requirement, TINY)).max(initial=0.0))


def closest_flow(graph: TightGraph, near: Allocation | None = None) -> Array:
    """Flow on a tight graph, shape (E,) credits, nearest to a running allocation if one is given.

    First the least share is found by which requirements must be missed; then, within it, the flow
    that moves the fewest chips. Flows are scaled by the smaller requirement of their ends, so that
    small teams count as much as large ones.
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
    if near is not None:
        missed = max(float(found[-1]), 0) * (1 + 1e-6) + 1e-10
        nearest = linear_program(*_fewest_moves(graph, near, scale, shares, missed))
        found = found if nearest is None else nearest
    return np.maximum(found[:edges], 0) * scale


def _fewest_moves(
    graph: TightGraph, near: Allocation, scale: Array, shares: sp.csr_array, missed: float
) -> tuple[Array, sp.csr_array, Array, Array]:
    """Linear program of the flow that moves the fewest chips: cost, rows and their bounds.

    Variables are the scaled flows, then for each pair how far it moves, scaled alike.
    """
    pair = np.flatnonzero(graph.is_pair)
    buyer, good = graph.source[pair], graph.sink[pair] - graph.market.n
    chips = scale[pair] / graph.prices[good]  # per unit of scaled flow
    running = entries(near, buyer, good) / chips
    pick = sp.csr_array(
        (np.ones(len(pair)), (np.arange(len(pair)), pair)), shape=(len(pair), len(scale))
    )
    same = sp.eye_array(len(pair))
    none = sp.csr_array((shares.shape[0], len(pair)))
    rows = sp.vstack([sp.hstack([shares, none]), sp.hstack([pick, same]), sp.hstack([pick, -same])])
    ones, infinite = np.ones(shares.shape[0]), np.full(len(pair), np.inf)
    return (
        np.concatenate([np.zeros(len(scale)), chips / chips.max(initial=1e-300)]),
        sp.csr_array(rows),
        np.concatenate([ones - missed, running, -infinite]),
        np.concatenate([ones + missed, infinite, running]),
    )


def balance(graph: TightGraph, flow: Array) -> Array:
    """Move a flow that nearly meets the requirements onto them, along its heaviest forest."""
    nodes = graph.bank + 1
    weight = flow / graph.least_requirement
    kept = heaviest(nodes, graph.source, graph.sink, weight)
    first = [graph.bank, *np.argsort(-graph.requirement, kind="stable").tolist()]
    ends = [(int(graph.source[k]), int(graph.sink[k])) for k in kept]
    missing = np.append(graph.requirement - graph.incidence @ flow, 0.0)
    forest = grow(nodes, ends, first)
    correction, _ = flows(forest, missing.tolist(), len(kept))
    balanced = flow.copy()
    balanced[kept] += correction
    balanced = np.maximum(balanced, 0)
    if _missed(graph, balanced) > LOST:
        rest = balanced.copy()
        rest[kept] = 0
        needed = np.append(np.maximum(graph.requirement - graph.incidence @ rest, 0), np.inf)
        size = np.append(graph.requirement, np.inf)
        balanced[kept] = level(forest, needed, size, balanced[kept])
    return balanced


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
    ends = sp.csr_array(graph.incidence[:, loose])
    target = graph.requirement - graph.incidence[:, ~loose] @ flow[~loose]
    nodes = np.flatnonzero(np.diff(ends.indptr) > 0)
    ends, target = sp.csr_array(ends[nodes]), np.maximum(target[nodes], 0)
    # flow = prior * exp(sum of the potentials at its ends); with requirements as potentials and
    # their total as divisor, the prior already is the pro-rata flow where everything is tied
    parts, part = connected_components(ends @ ends.T, directed=False)
    side = nodes < graph.market.n
    total = np.bincount(part[side], weights=target[side], minlength=parts)
    by_edge = sp.csr_array(ends.T)
    part = part[by_edge.indices[by_edge.indptr[:-1]]]
    pair = graph.is_pair[loose]
    prior = np.ones(len(pair))
    prior[pair] /= total[part[pair]]  # parts without a buyer have no pairs either
    potential = np.log(target)

    def at(potential: Array) -> Array:
        return prior * np.exp(by_edge @ potential)

    for _ in range(sweeps):
        for mine in (side, ~side):
            now = ends @ at(potential)
            potential = potential + np.where(mine, np.log(target / now), 0.0)
    size = 1 / np.sqrt(target)
    for _ in range(steps):
        moving = at(potential)
        short = target - ends @ moving
        if np.abs(short / target).max() < 1e-14:
            break
        curvature = sp.diags_array(size) @ ends @ sp.diags_array(moving) @ ends.T
        hessian = curvature @ sp.diags_array(size) + 1e-13 * sp.eye_array(len(nodes))
        step = size * splu(sp.csc_array(hessian)).solve(size * short)
        length, value = 1.0, float(moving.sum() - target @ potential)
        # where no flow changes by a third, the whole step is right, and the value could not tell:
        # near its least it is flat to within rounding for half of the digits
        while length > 1e-10 and np.abs(by_edge @ step).max() * length > 1 / 4:
            trial = potential + length * step
            if float(at(trial).sum() - target @ trial) <= value:
                break
            length /= 2
        potential = potential + length * step
    spread = flow.copy()
    spread[loose] = at(potential)
    return balance(graph, spread)
