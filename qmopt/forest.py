"""Spanning forests of the tight graph: who buys what, and nothing that could be left out.

Nodes are buyers, goods and one *bank* that takes kept credits and buys idle units back at their
reserve. Every edge carries a nonnegative flow of credits. Buyers and goods each have a requirement
(the budget; the value of the supply) that the flows at the node add up to; the bank has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qmopt.utilities.protocol import Array


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


def grow(nodes: int, ends: Sequence[tuple[int, int]], first: Sequence[int]) -> Forest:
    """Root the forest of the given edges, each tree at its first node in the order ``first``.

    Parameters
    ----------
    nodes
        Number of nodes.
    ends
        The two nodes of each edge; the edges must not contain a cycle.
    first
        Every node once: the order in which roots are chosen.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for k, (one, other) in enumerate(ends):
        neighbours[one].append((other, k))
        neighbours[other].append((one, k))
    parent, edge, tree, depth = [-1] * nodes, [-1] * nodes, [-1] * nodes, [0] * nodes
    order: list[int] = []
    trees = 0
    for root in first:
        if tree[root] >= 0:
            continue
        tree[root] = trees
        start = len(order)
        order.append(root)
        while start < len(order):
            node = order[start]
            start += 1
            for other, k in neighbours[node]:
                if k != edge[node]:
                    parent[other], edge[other], tree[other] = node, k, trees
                    depth[other] = depth[node] + 1
                    order.append(other)
        trees += 1
    return Forest(order, parent, edge, tree, depth)


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
    needed = list(requirement)
    below = [abs(amount) for amount in requirement]
    flow, scale = np.zeros(edges), np.zeros(edges)
    for node in reversed(forest.order):
        parent = forest.parent[node]
        if parent >= 0:
            flow[forest.edge[node]] = needed[node]
            scale[forest.edge[node]] = below[node]
            needed[parent] -= needed[node]
            below[parent] += below[node]
    return flow, scale


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
    ends = list(zip(source.tolist(), sink.tolist(), strict=True))
    gains, flows_ = gain.tolist(), flow.tolist()
    trees = _Hanging(nodes)
    for k in order:
        one, other = ends[k]
        if trees.join(one, other, k):
            continue
        # once round: along k, then from its sink back to its source
        there, back = trees.paths(other, one)
        along = [k] + [e for node, e in there if ends[e][0] == node]
        along += [e for node, e in back if ends[e][1] == node]
        against = [e for node, e in there if ends[e][1] == node]
        against += [e for node, e in back if ends[e][0] == node]
        if sum(gains[e] for e in along) < sum(gains[e] for e in against):
            along, against = against, along
        empty = min(against, key=flows_.__getitem__)
        amount = flows_[empty]
        for e in along:
            flows_[e] += amount
        for e in against:
            flows_[e] -= amount
        flows_[empty] = 0.0
        if empty != k:
            trees.exchange(k, (one, other), empty, there, back)
    kept = [e for e in trees.edge if e >= 0]
    remaining = np.zeros(len(flow))
    remaining[kept] = np.array(flows_)[kept]
    return kept, remaining


class _Hanging:
    """Trees whose nodes know their parents, and that can be hung up elsewhere."""

    def __init__(self, nodes: int) -> None:
        self.parent, self.edge = [-1] * nodes, [-1] * nodes
        self.leader, self.size = list(range(nodes)), [1] * nodes

    def find(self, node: int) -> int:
        """Return the leader of the tree that a node is in."""
        leader = self.leader
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    def join(self, one: int, other: int, edge: int) -> bool:
        """Join two trees by an edge; say no if it would close a cycle."""
        small, large = self.find(one), self.find(other)
        if small == large:
            return False
        if self.size[small] > self.size[large]:
            small, large, one, other = large, small, other, one
        self.leader[small] = large
        self.size[large] += self.size[small]
        self._hang(one, other, edge, until=-1)
        return True

    def _hang(self, node: int, parent: int, edge: int, until: int) -> None:
        """Hang a node under another, turning round the pointers from it up to where it ends."""
        while node >= 0:
            above, by = self.parent[node], self.edge[node]
            self.parent[node], self.edge[node] = parent, edge
            if node == until:
                return
            node, parent, edge = above, node, by

    def paths(self, one: int, other: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Nodes and the edges above them, from each of two nodes up to where their paths meet."""
        depth: dict[int, int] = {}
        node = other
        while node >= 0:
            depth[node] = len(depth)
            node = self.parent[node]
        from_one: list[tuple[int, int]] = []
        while one not in depth:
            from_one.append((one, self.edge[one]))
            one = self.parent[one]
        from_other: list[tuple[int, int]] = []
        while other != one:
            from_other.append((other, self.edge[other]))
            other = self.parent[other]
        return from_one, from_other

    def exchange(
        self,
        entering: int,
        ends: tuple[int, int],
        leaving: int,
        from_sink: list[tuple[int, int]],
        from_source: list[tuple[int, int]],
    ) -> None:
        """Put an edge in and take one of its cycle out."""
        for (hung, under), side in ((ends[::-1], from_sink), (ends, from_source)):
            cut = next((node for node, e in side if e == leaving), None)
            if cut is not None:
                self._hang(hung, under, entering, until=cut)
