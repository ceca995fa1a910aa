"""Newton's step in a system of activities with limits, reduced to the goods.

A change of prices, rents and costs changes the slack of each activity, which says how its level
moves (``levels * slacks`` is to be a given product). A limit then says how its rent moves, a budget
how the buyer's cost moves, and what is left are as many equations as goods::

    (A' h A + idle/prices - F' l F - H' (1/D) P) dp = ...
    h = levels / slacks,  F = uses h A,  l = 1 / (uses^2 h + room/rents),  H = value h A - C l F
    P = cost H - share Q F,  D = value + cost (...) - share (...)

with C = uses value h, and F and Q by buyer. At share 0 the matrix is symmetric and positive
definite; at share 1 it is neither.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from qmopt.methods.activities.iterate import Iterate, Missed, Products
from qmopt.methods.activities.scaled import Scaled

#: Mean product below which moves are refined.
LATE = 1e-5


class Reduced:
    """The equations at one iterate, factored.

    Parameters
    ----------
    scaled
        The system.
    here
        Where it is taken.
    share
        Of the rents of demands that a buyer spends.

    Raises
    ------
    FloatingPointError
        If an iterate is so far out that the equations overflow, or singular.
    """

    def __init__(self, scaled: Scaled, here: Iterate, share: float) -> None:
        self.scaled, self.here, self.share = scaled, here, share
        self.late = here.product() < LATE * scaled.weight
        uses, by_limit = scaled.uses, scaled.by_limit
        self.pull = here.levels / here.slacks
        valued = scaled.worth * self.pull
        self.loose = 1 / (scaled.uses_squared @ self.pull + here.room / here.rents)
        self.crossed = crossed = np.asarray(uses @ valued)
        limits = by_limit(self.pull)
        self.limits = by_limit.matrix(limits)
        #: sums by buyer of what its limits say
        mine, rented = crossed * self.loose, scaled.shared * self.loose
        self.mine, self.rented = scaled.owned(mine), scaled.owned(rented)
        bought = scaled.by_buyer(valued) - scaled.limits_of @ (limits * mine[by_limit.row])
        spread = here.costs[scaled.by_buyer.row] * bought
        spread -= share * (scaled.limits_of @ (limits * rented[by_limit.row]))
        self.bought, self.spread = scaled.by_buyer.dense(bought), scaled.by_buyer.dense(spread)
        own = scaled.gather @ (scaled.worth * valued) - self.mine @ crossed
        value = scaled.value(here.levels)
        self.bend = value + here.costs * own - share * (self.rented @ crossed)
        matrix = scaled.by_good.dense(scaled.by_good(self.pull))
        matrix[np.diag_indices_from(matrix)] += here.idle / here.prices
        matrix -= (self.limits.T @ by_limit.matrix(limits * self.loose[by_limit.row])).toarray()
        matrix -= self.bought.T @ (self.spread / self.bend[:, None])
        if not np.isfinite(matrix).all():
            raise FloatingPointError("the equations overflow")
        factors, pivots, singular = dgetrf(matrix, overwrite_a=True)
        if singular:
            raise FloatingPointError("the equations are singular")
        self._factors = factors, pivots

    def solve(self, products: Products, missed: Missed) -> Iterate:
        """Return the move that :meth:`_solve` finds, near the end once refined.

        There levels are differences of large numbers; what that leaves missed is small, and a
        second solve makes up for it.
        """
        move = self._solve(products, missed)
        scaled, here = self.scaled, self.here
        if not self.late:
            return move
        gained = here.costs * scaled.value(move.levels) + scaled.value(here.levels) * move.costs
        left = Missed(
            missed.limits - scaled.uses @ move.levels - move.room,
            missed.goods - scaled.needs.T @ move.levels - move.idle,
            missed.budgets - gained + self.share * (scaled.rented @ move.rents),
        )
        nothing = Products(*map(np.zeros_like, products))
        return move.moved(self._solve(nothing, left), 1.0)

    def _solve(self, products: Products, missed: Missed) -> Iterate:
        """Return the move that changes products, and makes up for what is missed, as told.

        Parameters
        ----------
        products
            Changes of the products of pairs, to first order.
        missed
            What limits, supplies and budgets are to gain.
        """
        scaled, here, share = self.scaled, self.here, self.share
        activities, limits, goods = products
        push = activities / here.slacks
        at_limits = scaled.uses @ push + limits / here.rents - missed.limits
        gained = scaled.gather @ (scaled.worth * push) - self.mine @ at_limits
        at_budgets = missed.budgets - here.costs * gained + share * (self.rented @ at_limits)
        at_goods = (
            scaled.needs.T @ push
            - self.limits.T @ (self.loose * at_limits)
            + goods / here.prices
            - missed.goods
            + self.bought.T @ (at_budgets / self.bend)
        )
        prices = dgetrs(*self._factors, at_goods)[0]
        costs = (at_budgets + self.spread @ prices) / self.bend
        rents = self.loose * (at_limits - self.limits @ prices + self.crossed * costs[scaled.team])
        slacks = scaled.needs @ prices + scaled.uses.T @ rents
        slacks -= scaled.worth * costs[scaled.owner]
        return Iterate(
            push - self.pull * slacks,
            slacks,
            (limits - here.room * rents) / here.rents,
            rents,
            (goods - here.idle * prices) / here.prices,
            prices,
            costs,
        )

    def towards(self, barrier: float) -> Iterate:
        """Return Newton's step to the point of the central path with a given barrier."""
        here, weights = self.here, self.scaled.weights
        changes = (barrier * w - p for w, p in zip(weights, here.products(), strict=True))
        return self.solve(Products(*changes), self.scaled.missed(here, self.share))
