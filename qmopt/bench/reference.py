"""The right prices of a market, to hold those of others against."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import numpy as np

from qmopt.bench.measure import credits_per_unit, within
from qmopt.bench.process import aside
from qmopt.bench.suites import Case
from qmopt.clearing import clear
from qmopt.errors import QmoptError
from qmopt.market import Market
from qmopt.methods.choose import choose
from qmopt.tables import rational
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: Residual up to which an answer in floating-point numbers counts as right.
RIGHT = 1e-12
#: Buyers times goods up to which rational arithmetic is tried.
SMALL = 40_000


@dataclass(frozen=True)
class Right:
    """The right prices of a market, and what their errors are relative to.

    Parameters
    ----------
    prices
        Shape (m,), credits per unit; nan for goods without supply.
    scale
        Shape (m,), credits per unit: what the error of a free good is relative to, all credits over
        its supply.
    source
        Where the prices come from.
    """

    prices: Array
    scale: Array
    source: str

    def error(self, prices: Array) -> float | None:
        """Return the largest error of a price, relative to it; of a free good, to all credits.

        None where a price is missing or infinite.

        Examples
        --------
        10.1 instead of 10 is off by a hundredth. A good that should be free, at 0.5 with 4 units,
        takes 2 of 100 credits:

        >>> right = Right(np.array([10.0, 0.0]), 100 / np.array([1.0, 4.0]), "by hand")
        >>> round(right.error(np.array([10.1, 0.0])), 9), right.error(np.array([10.0, 0.5]))
        (0.01, 0.02)
        """
        known = ~np.isnan(self.prices)
        p, q = prices[known], self.prices[known]
        if not np.isfinite(p).all():
            return None
        scale = np.where(q > 0, q, self.scale[known])
        return float((np.abs(p - q) / scale).max(initial=0.0))


def reference(case: Case, time_limit: float) -> Right | None:
    """Return the right prices of a market, or None if that takes too long.

    Those of its source if it has them; else rational ones while it is small; else those of a
    crossover whose every residual is at most 1e-12.
    """
    return aside(_tell, case, time_limit, seconds=time_limit)


def _tell(channel: Connection, case: Case, time_limit: float) -> None:
    market = case.build()
    told = partial(Right, scale=credits_per_unit(market))
    known = _known(market)
    if known is not None:
        channel.send(("told", told(known, source="its source")))
        return
    if not isinstance(market.utility, Linear):  # nothing crosses over to exact prices
        return
    method = within(choose(market), time_limit)
    try:
        found = clear(market, method, tolerance=RIGHT)
        how = f"{type(method).__name__}, certified to {max(found.certificate.worst, 1e-16):.0e}"
        channel.send(("told", told(found.prices, source=how)))
    except QmoptError:
        pass
    if "exact" in inspect.signature(clear).parameters and market.n * market.m <= SMALL:
        exact = clear(market, exact=True)  # pyright: ignore[reportCallIssue]
        prices = np.array([float(price) for price in exact.prices])
        channel.send(("told", told(prices, source="rational arithmetic")))


def _known(market: Market) -> Array | None:
    """Return the prices that came with the market, if they are all there."""
    if market.tables is None:
        return None
    table = market.tables["expected"]
    if not len(table):
        return None
    goods, told = table.texts("resource"), table.texts("price")
    stated = {str(good): str(price) for good, price in zip(goods, told, strict=True)}
    here = [good for good, empty in zip(market.goods, market.empty, strict=True) if not empty]
    if not stated.keys() >= set(here):
        return None
    return np.array([float(rational(stated[g])) if g in stated else np.nan for g in market.goods])
