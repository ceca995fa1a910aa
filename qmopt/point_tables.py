"""Prices and allocations from checked tables, as arrays in the order of the market.

A table of prices or of an allocation may come from an earlier result, another program or a
spreadsheet. Names that the market does not know are errors; resources without a row have no price.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.names import spelled
from qmopt.tables.schema import did_you_mean
from qmopt.tables.shown import shown
from qmopt.tables.table import Table
from qmopt.utilities.protocol import Array

if TYPE_CHECKING:
    from qmopt.market import Market


def prices_from(market: Market, table: Table) -> Array:
    """Return prices in the order of the market's goods, shape (m,), market credits per unit.

    Parameters
    ----------
    market
        The market that the prices are for.
    table
        Columns ``resource`` and ``price``.

    Returns
    -------
    ndarray
        nan for a resource without a row or without a price in it.

    Raises
    ------
    TableError
        If a resource is not one of the market's.
    """
    prices = np.full(market.m, np.nan)
    prices[_places(table, "resource", market.goods)] = _numbers(table, "price")
    return prices


def allocation_from(market: Market, table: Table) -> sp.csr_array:
    """Return what each team bought, shape (n, m), units.

    Parameters
    ----------
    market
        The market that the allocation is for.
    table
        Columns ``team``, ``resource`` and ``units``: all that a team holds, guarantees included.
        Rows of one team and resource (several workloads) add up.

    Returns
    -------
    csr_array
        The units less those guaranteed. An entry is negative where a team holds less than it was
        guaranteed, which :func:`qmopt.certify` reports.

    Raises
    ------
    TableError
        If a team or resource is not one of the market's.
    """
    rows = _places(table, "team", market.buyers)
    columns = _places(table, "resource", market.goods)
    held = sp.csr_array((_numbers(table, "units"), (rows, columns)), shape=market.shape)
    if market.guarantees is None:
        return held
    return sp.csr_array(held - market.guarantees)


def running_from(market: Market, table: Table) -> sp.csr_array:
    """Return :func:`allocation_from` of what runs rather than of a claim, nothing negative.

    Rows of negative units are errors. A team that holds less than it is guaranteed from now on has
    bought nothing.
    """
    wrong = np.flatnonzero(_numbers(table, "units") < 0).tolist()
    problems = Problems()
    for row in problems.fit(wrong):
        problems.append(Problem(table.where(row, "units"), "is negative"))
    if problems:
        raise TableError(problems)
    return sp.csr_array(allocation_from(market, table).maximum(0))


def unknown(kind: str, name: str, names: tuple[str, ...]) -> str:
    """Say that the market has no team or resource of that name, and which one is close."""
    return f"the market has no {kind} {shown(name)}{spelled(name)}{did_you_mean(name, names)}"


def _places(table: Table, column: str, names: tuple[str, ...]) -> NDArray[np.int64]:
    place = {name: k for k, name in enumerate(names)}
    told = [str(name) for name in table.column(column) or []]
    wrong = [row for row, name in enumerate(told) if name not in place]
    if wrong:
        problems = Problems()
        problems.extend(
            Problem(table.where(row, column), unknown(column, told[row], names))
            for row in problems.fit(wrong)
        )
        raise TableError(problems)
    return np.array([place[name] for name in told], dtype=np.int64)


def _numbers(table: Table, column: str) -> Array:
    found = table.column(column)
    return np.zeros(0) if found is None else np.asarray(found, dtype=float)
