"""The two thousand awkward markets of ``generate.market``, and what every method owes on them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from time import monotonic

import numpy as np

import qmopt as qm
from qmopt import generate
from qmopt.deadline import hold

#: How many there are, and the first of them that every run of the tests goes through.
MANY, FEW = 2000, 300
#: Residual that every answer has to meet, and share by which prices of two methods may differ.
TOLERANCE, SAME = 1e-9, 1e-8
#: Seconds for one market; nothing may hang.
PATIENCE = 120.0


@dataclass(frozen=True)
class Way:
    """A way to clear a market, and what it owes.

    ``share`` is the least share of the two thousand that it answers, certified; ``known`` gives
    the reason of every failure, by seed. A failure that is not listed fails the tests, and so do
    more failures than the share leaves. ``exact`` says that its prices are right to the last bits,
    whatever the price intervals say: the gap, from which these come, is of a whole market, and
    leaves the price of a good worth 1e-12 of it open.
    """

    clear: Callable[[qm.Market], qm.Equilibrium]
    share: float
    known: dict[int, str] = field(default_factory=dict)
    exact: bool = True


def by(method) -> Callable[[qm.Market], qm.Equilibrium]:
    return lambda market: qm.clear(market, method, tolerance=TOLERANCE)


#: Every method that is held to the two thousand. A new one joins by one line.
WAYS = {
    "Pivoting": Way(by(qm.Pivoting()), 1.0),
    "InteriorPoint": Way(by(qm.InteriorPoint()), 0.995),
    "ColumnGeneration": Way(by(qm.ColumnGeneration()), 1.0),
    "exact": Way(lambda market: qm.clear(market, exact=True, tolerance=TOLERANCE), 0.99),
    "LinearProgramming": Way(by(qm.LinearProgramming()), 0.95),
}
#: Held to the first hundred only: the reference that shares least with the others.
REFERENCE = {"EisenbergGale": Way(by(qm.EisenbergGale()), 0.99)}


@dataclass(frozen=True, eq=False)
class Finding:
    """What became of one market: what is wrong with the answer, or None; prices and bounds."""

    seed: int
    title: str
    seconds: float
    problem: str | None
    worst: float = np.inf
    prices: np.ndarray | None = None
    bounds: np.ndarray | None = None

    def __str__(self) -> str:
        return f"seed {self.seed} ({self.title}): {self.problem}"


def examine(seed: int, way: Way) -> Finding:
    """Clear one market, measure the answer again, and judge its prices alone."""
    market, begun = generate.market(seed), monotonic()
    try:
        found = way.clear(market)
    except qm.QmoptError as error:
        return Finding(seed, market.title, monotonic() - begun, f"{type(error).__name__}: {error}")
    seconds = monotonic() - begun
    again = qm.certify(market, found.prices, found.allocation, tolerance=TOLERANCE)
    alone = qm.certify(market, found.prices, tolerance=TOLERANCE)
    problem = None
    if not again.certified() or again.worst != found.certificate.worst:
        problem = f"measured again: {again}"
    elif any("stand as" in note for note in found.notes):
        problem = f"ties were not settled: {found.notes}"
    elif not alone.certified():
        problem = f"prices alone: {alone}"
    bounds = qm.price_intervals(market, found.prices, found.allocation)
    return Finding(
        seed, market.title, seconds, problem, found.certificate.worst, found.prices, bounds
    )


def _outcomes(seeds: list[int], way: Way) -> list[Finding]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return [examine(seed, way) for seed in seeds]


def examine_all(seeds, way: Way, patience: float = PATIENCE) -> list[Finding]:
    """Examine markets in a process of their own; who does not answer in time has failed."""
    seeds = list(seeds)
    try:
        return hold(lambda: _outcomes(seeds, way), patience * (0.9 + len(seeds) / 10))
    except TimeoutError:
        if len(seeds) > 1:  # which of them is it?
            return [finding for seed in seeds for finding in examine_all([seed], way, patience)]
        title = generate.market(seeds[0]).title
        return [Finding(seeds[0], title, patience, f"no answer in {patience:g} s")]


@cache
def part(name: str, first: int, stop: int) -> tuple[Finding, ...]:
    """Findings of one way on the seeds from ``first`` to before ``stop``."""
    way = (WAYS | REFERENCE)[name]
    return tuple(examine_all(range(first, stop), way))


def unexpected(name: str, findings) -> list[str]:
    """Failures that no list explains."""
    known = (WAYS | REFERENCE)[name].known
    return [str(f) for f in findings if f.problem and f.seed not in known]


def apart(one: Finding, other: Finding, exact: bool) -> float:
    """Largest relative difference of prices.

    Unless ``exact``, of those prices only that both know to a share of 1e-8; answers whose bounds
    do not meet are then infinitely far apart, however wide these are.
    """
    if one.prices is None or other.prices is None:
        return 0.0  # a failure, and listed as such
    if not np.array_equal(np.isnan(one.prices), np.isnan(other.prices)):
        return np.inf
    there = ~np.isnan(one.prices)
    p, q = one.prices[there], other.prices[there]
    size = np.maximum(p, q)
    off = np.divide(np.abs(p - q), size, out=np.zeros(len(p)), where=size > 0)
    if not exact:
        (a, b), (c, d) = one.bounds[there].T, other.bounds[there].T
        if (np.maximum(a, c) > np.minimum(b, d) * (1 + SAME)).any():
            return np.inf
        off = off[np.maximum(b - a, d - c) <= SAME * size]
    return float(off.max(initial=0.0))
