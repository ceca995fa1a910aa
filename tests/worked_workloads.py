"""Small markets with workloads, as tables, whose answers can be seen by hand."""

import numpy as np

import qmopt as qm
from qmopt.certificate import measure

GOODS = [{"resource": name, "supply": 1} for name in "xy"]
TEAMS = [{"team": name, "credits": 1} for name in "ab"]
# a wants a quarter of x at most, worth 2, and any amount of y; to b both are worth 1
LIMITED = [{"team": "a", "workload": "w", "demand": 0.25}]
BIDS = [
    {"team": "a", "workload": "w", "resource": "x", "value": 2},
    {"team": "a", "resource": "y", "value": 1},
    {"team": "b", "resource": "x", "value": 1},
    {"team": "b", "resource": "y", "value": 1},
]


def from_tables(resources=GOODS, teams=TEAMS, workloads=LIMITED, bids=BIDS, **more):
    return qm.Market.from_tables(
        resources=resources, teams=teams, workloads=workloads, bids=bids, **more
    )


def point(market, prices, levels, **more):
    """An answer made by hand: what levels take, measured."""
    levels = np.array(levels, dtype=float)
    allocation = market.utility.taken(levels).toarray()
    certificate = measure(market, prices, None, activities=levels)
    outcome = qm.Outcome(np.array(prices), allocation, "by hand", activities=levels, **more)
    return qm.Equilibrium(
        market, qm.Pivoting(), outcome, outcome.prices, allocation, certificate,
        activities=levels, status="certified" if not more else more["notion"],
    )  # fmt: skip


#: At prices 1 and 1, a takes its quarter of x and 3/4 of y, b the rest.
HALVES = [1, 1], [0.25, 0.75, 0.75, 0.25]


def recipes():
    """One team; a node of 4 x and 2 y serves 3 of the 6 units that it wants, each worth 5."""
    return qm.Market.from_tables(
        resources=[{"resource": "x", "supply": 10}, {"resource": "y", "supply": 10}],
        pools=[{"pool": "p", "weight": 40, "minted": 80}],
        teams=[{"team": "a", "credits": 80, "pool": "p", "keep_value": 0.5}],
        workloads=[{"team": "a", "workload": "w", "demand": 6, "gang": 4}],
        bids=[
            {"team": "a", "workload": "w", "option": "node", "value": 5, "rate": 3},
            {"team": "a", "resource": "x", "value": 1},
        ],
        needs=[
            {"team": "a", "workload": "w", "option": "node", "resource": "x", "units": 4},
            {"team": "a", "workload": "w", "option": "node", "resource": "y", "units": 2},
        ],
        guarantees=[{"team": "a", "resource": "x", "units": 1}],
    )
