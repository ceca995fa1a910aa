"""Random markets and points with everything in them: caps, kept credits, reserves, empty goods."""

from typing import NamedTuple

import numpy as np

import qmopt as qm
from tests import certificate_oracle


class Draw(NamedTuple):
    values: np.ndarray
    budgets: np.ndarray
    supplies: np.ndarray
    reserves: np.ndarray
    keeps: np.ndarray
    caps: np.ndarray
    prices: np.ndarray
    units: np.ndarray

    def market(self, store=np.array):
        return qm.Market(
            self.budgets,
            self.supplies,
            qm.Linear(store(self.values)),
            reserves=self.reserves,
            keep_values=self.keeps,
            utility_caps=self.caps,
        )

    def expected(self, tolerance):
        return certificate_oracle.residuals(*(array.tolist() for array in self), tolerance)


def draw(seed, *, rude=True):
    """Draw a market and a point, both small; a rude one has numbers below zero, too."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 6), rng.integers(1, 5)

    def some(chance, size, numbers, otherwise):
        return np.where(rng.random(size) < chance, numbers, otherwise)

    values = some(0.7, (n, m), rng.integers(1, 5, (n, m)), 0).astype(float)
    budgets = some(0.85, n, 10 ** rng.uniform(-1, 3, n).round(2), 0)
    supplies = some(0.85, m, rng.integers(1, 9, m), 0).astype(float)
    values[0, 0], budgets[0], supplies[0] = 3, 5, 4  # somebody must want something
    # now and then prices are so low that nearly all credits are kept
    level = budgets.sum() / supplies.sum() * rng.choice([1, 1, 1, 1e-7])
    reserves = some(0.4, m, level * rng.uniform(0.2, 2, m), 0)
    keeps = some(0.4, n, rng.uniform(0.1, 2, n) / level, 0)
    caps = some(0.5, n, 10 ** rng.uniform(-1, 2, n), np.inf)
    caps[1:] = some(0.9, n - 1, caps[1:], 0)
    prices = np.where(rng.random(m) < 0.3, reserves, level * 10 ** rng.uniform(-1, 1, m))
    prices = some(0.95, m, prices, 0)
    shares = some(0.9, (n, m), rng.random((n, m)), 0)
    units = shares * supplies / np.maximum(shares.sum(axis=0), 1)
    if rude:
        prices = some(0.9, m, prices, -prices)
        units = units * rng.choice([1, 1, 1.1, 2])
        units = some(0.9, (n, m), units, -units)
        units[:, supplies == 0] = some(0.02, (n, (supplies == 0).sum()), 1e-3, 0)
    prices[supplies == 0] = np.nan
    return Draw(values, budgets, supplies, reserves, keeps, caps, prices, units)
