"""Cells of one column, as a format gives them, turned into numbers or text.

Three kinds of cells, one face: text from CSV, Python objects from TOML, JSON and frames, and (in
arrays.py) typed arrays from Parquet and frames. Each tries its whole column at once and walks it
cell by cell only when something is missing or wrong. A missing cell is nan among numbers and None
among text; what is wrong is reported, and then held as missing.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qmopt.errors import TableError
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.numerals import (
    PLAIN,
    TOO_LARGE,
    TOO_SMALL,
    Numerals,
    exact,
    floating,
    number_text,
    vanishes,
)
from qmopt.tables.shown import Refused, shown

Numbers = NDArray[Any]  # float64, or object holding Fractions and nan
Texts = list[str | None]


class Report(Protocol):
    """Takes the rows that are wrong, all at once, and says what is wrong with one of them."""

    def __call__(self, rows: Sequence[int], message: Callable[[int], str], /) -> None:
        """Report rows; ``message`` is only called for those that will be listed."""
        ...


class Cells(Protocol):
    """One column as read."""

    def __len__(self) -> int: ...

    def numbers(self, report: Report, *, as_fractions: bool) -> Numbers:
        """Return shape (rows,): float64, or Fractions in an object array."""
        ...

    def texts(self, report: Report) -> Texts:
        """Return the rows' text, as it stands."""
        ...

    def numerals(self, report: Report) -> Texts:
        """Return text that writes a number or a fraction, numbers turned into text."""
        ...


@dataclass(frozen=True)
class TextCells:
    """Cells of a CSV file: all text, an empty one is missing."""

    cells: list[str]
    marks: Numerals
    limits: Limits = DEFAULT

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self, report: Report, *, as_fractions: bool) -> Numbers:
        """Return the numbers that the cells write."""
        cells = list(map(str.strip, self.cells))
        longest = max(map(len, cells), default=0)
        if (
            not as_fractions
            and longest <= self.limits.number_length
            and all(map(self.marks.pattern.fullmatch, cells))
        ):
            plain = cells if self.marks == PLAIN else list(map(self.marks.normal, cells))
            numbers = np.fromiter(map(float, plain), np.float64, len(plain))
            zeros = np.flatnonzero(numbers == 0).tolist()
            if np.isfinite(numbers).all() and not any(vanishes(plain[row]) for row in zeros):
                return numbers
        convert = exact if as_fractions else floating
        out = blank(len(cells), as_fractions)
        wrong: list[int] = []
        for row, cell in enumerate(cells):
            plain_cell = self.marks.plain(cell) if cell else ""
            number = convert(plain_cell, self.limits) if plain_cell else plain_cell
            if number is None or isinstance(number, Refused):
                wrong.append(row)
            elif number != "":
                out[row] = number

        def message(row: int) -> str:
            cell = cells[row]
            plain_cell = self.marks.plain(cell)
            number = convert(plain_cell, self.limits) if plain_cell else None
            if isinstance(number, Refused):
                return f"{shown(number)} {number.why}"
            return f"{shown(cell)} is not a number{self.marks.hint(cell)}"

        report(wrong, message)
        return out

    def texts(self, report: Report) -> Texts:
        """Return the cells as they stand, None where there is nothing but blanks."""
        shared: dict[str, str] = {}  # equal cells become one object: less memory, one hash
        cells = list(map(shared.setdefault, self.cells, self.cells))
        if all(map(str.strip, shared)):
            return [*cells]
        return [cell if cell.strip() else None for cell in cells]

    def numerals(self, report: Report) -> Texts:
        """Return the cells with their decimal marks made plain."""
        stripped = (cell.strip() for cell in self.cells)
        return [(self.marks.plain(cell) or cell) if cell else None for cell in stripped]


