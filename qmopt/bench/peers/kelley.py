"""Cutting planes: linear programs for a logarithmic objective."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.arguments import settings
from qmopt.bench.peers.textbook import plain, scaled
from qmopt.highs import WarmLinearProgram
from qmopt.market import Market
from qmopt.methods.outcome import Outcome, restore
from qmopt.utilities.pairs import pairs, total_by
from qmopt.utilities.protocol import Array


@dataclass(frozen=True)
class Kelley:
    """Kelley's cutting planes on log utilities, with HiGHS's dual simplex kept warm.

    max sum B_i t_i with t_i below tangents of log u_i; each round adds the tangents at the
    utilities of the last linear program. Prices are its row duals, whose optimum bounds from above.

    Parameters
    ----------
    tolerance
        Of the gap between the linear program and the value of its own point, over all credits.
    max_iterations
        Rounds.
    time_limit
        Seconds.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> market = Market([6, 24], [1, 1], Linear([[2, 1], [1, 2]]))
    >>> Kelley(1e-8).solve(market).prices.round(2).tolist()
    [10.0, 20.0]
    """

    tolerance: float = 1e-9
    max_iterations: int = 200
    time_limit: float = np.inf

    __post_init__ = settings

    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Cut until the gap is small, or time or rounds run out."""
        begun = time.monotonic()
        inner = plain(market, self)
        buyer, good, value = pairs(cast(Any, inner.utility).values)
        n, m, count = inner.n, inner.m, len(value)
        budgets = inner.budgets / inner.budgets.mean()
        value = value * inner.supplies[good]
        fair = budgets / n * total_by(buyer, value, n)
        value = value / fair[buyer]  # utilities are multiples of that of the share by credits
        program = _program(budgets, buyer, good, value, m)
        most = n / budgets.min()  # everything, to the poorest
        for level in np.geomspace(0.5, most, 12):
            program.add_rows(*_tangents(np.full(n, level), count))
        gap, rounds = np.inf, 0
        while True:
            found = program.solve(self.time_limit - (time.monotonic() - begun))
            rounds += 1
            shares, prices = np.maximum(found.columns[:count], 0), -found.duals[:m]
            utility = total_by(buyer, value * shares, n)
            bound = found.columns[count + n :]
            gap = float(budgets @ (bound - np.log(utility))) / n
            late = time.monotonic() - begun >= self.time_limit
            if gap <= self.tolerance or not found.optimal or late or rounds >= self.max_iterations:
                break
            program.add_rows(*_tangents(np.maximum(utility, 1e-9), count))
        units = sp.csr_array((shares * inner.supplies[good], (buyer, good)), shape=inner.shape)
        prices, allocation = restore(market, scaled(inner, prices / inner.supplies), units)
        word = "optimal" if gap <= self.tolerance else f"stopped ({found.status})"
        stats = {"iterations": rounds, "seconds": {"solve": time.monotonic() - begun}}
        return Outcome(prices, allocation, word, stats)


def _program(
    budgets: Array, buyer: NDArray[np.int64], good: NDArray[np.int64], value: Array, m: int
) -> WarmLinearProgram:
    """Columns: shares, utilities, logs. Rows: supplies, utilities as sums of values."""
    n, count = len(budgets), len(value)
    each, teams = np.arange(count), np.arange(n)
    rows = np.concatenate([good, m + buyer, m + teams])
    columns = np.concatenate([each, each, count + teams])
    numbers = np.concatenate([np.ones(count), value, -np.ones(n)])
    matrix = sp.csc_array((numbers, (rows, columns)), shape=(m + n, count + 2 * n))
    free = np.concatenate([np.zeros(count + n), np.full(n, -np.inf)])
    return WarmLinearProgram(
        cost=np.concatenate([np.zeros(count + n), -budgets]),
        columns=matrix,
        lower=free,
        upper=np.full(count + 2 * n, np.inf),  # a bound would take part of a price
        row_lower=np.concatenate([np.full(m, -np.inf), np.zeros(n)]),
        row_upper=np.concatenate([np.ones(m), np.zeros(n)]),
    )


def _tangents(at: Array, count: int) -> tuple[sp.csr_array, Array, Array]:
    """Rows t_i - u_i / at_i <= log(at_i) - 1."""
    n = len(at)
    teams = np.arange(n)
    rows = sp.csr_array(
        (
            np.concatenate([np.ones(n), -1 / at]),
            (np.tile(teams, 2), np.concatenate([count + n + teams, count + teams])),
        ),
        shape=(n, count + 2 * n),
    )
    return rows, np.full(n, -np.inf), np.log(at) - 1
