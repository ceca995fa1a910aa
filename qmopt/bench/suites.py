"""Named suites: markets as they are used in the literature, built only when they are run.

Every suite has two sizes: ``name`` is quick, for a laptop, ``name:full`` is the size of its source.
Where a source gives code, the distributions here are the same ones; random numbers are numpy's, so
that markets drawn in another language are alike and not equal, except in ``gao-kroer``, whose
authors used numpy's legacy generator too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.utilities import Linear

#: Draws of Gao and Kroer's experiments, by their names.
LEGACY = {"uniform": "uniform", "normal": "normal", "exp": "exponential", "lognormal": "lognormal"}


@dataclass(frozen=True)
class Case:
    """One market of a suite, described but not built.

    Parameters
    ----------
    name
        Unique within its suite, such as ``uniform 200x400, seed 1``.
    build
        Returns the market.
    shape
        Buyers and goods.
    suite
        Name of the suite; empty for a market of one's own.
    family
        What the values are drawn from, as published rows name it; empty if nothing is published.

    Examples
    --------
    >>> case = suite("squares")[0]
    >>> case.name, case.shape
    ('uniform 50x50', (50, 50))
    >>> case.build()
    Market(50 buyers, 50 goods, 50 credits)
    """

    name: str
    build: Callable[[], Market]
    shape: tuple[int, int]
    suite: str = ""
    family: str = ""


@dataclass(frozen=True)
class Suite:
    """What a suite holds and where it comes from.

    Parameters
    ----------
    about
        One line.
    source
        Whose workload it is.
    cases
        Takes whether the full size is wanted.
    """

    about: str
    source: str
    cases: Callable[[bool], list[Case]]


def suite(name: str) -> list[Case]:
    """Return the markets of a suite: ``squares``, or ``squares:full`` in its source's size.

    Raises
    ------
    MarketError
        If there is no such suite; the message lists them.

    Examples
    --------
    >>> [case.shape for case in suite("scaling:full")]
    [(1000, 100), (10000, 100), (100000, 100), (1000000, 100)]
    """
    base, _, size = name.partition(":")
    if base not in SUITES or size not in ("", "quick", "full"):
        raise MarketError(
            f"no suite {name!r}; there are {', '.join(SUITES)}, and NAME:full of each"
        )
    return SUITES[base].cases(size == "full")


# The market's own copy is the only one: Linear takes read-only arrays as they are.
def _market(values: NDArray[np.float64], budgets: NDArray[np.float64], title: str) -> Market:
    values.setflags(write=False)
    return Market(budgets, np.ones(values.shape[1]), Linear(values), title=title)


def gao_kroer(draw: str, n: int, seed: int) -> Market:
    """Draw one market of Gao and Kroer's grid: n buyers, 2n goods, budgets and supplies 1.

    Values are absolute draws of ``numpy.random.RandomState(seed)``, as their scripts have it.

    Examples
    --------
    >>> gao_kroer("normal", 3, seed=1).utility.values[0].round(4).tolist()
    [1.6243, 0.6118, 0.5282, 1.073, 0.8654, 2.3015]
    """
    values = np.abs(getattr(np.random.RandomState(seed), LEGACY[draw])(size=(n, 2 * n)))
    return _market(values, np.ones(n), f"Gao-Kroer {draw} {n}x{2 * n}, seed {seed}")


def square(family: str, n: int, seed: int = 1) -> Market:
    """Draw n buyers and n goods, budgets and supplies 1, rows of values that sum to 1.

    Families: ``uniform`` on (0, 1), ``integer`` 1 to 10, ``exponential`` of mean 10, ``lognormal``
    exp(N(0, 10)), whose values spread over some 30 orders of magnitude.
    """
    rng = np.random.default_rng(seed)
    size = (n, n)
    values = {
        "uniform": lambda: 1 - rng.random(size),
        "integer": lambda: rng.integers(1, 11, size).astype(float),
        "exponential": lambda: rng.exponential(10, size),
        "lognormal": lambda: rng.lognormal(0, 10, size),
    }[family]()
    values /= values.sum(axis=1, keepdims=True)
    return _market(values, np.ones(n), f"{family} {n}x{n}, seed {seed}")


def pdhcg(n: int, m: int, seed: int = 1) -> Market:
    """Draw PDHCG-fisher's market: a fifth of all pairs, values and budgets uniform, supply n/4.

    Examples
    --------
    >>> pdhcg(1000, 40).utility.values.nnz
    8000
    """
    rng = np.random.default_rng(seed)
    count = n * m // 5
    # a buyer without any pair would take no part: everybody gets one, the rest fall where they may
    own = np.arange(n) * m + rng.integers(0, m, n)
    other = rng.choice(n * m, min(n * m, count + 4 * n), replace=False)
    pair = np.concatenate([own, other[~np.isin(other, own)]])[:count]
    values = sp.csr_array((1 - rng.random(len(pair)), (pair // m, pair % m)), shape=(n, m))
    title = f"PDHCG-fisher {n}x{m}, density 0.2, seed {seed}"
    return Market(1 - rng.random(n), np.full(m, n / 4), Linear(values), title=title)


def scaling(n: int, m: int = 100, seed: int = 1) -> Market:
    """Draw n buyers and m goods: log-normal values, budgets from 0.5 to 1.5, supplies 1, dense."""
    rng = np.random.default_rng(seed)
    budgets = 0.5 + rng.random(n)
    return _market(rng.lognormal(size=(n, m)), budgets, f"log-normal {n}x{m}, seed {seed}")


def _gao_kroer(full: bool) -> list[Case]:
    sizes, seeds = ((200, 400, 600, 800), (1, 2, 3)) if full else ((50, 100), (1,))
    return [
        Case(
            f"{draw} {n}x{2 * n}, seed {seed}",
            partial(gao_kroer, draw, n, seed), (n, 2 * n), "gao-kroer", f"gao-kroer/{draw}",
        )
        for n in sizes for draw in LEGACY for seed in seeds
    ]  # fmt: skip


def _squares(full: bool) -> list[Case]:
    sizes = (50, 100, 200, 300, 400, 500) if full else (50, 100)
    return [
        Case(f"{name} {n}x{n}", partial(square, name, n), (n, n), "squares", f"squares/{name}")
        for n in sizes
        for name in ("uniform", "integer", "exponential", "lognormal")
    ]


def _pdhcg(full: bool) -> list[Case]:
    n, m = (10_000, 400) if full else (1000, 100)
    return [Case(f"{n}x{m}", partial(pdhcg, n, m), (n, m), "pdhcg-fisher", "pdhcg-fisher")]


def _scaling(full: bool) -> list[Case]:
    sizes = (1000, 10_000, 100_000, 1_000_000) if full else (1000, 10_000)
    return [
        Case(f"log-normal {n}x100", partial(scaling, n), (n, 100), "scaling", "scaling")
        for n in sizes
    ]


def _models(full: bool) -> list[Case]:
    from qmopt import catalogue

    return [shipped(name) for name in catalogue.names() if full or not name.startswith("edge/")]


def shipped(name: str) -> Case:
    """Return a shipped market as a case."""
    from qmopt import catalogue
    from qmopt.reading import read_market

    about = catalogue.describe(name)
    return Case(name, partial(read_market, name), (about.teams, about.resources), "models")


#: Every suite by its name.
SUITES = {
    "models": Suite(
        "those that ship with qmopt; full: the edge cases too", "`qmopt models`", _models
    ),
    "gao-kroer": Suite(
        "n buyers, 2n goods; four distributions, n = 50, 100; full: 200 to 800, seeds 1 to 3",
        "Y. Gao, C. Kroer, First-order methods for large-scale market equilibrium computation",
        _gao_kroer,
    ),
    "squares": Suite(
        "n buyers, n goods; uniform, integer, exponential, log-normal; n = 50, 100; full: to 500",
        "github.com/Chonghe-Jiang/Goods_ATM, its synthetic markets",
        _squares,
    ),
    "pdhcg-fisher": Suite(
        "sparse, a fifth of all pairs; 1000 x 100; full: 10000 x 400",
        "github.com/Huangyc98/PDHCG-fisher, its default market",
        _pdhcg,
    ),
    "scaling": Suite(
        "log-normal values, 100 goods, n = 1000, 10000; full: to 1000000 (0.8 GB of values)",
        "qmopt's own tests of size",
        _scaling,
    ),
}
