"""What a notebook shows of an object: plain HTML tables, every name escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from qmopt.figures import column, small

#: Rows of one table before it only counts the rest.
ROWS = 20
#: Resources across before a matrix is cut.
ACROSS = 8


def page(headline: str, tables: Mapping[str, Mapping[str, Any]], remarks: Sequence[str]) -> str:
    """Return a headline, captioned tables of columns, and remarks as HTML.

    Parameters
    ----------
    headline
        One line, shown bold.
    tables
        By caption, each a mapping of column names to equally long sequences; arrays are numbers.
    remarks
        Lines below the tables.

    Examples
    --------
    >>> page("Two <teams>", {}, [])
    '<div><p><strong>Two &lt;teams&gt;</strong></p></div>'
    """
    parts = [f"<p><strong>{escape(headline)}</strong></p>"]
    parts += [_table(caption, columns) for caption, columns in tables.items()]
    parts += [f"<p>{escape(remark)}</p>" for remark in remarks]
    return f"<div>{''.join(parts)}</div>"


def market_page(market: Any) -> str:
    """Return what a market is: teams with credits, resources with supply, who is left out."""
    teams = {"team": market.buyers, "credits": market.budgets}
    if market.has_pools:
        teams["own_credits"] = market.budgets / market.credit_rate
    resources = {"resource": market.goods, "supply": market.supplies}
    free = market.guarantees
    for owner, name, numbers, plain in (
        (teams, "keep_value", market.keep_values, 0),
        (teams, "utility_cap", market.utility_caps, np.inf),
        (resources, "reserve_price", market.reserves, 0),
        (resources, "guaranteed", 0 if free is None else np.asarray(free.sum(axis=0)).ravel(), 0),
    ):
        if np.any(numbers != plain):
            owner[name] = numbers
    period = market.period.removeprefix("1 ")
    return page(
        f"{market.title or 'Market'}: {market!r}",
        {
            f"Teams, market credits per {period}": teams,
            f"Resources, chips during one {period}": resources,
            **_first_values(market),
        },
        [f"excluded: {name}: {why}" for name, why in list(market.excluded.items())[:ROWS]],
    )


def _first_values(market: Any) -> dict[str, dict[str, Any]]:
    """Return what units are worth, of the first teams and resources, where that is a matrix."""
    values = getattr(market.utility, "values", None)
    if values is None or np.shape(values) != market.shape:
        return {}
    few, across = min(market.n, ROWS), min(market.m, ACROSS)
    corner = values[:few][:, :across]
    corner = corner.toarray() if hasattr(corner, "toarray") else np.asarray(corner)
    shown: dict[str, Any] = {"": market.buyers[:few]}  # no resource has an empty name
    shown |= {good: corner[:, j] for j, good in enumerate(market.goods[:across])}
    cut = f" (first {few} of {market.n} teams, first {across} of {market.m} resources)"
    whole = (few, across) == tuple(market.shape)
    return {f"Values of one chip, in each team's own unit{'' if whole else cut}": shown}


def certificate_line(certificate: Any) -> str:
    """Return the verdict and every residual in one line."""
    verdict = "certified" if certificate.certified() else "NOT certified"
    sizes = [f"{name} {small(size)}" for name, size in certificate.residuals.items()]
    return f"Certificate({verdict} at {certificate.tolerance:g}: {', '.join(sizes)})"


def certificate_page(certificate: Any, meaning: Mapping[str, str]) -> str:
    """Return every residual with its size, what 0 says, and the verdict."""
    holds, tolerance = certificate.certified(), f"{certificate.tolerance:g}"
    sizes = certificate.residuals
    residuals = {
        "residual": list(sizes),
        "size": [small(size) for size in sizes.values()],
        "tolerance": [tolerance if size is not None else "-" for size in sizes.values()],
        "holds": [
            "-" if size is None else "yes" if abs(size) <= certificate.tolerance else "NO"
            for size in sizes.values()
        ],
        "0 says that": [meaning[name] for name in sizes],
    }
    verdict, relation = ("Certified", "<=") if holds else ("NOT certified", ">")
    return page(
        f"{verdict}: worst {small(certificate.worst)} {relation} tolerance {tolerance}",
        {"Certificate (each number is relative; 0 is exact)": residuals},
        certificate.notes,
    )


def program_line(model: Any) -> str:
    """Return what a convex program is of, and whether it has been solved, in one line."""
    facts = [f"{count} {name}" for name, count in _facts(model).items()]
    return f"{type(model).__name__}({', '.join([*facts, _solved(model)])})"


def program_page(model: Any) -> str:
    """Return what a convex program is of, its size, and how to go on."""
    facts = _facts(model) | {
        "variables": sum(variable.size for variable in model.problem.variables()),
        "rows": sum(row.size for row in model.problem.constraints),
    }
    return page(
        f"Eisenberg-Gale program: {_solved(model)}",
        {"What it is of": {"what": list(facts), "count": np.array(list(facts.values()))}},
        [
            "model.problem is a CVXPY problem: model.problem.solve(), then model.prices() and "
            "model.point(); rows of your own are written with model.allocation, in chips"
        ],
    )


def _facts(model: Any) -> dict[str, int]:
    market = model.market
    facts = {
        "buyers": int(market.active.sum()),
        "goods": int(market.sold.sum()),
        "with kept credits": int((market.keep_values > 0)[market.active].sum()),
        "with a reserve": int((market.reserves > 0)[market.sold].sum()),
    }
    return {name: count for name, count in facts.items() if count or name in ("buyers", "goods")}


def _solved(model: Any) -> str:
    status = model.problem.status
    if status is not None:
        return f"its solver says {status!r}"
    return "solved" if model.supply.dual_value is not None else "not solved yet"


def _table(caption: str, columns: Mapping[str, Any]) -> str:
    count = len(next(iter(columns.values())))
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    cells = [_cells(values[:ROWS]) for values in columns.values()]
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    more = f" (first {ROWS} of {count} rows)" if count > ROWS else ""
    return (
        f"<table><caption>{escape(caption + more)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _cells(values: Any) -> list[str]:
    if isinstance(values, np.ndarray):
        return [f'<td style="text-align:right">{text}</td>' for text in column(values.tolist())]
    return [
        f'<td style="text-align:left">{escape("" if value is None else str(value))}</td>'
        for value in values
    ]
