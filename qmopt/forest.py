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
