"""Cells of one column that come as a typed array."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qmopt.tables.cells import Cells, Numbers, ObjectCells, Report, Texts, blank, is_none
from qmopt.tables.shown import shown


@dataclass(frozen=True)
class ArrayCells:
    """A typed array of integers or floats, shape (rows,); nan is missing."""

    cells: NDArray[Any]

    def __len__(self) -> int:
        return len(self.cells)

    def numbers(self, report: Report, *, as_fractions: bool) -> Numbers:
        """Return the array as float64, or each number as the rational that it is."""
        numbers = np.array(self.cells, dtype=np.float64)
        wrong = np.flatnonzero(np.isinf(numbers))
        report(
            wrong.tolist(), lambda row: f"{shown(self.cells[row].item())} is not a finite number"
        )
        numbers[wrong] = math.nan
        if not as_fractions:
            return numbers
        out = blank(len(numbers), as_fractions)
        held = numbers if self.cells.dtype.kind == "f" else self.cells
        for row in np.flatnonzero(~np.isnan(numbers)):
            out[row] = Fraction(held[row].item())
        return out

    def texts(self, report: Report) -> Texts:
        """Report the first cell that is not missing: none is text."""
        cells: Texts = [None if is_none(cell) else str(cell) for cell in self.cells.tolist()]
        row = next((row for row, cell in enumerate(cells) if cell is not None), None)
        if row is not None:
            said = "is a number in a column of text, where zeros and digits may be lost already"
            said = f"{cells[row]} {said}; read or make the column with dtype=str"
            report([row], lambda _: said)
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
