"""What tells the rows of a table apart: keys that are there once, and names that look different."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qmopt.errors import Problem, Problems
from qmopt.tables.cells import Texts
from qmopt.tables.lookalikes import difference, folded, looks
from qmopt.tables.schema import Spec
from qmopt.tables.shown import shown
from qmopt.tables.table import Table


def check_keys(spec: Spec, table: Table, problems: Problems) -> None:
    """Report rows whose key an earlier row has.

    Parameters
    ----------
    spec
        Of the table.
    table
        With all its required columns.
    problems
        Appended to.
    """
    if not spec.key:
        if len(table) > 1:
            problems.append(Problem(table.where(), f"has {len(table)} rows; it has one"))
        return
    columns = {name: _key_column(table, name) for name in spec.key}
    first, again = repeated(list(columns.values()))
    whole = [columns[name] for name in spec.key if name != "workload"]
    pairs = [
        (row, earlier)
        for row, earlier in zip(again.tolist(), first.tolist(), strict=True)
        if all(column[row] for column in whole)  # else reported already as missing
    ]
    for row, earlier in problems.fit(pairs):
        parts = {name: column[row] for name, column in columns.items()}
        said = ", ".join(f"{name} {shown(part)}" for name, part in parts.items() if part)
        said = f"{said} is there twice; the first is {table.where(earlier)}"
        problems.append(Problem(table.where(row), said))


def check_twins(spec: Spec, table: Table, problems: Problems) -> None:
    """Report names that eyes take for an earlier one: ``Vision`` beside ``vision``.

    Only a table's own names are looked at; those that refer to another table must be there. Names
    of a team's workloads and options are compared within the team, for nobody else chose them.

    Parameters
    ----------
    spec
        Of the table.
    table
        With all its required columns.
    problems
        Appended to.
    """
    for number, name in enumerate(spec.key):
        column = spec.column(name)
        if column is None or column.refers or name not in table.columns:
            continue
        names = _key_column(table, name)
        scopes = [table.texts(scope) for scope in spec.key[:number]]
        said: set[int] = set()
        for likeness in (folded, looks):
            if likeness is looks and all(map(str.isascii, filter(None, set(names)))):
                break  # both likenesses are the same
            keys = {text: likeness(text) for text in set(names) if text}
            if len(set(keys.values())) == len(keys):
                continue
            first, again = repeated([*scopes, [text and keys[text] for text in names]])
            pairs = [
                (row, earlier)
                for row, earlier in zip(again.tolist(), first.tolist(), strict=True)
                if names[row] != names[earlier] and row not in said
            ]
            said.update(row for row, _ in pairs)
            for row, earlier in problems.fit(pairs):
                one, other = names[row] or "", names[earlier] or ""
                is_like = f"{shown(one)} looks like {shown(other)} ({table.where(earlier, name)})"
                place = table.where(row, name)
                problems.append(Problem(place, f"{is_like}: {difference(one, other)}"))


def _key_column(table: Table, name: str) -> Texts:
    return [*table.options()] if name == "option" else table.texts(name)


def repeated(columns: list[Texts]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find rows that repeat an earlier one.

    Parameters
    ----------
    columns
        Each of the same length.

    Returns
    -------
    first, again : numpy.ndarray
        Pairs of rows with equal cells: the earliest, and one that repeats it.

    Examples
    --------
    >>> repeated([["a", "a", "b", "a"], ["x", "y", "x", "x"]])
    (array([0]), array([3]))
    """
    codes, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        index = {text: code for code, text in enumerate(dict.fromkeys(column))}
        fresh = np.fromiter(map(index.__getitem__, column), np.int64, len(column))
        if size * len(index) >= 2**62:  # number the pairs afresh before they overflow
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
            size = len(codes)
        codes, size = codes * len(index) + fresh, size * len(index)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    owner = order[np.repeat(starts, np.diff(np.r_[starts, len(order)]))]
    late = owner != order
    by_row = np.argsort(order[late], kind="stable")
    return owner[late][by_row], order[late][by_row]
