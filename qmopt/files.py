"""Answers as files, for spreadsheets and for measuring again.

``prices.csv`` and ``allocation.csv`` have the columns of the input tables of these names and
numbers that read back to the same bits, so that ``qmopt certify`` takes them as they are. That is
also why names stand in them unchanged, even one such as ``=1+1`` that a spreadsheet would compute.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qmopt import results
from qmopt.errors import TableError
from qmopt.tables.schema import CONTRACT

if TYPE_CHECKING:
    from qmopt.equilibrium import Equilibrium

#: What :func:`write` writes, the marker last: where it is complete, so are the others.
FILES = ("prices.csv", "allocation.csv", "team_results.csv", "result.json")
#: A folder that holds one of these is somebody's market.
MARKET_FILES = ("resources", "teams", "bids", "market", "workloads", "pools", "guarantees")


def refuse_foreign(folder: str | Path) -> Path:
    """Return the folder for results, or raise if writing there could harm something.

    Raises
    ------
    TableError
        If it is a file, a market, or holds files of our names that no earlier result explains.
    """
    folder = Path(folder)
    if not folder.exists():
        return folder
    if not folder.is_dir():
        raise TableError(f"{folder}: not a folder")
    held = {path.name for path in folder.iterdir()}
    for path in sorted(held):
        stem, _, suffix = path.partition(".")
        if stem in MARKET_FILES and suffix in ("csv", "parquet", "toml", "json"):
            raise TableError(f"{folder} is a market folder ({path}); choose another for results")
    ours = sorted(held & set(FILES))
    if ours and not _is_result(folder / "result.json"):
        raise TableError(
            f"{folder} holds {', '.join(ours)}, which qmopt did not write; choose another folder"
        )
    return folder


def _is_result(path: Path) -> bool:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and {"schema", "status", "certificate"} <= document.keys()


def write(found: Equilibrium, folder: str | Path) -> list[Path]:
    """Write result.json, prices.csv, allocation.csv and team_results.csv into a folder.

    Each file appears whole or not at all, and result.json last. Earlier results of ours there are
    replaced; anything else is left alone, or refused as :func:`refuse_foreign` says.

    Returns
    -------
    list of Path
        The four files.
    """
    folder = refuse_foreign(folder)
    folder.mkdir(parents=True, exist_ok=True)
    market, document = found.market, results.to_json(found)
    shown = found.columns()
    priced = [(g, p) for g, p in document["prices"].items() if not np.isnan(p)]
    columns = [c.name for c in CONTRACT["allocation"].columns if c.name in shown["allocation"]]
    held = [[row[name] for name in columns] for row in document["allocation"]]
    teams = results.rows(shown["teams"])
    head = [*teams[0], "excluded"]
    told = [[*row.values(), market.excluded_buyers.get(row["team"], "")] for row in teams]
    texts = (
        _csv(("resource", "price"), priced),
        _csv(columns, held),
        _csv(head, told),
        results.dumps(document) + "\n",
    )
    written = [folder / name for name in FILES]
    drafts = [path.with_name(f".{path.name}.{os.getpid()}") for path in written]
    try:
        for draft, text in zip(drafts, texts, strict=True):
            draft.write_text(text, encoding="utf-8", newline="")
        for draft, path in zip(drafts, written, strict=True):
            draft.replace(path)
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
    return written


def record_failure(error: Exception, folder: str | Path) -> None:
    """Say in an earlier result.json that the latest run failed, so that nobody takes it for that.

    The other files stay; nothing is written where there was no result before.
    """
    marker = Path(folder) / "result.json"
    if marker.exists():
        draft = marker.with_name(f".{marker.name}.{os.getpid()}")
        draft.write_text(results.dumps(results.failure(error)) + "\n", encoding="utf-8")
        draft.replace(marker)


def _csv(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write floats by their shortest exact text; a number that is not defined is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow("" if isinstance(c, float) and not np.isfinite(c) else c for c in row)
    return text.getvalue()
