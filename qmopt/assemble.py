"""From checked tables to the arrays of a market: units, pools, guarantees.

Credits of a team are in its pool's own currency. Pool k holds ``weight`` W_k and mints C_k credits
per period, so one of its credits is worth W_k/C_k market credits: budgets are multiplied by that
rate, and the worth of a kept credit (per credit) is divided by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt import tables as contract
from qmopt.arguments import of_kind
from qmopt.errors import MarketError
from qmopt.utilities.bundles import Bundles
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array, Utility
from qmopt.utilities.workloads import Workloads

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
        If both or neither are given, if a pool mints nothing, or if there are both workloads and
        dense values, which say nothing of them.
    """
    if (tables is None) == (not frames):
        raise MarketError("give either tables or the tables by name (resources=, teams=, bids=)")
    tables = contract.from_frames(**frames) if tables is None else tables
    known = "what tables.read returns, or tables by their names (resources=..., or **tables),"
    of_kind("tables", tables, contract.Tables, known)
    _refuse_dense_workloads(tables)
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
        "utility": _utility(tables, buyers, goods, rate),
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


def _refuse_dense_workloads(tables: Tables) -> None:
    table = tables["workloads"]
    if len(table) and tables.values is not None:
        raise MarketError(
            f"{table.where(0, 'workload')}: dense values are per chip and say nothing of "
            "workloads; with workloads a market has bids"
        )


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


def _utility(tables: Tables, buyers: list[str], goods: list[str], rate: Array) -> Utility:
    """Workloads where there are any; bundles where options take several resources; else linear.

    Worth of a chip, or of a unit of an option: value per unit of demand times demand units. Of
    several plain bids for one resource only the best counts.
    """
    if tables.values is not None:
        return Linear(tables.values)
    bids, shape = tables["bids"], (len(buyers), len(goods))
    if len(tables["workloads"]):
        return _workloads(tables, buyers, goods, rate)
    if not len(bids):
        return Linear(np.zeros(shape))
    worth = _numbers(bids, "value", 0) * _numbers(bids, "rate", 1)
    owner = _index(bids, "team", buyers)
    bid, good, units = needed(tables, goods)
    if (np.bincount(bid, minlength=len(bids)) > 1).any():
        mix = sp.csr_array((units, (bid, good)), shape=(len(bids), len(goods)))
        return Bundles(owner, mix, worth, buyers=len(buyers), options=bids.options())
    with np.errstate(over="ignore"):  # Linear refuses what is infinite
        return Linear(_best_option(owner[bid], good, worth[bid] / units, shape))


def _workloads(
    tables: Tables, buyers: Sequence[str], goods: Sequence[str], rate: Array
) -> Workloads:
    """Workloads as the tables list them; then, per team, bids for none, of which there is no end.

    These have the name "", which no table can write.
    """
    table, bids = tables["workloads"], tables["bids"]
    rows = list(zip(_text(table, "team"), _text(table, "workload"), strict=True))
    of = [
        (team, name or "")
        for team, name in zip(bids.ids("team"), bids.texts("workload"), strict=True)
    ]
    free = dict.fromkeys(key for key in of if not key[1])
    place = {key: w for w, key in enumerate([*rows, *free])}
    row = {name: i for i, name in enumerate(buyers)}
    team = np.array([row[name] for name, _ in place], dtype=np.int64)
    bid, good, units = needed(tables, goods)

    def told(column: str, default: float) -> Array:
        return np.concatenate([_numbers(table, column, default), np.full(len(free), default)])

    return Workloads(
        team,
        np.concatenate([_numbers(table, "demand", 0), np.full(len(free), np.inf)]),
        np.array([place[key] for key in of], dtype=np.int64),
        sp.csr_array((units, (bid, good)), shape=(len(bids), len(goods))),
        _numbers(bids, "value", 0),
        _numbers(bids, "rate", 1),
        teams=len(buyers),
        names=[name for _, name in place],
        options=bids.options(),
        gangs=told("gang", 1),
        # own credits per unit of demand, as the credits of a team are
        limit_prices=told("limit_price", np.inf) * rate[team],
    )


def needed(
    tables: Tables, goods: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Bid, resource and units of everything that bids take, shape (E,) each.

    A plain bid takes one chip of its resource; these come first. Then, in its order, what the table
    needs lists.
    """
    bids, needs = tables["bids"], tables["needs"]
    if not len(needs):
        rows = np.arange(len(bids), dtype=np.int64)
        return rows, _index(bids, "resource", goods), np.ones(len(bids))
    keys = zip(_text(bids, "team"), bids.texts("workload"), bids.options(), strict=True)
    resources = bids.texts("resource")
    plain = [row for row, resource in enumerate(resources) if resource is not None]
    option = {key: row for row, key in enumerate(keys) if resources[row] is None}
    place = {name: j for j, name in enumerate(goods)}
    listed = zip(_text(needs, "team"), needs.texts("workload"), _text(needs, "option"), strict=True)
    bid = np.array([*plain, *(option[key] for key in listed)], dtype=np.int64)
    good = np.array([place[str(resources[row])] for row in plain], dtype=np.int64)
    units = np.concatenate([np.ones(len(plain)), _numbers(needs, "units", 0)])
    return bid, np.concatenate([good, _index(needs, "resource", goods)]), units


def _best_option(
    owner: NDArray[np.int64], good: NDArray[np.int64], worth: Array, shape: tuple[int, int]
) -> Any:
    """Value per chip, (n, m): of several options for one resource, a team takes the best."""
    order = np.lexsort((worth, good, owner))
    owner, good, worth = owner[order], good[order], worth[order]
    last = np.append((np.diff(owner) != 0) | (np.diff(good) != 0), True)
    values = sp.csr_array((worth[last], (owner[last], good[last])), shape=shape)
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


def _index(table: Table, column: str, names: Sequence[str]) -> NDArray[np.int64]:
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
