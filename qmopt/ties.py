"""Which allocation is returned where several go with the same prices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from qmopt.certificate import Certificate, measure
from qmopt.equilibrium import Equilibrium
from qmopt.errors import MarketError
from qmopt.given import units_of
from qmopt.intervals import LAST_BITS
from qmopt.market import Market
from qmopt.nearest import nearest_flow
from qmopt.point import Point
from qmopt.support import LOST, balance, missed, pro_rata
from qmopt.tight import tight_graph
from qmopt.utilities.pairs import pairs
from qmopt.utilities.protocol import Allocation, Array


def running_allocation(market: Market, near: Any) -> Allocation:
    """Return a running allocation in the order of the market, finite and nothing negative."""
    if isinstance(near, Equilibrium):
        same = near.market.named_like(market)
        near = near.allocation if same else near.columns()["allocation"]
    running = units_of(market, near, "near", running=True)
    teams, goods, units = pairs(running)
    bad = np.flatnonzero(~((units > 0) & (units < np.inf)))
    if bad.size:
        team, good = market.buyers[teams[bad[0]]], market.goods[goods[bad[0]]]
        raise MarketError(
            f"near: {units[bad[0]]} units of {good} for {team} are not a finite, nonnegative number"
        )
    return running


# at the ends of floating point numbers overflow; what comes of it is measured
@np.errstate(all="ignore")
def settle_ties(
    market: Market,
    prices: Array,
    allocation: Allocation,
    certificate: Certificate,
    near: Allocation | None,
) -> tuple[Allocation, Certificate, list[str]]:
    """Choose among the allocations that go with the same prices: nearest, or pro rata."""
    point = Point(market, prices, allocation)
    near_enough = max(LAST_BITS, 10 * certificate.worst)
    graph = tight_graph(market, np.nan_to_num(prices), near_enough, idle_at_reserve=True)
    flow = graph.flow(point.allocation, point.left_over, point.enjoyed.kept)
    loose = graph.loose(flow)
    if not loose.any():
        return allocation, certificate, []
    if missed(graph, flow) > LOST:  # a rough method's: what is forced is made good first
        flow = balance(graph, flow)
        loose = graph.loose(flow)
    if near is None:
        chosen = pro_rata(graph, flow)
    else:
        chosen = flow.copy()
        chosen[loose] = nearest_flow(graph.part(loose, flow), flow[loose], near)
    settled: Any = graph.allocation(chosen)
    measured = measure(market, prices, settled, certificate.tolerance)
    if not measured.certified():
        return allocation, certificate, ["ties stand as the method left them"]
    rule = "shared pro rata" if near is None else "as near to the running allocation as can be"
    settled = settled if sp.issparse(allocation) else settled.toarray()
    return settled, measured, [f"several allocations go with these prices; ties are {rule}"]
