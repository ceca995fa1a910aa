"""The endless list of small awkward markets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from qmopt.generate import values
from qmopt.generate.draws import complete
from qmopt.generate.values import Built, Values, near, without
from qmopt.market import Market

Family = Callable[[Generator, int, int], Values]

#: Name of a family: how it draws values for n buyers and m goods. They take turns by ``seed % 10``.
FAMILIES: dict[str, Family | None] = {
    "integer": values.integer,
    "uniform": values.uniform,
    "lognormal": values.lognormal,
    "sparse": values.sparse,
    "tied": values.tied,
    "exponential": values.exponential,
    "wide": partial(values.lognormal, sigma=10),
    "wide sparse": partial(values.sparse, sigma=10),
    "nearly tied": None,  # these two draw how near, too
    "degenerate": None,
}

#: Most buyers and goods of ordinary markets, of long ones, and of tiny ones.
BUYERS, GOODS, LONG, SHORT, TINY = 40, 20, 400, 5, 6
#: Orders of magnitude between small and large budgets, whatever is drawn.
SPREADS = (0, 3, 6, 12)
#: Shapes by ``seed // 10 % 7``.
SHAPES = ("ordinary", "many buyers", "ordinary", "many goods", "ordinary", "tiny", "ordinary")
#: Share of buyers who keep credits, and what one is worth (None: drawn), by ``seed // 10 % 5``.
KEEPS = ((0.0, None), (0.5, None), (0.0, None), (1.0, None), (0.7, 100.0))


def market(seed: int) -> Market:
    """Return the seed-th of an endless list of small, varied, awkward markets.

    What takes turns:

    - values, by ``seed % 10``: whole numbers; uniform; log-normal; log-normal on a few goods each;
      a few speed ratios, so that ties are everywhere; exponential; log-normal with sigma 10 (over
      27 orders of magnitude and more), dense and on a few goods each; speed ratios that miss their
      ties by 1e-9 to 1e-15; markets built backwards from an equilibrium that has pairs, reserves
      and kept credits that are tied and carry nothing, exactly or within 1e-9 to 1e-15;
    - shape, by ``seed // 10 % 7``: up to 40 buyers and 20 goods (four of seven), 50 to 400 buyers
      on up to 5 goods, up to 5 buyers on 50 to 400 goods, at most 6 of each;
    - reserve prices, by ``seed // 10 % 3``: every third has them, so low that they do not matter,
      or so high that chips stay idle, or in between;
    - kept credits, by ``seed // 10 % 5``: worth something to nobody (two of five), to half of the
      buyers, to all of them, or to most and so much that some keep all of their budget.

    Budgets are equal, or spread over 3, 6 or 12 orders of magnitude, whatever is drawn; supplies
    are whole, or spread over four orders. One market in four has buyers without a value, one in
    four goods without takers.

    Parameters
    ----------
    seed
        0, 1, 2, ... From any seed on, 1050 in a row hold everything that takes turns in every
        combination.

    Examples
    --------
    >>> market(7)
    Market(36 buyers, 12 goods, ...)
    >>> market(7).hash == market(7).hash
    True
    """
    rng = np.random.default_rng(seed)
    family, turn = list(FAMILIES)[seed % len(FAMILIES)], seed // len(FAMILIES)
    n, m = _shape(rng, SHAPES[turn % len(SHAPES)])
    off, spread = near(rng), float(rng.choice(SPREADS))
    draw = FAMILIES[family]
    drawn: Values | Built
    if draw is not None:
        drawn = draw(rng, n, m)
    elif family == "nearly tied":
        drawn = values.tied(rng, n, m, off or 1e-16)
    else:
        drawn = values.degenerate(rng, n, m, spread, off)
    if not isinstance(drawn, Built):
        drawn = without(drawn, _some(rng, n), _some(rng, m))
    keep, level = KEEPS[turn % len(KEEPS)]
    return complete(
        rng, drawn, f"{family}, seed {seed}",
        spread=spread, reserves=turn % 3 == 2, keep=keep, keep_level=level, off=off,
    )  # fmt: skip


def _shape(rng: Generator, kind: str) -> tuple[int, int]:
    long = int(np.exp(rng.uniform(np.log(50), np.log(LONG + 1))))
    short = int(rng.integers(1, SHORT + 1))
    if kind == "many buyers":
        return long, short
    if kind == "many goods":
        return short, long
    if kind == "tiny":
        return int(rng.integers(1, TINY + 1)), int(rng.integers(1, TINY + 1))
    return int(rng.integers(1, BUYERS + 1)), int(rng.integers(1, GOODS + 1))


def _some(rng: Generator, size: int) -> np.ndarray:
    """Three times in four nothing, else a few rows or columns; never the first."""
    if size == 1 or rng.random() >= 1 / 4:
        return np.zeros(0, dtype=np.int64)
    return rng.integers(1, size, int(rng.integers(1, 1 + max(1, size // 10))))
