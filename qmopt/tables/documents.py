"""What TOML and JSON share: a document of tables, each a list of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qmopt.errors import Problem, Problems
from qmopt.tables.cells import ObjectCells
from qmopt.tables.check import Raw
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.lines import TextLines
from qmopt.tables.names import spelled
from qmopt.tables.schema import CONTRACT, did_you_mean, is_note
from qmopt.tables.shown import bare, shown
from qmopt.tables.table import Place

#: Longest file whose text is kept to name lines later.
_KEPT = 8 * 2**20


def raw_tables(
    document: Mapping[str, object],
    file: str,
    text: str,
    *,
    toml: bool,
    problems: Problems,
    limits: Limits = DEFAULT,
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
    limits
        Of the columns that rows may have between them.
    """
    prefix = f"{file}, " if file else ""
    found = []
    for name, content in document.items():
        if is_note(name):
            continue
        if name not in CONTRACT:
            if not problems.full:
                problems.append(Problem(f"{prefix}{bare(name)}", unknown_table(name)))
            else:
                problems.more += 1
            continue
        lines = TextLines(text, name, toml) if 0 < len(text) <= _KEPT else ()
        raw = raw_table(name, content, Place(file, lines), problems, limits)
        if raw is not None:
            found.append(raw)
    return found


def raw_table(
    name: str, content: object, place: Place, problems: Problems, limits: Limits = DEFAULT
) -> Raw | None:
    """Turn a list of rows into columns; those that no contract knows stay empty.

    Examples
    --------
    >>> raw = raw_table("teams", [{"team": "a", "credits": 6}, {"team": "b"}], Place(), Problems())
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
    rows: list[Mapping[str, object]] = [row if isinstance(row, Mapping) else {} for row in content]
    wrong = [number for number, row in enumerate(content) if not isinstance(row, Mapping)]
    for number in problems.fit(wrong):
        said = f"{shown(content[number])} is not a row of named cells"
        problems.append(Problem(place.where(name, number), said))
    names = dict.fromkeys(key for row in rows for key in row)
    limits.check("columns", len(names), place.where(name), "has {} columns")
    columns: dict[str, ObjectCells] = {}
    for key in names:
        known = CONTRACT[name].column(str(key)) is not None
        columns[str(key)] = ObjectCells([row.get(key) for row in rows] if known else ())
    return Raw(name, len(rows), columns, place)


def unknown_table(name: str) -> str:
    """Say that no table has a name, and which one might be meant."""
    if CONTRACT["market"].column(name) is not None:
        return f"{shown(name)} is not a table; it belongs into the table market"
    closest = did_you_mean(name, CONTRACT) or f"; the tables are {', '.join(CONTRACT)}"
    return f"unknown table {shown(name)}{spelled(name)}{closest}"
