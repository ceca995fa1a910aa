"""Cells of one column, as a format gives them, turned into numbers or text.

Three kinds of cells, one face: text from CSV, Python objects from TOML, JSON and frames, and typed
arrays from Parquet and frames. Each tries its whole column at once and walks it cell by cell only
when something is missing or wrong. A missing cell is nan among numbers and None among text; what
is wrong is reported, and then held as missing.
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
from qmopt.tables.numerals import PLAIN, Numerals, Refused, exact, floating, number_text, shown

Numbers = NDArray[Any]  # float64, or object holding Fractions and nan
Texts = list[str | None]
Report = Callable[[int, str], None]


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

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self, report: Report, *, as_fractions: bool) -> Numbers:
        """Return the numbers that the cells write."""
        cells = list(map(str.strip, self.cells))
        if not as_fractions and all(map(self.marks.pattern.fullmatch, cells)):
            plain = cells if self.marks == PLAIN else list(map(self.marks.normal, cells))
            numbers = np.fromiter(map(float, plain), np.float64, len(plain))
            if np.isfinite(numbers).all():
                return numbers
        convert = exact if as_fractions else floating
        out = _blank(len(cells), as_fractions)
        for row, cell in enumerate(cells):
            if not cell:
                continue
            plain_cell = self.marks.plain(cell)
            if plain_cell is None:
                report(row, f"{shown(cell)} is not a number{self.marks.hint(cell)}")
                continue
            number = convert(plain_cell)
            if isinstance(number, Refused):
                report(row, f"{shown(number)} {number.why}")
            else:
                out[row] = number
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
        out = _blank(len(self.cells), as_fractions)
        for row, cell in enumerate(self.cells):
            if _missing(cell):
                continue
            number = _fraction(cell) if as_fractions else _float(cell)
            if isinstance(number, Refused):
                report(row, f"{shown(cell)} {number.why}")
            else:
                out[row] = number
        return out

    def texts(self, report: Report) -> Texts:
        """Return the cells that are text; a number is reported, for it may have lost zeros."""
        if set(map(type, self.cells)) <= {str}:
            return [*self.cells]  # type: ignore[list-item]
        out: Texts = [None] * len(self.cells)
        for row, cell in enumerate(self.cells):
            if _missing(cell):
                continue
            if isinstance(cell, str):
                out[row] = str(cell)
            elif isinstance(cell, datetime.date):
                out[row] = cell.isoformat()
            elif isinstance(cell, Real) and not isinstance(cell, bool | np.bool_):
                report(row, f"{shown(_python(cell))} is a number; text goes in quotes")
            else:
                report(row, f"{shown(_python(cell))} is not text; text goes in quotes")
        return out

    def numerals(self, report: Report) -> Texts:
        """Return numbers and fractions as text."""
        out: Texts = [None] * len(self.cells)
        for row, cell in enumerate(self.cells):
            if _missing(cell):
                continue
            number = str(cell) if isinstance(cell, str) else _fraction(cell)
            if isinstance(number, Refused):
                report(row, f"{shown(cell)} {number.why}")
            elif isinstance(number, str):
                out[row] = number
            else:
                out[row] = _written(float(cell) if isinstance(cell, float) else number)
        return out


@dataclass(frozen=True)
class ArrayCells:
    """A typed array of integers or floats, shape (rows,); nan is missing."""

    cells: NDArray[Any]

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self, report: Report, *, as_fractions: bool) -> Numbers:
        """Return the array as float64, or each number as the rational that it is."""
        numbers = np.array(self.cells, dtype=np.float64)
        for row in np.flatnonzero(np.isinf(numbers)):
            report(int(row), f"{shown(float(numbers[row]))} is not a finite number")
            numbers[row] = math.nan
        if not as_fractions:
            return numbers
        out = _blank(len(numbers), as_fractions)
        held = numbers if self.cells.dtype.kind == "f" else self.cells
        for row in np.flatnonzero(~np.isnan(numbers)):
            out[row] = Fraction(held[row].item())
        return out

    def texts(self, report: Report) -> Texts:
        """Report the first cell that is not missing: none is text."""
        cells: Texts = [None if _missing(cell) else str(cell) for cell in self.cells.tolist()]
        row = next((row for row, cell in enumerate(cells) if cell is not None), None)
        if row is not None:
            said = "is a number in a column of text, where zeros and digits may be lost already"
            report(row, f"{cells[row]} {said}; read or make the column with dtype=str")
        return cells

    def numerals(self, report: Report) -> Texts:
        """Return the numbers as text."""
        return ObjectCells(self.cells.tolist()).numerals(report)


def cells_of(array: NDArray[Any]) -> Cells:
    """Wrap a one-dimensional array by its type.

    Examples
    --------
    >>> type(cells_of(np.array([1, 2]))).__name__, type(cells_of(np.array([True]))).__name__
    ('ArrayCells', 'ObjectCells')
    """
    return ArrayCells(array) if array.dtype.kind in "iuf" else ObjectCells(array.tolist())


def is_missing(numbers: Numbers) -> NDArray[np.bool_]:
    """Return where a column of numbers has no cell, shape (rows,); Fractions allowed."""
    return np.asarray(numbers != numbers, dtype=np.bool_)  # nan is not itself


def _blank(rows: int, as_fractions: bool) -> Numbers:
    return np.full(rows, math.nan, dtype=object if as_fractions else np.float64)


def _missing(cell: object) -> bool:
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


def _in_range(number: Fraction) -> bool:
    """Whether the nearest double is finite."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


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
            number = Fraction(int(cell.numerator), int(cell.denominator))
            return number if _in_range(number) else Refused("", "is too large for a number here")
        case float() | Decimal() if not math.isfinite(cell):
            return Refused("", "is not a finite number")
        case Decimal():
            return exact(str(cell))
        case float():
            return Fraction(cell)
        case _:
            return Refused("", "is not a number")
