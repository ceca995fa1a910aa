"""Flows on a forest that meet every requirement relative to itself, however lopsided the sizes.

Eliminating leaves carries the rounding of the largest requirements to the smallest: a team of one
credit that joins two parts of 1e12 credits each would be told to spend a millionth more than it
has. What is missing belongs where it was lost: with the large, of whom it is the last bit.
"""

from __future__ import annotations

import numpy as np

from qmopt.forest import Forest
from qmopt.utilities.protocol import Array

#: Shares by which requirements may be missed: the first at which a flow exists is taken.
SHARES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)


def level(forest: Forest, needed: Array, size: Array, flow: Array) -> Array:
    """Return nonnegative flows near the given ones that miss no requirement by a large share of it.

    Parameters
    ----------
    forest
        Trees over the nodes; a node whose size is infinite (the bank) takes any flow.
    needed
        Shape (N,): what the flows on the forest's edges at each node should add up to.
    size
        Shape (N,): to which the miss of each node is relative.
    flow
        Shape (edges,): where to start from.

    Returns
    -------
    ndarray
        Shape (edges,). The given flows, if they cannot be bettered.

    Examples
    --------
    A tree of a good, a small team and a good, with a large team at either end; the last bits of
    1e12 are 1.2e-4, far more than the small team's 1e-6 credits, and prices have rounded so that
    the first good seems to be worth 1e-4 more than its large team pays:

    >>> from qmopt.forest import grow
    >>> forest = grow(5, [(0, 1), (1, 2), (2, 3), (3, 4)], range(5))
    >>> needed = np.array([1e12, 1e12 + 1e-4, 1e-6, 1e12, 1e12])
    >>> flow = level(forest, needed, needed, np.array([1e12, 1e-4, 0, 1e12]))
    >>> bool(abs(flow[1] + flow[2] - 1e-6) < 1e-18)
    True
    """
    nominal = flow.tolist()
    children: list[list[int]] = [[] for _ in forest.order]
    for node, parent in enumerate(forest.parent):
        if parent >= 0:
            children[parent].append(node)
    for share in SHARES:
        slack = np.where(size < np.inf, share, 1.0) * size
        bounds = _bounds(forest, children, needed.tolist(), slack.tolist())
        if bounds is not None:
            return np.array(_choose(forest, children, needed.tolist(), bounds, nominal))
    return flow


def _bounds(
    forest: Forest, children: list[list[int]], needed: list[float], slack: list[float]
) -> tuple[list[float], list[float]] | None:
    """Least and greatest flow from each node to its parent; None if some node has none."""
    low, high = [0.0] * len(needed), [0.0] * len(needed)
    for node in reversed(forest.order):
        most = needed[node] + slack[node]
        least = 0.0
        if most < np.inf:
            # what goes up is what the children leave; none of them gets more than the node has
            least = needed[node] - slack[node] - sum(min(high[c], most) for c in children[node])
            most -= sum(low[c] for c in children[node])
        if most < 0 or (least > 0 and forest.parent[node] < 0):
            return None
        low[node], high[node] = max(least, 0.0), most
    return low, high


def _choose(
    forest: Forest,
    children: list[list[int]],
    needed: list[float],
    bounds: tuple[list[float], list[float]],
    nominal: list[float],
) -> list[float]:
    """From the roots down: flows within their bounds that add up, as near to the nominal ones."""
    low, high = bounds
    flow, up = list(nominal), [0.0] * len(needed)
    for node in forest.order:
        below = children[node]
        given = [min(max(nominal[forest.edge[c]], low[c]), high[c]) for c in below]
        missing = needed[node] - up[node] - sum(given)
        if np.isfinite(missing):
            ends = high if missing > 0 else low
            room = [abs(ends[c] - f) for c, f in zip(below, given, strict=True)]
            total = sum(room)
            part = max(-1.0, min(missing / total, 1.0)) if total > 0 else 0.0
            given = [f + part * r for f, r in zip(given, room, strict=True)]
        for c, f in zip(below, given, strict=True):
            flow[forest.edge[c]] = up[c] = f
    return flow
