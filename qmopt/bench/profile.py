"""Performance profiles: of all markets, the share that a method solves within a ratio of the best.

E. D. Dolan and J. J. More, "Benchmarking optimization software with performance profiles",
Mathematical Programming 91, 2002 (the entry was checked; the definition is all of it).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from qmopt.bench.row import Row
from qmopt.utilities.protocol import Array


@dataclass(frozen=True, eq=False)
class Profile:
    """For each method, the ratios of its times to the best ones.

    Parameters
    ----------
    ratios
        By method, shape (markets,): sorted, ``inf`` where the market was not solved.
    markets
        How many markets there are: those that at least one method solved.
    """

    ratios: dict[str, Array]
    markets: int

    def share(self, method: str, ratio: float) -> float:
        """Return the share of markets that a method solved within a ratio of the best time."""
        return float((self.ratios[method] <= ratio).sum() / max(self.markets, 1))


def profile(rows: Iterable[Row], *, residual: str = "worst", tolerance: float = 1e-9) -> Profile:
    """Return the performance profile of measured rows.

    Parameters
    ----------
    rows
        Published ones are left out.
    residual
        ``worst`` or ``gap``: what has to be within the tolerance for a market to count as solved.
    tolerance
        Up to which.

    Examples
    --------
    Two markets. A is quickest on the first, twice as slow as B on the second:

    >>> def row(method, market, seconds):
    ...     return Row("", market, 2, 2, method, "certified", seconds=seconds, worst=0.0)
    >>> rows = [row("A", "1", 1.0), row("B", "1", 3.0), row("A", "2", 2.0), row("B", "2", 1.0)]
    >>> found = profile(rows)
    >>> found.share("A", 1), found.share("A", 2), found.share("B", 2), found.share("B", 3)
    (0.5, 1.0, 0.5, 1.0)
    """
    times: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        if not row.measured:
            continue
        mine = times.setdefault(row.method, {})
        size = getattr(row, residual)
        if size is not None and abs(size) <= tolerance and row.seconds is not None:
            mine[row.suite, row.market] = row.seconds
    solved = sorted(set().union(*times.values())) if times else []
    best = {market: min(t[market] for t in times.values() if market in t) for market in solved}
    ratios = {
        method: np.sort([mine.get(market, np.inf) / best[market] for market in solved])
        for method, mine in times.items()
    }
    return Profile(ratios, len(solved))
