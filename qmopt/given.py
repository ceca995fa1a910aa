"""Prices and allocations as callers give them, tables or arrays, in the order of the market."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.activity_tables import levels_from
from qmopt.arguments import named
from qmopt.errors import MarketError, Problem, Problems, TableError
from qmopt.point_tables import allocation_from, prices_from, running_from, unknown
from qmopt.tables.check import checked
from qmopt.tables.frames import raw_frame
from qmopt.tables.schema import CONTRACT
from qmopt.tables.shown import shown
from qmopt.tables.table import Place, Table
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.workloads import Workloads

if TYPE_CHECKING:
    import pandas as pd

    from qmopt.market import Market

    #: Rows or columns of a table, in Python.
    Rows: TypeAlias = pd.DataFrame | Table | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def prices_of(market: Market, given: Any, what: str = "prices") -> Any:
    """Return prices from whatever a caller may have: a table, labelled numbers, an array.

    Parameters
    ----------
    market
        The market that the prices are for.
    given
        Rows with columns ``resource`` and ``price``, in any order and among others (a DataFrame, a
        dict of columns, a list of dict rows, a :class:`~qmopt.tables.Table`); or numbers of shape
        (m,), by their labels if they have any; or a dict of a number for each name.
    what
        What messages call it.

    Raises
    ------
    TableError
        If a row is wrong, or names what the market does not have.
    MarketError
        If it is nothing of these.
    """
    if isinstance(given, Table):
        return prices_from(market, given)
    if isinstance(given, Mapping) and given.keys() == set(market.goods):
        return [given[good] for good in market.goods]
    frame = _frame(what, given, "numbers of shape (resources,)")
    if frame is None:
        return given
    if not _has_rows(frame, ("resource", "price"), market.goods) and len(frame.columns) == 1:
        return frame.iloc[:, 0]  # labelled by resources, as far as it is labelled
    return prices_from(market, _table(what, "prices", frame))


def units_of(
    market: Market, given: Any, what: str = "allocation", *, running: bool = False
) -> Allocation:
    """Return what each team bought, shape (n, m), from whatever a caller may have.

    Parameters
    ----------
    market
        The market that the allocation is for.
    given
        Rows with columns ``team``, ``resource`` and ``units``, in any order and among others (a
        DataFrame, a dict of columns, a list of dict rows, a :class:`~qmopt.tables.Table`), where
        units are all that a team holds, guaranteed ones included, as in files; or units bought,
        of shape (n, m), dense or sparse, or a DataFrame with teams down and resources across, in
        any order; who is not in it holds nothing.
    what
        What messages call it.
    running
        Whether it is not a claim to be measured but what runs: then rows of negative units are
        errors, and a team that holds less than it is guaranteed from now on has bought nothing.

    Raises
    ------
    TableError
        If a row is wrong, or names what the market does not have.
    MarketError
        If it is nothing of these, or of another shape.
    """
    table, frame = _rows(market, given, what)
    if table is not None:
        return running_from(market, table) if running else allocation_from(market, table)
    if frame is not None:
        given = _ordered(market, frame, what)
    if sp.issparse(given):
        matrix = sp.csr_array(cast(Any, given), dtype=float, copy=True)
        matrix.sum_duplicates()
        array = cast(Allocation, matrix)
    else:
        try:
            array = np.asarray(given, dtype=float)
        except (TypeError, ValueError) as error:
            raise MarketError(f"{what}: numbers expected, got {named(given)} ({error})") from error
    if array.shape != market.shape:
        raise MarketError(f"{what}: shape {market.shape} expected, got {array.shape}")
    return array


def point_of(market: Market, given: Any) -> tuple[Allocation, Array | None]:
    """Return what each team bought, as :func:`units_of` does, and levels of workloads.

    Returns
    -------
    allocation, levels
        Shapes (n, m) and (K,); the levels are those that a table's rows name, if together they take
        just what the teams bought, and None otherwise.
    """
    table, _ = _rows(market, given, "allocation")
    levels = None
    if table is not None and isinstance(market.utility, Workloads):
        levels = levels_from(market, market.utility, table)
    return units_of(market, given if table is None else table), levels


def _rows(market: Market, given: Any, what: str) -> tuple[Table | None, Any]:
    """Return an allocation's table of rows if it is one, else its DataFrame if it is one."""
    if isinstance(given, Table):
        return given, None
    frame = _frame(what, given, "numbers of shape (teams, resources)")
    if frame is not None and _has_rows(frame, ("team", "resource", "units"), market.goods):
        return _table(what, "allocation", frame), None
    return None, frame


