"""From a convex program to an equilibrium with demands: along one curve, around its turns.

The share of rents that buyers spend is tied to the barrier: ``share = 1 - (barrier/first)**BEND``.
At the first barrier the share is 0 and the system has one solution; towards the barrier 0 its
solutions become equilibria. In between they lie on a curve, which may turn back on the way, so
that the barrier is no parameter of it but its length is: predictor and corrector along the curve
(H. B. Keller, "Numerical solution of bifurcation and nonlinear eigenvalue problems", 1977), in
relative changes of everything. Since the numbers stay bounded while the barrier is positive, the
curve can end nowhere else but at an equilibrium, up to degenerate points and rounding.

The argument needs the one solution that the system has where the curve sets out; a division of
credits over workloads would be another start, for which there is none.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from qmopt.methods.activities.iterate import Iterate, Missed, Products
from qmopt.methods.activities.path import follow
from qmopt.methods.activities.reduced import Reduced
from qmopt.methods.activities.scaled import Scaled
from qmopt.progress import tell
from qmopt.utilities.protocol import Array

#: Share by which products, and relative to the barrier budgets and supplies, may be off the curve.
CLOSE = 0.6
#: Steps along the curve: the first, the longest, and the shortest before it is given up.
FIRST, LONGEST, SHORTEST = 0.2, 3.0, 1e-6
#: How far towards 0 anything may go in one step.
FAR = 0.8
#: How far beyond its start, in the logarithm of the barrier, a curve that came back is given up.
BACK = 0.5
#: Barrier from which on Newton's steps alone may go on, by how much each goes down, how many there
#: are at most, and the relative change of one that is there.
NEAR, DOWN, NEWTON, THERE = 1e-6, 0.3, 15, 0.05
#: Corrections of one step, and what share of the last one is to be left of the next.
CORRECTIONS, CONTRACTS = 6, 0.8


@dataclass(frozen=True)
class Curve:
    """Which curve: where it starts, where it ends, and how fast the share grows along it."""

    first: float = 0.3
    bend: float = 3.0
    last: float = 1e-11

    def share(self, log: float) -> tuple[float, float]:
        """Share at a barrier, given by its logarithm, and its derivative."""
        left = float(np.exp(self.bend * (log - np.log(self.first))))
        return max(0.0, 1 - left), -self.bend * left


@dataclass(frozen=True)
class Followed:
    """Where a curve was followed to.

    Parameters
    ----------
    here
        The last iterate on it.
    barrier, share
        Its parameters there.
    steps
        Systems of equations factored.
    finished
        Whether that is the curve's end.
    """

    here: Iterate
    barrier: float
    share: float
    steps: int
    finished: bool


class _Tracker:
    """A point on the curve, the direction in which it was reached, and the steps so far."""

    def __init__(self, scaled: Scaled, curve: Curve) -> None:
        self.scaled, self.curve = scaled, curve
        self.steps, self.step = 0, FIRST
        self.log = float(np.log(curve.first))
        self.before: tuple[Array, float] | None = None

    def begin(self, deadline: float) -> bool:
        """Find the one point at the first barrier."""
        first = self.curve.first
        self.here, self.steps, _ = follow(
            self.scaled, 1e-10, barrier=first, most=60, deadline=deadline
        )
        for _ in range(12):
            move = self._reduced().towards(first)
            self.here = self.here.moved(move, min(1.0, 0.9 / _towards_zero(self.here, move)))
            if self._off() < CLOSE / 10:
                return True
        return self._off() < CLOSE

    def _reduced(self) -> Reduced:
        self.steps += 1
        return Reduced(self.scaled, self.here, self.curve.share(self.log)[0])

    def _tangent(self, reduced: Reduced) -> Iterate:
        """Return the change of everything by the logarithm of the barrier."""
        scaled, barrier = self.scaled, float(np.exp(self.log))
        grows = self.curve.share(self.log)[1] * (scaled.rented @ self.here.rents)
        none = Missed(np.zeros(len(scaled.team)), np.zeros(scaled.shape[1]), grows)
        return reduced.solve(Products(*(barrier * w for w in scaled.weights)), none)

    def _off(self) -> float:
        """How far from the curve: products relative to the barrier, and what is missed."""
        scaled, here, barrier = self.scaled, self.here, float(np.exp(self.log))
        off = max(
            float(np.abs(product / (barrier * weight) - 1).max(initial=0.0))
            for product, weight in zip(here.products(), scaled.weights, strict=True)
        )
        share = self.curve.share(self.log)[0]
        effective_budgets = scaled.budgets + share * (scaled.rented @ here.rents)
        missed = scaled.missed(here, share).largest(effective_budgets)
        return max(off, missed / min(0.1, 10 * barrier))

    def advance(self) -> bool:
        """Take one step along the curve; False where none could be taken."""
        tangent = self._tangent(self._reduced())
        relative = self.here.relative(tangent)
        size = np.sqrt(_mean(relative, relative) + 1)
        if self.before is not None:  # on, not back
            along = _mean(relative, self.before[0]) + self.before[1]
            size = size if along >= 0 else -size
        else:
            size = -size  # the barrier falls
        relative, per = relative / size, 1 / size
        here, log = self.here, self.log
        while self.step >= SHORTEST:
            length = min(self.step, FAR / max(float((-relative).max()), 1e-300))
            self.here, self.log = here.moved(tangent, length / size), log + length * per
            corrections = self._correct(relative, per)
            if corrections is not None:
                self.before, self.here = (relative, per), self.scaled.refreshed(self.here)
                grow = 2.0 if corrections == 1 else 1.3 if corrections == 2 else 0.8
                self.step = min(max(length, self.step) * grow, LONGEST)
                return True
            self.here, self.log, self.step = here, log, length / 2.5
        return False

    def _correct(self, relative: Array, per: float) -> int | None:
        """Return to the curve across the direction; how often that took, None where it failed."""
        last = np.inf
        for count in range(1, CORRECTIONS + 1):
            reduced = self._reduced()
            newton, tangent = reduced.towards(float(np.exp(self.log))), self._tangent(reduced)
            by_newton, by_tangent = self.here.relative(newton), self.here.relative(tangent)
            change = -_mean(relative, by_newton) / (_mean(relative, by_tangent) + per)
            together = by_newton + change * by_tangent
            size = float(np.sqrt(_mean(together, together) + change**2))
            if not np.isfinite(size) or abs(change) > 1 or (count > 1 and size > CONTRACTS * last):
                return None
            last = size
            length = min(1.0, 0.9 / max(float((-together).max()), 1e-300))
            self.here = self.here.moved(newton, length).moved(tangent, length * change)
            self.log += length * change
            if length == 1.0 and self._off() < CLOSE:
                return count
        return None

    def finish(self) -> bool:
        """Go down to the end with Newton's steps alone, all rents spent; tell whether it is there.

        What is next to the end is no longer curved, and where the curve is too fine for rounding
        this still goes on.
        """
        last = self.curve.last
        self.curve = Curve(self.curve.first, np.inf, last)
        barrier = max(float(np.exp(self.log)), last)
        while True:
            here = self._at(barrier)
            if here is None:
                return False
            self.here, self.log = here, float(np.log(barrier))
            if barrier <= last:
                return True
            barrier = max(barrier * DOWN, last)

    def _at(self, barrier: float) -> Iterate | None:
        """Newton's steps to the point with a barrier and all rents spent; None if they fail."""
        here = self.here
        for _ in range(NEWTON):
            self.steps += 1
            move = Reduced(self.scaled, here, 1.0).towards(barrier)
            change = here.relative(move)
            length = min(1.0, 0.9 / max(float((-change).max()), 1e-300))
            here = here.moved(move, length)
            if not np.isfinite(here.product()):
                return None
            if length == 1.0 and np.abs(change).max() < THERE:
                return here
        return None


