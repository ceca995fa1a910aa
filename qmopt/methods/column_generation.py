"""Column generation: a large market, cleared through small ones."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from qmopt.arguments import settings
from qmopt.market import Market
from qmopt.methods.central_path import CentralPath
from qmopt.methods.crossover import crossover
from qmopt.methods.outcome import Outcome, linear_only
from qmopt.methods.reduced import Pairs, Reduced
from qmopt.methods.scan import Liked
from qmopt.methods.screening import Look, Screen
from qmopt.progress import tell
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import pairs, total_by
from qmopt.utilities.protocol import Array

#: Buyers in the first sample, at least, and per good.
SAMPLE, PER_GOOD = 1000, 3
#: How many times larger each sample is than the one before it.
GROWTH = 8
#: How many times over the credits that may move outweigh what demand and supply are apart.
GENEROSITY = 1.5
#: Pairs that are so few that twice as many cost nothing.
FEW = 4000
#: Merits between which the central path is left, and steps along it at most.
ROUGH, FINE, MOST_STEPS = 1e-2, 1e-9, 100
#: How many times nearer each round brings demand and supply.
NEARER = 10
#: Gap, as a share of all credits, that is left to the crossover.
NEAR = 1e-7
#: The same where the central path cannot be followed further.
NEAR_AT_LAST = 1e-5


@dataclass(frozen=True)
class ColumnGeneration:
    """Clear a large linear market through reduced ones.

    Prices from growing samples of the buyers come first. At these, one pass over all values tells
    which buyers have a second choice so close to the first that it can matter; what the others
    spend is a constant. The reduced market that remains is solved by the interior point, the next
    pass looks at the new prices, and so on until demand and supply are so near each other that few
    pairs are left. The crossover makes them exact, and a last pass shows that nobody wants anything
    else; should somebody do, the pair is let in and the crossover goes on.

    Made for many buyers and few goods: the work is a handful of passes over the values, and memory
    beyond them a few numbers per buyer. The allocation is sparse.

    Parameters
    ----------
    tolerance
        Share by which a pair has to be better than what its buyer may choose from to be let in.
    time_limit
        Seconds; what is there by then is measured.

    Examples
    --------
    >>> from qmopt import Linear, Market, clear
    >>> found = clear(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])), ColumnGeneration())
    >>> found.prices.tolist()
    [7.5, 2.5]
    """

    tolerance: float = 2e-11
    time_limit: float = np.inf

    __post_init__ = settings

    # where an iterate leaves the range of floats it is not kept
    @np.errstate(all="ignore")
    def solve(self, market: Market, start: Any = None) -> Outcome:
        """Sample, screen, solve, cross over, look again.

        Parameters
        ----------
        market
            With linear utilities and no utility caps.
        start
            An earlier answer, of the same goods: its prices take the place of the samples'.

        Raises
        ------
        MarketError
            If utilities are not linear, or capped.
        """
        linear_only(market, self)
        return _Run(market, self).outcome(start)


class _Run:
    """One run: the clock, the counts, and what they are spent on."""

    def __init__(self, market: Market, method: ColumnGeneration) -> None:
        self.begun = time.monotonic()
        self.market, self.method = market, method
        self.screen = Screen(market)
        self.buyers = np.flatnonzero(market.active)
        self.budgets = market.budgets[self.buyers]
        self.iterations = self.passes = self.pivots = 0
        self.notes: list[str] = []
        self.guess: Liked | None = None
        self.deadline = self.begun + method.time_limit

    def outcome(self, start: Any) -> Outcome:
        prices = self._from_samples() if start is None else self._from_start(start)
        sampled = time.monotonic()
        reduced, prices, allocation = self._from_all(prices)
        reduced, prices, allocation, status = self._cross_over(reduced, prices, allocation)
        market = self.market
        told = np.where(market.empty, np.nan, market.reserves)
        told[market.sold] = prices[market.sold]
        whole = reduced.allocation(told, allocation)
        return Outcome(
            told,
            whole,
            status,
            {
                "iterations": self.iterations,
                "pivots": self.pivots,
                "passes": self.passes,
                "seconds": {"sample": sampled - self.begun, "solve": time.monotonic() - sampled},
            },
            tuple(self.notes),
        )

    def _from_start(self, start: Any) -> Array:
        """Take the prices of an earlier answer; unknown ones are found by a pass."""
        prices = np.maximum(start.prices, self.market.reserves)
        prices = np.where((prices > 0) & (prices < np.inf), prices, np.nan)
        buyers, goods, units = pairs(start.allocation)
        spend = units * np.nan_to_num(prices)[goods]
        # the good that took most of the credits; who shared them evenly among ties has none
        most = np.full(self.market.n, -1)
        mainly = spend > total_by(buyers, spend, self.market.n)[buyers] / 2
        most[buyers[mainly]] = goods[mainly]
        none = np.zeros(len(self.buyers))
        first = most[self.buyers]
        self.guess = Liked(none, first, first, none, np.full(len(first), -1))
        self._price_unknown(prices)
        return prices

    def _from_samples(self) -> Array:
        """Find prices from samples of the buyers, each several times larger than the last."""
        count, goods = len(self.buyers), self.screen.goods
        rng = np.random.default_rng(0)
        size = max(SAMPLE, PER_GOOD * len(goods))
        buyers, budgets = self._sample(min(size, count), rng)
        base = Market(
            budgets,
            self.market.supplies[goods],
            self.market.utility.take(buyers, goods),
            reserves=self.market.reserves[goods],
            keep_values=self.market.keep_values[buyers],
        )
        prices = np.full(self.market.m, np.nan)
        inside = goods[base.sold]
        if not base.sold.all():
            base = base.take(np.arange(base.n), np.flatnonzero(base.sold))
        path = CentralPath(base, cast(Linear, base.utility))
        path.follow(ROUGH, MOST_STEPS, self.deadline)
        prices[inside], _ = path.best_point()
        self.iterations += path.iterations
        self._price_unknown(prices)
        while size * GROWTH * 2 < count:
            size *= GROWTH
            look = self.screen.look(*self._sample(size, rng), prices)
            reduced = look.reduce(look.close(GENEROSITY))
            prices = reduced.prices(self._solve(look, reduced)[0])
        return prices

    def _sample(self, size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Array]:
        """Draw buyers in proportion to their credits; each stands for an equal part of all."""
        if size >= len(self.buyers):
            return self.buyers, self.budgets
        order = rng.permutation(len(self.buyers))
        upto = np.cumsum(self.budgets[order])
        part = upto[-1] / size
        drawn = np.searchsorted(upto, (np.arange(size) + rng.random()) * part)
        drawn, times = np.unique(order[np.minimum(drawn, len(order) - 1)], return_counts=True)
        return self.buyers[drawn], times * part

    def _price_unknown(self, prices: Array) -> None:
        """Price what no sampled buyer wants as high as its keenest buyer pays, given the others."""
        unknown = self.screen.goods[np.isnan(prices[self.screen.goods])]
        if unknown.size:
            look = self._look(np.where(np.isnan(prices), np.inf, prices))
            for j in unknown:
                worth = self.screen.values.column(self.buyers, int(j)) / look.liked.best
                # who wants nothing else pays all it has
                nothing_else = float(self.budgets[np.isinf(worth)].sum()) / self.market.supplies[j]
                least = max(nothing_else, self.market.reserves[j])
                prices[j] = max([least, *worth[np.isfinite(worth)].tolist()])

    def _solve(self, look: Look, reduced: Reduced) -> tuple[Array, Any, float]:
        """Bring demand and supply of a reduced market nearer; or solve it, if that is the end.

        Returns
        -------
        prices, allocation
            Of the reduced market.
        gap
            Share of all credits by which the dual value at the old prices is at most above the
            least: what the reduced market gains at most.
        """
        market = reduced.market
        path = CentralPath(market, cast(Linear, market.utility), reduced.near)
        screen, imbalance = Screen(market), look.imbalance / NEARER
        before, total = screen.look_all(look.prices[look.screen.goods]).dual, market.budgets.sum()
        tolerance = ROUGH
        while True:
            self.status = path.follow(tolerance, MOST_STEPS, self.deadline)
            prices, allocation = path.best_point()
            there = screen.look_all(prices)
            gap = (before - there.dual) / total + path.merit
            stuck = self.status != "optimal" or tolerance <= FINE
            if stuck or (there.imbalance <= imbalance and gap > NEAR):
                break
            tolerance /= 10
        self.iterations += path.iterations
        return prices, allocation, gap

    def _from_all(self, prices: Array) -> tuple[Reduced, Array, Any]:
        """Go over the whole market in rounds, until no more than the last digits can change."""
        generosity, best = GENEROSITY, self._look(prices)
        close = _close(best, generosity)
        while True:
            reduced = best.reduce(close)
            inner, allocation, gap = self._solve(best, reduced)
            prices = reduced.prices(inner)
            near_enough = NEAR_AT_LAST if self.status == "stalled" else NEAR
            if gap <= near_enough or time.monotonic() > self.deadline:
                break
            look = self._look(prices)
            if look.dual < best.dual:
                best, close = look, _close(look, generosity)
                continue
            # the reduced market was too small: what is close at its prices is let in, too
            generosity *= 2
            more = close.with_more(best.close(generosity)).with_more(look.close(generosity))
            if len(more.row) == len(close.row):
                break
            close = more
        return reduced, prices, allocation

    def _look(self, prices: Array) -> Look:
        self.passes += 1
        look = self.screen.look(self.buyers, self.budgets, prices, self.guess)
        self.guess = look.liked
        tell("pass {} over the values", self.passes)
        return look

    def _cross_over(
        self, reduced: Reduced, prices: Array, allocation: Any
    ) -> tuple[Reduced, Array, Any, str]:
        """Cross over on the reduced market; let in what a pass over all values finds better."""
        goods = self.screen.goods
        while True:
            left = self.deadline - time.monotonic()
            if left <= 0:
                self.notes.append("time ran out before the crossover was done")
                return reduced, prices, allocation, "stopped"
            crossed = crossover(reduced.market, prices[goods], allocation, time_limit=left)
            self.pivots += crossed.pivots
            prices, allocation = reduced.prices(crossed.prices), crossed.allocation
            if not crossed.finished:
                self.notes.append("the crossover ran out of time or pivots before it was done")
                return reduced, prices, allocation, "stopped"
            better = reduced.better(self._look(prices), self.method.tolerance)
            grown = reduced.grown(better)
            if len(grown.pairs.row) == len(reduced.pairs.row):
                return reduced, prices, allocation, "optimal"
            held = reduced.allocation(prices, allocation)
            reduced, allocation = grown, grown.holding(held, prices)


def _close(look: Look, generosity: float) -> Pairs:
    """List the pairs that are close; more of them where that costs next to nothing."""
    close = look.close(generosity)
    return look.close(2 * generosity) if len(close.row) < FEW else close