@dataclass(frozen=True)
class _Argument(Place):
    """Where a table stands that was given as an argument: under the argument's name."""

    what: str = ""

    def where(self, table: str, row: int | None = None, column: str | None = None) -> str:
        """Return for example ``near[3].units``."""
        return super().where(self.what or table, row, column)

    def heading(self, table: str, column: str | None = None) -> str:
        """Return for example ``near.units``."""
        return super().heading(self.what or table, column)


def _frame(what: str, given: Any, expected: str) -> Any:
    """Return a DataFrame if something is a table of rows or columns, None if it is numbers."""
    if given is None or isinstance(given, str | bytes) or hasattr(given, "__fspath__"):
        hint = "" if given is None else "; pandas.read_csv makes a table of a file"
        raise MarketError(f"{what}: {expected} or a table expected, got {named(given)}{hint}")
    if isinstance(given, Mapping) and not given:
        raise MarketError(f"{what}: {expected} or a table expected, got an empty dict")
    if isinstance(given, Mapping) and any(hasattr(column, "columns") for column in given.values()):
        raise MarketError(f"{what}: one table expected, got several: {', '.join(map(str, given))}")
    if hasattr(given, "to_pandas"):
        given = cast(Any, given).to_pandas()
    rows = isinstance(given, Sequence) and len(given) > 0 and isinstance(given[0], Mapping)
    if isinstance(given, Mapping) or rows:
        import pandas as pd

        try:
            return pd.DataFrame(given)
        except ValueError as error:
            raise TableError(f"{what}: {error}") from error
    columns = getattr(given, "columns", None)
    return None if columns is None or callable(columns) else given


def _has_rows(frame: Any, columns: tuple[str, ...], goods: tuple[str, ...]) -> bool:
    """Whether a DataFrame has rows of a table, rather than resources across."""
    titles = set(map(str, frame.columns))
    named_columns = titles & set(columns) - set(goods)
    return bool(named_columns) or titles.union(frame.index.names) >= set(columns[:-1])


def _table(what: str, name: str, frame: Any) -> Table:
    """Check the columns of a DataFrame that a table of that name has; others are left alone."""
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index(allow_duplicates=True)
    known = {column.name for column in CONTRACT[name].columns}
    problems = Problems()
    raw = raw_frame(name, frame.loc[:, [str(title) in known for title in frame.columns]], problems)
    if raw is not None and not problems:
        table = checked(replace(raw, place=_Argument(what=what)), problems, as_fractions=False)
        if not problems:
            return table
    raise TableError(
        [replace(p, where=what) if p.where == name else p for p in problems], problems.more
    )


def _ordered(market: Market, frame: Any, what: str) -> Any:
    """Put a DataFrame with teams down and resources across into the order of the market."""
    places = (
        _in_order(what, "team", frame.index, market.buyers),
        _in_order(what, "resource", frame.columns, market.goods),
    )
    units = np.zeros(market.shape)
    try:
        units[np.ix_(*places)] = frame.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise MarketError(f"{what}: numbers expected ({error})") from error
    return units


def _in_order(what: str, kind: str, told: Any, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Return the place of each label among the names."""
    labels = [str(label) for label in told]
    if labels == [str(k) for k in range(len(names))]:
        return np.arange(len(names))  # positions, not names
    place = {name: k for k, name in enumerate(names)}
    problems = Problems()
    strange = [label for label in labels if label not in place]
    for label in problems.fit(strange):
        problems.append(Problem(what, unknown(kind, label, names)))
    twice = [label for label, count in Counter(labels).items() if count > 1]
    for label in problems.fit(twice):
        problems.append(Problem(what, f"the {kind} {shown(label)} is there twice"))
    if problems:
        raise TableError(problems)
    return np.array([place[label] for label in labels], dtype=np.int64)
