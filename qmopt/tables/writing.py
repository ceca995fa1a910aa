"""Markets to files, by the shape of the path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from scipy import sparse

from qmopt.errors import Problem, TableError
from qmopt.tables import csv, dense, json, parquet, toml
from qmopt.tables.reading import FORMATS
from qmopt.tables.schema import CONTRACT
from qmopt.tables.table import Tables
from qmopt.tables.text import unreadable


def write(
    tables: Tables,
    path: str | os.PathLike[str],
    *,
    format: Literal["csv", "parquet"] = "csv",
) -> None:
    """Write a market so that reading it gives the same tables, to the last bit.

    Parameters
    ----------
    tables
        As read, or from :func:`from_frames`.
    path
        A ``.toml`` or ``.json`` file, or else a folder, which is made if need be. A file of the
        market is replaced only once the new one is whole.
    format
        Of the tables in a folder.

    Raises
    ------
    TableError
        When the format cannot hold the market (dense values need a folder; a Fraction needs a
        finite decimal), or the folder holds tables that this market does not have.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in (".toml", ".json"):
        if tables.values is not None:
            said = "dense values are written into a folder, beside its tables"
            raise TableError([Problem(path.as_posix(), said)])
        (toml if suffix == ".toml" else json).write(tables, path)
        return
    if suffix in (".yaml", ".yml", ".csv", ".parquet", ".xlsx", ".npy", ".npz"):
        said = f"{suffix} is not written; {FORMATS}"
        raise TableError([Problem(path.as_posix(), said)])
    if format not in ("csv", "parquet"):
        raise TableError(f"format={format!r}: a folder holds 'csv' or 'parquet'")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unreadable(path, error) from error
    _check_free(tables, path, format)
    for name, table in tables.tables.items():
        (csv if format == "csv" else parquet).write(table, path / f"{name}.{format}")
    if tables.values is not None:
        dense.write(tables.values, path)


def _check_free(tables: Tables, folder: Path, format: str) -> None:
    """Refuse a folder where a table left over would become part of the market."""
    ours = {f"{name}.{format}" for name in tables.names}
    if tables.values is not None:
        ours.add("values.npz" if sparse.issparse(tables.values) else "values.npy")
    stems = {*CONTRACT, "values"}
    left = [
        file.name
        for file in sorted(folder.iterdir())
        if file.suffix.lower() in (".csv", ".parquet", ".npy", ".npz")
        and file.stem in stems
        and file.name not in ours
    ]
    if left:
        said = f"holds {', '.join(left)}, no part of this market; write elsewhere or remove it"
        raise TableError([Problem(f"{folder.as_posix()}/", said)])
