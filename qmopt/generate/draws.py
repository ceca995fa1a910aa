"""Everything but the values: budgets, supplies, reserve prices, and what a kept credit is worth."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from qmopt.generate.values import Array, Built, Values
from qmopt.market import Market
from qmopt.utilities import Linear


def complete(
    rng: Generator,
    values: Values | Built,
    title: str,
    *,
    spread: float,
    reserves: bool,
    keep: float,
    keep_level: float | None = None,
    off: float = 0,
) -> Market:
    """Draw all that the family leaves open, and make the market.

    Parameters
    ----------
    rng, values, title
        The generator, what the family drew, and how the market is called.
    spread
        Orders of magnitude between small and large budgets.
    reserves
        Whether goods have reserve prices.
    keep
        Share of buyers to whom kept credits are worth something.
    keep_level
        What a kept credit is worth, relative to a spent one at rough prices; drawn by default.
    off
        How far from a tie reserves and kept credits are in markets that are built backwards.
    """
    if isinstance(values, Built):
        floor = _reserves_near(rng, values, off) if reserves else None
        kept = _keeps_near(rng, values, keep, off) if keep else None
        return Market(
            values.budgets, values.supplies, Linear(values.values),
            reserves=floor, keep_values=kept, title=title,
        )  # fmt: skip
    n, m = values.shape
    budgets = 10 ** (spread * rng.random(n))
    whole = rng.random() < 1 / 2
    supplies = rng.integers(1, 101, m).astype(float) if whole else 10 ** (4 * rng.random(m) - 2)
    rough = _rough_prices(values, budgets, supplies)
    floor = _reserves(rng, rough) if reserves else None
    kept = _keeps(rng, values, rough, keep, keep_level) if keep else None
    return Market(budgets, supplies, Linear(values), reserves=floor, keep_values=kept, title=title)


def _rough_prices(values: Values, budgets: Array, supplies: Array) -> Array:
    """Prices at which each buyer spends in proportion to value times supply."""
    worth = values * supplies[None, :]
    total = np.asarray(worth.sum(axis=1)).ravel()
    weights = np.divide(budgets, total, out=np.zeros_like(budgets), where=total > 0)
    rough = np.asarray(worth.T @ weights).ravel() / supplies
    rough[rough == 0] = rough.mean()  # an unwanted good may have a reserve, too
    return rough


def _reserves(rng: Generator, rough: Array) -> Array:
    """Reserve prices about a level, from far below to above what the credits can pay.

    The level is relative to rough prices; of the goods a quarter has none.
    """
    level = 10 ** (2 * rng.random() - 1.5)  # 0.03 to 3 times the rough prices
    return rough * level * (0.5 + rng.random(len(rough))) * (rng.random(len(rough)) < 3 / 4)


def _keeps(
    rng: Generator, values: Values, rough: Array, share: float, level: float | None
) -> Array:
    """Draw what a kept credit is worth: around a level, relative to what one brings at best."""
    per_credit = values * (1 / rough)[None, :]
    best = per_credit.max(axis=1)
    best = np.asarray(best.toarray() if hasattr(best, "toarray") else best).ravel()
    level = 10 ** rng.uniform(-2, 1) if level is None else level
    keepers = rng.random(len(best)) < share
    return best * level * (0.5 + rng.random(len(best))) * keepers


def _reserves_near(rng: Generator, built: Built, off: float) -> Array:
    """Reserve prices of which a third is just about the equilibrium price, a third well below."""
    m = len(built.prices)
    just = 1 + off * rng.standard_normal(m)
    return built.prices * rng.choice([0.0, 0.5, 1.0], m) * just


def _keeps_near(rng: Generator, built: Built, share: float, off: float) -> Array:
    """Draw worths of kept credits: half are just what a spent one brings, half well below."""
    n = len(built.costs)
    just = 1 + off * rng.standard_normal(n)
    return rng.choice([0.5, 1.0], n) * just / built.costs * (rng.random(n) < share)
