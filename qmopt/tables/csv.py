"""One table as a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np

from qmopt.errors import Problem, TableError
from qmopt.tables.cells import TextCells, is_missing
from qmopt.tables.check import Raw
from qmopt.tables.numerals import PLAIN, Numerals, number_text, shown
from qmopt.tables.schema import CONTRACT, is_note
from qmopt.tables.table import Lines, Place, Table
from qmopt.tables.text import read_text, replace_file

#: Rows that are held as rows at a time: few enough to stay in the processor's cache.
_AT_ONCE = 256


class Reader(Protocol):
    """The standard library's reader, whose own type has no public name."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


@dataclass(frozen=True)
class Dialect:
    """How a CSV file writes its cells and numbers.

    Parameters
    ----------
    delimiter
        One character between cells.
    marks
        Of its numbers.
    """

    delimiter: str = ","
    marks: Numerals = PLAIN

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n':
            raise TableError(
                f"delimiter={self.delimiter!r}: it is one character such as ',' or ';'"
            )


def read(path: Path, name: str, dialect: Dialect, problems: list[Problem]) -> Raw:
    """Return the table of a CSV file, unchecked.

    Rows without content are passed over. A row that is longer or shorter than the header is a
    problem.
    """
    file = path.as_posix()
    text = read_text(path)
    first, header = _header(text, dialect.delimiter)
    if len(header) == 1 and (other := _other_delimiter(name, header[0], dialect.delimiter)):
        said = f"the header is one column, {shown(header[0])}; declare delimiter={other!r}"
        problems.append(Problem(f"{file} line {first}", said))
        # Read on as if declared, to show in one go whatever else is wrong.
        dialect = Dialect(other, dialect.marks)
        first, header = _header(text, other)
    _check_header(header, f"{file} line {first}", problems)
    columns, lines = _columns(text, len(header), first, dialect.delimiter, problems, (file, name))
    cells: dict[str, TextCells] = {}
    for title, column in zip(header, columns, strict=True):
        if title and not is_note(title):
            cells.setdefault(title, TextCells(column, dialect.marks))
    return Raw(name, len(lines), cells, Place(file, lines, first))


def _header(text: str, delimiter: str) -> tuple[int, list[str]]:
    """Return the line on which the header ends, and its names without padding or quotes."""
    # Not strict, for a padded quoted name is no CSV; what is meant is plain all the same.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                return reader.line_num, [cell.strip().strip('"').strip() for cell in row]
    except csv.Error:
        return 1, []
    return 1, []


def _other_delimiter(name: str, header: str, delimiter: str) -> str:
    """Return the delimiter that makes a header out of one cell, or an empty text."""
    known = {column.name for column in CONTRACT[name].columns}
    for other in (";", "\t", "|", ","):
        titles = [title.strip().strip('"') for title in header.split(other)]
        if other != delimiter and len(titles) > 1 and known & set(titles):
            return other
    return ""


def _check_header(header: list[str], where: str, problems: list[Problem]) -> None:
    if not header:
        problems.append(Problem(where, "there is no header"))
    for number, title in enumerate(header):
        if not title:
            problems.append(Problem(where, f"column {number + 1} has no name"))
        elif title in header[:number]:
            problems.append(Problem(where, f"the column {shown(title)} is there twice"))


def _columns(
    text: str,
    width: int,
    header_ends: int,
    delimiter: str,
    problems: list[Problem],
    named: tuple[str, str],
) -> tuple[list[list[str]], Lines]:
    """Return the columns under a header, and the line of each row."""
    columns: list[list[str]] = [[] for _ in range(width)]
    lines: list[int] = []
    stream = io.StringIO(text, newline="")
    for _ in range(header_ends):
        stream.readline()
    # Without a quote in the file, every row is a line.
    chunks = _quoted_rows if '"' in text else _plain_rows
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    try:
        for rows, starts in chunks(reader):
            at = [header_ends + start for start in starts]
            if set(map(len, rows)) != {width} or not all(map(any, rows)):
                rows, at = _mended(rows, at, width, problems, (*named, len(lines)))
            for number, column in enumerate(columns):
                column.extend(map(itemgetter(number), rows))
            lines.extend(at)
    except csv.Error as error:
        where = f"{named[0]} line {header_ends + reader.line_num}"
        problems.append(Problem(where, f"is not CSV, perhaps a quote stands open: {error}"))
    return columns, np.array(lines, dtype=np.int64)


def _plain_rows(reader: Reader) -> Iterator[tuple[list[list[str]], Sequence[int]]]:
    """Yield rows in bulk, and their lines counted from the reader's start."""
    while True:
        before = reader.line_num + 1
        rows = list(islice(reader, _AT_ONCE))
        if not rows:
            return
        yield rows, range(before, before + len(rows))


def _quoted_rows(reader: Reader) -> Iterator[tuple[list[list[str]], Sequence[int]]]:
    """Yield the same where a cell may hold a line end, so that lines are counted row by row."""
    ended, more = 0, True
    while more:
        rows, starts = [], []
        for row in islice(reader, _AT_ONCE):
            rows.append(row)
            starts.append(ended + 1)
            ended = reader.line_num
        more = bool(rows)
        yield rows, starts


def _mended(
    rows: list[list[str]],
    lines: list[int],
    width: int,
    problems: list[Problem],
    named: tuple[str, str, int],
) -> tuple[list[list[str]], list[int]]:
    """Leave out blank rows; report rows of another width and bring them to it."""
    file, name, count = named
    kept: list[list[str]] = []
    at: list[int] = []
    for row, line in zip(rows, lines, strict=True):
        if not any(map(str.strip, row)):
            continue
        if len(row) != width:
            place = Place(file).where(name, count + len(kept))
            where = place.replace(f"{file},", f"{file} line {line},", 1)
            cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            said = f"has {cells}, and the header has {width}"
            problems.append(Problem(where, said))
        kept.append([*row, *[""] * (width - len(row))][:width])
        at.append(line)
    return kept, at


def write(table: Table, path: Path) -> None:
    """Write a table as CSV: UTF-8, commas, points, a missing cell empty."""
    header = table.columns or CONTRACT[table.name].required_columns
    columns: list[list[str]] = []
    for cells in table.cells.values():
        if isinstance(cells, np.ndarray):
            missing = is_missing(cells).tolist()
            pairs = zip(cells.tolist(), missing, strict=True)
            columns.append(["" if no else number_text(number) for number, no in pairs])
        else:
            columns.append([text or "" for text in cells])

    def draft(to: Path) -> None:
        with to.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(zip(*columns, strict=True))

    replace_file(path, draft)
