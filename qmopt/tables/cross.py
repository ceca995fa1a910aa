"""What one table says of another: references, recipes, and sums that supply must cover."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qmopt.errors import Problem, Problems
from qmopt.tables.check import shown_number
from qmopt.tables.names import spelled
from qmopt.tables.schema import CONTRACT, Spec, did_you_mean
from qmopt.tables.shown import shown
from qmopt.tables.table import Table

#: A sum of doubles may pass its bound by this much, relatively: 0.1 + 0.2 is within 0.3.
_ROUNDING = 1e-12


def check_across(
    tables: Mapping[str, Table],
    values: NDArray[np.float64] | sparse.csr_array | None,
    problems: Problems,
    where: str,
) -> None:
    """Add to ``problems`` what no table shows alone.

    Parameters
    ----------
    tables
        Each checked by itself, though perhaps not passed.
    values
        Dense market, if there is one.
    problems
        Appended to.
    where
        Name of the market, for a table that is missing.
    """
    prefix = where if where.endswith("/") or not where else f"{where}, "
    for spec in CONTRACT.values():
        if (
            spec.required
            and spec.name not in tables
            and not (spec.name == "bids" and values is not None)
        ):
            either = ", and so are dense values" if spec.name == "bids" else ""
            problems.append(Problem(f"{prefix}{spec.name}", f"the table is missing{either}"))
    problems.extend(
        Problem(tables[name].where(), f"has no rows: a market needs {name}")
        for name in ("resources", "teams")
        if name in tables and not len(tables[name])
    )
    for name, table in tables.items():
        _check_references(CONTRACT[name], table, tables, problems)
    _check_recipes(tables, problems)
    _check_pools(tables, problems)
    _check_supply(tables, problems)
    if values is not None and "bids" in tables:
        complaint = "dense values are there as well: a market has either"
        problems.append(Problem(tables["bids"].where(), complaint))


def _check_references(
    spec: Spec, table: Table, tables: Mapping[str, Table], problems: Problems
) -> None:
    """Report names that no row of the table they refer to has."""
    for column in spec.columns:
        if not column.refers or column.name not in table.columns:
            continue
        target = tables.get(column.refers)
        if target is None and CONTRACT[column.refers].required:
            continue  # reported as a missing table
        if column.name == "workload":
            _check_workloads(table, target, problems)
            continue
        known = dict.fromkeys(target.texts(column.name) if target is not None else ())
        unknown = set(table.texts(column.name)) - known.keys() - {None}
        if not unknown:
            continue
        names = table.texts(column.name)
        wrong = [row for row, name in enumerate(names) if name is not None and name in unknown]
        for row in problems.fit(wrong):
            name = names[row] or ""
            hint = f": there is no table {column.refers}"
            if target is not None:
                hint = spelled(name) + did_you_mean(name, [k for k in known if k is not None])
            place = table.where(row, column.name)
            problems.append(Problem(place, f"unknown {column.name} {shown(name)}{hint}"))


def _check_workloads(table: Table, target: Table | None, problems: Problems) -> None:
    """Report workloads that their team does not have."""
    pairs = list(zip(table.texts("team"), table.texts("workload"), strict=True))
    known: set[tuple[str | None, str | None]] = set()
    if target is not None:
        known = set(zip(target.texts("team"), target.texts("workload"), strict=True))
    unknown = set(pairs) - known
    wrong = [row for row, pair in enumerate(pairs) if pair[1] is not None and pair in unknown]
    for row in problems.fit(wrong):
        team, workload = pairs[row]
        hint = ": there is no table workloads"
        if target is not None:
            own = [w for t, w in known if t == team and w is not None]
            hint = f" of team {shown(team)}{did_you_mean(workload or '', own)}"
        place = table.where(row, "workload")
        problems.append(Problem(place, f"unknown workload {shown(workload)}{hint}"))


def _check_recipes(tables: Mapping[str, Table], problems: Problems) -> None:
    """Report bids whose option has no resource, and needs that no bid uses."""
    bids, needs = tables.get("bids"), tables.get("needs")
    needed = _options(needs) if needs is not None else {}
    if bids is not None and (needed or None in bids.texts("resource")):
        resources, options = bids.texts("resource"), bids.texts("option")
        keys = _keys(bids)
        wrong = [
            row for row, key in enumerate(keys) if (resources[row] is None) == (key not in needed)
        ]
        for row in problems.fit(wrong):
            if resources[row] is not None:
                other = needs.where(needed[keys[row]]) if needs is not None else ""
                said = f"has a resource, and its {_said(keys[row])} has needs too ({other})"
            elif options[row] is None:
                said = "a bid names a resource, or an option that the table needs describes"
            else:
                said = f"has no resource, and the table needs has no {_said(keys[row])}"
            problems.append(Problem(bids.where(row), said))
    if needs is not None:
        used = _options(bids) if bids is not None else {}
        for key, row in problems.fit([pair for pair in needed.items() if pair[0] not in used]):
            problems.append(Problem(needs.where(row), f"no bid is for {_said(key)}"))


def _keys(table: Table) -> list[tuple[str | None, str | None, str]]:
    return list(zip(table.texts("team"), table.texts("workload"), table.options(), strict=True))


def _options(table: Table) -> dict[tuple[str | None, str | None, str], int]:
    """Return each (team, workload, option) with the first row that has it."""
    first: dict[tuple[str | None, str | None, str], int] = {}
    for row, key in enumerate(_keys(table)):
        first.setdefault(key, row)
    return first


def _said(key: tuple[str | None, str | None, str]) -> str:
    team, workload, option = key
    of = f" of workload {shown(workload)}" if workload is not None else ""
    return f"option {shown(option)}{of} of team {shown(team)}"


def _check_pools(tables: Mapping[str, Table], problems: Problems) -> None:
    """Report teams without a pool where there are pools: their credits would have no rate."""
    if "pools" not in tables or "teams" not in tables:
        return
    teams = tables["teams"]
    without = [row for row, pool in enumerate(teams.texts("pool")) if pool is None]
    for row in problems.fit(without):
        complaint = "is missing; with a table pools every team has one"
        problems.append(Problem(teams.where(row, "pool"), complaint))


def _check_supply(tables: Mapping[str, Table], problems: Problems) -> None:
    """Report resources of which more is owned, or guaranteed, than there is."""
    resources = tables.get("resources")
    if resources is None or not {"resource", "supply"} <= set(resources.columns):
        return
    index = {name: row for row, name in enumerate(resources.texts("resource"))}
    supply = resources.numbers("supply")
    for name, said in (("pool_supply", "the pools own"), ("guarantees", "teams are guaranteed")):
        table = tables.get(name)
        if table is None or not {"resource", "units"} <= set(table.columns):
            continue
        listed = table.texts("resource")
        rows = np.fromiter((index.get(resource, -1) for resource in listed), np.intp, len(listed))
        units = table.numbers("units", default=0)
        total = np.zeros(len(supply) + 1, dtype=units.dtype)  # the last one for unknown names
        slack = 1 if units.dtype == object else 1 + _ROUNDING
        # An infinite sum is too much, an infinite bound is not, and nan is reported already.
        with np.errstate(over="ignore", invalid="ignore"):
            np.add.at(total, rows, units)
            exceeding = np.flatnonzero(total[:-1] > supply * slack)
        for row in problems.fit(exceeding.tolist()):
            numbers = f"{shown_number(total[row])} of {shown_number(supply[row])}"
            resource = shown(resources.texts("resource")[row])
            problems.append(Problem(table.where(), f"{said} {numbers} units of {resource}"))
