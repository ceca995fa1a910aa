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

Newton's method finds the units and slacks of a pair from the moves of its price and its cost alone,
so that no move is kept for longer than a pass: four passes over the pairs make a step. Once the
path is found (its merit is small), a pair whose slack is large and whose units are few matters no
more to where it ends; then the path can go on with few pairs for each buyer. What is dropped is
looked at again by the crossover.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from qmopt.market import Market
from qmopt.methods.laplacian import factor
from qmopt.methods.newton_pairs import MANY, Duals, Pairs, pairs_of
from qmopt.progress import tell
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: Share of the way to the boundary that a step goes, early and once the path is found.
EARLY, NEARLY = 0.9, 0.995
#: Share of the way that the predictor has to go for its second order to count in full.
SHORT = 0.03
#: Merit from which on it is found.
SETTLED = 0.1
#: Merit below which an iterate that gets no better has done what it can.
ROUGH = 1e-6
#: Merit from which on few pairs are enough; how large a slack may be next to the price, and how
#: small the units next to an equal share, for a pair to be one of them.
NARROW, SLACK, SHARE = 3e-3, 0.01, 0.5
#: Share of all pairs that a sparse market stores from which on it is quicker as a dense one, and
#: how many pairs these may be in all.
THICK, AT_HAND = 0.1, 2_000_000
#: Pairs per node from which on narrowing pays, and what share of them may stay then.
DENSE, FEWER = 20, 0.15


