"""What TOML and JSON share: a document of tables, each a list of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qmopt.errors import Problem
from qmopt.tables.cells import ObjectCells
from qmopt.tables.check import Raw
from qmopt.tables.lines import TextLines
from qmopt.tables.numerals import bare, shown
from qmopt.tables.schema import CONTRACT, did_you_mean, is_note
from qmopt.tables.table import Place

#: Longest file whose text is kept to name lines later.
_KEPT = 8 * 2**20


def raw_tables(
    document: Mapping[str, object], file: str, text: str, *, toml: bool, problems: list[Problem]
) -> list[Raw]:
    """Return the tables of a document, adding to ``problems`` what is none.

    Parameters
    ----------
    document
        As parsed.
    file
        Its name in messages; empty for objects made in Python.
    text
        What was parsed, to find lines in; may be empty.
    toml
        The language of ``text``; otherwise JSON.
    problems
        Appended to.
    """
    prefix = f"{file}, " if file else ""
    found = []
    for name, content in document.items():
        if is_note(name):
            continue
        if name not in CONTRACT:
            problems.append(Problem(f"{prefix}{bare(name)}", unknown_table(name)))
            continue
        lines = TextLines(text, name, toml) if 0 < len(text) <= _KEPT else ()
        raw = raw_table(name, content, Place(file, lines), problems)
        if raw is not None:
            found.append(raw)
    return found


def raw_table(name: str, content: object, place: Place, problems: list[Problem]) -> Raw | None:
    """Turn a list of rows into columns.

    Examples
    --------
    >>> raw = raw_table("teams", [{"team": "a", "credits": 6}, {"team": "b"}], Place(), [])
    >>> {name: cells.cells for name, cells in raw.columns.items()}
    {'team': ['a', 'b'], 'credits': [6, None]}
    """
    if name == "market" and isinstance(content, Mapping):
        content = [content]
    if isinstance(content, str) or not isinstance(content, Sequence):
        problems.append(Problem(place.where(name), f"{shown(content)} is not a list of rows"))
        return None
    if not all(isinstance(row, Mapping) for row in content):
        place = Place(place.file)  # lines are found by counting rows that are
    rows: list[Mapping[str, object]] = []
    for number, row in enumerate(content):
        if isinstance(row, Mapping):
            rows.append(row)
        else:
            said = f"{shown(row)} is not a row of named cells"
            problems.append(Problem(place.where(name, number), said))
            rows.append({})
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {str(key): ObjectCells([row.get(key) for row in rows]) for key in names}
    return Raw(name, len(rows), columns, place)


def unknown_table(name: str) -> str:
    """Say that no table has a name, and which one might be meant."""
    if CONTRACT["market"].column(name) is not None:
        return f"{shown(name)} is not a table; it belongs into the table market"
    closest = did_you_mean(name, CONTRACT) or f"; the tables are {', '.join(CONTRACT)}"
    return f"unknown table {shown(name)}{closest}"
