"""A dense or sparse matrix of values beside the tables: ``values.npy`` or ``values.npz``."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qmopt.errors import Problem, TableError
from qmopt.tables.numerals import shown
from qmopt.tables.table import Table
from qmopt.tables.text import replace_file, unreadable

Values = NDArray[np.float64] | sparse.csr_array

#: Entries that are looked at together, so that a memory-mapped file is never all in memory.
_AT_ONCE = 1 << 20


def read(path: Path) -> Values:
    """Return the matrix of a file, not yet checked against any table.

    Parameters
    ----------
    path
        ``.npy`` with a two-dimensional array, opened memory-mapped; or ``.npz`` as
        ``scipy.sparse.save_npz`` writes it.

    Raises
    ------
    TableError
        When the file holds anything else, pickled objects among it.
    """
    try:
        if path.suffix == ".npy":
            matrix: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            matrix = sparse.load_npz(path)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        wanted = "numpy.save" if path.suffix == ".npy" else "scipy.sparse.save_npz"
        said = f"is not numbers as {wanted} writes them: {error}"
        raise TableError([Problem(path.as_posix(), said)]) from error
    return as_values(matrix, path.as_posix())


def as_values(matrix: Any, where: str) -> Values:
    """Return a matrix as float64, dense or CSR.

    Parameters
    ----------
    matrix
        Anything that NumPy or SciPy takes for one.
    where
        Its name in messages.
    """
    is_sparse = bool(sparse.issparse(matrix))
    matrix = matrix if is_sparse else np.asanyarray(matrix)  # a memory map stays one
    if matrix.ndim != 2:
        said = f"has {matrix.ndim} dimensions; rows are teams, columns resources"
        raise TableError([Problem(where, said)])
    if matrix.dtype.kind not in "iuf":
        raise TableError([Problem(where, f"holds {matrix.dtype}, not numbers")])
    if not is_sparse:
        return matrix if matrix.dtype == np.float64 else matrix.astype(np.float64)
    try:
        if matrix.format == "csr":
            matrix.check_format(full_check=True)
        rows = sparse.csr_array(matrix).astype(np.float64)
    except (ValueError, IndexError) as error:
        raise TableError([Problem(where, f"is no sparse matrix: {error}")]) from error
    rows.sum_duplicates()
    return rows


def check(values: Values, tables: Mapping[str, Table], where: str, problems: list[Problem]) -> None:
    """Report values of another shape than the tables, or that are no values.

    Parameters
    ----------
    values
        Shape (teams, resources).
    tables
        With ``teams`` and ``resources``, whose order the matrix follows.
    where
        Its name in messages.
    problems
        Appended to.
    """
    if "teams" not in tables or "resources" not in tables:
        return
    teams, resources = tables["teams"].texts("team"), tables["resources"].texts("resource")
    if values.shape != (len(teams), len(resources)):
        said = (
            f"has shape {tuple(values.shape)}, and there are {len(teams)} teams "
            f"and {len(resources)} resources"
        )
        problems.append(Problem(where, said))
        return
    prefix = "" if where == "values" else f"{where}, "
    for row, column, value in _wrong(values):
        said = "is negative" if value < 0 and np.isfinite(value) else "is not a finite number"
        place = f"{prefix}values[{row}, {column}]"
        of = f"team {shown(teams[row])}, resource {shown(resources[column])}"
        problems.append(Problem(place, f"{value} {said} ({of})"))


def _wrong(values: Values) -> Iterator[tuple[int, int, float]]:
    """Yield row, column and value wherever it is not finite and at least 0."""
    if isinstance(values, sparse.csr_array):
        if not _right(values.data):
            entries = sparse.coo_array(values)
            for row, column, value in zip(entries.row, entries.col, entries.data, strict=True):
                if not (0 <= value < np.inf):
                    yield int(row), int(column), float(value)
        return
    step = max(1, _AT_ONCE // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        block = np.asarray(values[start : start + step])
        if not _right(block):
            for row, column in np.argwhere(~((block >= 0) & (block < np.inf))).tolist():
                yield start + row, column, float(block[row, column])


def _right(block: NDArray[Any]) -> bool:
    """Whether all are finite and at least 0; nan fails both comparisons."""
    return block.size == 0 or bool(block.min() >= 0 and block.max() < np.inf)


def write(values: Values, folder: Path) -> None:
    """Write a matrix beside the tables of a folder."""
    if isinstance(values, sparse.csr_array):
        replace_file(folder / "values.npz", lambda draft: sparse.save_npz(draft, values))
    else:
        replace_file(folder / "values.npy", lambda draft: np.save(draft, values))