def effective(
    scaled: Scaled, curve: Curve | None = None, *, most: int = 3000, deadline: float = np.inf
) -> Followed:
    """Follow the curve to an equilibrium in which every budget is spent.

    Parameters
    ----------
    scaled
        The system, with a floor on what kept credits are worth.
    curve
        Which curve to follow.
    most
        Systems of equations at most.
    deadline
        Of ``time.monotonic``, after which no other step is taken.
    """
    tracker = _Tracker(scaled, Curve() if curve is None else curve)
    last, back = float(np.log(tracker.curve.last)), tracker.log + BACK
    try:
        on = tracker.begin(deadline)
        while on and tracker.log > last:
            on = tracker.advance() and tracker.steps < most and time.monotonic() < deadline
            on = on and tracker.log < back
            tell("effective budgets: step {}, barrier {:.1e}", tracker.steps, np.exp(tracker.log))
        if tracker.log <= np.log(NEAR):
            tracker.finish()
    except FloatingPointError:  # what there is by then is returned
        pass
    share = tracker.curve.share(tracker.log)[0]
    barrier, done = float(np.exp(tracker.log)), tracker.log <= last
    return Followed(tracker.here, barrier, share, tracker.steps, done)


def _mean(left: Array, right: Array) -> float:
    return float(left @ right) / len(left)


def _towards_zero(here: Iterate, move: Iterate) -> float:
    """How often a full step would use up something."""
    return max(float((-here.relative(move)).max()), 1e-300)
