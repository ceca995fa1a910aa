"""Crossover: from a rough point to the exact prices of a linear market.

A conic solver's shares say which pairs trade, if not quite how much. Bids are read off them, cycles
of the flow are cancelled, and the forest that remains is where :mod:`qmopt.methods.pivots` starts:
most often it has nothing left to do but to compute the prices that the forest implies. In a large
market only the pairs that the point trades are listed; see :mod:`qmopt.methods.edges`.
"""

from __future__ import annotations

import time
from typing import Any, cast

import numpy as np

from qmopt.forest import heaviest, without_cycles
from qmopt.graph import MarketGraph, market_graph
from qmopt.market import Market
from qmopt.methods.edges import traded
from qmopt.methods.pivots import Crossed, Pivots, to_budgets
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import entries, total_by
from qmopt.utilities.protocol import Allocation, Array

#: Flow, as a share of the smaller flow through its ends, that says nothing about who buys what.
NOISE = 1e-9
#: Pairs from which on only those that the point trades are listed.
MANY = 10_000
TINY = float(np.finfo(float).tiny)


def crossover(
    market: Market,
    prices: Array,
    allocation: Allocation,
    *,
    near: bool = True,
    time_limit: float = np.inf,
    most_pivots: int | None = None,
) -> Crossed:
    """Pivot from a rough point of a linear market without utility caps to its exact prices.

    Parameters
    ----------
    market
        With linear utilities; every buyer active and every good sold.
    prices, allocation
        Shapes (m,) and (n, m): the nearer to an equilibrium, the fewer pivots. Any point will do.
    near
        Whether the point is worth keeping: then cycles of its flow are cancelled first. From shares
        that mean nothing it is quicker to start at the forest of the largest.
    time_limit
        Seconds.
    most_pivots
        Default: 200 per buyer and good.
    """
    if not isinstance(market.utility, Linear):
        raise TypeError(f"crossover needs linear utilities, got {type(market.utility).__name__}")
    listed = not near or _pairs(market) < MANY
    graph = market_graph(market) if listed else traded(market, prices, allocation, NOISE / 10)
    flow = spends(graph, prices, allocation)
    size = _size(graph, flow)
    weight = flow / np.minimum(size[graph.source], size[graph.sink])
    if near:
        order = np.flatnonzero(weight > NOISE)
        order = order[np.argsort(-weight[order], kind="stable")]
        edges, flow = without_cycles(
            graph.nodes, graph.source, graph.sink, np.log(graph.value), flow, order.tolist()
        )
    else:
        edges = heaviest(graph.nodes, graph.source, graph.sink, weight)
    pivoting = Pivots(graph, [k for k in edges if flow[k] > 0], flow, size, listed=listed)
    limit = 200 * (market.n + market.m) if most_pivots is None else most_pivots
    return pivoting.run(limit, time.monotonic() + time_limit)


def _pairs(market: Market) -> int:
    """Count the pairs that have a value, or are at least stored."""
    values: Any = cast(Linear, market.utility).values
    return int(getattr(values, "nnz", values.size))


def _size(graph: MarketGraph, flow: Array) -> Array:
    """Flow through each node, (nodes,): budgets, what flows into goods; no bound at the bank."""
    into = total_by(graph.sink, flow, graph.nodes)[graph.market.n : graph.bank]
    return np.concatenate([graph.market.budgets, np.maximum(into, TINY), [np.inf]])


def spends(graph: MarketGraph, prices: Array, allocation: Allocation) -> Array:
    """Flow on every edge, (E,) credits, near a rough point; each buyer's adds up to its budget.

    Shares are read rather than prices: a buyer pays for goods in proportion to their value.
    """
    market, pair = graph.market, graph.is_pair
    buyer, good = graph.source[pair], graph.sink[pair] - market.n
    units = _finite(entries(allocation, buyer, good))
    paid = total_by(buyer, units * _finite(prices)[good], market.n)
    kept = np.maximum(market.budgets - paid, 0)
    left_over = np.maximum(market.supplies - total_by(good, units, market.m), 0)
    amount = np.concatenate([kept, left_over, [0.0]])  # by node
    mine = graph.source < market.n
    flow = graph.value * amount[np.where(mine, graph.source, graph.sink)]
    flow[pair] = graph.value[pair] * units
    total = np.append(total_by(graph.source[mine], flow[mine], market.n), np.ones(market.m + 1))
    lost = mine & ~((total > 0) & (total < np.inf))[graph.source]
    flow[lost] = graph.value[lost]  # a buyer without any share starts on what it values
    return to_budgets(graph, flow)


def _finite(numbers: Array) -> Array:
    """Return the positive numbers; 0 for the others, and for what is not a number at all."""
    return np.maximum(np.nan_to_num(numbers, posinf=0.0), 0)


def earlier(market: Market, start: Any) -> tuple[Array, Allocation]:
    """Prices and units of an earlier answer, restricted to what trades in the market.

    Parameters
    ----------
    market
        Whole; its trading part is what :func:`qmopt.methods.outcome.trading` returns.
    start
        Anything with ``prices`` (m,) and ``allocation`` (n, m) of the same buyers and goods.
    """
    prices, allocation = np.asarray(start.prices, dtype=float), start.allocation
    if market.active.all() and market.sold.all():
        return prices, allocation
    buyers, goods = np.flatnonzero(market.active), np.flatnonzero(market.sold)
    return prices[goods], allocation[buyers][:, goods]
