"""One family of markets at any size: a call, a seed, a market."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from qmopt.generate import values
from qmopt.generate.draws import complete
from qmopt.market import Market
from qmopt.utilities import Linear


def integer(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
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
    keep
        Share of the buyers to whom kept credits are worth something: from a hundredth to ten times
        what a spent credit brings at rough prices.

    Examples
    --------
    >>> integer(3, 2).utility.values.shape
    (3, 2)
    >>> int((integer(100, 2, keep=0.5).keep_values > 0).sum()) in range(30, 70)
    True
    """
    rng = np.random.default_rng(seed)
    drawn, title = values.integer(rng, buyers, goods), f"integer {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=spread, reserves=reserves, keep=keep)


def uniform(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
) -> Market:
    """Values even between 0 and 1. Parameters as in :func:`integer`."""
    rng = np.random.default_rng(seed)
    drawn, title = values.uniform(rng, buyers, goods), f"uniform {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=spread, reserves=reserves, keep=keep)


def lognormal(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    sigma: float = 1,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
) -> Market:
    """Values exp(N(0, sigma)).

    Parameters as in :func:`integer`, and ``sigma``: at 10 the values of a market of 800 pairs
    spread over about 27 orders of magnitude.
    """
    rng = np.random.default_rng(seed)
    drawn = values.lognormal(rng, buyers, goods, sigma)
    title = f"lognormal {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=spread, reserves=reserves, keep=keep)


def exponential(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
) -> Market:
    """Exponential values of mean 1. Parameters as in :func:`integer`."""
    rng = np.random.default_rng(seed)
    drawn = values.exponential(rng, buyers, goods)
    title = f"exponential {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=spread, reserves=reserves, keep=keep)


def sparse(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    sigma: float = 1,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
) -> Market:
    """Values exp(N(0, sigma)) on 1 to 5 goods a buyer, kept sparse. Parameters as elsewhere.

    Every buyer wants something; a good may be wanted by nobody.

    Examples
    --------
    >>> sparse(1000, 200).utility.values.nnz <= 5000
    True
    """
    rng = np.random.default_rng(seed)
    drawn = values.sparse(rng, buyers, goods, sigma)
    title = f"sparse {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=spread, reserves=reserves, keep=keep)


def tied(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    off: float = 0,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
) -> Market:
    """Values from a few speed ratios, as of chip types at several locations: ties everywhere.

    Goods of one type have equal or proportional columns, buyers of one kind proportional rows.
    Parameters as in :func:`integer`, and ``off``: the share, say 1e-12, by which a value typically
    misses its tie.
    """
    rng = np.random.default_rng(seed)
    drawn = values.tied(rng, buyers, goods, off)
    title = f"tied {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=spread, reserves=reserves, keep=keep)


def degenerate(
    buyers: int,
    goods: int,
    seed: int = 0,
    *,
    off: float = 0,
    spread: float = 0,
    reserves: bool = False,
    keep: float = 0,
) -> Market:
    """Markets built backwards from an equilibrium that has more ties than spends.

    Credits flow in several separate parts, each of which balances exactly; buyers are tied between
    goods of their part and of others on which they spend nothing; reserves are just what a good
    costs, and kept credits are worth just what a spent one brings.

    Parameters
    ----------
    buyers, goods, seed
        As in :func:`integer`.
    off
        Share, say 1e-12, by which values, budgets, reserves and kept credits typically miss; 0
        makes every tie exact in floating point, and every balance, too, if the spread is 0.
    spread
        Orders of magnitude between small and large spends of a buyer on a good.
    reserves, keep
        As in :func:`integer`.

    Examples
    --------
    The prices it is built from are powers of two:

    >>> from qmopt import clear
    >>> prices = clear(degenerate(6, 4)).prices
    >>> bool((np.frexp(prices)[0] == 0.5).all())
    True
    """
    rng = np.random.default_rng(seed)
    drawn = values.degenerate(rng, buyers, goods, spread, off)
    title = f"degenerate {buyers} x {goods}, seed {seed}"
    return complete(rng, drawn, title, spread=0, reserves=reserves, keep=keep, off=off)


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
