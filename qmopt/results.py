"""Answers as JSON documents, for programs.

Keys stand in a fixed order and every number is finite: ``null`` means "not defined", an infinite
residual is the text "inf", and a whole number beyond 2**53, which many readers would round, is
text.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from qmopt.rationals import rationals, written
from qmopt.utilities.protocol import Array

if TYPE_CHECKING:
    from qmopt.certificate import Certificate
    from qmopt.equilibrium import Equilibrium
    from qmopt.market import Market
    from qmopt.proving import ExactAnswer

SCHEMA = 1
#: The largest whole number up to which a double, and so many a JSON reader, keeps every one.
EXACT_WHOLE = 2**53


def to_json(found: Equilibrium) -> dict[str, Any]:
    """Return the JSON document of an equilibrium, as ``qmopt clear --json`` prints it.

    Parameters
    ----------
    found
        What :func:`qmopt.clear` returned.

    Returns
    -------
    dict
        Text, numbers, lists and dicts only; :func:`dumps` makes strict JSON of it.
    """
    market, columns = found.market, found.columns()
    teams, held = rows(columns["teams"]), rows(columns["allocation"])
    exact = {} if found.exact is None else _exactly(found, found.exact, held)
    return {
        "schema": SCHEMA,
        "status": found.status,
        "tolerance": found.certificate.tolerance,
        "method": described(found.method),
        "market": about(market),
        "prices": dict(zip(market.goods, found.prices.tolist(), strict=True)),
        **exact,
        "price_intervals": {
            good: None if np.isnan(bounds).all() else bounds.tolist()
            for good, bounds in zip(market.goods, found.price_intervals, strict=True)
        },
        "allocation": [
            {name: cell for name, cell in row.items() if name != "guaranteed" or cell}
            for row in held
        ],
        **{name: rows(columns[name]) for name in ("activities", "workloads") if name in columns},
        "teams": {row.pop("team"): row for row in teams},
        "idle": dict(zip(market.goods, found.idle.tolist(), strict=True)),
        "certificate": measured(found.certificate),
        "unique": dataclasses.asdict(found.unique),
        "excluded": dict(found.excluded),
        "stats": dict(found.stats),
        "notes": list(found.notes),
    }


def _exactly(
    found: Equilibrium, exact: ExactAnswer, held: list[dict[str, Any]]
) -> dict[str, dict[str, str | None]]:
    """Return exact prices as text, and add exact units and spends to the rows of the allocation."""
    market = found.market
    bought = {(market.buyers[i], market.goods[j]): units for i, j, units in exact.allocation}
    free = {
        (market.buyers[i], market.goods[j]): units
        for (i, j), units in rationals(market).guaranteed.items()
    }
    price = dict(zip(market.goods, exact.prices, strict=True))
    for row in held:
        pair = row["team"], row["resource"]
        paid_for = bought.get(pair, Fraction(0))
        row["units_exact"] = written(paid_for + free.get(pair, 0))
        row["spend_exact"] = written(paid_for * (price[row["resource"]] or 0))
    return {
        "prices_exact": {
            good: None if amount is None else written(amount) for good, amount in price.items()
        }
    }


def rows(columns: Mapping[str, Sequence[Any] | Array]) -> list[dict[str, Any]]:
    """Return a table of columns as a list of rows.

    Examples
    --------
    >>> rows({"team": ["a", "b"], "spend": np.array([1.5, 2.0])})
    [{'team': 'a', 'spend': 1.5}, {'team': 'b', 'spend': 2.0}]
    """
    cells = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def about(market: Market) -> dict[str, Any]:
    """Return what identifies a market: hash, title, period, counts."""
    return {
        "hash": market.hash,
        "title": market.title,
        "period": market.period,
        "teams": market.n,
        "resources": market.m,
    }


def measured(certificate: Certificate) -> dict[str, Any]:
    """Return the residuals of a certificate; an infinite one is the text "inf"."""
    residuals = certificate.residuals | {"worst": certificate.worst}
    return {
        name: "inf" if value is not None and np.isposinf(value) else value
        for name, value in residuals.items()
    }


def verdict(market: Market, certificate: Certificate) -> dict[str, Any]:
    """Return the JSON document of a measurement, as ``qmopt certify --json`` prints it."""
    return {
        "schema": SCHEMA,
        "status": "certified" if certificate.certified() else "not certified",
        "tolerance": certificate.tolerance,
        "market": about(market),
        "certificate": measured(certificate),
        "notes": list(certificate.notes),
    }


def failure(error: Exception) -> dict[str, Any]:
    """Return the JSON document of a run that failed, with the certificate of what it found.

    Examples
    --------
    >>> failure(FileNotFoundError("no such file"))["error"]
    {'kind': 'FileNotFoundError', 'message': 'no such file'}
    """
    certificate = getattr(error, "certificate", None)
    return {
        "schema": SCHEMA,
        "status": "failed",
        "error": {"kind": type(error).__name__, "message": str(error)},
        "certificate": None if certificate is None else measured(certificate),
    }


def described(thing: Any) -> dict[str, Any]:
    """Return the name of an object and, where it is a dataclass, its settings.

    Examples
    --------
    >>> from qmopt.errors import Problem
    >>> described(Problem("teams.csv line 2", "no credits"))
    {'name': 'Problem', 'settings': {'where': 'teams.csv line 2', 'message': 'no credits'}}
    """
    settings = {}
    if dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            settings[field.name] = described(value) if dataclasses.is_dataclass(value) else value
    return {"name": type(thing).__name__, "settings": settings}


def plain(value: Any) -> Any:
    """Return a value as strict JSON can hold it.

    Examples
    --------
    >>> plain({"price": np.float64("nan"), "seed": 2**60, "units": np.arange(2)})
    {'price': None, 'seed': '1152921504606846976', 'units': [0, 1]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= EXACT_WHOLE else str(value)
    return str(value)


def dumps(document: Mapping[str, Any]) -> str:
    """Return strict JSON, in ASCII: no NaN, no infinity, readable under every encoding.

    Examples
    --------
    >>> print(dumps({"prices": {"h100": 7.5, "idle": float("inf")}}))
    {
      "prices": {
        "h100": 7.5,
        "idle": null
      }
    }
    """
    return json.dumps(plain(document), indent=2, allow_nan=False)
