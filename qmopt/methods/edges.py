"""The edges of a large market: a few that are listed, the others looked at when all else is done.

The graph of :mod:`qmopt.graph` lists every pair. Near an equilibrium only some two per node are in
use, so that pivots work on these; at their end one pass over all values tells who wants something
that is not on the list, and that is put there.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from qmopt.graph import MarketGraph, distinct
from qmopt.market import Market
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import pairs
from qmopt.utilities.protocol import Allocation, Array

#: Values that are looked at together.
CHUNK = 1 << 16

Indices = NDArray[np.int64]


def traded(market: Market, prices: Array, allocation: Allocation, noise: float) -> MarketGraph:
    """List the pairs that a point trades, each buyer's best, and all edges of the bank.

    Parameters
    ----------
    market
        With linear utilities.
    prices, allocation
        Shapes (m,) and (n, m).
    noise
        Spend, as a share of the budget or of the good's value, whichever is less, that is no trade.
    """
    values = _values(market)
    price = np.where((prices > 0) & (prices < np.inf), prices, 1.0)
    buyer, good, units = pairs(allocation)
    least = np.minimum(market.budgets[buyer] / price[good], market.supplies[good])
    used = (units > noise * least) & (units < np.inf)
    # every buyer's best is there, so that nobody is without an edge
    worth, best = _best(values, np.ones(market.n), price)
    key = np.append(
        buyer[used] * market.m + good[used],
        (np.arange(market.n) * market.m + best)[worth > 0],
    )
    buyer, good = np.divmod(distinct(key), market.m)
    value = _at(values, buyer, good)
    buyer, good, value = buyer[value > 0], good[value > 0], value[value > 0]
    n, bank = market.n, market.n + market.m
    keepers, reserved = np.flatnonzero(market.keep_values > 0), np.flatnonzero(market.reserves > 0)
    return MarketGraph(
        market,
        np.concatenate([buyer, keepers, np.full(len(reserved), bank)]),
        np.concatenate([n + good, np.full(len(keepers), bank), n + reserved]),
        np.concatenate([value, market.keep_values[keepers], market.reserves[reserved]]),
    )


def wider(graph: MarketGraph, price: Array, tie: float) -> MarketGraph | None:
    """List what each buyer wants most, too, if that is better than all it may choose from.

    Parameters
    ----------
    graph
        Whose edges nobody wants any more.
    price
        By node: costs of buyers, prices of goods, 1 at the bank.
    tie
        Relative gain that does not count.

    Returns
    -------
    MarketGraph or None
        With the new edges last; none if there are none.
    """
    market, n = graph.market, graph.market.n
    values = _values(market)
    gain, best = _best(values, price[:n], price[n : graph.bank])
    buyer = np.flatnonzero(gain > 1 + tie)
    good = best[buyer]
    key, listed = buyer * market.m + good, graph.source * market.m + graph.sink - n
    new = ~np.isin(key, listed[graph.is_pair])
    if not new.any():
        return None
    buyer, good = buyer[new], good[new]
    return MarketGraph(
        market,
        np.append(graph.source, buyer),
        np.append(graph.sink, n + good),
        np.append(graph.value, _at(values, buyer, good)),
    )


def _values(market: Market) -> Any:
    return cast(Linear, market.utility).values


def _at(values: Any, rows: Indices, columns: Indices) -> Array:
    return np.asarray(values[rows, columns], dtype=float).ravel() if rows.size else np.zeros(0)


# what nobody trades has no price yet: whoever values it gains without bound
@np.errstate(divide="ignore", invalid="ignore")
def _best(values: Any, cost: Array, price: Array) -> tuple[Array, Indices]:
    """Largest gain ``value * cost / price`` of each buyer, (n,), and the good that brings it."""
    n, m = values.shape
    if isinstance(values, np.ndarray):
        gain, best = np.zeros(n), np.zeros(n, dtype=np.int64)
        step = max(1, CHUNK // m)
        free = not (price > 0).all()
        for start in range(0, n, step):
            rows = values[start : start + step]
            gains = rows * cost[start : start + step, None]
            gains /= price
            if free:
                gains[rows == 0] = 0
            chosen = gains.argmax(axis=1)
            best[start : start + step] = chosen
            gain[start : start + step] = gains[np.arange(len(rows)), chosen]
        return gain, best
    owner = np.repeat(np.arange(n), np.diff(values.indptr))
    gains = np.where(values.data > 0, values.data * cost[owner] / price[values.indices], 0.0)
    # the last of each buyer is the largest, when gains are sorted within buyers
    order = np.lexsort((gains, owner))
    last = order[np.maximum(values.indptr[1:] - 1, 0)] if len(order) else np.zeros(n, np.int64)
    some = np.diff(values.indptr) > 0
    gain, best = np.zeros(n), np.zeros(n, dtype=np.int64)
    gain[some], best[some] = gains[last[some]], values.indices[last[some]]
    return gain, best
