"""What the draws of a family say of the values, and of whatever else it settles itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Array | sp.csr_array

#: Orders of magnitude between which near-degenerate markets are off their ties.
FARTHEST, NEAREST = -9, -15


@dataclass(frozen=True)
class Built:
    """A market built backwards from its equilibrium.

    Parameters
    ----------
    values
        Shape (n, m).
    budgets, supplies
        Shapes (n,) and (m,), credits and units.
    prices
        Shape (m,), credits per unit: those of the equilibrium, before anything is perturbed.
    costs
        Shape (n,): credits per unit of utility there.
    """

    values: Values
    budgets: Array
    supplies: Array
    prices: Array
    costs: Array


def integer(rng: Generator, n: int, m: int) -> Values:
    """Draw whole values 1 to 10."""
    return rng.integers(1, 11, (n, m)).astype(float)


def uniform(rng: Generator, n: int, m: int) -> Values:
    """Draw values even in (0, 1]."""
    return 1 - rng.random((n, m))


def lognormal(rng: Generator, n: int, m: int, sigma: float = 1) -> Values:
    """Draw values exp(N(0, sigma))."""
    return rng.lognormal(sigma=sigma, size=(n, m))


def exponential(rng: Generator, n: int, m: int) -> Values:
    """Draw exponential values of mean 1; many are near 0."""
    return rng.exponential(size=(n, m))


def sparse(rng: Generator, n: int, m: int, sigma: float = 1) -> Values:
    """Draw log-normal values on 1 to 5 goods a buyer."""
    wants = rng.integers(1, min(5, m) + 1, n)
    goods = np.concatenate([rng.choice(m, size, replace=False) for size in wants])
    ends = np.concatenate([[0], np.cumsum(wants)])
    return sp.csr_array((rng.lognormal(sigma=sigma, size=len(goods)), goods, ends), shape=(n, m))


def tied(rng: Generator, n: int, m: int, off: float = 0) -> Values:
    """Draw values from a few speed ratios, each missing its tie by about a share ``off``."""
    types, kinds = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    speeds = rng.choice([1.0, 2.0, 4.0], (kinds, types))  # of each chip type on each kind of work
    place = rng.choice([0.5, 1.0], m)  # worth of a chip where it stands
    work = rng.integers(1, 10, n).astype(float)  # of a unit of work to its buyer
    by_good = speeds[np.ix_(rng.integers(0, kinds, n), rng.integers(0, types, m))]
    values = np.multiply(work[:, None] * place, by_good)
    return values * (1 + off * rng.standard_normal((n, m))) if off else values


def degenerate(rng: Generator, n: int, m: int, spread: float = 0, off: float = 0) -> Built:
    """Build a market backwards from an equilibrium that has more ties than spends.

    Prices and costs are powers of two, spends whole numbers (without ``spread``), so that without
    ``off`` the ties are exact in floating point, and so are the balances of the parts.
    """
    prices, costs = (np.asarray(2.0 ** rng.integers(-4, 5, size), float) for size in (m, n))

    def spend() -> float:
        return 10 ** rng.uniform(0, spread) if spread else float(rng.integers(1, 10))

    spends = np.zeros((n, m))
    parts = int(rng.integers(1, min(n, m) + 1))
    part_of_buyer = np.concatenate([np.arange(parts), rng.integers(0, parts, n - parts)])
    part_of_good = np.concatenate([np.arange(parts), rng.integers(0, parts, m - parts)])
    for part in range(parts):
        buyers, goods = np.flatnonzero(part_of_buyer == part), np.flatnonzero(part_of_good == part)
        # a walk through all of them leaves a tree: each step adds a buyer or a good
        i, j = 0, 0
        spends[buyers[0], goods[0]] = spend()
        while i < len(buyers) - 1 or j < len(goods) - 1:
            left = (len(buyers) - 1 - i, len(goods) - 1 - j)
            if rng.random() * sum(left) < left[0]:
                i += 1
            else:
                j += 1
            spends[buyers[i], goods[j]] = spend()
    tight = prices[None, :] / costs[:, None]
    # of the others some are tied, too, and carry nothing; the rest are not worth their prices
    worse = np.where(rng.random((n, m)) < 0.3, 1.0, 0.1 + 0.8 * rng.random((n, m)))
    if rng.random() < 1 / 2:
        worse = np.where(rng.random((n, m)) < 0.5, worse, 0.0)
    values = tight * np.where(spends > 0, 1.0, worse)
    budgets, supplies = spends.sum(axis=1), spends.sum(axis=0) / prices
    if off:
        values = values * (1 + off * rng.standard_normal((n, m)))
        budgets = budgets * (1 + off * rng.standard_normal(n))
    stored: Values = sp.csr_array(values) if (values == 0).mean() > 1 / 3 else values
    return Built(stored, budgets, supplies, prices, costs)


def near(rng: Generator) -> float:
    """Draw how far a near-degenerate market is from a degenerate one: exact one time in four."""
    return 0.0 if rng.random() < 1 / 4 else 10 ** rng.uniform(NEAREST, FARTHEST)


def without(values: Values, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Values:
    """Blank some rows and columns, but leave somebody a use for something."""
    keep_row, keep_column = np.ones(values.shape[0]), np.ones(values.shape[1])
    keep_row[rows], keep_column[columns] = 0, 0
    if isinstance(values, np.ndarray):
        blanked: Values = keep_row[:, None] * values * keep_column
    else:
        blanked = sp.csr_array(sp.diags_array(keep_row) @ values @ sp.diags_array(keep_column))
        blanked.eliminate_zeros()
    return blanked if blanked.sum() > 0 else values
