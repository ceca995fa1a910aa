"""Crossover on the options that matter, held against all values afterwards."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.crossover import crossover
from qmopt.methods.lp_options import Near, Options
from qmopt.methods.outcome import restore, trading
from qmopt.methods.pivots import Crossed
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import Allocation, entries
from qmopt.utilities.protocol import Array

#: Pairs in all up to which the crossover takes them as they are.
SMALL = 20_000
#: Crossovers with more options each before all are taken.
ROUNDS = 5
#: By how much, in logs, an option that was left out must be better to be missed.
MISSED = 1e-11
#: Log price that stands for nothing.
FREE = -1e4
#: Half width of the box, in log prices, from which options join.
AROUND = 1e-8


# the logs of nothing are infinite
@np.errstate(all="ignore")
def cross(
    market: Market,
    options: Options,
    near: Near,
    prices: Array,
    allocation: Allocation,
    time_limit: float,
) -> Crossed:
    """Cross over with the options of the last box; take more only where they are missed.

    Parameters
    ----------
    market
        As for :func:`qmopt.methods.crossover.crossover`.
    options
        Those of the market.
    near
        Options to begin with.
    prices, allocation
        Shapes (m,) and (n, m): where the linear programs ended.
    time_limit
        Seconds. Where it strikes, the crossover is not finished.
    """
    begun, pivots, passes = time.monotonic(), 0, 0
    for _ in range(ROUNDS if market.n * market.m > SMALL else 0):
        left = time_limit - (time.monotonic() - begun)
        if left <= 0:
            break
        try:
            few = _only(market, near)
        except MarketError:  # nobody buys anything of these
            break
        inner = trading(few)
        buyers, goods = np.flatnonzero(few.active), np.flatnonzero(few.sold)
        crossed = crossover(
            inner, prices[goods], sp.csr_array(allocation)[buyers][:, goods], time_limit=left
        )
        pivots, passes = pivots + crossed.pivots, passes + crossed.passes + 1
        prices, allocation = restore(few, crossed.prices, crossed.allocation)
        done = Crossed(prices, sp.csr_array(allocation), crossed.finished, pivots, passes)
        # a good that nobody was offered is free for now: all its buyers will miss it
        log_prices = np.maximum(np.log(prices * market.supplies) - np.log(options.scale), FREE)
        if not crossed.finished:
            return done
        if not (options.best(log_prices) > _best(options, near, log_prices) + MISSED).any():
            return done
        around = np.full(market.m, AROUND)
        more = options.near(log_prices, around, len(near.buyer) + market.n * market.m // 2)
        if more is None:
            break
        near = _both(near, more, market.m + 1)
    left = time_limit - (time.monotonic() - begun)
    if left <= 0:
        return Crossed(prices, sp.csr_array(allocation), False, pivots, passes)
    crossed = crossover(market, prices, allocation, time_limit=left)
    return Crossed(
        crossed.prices,
        crossed.allocation,
        crossed.finished,
        pivots + crossed.pivots,
        passes + crossed.passes,
    )


def _only(market: Market, near: Near) -> Market:
    """Return the market in which nobody values anything else."""
    assert isinstance(market.utility, Linear)
    goods = near.good < market.m
    buyer, good = near.buyer[goods], near.good[goods]
    values = entries(market.utility.values, buyer, good)
    return market.replace(utility=Linear(sp.csr_array((values, (buyer, good)), shape=market.shape)))


def _best(options: Options, near: Near, log_prices: Array) -> Array:
    best = options.keep.copy()
    np.maximum.at(best, near.buyer, near.worth - np.append(log_prices, 0.0)[near.good])
    return best


def _both(one: Near, other: Near, columns: int) -> Near:
    buyer = np.concatenate([one.buyer, other.buyer])
    good = np.concatenate([one.good, other.good])
    _, first = np.unique(buyer * columns + good, return_index=True)
    return Near(buyer[first], good[first], np.concatenate([one.worth, other.worth])[first])
