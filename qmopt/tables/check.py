"""One table at a time: its columns, its cells and its keys, held against the contract."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qmopt.errors import LISTED, Problem, TableError
from qmopt.tables.cells import Cells, Numbers, Texts, is_missing
from qmopt.tables.names import bad_characters
from qmopt.tables.numerals import number_text, rational, shown
from qmopt.tables.schema import CONTRACT, Column, Kind, Spec, did_you_mean, is_note
from qmopt.tables.table import NOWHERE, Place, Table


@dataclass(frozen=True)
class Raw:
    """One table as a format gives it, before any check."""

    name: str
    length: int
    columns: Mapping[str, Cells]
    place: Place = NOWHERE


@dataclass(frozen=True)
class _Reporter:
    """Collects what is wrong with one column and remembers the rows."""

    where: Place
    table: str
    column: str
    problems: list[Problem]
    rows: set[int] = field(default_factory=set)

    def __call__(self, row: int, message: str) -> None:
        self.rows.add(row)
        place = self.where.where(self.table, row, self.column)
        self.problems.append(Problem(place, message))


def checked(raw: Raw, problems: list[Problem], *, as_fractions: bool) -> Table:
    """Return a table whose cells are of their kinds, adding to ``problems`` what is not.

    Parameters
    ----------
    raw
        Of a name in the contract.
    problems
        Appended to; the table returned is fit for use only if nothing was.
    as_fractions
        Hold numbers as rationals.
    """
    spec = CONTRACT[raw.name]
    known = [column.name for column in spec.columns]
    for name in raw.columns:
        if name not in known and not is_note(name):
            where = raw.place.heading(raw.name)
            closest = did_you_mean(name, known) or f"; its columns are {', '.join(known)}"
            problems.append(Problem(where, f"unknown column {shown(name)}{closest}"))
    if not raw.length:
        return Table(raw.name, place=raw.place)
    held: dict[str, Numbers | Texts] = {}
    for column in spec.columns:
        cells = raw.columns.get(column.name)
        if cells is None:
            if column.required:
                where = raw.place.heading(raw.name, column.name)
                problems.append(Problem(where, "the column is missing"))
            continue
        report = _Reporter(raw.place, raw.name, column.name, problems)
        content = _convert(column, cells, report, as_fractions=as_fractions)
        if column.required or _filled(content) or report.rows:
            held[column.name] = content
    table = Table(raw.name, raw.length, held, raw.place)
    if held.keys() >= set(spec.required_columns):
        _check_keys(spec, table, problems)
    return table


def _convert(
    column: Column, cells: Cells, report: _Reporter, *, as_fractions: bool
) -> Numbers | Texts:
    """Convert one column and check each cell by its kind."""
    if column.kind.numeric:
        numbers = cells.numbers(report, as_fractions=as_fractions)
        if numbers.dtype != object:
            numbers = numbers + 0.0  # a negative zero is a zero
        _check_range(column.kind, numbers, report)
        if column.required:
            _check_filled(np.flatnonzero(is_missing(numbers)), report)
        numbers.setflags(write=False)
        return numbers
    texts = cells.numerals(report) if column.kind is Kind.RATIONAL else cells.texts(report)
    if column.required and None in texts:
        missing = [row for row, text in enumerate(texts) if text is None]
        _check_filled(np.array(missing), report)
    if column.kind is Kind.TEXT and any(text is not None and "\r" in text for text in texts):
        # Whatever ended the lines of a longer text, "\n" ends them here.
        texts = [text and text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
    _check_texts(column.kind, texts, report)
    return texts


def _filled(content: Numbers | Texts) -> bool:
    if isinstance(content, np.ndarray):
        return not bool(is_missing(content).all())
    return any(text is not None for text in content)


def _check_filled(missing: NDArray[np.intp], report: _Reporter) -> None:
    for row in missing.tolist():
        if row not in report.rows:
            report(row, "is missing")


def _check_range(kind: Kind, numbers: Numbers, report: _Reporter) -> None:
    """Report numbers outside what their kind allows."""
    if kind is Kind.NUMBER:
        return
    filled = np.flatnonzero(~is_missing(numbers))
    held = numbers[filled]
    if kind is Kind.COUNT:
        outside, complaint = (held < 1) | (held % 1 != 0), "is not a whole number from 1 up"
    elif kind is Kind.POSITIVE:
        outside, complaint = held <= 0, "is not above 0"
    else:
        outside, complaint = held < 0, "is negative"
    for row in filled[np.asarray(outside, dtype=np.bool_)].tolist():
        report(row, f"{shown_number(numbers[row])} {complaint}")


def shown_number(number: object) -> str:
    """Return a number as a message shows it: ``-6`` rather than ``-6.0``."""
    try:
        return number_text(number)  # type: ignore[arg-type]
    except TableError:
        return shown(number)


def _check_texts(kind: Kind, texts: Texts, report: _Reporter) -> None:
    """Report text that its kind does not allow, looking once at each distinct text."""
    complaints: dict[str, str] = {}
    blank: set[str] = set()
    for text in dict.fromkeys(texts):
        if text is None:
            continue
        if not text.strip():
            blank.add(text)
        elif complaint := _complaint(kind, text):
            complaints[text] = complaint
    if not complaints and not blank:
        return
    for row, text in enumerate(texts):
        if text is None:
            continue
        if text in complaints:
            report(row, complaints[text])
        elif text in blank:
            texts[row] = None
            if kind is Kind.ID:
                report(row, "is empty")


def _complaint(kind: Kind, text: str) -> str:
    match kind:
        case Kind.RATIONAL:
            try:
                return f"{shown(text)} is negative" if rational(text) < 0 else ""
            except TableError as error:
                return str(error)
        case Kind.DATE:
            try:
                datetime.datetime.fromisoformat(text)
            except ValueError:
                return f"{shown(text)} is not an ISO 8601 date such as '2026-03-01T18:00'"
            return ""
        case _:
            return bad_characters(text, in_id=kind is Kind.ID)


def _check_keys(spec: Spec, table: Table, problems: list[Problem]) -> None:
    """Report rows whose key an earlier row has."""
    if not spec.key:
        if len(table) > 1:
            problems.append(Problem(table.where(), f"has {len(table)} rows; it has one"))
        return
    columns = {name: _key_column(table, name) for name in spec.key}
    first, again = repeated(list(columns.values()))
    for count, (row, earlier) in enumerate(zip(again.tolist(), first.tolist(), strict=True)):
        parts = {name: column[row] for name, column in columns.items()}
        if any(not parts[name] for name in spec.key if name != "workload"):
            continue  # reported already as missing
        place, seen = table.where(row), ""
        if count < LISTED:
            seen = f"; the first is {table.where(earlier)}"
        said = ", ".join(f"{name} {shown(part)}" for name, part in parts.items() if part)
        problems.append(Problem(place, f"{said} is there twice{seen}"))


def _key_column(table: Table, name: str) -> Texts:
    return [*table.options()] if name == "option" else table.texts(name)


def repeated(columns: list[Texts]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find rows that repeat an earlier one.

    Parameters
    ----------
    columns
        Each of the same length.

    Returns
    -------
    first, again : numpy.ndarray
        Pairs of rows with equal cells: the earliest, and one that repeats it.

    Examples
    --------
    >>> repeated([["a", "a", "b", "a"], ["x", "y", "x", "x"]])
    (array([0]), array([3]))
    """
    codes, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        index = {text: code for code, text in enumerate(dict.fromkeys(column))}
        fresh = np.fromiter(map(index.__getitem__, column), np.int64, len(column))
        if size * len(index) >= 2**62:  # number the pairs afresh before they overflow
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
            size = len(codes)
        codes, size = codes * len(index) + fresh, size * len(index)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    owner = order[np.repeat(starts, np.diff(np.r_[starts, len(order)]))]
    late = owner != order
    by_row = np.argsort(order[late], kind="stable")
    return owner[late][by_row], order[late][by_row]
