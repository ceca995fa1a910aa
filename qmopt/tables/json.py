"""A market as one JSON file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from qmopt.errors import Problem, TableError
from qmopt.tables.check import Raw
from qmopt.tables.documents import raw_tables
from qmopt.tables.lines import TextLines
from qmopt.tables.numerals import Refused, bare, exact, floating, number_text, shown
from qmopt.tables.table import Tables
from qmopt.tables.text import read_text, write_text

#: Digits of the longest whole number that is read; a double has at most 309.
_DIGITS = 400


class _Doubled(dict[str, object]):
    """An object in which a key stood twice."""

    again: tuple[str, ...] = ()


def parse(
    path: Path, problems: list[Problem], *, as_fractions: bool
) -> tuple[dict[str, object], str]:
    """Return a JSON file as parsed, and its text.

    Raises
    ------
    TableError
        When it is not JSON, or not an object.
    """
    text = read_text(path)
    doubled: list[_Doubled] = []

    def whole(written: str) -> int | Refused:
        too_long = len(written) > _DIGITS
        return Refused(written, "is too large for a number here") if too_long else int(written)

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        content = dict(pairs)
        if len(content) == len(pairs):
            return content
        names = [name for name, _ in pairs]
        result = _Doubled(content)
        result.again = tuple(name for name in content if names.count(name) > 1)
        doubled.append(result)
        return result

    try:
        document = json.loads(
            text,
            object_pairs_hook=unique,
            parse_float=exact if as_fractions else floating,
            parse_int=whole,
            parse_constant=Refused,
        )
    except RecursionError as error:
        raise TableError([Problem(path.as_posix(), "is nested too deeply")]) from error
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1 : error.lineno]
        said = f"{error.msg}: {shown(line[0].strip())}" if line else error.msg
        where = f"{path.as_posix()} line {error.lineno}"
        raise TableError([Problem(where, said)]) from error
    if doubled:
        problems.extend(_doubled_keys(document, path.as_posix(), text))
    if not isinstance(document, dict):
        said = 'holds no object; a market in JSON is {"resources": [...], "teams": [...], ...}'
        raise TableError([*problems, Problem(path.as_posix(), said)])
    return document, text


def read(path: Path, problems: list[Problem], *, as_fractions: bool) -> list[Raw]:
    """Return the tables of a JSON file, unchecked."""
    document, text = parse(path, problems, as_fractions=as_fractions)
    return raw_tables(document, path.as_posix(), text, toml=False, problems=problems)


def _doubled_keys(document: object, file: str, text: str) -> list[Problem]:
    """Find the places of the objects with a doubled key; the parser met them inside out."""
    problems, waiting = [], [("", document)]
    while waiting:
        place, content = waiting.pop()
        if isinstance(content, _Doubled):
            for name in content.again:
                key = f"{place}.{bare(name)}" if place else bare(name)
                row = re.match(r"(\w+)\[(\d+)\]", place)
                lines = TextLines(text, row[1], toml=False) if row else ()
                line = f" line {lines[int(row[2])]}" if row and int(row[2]) < len(lines) else ""
                said = f"the key {shown(name)} is there twice"
                problems.append(Problem(f"{file}{line}, {key}", said))
        if isinstance(content, dict):
            inside = [
                (f"{place}.{bare(name)}" if place else bare(name), part)
                for name, part in content.items()
            ]
            waiting.extend(reversed(inside))
        elif isinstance(content, list):
            inside = [(f"{place}[{row}]", part) for row, part in enumerate(content)]
            waiting.extend(reversed(inside))
    return problems


def write(tables: Tables, path: Path) -> None:
    """Write a market as JSON, one row a line."""
    parts = []
    for name, table in tables.tables.items():
        rows = [_object(row) for row in table.rows()]
        if name == "market":
            parts.append(f'  "market": {rows[0]}')
        else:
            body = ",\n    ".join(rows)
            parts.append(f'  "{name}": [\n    {body}\n  ]' if rows else f'  "{name}": []')
    write_text(path, "{\n" + ",\n".join(parts) + "\n}\n")


def _object(row: Mapping[str, str | float | Fraction]) -> str:
    cells = (f"{json.dumps(name)}: {_value(cell)}" for name, cell in row.items())
    return "{" + ", ".join(cells) + "}"


def _value(cell: str | float | Fraction) -> str:
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, str) else number_text(cell)


def result_rows(document: Mapping[str, object], name: str) -> object:
    """Return one table of what ``qmopt clear --json`` wrote, in the form a market has it.

    A result gives prices by resource, and beside each allocation what it costs.

    Examples
    --------
    >>> result_rows({"schema": 1, "prices": {"l4@west": 20.0}}, "prices")
    [{'resource': 'l4@west', 'price': 20.0}]
    """
    content = document.get(name)
    if name == "prices" and isinstance(content, Mapping):
        return [{"resource": resource, "price": price} for resource, price in content.items()]
    if not isinstance(content, list):
        return content
    return [
        {key: cell for key, cell in row.items() if key != "spend"} if isinstance(row, dict) else row
        for row in content
    ]
