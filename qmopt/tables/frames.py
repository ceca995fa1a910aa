"""Tables made in Python: DataFrames, dicts of columns, lists of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables import dense
from qmopt.tables.arrays import cells_of
from qmopt.tables.build import build
from qmopt.tables.cells import Cells, ObjectCells
from qmopt.tables.check import Raw
from qmopt.tables.documents import raw_table, unknown_table
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.schema import CONTRACT
from qmopt.tables.shown import bare, shown
from qmopt.tables.table import Place, Table, Tables

if TYPE_CHECKING:
    import pandas as pd


def from_frames(
    *,
    exact: bool = False,
    values: Any = None,
    limits: Limits = DEFAULT,
    **named: object,
) -> Tables:
    """Check tables made in Python.

    Parameters
    ----------
    exact
        Hold numbers as rationals: those of Fractions, Decimals and doubles as they are.
    values
        Shape (teams, resources), dense or sparse, in the order of the tables; instead of ``bids``.
    limits
        Of rows, columns and the length of texts.
    **named
        By table name, each a pandas DataFrame, a dict of columns or a list of dict rows. None
        leaves a table out.

    Raises
    ------
    TableError
        With everything that was found wrong.

    Examples
    --------
    >>> market = from_frames(
    ...     resources={"resource": ["h100@east"], "supply": [8]},
    ...     teams=[{"team": "a", "credits": 6}, {"team": "b", "credits": 24}],
    ...     bids=[{"team": "a", "resource": "h100@east", "value": 2}],
    ... )
    >>> market["teams"].column("credits")
    array([ 6., 24.])
    """
    problems = Problems()
    raws: list[Raw] = []
    for name, frame in named.items():
        if name not in CONTRACT:
            problems.append(Problem(bare(name), unknown_table(name)))
        elif frame is not None and (raw := raw_frame(name, frame, problems, limits)) is not None:
            raws.append(raw)
    if _is_pandas(values, "DataFrame"):
        said = "a DataFrame has an order of its own; pass its array, in the order of the tables"
        raise TableError([Problem("values", said)])
    matrix = None if values is None else dense.as_values(values, "values")
    if isinstance(matrix, np.ndarray):
        matrix = np.array(matrix)  # the caller's own array may change later
        matrix.setflags(write=False)
    return build(raws, problems, as_fractions=exact, values=matrix, limits=limits)


def raw_frame(name: str, frame: object, problems: Problems, limits: Limits = DEFAULT) -> Raw | None:
    """Return a table from whatever holds its columns or rows.

    Parameters
    ----------
    name
        Of the table.
    frame
        A pandas DataFrame (or what turns into one by ``to_pandas``); a dict of columns; a list of
        dict rows; a :class:`~qmopt.tables.Table`.
    problems
        Appended to.
    limits
        Of its columns.

    Examples
    --------
    >>> raw = raw_frame("teams", {"team": ["a", "b"], "credits": np.array([6, 24])}, Problems())
    >>> raw.length, list(raw.columns)
    (2, ['team', 'credits'])
    """
    if isinstance(frame, Table):
        frame = dict(frame.cells)
    elif hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()  # type: ignore[attr-defined]
    if _is_pandas(frame, "DataFrame"):
        return _from_pandas(name, frame, problems)  # type: ignore[arg-type]
    if isinstance(frame, Mapping):
        if name == "market" and all(isinstance(c, str | None) for c in frame.values()):
            return raw_table(name, frame, Place(), problems, limits)
        return _from_columns(name, frame, problems)
    if isinstance(frame, Sequence) and not isinstance(frame, str):
        return raw_table(name, frame, Place(), problems, limits)
    said = f"a {type(frame).__name__} is no DataFrame, dict of columns or list of dict rows"
    problems.append(Problem(name, said))
    return None


def _is_pandas(frame: object, kind: str) -> bool:
    """Whether an object is of a pandas class; asked by name, so that pandas stays unimported."""
    classes = type(frame).__mro__
    return any(c.__name__ == kind and c.__module__.split(".")[0] == "pandas" for c in classes)


def _from_pandas(name: str, frame: pd.DataFrame, problems: Problems) -> Raw:
    """Return the columns of a DataFrame; named levels of its index are columns too."""
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    columns: dict[str, Cells] = {}
    for number, title in enumerate(frame.columns):
        if str(title) in columns:
            problems.append(Problem(name, f"the column {shown(title)} is there twice"))
        columns[str(title)] = _from_series(frame.iloc[:, number])
    return Raw(name, len(frame), columns)


def _from_columns(name: str, frame: Mapping[Any, Any], problems: Problems) -> Raw | None:
    """Return a dict of columns, all of one length."""
    columns: dict[str, Cells] = {}
    for title, content in frame.items():
        if _is_pandas(content, "Series"):
            columns[str(title)] = _from_series(content)
        elif isinstance(content, np.ndarray) and content.ndim == 1:
            columns[str(title)] = cells_of(content)
        elif isinstance(content, Sequence) and not isinstance(content, str):
            columns[str(title)] = ObjectCells(content)
        else:
            said = f"{shown(content)} is not a column: a list, array or Series"
            problems.append(Problem(f"{name}.{bare(str(title))}", said))
            return None
    lengths = {title: len(cells) for title, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{title} {length}" for title, length in lengths.items())
        problems.append(Problem(name, f"the columns differ in length: {said}"))
        return None
    return Raw(name, next(iter(lengths.values()), 0), columns)


def _from_series(series: pd.Series[Any]) -> Cells:
    """Return a Series by its type; whatever pandas calls missing is missing."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        return cells_of(series.to_numpy())
    missing = series.isna().to_numpy(dtype=bool)
    cells = series.astype(object).tolist()
    if missing.any():
        cells = [None if no else cell for cell, no in zip(cells, missing.tolist(), strict=True)]
    return ObjectCells(cells)
