"""Newton's method in prices, for utilities whose demand is smooth in them.

The dual of the Eisenberg-Gale program needs prices only::

    minimise  D(p) = sum_j s_j p_j - sum_i B_i log e_i(p)   over p >= reserves

with ``e_i`` the least spend per unit of value. It is convex in prices for substitutes and complements
alike; in *log* prices it is not for complements. In shares of the price (``P = diag(p)``) its
Hessian is known in closed form::

    P D'' P = diag(sum_i B_i sigma_i pi_i) - sum_i B_i (sigma_i - 1) pi_i pi_i'

with ``pi_i`` the shares of spending and ``sigma_i`` the elasticity of substitution of buyer i. It is
positive definite, and by its diagonal its condition is at most the largest of ``sigma_i`` and
``1 / sigma_i`` (of one elasticity for all).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from qmopt.arguments import named, settings
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.outcome import Outcome, refuse_caps, restore, trading
from qmopt.utilities.protocol import Array
from qmopt.utilities.smooth import Smooth

#: Goods up to which the system is factored, and up to which it may be if it is badly conditioned.
FEW, MANY = 100, 3000
#: Condition up to which conjugate gradients take few steps, and the most that they take.
MILD, MOST_STEPS = 1e3, 500
#: Relative excess demand at which a step that no longer halves it ends the search.
ROUNDING = 1e-9
#: Smallest share of a step that is tried.
SHORTEST = 1e-10


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
        Largest excess demand, as a share of supply, at which the search ends.
    max_iterations
        Steps at most.
    time_limit
        Seconds; what is there by then is measured.

    Examples
    --------
    Shares of credits are fixed, so good 0 gets 1/2 of 60 and 1/4 of 40 credits for its 8 units:

    >>> from qmopt import CobbDouglas, Market, clear
    >>> market = Market([60, 40], [8, 20], CobbDouglas([[1, 1], [1, 3]]))
    >>> clear(market, Newton()).prices.tolist()
    [5.0, 3.0]

    Complements: with ``rho = -1`` demands are as the roots of the inverse prices. Twice as much of
    good 0 makes it four times cheaper; the four credits are worth 1 + 3 units at these prices:

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
        dual = _Dual(inner)
        spending = dual.start()
        status, steps, inside = "iterations", 0, 0
        best, least = spending, np.inf
        while True:
            point = dual.at(spending)
            off = point.off
            if off < least:
                stalled = off > 0.5 * least and least <= ROUNDING
                best, least = spending, off
            else:
                stalled = least <= ROUNDING or not np.isfinite(off)
            if least <= self.tolerance or stalled:
                status = "solved" if least <= ROUNDING else "stalled"
                break
            if steps >= self.max_iterations:
                break
            if time.monotonic() - begun > self.time_limit:
                status = "time"
                break
            steps += 1
            step, rounds = point.step(min(0.1, off))
            inside += rounds
            moved = dual.descend(point, step)
            if moved is None:  # rounding hides what is left to gain
                status = "solved" if least <= ROUNDING else "stalled"
                break
            spending = moved
        prices, allocation = dual.at(best).answer()
        prices, allocation = restore(market, prices, allocation)
        stats: dict[str, Any] = {
            "iterations": steps,
            "inner": inside,
            "seconds": {"solve": time.monotonic() - begun},
        }
        return Outcome(prices, allocation, status, stats)


class _Dual:
    """The dual of a market in which everybody trades; prices as values of whole supplies."""

    def __init__(self, market: Market) -> None:
        assert isinstance(market.utility, Smooth)
        self.market, self.utility = market, market.utility
        self.total = float(market.budgets.sum())
        #: Budgets as shares of all credits.
        self.budgets = market.budgets / self.total
        self.floor = market.reserves * market.supplies / self.total
        self.budget = self.budgets[self.utility.owner]
        self.sigma = np.asarray(self.utility.substitution)
        self.mild = max(float(self.sigma.max()), float(1 / self.sigma.min())) <= MILD

    def start(self) -> Array:
        """Spending on each good if all hold the same share of every supply."""
        share, _ = self.utility.supporting(self.market.supplies[self.utility.good])
        return np.maximum(self.by_good(self.budget * share), self.floor)

    def by_good(self, amounts: Array) -> Array:
        """Add up amounts of pairs by good."""
        return np.bincount(self.utility.good, weights=amounts, minlength=self.market.m)

    def at(self, value: Array) -> _At:
        """Look at one point: what each supply is worth, as a share of all credits."""
        return _At(self, value)

    def descend(self, point: _At, step: Array) -> Array | None:
        """Shorten a step until the dual value falls; None if it does not.

        Parameters
        ----------
        point
            Where to start.
        step
            By which share each value is to change; at most down to a tenth.
        """
        length = min(1.0, 0.9 / max(float(-step.min()), 1e-300))
        while length > SHORTEST:
            value = np.maximum(point.value * (1 + length * step), self.floor)
            change = value / point.value - 1
            slope = float(point.gradient @ change)
            rise = self.rise(point, value)
            # near the minimum a fall is lost to rounding, but whole steps are right there
            if rise <= 0.1 * slope or (length == 1.0 and abs(slope) < 1e-12 and rise < 1e-12):
                return value
            length /= 2
        return None

    def rise(self, point: _At, value: Array) -> float:
        """By how much the dual value at other values of the supplies is higher."""
        cost = self.utility.spending(self.prices(value))[1]
        change = float((value - point.value).sum() - self.budgets @ (cost - point.cost))
        return change if np.isfinite(change) else np.inf

    def prices(self, value: Array) -> Array:
        """Credits per unit, as shares of all credits."""
        return value / self.market.supplies


class _At:
    """The dual at one point: demand, gradient, Hessian, and the Newton step."""

    def __init__(self, dual: _Dual, value: Array) -> None:
        self.dual, self.value = dual, value
        share, self.cost = dual.utility.spending(dual.prices(value))
        self.share = share
        #: Credits that buyers would spend on each good.
        self.demand = dual.by_good(dual.budget * share)
        #: Of the dual, by shares of the price.
        self.gradient = value - self.demand
        #: Goods that stay idle in part, at their reserve.
        self.held = (value <= dual.floor * (1 + 1e-12)) & (self.gradient > 0)
        missed = np.abs(self.gradient[~self.held]) / value[~self.held]
        #: Largest excess demand, or supply, of goods that are to be sold out, as a share.
        self.off = float(missed.max(initial=0.0)) if not np.isnan(missed).any() else np.inf

    def step(self, accuracy: float) -> tuple[Array, int]:
        """Newton step, as shares of the values, and how many inner steps it took."""
        dual, utility = self.dual, self.dual.utility
        m, sigma = dual.market.m, dual.sigma
        diagonal = dual.by_good(dual.budget * sigma[utility.owner] * self.share)
        # of what hardly anybody wants the curvature tells nothing; in log prices it is more by the
        # gradient, which bounds the step and is gone at the minimum
        diagonal += np.maximum(self.gradient, 0)
        lean = dual.budgets * (1 - sigma)
        # what stands on the diagonal of the Hessian: the system is scaled to ones there
        whole = diagonal + dual.by_good(lean[utility.owner] * self.share**2)
        scale = np.where(self.held | ~(whole > 0), 0.0, 1 / np.sqrt(whole))
        right = -scale * self.gradient
        shares: Any = sp.csr_array(
            (self.share * scale[utility.good], utility.good, utility.begin),
            shape=dual.market.shape,
        )
        diagonal = np.where(scale > 0, diagonal * scale**2, 1.0)
        if m <= FEW:
            return scale * _factored(shares, lean, diagonal, right), 0
        turned = shares.T.tocsr()
        most = MOST_STEPS if dual.mild or m > MANY else 0
        found, rounds, done = _conjugate(shares, turned, lean, diagonal, right, accuracy, most)
        if not done and m <= MANY:
            found = _factored(shares, lean, diagonal, right)
        return scale * found, rounds

    def answer(self) -> tuple[Array, sp.csr_array]:
        """Prices in credits, and what buyers take, each good sold out unless at its reserve."""
        dual, utility = self.dual, self.dual.utility
        supplies = dual.market.supplies
        # a good at its reserve is sold as far as it is wanted
        per_credit = supplies / np.where(self.held, self.value, self.demand)
        units = dual.budget * self.share * per_credit[utility.good]
        units = np.where(np.isfinite(units), units, 0.0)
        # no price below its reserve, not even by rounding
        prices = np.maximum(dual.prices(self.value) * dual.total, dual.market.reserves)
        allocation = sp.csr_array((units, utility.good, utility.begin), shape=dual.market.shape)
        return prices, allocation


def _factored(shares: Any, lean: Array, diagonal: Array, right: Array) -> Array:
    """Solve the scaled system by Cholesky factors of the dense matrix."""
    dense = shares.toarray() if shares.nnz > 0.05 * np.prod(shares.shape) else None
    if dense is None:
        gram = (shares.T @ (sp.diags_array(lean) @ shares)).toarray()
    else:
        gram = dense.T @ (lean[:, None] * dense)
    gram[np.diag_indices_from(gram)] += diagonal
    try:
        return cho_solve(cho_factor(gram, check_finite=False), right, check_finite=False)
    except LinAlgError:  # rounding made it indefinite; its diagonal is 1
        return right


def _conjugate(
    shares: Any,
    turned: Any,
    lean: Array,
    diagonal: Array,
    right: Array,
    accuracy: float,
    most: int,
) -> tuple[Array, int, bool]:
    """Solve the scaled system by conjugate gradients: the point, steps, and whether it is done."""
    found, left = np.zeros_like(right), right.copy()
    direction, size = left.copy(), float(left @ left)
    goal = accuracy**2 * size
    for k in range(most):
        if not size > goal:
            return found, k, True
        image = diagonal * direction + turned @ (lean * (shares @ direction))
        length = size / float(direction @ image)
        found += length * direction
        left -= length * image
        size, before = float(left @ left), size
        direction = left + (size / before) * direction
    return found, most, not size > goal
