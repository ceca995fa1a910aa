"""One table as a Parquet file. Needs pyarrow, which the extra ``qmopt[parquet]`` brings."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.arrays import cells_of
from qmopt.tables.cells import Cells, ObjectCells, is_missing
from qmopt.tables.check import Raw
from qmopt.tables.limits import MIB, Limits
from qmopt.tables.numerals import exact_decimal
from qmopt.tables.schema import CONTRACT
from qmopt.tables.shown import Refused, bare, shown
from qmopt.tables.table import Place, Table
from qmopt.tables.text import open_file, replace_file, unreadable


def _pyarrow(path: Path) -> Any:
    """Import what reads Parquet, or say how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        said = "Parquet needs pyarrow: pip install 'qmopt[parquet]'"
        raise TableError([Problem(path.as_posix(), said)]) from error
    return pyarrow


def read(path: Path, name: str, problems: Problems, limits: Limits) -> Raw:
    """Return the table of a Parquet file, unchecked; only columns of the contract are read."""
    pyarrow = _pyarrow(path)
    place = Place(path.as_posix())
    columns: dict[str, Cells] = {}
    try:
        with open_file(path, limits, "file_mib") as file:
            # The reader of one file: the other takes a folder's name for a column (a=b/bids).
            stored = pyarrow.parquet.ParquetFile(file)
            _check_size(stored.metadata, limits, place.file)
            titles = list(stored.schema_arrow.names)
            doubled = [title for title, count in Counter(titles).items() if count > 1]
            for title in problems.fit(doubled):
                said = f"the column {shown(title)} is there twice"
                problems.append(Problem(place.where(name), said))
            known = [title for title in dict.fromkeys(titles) if CONTRACT[name].column(title)]
            columns = {title: ObjectCells(()) for title in titles if title not in known}
            for title in known:
                if title in doubled:
                    continue
                kind = stored.schema_arrow.field(title).type
                _check_kind(kind, pyarrow, place.where(name, None, title))
                # Text stays a dictionary: a long one under a million rows is in memory once.
                texts = pyarrow.parquet.ParquetFile(file, read_dictionary=[title])
                column = texts.read(columns=[title], use_threads=False).column(0)
                # Arrow takes a broken file's word for which entry of a dictionary a cell is.
                column.validate(full=True)
                columns[title] = _cells(column, pyarrow)
            rows = stored.metadata.num_rows
    except TableError:
        raise
    except OSError as error:
        if error.errno is None:  # one of pyarrow's own
            raise _broken(path, error) from error
        raise unreadable(path, error) from error
    except (pyarrow.ArrowException, ValueError, OverflowError, KeyError, MemoryError) as error:
        raise _broken(path, error) from error
    if any(len(cells) != rows for title, cells in columns.items() if title in known):
        raise TableError([Problem(place.file, "has columns of different lengths")])
    return Raw(name, rows, columns, place)


def _broken(path: Path, error: Exception) -> TableError:
    said = " ".join(str(error)[:200].split())
    return TableError([Problem(path.as_posix(), f"is not Parquet: {said}")])


def _check_size(metadata: Any, limits: Limits, where: str) -> None:
    """Hold what the file says of itself against the limits."""
    rows, columns = metadata.num_rows, metadata.num_columns
    limits.check("rows", rows, where, "has {} rows")
    limits.check("columns", columns, where, "has {} columns")
    limits.check("cells", rows * columns, where, "has {} cells")
    size = sum(
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    )
    limits.check("unpacked_mib", size / MIB, where, "unfolds to {} MiB")


def _check_kind(kind: Any, pyarrow: Any, where: str) -> None:
    """Refuse a column whose cells are not single values; wrong ones are refused cell by cell."""
    types = pyarrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        types.is_integer,
        types.is_floating,
        types.is_boolean,
        types.is_decimal,
        types.is_string,
        types.is_large_string,
        types.is_date,
        types.is_timestamp,
        types.is_null,
    )
    if not any(test(kind) for test in tests):
        said = f"holds {bare(str(kind))}, not text or numbers"
        raise TableError([Problem(where, said)])


def _cells(column: Any, pyarrow: Any) -> Cells:
    """Return a column by its type. Parquet has its own null, so a nan in it is no missing cell."""
    types = pyarrow.types
    if types.is_dictionary(column.type):
        return ObjectCells([cell for chunk in column.chunks for cell in _shared(chunk)])
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


def _shared(chunk: Any) -> list[object]:
    """Return the cells of a dictionary's array, equal ones the same object."""
    texts = chunk.dictionary.to_pylist()
    codes = chunk.indices.to_pylist()
    return [None if code is None else texts[code] for code in codes]


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
