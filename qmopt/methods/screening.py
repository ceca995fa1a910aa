"""Screening: which pairs of a large market can matter near given prices, and the market they make.

At given prices nearly every buyer puts all its credits on one good, and no small change of prices
makes it think again. What such a buyer spends is a constant. Only buyers with a second choice close
behind the first are left to decide, between few goods each: a *reduced market* of them, with one
stand-in for each good that carries the constants.

How close is close? Near enough that the credits which would move outweigh, good by good, what
demand and supply are apart, several times over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from qmopt.graph import distinct
from qmopt.market import Market
from qmopt.methods.reduced import Pairs, Reduced
from qmopt.methods.scan import MOST_PAIRS, Indices, Liked, Values
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Margins (logarithms of ratios of value per credit) that are told apart.
MARGINS = np.geomspace(1e-9, 20, 160)
#: Most of a good's movable credits that are waited for.
MOST_MOVED = 0.5
#: Mean budgets that are to be movable at each good in any case: buyers come whole.
LEAST_MOVED = 4
#: The same of tied buyers.
MANY_MOVED = 20
#: Newton steps that tell how far prices will move, and goods up to which they are worth a dense
#: system of that size.
STEPS, DENSE = 4, 2000


class Screen:
    """A market seen through its values; buyers and goods that take no part are left out.

    Parameters
    ----------
    market
        With linear utilities.
    """

    def __init__(self, market: Market) -> None:
        assert isinstance(market.utility, Linear)
        self.market = market
        self.values = Values(market.utility.values, market.keep_values)
        self.goods = np.flatnonzero(market.sold)

    def look(
        self, buyers: Indices, budgets: Array, prices: Array, guess: Liked | None = None
    ) -> Look:
        """Pass over the values of some buyers, with budgets of their own, at prices (m,)."""
        per_credit = np.where(self.market.sold, 1 / prices, 0.0)
        liked = self.values.liked(buyers, per_credit, guess)
        return Look(self, buyers, budgets, prices, per_credit, liked)

    def look_all(self, prices: Array) -> Look:
        """Pass over the values of every buyer who takes part."""
        buyers = np.flatnonzero(self.market.active)
        return self.look(buyers, self.market.budgets[buyers], prices)


@dataclass(frozen=True)
class Look:
    """What some buyers want at given prices.

    Parameters
    ----------
    screen
        The market.
    buyers, budgets
        Shape (k,): who was asked, and the credits that each stands for.
    prices, per_credit
        Shape (m,), and their inverse; 0 for goods without a market.
    liked
        What each of them likes best.
    """

    screen: Screen
    buyers: Indices
    budgets: Array
    prices: Array
    per_credit: Array
    liked: Liked

    @cached_property
    def margin(self) -> Array:
        """By how much the best is better than the second, (k,): a logarithm, at least 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.liked.best / self.liked.second)

    @cached_property
    def short(self) -> Array:
        """Credits by which demand exceeds supply, (m,), if each buyer takes its best good."""
        market, m = self.screen.market, self.screen.market.m
        demand = total_by(self.liked.first, self.budgets, m + 1)[:m]
        value = market.supplies * np.where(market.sold, self.prices, 0.0)
        may_idle = (self.prices <= market.reserves * (1 + 1e-12)) & (demand < value)
        return np.where(may_idle | ~market.sold, 0.0, demand - value)

    @property
    def imbalance(self) -> float:
        """How far apart demand and supply are, as a share of all credits."""
        return float(np.abs(self.short).sum() / self.budgets.sum())

    @cached_property
    def dual(self) -> float:
        """Value of the dual program at the prices, credits: least at the equilibrium."""
        worth = self.screen.market.supplies[self.screen.goods] @ self.prices[self.screen.goods]
        return float(worth + self.budgets @ np.log(self.liked.best))

    @cached_property
    def _movable(self) -> Array:
        """Credits of buyers with a good as first or second choice, by margin, (m, margins)."""
        m, bins = self.screen.market.m, len(MARGINS) + 1
        place = np.searchsorted(MARGINS, self.margin)
        second = np.flatnonzero(self.liked.other >= 0)
        movable = total_by(self.liked.first * bins + place, self.budgets, (m + 1) * bins)
        movable += total_by(
            self.liked.other[second] * bins + place[second], self.budgets[second], (m + 1) * bins
        )
        return np.cumsum(movable.reshape(m + 1, bins)[:m, :-1], axis=1)

    def reach(self, generosity: float) -> Array:
        """Margin up to which a second choice at each good is close, (m+1,).

        First so many credits must be able to move at each good as are missing there. Then a step
        of Newton's method on the dual, whose curvature are the credits that move per margin, tells
        how far prices will move against each other.

        Parameters
        ----------
        generosity
            How many times over.
        """
        second = np.flatnonzero(self.liked.other >= 0)
        movable = self._movable
        wanted = generosity * (np.abs(self.short) + LEAST_MOVED * self.budgets.mean())
        wanted = np.minimum(wanted, MOST_MOVED * movable[:, -1])
        found = np.append(MARGINS[np.argmax(movable >= wanted[:, None], axis=1)], MARGINS[0])
        for _ in range(STEPS if self.screen.market.m <= DENSE else 0):
            moved = generosity * self._moves(found, second)
            if (moved <= found).all():
                break
            found = np.maximum(found, np.minimum(moved, MARGINS[-1]))
        return found

    def _moves(self, reach: Array, second: Indices) -> Array:
        """Twice the move of each price against the middle, so that two cover their difference."""
        m = self.screen.market.m
        one, other = self.liked.first[second], self.liked.other[second]
        room = np.minimum(reach[one], reach[other])
        near = self.margin[second] <= room
        one, other, room = one[near], other[near], room[near]
        per_margin = self.budgets[second[near]] / room
        weight = total_by(one * (m + 1) + other, per_margin, (m + 1) ** 2).reshape(m + 1, m + 1)
        weight += weight.T
        sold = self.screen.market.sold
        value = np.where(sold, self.screen.market.supplies * self.prices, 1.0)
        scale = 1 / np.sqrt(weight.sum(axis=1) + np.append(value, value.sum()))
        curvature = (1 + 1e-10) * np.eye(m + 1) - scale[:, None] * weight * scale
        move = scale * solve(curvature, scale * np.append(self.short, 0.0), assume_a="pos")
        # against the middle: a small good that moves far is no reason to look further at large ones
        return 2 * np.abs(move - np.append(value, 0.0) @ move / value.sum())

    def close(self, generosity: float) -> Pairs:
        """List the pairs that are close, for buyers who have more than one, and for every good."""
        reach = self.reach(generosity)
        share = np.exp(-reach)
        floor = self.liked.best * share[self.liked.first]
        unsure = self.liked.second >= np.minimum(floor, self.liked.best * share.min())
        unsure = np.flatnonzero(unsure & self._needed(generosity))
        row, good = self.screen.values.close(
            self.buyers[unsure], self.per_credit, self.liked.best[unsure], floor[unsure], share
        )
        pairs = Pairs(unsure[row], good)
        wanted = total_by(self.liked.first, self.budgets, self.screen.market.m + 1) > 0
        wanted[pairs.good] = True
        orphans = self.screen.goods[~wanted[self.screen.goods]]
        return pairs.with_more(self._keenest(orphans)) if orphans.size else pairs

    def _needed(self, generosity: float) -> NDArray[np.bool_]:
        """Tell who is not tied, or one of the few whose ties are enough to even things out, (k,).

        Which of many tied buyers moves is all the same, as long as enough of them may.
        """
        tied = self.margin <= MARGINS[0]
        m = self.screen.market.m
        movable = total_by(self.liked.first[tied], self.budgets[tied], m + 1)
        movable += total_by(self.liked.other[tied], self.budgets[tied], m + 1)
        wanted = 2 * generosity * (np.abs(self.short) + MANY_MOVED * self.budgets.mean())
        share = wanted / np.maximum(movable[:m], np.finfo(float).tiny)
        enough = min(float(share[movable[:m] > 0].max(initial=0)), 1.0)
        return ~tied | (np.random.default_rng(0).random(len(tied)) < enough)

    def _keenest(self, goods: Indices) -> Pairs:
        """List the buyers to whom goods that nobody takes come nearest."""
        rows = []
        for j in goods:
            worth = self.screen.values.column(self.buyers, int(j)) * self.per_credit[j]
            order = np.argsort(-worth / self.liked.best, kind="stable")
            order = order[worth[order] > 0]
            value = self.screen.market.supplies[j] * self.prices[j]
            enough = int(np.searchsorted(np.cumsum(self.budgets[order]), 2 * value)) + MOST_PAIRS
            rows.append(order[:enough])
        return Pairs(np.concatenate(rows), np.repeat(goods, [len(r) for r in rows]))

    def reduce(self, pairs: Pairs) -> Reduced:
        """Make the reduced market of some pairs; a buyer's best is always among its own."""
        # whoever has a pair keeps its best, too
        mine = distinct(pairs.row)
        pairs = pairs.with_more(Pairs(mine, self.liked.first[mine]))
        choices = np.bincount(pairs.row, minlength=len(self.buyers))
        several = choices[pairs.row] >= 2
        return Reduced(self, Pairs(pairs.row[several], pairs.good[several]), choices < 2)
