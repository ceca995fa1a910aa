"""A market as one TOML file."""

from __future__ import annotations

import json
import re
import tomllib
from fractions import Fraction
from pathlib import Path

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.check import Raw
from qmopt.tables.documents import raw_tables
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.numerals import exact, floating, number_text
from qmopt.tables.scan import check_toml
from qmopt.tables.shown import Refused, shown
from qmopt.tables.table import Table, Tables
from qmopt.tables.text import read_text, write_text


def parse(
    path: Path, *, as_fractions: bool, limits: Limits = DEFAULT
) -> tuple[dict[str, object], str]:
    """Return a TOML file as parsed, and its text.

    Raises
    ------
    TableError
        When it is not TOML, naming the line, or beyond a limit.
    """
    text = read_text(path, limits, "document_mib")
    check_toml(text, limits, path.as_posix())
    convert = exact if as_fractions else floating

    def number(written: str) -> float | Fraction | Refused:
        special = written.lstrip("+-") in ("inf", "nan")
        return Refused(written) if special else convert(written.replace("_", ""), limits)

    try:
        return tomllib.loads(text, parse_float=number), text
    except RecursionError as error:
        raise TableError([Problem(path.as_posix(), "is nested too deeply")]) from error
    except ValueError as error:
        raise TableError([_problem(path, text, error)]) from error


def read(path: Path, problems: Problems, *, as_fractions: bool, limits: Limits) -> list[Raw]:
    """Return the tables of a TOML file, unchecked."""
    document, text = parse(path, as_fractions=as_fractions, limits=limits)
    return raw_tables(document, path.as_posix(), text, toml=True, problems=problems, limits=limits)


def _problem(path: Path, text: str, error: ValueError) -> Problem:
    """Name the line of a syntax error, and show it: the parser does not name a doubled key."""
    said = str(error)
    match = re.search(r" \(at line (\d+), column \d+\)", said)
    if match is None:
        return Problem(path.as_posix(), f"is not TOML: {said}")
    line = text.split("\n")[int(match[1]) - 1]
    said = said.replace(match[0], "")
    return Problem(f"{path.as_posix()} line {match[1]}", f"{said}: {shown(line.strip())}")


def write(tables: Tables, path: Path) -> None:
    """Write a market as TOML, one row a line and columns aligned."""
    blocks = [
        _market(table) if name == "market" else _rows(table)
        for name, table in tables.tables.items()
    ]
    write_text(path, "\n".join(blocks))


def _market(table: Table) -> str:
    """Write the one row under dotted keys, so that tables may follow it."""
    row = next(table.rows(), {})
    return "".join(f"market.{name} = {_prose(text)}\n" for name, text in row.items())


def _rows(table: Table) -> str:
    """Write rows as inline tables under each other.

    Examples
    --------
    >>> bids = Table("bids", 2, {"team": ["a", "bee"], "option": [None, "x"]})
    >>> print(_rows(bids), end="")
    bids = [
      { team = "a" },
      { team = "bee", option = "x" },
    ]
    """
    written = [
        {name: f"{name} = {_value(cell)}" for name, cell in row.items()} for row in table.rows()
    ]
    widths = {
        name: max((len(row[name]) for row in written if name in row), default=0)
        for name in table.columns
    }
    if not written:
        return f"{table.name} = []\n"
    lines = [f"{table.name} = ["]
    for row in written:
        last = next(reversed(row), "")
        cells = [
            (row.get(name, "") + ("," if name in row and name != last else "")).ljust(width + 1)
            for name, width in widths.items()
        ]
        lines.append(f"  {{ {' '.join(cells).rstrip()} }},")
    return "\n".join([*lines, "]", ""])


def _value(cell: str | float | Fraction) -> str:
    return quoted(cell) if isinstance(cell, str) else number_text(cell)


def quoted(text: str) -> str:
    """Return text as a basic string; JSON's escapes are TOML's too."""
    return json.dumps(text, ensure_ascii=False)


def _prose(text: str) -> str:
    """Return text as a string over several lines where it has them."""
    if "\n" not in text:
        return quoted(text)
    lines = [json.dumps(line, ensure_ascii=False)[1:-1] for line in text.split("\n")]
    return '"""\n' + "\n".join(lines) + '"""'
