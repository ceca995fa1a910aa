"""The central path of buyers with one demand each, followed by Newton's method.

The program is in :mod:`qmopt.methods.demands.rows`. Its duals are prices p of goods, mu of a unit
of a buyer's demand, and beta of a unit of its value, where ``beta u = B``; an option carries chips
only if its slack ``z = p + mu r - beta c`` is 0. The path is, with shares of what all supplies are
worth, ``y z = t B share_j``, ``mu spare = t B``, ``idle (p - rho) = t share_j sum B``, and Newton's
method follows it to t = 0 with Mehrotra's predictor and corrector. All these products are credits:
no unit of measure matters, nothing needs a scale.

A buyer's part of the Newton system is a diagonal plus rank two (mu and beta) and is eliminated on
the spot; what is left is a symmetric system in the prices. Three passes over the options make a
step, each over blocks of buyers (see :class:`Blocks`). Memory: 6 numbers per option, 12 per buyer,
with those given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from qmopt.methods.demands.rows import Buyers
from qmopt.progress import tell
from qmopt.utilities.pairs import Array, total_by

#: Buyers in a block; other blocks, other last bits.
BLOCK = 1 << 13
#: Most Newton steps to a buyer's own path at given prices.
TURNS = 12
#: Share of the way to the boundary that a step goes, and by how many merits it may miss all of it.
LENGTH, NEARLY = 0.9, 10.0
#: Share of the way that the predictor has to go for its second order to count in full.
SHORT = 0.03
#: Steps without a better merit after which the path has done what it can, early and late.
PATIENCE, BRIEF = 30, 4
#: Merit from which on it is late.
ROUGH = 1e-6
#: Added to the diagonal of the scaled system, as a share of it, where rounding made it indefinite.
RIDGES = (0.0, 1e-14, 1e-11, 1e-8, 1e-5)


class Blocks:
    """Compiled passes over blocks of buyers, on several threads.

    Blocks do not depend on the threads, and their results come in their order, so that sums are the
    same bits at any number of threads.
    """

    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown()

    def run(self, work: Callable[[tuple[int, int]], Any], buyers: int) -> list[Any]:
        """Do the work for each block, given by its first buyer and the one after its last."""
        blocks = [(start, min(start + BLOCK, buyers)) for start in range(0, buyers, BLOCK)]
        return [work(blocks[0])] if len(blocks) == 1 else list(self.pool.map(work, blocks))


@dataclass(frozen=True)
class Others:
    """What other buyers take, as a linear function of the prices.

    Parameters
    ----------
    taken
        Chips (m,) at the prices ``near``.
    bend
        Minus its slope, (m, m), symmetric and positive semidefinite.
    near
        Prices (m,).
    """

    taken: Array
    bend: Array
    near: Array


class Path:
    """The iterates. Goods are those of the market, then the bank, whose price stays 1.

    Parameters
    ----------
    given
        The buyers, kept credits as options on the bank (see ``Buyers.banked``).
    blocks
        What runs the passes.
    others
        Buyers who are not followed, but take chips of the same supplies.
    credit
        Credits of all buyers, of which the gap is measured as a share; by default of those given.
    """

    def __init__(
        self, given: Buyers, blocks: Blocks, others: Others | None = None, credit: float = 0.0
    ) -> None:
        self.given, self.blocks, self.rows = given, blocks, given.rows
        n, m, size = len(given.budgets), len(given.supplies), len(given.goods)
        nobody = Others(np.zeros(m), np.zeros((m, m)), np.zeros(m))
        self.others = nobody if others is None else others
        self.credit = float(given.budgets.sum())
        self.whole = max(credit, self.credit)
        self.iterations, self.merit = 0, np.inf
        self.beta, self.mu, self.spare = np.empty((3, n))
        self.db, self.du, self.dq = np.zeros((3, n))
        self.inverse, self.ratio = np.empty((n, 2)), np.empty(n)
        self.y, self.z, self.dy = np.empty(size), np.empty(size), np.zeros(size)
        self.size = m + 1

    def rough(self) -> Array:
        """Prices (m,) at which everybody bids in proportion to the worth of whole supplies."""
        given, buyers = self.given, self.given.buyers
        n, m = len(given.budgets), self.size - 1
        worth = given.worths * np.append(given.supplies, 0.0)[given.goods]
        total = np.maximum(total_by(buyers, worth, n), np.finfo(float).tiny)
        bids = total_by(given.goods, worth * (given.budgets / total)[buyers], self.size)[:m]
        least = 1e-6 * self.credit / m
        return np.maximum(np.maximum(bids, least) / given.supplies, given.reserves)

    def begin(self, prices: Array, barrier: float, lift: float) -> None:
        """Start near prices (m,) at a barrier, every buyer near its own path there.

        Prices are raised by a share ``lift`` of them, so that they exceed the reserves.
        """
        given = self.given
        worth = prices * given.supplies
        worth = np.maximum(worth, 1e-9 * worth.sum())
        self.share = np.append(worth / worth.sum(), 1.0)
        self.price = np.append((1 + lift) * worth / given.supplies, 1.0)
        self.above = self.price[:-1] - given.reserves
        idle = barrier * self.credit * self.share[:-1] / self.above
        self.idle = np.minimum(idle, given.supplies / 2)
        in_rows = total_by(given.goods, given.budgets[given.buyers], self.size) @ self.share
        capped = given.budgets[np.isfinite(given.demands)].sum()
        self.weight = float(in_rows + capped + self.credit)
        self.primal = self.dual = 0.0
        self.dp = np.zeros(self.size)
        from qmopt.methods.demands.kernels import centre

        def start(block: tuple[int, int]) -> None:
            centre(
                *block, *self.rows, self.price, self.share, barrier, TURNS,
                self.beta, self.mu, self.spare, self.y, self.z,
            )  # fmt: skip

        self._run(start)

    def follow(self, tolerance: float, most: int, deadline: float) -> str:
        """Take steps until the merit is small, gets no better, or time is up; say which.

        Where prices are not unique or options are tied, rounding takes over at a merit of about
        1e-10; so the best iterate is kept.
        """
        stale, best = 0, None
        status = ""
        while not status:
            merit = self._reduce()
            if merit < self.merit:
                self.merit, stale, best = merit, 0, None
                if merit < ROUGH:
                    best = self.price, self.y.copy(), self.idle
            else:
                stale += 1
            if merit <= tolerance:
                return "optimal"
            if self.iterations >= most or time.monotonic() > deadline:
                status = "stopped"
            elif (
                stale > PATIENCE or (stale > BRIEF and self.merit < ROUGH) or not np.isfinite(merit)
            ):
                status = "stalled"
            else:
                try:
                    self._advance()
                except LinAlgError:
                    status = "stalled"
                self.iterations += 1
                tell("demand path: step {}, residual {:.1e}", self.iterations, merit)
        if best is not None:
            self.price, self.y, self.idle = best
        return status

    def _run(self, work: Callable[[tuple[int, int]], Any]) -> list[Any]:
        return self.blocks.run(work, len(self.given.budgets))

    def _reduce(self) -> float:
        """Move by the last step, reduce the system to the prices; return the merit."""
        from qmopt.methods.demands.kernels import reduce

        size, supplies = self.size, self.given.supplies
        self.price = self.price + self.dual * self.dp
        self.above = self.above + self.dual * self.dp[:-1]

        def run(block: tuple[int, int]) -> Any:
            sums = np.zeros((size, size)), np.zeros(size), np.zeros(size), np.zeros(size)
            worst = np.zeros(1)
            total = reduce(
                *block, *self.rows, self.primal, self.dual, self.dp, self.dy, self.db, self.du,
                self.dq, self.beta, self.mu, self.spare, self.y, self.z, self.inverse, self.ratio,
                *sums, worst,
            )  # fmt: skip
            return *sums, total, worst[0]

        schur, diagonal, right, taken, total, worst = zip(*self._run(run), strict=True)
        lower, others = np.sum(schur, axis=0), self.others
        matrix = (lower + lower.T)[:-1, :-1] + others.bend
        matrix[np.diag_indices(size - 1)] += np.sum(diagonal, axis=0)[:-1] + self.idle / self.above
        self.matrix, self.right = matrix, np.sum(right, axis=0)[:-1]
        elsewhere = others.taken - others.bend @ (self.price[:-1] - others.near)
        self.free = supplies - np.sum(taken, axis=0)[:-1] - elsewhere - self.idle
        self.total = float(sum(total) + self.idle @ self.above)
        short = np.abs(self.free / supplies).max()
        return float(max(self.total / self.whole, short, *worst))

    def solved(self, missed: Array) -> Array:
        """Return the move of prices (m,) that makes buyers take ``missed`` chips less, about."""
        return -self._factor()(missed)[:-1]

    def _factor(self) -> Callable[[Array], Array]:
        """Factor the system in the prices; return what solves it, with no move of the bank's."""
        diagonal = self.matrix.diagonal()
        if not (np.isfinite(self.matrix).all() and (diagonal > 0).all()):
            raise LinAlgError("the Newton system is out of range")
        scale = 1 / np.sqrt(diagonal)
        scaled = scale[:, None] * self.matrix * scale
        for ridge in RIDGES:
            try:
                factors = cho_factor(scaled + ridge * np.eye(len(scale)))
            except LinAlgError:
                continue
            return lambda right: np.append(scale * cho_solve(factors, scale * right), 0.0)
        raise LinAlgError("the Newton system is indefinite")

    def _advance(self) -> None:
        """Find the next step: a predictor and a corrector with the same factors."""
        from qmopt.methods.demands.kernels import correct, predict

        size, idle, above, share = self.size, self.idle, self.above, self.share
        solved = self._factor()
        first = solved(self.right - idle - self.free)
        if not np.isfinite(first).all():
            raise LinAlgError("the Newton step is out of range")
        passed = (self.beta, self.mu, self.spare, self.y, self.z, self.inverse, self.ratio)

        def look(block: tuple[int, int]) -> Any:
            found, centred, second = np.zeros(5), np.zeros(size), np.zeros(size)
            predict(
                *block, *self.rows, share, first, *passed, self.db, self.du, found, centred, second
            )
            return found, centred, second

        found, centred, second = map(np.array, zip(*self._run(look), strict=True))
        q = first[:-1] / above
        product = idle * above * q
        low, high = min(found[:, 0].min(), q.min()), max(found[:, 1].max(), q.max())
        one, two = found[:, 3].sum() + product.sum(), found[:, 4].sum() + product @ q
        primal, dual = 1 / max(1.0, 1 + high), 1 / max(1.0, -low, found[:, 2].max())
        ahead = self.total - primal * (self.total + one) + dual * one - primal * dual * (one + two)
        # Mehrotra's guess of how far the next point on the path should be
        aim = min((max(ahead, 0.0) / self.total) ** 2, 1.0) * self.total / self.weight
        part = 1.0 if min(primal, dual) > SHORT else primal * dual
        asked = aim * self.credit * share[:-1] / above + part * idle * q * (1 + q) - idle
        right = self.right + aim * centred.sum(axis=0)[:-1] + part * second.sum(axis=0)[:-1]
        self.dp = solved(right + asked - self.free)

        def finish(block: tuple[int, int]) -> Any:
            used = np.zeros(2)
            correct(
                *block, *self.rows, share, self.dp, first, aim, part, *passed,
                self.db, self.du, self.dq, self.dy, used,
            )  # fmt: skip
            return used

        used = np.max(self._run(finish), axis=0)
        fall = -self.dp[:-1] / above
        d_idle = asked + idle * fall
        length = max(LENGTH, 1 - NEARLY * self.merit)
        self.primal = min(1.0, length / max(1.0, used[0], (-d_idle / idle).max()))
        self.dual = min(1.0, length / max(1.0, used[1], fall.max()))
        self.idle = idle + self.primal * d_idle
