"""One table at a time: its columns, its cells and its keys, held against the contract."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qmopt.errors import Problem, Problems, TableError
from qmopt.tables.cells import Cells, Numbers, Texts, is_missing
from qmopt.tables.keys import check_keys, check_twins
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.names import bad_characters, spelled
from qmopt.tables.numerals import number_text, rational
from qmopt.tables.schema import CONTRACT, Column, Kind, did_you_mean, is_note
from qmopt.tables.shown import shown
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
    problems: Problems
    rows: set[int] = field(default_factory=set)

    def __call__(self, rows: Sequence[int], message: Callable[[int], str], /) -> None:
        self.rows.update(rows)
        for row in self.problems.fit(rows):
            place = self.where.where(self.table, row, self.column)
            self.problems.append(Problem(place, message(row)))


def checked(raw: Raw, problems: Problems, *, as_fractions: bool, limits: Limits = DEFAULT) -> Table:
    """Return a table whose cells are of their kinds, adding to ``problems`` what is not.

    Parameters
    ----------
    raw
        Of a name in the contract.
    problems
        Appended to; the table returned is fit for use only if nothing was.
    as_fractions
        Hold numbers as rationals.
    limits
        Of rows and of the length of texts.
    """
    spec = CONTRACT[raw.name]
    limits.check("rows", raw.length, raw.place.where(raw.name), "has {} rows")
    known = [column.name for column in spec.columns]
    for name in raw.columns:
        if name not in known and not is_note(name):
            if problems.full:
                problems.more += 1
                continue
            where = raw.place.heading(raw.name)
            closest = did_you_mean(name, known) or f"; its columns are {', '.join(known)}"
            said = f"unknown column {shown(name)}{spelled(name)}{closest}"
            problems.append(Problem(where, said))
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
        content = _convert(column, cells, report, as_fractions=as_fractions, limits=limits)
        if column.required or _filled(content) or report.rows:
            held[column.name] = content
    table = Table(raw.name, raw.length, held, raw.place)
    if held.keys() >= set(spec.required_columns):
        check_keys(spec, table, problems)
        check_twins(spec, table, problems)
    return table


def _convert(
    column: Column, cells: Cells, report: _Reporter, *, as_fractions: bool, limits: Limits
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
    _check_texts(column.kind, texts, report, limits)
    return texts


def _filled(content: Numbers | Texts) -> bool:
    if isinstance(content, np.ndarray):
        return not bool(is_missing(content).all())
    return any(text is not None for text in content)


def _check_filled(missing: NDArray[np.intp], report: _Reporter) -> None:
    unsaid = [row for row in missing.tolist() if row not in report.rows]
    report(unsaid, lambda _: "is missing")


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
    wrong = filled[np.asarray(outside, dtype=np.bool_)].tolist()
    report(wrong, lambda row: f"{shown_number(numbers[row])} {complaint}")


def shown_number(number: object) -> str:
    """Return a number as a message shows it: ``-6`` rather than ``-6.0``."""
    try:
        return number_text(number)  # type: ignore[arg-type]
    except TableError:
        return shown(number)


def _check_texts(kind: Kind, texts: Texts, report: _Reporter, limits: Limits) -> None:
    """Report text that its kind does not allow, looking once at each distinct text."""
    distinct = {text for text in texts if text is not None}
    if _plain(kind, distinct, limits):
        return
    blank = {text for text in distinct if not text.strip()}
    bad = {text for text in distinct - blank if _complaint(kind, text, limits)}
    if not bad and not blank:
        return
    if kind is Kind.ID:
        report([row for row, text in enumerate(texts) if text in blank], lambda _: "is empty")
    wrong = [row for row, text in enumerate(texts) if text in bad]
    report(wrong, lambda row: _complaint(kind, texts[row] or "", limits))
    for row, text in enumerate(texts):
        if text in blank:
            texts[row] = None


def _plain(kind: Kind, texts: set[str], limits: Limits) -> bool:
    """Whether texts are all fine at a glance, as a million names in ASCII are."""
    if kind not in (Kind.ID, Kind.TEXT) or not all(map(str.strip, texts)):
        return False
    joined = "".join(texts)
    least = min(limits.id_length, limits.text_length)
    return joined.isascii() and joined.isprintable() and max(map(len, texts), default=0) <= least


def _complaint(kind: Kind, text: str, limits: Limits) -> str:
    limit = "id_length" if kind is Kind.ID else "text_length"
    if len(text) > getattr(limits, limit):
        return f"{shown(text)} {limits.refusal(limit, len(text), 'has {} characters')}"
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
            return bad_characters(text, in_id=True)
        case _:
            return bad_characters(text, in_id=kind is Kind.ID)
