"""Tables as everything else sees them: checked, in contract order, each cell with its place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qmopt.tables.cells import Numbers, Texts, is_missing
from qmopt.tables.schema import CONTRACT, DEFAULT_PERIOD, did_you_mean

if TYPE_CHECKING:
    import pandas as pd


class Lines(Protocol):
    """Line number of each row, counted from 1; shorter than the table where none is known."""

    def __len__(self) -> int: ...

    def __getitem__(self, row: int, /) -> int: ...


@dataclass(frozen=True)
class Place:
    """Where a table stands, for messages.

    Parameters
    ----------
    file
        As the user named it; empty for tables made in Python.
    lines
        Of the rows, where the format has them.
    header
        Line of the columns' names, where the format has one.
    """

    file: str = ""
    lines: Lines = ()
    header: int | None = None

    def where(self, table: str, row: int | None = None, column: str | None = None) -> str:
        """Return for example ``q3/bids.csv line 5, bids[3].value``."""
        key = table if row is None or table == "market" else f"{table}[{row}]"
        key = key if column is None else f"{key}.{column}"
        line = "" if row is None or row >= len(self.lines) else f" line {self.lines[row]}"
        return f"{self.file}{line}, {key}" if self.file else key

    def heading(self, table: str, column: str | None = None) -> str:
        """Return for example ``q3/bids.csv line 1, bids.value``."""
        key = table if column is None else f"{table}.{column}"
        line = "" if self.header is None else f" line {self.header}"
        return f"{self.file}{line}, {key}" if self.file else key


#: The place of tables made in Python.
NOWHERE = Place()


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """One checked table. Its rows are numbered from 0.

    Parameters
    ----------
    name
        Of the contract.
    length
        Number of rows.
    cells
        The columns that have any cell filled, by name and in contract order.
    place
        Where it was read.

    Examples
    --------
    >>> teams = Table("teams", 2, {"team": ["a", "b"], "credits": np.array([6.0, 24.0])})
    >>> teams.column("credits").sum(), teams.column("pool"), teams.where(1, "credits")
    (np.float64(30.0), None, 'teams[1].credits')
    """

    name: str
    length: int = 0
    cells: Mapping[str, Numbers | Texts] = field(default_factory=dict)
    place: Place = NOWHERE

    def __len__(self) -> int:
        return self.length

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are there."""
        return tuple(self.cells)

    def column(self, name: str) -> Numbers | Texts | None:
        """Return a column as it is held.

        Parameters
        ----------
        name
            Of the contract.

        Returns
        -------
        numpy.ndarray, list or None
            Numbers: shape (rows,), float64 (Fractions in an object array if the market was read
            with ``exact=True``), nan where the cell is missing. Text: a list, None where the cell
            is missing. None when no row has the column.
        """
        if CONTRACT[self.name].column(name) is None:
            raise KeyError(f"{self.name} has no column {name!r}")
        return self.cells.get(name)

    def numbers(self, name: str, default: float = math.nan) -> Numbers:
        """Return a column of numbers, shape (rows,), with missing cells filled in.

        Examples
        --------
        >>> Table("teams", 2, {"team": ["a", "b"]}).numbers("keep_value", default=0)
        array([0., 0.])
        """
        held = self.column(name)
        if held is None:
            return np.full(self.length, default, dtype=np.float64)
        if not isinstance(held, np.ndarray):
            raise TypeError(f"{self.name}.{name} holds text")
        missing = is_missing(held)
        return np.where(missing, default, held) if missing.any() else held

    def texts(self, name: str) -> Texts:
        """Return a column of text, None where a cell is missing."""
        held = self.column(name)
        if isinstance(held, np.ndarray):
            raise TypeError(f"{self.name}.{name} holds numbers")
        return [None] * self.length if held is None else held

    def ids(self, name: str) -> list[str]:
        """Return a column of text that has no missing cell."""
        return [text for text in self.texts(name) if text is not None]

    def options(self) -> list[str]:
        """Return the name of each row's option, which is its resource where it has no other."""
        pairs = zip(self.texts("option"), self.texts("resource"), strict=True)
        return [option or resource or "" for option, resource in pairs]

    def where(self, row: int | None = None, column: str | None = None) -> str:
        """Return a place as messages name it: ``q3/bids.csv line 5, bids[3].value``."""
        return self.place.where(self.name, row, column)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict, without its missing cells."""
        columns = [c.tolist() if isinstance(c, np.ndarray) else c for c in self.cells.values()]
        for cells in zip(*columns, strict=True):
            yield {
                name: cell
                for name, cell in zip(self.cells, cells, strict=True)
                if cell is not None and cell == cell  # nan is not itself
            }

    def frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(dict(self.cells))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same rows in the same order, wherever they were read."""
        if not isinstance(other, Table):
            return NotImplemented
        return (
            (self.name, self.length, self.columns) == (other.name, other.length, other.columns)
        ) and all(_same(self.cells[name], other.cells[name]) for name in self.cells)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.name}: {self.length} rows of {', '.join(self.cells) or 'nothing'}>"


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """A market as checked tables, from a file, a folder or Python.

    Parameters
    ----------
    tables
        Those that are there, by name and in contract order.
    values
        Shape (teams, resources), value per chip, rows and columns in the order of the tables
        ``teams`` and ``resources``; None where ``bids`` says it.
    source
        The path that was read; ``"tables"`` for tables made in Python.
    """

    tables: Mapping[str, Table]
    values: NDArray[np.float64] | sparse.csr_array | None = None
    source: str = "tables"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tables that are there."""
        return tuple(self.tables)

    @property
    def market(self) -> dict[str, str]:
        """The one row of the table ``market``; ``period`` is always there."""
        row = next(self["market"].rows(), {})
        return {"period": DEFAULT_PERIOD, **row}

    def __getitem__(self, name: str) -> Table:
        """Return a table, empty if the market has none of that name."""
        if name not in CONTRACT:
            raise KeyError(f"no table is called {name!r}{did_you_mean(name, CONTRACT)}")
        return self.tables[name] if name in self.tables else Table(name)

    def __contains__(self, name: object) -> bool:
        return name in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __eq__(self, other: object) -> bool:
        """Whether both hold exactly the same, wherever they were read."""
        if not isinstance(other, Tables):
            return NotImplemented
        return (
            self.names == other.names
            and all(self[name] == other[name] for name in self.names)
            and _same_values(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(table)} {name}" for name, table in self.tables.items())
        return f"<Tables of {self.source}: {counts}>"


def _same(one: Numbers | Texts, other: Numbers | Texts) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return bool(((one == other) | (is_missing(one) & is_missing(other))).all())
    return one is other or (type(one) is type(other) and one == other)


def _same_values(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    if sparse.issparse(one) and sparse.issparse(other):
        return one.shape == other.shape and (one != other).nnz == 0  # type: ignore[attr-defined]
    if sparse.issparse(one) or sparse.issparse(other):
        return False
    return np.array_equal(np.asarray(one), np.asarray(other))
