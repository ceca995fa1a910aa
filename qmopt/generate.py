"""Seeded random markets: tests, benchmarks and simulations draw from here.

The same call gives the same market, from numpy's default generator (``numpy.random.default_rng``,
PCG64). A family is a way to draw values and has one line in :data:`FAMILIES`; budgets, supplies and
reserve prices are drawn alike for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.utilities import Linear

Array: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Array | sp.csr_array

#: Largest markets that :func:`market` draws.
MOST_BUYERS, MOST_GOODS = 40, 20


def market(seed: int) -> Market:
    """Return the seed-th of an endless list of small, varied, awkward markets.

    1 to 40 buyers, 1 to 20 goods. The families take turns; budgets spread over six orders of
    magnitude; every third market has reserve prices, so low that they do not matter, or so high
    that chips stay idle, or in between. One market in four has a buyer without a value, one in
    four a good without takers.

    Parameters
    ----------
    seed
        0, 1, 2, ... Fifteen in a row hold every family with and without reserve prices.

    Examples
    --------
    >>> market(7)
    Market(38 buyers, 13 goods, ...)
    >>> market(7).hash == market(7).hash
    True
    """
    rng = np.random.default_rng(seed)
    family = list(FAMILIES)[seed % len(FAMILIES)]
    n, m = int(rng.integers(1, MOST_BUYERS + 1)), int(rng.integers(1, MOST_GOODS + 1))
    values = FAMILIES[family](rng, n, m)
    # never the first buyer or good: somebody must want something
    if n > 1 and rng.random() < 1 / 4:
        values = _without(values, row=int(rng.integers(1, n)))
    if m > 1 and rng.random() < 1 / 4:
        values = _without(values, column=int(rng.integers(1, m)))
    return _market(rng, values, spread=6, reserves=seed % 3 == 2, title=f"{family}, seed {seed}")


def integer(
    buyers: int, goods: int, seed: int = 0, *, spread: float = 0, reserves: bool = False
) -> Market:
    """Whole values 1 to 10: many ties, an easy family.

    Parameters
    ----------
    buyers, goods
        Shape of the market, each at least 1.
    seed
        Of ``numpy.random.default_rng``.
    spread
        Orders of magnitude between small and large budgets; 0 makes all 1.
    reserves
        Whether goods have reserve prices, of which some may bind.

    Examples
    --------
    >>> integer(3, 2).utility.values.shape
    (3, 2)
    """
    return _family("integer", buyers, goods, seed, spread, reserves)


def uniform(
    buyers: int, goods: int, seed: int = 0, *, spread: float = 0, reserves: bool = False
) -> Market:
    """Values even between 0 and 1. Parameters as in :func:`integer`."""
    return _family("uniform", buyers, goods, seed, spread, reserves)


def lognormal(
    buyers: int, goods: int, seed: int = 0, *, spread: float = 0, reserves: bool = False
) -> Market:
    """Values exp(N(0, 1)). Parameters as in :func:`integer`."""
    return _family("lognormal", buyers, goods, seed, spread, reserves)


def sparse(
    buyers: int, goods: int, seed: int = 0, *, spread: float = 0, reserves: bool = False
) -> Market:
    """Log-normal values on 1 to 5 goods a buyer, kept sparse. Parameters as in :func:`integer`.

    Every buyer wants something; a good may be wanted by nobody.

    Examples
    --------
    >>> sparse(1000, 200).utility.values.nnz <= 5000
    True
    """
    return _family("sparse", buyers, goods, seed, spread, reserves)


def tied(
    buyers: int, goods: int, seed: int = 0, *, spread: float = 0, reserves: bool = False
) -> Market:
    """Values from a few speed ratios, as of chip types at several locations: ties everywhere.

    Goods of one type have equal or proportional columns, buyers of one kind proportional rows.
    Parameters as in :func:`integer`.
    """
    return _family("tied", buyers, goods, seed, spread, reserves)


def copies(count: int) -> Market:
    """Return independent copies of a two-by-two market, ever larger, in one sparse market.

    For k = 0 to count-1: goods ``A{k}`` and ``B{k}``, one unit each; team ``P{k}`` with 6(k+1)
    credits and values 2 and 1; team ``Q{k}`` with 24(k+1) credits and values 1 and 2.

    Exact prices: A{k} 10(k+1), B{k} 20(k+1); in all 15 * count * (count+1). Q{k} is tied on both
    goods, so B costs twice A, and together they cost the 30(k+1) credits. P{k} gets 3/5 of A{k},
    Q{k} the rest of it and all of B{k}; the allocation is unique.

    Examples
    --------
    >>> copies(1000)
    Market(2000 buyers, 2000 goods, 15015000 credits)
    """
    block = np.array([[2.0, 1.0], [1.0, 2.0]])
    ks = range(count)
    return Market(
        budgets=np.outer(np.arange(1, count + 1), [6, 24]).ravel(),
        supplies=np.ones(2 * count),
        utility=Linear(sp.csr_array(sp.kron(sp.eye_array(count), block, format="csr"))),
        buyers=[name for k in ks for name in (f"P{k}", f"Q{k}")],
        goods=[name for k in ks for name in (f"A{k}", f"B{k}")],
        title=f"{count} copies of a two-by-two market",
    )


def _integer(rng: Generator, n: int, m: int) -> Values:
    return rng.integers(1, 11, (n, m)).astype(float)


def _uniform(rng: Generator, n: int, m: int) -> Values:
    return 1 - rng.random((n, m))  # in (0, 1]


def _lognormal(rng: Generator, n: int, m: int) -> Values:
    return rng.lognormal(size=(n, m))


def _sparse(rng: Generator, n: int, m: int) -> Values:
    wants = rng.integers(1, min(5, m) + 1, n)
    goods = np.concatenate([rng.choice(m, size, replace=False) for size in wants])
    ends = np.concatenate([[0], np.cumsum(wants)])
    return sp.csr_array((rng.lognormal(size=len(goods)), goods, ends), shape=(n, m))


def _tied(rng: Generator, n: int, m: int) -> Values:
    types, kinds = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    speeds = rng.choice([1.0, 2.0, 4.0], (kinds, types))  # of each chip type on each kind of work
    place = rng.choice([0.5, 1.0], m)  # worth of a chip where it stands
    work = rng.integers(1, 10, n).astype(float)  # of a unit of work to its buyer
    by_good = speeds[np.ix_(rng.integers(0, kinds, n), rng.integers(0, types, m))]
    return np.multiply(work[:, None] * place, by_good)


#: Name of a family: how it draws values for n buyers and m goods, each row with something in it.
FAMILIES: dict[str, Callable[[Generator, int, int], Values]] = {
    "integer": _integer,
    "uniform": _uniform,
    "lognormal": _lognormal,
    "sparse": _sparse,
    "tied": _tied,
}


def _family(name: str, buyers: int, goods: int, seed: int, spread: float, reserves: bool) -> Market:
    rng = np.random.default_rng(seed)
    values = FAMILIES[name](rng, buyers, goods)
    return _market(rng, values, spread, reserves, f"{name} {buyers} x {goods}, seed {seed}")


def _market(rng: Generator, values: Values, spread: float, reserves: bool, title: str) -> Market:
    """Draw all but the values: budgets, supplies (whole, or over four orders), reserves."""
    n, m = values.shape
    budgets = 10 ** (spread * rng.random(n))
    whole = rng.random() < 1 / 2
    supplies = rng.integers(1, 101, m).astype(float) if whole else 10 ** (4 * rng.random(m) - 2)
    floor = _reserves(rng, values, budgets, supplies) if reserves else None
    return Market(budgets, supplies, Linear(values), reserves=floor, title=title)


def _reserves(rng: Generator, values: Values, budgets: Array, supplies: Array) -> Array:
    """Reserve prices about a level, from far below to above what the credits can pay.

    The level is relative to prices at which each buyer spends in proportion to value times supply;
    of the goods a quarter has none.
    """
    worth = values * supplies[None, :]
    total = np.asarray(worth.sum(axis=1)).ravel()
    weights = np.divide(budgets, total, out=np.zeros_like(budgets), where=total > 0)
    rough = np.asarray(worth.T @ weights).ravel() / supplies
    rough[rough == 0] = rough.mean()  # an unwanted good may have a reserve, too
    level = 10 ** (2 * rng.random() - 1.5)  # 0.03 to 3 times the rough prices
    return rough * level * (0.5 + rng.random(len(rough))) * (rng.random(len(rough)) < 3 / 4)


def _without(values: Values, row: int | None = None, column: int | None = None) -> Values:
    """Blank one row or column, but leave somebody a use for something."""
    keep_row = np.ones(values.shape[0])
    keep_column = np.ones(values.shape[1])
    if row is not None:
        keep_row[row] = 0
    if column is not None:
        keep_column[column] = 0
    if isinstance(values, np.ndarray):
        blanked: Values = keep_row[:, None] * values * keep_column
    else:
        blanked = sp.csr_array(sp.diags_array(keep_row) @ values @ sp.diags_array(keep_column))
        blanked.eliminate_zeros()
    return blanked if blanked.sum() > 0 else values
