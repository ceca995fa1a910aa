"""Levels of workloads as rows of tables, and back.

A row of an allocation names an option by its team, its workload (None for bids without one) and its
own name. Units that belong to no option, such as guaranteed ones, stand in rows that have neither.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.point_tables import allocation_from
from qmopt.utilities.pairs import pairs, total_by
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.workloads import Workloads

if TYPE_CHECKING:
    from qmopt.market import Market
    from qmopt.tables import Table

#: Share of a holding by which sums of units may be off from rounding.
ROUNDED = 1e-13
#: Share of a holding up to which units beside its best use are rounding of that use.
UNUSED = 1e-9

Columns: TypeAlias = dict[str, Any]


def holdings(
    market: Market, utility: Workloads, prices: Array, allocation: Allocation, levels: Array | None
) -> Columns:
    """Columns of an allocation: a row for each option in use and resource that it takes.

    Parameters
    ----------
    market, utility
        The utility is the market's.
    prices, allocation
        Shapes (m,) and (n, m).
    levels
        Shape (K,), units of each option, which take just the allocation. Without them a best use of
        it, and what that leaves in rows without workload and option.

    Returns
    -------
    dict
        ``team``, ``workload``, ``option``, ``resource``, ``units``, ``spend``, and ``guaranteed``
        where anything is; sorted by team, what belongs to no option last.
    """
    beside = sp.csr_array(market.shape)
    if levels is None:
        levels = utility.levels(allocation)
        held = sp.csr_array(allocation)
        left: Any = held - utility.taken(levels)
        beside = sp.csr_array(left * (left > UNUSED * held))
    rows: dict[tuple[int, str | None, str, int], list[Any]] = {}  # with option, bought, guaranteed
    used = np.flatnonzero(levels > 0)
    for (i, workload, option), k in zip(_names(market, utility, used), used, strict=True):
        for e in range(*utility.needs.indptr[k : k + 2]):
            row = i, workload, option, int(utility.needs.indices[e])
            rows.setdefault(row, [option, 0.0, 0.0])[1] += utility.needs.data[e] * levels[k]
    free = sp.csr_array(market.shape) if market.guarantees is None else market.guarantees
    for column, apart in ((1, beside), (2, free)):
        for i, j, units in zip(*(part.tolist() for part in pairs(apart)), strict=True):
            # a plain bid for the resource, without a workload, has the same key
            rows.setdefault((i, None, market.goods[j], j), [None, 0.0, 0.0])[column] += units
    order = sorted(rows, key=lambda row: (row[0], rows[row][0] is None))
    goods = np.array([j for *_, j in order], dtype=np.int64)
    bought, given = np.array([rows[row][1:] for row in order], dtype=float).reshape(-1, 2).T
    columns: Columns = {
        "team": [market.buyers[i] for i, *_ in order],
        "workload": [workload for _, workload, *_ in order],
        "option": [rows[row][0] for row in order],
        "resource": [market.goods[j] for j in goods],
        "units": bought + given,
        "spend": bought * np.nan_to_num(prices)[goods],
    }
    return columns if market.guarantees is None else columns | {"guaranteed": given}


def activities(market: Market, utility: Workloads, levels: Array) -> Columns:
    """Columns ``team``, ``workload``, ``option`` and ``units`` of the options in use."""
    used = np.flatnonzero(levels > 0)
    names = list(_names(market, utility, used))
    return {
        "team": [market.buyers[i] for i, _, _ in names],
        "workload": [workload for _, workload, _ in names],
        "option": [option for _, _, option in names],
        "units": levels[used],
    }


def served(
    market: Market, utility: Workloads, prices: Array, levels: Array, credits: Array | None
) -> Columns:
    """Columns that say what each workload wants, gets and pays, W rows.

    Parameters
    ----------
    market, utility
        The utility is the market's.
    prices, levels
        Shapes (m,) and (K,).
    credits
        Shape (W,): market credits that a split gives to each workload; None without a split.

    Returns
    -------
    dict
        ``team``, ``workload``, ``demand`` and ``served`` (units of demand; ``inf`` where there is
        no end of it), ``credits`` where there are any, ``spend`` (market credits; those columns
        also in the team's own where there are pools), ``gang``, and ``value`` (of what is served).

    Examples
    --------
    A team wants 12 runs, worth 5 each; one chip serves 3. Two chips at 10 credits:

    >>> from qmopt import Market
    >>> utility = Workloads([0], [12], [0], [[1]], [5], [3], names=["train"])
    >>> market = Market([20], [2], utility, buyers=["vision"])
    >>> columns = served(market, utility, np.array([10.0]), np.array([2.0]), None)
    >>> {name: float(columns[name][0]) for name in ("demand", "served", "spend", "value")}
    {'demand': 12.0, 'served': 6.0, 'spend': 20.0, 'value': 30.0}
    """
    count = len(utility.demand)
    paid = total_by(utility.workload, utility.needs @ np.nan_to_num(prices) * levels, count)
    amounts = ({} if credits is None else {"credits": credits}) | {"spend": paid}
    if market.has_pools:
        rate = market.credit_rate[utility.team]
        amounts |= {f"{name}_own": amount / rate for name, amount in amounts.items()}
    return {
        "team": [market.buyers[i] for i in utility.team],
        "workload": [name or None for name in utility.names],
        "demand": utility.demand,
        "served": utility.served(levels),
        **amounts,
        "gang": utility.gangs.astype(np.int64),
        "value": total_by(utility.workload, utility.worth * levels, count),
    }


def levels_from(market: Market, utility: Workloads, table: Table) -> Array | None:
    """Levels of all options from the rows of an allocation.

    A row counts for an option if it names a workload or an option; a plain bid's option is called
    as its resource. Where the rows of a team do not add up so (some name no option, or the units of
    a recipe are out of proportion), the best use of all that it holds is meant.

    Parameters
    ----------
    market, utility
        The utility is the market's.
    table
        As :func:`qmopt.point_tables.allocation_from` takes it.

    Returns
    -------
    ndarray or None
        Shape (K,); None if no levels take just what the teams hold, so that only what they hold can
        be measured.
    """
    bought = allocation_from(market, table)
    every = np.arange(len(utility.owner))
    named = list(_names(market, utility, every))
    twice = Counter(named)
    place = {key: k for k, key in enumerate(named) if twice[key] == 1}
    team = {name: i for i, name in enumerate(market.buyers)}
    good = {name: j for j, name in enumerate(market.goods)}
    own, options = table.texts("option"), table.options()
    cells = zip(table.ids("team"), table.texts("workload"), table.ids("resource"), strict=True)
    units = table.numbers("units").tolist()
    told: dict[tuple[int, int], float] = {}
    for row, (name, workload, resource) in enumerate(cells):
        k = place.get((team[name], workload, options[row]))
        if k is not None and (workload is not None or own[row] is not None):
            told[k, good[resource]] = told.get((k, good[resource]), 0.0) + units[row]
    _without_guarantees(market, told, place)
    option = np.array([k for k, _ in told], dtype=np.int64)
    levels = total_by(option, np.array(list(told.values())), len(every))
    levels /= utility.needs.sum(axis=1)  # right if units are in proportion; else found out below
    off = _off(market, utility, levels, bought)
    if off.any():
        best = utility.levels(sp.csr_array(bought.maximum(0)))
        levels = np.where(off[utility.owner], best, levels)
        off = _off(market, utility, levels, bought)
    return None if off.any() else levels


def _without_guarantees(
    market: Market, told: dict[tuple[int, int], float], place: dict[Any, int]
) -> None:
    """Take guaranteed units off the rows that they share with a bid for no workload."""
    if market.guarantees is not None:
        for i, j, units in zip(*(part.tolist() for part in pairs(market.guarantees)), strict=True):
            k = place.get((i, None, market.goods[j]))
            if k is not None and (k, j) in told:
                told[k, j] -= units


def _off(
    market: Market, utility: Workloads, levels: Array, bought: sp.csr_array
) -> NDArray[np.bool_]:
    """Teams whose levels do not take just what they bought, (n,)."""
    taken: Any = utility.taken(levels)
    held = abs(taken) if market.guarantees is None else abs(taken) + market.guarantees
    rows, _, _ = pairs(sp.csr_array(abs(taken - bought) > ROUNDED * held))
    return np.bincount(rows, minlength=market.n) > 0


def _names(market: Market, utility: Workloads, which: NDArray[np.int64]) -> Any:
    """Yield team, workload (None without one) and name of some options."""
    for k in which.tolist():
        workload = utility.names[int(utility.workload[k])]
        yield int(utility.owner[k]), workload or None, utility.options[k]
