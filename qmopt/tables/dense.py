"""A dense or sparse matrix of values beside the tables: ``values.npy`` or ``values.npz``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.shown import shown
from qmopt.tables.table import Table
from qmopt.tables.text import replace_file

Values = NDArray[np.float64] | sparse.csr_array

#: Entries that are looked at together, so that a memory-mapped file is never all in memory.
_AT_ONCE = 1 << 20


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
    check_form(matrix.ndim, matrix.dtype, where)
    if not is_sparse:
        return matrix if matrix.dtype == np.float64 else matrix.astype(np.float64)
    try:
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)  # converting trusts its indices
        rows = sparse.csr_array(matrix).astype(np.float64)
    except (ValueError, IndexError) as error:
        raise TableError([Problem(where, f"is no sparse matrix: {error}")]) from error
    rows.sum_duplicates()
    return rows


def check_form(dimensions: int, dtype: np.dtype[Any], where: str) -> None:
    """Refuse what is no matrix of numbers."""
    if dimensions != 2:
        said = f"has {dimensions} dimensions; rows are teams, columns resources"
        raise TableError([Problem(where, said)])
    if dtype.kind not in "iuf":
        raise TableError([Problem(where, f"holds {dtype}, not numbers")])


def check(values: Values, tables: Mapping[str, Table], where: str, problems: Problems) -> None:
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
    for rows, columns, numbers in _wrong(values):
        for place in problems.fit(range(len(numbers))):
            row, column, value = int(rows[place]), int(columns[place]), float(numbers[place])
            said = "is negative" if value < 0 and np.isfinite(value) else "is not a finite number"
            of = f"team {shown(teams[row])}, resource {shown(resources[column])}"
            key = f"{prefix}values[{row}, {column}]"
            problems.append(Problem(key, f"{value} {said} ({of})"))


def _wrong(values: Values) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]]:
    """Yield rows, columns and values wherever these are not finite and at least 0."""
    if isinstance(values, sparse.csr_array):
        if not _right(values.data):
            wrong = np.flatnonzero(~((values.data >= 0) & (values.data < np.inf)))
            rows = np.searchsorted(values.indptr, wrong, side="right") - 1
            yield rows, values.indices[wrong], values.data[wrong]
        return
    step = max(1, _AT_ONCE // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        block = np.asarray(values[start : start + step])
        if not _right(block):
            rows, columns = np.nonzero(~((block >= 0) & (block < np.inf)))
            yield start + rows, columns, block[rows, columns]


def _right(block: NDArray[Any]) -> bool:
    """Whether all are finite and at least 0; nan fails both comparisons."""
    return block.size == 0 or bool(block.min() >= 0 and block.max() < np.inf)


def write(values: Values, folder: Path) -> None:
    """Write a matrix beside the tables of a folder."""
    if isinstance(values, sparse.csr_array):
        replace_file(folder / "values.npz", lambda draft: sparse.save_npz(draft, values))
    else:
        replace_file(folder / "values.npy", lambda draft: np.save(draft, values))
