"""Markets and single tables, from and to files, by the shape of the path."""

from __future__ import annotations

import os
from pathlib import Path

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables import csv, documents, json, parquet, stored, toml
from qmopt.tables.build import build
from qmopt.tables.check import Raw, checked
from qmopt.tables.folder import PACKED, table_files
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.numerals import Numerals
from qmopt.tables.schema import CONTRACT
from qmopt.tables.table import Place, Table, Tables
from qmopt.tables.text import unreadable

#: What a market is read from, for messages.
FORMATS = "a market is one .toml or .json file, or a folder of .csv or .parquet files"


def read(
    path: str | os.PathLike[str],
    *,
    exact: bool = False,
    delimiter: str = ",",
    decimal: str = ".",
    thousands: str | None = None,
    limits: Limits = DEFAULT,
) -> Tables:
    r"""Read a market and check all of it.

    Parameters
    ----------
    path
        A ``.toml`` or ``.json`` file, or a folder with one ``.csv`` or ``.parquet`` file per table
        and perhaps ``values.npy`` or ``values.npz``.
    exact
        Hold numbers as the rationals that the file writes, not as the nearest doubles.
    delimiter, decimal, thousands
        How CSV files write cells and numbers. Nothing is guessed.
    limits
        How much a file may ask of its reader.

    Returns
    -------
    Tables
        Checked, in contract order.

    Raises
    ------
    TableError
        With everything that was found wrong, each by file, line and key.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "teams.csv")
    ...     _ = file.write_text("team,credits\na,-6\n")
    ...     read_table(file, "teams")
    Traceback (most recent call last):
    ...
    qmopt.errors.TableError: .../teams.csv line 2, teams[0].credits: -6 is negative
    """
    path = Path(path)
    dialect = csv.Dialect(delimiter, Numerals(decimal, thousands))
    problems = Problems()
    if _is_folder(path):
        return _read_folder(path, dialect, problems, limits, exact=exact)
    reader = {".toml": toml.read, ".json": json.read}.get(path.suffix.lower())
    if reader is None:
        _check_there(path)
        raise _other_format(path)
    raws = reader(path, problems, as_fractions=exact, limits=limits)
    return build(raws, problems, as_fractions=exact, source=path.as_posix(), limits=limits)


def read_table(
    path: str | os.PathLike[str],
    name: str,
    *,
    exact: bool = False,
    delimiter: str = ",",
    decimal: str = ".",
    thousands: str | None = None,
    limits: Limits = DEFAULT,
) -> Table:
    """Read one table, such as prices or an allocation, and check it by itself.

    Parameters
    ----------
    path
        A ``.csv`` or ``.parquet`` file of any name; a ``.toml`` or ``.json`` file that has the
        table among others, what ``qmopt clear --json`` wrote included; or a folder.
    name
        Of the table in the contract.
    exact, delimiter, decimal, thousands, limits
        As in :func:`read`.

    Raises
    ------
    TableError
        With everything that was found wrong. Whether its teams and resources are those of a
        market is not known here.
    """
    path = Path(path)
    if name not in CONTRACT:
        raise TableError(documents.unknown_table(name))
    dialect = csv.Dialect(delimiter, Numerals(decimal, thousands))
    problems = Problems()
    raw: Raw | None
    if _is_folder(path):
        files = {stem: file for stem, file in table_files(path, problems, limits) if stem == name}
        if name not in files:
            said = f"holds neither {name}.csv nor {name}.parquet"
            raise TableError([Problem(f"{path.as_posix()}/", said)])
        problems, path = Problems(), files[name]
    suffix = path.suffix.lower()
    if suffix == ".csv":
        raw = csv.read(path, name, dialect, problems, limits)
    elif suffix == ".parquet":
        raw = parquet.read(path, name, problems, limits)
    elif suffix in (".toml", ".json"):
        raw = _from_document(path, name, problems, limits, exact=exact)
    else:
        _check_there(path)
        said = f"a table is read from .csv, .parquet, .toml or .json, not {path.suffix or 'this'}"
        raise TableError([Problem(path.as_posix(), said)])
    table = Table(name)
    if raw is not None:
        table = checked(raw, problems, as_fractions=exact, limits=limits)
    if problems:
        raise TableError(problems)
    return table


def _from_document(
    path: Path, name: str, problems: Problems, limits: Limits, *, exact: bool
) -> Raw | None:
    """Return one table of a TOML or JSON file, whatever else it holds."""
    is_toml = path.suffix.lower() == ".toml"
    if is_toml:
        document, text = toml.parse(path, as_fractions=exact, limits=limits)
    else:
        document, text = json.parse(path, problems, as_fractions=exact, limits=limits)
    if name not in document:
        problems.append(Problem(path.as_posix(), f"has no table {name}"))
        return None
    if not is_toml and "schema" in document:
        rows = json.result_rows(document, name)
        return documents.raw_table(name, rows, Place(path.as_posix()), problems, limits)
    one = {name: document[name]}
    found = documents.raw_tables(
        one, path.as_posix(), text, toml=is_toml, problems=problems, limits=limits
    )
    return found[0] if found else None


def _read_folder(
    folder: Path, dialect: csv.Dialect, problems: Problems, limits: Limits, *, exact: bool
) -> Tables:
    raws: dict[str, Raw] = {}
    values, values_at = None, "values"
    for stem, file in table_files(folder, problems, limits):
        if stem in raws or (stem == "values" and values is not None):
            said = f"{stem} is there in two formats; keep one"
            problems.append(Problem(file.as_posix(), said))
        elif stem == "values":
            values, values_at = stored.read(file, limits), file.as_posix()
        elif file.suffix.lower() == ".csv":
            raws[stem] = csv.read(file, stem, dialect, problems, limits)
        else:
            raws[stem] = parquet.read(file, stem, problems, limits)
    source = f"{folder.as_posix()}/"
    if not raws:
        inside = sorted(path.name for path in folder.glob("*") if path.suffix in (".toml", ".json"))
        hint = f"; perhaps {source}{inside[0]} was meant" if inside else ""
        none = Problem(source, f"holds no tables{hint}; {FORMATS}")
        raise TableError([*problems, none], problems.more)
    return build(
        list(raws.values()),
        problems,
        as_fractions=exact,
        values=values,
        source=source,
        values_at=values_at,
        limits=limits,
    )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name that is too long, for one
        raise unreadable(path, error) from error


def _check_there(path: Path) -> None:
    try:
        path.stat()
    except OSError as error:
        raise unreadable(path, error) from error


def _other_format(path: Path) -> TableError:
    said = f"{path.suffix or 'such a file'} is not read; {FORMATS}"
    if path.suffix.lower() == ".csv":
        said += " (read_table reads one table)"
    if path.suffix.lower() in PACKED:
        said += "; unpack it"
    return TableError([Problem(path.as_posix(), said)])
