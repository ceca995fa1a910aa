"""The central path of a linear market, followed by Newton's method.

Each pair carries units x and a slack z = p - beta v, each buyer a cost per utility beta, each good
a price p. Kept credits and idle units are pairs with the bank, whose price is 1. The path is
``x z = mu * weight``, with supplies and budgets met; Newton's method follows it to mu = 0 with
Mehrotra's predictor and corrector. A buyer's part of the Hessian is a diagonal plus a matrix of
rank one, so that a step reduces to a system in the goods, or in the buyers, whichever are fewer::

    S = diag(sum_i theta_ij) - sum_i w_i w_i^T / (Q_i + u_i / beta_i)
    theta_ij = x_ij / z_ij,   w_ij = v_ij theta_ij,   Q_i = sum_j v_ij w_ij

Scaled by the prices on both sides this is a Laplacian plus a nonnegative excess with known row sums
(S p is the demand), and is factored without a subtraction: see :mod:`qmopt.methods.laplacian`. In
the buyers' system the costs play the part of the prices.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from qmopt.market import Market
from qmopt.methods.laplacian import factor
from qmopt.methods.newton_pairs import Pairs, pairs_of
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: Numbers on pairs, on buyers who keep credits, and on goods with a reserve.
Three: TypeAlias = tuple[Array, Array, Array]

#: Share of the way to the boundary that a step goes, early and once the path is found.
EARLY, NEARLY = 0.9, 0.995
#: Merit from which on it is found.
SETTLED = 0.1
#: Merit below which an iterate that gets no better has done what it can.
ROUGH = 1e-6


class Move(NamedTuple):
    """A Newton step: of prices, costs, amounts and slacks."""

    price: Array
    cost: Array
    amounts: Three
    slacks: Three


class CentralPath:
    """The iterates, in a scale of their own: supplies 1, budgets 1 on average, best value 1.

    Parameters
    ----------
    market
        With linear utilities without caps; every buyer active and every good sold.
    near
        Prices (m,) to start from, and by what share they may be off; by default rough ones.
    """

    def __init__(
        self, market: Market, utility: Linear, near: tuple[Array, float] | None = None
    ) -> None:
        self.market, self.shape = market, market.shape
        self.credit = market.budgets.mean()
        raw = pairs_of(utility.values)
        per_supply = raw.values * raw.goods(market.supplies)
        unit = np.maximum(raw.most_by_buyer(per_supply), market.keep_values * self.credit)
        self.pairs: Pairs = raw.with_values(per_supply / raw.buyers(unit))
        self.budgets = market.budgets / self.credit
        self.keep = market.keep_values * self.credit / unit
        self.reserve = market.reserves * market.supplies / self.credit
        self.on = (self.pairs.live, self.keep > 0, self.reserve > 0)
        self.iterations, self.merit = 0, np.inf
        if near is None:
            self._start()
        else:
            self._start_near(*near)

    def _start_near(self, prices: Array, off: float) -> None:
        """Start from prices: every buyer on its own central path at them, its budget spent."""
        pairs, live = self.pairs, self.on[0]
        worth = np.maximum(prices * self.market.supplies / self.credit, self.reserve)
        self._weigh(worth)
        self.price = worth * (1 + off)
        dearest = pairs.most_by_buyer(live * np.where(live, pairs.values, 1) / pairs.goods(worth))
        self.cost = 1 / (np.maximum(dearest, self.keep) * (1 + off))
        self._slacken()
        wanted, kept, idle = (
            on * w / z for on, w, z in zip(self.on, self.weights, self.slacks, strict=True)
        )
        barrier = (
            self.budgets / self.cost / (pairs.by_buyer(pairs.values * wanted) + self.keep * kept)
        )
        self.amounts = (
            wanted * pairs.buyers(barrier), kept * barrier, idle * np.median(barrier),
        )  # fmt: skip
        self.best = (self.price, self.amounts[0])

    def _weigh(self, worth: Array) -> None:
        """Say how far from the boundary each pair stays: in proportion to budget and worth.

        So small teams and goods are as well centred as large ones.
        """
        pairs, (live, keeps, reserved) = self.pairs, self.on
        self.weights = (
            live * pairs.buyers(self.budgets) * pairs.goods(worth / worth.sum()),
            keeps * self.budgets,
            reserved * worth,
        )

    def _slacken(self) -> None:
        """Take the slacks of prices and costs."""
        pairs, (live, keeps, reserved) = self.pairs, self.on
        slack = pairs.goods(self.price) - pairs.buyers(self.cost) * pairs.values
        self.slacks: Three = (
            np.where(live, slack, 1.0),
            np.where(keeps, 1 - self.cost * self.keep, 1.0),
            np.where(reserved, self.price - self.reserve, 1.0),
        )

    def _start(self) -> None:
        pairs, (live, keeps, reserved) = self.pairs, self.on
        # rough worth of each supply: every buyer bids in proportion to the value of all of it
        bids = pairs.values * pairs.buyers(self.budgets / pairs.by_buyer(pairs.values))
        rough = np.maximum(pairs.by_good(bids), self.reserve)
        self._weigh(rough)
        wanting = pairs.by_good(live * pairs.buyers(self.budgets))
        self.amounts: Three = (
            live * pairs.buyers(self.budgets) / pairs.goods(wanting),
            keeps * self.budgets / 2,
            reserved / 2,
        )
        self.price = 2 * rough
        ratio = np.where(live, pairs.values, 1) / pairs.goods(self.price)
        dearest = pairs.most_by_buyer(live * ratio)
        self.cost = 0.5 / np.maximum(dearest, self.keep)
        self._slacken()
        self.best = (self.price, self.amounts[0])

    def follow(self, tolerance: float, most: int, deadline: float) -> str:
        """Take steps until the merit is small, gets no better, or time is up; say which.

        From a merit of about 1e-10 on the iterates drift in rounding, so the best one is kept.
        """
        stale = 0
        while True:
            merit = self._measure()
            if merit < self.merit:
                self.merit, self.best, stale = merit, (self.price, self.amounts[0]), 0
            else:
                stale += 1
            if self.merit <= tolerance:
                return "optimal"
            if not np.isfinite(merit) or (stale >= 2 and self.merit < ROUGH) or stale > 20:
                return "stalled"
            if self.iterations >= most or time.monotonic() > deadline:
                return "stopped"
            self._advance()
            self.iterations += 1

    def best_point(self) -> tuple[Array, Any]:
        """Prices (m,) and units (n, m) of the best iterate, in the market's own scale."""
        pairs, supplies, (price, units) = self.pairs, self.market.supplies, self.best
        fitting = supplies / np.maximum(pairs.by_good(units), 1)
        return price * self.credit / supplies, pairs.matrix(units * pairs.goods(fitting))

    def _gained(self, amounts: Three) -> Array:
        """Add up the utility that units and kept credits bring, (n,)."""
        return self.pairs.by_buyer(self.pairs.values * amounts[0]) + self.keep * amounts[1]

    def _measure(self) -> float:
        """Take the residuals of budgets and supplies; return the merit of the iterate."""
        self.utility = self._gained(self.amounts)
        self.short = self.budgets - self.cost * self.utility
        self.free = 1 - self.pairs.by_good(self.amounts[0]) - self.amounts[2]
        self.total = _product(self.amounts, self.slacks)
        worst = max(np.abs(self.short / self.budgets).max(), np.abs(self.free).max())
        return float(max(worst, self.total / self.budgets.sum()))

    def _advance(self) -> None:
        """Take one step: a predictor and a corrector with the same factors."""
        newton = self._newton()
        here = tuple(x * z for x, z in zip(self.amounts, self.slacks, strict=True))
        guess = newton((-here[0], -here[1], -here[2]))
        primal, dual = self._lengths(guess)
        ahead = _product(_moved(self.amounts, primal, guess.amounts),
                         _moved(self.slacks, dual, guess.slacks))  # fmt: skip
        # Mehrotra's guess of how far the next point on the path should be
        barrier = self.total / sum(float(w.sum()) for w in self.weights)
        centre = min((max(ahead, 0.0) / self.total) ** 3, 1.0) * barrier
        aims = [
            on * (centre * weight - xz - dx * dz)
            for on, weight, xz, dx, dz in zip(
                self.on, self.weights, here, guess.amounts, guess.slacks, strict=True
            )
        ]
        move = newton((aims[0], aims[1], aims[2]))
        nearly = NEARLY if self.merit < SETTLED else EARLY
        primal, dual = (min(1.0, nearly * length) for length in self._lengths(move))
        self.amounts = _moved(self.amounts, primal, move.amounts)
        self.slacks = _moved(self.slacks, dual, move.slacks)
        self.price = self.price + dual * move.price
        self.cost = self.cost + dual * move.cost

    def _newton(self) -> Callable[[Three], Move]:
        """Factor the reduced system; return what solves it for changes asked of x z."""
        pairs, (n, m) = self.pairs, self.shape
        theta, keep_theta, idle_theta = (
            x / z for x, z in zip(self.amounts, self.slacks, strict=True)
        )
        weight = pairs.values * theta
        square = pairs.by_buyer(pairs.values * weight) + self.keep**2 * keep_theta
        inverse = 1 / (square + self.utility / self.cost)
        mass = pairs.by_good(theta) + idle_theta
        matrix = pairs.matrix(weight)
        demand = pairs.by_good(self.amounts[0]) + idle_theta * self.price
        if m <= n:
            scale = self.price
            gram = pairs.gram_of_goods(weight * np.sqrt(pairs.buyers(inverse)))
            excess = demand + matrix.T @ (inverse * self.keep * keep_theta)
        else:
            scale = self.cost
            gram = pairs.gram_of_buyers(weight / np.sqrt(pairs.goods(mass)))
            excess = self.keep * keep_theta + matrix @ (demand / mass)
        factors = factor(scale[:, None] * gram * scale[None, :], scale * excess)

        def newton(aims: Three) -> Move:
            push = tuple(aim / z for aim, z in zip(aims, self.slacks, strict=True))
            of_buyers = self.short / self.cost - self._gained((push[0], push[1], push[2]))
            of_goods = pairs.by_good(push[0]) + push[2] - self.free
            if m <= n:
                right = matrix.T @ (inverse * of_buyers) + of_goods
                price = scale * factors.solve(scale * right)
                cost = inverse * (matrix @ price + of_buyers)
            else:
                right = of_buyers + matrix @ (of_goods / mass)
                cost = scale * factors.solve(scale * right)
                price = (matrix.T @ cost + of_goods) / mass
            slacks = (
                pairs.live * (pairs.goods(price) - pairs.buyers(cost) * pairs.values),
                -(self.keep * cost),
                self.on[2] * price,
            )
            thetas = (theta, keep_theta, idle_theta)
            x, kept, idle = (p - t * dz for p, t, dz in zip(push, thetas, slacks, strict=True))
            return Move(price, cost, (x, kept, idle), slacks)

        return newton

    def _lengths(self, move: Move) -> tuple[float, float]:
        """Longest primal and dual steps that stay nonnegative, at most 1."""
        primal = min(map(_reach, self.amounts, move.amounts))
        dual = min(_reach(self.cost, move.cost), *map(_reach, self.slacks, move.slacks))
        return primal, dual


def _moved(here: Three, length: float, move: Three) -> Three:
    return (
        here[0] + length * move[0], here[1] + length * move[1], here[2] + length * move[2],
    )  # fmt: skip


def _product(amounts: Three, slacks: Three) -> float:
    """Complementarity: 0 at the equilibrium. Dead pairs carry no amount."""
    return sum(float((x * z).sum()) for x, z in zip(amounts, slacks, strict=True))


def _reach(here: Array, move: Array) -> float:
    """How far along a move numbers stay nonnegative, at most all the way."""
    return float(min(1.0, np.where(move < 0, -here / move, np.inf).min(initial=1.0)))
