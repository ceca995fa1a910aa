"""The end of the programs in levels: units and credits again."""

from __future__ import annotations

import numpy as np

from qmopt.market import Market
from qmopt.methods.lp_scaled import Levels, Scaled
from qmopt.utilities.protocol import Array

#: Share of a supply that rounding may take: what is free is not to look sold out for that.
ROUNDING = 1e-13


def in_units(market: Market, scaled: Scaled, point: Levels) -> tuple[Array, Array, Array]:
    """Prices (m,) per unit, units of each activity (K,), credits kept by each buyer (n,).

    What the solver's tolerance hands out too much of is given back by all who use it.
    """
    out = np.maximum(np.asarray(scaled.uses.T @ point.levels), 1) + ROUNDING
    uses = scaled.uses.tocoo()
    crowded = np.zeros(len(point.levels))
    np.maximum.at(crowded, uses.row, out[uses.col])
    credit = market.budgets.sum() / market.n
    prices = np.maximum(point.prices * credit / market.supplies, market.reserves)
    return prices, point.levels / crowded * scaled.full, point.kept * market.budgets
