"""Nash welfare of many buyers with one demand each.

The program is in :mod:`qmopt.methods.demands.rows`, the interior point that solves it in
:mod:`qmopt.methods.demands.newton`. That one looks at every buyer in every step; where there are
many, hardly any of them matters for long. A sample tells the prices to a percent or so. At given
prices most buyers hold on to their one or two options for as long as prices move by less than a
margin of their own, and what they take together is smooth: demand and its slope are found in one
pass. So a round is

1. one exact pass over all buyers at the prices: demand, slope, margins;
2. the interior point for those few whose margins are narrow, next to the linear demand of all
   others; its prices are the next ones.

It is Newton's method in the prices, with the kinks left to the interior point, and the last rounds
find the optimum to rounding. What ends it is measured, not hoped for: at the last prices everybody
does its best, and chips asked for are those there are.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from qmopt.methods.demands.newton import Blocks, Others, Path
from qmopt.methods.demands.rows import Buyers
from qmopt.progress import tell
from qmopt.utilities.pairs import Array, total_by

#: Buyers from which on there are rounds; how many are sampled, at most and as a part of all; the
#: merit at which that is enough.
LARGE, SAMPLE, PART, ENOUGH = 8_000, 10_000, 4, 1e-3
#: Fewest and most buyers in an interior point of a round; of more, a part stands for all.
FEW, OPEN = 50, 20_000
#: Margin of the first round; that of a next one as a multiple of what prices are off by, and of the
#: barrier at which the last one ended; the least.
WIDTH, SAFE, BARRIERS, LEAST = 0.03, 4.0, 10.0, 1e-7
#: Barrier at which a round's interior point starts, as a multiple of the margin, and at most.
WIDE, HIGHEST = 10.0, 0.3
#: Merit at which it ends, as a share of the margin or of its square; and of the tolerance.
FINE, FINER, FINEST = 0.02, 10.0, 0.025
#: Share of its chips that a buyer to whom two options are alike has of what it would not take at
#: the prices alone; and by which one whose answer is steep in the prices has another one.
TORN, STEEP = 1e-7, 1e-4
#: Rounds at most.
ROUNDS = 20


class Found(NamedTuple):
    """Where the path ended.

    Parameters
    ----------
    prices
        Of goods, (m,), credits per chip, no lower than the reserves.
    levels
        Chips that each option takes, (K,); together within supplies and demands.
    iterations
        Steps of the interior point, over many buyers or few.
    status
        ``optimal``; ``stalled`` if it got no better; ``stopped`` if steps or time ran out.
    """

    prices: Array
    levels: Array
    iterations: int
    status: str


def solve(
    given: Buyers,
    *,
    tolerance: float = 1e-9,
    most: int = 200,
    deadline: float = np.inf,
    threads: int | None = None,
) -> Found:
    """Find prices and chips.

    Parameters
    ----------
    given
        The buyers.
    tolerance
        Of the gap as a share of all credits, and of how far budgets, demands and supplies are from
        being met, each as a share of itself.
    most
        Steps of one interior point.
    deadline
        By :func:`time.monotonic`.
    threads
        By default one for each processor that this process may use. The answer is the same bits at
        any number.

    Examples
    --------
    Buyers with 3 and 1 credits and one good of 2 chips, a Fisher market: all 4 credits buy all 2.

    >>> found = solve(Buyers.of([3, 1], np.inf, ([0, 1, 2], [0, 0], 1, 1), [2]))
    >>> found.status, found.prices.round(6).tolist(), found.levels.round(6).tolist()
    ('optimal', [2.0], [1.5, 0.5])
    """
    made, own = given.banked()
    with Blocks(threads or len(os.sched_getaffinity(0))) as blocks:
        steps = 0
        if len(made.budgets) >= LARGE:
            rounds = Rounds(made, blocks, tolerance, most, deadline)
            levels = rounds.run()
            if levels is not None:
                prices = np.maximum(rounds.price, given.reserves)
                return Found(prices, given.fitting(levels[own]), rounds.steps, rounds.status)
            steps = rounds.steps
        path = Path(made, blocks)
        path.begin(path.rough(), 1.0, 1.0)
        status = path.follow(tolerance, most, deadline)
    prices, levels = np.maximum(path.price[:-1], given.reserves), given.fitting(path.y[own])
    if status == "stalled" and given.gap(prices, levels) <= tolerance * given.budgets.sum():
        status = "optimal"
    return Found(prices, levels, steps + path.iterations, status)


class Rounds:
    """Prices, better from round to round."""

    def __init__(
        self, given: Buyers, blocks: Blocks, tolerance: float, most: int, deadline: float
    ) -> None:
        self.given, self.blocks = given, blocks
        self.tolerance, self.most, self.deadline = tolerance, most, deadline
        self.credit, self.steps = float(given.budgets.sum()), 0
        self.price, self.status = self._sampled(), "optimal"

    def _sampled(self) -> Array:
        """Prices of a sample, always the same, with supplies for as many credits."""
        given, n = self.given, len(self.given.budgets)
        size = min(SAMPLE, n // PART)
        drawn = np.random.default_rng(0).choice(n, size, replace=False, shuffle=False)
        sample, _ = given.some(np.sort(drawn))
        share = sample.budgets.sum() / self.credit
        path = Path(sample.with_supplies(given.supplies * share), self.blocks)
        path.begin(path.rough(), 1.0, 1.0)
        path.follow(ENOUGH, self.most, self.deadline)
        self.steps += path.iterations
        return path.price[:-1]

    def run(self) -> Array | None:
        """Return the chips of all options, or None if rounds do not close in."""
        given, n = self.given, len(self.given.budgets)
        margin = np.empty(n)
        taken, bend = self._survey(given, margin)
        width = WIDTH
        for turn in range(ROUNDS):
            if time.monotonic() > self.deadline:
                self.status = "stopped"
                return self._levels(np.empty(0, dtype=np.int64), np.empty(0))
            reach = max(width, float(np.partition(margin, FEW)[FEW]))
            open_ = np.flatnonzero(margin <= reach)
            stride = -(-len(open_) // OPEN)
            few, places = given.some(open_[::stride])
            few = few.times(len(open_) / len(few.budgets))
            part, its_bend = self._survey(few, np.empty(len(few.budgets)))
            path = Path(
                few, self.blocks, Others(taken - part, bend - its_bend, self.price), self.credit
            )
            path.begin(self.price, min(HIGHEST, WIDE * width), width)
            share = float(few.budgets.sum()) / self.credit
            enough = max(min(FINE, FINER * width) * width * share, FINEST * self.tolerance)
            path.follow(enough, self.most, self.deadline)
            self.steps += path.iterations
            self.price = path.price[:-1]
            taken, bend = self._survey(given, margin)
            missed = given.supplies - taken - path.idle
            if stride <= 1:
                part, _ = self._survey(few, np.empty(len(few.budgets)))
                missed += part - total_by(few.goods, path.y, path.size)[:-1]
            short = float(np.abs(missed / given.supplies).max())
            if stride <= 1 and max(short, path.merit) <= self.tolerance:
                return self._levels(places, path.y)
            try:
                off = float(np.abs(path.solved(missed) / self._scale()).max())
            except LinAlgError:  # so near to the end that it is singular to rounding
                off = short
            tell(
                "demand path: round {}, {} open, prices off by {:.1e}, supplies by {:.1e}",
                turn + 1, len(open_), off, short,
            )  # fmt: skip
            width = max(SAFE * off, BARRIERS * path.total / path.credit, LEAST)
        return None

    def _scale(self) -> Array:
        """Return what moves of prices are measured in: prices, or a small share of usual ones."""
        usual = self.credit / self.given.supplies / len(self.given.supplies)
        return np.maximum(self.price, 1e-6 * usual)

    def _survey(self, given: Buyers, margin: Array) -> tuple[Array, Array]:
        """Chips that buyers take at the prices, (m,), and minus their slope, (m, m)."""
        from qmopt.methods.demands.hull import survey

        price, scale = np.append(self.price, 1.0), np.append(self._scale(), 0.0)

        def work(block: tuple[int, int]) -> Any:
            sums = np.zeros(len(price)), np.zeros((len(price), len(price)))
            survey(*block, *given.rows, price, scale, margin, *sums)
            return sums

        taken, bend = zip(*self.blocks.run(work, len(given.budgets)), strict=True)
        return np.sum(taken, axis=0)[:-1], np.sum(bend, axis=0)[:-1, :-1]

    def _levels(self, places: Any, theirs: Array) -> Array:
        """Chips of all options: of those torn between two as they were found, else by the prices.

        A barrier keeps whoever is next to a bend of its answer away from it, by the root of what it
        keeps the program; prices alone say better what to take where that is not two options alike.
        """
        from qmopt.methods.demands.hull import settle

        given, price = self.given, np.append(self.price, 1.0)
        levels = np.empty(len(given.goods))

        def work(block: tuple[int, int]) -> None:
            settle(*block, *given.rows, price, levels)

        self.blocks.run(work, len(given.budgets))
        if len(places):
            whose, count = given.buyers[places], len(given.budgets)
            chips = total_by(whose, theirs, count)
            off = total_by(whose, np.abs(levels[places] - theirs), count)
            other = total_by(whose, np.where(levels[places] == 0, theirs, 0.0), count)
            torn = (other > TORN * chips) | (off > STEEP * chips)
            levels[places] = np.where(torn[whose], theirs, levels[places])
        return levels
