"""Rows as a document and as files, with what they were measured by."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qmopt import results
from qmopt.bench.profile import profile
from qmopt.bench.row import Row, machine, versions
from qmopt.errors import TableError

SCHEMA = 1
#: What :func:`write` writes.
FILES = ("results.json", "results.csv")
#: Ratios to the best time at which the document states a profile.
RATIOS = (1, 2, 5, 10, 100)
#: Residuals at which it does.
LEVELS = (1e-3, 1e-6, 1e-9)


def document(rows: Sequence[Row], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return one JSON document of a benchmark.

    Parameters
    ----------
    rows
        Measured and published ones.
    options
        How it was run: tolerance, time limit, repeats, the command.

    Examples
    --------
    >>> row = Row("", "mine", 2, 2, "A", "certified", seconds=1.0, worst=0.0, versions="-")
    >>> told = document([row], {"tolerance": 1e-9})
    >>> list(told), told["rows"][0]["seconds"], told["profiles"][0]["solved"]
    (['schema', 'options', 'versions', 'machine', 'profiles', 'rows'], 1.0, {'A': 1})
    """
    shown = [dataclasses.asdict(row) for row in rows]
    for row in shown:  # an infinite residual is said, as in every document
        for name in ("gap", "worst"):
            if row[name] in (float("inf"), float("-inf")):
                row[name] = str(row[name])
    return {
        "schema": SCHEMA,
        "options": dict(options),
        "versions": versions(),
        "machine": machine(),
        "profiles": [_profile(rows, level) for level in LEVELS],
        "rows": shown,
    }


def _profile(rows: Sequence[Row], tolerance: float) -> dict[str, Any]:
    found = profile(rows, tolerance=tolerance)
    return {
        "residual": tolerance,
        "markets": found.markets,
        "solved": {name: int((r < float("inf")).sum()) for name, r in found.ratios.items()},
        "within": {
            name: {str(ratio): found.share(name, ratio) for ratio in RATIOS}
            for name in found.ratios
        },
    }


def refuse_foreign(folder: Path) -> None:
    """Raise if a folder is a file, or holds files of our names that no benchmark of ours explains.

    Raises
    ------
    TableError
        That names the folder.
    """
    if folder.exists() and not folder.is_dir():
        raise TableError(f"{folder}: not a folder")
    held = [name for name in FILES if (folder / name).exists()]
    if held and not _ours(folder / FILES[0]):
        raise TableError(f"{folder} holds {held[0]}, which qmopt did not write; choose another")


def _ours(path: Path) -> bool:
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and {"schema", "profiles", "rows"} <= told.keys()


def write(rows: Sequence[Row], options: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write results.json and results.csv, and return their paths.

    Raises
    ------
    TableError
        As :func:`refuse_foreign`.
    """
    refuse_foreign(folder)
    folder.mkdir(parents=True, exist_ok=True)
    told = document(rows, options)
    table = io.StringIO()
    names = [field.name for field in dataclasses.fields(Row)]
    writer = csv.DictWriter(table, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.plain(told["rows"]))
    texts = (results.dumps(told) + "\n", table.getvalue())
    paths = [folder / name for name in FILES]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="")
    return paths
