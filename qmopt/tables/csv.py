"""One table as a CSV file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.cells import TextCells, is_missing
from qmopt.tables.check import Raw
from qmopt.tables.limits import Limits
from qmopt.tables.numerals import PLAIN, Numerals, number_text
from qmopt.tables.schema import CONTRACT, is_note
from qmopt.tables.shown import shown
from qmopt.tables.table import Place, Table
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


def read(path: Path, name: str, dialect: Dialect, problems: Problems, limits: Limits) -> Raw:
    """Return the table of a CSV file, unchecked.

    Rows without content are passed over. A row that is longer or shorter than the header is a
    problem.
    """
    file = path.as_posix()
    text = read_text(path, limits, "file_mib")
    first, header = _header(text, dialect.delimiter, limits, file)
    if len(header) == 1 and (other := _other_delimiter(name, header[0], dialect.delimiter)):
        said = f"the header is one column, {shown(header[0])}; declare delimiter={other!r}"
        problems.append(Problem(f"{file} line {first}", said))
        # Read on as if declared, to show in one go whatever else is wrong.
        dialect = Dialect(other, dialect.marks)
        first, header = _header(text, other, limits, file)
    _check_header(header, f"{file} line {first}", problems)
    stream = io.StringIO(text, newline="")
    for _ in range(first):
        stream.readline()
    bounded = _bounded(stream, dialect.delimiter, limits, file, first)
    reader = csv.reader(bounded, delimiter=dialect.delimiter, strict=True)
    # Without a quote in the file, every row is a line.
    chunks = _quoted_rows(reader) if '"' in text else _plain_rows(reader)
    table = _Growing(name, file, first, [[] for _ in header], limits)
    try:
        for rows, starts in chunks:
            table.add(rows, [first + start for start in starts], problems)
    except csv.Error as error:
        where = f"{file} line {first + reader.line_num}"
        problems.append(Problem(where, f"is not CSV, perhaps a quote stands open: {error}"))
    cells: dict[str, TextCells] = {}
    for title, column in zip(header, table.columns, strict=True):
        if title and not is_note(title):
            cells.setdefault(title, TextCells(column, dialect.marks, limits))
    lines = np.array(table.lines, dtype=np.int64)
    return Raw(name, len(lines), cells, Place(file, lines, first))


def _bounded(
    lines: Iterable[str], delimiter: str, limits: Limits, file: str, passed: int = 0
) -> Iterator[str]:
    """Yield lines, none of which makes more cells than a row may have."""
    most = limits.columns
    quoted = re.compile(f'(?:^|(?<={re.escape(delimiter)}))"[^"]*"')
    for line in lines:
        passed += 1
        if line.count(delimiter) >= most:
            cells = quoted.sub("", line).count(delimiter) + 1
            limits.check("columns", cells, f"{file} line {passed}", "has {} cells")
        yield line


def _header(text: str, delimiter: str, limits: Limits, file: str) -> tuple[int, list[str]]:
    """Return the line on which the header ends, and its names without padding or quotes."""
    # Not strict, for a padded quoted name is no CSV; what is meant is plain all the same.
    lines = _bounded(io.StringIO(text, newline=""), delimiter, limits, file)
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                return reader.line_num, [cell.strip().strip('"').strip() for cell in row]
    except csv.Error as error:
        said = f"the header is not CSV, perhaps a quote stands open: {error}"
        raise TableError([Problem(f"{file} line {max(1, reader.line_num)}", said)]) from error
    return 1, []


def _other_delimiter(name: str, header: str, delimiter: str) -> str:
    """Return the delimiter that makes a header out of one cell, or an empty text."""
    known = {column.name for column in CONTRACT[name].columns}
    for other in (";", "\t", "|", ","):
        titles = [title.strip().strip('"') for title in header.split(other)]
        if other != delimiter and len(titles) > 1 and known & set(titles):
            return other
    return ""


def _check_header(header: list[str], where: str, problems: Problems) -> None:
    if not header:
        problems.append(Problem(where, "there is no header"))
    for number, title in enumerate(header):
        if not title:
            problems.append(Problem(where, f"column {number + 1} has no name"))
        elif title in header[:number]:  # at most as many as the limit of columns
            problems.append(Problem(where, f"the column {shown(title)} is there twice"))


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


@dataclass(frozen=True)
class _Growing:
    """The columns of a table while its rows come in, and the line of each row."""

    name: str
    file: str
    header_ends: int
    columns: list[list[str]]
    limits: Limits
    lines: list[int] = field(default_factory=list)

    def add(self, rows: list[list[str]], at: list[int], problems: Problems) -> None:
        """Append rows, all of the header's width in the end."""
        width = len(self.columns)
        if set(map(len, rows)) != {width} or not all(map(any, rows)):
            rows, at = self._mended(rows, at, problems)
        for number, column in enumerate(self.columns):
            column.extend(map(itemgetter(number), rows))
        self.lines.extend(at)
        where = f"{self.file}, {self.name}"
        self.limits.check("rows", len(self.lines), where, "has {} rows or more")
        self.limits.check("cells", len(self.lines) * width, where, "has {} cells or more")

    def _mended(
        self, rows: list[list[str]], lines: list[int], problems: Problems
    ) -> tuple[list[list[str]], list[int]]:
        """Leave out blank rows; report rows of another width and bring them to it."""
        width = len(self.columns)
        filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
        kept = [rows[number] for number in filled]
        at = [lines[number] for number in filled]
        wrong = [number for number, row in enumerate(kept) if len(row) != width]
        for number in problems.fit(wrong):
            place = Place(self.file).where(self.name, len(self.lines) + number)
            where = place.replace(f"{self.file},", f"{self.file} line {at[number]},", 1)
            count = len(kept[number])
            cells = "1 cell" if count == 1 else f"{count} cells"
            problems.append(Problem(where, f"has {cells}, and the header has {width}"))
        for number in wrong:
            row = kept[number]
            kept[number] = [*row, *[""] * (width - len(row))][:width]
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
