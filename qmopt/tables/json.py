"""A market as one JSON file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.check import Raw
from qmopt.tables.documents import raw_tables
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.lines import TextLines
from qmopt.tables.numerals import exact, floating, number_text
from qmopt.tables.scan import check_json
from qmopt.tables.shown import Refused, bare, shown
from qmopt.tables.table import Tables
from qmopt.tables.text import read_text, write_text


class _Doubled(dict[str, object]):
    """An object in which a key stood twice."""

    again: tuple[str, ...] = ()


def parse(
    path: Path, problems: Problems, *, as_fractions: bool, limits: Limits = DEFAULT
) -> tuple[dict[str, object], str]:
    """Return a JSON file as parsed, and its text.

    Raises
    ------
    TableError
        When it is not JSON, not an object, or beyond a limit.
    """
    text = read_text(path, limits, "document_mib")
    check_json(text, limits, path.as_posix())
    doubled: list[_Doubled] = []

    def whole(written: str) -> float | Refused:
        # A double has at most 309 digits; Python itself reads 4300.
        return int(written) if len(written) <= 400 else floating(written, limits)

    def convert(written: str) -> float | Fraction | Refused:
        return exact(written, limits) if as_fractions else floating(written, limits)

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        content = dict(pairs)
        if len(content) == len(pairs):
            return content
        result = _Doubled(content)
        seen: set[str] = set()
        again = [name for name, _ in pairs if name in seen or seen.add(name)]
        result.again = tuple(dict.fromkeys(again))
        doubled.append(result)
        return result

    try:
        document = json.loads(
            text,
            object_pairs_hook=unique,
            parse_float=convert,
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
        _report_doubled(document, path.as_posix(), text, problems)
    if not isinstance(document, dict):
        said = 'holds no object; a market in JSON is {"resources": [...], "teams": [...], ...}'
        raise TableError([*problems, Problem(path.as_posix(), said)], problems.more)
    return document, text


def read(path: Path, problems: Problems, *, as_fractions: bool, limits: Limits) -> list[Raw]:
    """Return the tables of a JSON file, unchecked."""
    document, text = parse(path, problems, as_fractions=as_fractions, limits=limits)
    return raw_tables(document, path.as_posix(), text, toml=False, problems=problems, limits=limits)


def _report_doubled(document: object, file: str, text: str, problems: Problems) -> None:
    """Find the places of the objects with a doubled key; the parser met them inside out."""
    waiting = [("", document)]
    lines: dict[str, TextLines] = {}
    while waiting:
        place, content = waiting.pop()
        if isinstance(content, _Doubled):
            for name in problems.fit(content.again):
                key = f"{place}.{bare(name)}" if place else bare(name)
                row = re.match(r"(\w+)\[(\d+)\]", place)
                line = ""
                if row:
                    starts = lines.setdefault(row[1], TextLines(text, row[1], toml=False))
                    line = f" line {starts[int(row[2])]}" if int(row[2]) < len(starts) else ""
                said = f"the key {shown(name)} is there twice"
                problems.append(Problem(f"{file}{line}, {key}", said))
        if isinstance(content, dict):
            inside = [
                (f"{place}.{bare(name)}" if place else bare(name), part)
                for name, part in content.items()
                if isinstance(part, dict | list)
            ]
            waiting.extend(reversed(inside))
        elif isinstance(content, list):
            inside = [
                (f"{place}[{row}]", part)
                for row, part in enumerate(content)
                if isinstance(part, dict | list)
            ]
            waiting.extend(reversed(inside))


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


#: What a result says of a holding beside team, resource and units.
_BESIDE = ("spend", "spend_exact", "units_exact")


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
        {key: cell for key, cell in row.items() if key not in _BESIDE}
        if isinstance(row, dict)
        else row
        for row in content
    ]
