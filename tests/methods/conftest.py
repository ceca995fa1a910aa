"""Equilibrium prices in rationals, by trying every way in which credits could flow.

Shares nothing with the package. Nodes are teams, goods and a bank that takes kept credits and buys
idle units back at their reserve. Some equilibrium has spends that form no cycle (credits can be
moved round a cycle until one of its spends is gone), so trying every set of edges without a cycle
finds it. On such a set prices follow from the tree, and spends from its leaves.
"""

import itertools
from fractions import Fraction

import pytest


def roots(nodes, edges):
    """Root of every node's tree, or None if the edges close a cycle."""
    root = list(range(nodes))

    def find(node):
        while root[node] != node:
            node = root[node]
        return node

    for source, sink, _ in edges:
        a, b = find(source), find(sink)
        if a == b:
            return None
        root[a] = b
    return [find(node) for node in range(nodes)]


def levels(nodes, edges, tree, budgets, supplies):
    """Cost per utility of teams, price of goods, 1 at the bank; None if a tree has no goods."""
    n, bank = len(budgets), nodes - 1
    level = [None] * nodes
    for start in [bank, *range(bank)]:
        if level[start] is not None:
            continue
        level[start], grew = Fraction(1), True
        while grew:
            grew = False
            for source, sink, value in edges:
                if level[source] is not None and level[sink] is None:
                    level[sink], grew = level[source] * value, True
                elif level[sink] is not None and level[source] is None:
                    level[source], grew = level[sink] / value, True
        mine = [node for node in range(bank) if tree[node] == tree[start]]
        if start == bank:
            continue
        worth = sum(supplies[node - n] * level[node] for node in mine if node >= n)
        credit = sum(budgets[node] for node in mine if node < n)
        if worth == 0 or credit == 0:
            return None
        for node in mine:
            level[node] *= credit / worth
    return level


def spends(nodes, edges, required):
    """Flow on every edge of a forest, leaves first; the bank takes whatever is left."""
    left, needed, flow = list(edges), list(required), {}
    while left:
        degree = [sum(node in edge[:2] for edge in left) for node in range(nodes)]
        edge, leaf, other = next(
            (edge, a, b)
            for edge in left
            for a, b in (edge[:2], edge[1::-1])
            if degree[a] == 1 and a != nodes - 1
        )
        flow[edge] = needed[leaf]
        needed[other] -= needed[leaf]
        left.remove(edge)
    return flow


def solve(budgets, supplies, values, keep=None, reserves=None):
    """Exact prices of a small market; whole numbers or fractions in, fractions out."""
    n, m = len(budgets), len(supplies)
    bank, nodes = n + m, n + m + 1
    budgets, supplies = [[Fraction(x) for x in numbers] for numbers in (budgets, supplies)]
    edges = [
        (i, n + j, Fraction(values[i][j])) for i in range(n) for j in range(m) if values[i][j] > 0
    ]
    edges += [(i, bank, Fraction(keep[i])) for i in range(n) if keep is not None and keep[i] > 0]
    if reserves is not None:
        edges += [(bank, n + j, Fraction(reserves[j])) for j in range(m) if reserves[j] > 0]
    for size in range(max(n, m), nodes):
        for chosen in itertools.combinations(edges, size):
            tree = roots(nodes, chosen)
            if tree is None or not set(range(bank)) <= {x for edge in chosen for x in edge[:2]}:
                continue
            level = levels(nodes, chosen, tree, budgets, supplies)
            if level is None or any(level[b] > value * level[a] for a, b, value in chosen):
                continue
            if any(level[b] < value * level[a] for a, b, value in edges):
                continue
            required = budgets + [supplies[j] * level[n + j] for j in range(m)] + [Fraction(0)]
            if all(amount >= 0 for amount in spends(nodes, chosen, required).values()):
                return level[n:bank]
    raise AssertionError("every market with a use for every good has an equilibrium")


@pytest.fixture(scope="session")
def exact_prices():
    """Function from budgets, supplies, values, keep values and reserves to exact prices."""
    return solve
