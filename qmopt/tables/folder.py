"""Which files of a folder are tables of a market, and which only look so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from qmopt.errors import Problem, Problems
from qmopt.tables.documents import unknown_table
from qmopt.tables.limits import Limits
from qmopt.tables.schema import CONTRACT, is_note
from qmopt.tables.text import not_a_file, unreadable

#: Endings of compressed files, which are not read.
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz")
_READ = (".csv", ".parquet", ".npy", ".npz")


def table_files(folder: Path, problems: Problems, limits: Limits) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder that are tables, reporting those that only look so.

    Parameters
    ----------
    folder
        Of one market.
    problems
        Appended to: names that no table has, links out of the folder, what is no file.
    limits
        Of the entries that the folder may have.

    Yields
    ------
    stem, file
        In the order of their names.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, limits.files + 1))
    except OSError as error:
        raise unreadable(folder, error) from error
    limits.check("files", len(names), f"{folder.as_posix()}/", "holds {} files or more")
    for name in names:
        file = folder / name
        # Read-me files, notes and whatever the system left there are none of ours.
        if is_note(name) or name.startswith((".", "README", "LICENSE")):
            continue
        said = _complaint(file)
        if said:
            problems.append(Problem(printed(file), said))
        elif file.suffix.lower() in _READ and file.is_file():
            yield file.stem, file


def printed(file: Path) -> str:
    """Return a path as messages name it, whatever bytes the system keeps it as."""
    return os.fsencode(file).decode("utf-8", "backslashreplace").replace(os.sep, "/")


def _complaint(file: Path) -> str:
    """Say why a file is none of the market's although it looks so."""
    suffix = file.suffix.lower()
    if suffix in PACKED and Path(file.stem).suffix.lower() in (*_READ, ".toml", ".json"):
        return f"{suffix} is not read; unpack it"
    if suffix not in _READ:
        return ""
    if suffix in (".npy", ".npz") and file.stem != "values":
        return f"unknown values {file.name!r}; they are called values{suffix}"
    if suffix in (".csv", ".parquet") and file.stem not in CONTRACT:
        return unknown_table(file.stem)
    here, there = os.path.realpath(file.parent), os.path.realpath(file)
    if os.path.commonpath([here, there]) != here:
        return "is a link out of the folder; copy the file instead"
    try:
        kind = not_a_file(file.stat().st_mode)
    except OSError as error:
        raise unreadable(file, error) from error
    return f"is {kind}, not a file" if kind else ""