@dataclass(frozen=True)
class ObjectCells:
    """Cells as Python objects; None and nan are missing."""

    cells: Sequence[object]

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self, report: Report, *, as_fractions: bool) -> Numbers:
        """Return the numbers that the cells are."""
        if not as_fractions and set(map(type, self.cells)) <= {int, float}:
            try:
                numbers = np.fromiter(self.cells, np.float64, len(self.cells))  # type: ignore[arg-type]
            except OverflowError:
                numbers = np.array([math.inf])
            if np.isfinite(numbers).all():
                return numbers
        out = blank(len(self.cells), as_fractions)
        convert = _fraction if as_fractions else _float
        wrong: list[int] = []
        for row, cell in enumerate(self.cells):
            if is_none(cell):
                continue
            number = convert(cell)
            if isinstance(number, Refused):
                wrong.append(row)
            else:
                out[row] = number
        report(wrong, self._why)
        return out

    def _why(self, row: int) -> str:
        """Say why a cell is no number."""
        number = _float(self.cells[row])
        number = number if isinstance(number, Refused) else _fraction(self.cells[row])
        return f"{shown(self.cells[row])} {number.why if isinstance(number, Refused) else ''}"

    def texts(self, report: Report) -> Texts:
        """Return the cells that are text; a number is reported, for it may have lost zeros."""
        if set(map(type, self.cells)) <= {str}:
            return [*self.cells]  # type: ignore[list-item]
        out: Texts = [None] * len(self.cells)
        wrong: list[int] = []
        for row, cell in enumerate(self.cells):
            if is_none(cell):
                continue
            if isinstance(cell, str):
                out[row] = str(cell)
            elif isinstance(cell, datetime.date):
                out[row] = cell.isoformat()
            else:
                wrong.append(row)

        def message(row: int) -> str:
            cell = self.cells[row]
            number = isinstance(cell, Real) and not isinstance(cell, bool | np.bool_)
            kind = "a number" if number else "not text"
            return f"{shown(_python(cell))} is {kind}; text goes in quotes"

        report(wrong, message)
        return out

    def numerals(self, report: Report) -> Texts:
        """Return numbers and fractions as text."""
        out: Texts = [None] * len(self.cells)
        wrong: list[int] = []
        for row, cell in enumerate(self.cells):
            if is_none(cell):
                continue
            number = str(cell) if isinstance(cell, str) else _fraction(cell)
            if isinstance(number, Refused):
                wrong.append(row)
            elif isinstance(number, str):
                out[row] = number
            else:
                out[row] = _written(float(cell) if isinstance(cell, float) else number)
        report(wrong, self._why)
        return out


def is_missing(numbers: Numbers) -> NDArray[np.bool_]:
    """Return where a column of numbers has no cell, shape (rows,); Fractions allowed."""
    return np.asarray(numbers != numbers, dtype=np.bool_)  # nan is not itself


def blank(rows: int, as_fractions: bool) -> Numbers:
    """Return a column of missing numbers, shape (rows,)."""
    return np.full(rows, math.nan, dtype=object if as_fractions else np.float64)


def is_none(cell: object) -> bool:
    """Whether a cell is missing: None or nan."""
    return cell is None or (isinstance(cell, float | np.floating) and bool(cell != cell))


def _written(number: float | Fraction) -> str:
    """Return a number as a decimal where it has one, else as a fraction."""
    try:
        return number_text(number)
    except TableError:
        return str(number)


def _python(cell: object) -> object:
    """Return a NumPy scalar as the Python object that prints without its type."""
    return cell.item() if isinstance(cell, np.generic) else cell


def _float(cell: object) -> float | Refused:
    if type(cell) is float and math.isfinite(cell):
        return cell
    number = _fraction(cell)
    return number if isinstance(number, Refused) else float(number)


def _in_range(number: Fraction) -> Fraction | Refused:
    """Return a number whose nearest double is finite, and 0 only if it is."""
    try:
        nearest = float(number)
    except OverflowError:
        return Refused("", TOO_LARGE)
    return Refused("", TOO_SMALL) if nearest == 0 and number else number


def _fraction(cell: object) -> Fraction | Refused:
    """Return what a cell is, exactly, or why it is no number."""
    cell = _python(cell)
    match cell:
        case Refused():
            return cell
        case bool():
            return Refused("", "is not a number")
        case str():
            return Refused("", "is text, not a number; a number goes without quotes")
        case Rational():
            return _in_range(Fraction(int(cell.numerator), int(cell.denominator)))
        case float() | Decimal() if not math.isfinite(cell):
            return Refused("", "is not a finite number")
        case Decimal():
            return exact(str(cell))
        case float():
            return Fraction(cell)
        case _:
            return Refused("", "is not a number")
