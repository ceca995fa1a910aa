"""Spanning forests of the tight graph: who buys what, and nothing that could be left out.

Nodes are buyers, goods and one *bank* that takes kept credits and buys idle units back at their
reserve. Every edge carries a nonnegative flow of credits. Buyers and goods each have a requirement
(the budget; the value of the supply) that the flows at the node add up to; the bank has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qmopt.loops import run
from qmopt.utilities.protocol import Array

#: The two nodes of each edge: pairs, or an array (E, 2).
Ends: TypeAlias = "Sequence[tuple[int, int]] | NDArray[np.int64]"


@dataclass(frozen=True)
class Forest:
    """Rooted trees over the nodes, listed so that parents come before their children.

    Parameters
    ----------
    order
        Shape (N,): every node once, parents first, trees one after the other.
    parent
        Shape (N,): parent of each node, -1 for roots.
    edge
        Shape (N,): which of the given edges leads to the parent, -1 for roots.
    tree
        Shape (N,): number of the tree that a node is in.
    depth
        Shape (N,): edges between a node and the root of its tree.
    """

    order: list[int]
    parent: list[int]
    edge: list[int]
    tree: list[int]
    depth: list[int]


def grow(nodes: int, ends: Ends, first: Sequence[int]) -> Forest:
    """Root the forest of the given edges, each tree at its first node in the order ``first``.

    Parameters
    ----------
    nodes
        Number of nodes.
    ends
        The two nodes of each edge, (E, 2); the edges must not contain a cycle.
    first
        Every node once: the order in which roots are chosen.
    """
    pairs = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
    # both directions of each edge, by the node that they start from
    tail, head = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    order = np.argsort(tail, kind="stable")
    begin = np.searchsorted(tail[order], np.arange(nodes + 1))
    none = np.full(nodes, -1)
    filled = run(
        _grow, nodes, begin, head[order], order % max(len(pairs), 1), list(first),
        np.zeros(nodes, dtype=np.int64), none, none, none, np.zeros(nodes, dtype=np.int64),
    )  # fmt: skip
    return Forest(*filled[4:])


def _grow(begin, head, via, first, order, parent, edge, tree, depth):  # noqa: ANN001, ANN202
    count = trees = 0
    for root in first:
        if tree[root] >= 0:
            continue
        tree[root] = trees
        start = count
        order[count] = root
        count += 1
        while start < count:
            node = order[start]
            start += 1
            for k in range(begin[node], begin[node + 1]):
                if via[k] != edge[node]:
                    other = head[k]
                    parent[other] = node
                    edge[other] = via[k]
                    tree[other] = trees
                    depth[other] = depth[node] + 1
                    order[count] = other
                    count += 1
        trees += 1


def heaviest(
    nodes: int, one: NDArray[np.int64], other: NDArray[np.int64], weight: Array
) -> list[int]:
    """Edges of a spanning forest of greatest total weight (Kruskal), heaviest first."""
    leader = list(range(nodes))

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    kept: list[int] = []
    for k in np.argsort(-weight, kind="stable").tolist():
        a, b = find(int(one[k])), find(int(other[k]))
        if a != b:
            leader[a] = b
            kept.append(k)
    return kept


def flows(forest: Forest, requirement: Sequence[float], edges: int) -> tuple[Array, Array]:
    """Flows on the edges of a forest that meet every requirement, leaves first.

    Returns
    -------
    flow
        Shape (edges,): may be negative where no nonnegative flow exists. A tree whose requirements
        do not balance leaves the difference at its root.
    scale
        Shape (edges,): sum of the requirements below each edge, to which its rounding is relative.
    """
    needed = np.array(requirement, dtype=float)
    *_, flow, scale = run(
        _flows, len(needed), forest.order, forest.parent, forest.edge,
        needed, np.abs(needed), np.zeros(edges), np.zeros(edges),
    )  # fmt: skip
    return np.array(flow, dtype=float), np.array(scale, dtype=float)


def _flows(order, parent, edge, needed, below, flow, scale):  # noqa: ANN001, ANN202
    for k in range(len(order) - 1, -1, -1):
        node = order[k]
        up = parent[node]
        if up >= 0:
            flow[edge[node]] = needed[node]
            scale[edge[node]] = below[node]
            needed[up] -= needed[node]
            below[up] += below[node]


def path(forest: Forest, one: int, other: int) -> tuple[list[int], list[int]]:
    """Edges from each of two nodes of one tree up to where their paths meet."""
    from_one: list[int] = []
    from_other: list[int] = []
    while one != other:
        if forest.depth[one] >= forest.depth[other]:
            from_one.append(forest.edge[one])
            one = forest.parent[one]
        else:
            from_other.append(forest.edge[other])
            other = forest.parent[other]
    return from_one, from_other


def without_cycles(
    nodes: int,
    source: NDArray[np.int64],
    sink: NDArray[np.int64],
    gain: Array,
    flow: Array,
    order: Sequence[int],
) -> tuple[list[int], Array]:
    """Push flow round every cycle, towards the greater gain, until one of its edges is empty.

    What flows into and out of each node stays as it is, so that the sum of flow times gain can only
    grow, and what remains is a forest.

    Parameters
    ----------
    nodes
        Number of nodes.
    source, sink, gain, flow
        Shape (E,): ends, gain per unit and nonnegative flow of every edge.
    order
        The edges that may carry flow, heaviest first; the others are emptied.

    Returns
    -------
    edges
        The edges of the forest.
    flow
        Shape (E,): the flow on it, zero elsewhere.
    """
    none = np.full(nodes, -1)
    *_, remaining, _, _, edges, _, _, _ = run(
        _cancel, 10 * len(order), source, sink, gain, flow, np.asarray(order, dtype=np.int64),
        none, none, np.arange(nodes), np.ones(nodes, dtype=np.int64), np.zeros(nodes, np.int64),
    )  # fmt: skip
    kept = [e for e in edges if e >= 0]
    left = np.zeros(len(flow))
    left[kept] = np.array(remaining)[kept]
    return kept, left


# One function, since compiled code calls no other: trees whose nodes know their parents.
def _cancel(source, sink, gain, flow, order, parent, edge, leader, size, mark):  # noqa: ANN001, ANN202
    stamp = 0
    for k in order:
        one, other = source[k], sink[k]
        a, b = one, other
        while leader[a] != a:
            leader[a] = leader[leader[a]]
            a = leader[a]
        while leader[b] != b:
            leader[b] = leader[leader[b]]
            b = leader[b]
        hang, under, until = -1, -1, -1
        if a != b:  # join the trees: the smaller is hung under the larger
            hang, under = one, other
            if size[a] > size[b]:
                a, b = b, a
                hang, under = other, one
            leader[a] = b
            size[b] += size[a]
        else:
            # once round: along k, then from its sink back to its source by where they meet
            stamp += 1
            node = one
            while node >= 0:
                mark[node] = stamp
                node = parent[node]
            meet = other
            while mark[meet] != stamp:
                meet = parent[meet]
            surplus = gain[k]
            node = other
            while node != meet:
                e = edge[node]
                surplus += gain[e] if source[e] == node else -gain[e]
                node = parent[node]
            node = one
            while node != meet:
                e = edge[node]
                surplus += gain[e] if sink[e] == node else -gain[e]
                node = parent[node]
            # flow rises along the gain; of the falling edges the one with least is emptied
            forward = surplus >= 0
            least, side = -1, 0
            if not forward:
                least = k
            node = other
            while node != meet:
                e = edge[node]
                if (source[e] == node) != forward and (least < 0 or flow[e] < flow[least]):
                    least, side = e, 1
                node = parent[node]
            node = one
            while node != meet:
                e = edge[node]
                if (sink[e] == node) != forward and (least < 0 or flow[e] < flow[least]):
                    least, side = e, 2
                node = parent[node]
            amount = flow[least]
            flow[k] += amount if forward else -amount
            node = other
            while node != meet:
                e = edge[node]
                flow[e] += amount if (source[e] == node) == forward else -amount
                node = parent[node]
            node = one
            while node != meet:
                e = edge[node]
                flow[e] += amount if (sink[e] == node) == forward else -amount
                node = parent[node]
            flow[least] = 0.0
            if least != k:  # k comes in where the empty edge goes out
                hang, under = (other, one) if side == 1 else (one, other)
                until = (
                    source[least]
                    if parent[source[least]] == sink[least] and edge[source[least]] == least
                    else sink[least]
                )
        # hang a node under another, turning round the pointers up to where its tree ends
        node, above, by = hang, under, k
        while node >= 0:
            old_parent, old_edge = parent[node], edge[node]
            parent[node], edge[node] = above, by
            if node == until:
                break
            node, above, by = old_parent, node, old_edge
