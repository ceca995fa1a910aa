"""Read a market from a file, a folder, or by the name of one that ships with the package."""

from __future__ import annotations

import os
from pathlib import Path

from qmopt import catalogue, tables
from qmopt.arguments import named, of_kind
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.tables.limits import DEFAULT, Limits


def read_market(
    path: str | os.PathLike[str],
    *,
    exact: bool = False,
    delimiter: str = ",",
    decimal: str = ".",
    thousands: str | None = None,
    limits: Limits = DEFAULT,
) -> Market:
    """Read a market.

    Parameters
    ----------
    path
        A TOML or JSON file, a folder of CSV or Parquet tables, or a shipped name such as
        "gpu/helios-earth". What exists on disk comes before a shipped name.
    exact
        Keep numbers as the rationals that TOML, JSON and CSV write: 0.1 is one tenth, which no
        double is (those of Parquet and of ``values.npz`` are doubles). By them go
        ``clear(market, exact=True)`` and :func:`qmopt.certify_exact`; the arrays are doubles.
    delimiter, decimal, thousands
        How CSV files write columns and numbers.
    limits
        How much a file may ask of its reader; ``tables.Limits(rows=10_000_000)`` raises one.

    Raises
    ------
    TableError
        If the tables break the contract; the message names file, line, table and key.
    MarketError
        If there is no such market, or it asks for what no method of this version clears.

    Examples
    --------
    >>> read_market("textbook/two-teams")
    Market(2 buyers, 2 goods, 100 credits)
    """
    if not isinstance(path, str | os.PathLike):
        raise MarketError(
            f"path: that of a file or folder, or a shipped name, expected, got {named(path)}"
        )
    for what, mark in (("delimiter", delimiter), ("decimal", decimal), ("thousands", thousands)):
        if not isinstance(mark, str) and not (what == "thousands" and mark is None):
            raise MarketError(f"{what}: one character expected, got {named(mark)}")
    of_kind("limits", limits, Limits, "tables.Limits(...)")
    # not Path.exists, which raises for a name that is too long
    place = path if os.path.exists(path) else _shipped(path)  # noqa: PTH110
    found = tables.read(
        place,
        exact=exact,
        delimiter=delimiter,
        decimal=decimal,
        thousands=thousands,
        limits=limits,
    )
    return Market.from_tables(found)


def _shipped(path: str | os.PathLike[str]) -> Path:
    """Path of a shipped market, unless the text can only mean a file: then itself, to be missed."""
    if isinstance(path, str) and not Path(path).suffix:
        return catalogue.path(path)
    return Path(path)
