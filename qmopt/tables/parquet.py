"""One table as a Parquet file. Needs pyarrow, which the extra ``qmopt[parquet]`` brings."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from qmopt.errors import Problem, TableError
from qmopt.tables.cells import Cells, ObjectCells, cells_of, is_missing
from qmopt.tables.check import Raw
from qmopt.tables.numerals import Refused, exact_decimal, shown
from qmopt.tables.schema import CONTRACT
from qmopt.tables.table import Place, Table
from qmopt.tables.text import replace_file, unreadable


def _pyarrow(path: Path) -> Any:
    """Import what reads Parquet, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        said = "Parquet needs pyarrow: pip install 'qmopt[parquet]'"
        raise TableError([Problem(path.as_posix(), said)]) from error
    return pyarrow


def read(path: Path, name: str, problems: list[Problem]) -> Raw:
    """Return the table of a Parquet file, unchecked."""
    pyarrow = _pyarrow(path)
    try:
        # The reader of one file: the other takes a folder's name for a column (a=b/bids.parquet).
        with path.open("rb") as file:
            content = pyarrow.parquet.ParquetFile(file).read()
    except pyarrow.ArrowException as error:
        raise TableError([Problem(path.as_posix(), f"is not Parquet: {error}")]) from error
    except OSError as error:
        raise unreadable(path, error) from error
    place = Place(path.as_posix())
    columns: dict[str, Cells] = {}
    for title, column in zip(content.column_names, content.columns, strict=True):
        if title in columns:
            said = f"the column {shown(title)} is there twice"
            problems.append(Problem(place.where(name), said))
        columns[title] = _cells(column, pyarrow)
    return Raw(name, content.num_rows, columns, place)


def _cells(column: Any, pyarrow: Any) -> Cells:
    """Return a column by its type. Parquet has its own null, so a nan in it is no missing cell."""
    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_integer(column.type) or types.is_floating(column.type):
        if column.null_count == 0:
            array = column.to_numpy()
            if array.dtype.kind != "f" or not np.isnan(array).any():
                return cells_of(array)
        # nan is not itself
        return ObjectCells(
            [cell if cell == cell else Refused("nan") for cell in column.to_pylist()]
        )
    return ObjectCells(column.to_pylist())


def write(table: Table, path: Path) -> None:
    """Write a table as Parquet: text as strings, numbers as doubles, exact ones as decimals.

    Raises
    ------
    TableError
        When pyarrow is missing, or a Fraction is no decimal number of at most 76 digits.
    """
    pyarrow = _pyarrow(path)
    arrays = {}
    for name, cells in table.cells.items():
        missing = is_missing(cells) if isinstance(cells, np.ndarray) else None
        try:
            if not isinstance(cells, np.ndarray):
                arrays[name] = pyarrow.array(cells, pyarrow.string())
            elif cells.dtype == object:
                arrays[name] = pyarrow.array([_decimal(cell) for cell in cells])
            else:
                arrays[name] = pyarrow.array(cells, pyarrow.float64(), mask=missing)
        except pyarrow.ArrowException as error:
            where = f"{path.as_posix()}, {table.name}.{name}"
            said = "has numbers too long for Parquet; write TOML, JSON or CSV"
            raise TableError([Problem(where, said)]) from error
    content = pyarrow.table(arrays)
    if not arrays:
        none = pyarrow.array([], pyarrow.string())
        content = pyarrow.table(dict.fromkeys(CONTRACT[table.name].required_columns, none))
    replace_file(path, lambda draft: pyarrow.parquet.write_table(content, draft))


def _decimal(cell: object) -> object:
    return exact_decimal(cell) if isinstance(cell, Fraction) else None
