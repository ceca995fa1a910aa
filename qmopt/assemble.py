"""From checked tables to the arrays of a market: units, pools, guarantees.

Credits of a team are in its pool's own currency. Pool k holds ``weight`` W_k and mints C_k credits
per period, so one of its credits is worth W_k/C_k market credits: budgets are multiplied by that
rate, and the worth of a kept credit (per credit) is divided by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt import tables as contract
from qmopt.arguments import of_kind
from qmopt.errors import MarketError
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

if TYPE_CHECKING:
    from qmopt.tables import Table, Tables

#: Bids are kept sparse from this many pairs on, if at most this share of them has a bid.
SPARSE_FROM_PAIRS = 10_000
SPARSE_UP_TO = 0.3


def assemble(tables: Tables | None, frames: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :class:`qmopt.Market` for tables, or for frames to be checked first.

    Raises
    ------
    MarketError
        If both or neither are given, if a pool mints nothing, or if the tables ask for what no
        method of this version can clear: workloads, recipes (needs), several options for one
        resource.
    """
    if (tables is None) == (not frames):
        raise MarketError("give either tables or the tables by name (resources=, teams=, bids=)")
    tables = contract.from_frames(**frames) if tables is None else tables
    known = "what tables.read returns, or tables by their names (resources=..., or **tables),"
    of_kind("tables", tables, contract.Tables, known)
    refuse_what_no_method_solves(tables)
    teams, resources = tables["teams"], tables["resources"]
    buyers, goods = _text(teams, "team"), _text(resources, "resource")
    rate = credit_rate(tables)
    guarantees = _units(tables["guarantees"], buyers, goods)
    supplies = _numbers(resources, "supply", 0)
    if guarantees is not None:
        # the tables check that guarantees fit in; a last bit may still be lost in the sum
        supplies = np.maximum(_left(tables, goods, supplies - guarantees.sum(axis=0)), 0)
    return {
        "budgets": _numbers(teams, "credits", 0) * rate,
        "supplies": supplies,
        "utility": Linear(_values(tables, buyers, goods)),
        "reserves": _numbers(resources, "reserve_price", 0),
        "keep_values": _numbers(teams, "keep_value", 0) / np.where(rate > 0, rate, 1),
        "utility_caps": _numbers(teams, "utility_cap", np.inf),
        "buyers": buyers,
        "goods": goods,
        "credit_rate": rate,
        "guarantees": guarantees,
        "title": tables.market.get("title", ""),
        "period": tables.market.get("period", "1 hour"),
        "tables": tables,
    }


def refuse_what_no_method_solves(tables: Tables) -> None:
    """Raise a MarketError at the first row that asks for more than plain bids."""
    for name, what in (("workloads", "workloads with a demand"), ("needs", "recipes (needs)")):
        table = tables[name]
        if len(table):
            raise MarketError(
                f"{table.where(0, 'team')}: {what} are read and checked, "
                "but no method of this version clears them"
            )
    bids = tables["bids"]
    if not len(bids):
        return
    seen: set[tuple[str, str]] = set()
    for row, pair in enumerate(zip(_text(bids, "team"), _text(bids, "resource"), strict=True)):
        if pair in seen:
            raise MarketError(
                f"{bids.where(row, 'resource')}: team {pair[0]!r} bids on {pair[1]!r} a second "
                "time; several options for one resource are read and checked, but no method of "
                "this version clears them"
            )
        seen.add(pair)


def credit_rate(tables: Tables) -> Array:
    """Market credits per credit of each team's own pool: W_k/C_k, or 1 without pools."""
    teams, pools = tables["teams"], tables["pools"]
    if not len(pools):
        return np.ones(len(teams))
    row = {name: k for k, name in enumerate(_text(pools, "pool"))}
    member = np.array([row[name] for name in _text(teams, "pool")], dtype=np.int64)
    offered = np.bincount(member, weights=_numbers(teams, "credits", 0), minlength=len(pools))
    minted = _numbers(pools, "minted", np.nan)
    minted = np.where(np.isnan(minted), offered, minted)
    for k in np.flatnonzero(minted == 0):
        raise MarketError(
            f"{pools.where(int(k), 'minted')}: pool {_text(pools, 'pool')[k]!r} mints 0 credits, "
            "so its credits have no exchange rate"
        )
    with np.errstate(over="ignore"):
        rate = _numbers(pools, "weight", 0) / minted
    for k in np.flatnonzero(~((rate > 0) & (rate < np.inf))):
        raise MarketError(
            f"{pools.where(int(k), 'weight')}: pool {_text(pools, 'pool')[k]!r} has an exchange "
            f"rate of weight/minted = {rate[k]}, which no computer can calculate with"
        )
    return rate[member]


def _values(tables: Tables, buyers: list[str], goods: list[str]) -> Any:
    """Value per chip, (n, m): value per unit of demand times demand units per chip."""
    if tables.values is not None:
        return tables.values
    bids = tables["bids"]
    shape = (len(buyers), len(goods))
    if not len(bids):
        return np.zeros(shape)
    worth = _numbers(bids, "value", 0) * _numbers(bids, "rate", 1)
    rows, columns = _index(bids, "team", buyers), _index(bids, "resource", goods)
    values = sp.csr_array((worth, (rows, columns)), shape=shape)
    pairs = shape[0] * shape[1]
    sparse = pairs > SPARSE_FROM_PAIRS and values.nnz <= SPARSE_UP_TO * pairs
    return values if sparse else values.toarray()


def _units(table: Table, buyers: list[str], goods: list[str]) -> sp.csr_array | None:
    if not len(table):
        return None
    rows, columns = _index(table, "team", buyers), _index(table, "resource", goods)
    units = _numbers(table, "units", 0)
    return sp.csr_array((units, (rows, columns)), shape=(len(buyers), len(goods)))


def _left(tables: Tables, goods: list[str], rounded: Array) -> Array:
    """Supplies less guarantees: without a rounding in between where numbers are rationals."""
    supply, units = tables["resources"].column("supply"), tables["guarantees"].column("units")
    if not (isinstance(supply, np.ndarray) and isinstance(units, np.ndarray)):
        return rounded
    if supply.dtype.kind != "O" or units.dtype.kind != "O":
        return rounded
    left = supply.copy()
    np.subtract.at(left, _index(tables["guarantees"], "resource", goods), units)
    return left.astype(float)


def _index(table: Table, column: str, names: list[str]) -> NDArray[np.int64]:
    place = {name: k for k, name in enumerate(names)}
    return np.fromiter((place[name] for name in _text(table, column)), np.int64, len(table))


def _numbers(table: Table, column: str, default: float) -> Array:
    """Numbers of a column as float64, the default where a cell or the column is missing."""
    found = table.column(column)
    if found is None:
        return np.full(len(table), float(default))
    numbers = np.asarray(found, dtype=float)
    return np.where(np.isnan(numbers), default, numbers)


def _text(table: Table, column: str) -> list[str]:
    found = table.column(column)
    return [str(name) for name in found] if found is not None else []