class CentralPath:
    """The iterates, in a scale of their own: supplies 1, budgets 1 on average, best value 1.

    Parameters
    ----------
    market
        With linear utilities without caps; every buyer active and every good sold.
    near
        Prices (m,) to start from, and by what share they may be off; by default rough ones.
    narrow
        Whether to go on with few pairs once these are known. The end is the equilibrium of the
        market of these pairs, which is to be looked at again.
    """

    def __init__(
        self,
        market: Market,
        utility: Linear,
        near: tuple[Array, float] | None = None,
        *,
        narrow: bool = False,
    ) -> None:
        self.market, self.shape = market, market.shape
        self.credit = market.budgets.mean()
        values: Any = utility.values
        if narrow and utility.sparse and _thick(values):
            values = values.toarray()
        raw = pairs_of(values)
        per_supply = raw.values * raw.goods(market.supplies)
        unit = np.maximum(raw.most_by_buyer(per_supply), market.keep_values * self.credit)
        self.pairs: Pairs = raw.with_values(per_supply / raw.buyers(unit))
        self.budgets = market.budgets / self.credit
        self.keep = market.keep_values * self.credit / unit
        self.reserve = market.reserves * market.supplies / self.credit
        # whoever keeps credits, then the goods with a reserve: pairs with the bank
        self.banking = np.concatenate([self.keep, self.reserve]) > 0
        self.iterations, self.merit = 0, np.inf
        self.narrows = narrow and self.pairs.values.size > DENSE * sum(self.shape)
        if near is None:
            self._start()
        else:
            self._start_near(*near)

    def _start_near(self, prices: Array, off: float) -> None:
        """Start from prices: every buyer on its own central path at them, its budget spent."""
        pairs, n = self.pairs, len(self.budgets)
        worth = np.maximum(prices * self.market.supplies / self.credit, self.reserve)
        self._weigh(worth)
        self.price = worth * (1 + off)
        dearest = pairs.most_by_buyer(pairs.values / pairs.goods(worth))
        self.cost = 1 / (np.maximum(dearest, self.keep) * (1 + off))
        z, self.bank_z = self._slacks()
        wanted = pairs.live * pairs.buyers(self.budgets) * pairs.goods(worth / worth.sum()) / z
        banked = self.bank_weight / self.bank_z
        gained = pairs.by_buyer(pairs.values * wanted) + self.keep * banked[:n]
        barrier = self.budgets / self.cost / gained
        self.bank_x = banked * np.append(barrier, np.full(len(worth), np.median(barrier)))
        self._begin(wanted * pairs.buyers(barrier), z)

    def _weigh(self, worth: Array) -> None:
        """Say how far from the boundary each pair stays: in proportion to budget and worth.

        So small teams and goods are as well centred as large ones.
        """
        self.worth = worth / worth.sum()
        self.bank_weight = self.banking * np.append(self.budgets, worth)

    def _slacks(self) -> tuple[Array, Array]:
        """Take the slacks of prices and costs: of the pairs, and of those with the bank."""
        pairs, price, cost = self.pairs, self.price, self.cost
        slack = pairs.goods(price) - pairs.buyers(cost) * pairs.values
        bank = np.append(1 - cost * self.keep, price - self.reserve)
        return np.where(pairs.live, slack, 1.0), np.where(self.banking, bank, 1.0)

    def _start(self) -> None:
        pairs, live = self.pairs, self.pairs.live
        # rough worth of each supply: every buyer bids in proportion to the value of all of it
        bids = pairs.values * pairs.buyers(self.budgets / pairs.by_buyer(pairs.values))
        rough = np.maximum(pairs.by_good(bids), self.reserve)
        self._weigh(rough)
        wanting = pairs.by_good(live * pairs.buyers(self.budgets))
        self.bank_x = self.banking * np.append(self.budgets, np.ones(len(rough))) / 2
        self.price = 2 * rough
        dearest = pairs.most_by_buyer(pairs.values / pairs.goods(self.price))
        self.cost = 0.5 / np.maximum(dearest, self.keep)
        z, self.bank_z = self._slacks()
        self._begin(live * pairs.buyers(self.budgets) / pairs.goods(wanting), z)

    def _begin(self, x: Array, z: Array) -> None:
        """Put units and slacks on the pairs, and add up their weights."""
        live = self.pairs.by_buyer(self.pairs.live * self.pairs.goods(self.worth))
        self.weight = float(self.budgets @ live + self.bank_weight.sum())
        still = np.zeros(self.shape[1]), np.zeros(self.shape[0])
        self.here = self.pairs.moved(x, z, x, still, 0.0, 0.0)
        self.best = (self.pairs, self.price, self.here.x)

    def follow(self, tolerance: float, most: int, deadline: float) -> str:
        """Take steps until the merit is small, gets no better, or time is up; say which.

        From a merit of about 1e-10 on the iterates drift in rounding, so the best one is kept.
        """
        stale = 0
        while True:
            merit = self._measure()
            if merit < self.merit:
                self.merit, self.best, stale = merit, (self.pairs, self.price, self.here.x), 0
            else:
                stale += 1
            if self.merit <= tolerance:
                return "optimal"
            if not np.isfinite(merit) or (stale >= 2 and self.merit < ROUGH) or stale > 20:
                return "stalled"
            if self.iterations >= most or time.monotonic() > deadline:
                return "stopped"
            if self.narrows and merit < NARROW:
                self._narrow()
            self._advance()
            self.iterations += 1
            tell("interior point: step {}, residual {:.1e}", self.iterations, self.merit)

    def _narrow(self) -> None:
        """Drop the pairs whose slack is large and whose units are few, if that leaves few."""
        self.narrows = False
        (n, m), pairs, here = self.shape, self.pairs, self.here
        slack = here.z / pairs.goods(self.price)
        # every buyer keeps its best, whatever its slack
        least = -pairs.most_by_buyer(np.where(pairs.live, -slack, -np.inf))
        close = slack <= np.maximum(SLACK, pairs.buyers(least))
        equal = pairs.buyers(self.budgets / m) / pairs.goods(self.price)
        chosen = pairs.live & (close | (here.x >= SHARE * np.minimum(1 / n, equal)))
        several = np.count_nonzero(chosen) > FEWER * chosen.size
        if several or not pairs.by_buyer(chosen.astype(float)).all():
            return
        self.pairs = pairs.some(chosen)
        self._begin(here.x[chosen], here.z[chosen])
        self.merit = self._measure()

    def best_point(self) -> tuple[Array, Any]:
        """Prices (m,) and units (n, m) of the best iterate, in the market's own scale.

        The units are sparse if the values are, or if the path went on with few pairs.
        """
        supplies, (pairs, price, units) = self.market.supplies, self.best
        fitting = supplies / np.maximum(pairs.by_good(units), 1)
        return price * self.credit / supplies, pairs.matrix(units * pairs.goods(fitting))

    def _measure(self) -> float:
        """Take the residuals of budgets and supplies; return the merit of the iterate."""
        here, n = self.here, len(self.budgets)
        self.utility = here.gained + self.keep * self.bank_x[:n]
        self.short = self.budgets - self.cost * self.utility
        self.free = 1 - here.taken - self.bank_x[n:]
        self.total = here.total + float(self.bank_x @ (self.banking * self.bank_z))
        worst = max(np.abs(self.short / self.budgets).max(), np.abs(self.free).max())
        return float(max(worst, self.total / self.budgets.sum()))

    def _advance(self) -> None:
        """Take one step: a predictor and a corrector with the same factors."""
        pairs, here = self.pairs, self.here
        bank_x, bank_z = self.bank_x, self.bank_z
        solve = self._factor()
        # straight to the end, x z = 0: on each pair dx = -x (1 + q), where q = dz / z
        duals = solve(-here.gained, -here.taken, -bank_x)
        least, most, first, second = pairs.predicted(here, duals)
        q = self._bank_move(duals) / bank_z
        product = bank_x * bank_z * q
        first, second = first + float(product.sum()), second + float(product @ q)
        primal = 1 / max(1.0, 1 + most, 1 + q.max())
        dual = 1 / max(1.0, -least, (-q).max(), (-duals[1] / self.cost).max())
        ahead = (
            self.total - primal * (self.total + first) + dual * first
            - primal * dual * (first + second)
        )  # fmt: skip
        # Mehrotra's guess of how far the next point on the path should be
        centre = min((max(ahead, 0.0) / self.total) ** 3, 1.0) * self.total / self.weight
        # what a step that stops short would change at its end says little about where to aim
        part = 1.0 if min(primal, dual) > SHORT else primal * dual
        push, value, units = pairs.corrected(here, duals, centre * self.budgets, self.worth, part)
        bank_push = centre * self.bank_weight / bank_z - bank_x + part * bank_x * q * (1 + q)
        duals = solve(value, units, bank_push)
        dx, used, closed = pairs.finished(here, push, duals)
        bank_dz = self._bank_move(duals)
        bank_dx = bank_push - bank_x * bank_dz / bank_z
        bank_used = np.divide(-bank_dx, bank_x, out=np.zeros_like(q), where=bank_dx < 0)
        nearly = NEARLY if self.merit < SETTLED else EARLY
        primal = min(1.0, nearly / max(1.0, used, bank_used.max()))
        closed = max(1.0, closed, (-bank_dz / bank_z).max(), (-duals[1] / self.cost).max())
        dual = min(1.0, nearly / closed)
        self.here = pairs.moved(here.x, here.z, dx, duals, primal, dual)
        self.bank_x, self.bank_z = bank_x + primal * bank_dx, bank_z + dual * bank_dz
        self.price = self.price + dual * duals[0]
        self.cost = self.cost + dual * duals[1]

    def _bank_move(self, duals: Duals) -> Array:
        """Return the moves of the slacks of pairs with the bank."""
        price, cost = duals
        return np.where(self.banking, np.append(-self.keep * cost, price), 0.0)

    def _factor(self) -> Callable[[Array, Array, Array], Duals]:
        """Factor the reduced system; return what solves it for units asked for.

        These are given by their value to buyers, by their number for goods, and at the bank.
        """
        pairs, here, (n, m) = self.pairs, self.here, self.shape
        bank_theta = self.bank_x / self.bank_z
        keep_theta, idle_theta = bank_theta[:n], bank_theta[n:]
        inverse = 1 / (here.square + self.keep**2 * keep_theta + self.utility / self.cost)
        mass = here.mass + idle_theta
        matrix = pairs.matrix(here.weight)
        demand = here.taken + idle_theta * self.price
        if m <= n:
            scale, other = self.price, inverse
            gram = pairs.gram_of_goods(pairs.scaled(here.weight, np.sqrt(inverse), scale))
            excess = demand + matrix.T @ (inverse * self.keep * keep_theta)
        else:
            scale, other = self.cost, 1 / mass
            gram = pairs.gram_of_buyers(pairs.scaled(here.weight, scale, np.sqrt(other)))
            excess = self.keep * keep_theta + matrix @ (demand / mass)
        factors = factor(gram, scale * excess, overwrite=True)

        def solve(value: Array, units: Array, bank: Array) -> Duals:
            of_buyers = self.short / self.cost - value - self.keep * bank[:n]
            of_goods = units + bank[n:] - self.free
            if m <= n:
                price = scale * factors.solve(scale * (matrix.T @ (inverse * of_buyers) + of_goods))
                return price, inverse * (matrix @ price + of_buyers)
            cost = scale * factors.solve(scale * (of_buyers + matrix @ (of_goods / mass)))
            return (matrix.T @ cost + of_goods) / mass, cost

        return solve


def _thick(values: Any) -> bool:
    """Tell whether a sparse market is quicker as a dense one, whose passes are compiled."""
    places = values.shape[0] * values.shape[1]
    return MANY <= places <= AT_HAND and values.nnz >= THICK * places
