"""Shmyrev's program in shrinking boxes of prices: the search for a box that is small enough."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from qmopt.errors import SolverFailed
from qmopt.market import Market
from qmopt.methods.lp_box import TANGENTS, solve_box
from qmopt.methods.lp_options import Near, Options
from qmopt.progress import tell
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Sweeps of proportional bids for prices to begin with.
SWEEPS = 30
#: Options beyond one per buyer that a program may have; the box shrinks until they are no more.
MOST_OPTIONS = 1_000_000
#: How often it may shrink for that: what is left after these are ties, in the smallest box, too.
HALVINGS = 12
#: Least and most half width of a box to begin with, and the least of any, in log prices.
NARROW, WIDE, NARROWEST = 1e-3, 1.0, 1e-9
#: How much a box shrinks whose prices all ended inside it.
SHRINK = 1 / 5
#: Programs without any gain of the gap after which there is none to be had.
PATIENCE = 8


class Point(NamedTuple):
    """Shares of supplies by option, log prices of supplies, and the gap of the full market."""

    gap: float
    near: Near
    share: Array
    log_prices: Array


class BoxSearch:
    """The box and the best point between programs."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.best: Point | None = None
        self.programs = self.solves = self.columns = 0

    def run(self, tolerance: float, most: int, deadline: float) -> str:
        """Move and shrink the box until the gap is small; say how it ended."""
        self._rough(deadline)
        worse = 0
        while self.programs < most and time.monotonic() < deadline:
            near = self._near()
            try:
                found = solve_box(
                    near, self.options.budgets, self.centre, self.half, self.options.floor, deadline
                )
            except SolverFailed as error:
                return f"stopped: {error}"
            self.programs += 1
            self.solves += found.solves
            self.columns = max(self.columns, found.columns)
            point = self._measured(near, found.spend, found.log_prices)
            tell("linear program {}, gap {:.1e}", self.programs, point.gap)
            worse += 1
            if self.best is None or point.gap < self.best.gap:
                self.best, worse = point, 0
            if point.gap <= tolerance:
                return "optimal"
            if worse >= PATIENCE:
                return "stalled"
            self._move(found.log_prices)
        return "stopped"

    def ended(self) -> Point:
        """Return the best point; without one, each buyer spends all on its best good."""
        if self.best is None:
            near = self.options.near(self.centre, np.zeros(len(self.centre)), self.options.size)
            assert near is not None
            _, first = np.unique(near.buyer, return_index=True)
            near = Near(near.buyer[first], near.good[first], near.worth[first])
            return self._measured(near, self.options.budgets, self.centre)
        return self.best

    def units(self, point: Point, market: Market) -> tuple[Array, sp.csr_array]:
        """Return prices and allocation of a point, (m,) and (n, m)."""
        good = point.near.good
        bought = (good < market.m) & (point.share > 0)
        buyer, good = point.near.buyer[bought], good[bought]
        units = point.share[bought] * market.supplies[good]
        allocation = sp.csr_array((units, (buyer, good)), shape=market.shape)
        prices = np.exp(point.log_prices + np.log(self.options.scale) - np.log(market.supplies))
        return np.maximum(prices, market.reserves), allocation

    def _rough(self, deadline: float) -> None:
        """Log prices from a few sweeps of proportional bids, and how far they may be off."""
        options = self.options
        total = np.zeros(options.shape[1])
        history = []
        for sweep in range(1, SWEEPS + 1):
            log_prices = np.maximum(np.log(options.bid(sweep, total)), options.floor)
            # what falls out of the range of floats is cheap, not free
            log_prices = np.maximum(log_prices, log_prices.max() - 600)
            history.append(log_prices)
            total += log_prices
            if time.monotonic() > deadline:
                break
        self.centre = history[-1]
        # the distance left is about what the last half of the sweeps went
        went = np.abs(self.centre - history[len(history) // 2])
        worth = np.exp(self.centre - self.centre.max())
        usual = np.sqrt(worth @ went**2 / worth.sum())
        self.half = np.clip(2 * (went + usual), NARROW, WIDE)

    def _near(self) -> Near:
        """Options that matter in the box; it shrinks while they are too many, but for ties."""
        for _ in range(HALVINGS):
            near = self.options.near(self.centre, self.half, MOST_OPTIONS)
            if near is not None:
                return near
            self.half = self.half / 2
        near = self.options.near(self.centre, self.half, self.options.size)
        assert near is not None
        return near

    def _measured(self, near: Near, spend: Array, duals: Array) -> Point:
        """Turn spends and duals into a point and measure its gap.

        Of a good everybody gets the share of what is spent on it, so that the supply is kept to. A
        good on which HiGHS's tolerance has swallowed the spends is sold at the dual price instead.
        At the duals buyers are tied between options exactly as the program has them, which makes
        the gap the square of the box; but what is paid differs from what was spent, by the box
        itself. Where a kept credit counts that is worse than prices at which the two agree.
        """
        options, m = self.options, len(duals)
        worth = total_by(near.good, spend, m + 1)[:m]
        spacing = 2 * self.half / (TANGENTS - 1)
        sold = np.maximum(np.maximum(np.log(worth), duals - spacing), options.floor)
        share = spend * np.exp(-np.append(sold, 0.0)[near.good])
        candidates = [duals] if np.isinf(options.keep).all() else [duals, sold]
        gaps = [self._gap(near, share, log_prices) for log_prices in candidates]
        best = int(np.argmin(gaps))
        return Point(gaps[best], near, share, candidates[best])

    def _gap(self, near: Near, share: Array, log_prices: Array) -> float:
        """Gap of the full market, over the worth of the supplies; one pass over all values."""
        options, (n, m) = self.options, self.options.shape
        price, reserve = np.exp(log_prices), np.exp(options.floor)
        goods = near.good < m
        buyer, good, part = near.buyer[goods], near.good[goods], share[goods]
        paid = total_by(buyer, part * price[good], n)
        left = options.budgets - paid
        kept = np.where(options.keep > -np.inf, np.maximum(left, 0), 0.0)
        # log of the utility over the budget: of goods and kept credits
        terms = np.log(part / options.budgets[buyer]) + near.worth[goods]
        utility = np.log(kept / options.budgets) + options.keep
        largest = utility.copy()
        np.maximum.at(largest, buyer, terms)
        total = total_by(buyer, np.exp(terms - largest[buyer]), n)
        utility = largest + np.log(total + np.exp(utility - largest))
        idle = 1 - total_by(good, part, m)
        lost = options.budgets @ (options.best(log_prices) - utility) - (left - kept).sum()
        gap = float(((price - reserve) @ idle + lost) / price.sum())
        return np.inf if np.isnan(gap) else abs(gap)

    def _move(self, log_prices: Array) -> None:
        """Centre the box at the last duals; widen it where they left, or narrow it everywhere."""
        part = np.abs(log_prices - self.centre) / self.half
        if (part > 0.99).any():
            half = np.where(part > 0.99, 2 * self.half, self.half)
        else:
            half = np.where(part > 0.5, self.half / 2, self.half * SHRINK)
        self.centre, self.half = log_prices, np.maximum(half, NARROWEST)
