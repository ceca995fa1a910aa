"""Newton's method in prices, for utilities whose demand is smooth in them.

The dual of the Eisenberg-Gale program needs prices only::

    minimise  D(p) = sum_j s_j p_j - sum_i B_i log e_i(p)   over p >= reserves

with ``e_i`` the least spend per unit of value. It is convex in prices for substitutes and for
complements; in *log* prices it is not for complements. In shares of the price (``P = diag(p)``) its
Hessian is known in closed form::

    P D'' P = diag(sum_i B_i sigma_i pi_i) - sum_i B_i (sigma_i - 1) pi_i pi_i'

with ``pi_i`` the shares of spending and ``sigma_i`` the elasticity of substitution of buyer i. It
is positive definite; scaled by the credits spent on each good, and with one elasticity for all, its
condition is at most the larger of ``sigma`` and ``1 / sigma``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from qmopt.arguments import named, settings
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.outcome import Outcome, refuse_caps, restore, trading
from qmopt.methods.smooth_dual import SmoothDual
from qmopt.utilities.smooth import Smooth

#: Distance from sold out at which a step that no longer halves it ends the search.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Newton:
    """Minimise the dual in prices by Newton's method: CES and Cobb-Douglas, complements too.

    Starts from the prices of a market in which all buyers hold the same mix of goods; for
    Cobb-Douglas these are the answer already, in closed form. Steps are shortened until the dual
    value falls. Reserve prices are bounds on prices. Memory: about five arrays of the pairs of
    positive weight, and a dense matrix of goods by goods where that is factored.

    Parameters
    ----------
    tolerance
        At which the search ends: how far what a buyer pays, and what it gets, may be from right
        when every good is sold out, as a share.
    max_iterations
        Steps at most.
    time_limit
        Seconds; what is there by then is measured.

    Examples
    --------
    Shares of credits are fixed, so good 0 gets 1/2 of 60 and 1/4 of 40 credits for its 8 units:

    >>> from qmopt import CobbDouglas, Market, clear
    >>> market = Market([60, 40], [8, 20], CobbDouglas([[1, 1], [1, 3]]))
    >>> clear(market, Newton()).prices.round(12).tolist()
    [5.0, 3.0]

    Complements: with ``rho = -1`` units are bought in the ratio of the roots of the other prices.
    For two units of good 0 to one of good 1 it must be four times cheaper, and 4 credits pay
    ``2 * 2/3 + 8/3``:

    >>> from qmopt import CES
    >>> market = Market([3, 1], [2, 1], CES([[1, 1], [1, 1]], rho=-1))
    >>> clear(market, Newton()).prices.round(12).tolist()
    [0.666666666667, 2.666666666667]
    """

    tolerance: float = 1e-13
    max_iterations: int = 500
    time_limit: float = np.inf

    __post_init__ = settings

    # at the ends of floating point numbers overflow; the certificate judges what comes of it
    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Descend from the prices of equal mixes.

        Raises
        ------
        MarketError
            If demand is not smooth in prices: other families, kept credits of worth, utility caps.
        """
        begun = time.monotonic()
        if not isinstance(market.utility, Smooth):
            raise MarketError(f"Newton needs CES or CobbDouglas, got {named(market.utility)}")
        refuse_caps(market)
        keepers = np.flatnonzero(market.active & (market.keep_values > 0))
        if keepers.size:
            raise MarketError(
                f"buyer {market.buyers[keepers[0]]}: keep_values: kept credits that are worth "
                "something make demand jump, which Newton does not cover; EisenbergGale does"
            )
        inner = trading(market)
        dual = SmoothDual(inner)
        point = best = dual.at(dual.start())
        status, steps, inside = "stalled", 0, 0
        least = np.inf
        while True:
            if point.off < least:
                stalled = point.off > 0.5 * least and least <= ROUNDING
                best, least = point, point.off
            else:
                stalled = least <= ROUNDING or not np.isfinite(point.off)
            if least <= self.tolerance or stalled:
                break
            if steps >= self.max_iterations:
                status = "iterations"
                break
            if time.monotonic() - begun > self.time_limit:
                status = "time"
                break
            steps += 1
            step, rounds = point.step(min(0.1, point.off))
            inside += rounds
            moved = dual.descend(point, step)
            if moved is None:  # rounding hides what is left to gain
                break
            point = moved
        status = "solved" if least <= ROUNDING else status
        prices, allocation = best.answer()
        prices, allocation = restore(market, prices, allocation)
        stats: dict[str, Any] = {
            "iterations": steps,
            "inner": inside,
            "seconds": {"solve": time.monotonic() - begun},
        }
        return Outcome(prices, allocation, status, stats)
