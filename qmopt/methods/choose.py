"""Which method clears a market when nobody says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qmopt.market import Market
from qmopt.methods.column_generation import ColumnGeneration
from qmopt.methods.effective_budgets import EffectiveBudgets
from qmopt.methods.eisenberg_gale import EisenbergGale
from qmopt.methods.interior_point import InteriorPoint
from qmopt.methods.lp import LinearProgramming
from qmopt.methods.newton import Newton
from qmopt.methods.outcome import Method, unmet_limit
from qmopt.methods.pivoting import Pivoting
from qmopt.methods.split import Split
from qmopt.solvers import Clarabel
from qmopt.utilities.linear import Linear
from qmopt.utilities.smooth import Smooth
from qmopt.utilities.workloads import Workloads

#: Buyers and goods together up to which pivoting from nothing is quickest, ties or not.
FEW = 30
#: Goods, or buyers if these are fewer, up to which a dense system of their size is handy.
NARROW = 1000
#: Buyers per good, and pairs in all, from which on passes with compiled code pay.
MANY, LARGE = 10, 500_000


def choose(market: Market, accept: Sequence[str] = ()) -> Method:
    """Return the method for a market.

    Parameters
    ----------
    market
        What is to be cleared.
    accept
        What is accepted instead of an equilibrium: ``"split"``, ``"nash_welfare"``.

    Linear utilities: pivoting while buyers and goods together are few; column generation where a
    large market has many buyers for each good; the interior point while goods or buyers are few
    enough for a dense system; linear programs beyond. All of these are exact and do without CVXPY.
    Linear utilities with caps, bundles, and workloads of which each team has one: the interior
    point, which is convex there. Several workloads: effective budgets, or a split if one is
    accepted and some limit price only holds in a split. CES and Cobb-Douglas without kept credits
    of worth: Newton. Everything else: Eisenberg-Gale.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> choose(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])))
    Pivoting(time_limit=inf)
    """
    if isinstance(market.utility, Linear) and market.utility_caps.min() == np.inf:
        if market.n + market.m <= FEW:
            return Pivoting()
        large = market.n * market.m >= LARGE and market.n >= MANY * market.m
        if large and market.m <= NARROW:
            return ColumnGeneration()
        return InteriorPoint() if min(market.shape) <= NARROW else LinearProgramming()
    if isinstance(market.utility, Workloads):
        if "split" in accept and unmet_limit(market, market.utility) is not None:
            return Split()
        return InteriorPoint() if market.utility.separate else EffectiveBudgets()
    if market.utility.additive and market.m <= NARROW:
        return InteriorPoint()
    if isinstance(market.utility, Smooth) and market.utility_caps.min() == np.inf:
        return EisenbergGale() if market.keep_values[market.active].any() else Newton()
    # where nothing makes the solver's own numbers better, it is to go as far as it can
    return EisenbergGale() if market.utility.additive else EisenbergGale(Clarabel(tolerance=1e-14))
