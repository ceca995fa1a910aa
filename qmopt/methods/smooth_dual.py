"""The dual of a market of smooth utilities: demand, gradient, and Newton steps at given prices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from qmopt.market import Market
from qmopt.utilities.pairs import Array, total_by
from qmopt.utilities.smooth import Smooth

#: Goods up to which the system is factored, and up to which it may be if it is badly conditioned.
FEW, MANY = 100, 3000
#: Condition up to which conjugate gradients take few steps, and the most that they take.
MILD, MOST_STEPS = 1e3, 500
#: Share of all credits that is spent on any good to begin with, and below which a price does not
#: matter.
LEAST = 1e-12
#: Smallest share of a step that is tried.
SHORTEST = 1e-10


class SmoothDual:
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
        # powers of nearly fixed mixes leave the range of floats
        return np.maximum(np.maximum(self.by_good(self.budget * share), LEAST), self.floor)

    def by_good(self, amounts: Array) -> Array:
        """Add up amounts of pairs by good."""
        return total_by(self.utility.good, amounts, self.market.m)

    def at(self, value: Array) -> DualPoint:
        """Look at one point: what each supply is worth, as a share of all credits."""
        return DualPoint(self, value)

    def descend(self, point: DualPoint, step: Array) -> DualPoint | None:
        """Shorten a step until the dual value falls; None if it does not.

        Parameters
        ----------
        point
            Where to start.
        step
            By which share each value is to change; at most down to a tenth.
        """
        # each by itself is held to that first, which is most often a descent, too; where reserves
        # cut a step short, it need not be one, but good by good along the slope it is
        for direction in (np.maximum(step, -0.9), step, point.slope()):
            length = min(1.0, 0.9 / max(float(-direction.min()), 1e-300))
            while length > SHORTEST:
                value = np.maximum(point.value * (1 + length * direction), self.floor)
                slope = float(point.gradient @ (value / point.value - 1))
                there = self.at(value)
                rise = there.rise(point)
                # near the minimum a fall is lost to rounding, but whole steps are right there
                if rise <= 0.1 * slope <= 0 or (length == 1 and max(rise, abs(slope)) < 1e-12):
                    return there
                length /= 2
        return None

    def prices(self, value: Array) -> Array:
        """Credits per unit, as shares of all credits."""
        return value / self.market.supplies


class DualPoint:
    """The dual at one point: demand, gradient, Hessian, and the Newton step."""

    def __init__(self, dual: SmoothDual, value: Array) -> None:
        self.dual, self.value = dual, value
        share, self.cost = dual.utility.spending(dual.prices(value))
        self.share = share
        #: Credits that buyers would spend on each good.
        self.demand = dual.by_good(dual.budget * share)
        #: Of the dual, by shares of the price.
        self.gradient = value - self.demand
        #: Goods that stay idle in part, at their reserve.
        self.held = (value <= dual.floor * (1 + 1e-12)) & (self.gradient > 0)
        #: How far spends and prices are from right if every good is sold out, as shares.
        self.off = self._off()

    def _off(self) -> float:
        dual = self.dual
        if ((self.demand == 0) & ~self.held).any():
            return 1.0
        missed = np.where(self.held, 0.0, np.abs(self.value / self.demand - 1))
        off = dual.utility.by_buyer(self.share * missed[dual.utility.good])
        # so are the prices of all goods that cost anything to speak of
        off = np.append(off, missed[self.demand > LEAST])
        return np.inf if np.isnan(off).any() else float(off.max())

    def rise(self, other: DualPoint) -> float:
        """By how much the dual value is higher here than at another point."""
        cost = self.dual.budgets @ (self.cost - other.cost)
        change = float((self.value - other.value).sum() - cost)
        return change if np.isfinite(change) else np.inf

    def slope(self) -> Array:
        """Step down the slope, each good by its own curvature: a descent, reserves or not."""
        owner = self.dual.utility.owner
        diagonal = self.dual.by_good(self.dual.budget * self.dual.sigma[owner] * self.share)
        return -self.gradient / (np.maximum(diagonal, self.demand) + np.maximum(self.gradient, 0))

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
        prices = np.maximum(dual.prices(self.value) * dual.total, dual.market.reserves)
        # what is at its reserve is there to the last bit, or nothing of it may idle
        prices = np.where(self.held, dual.market.reserves, prices)
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
