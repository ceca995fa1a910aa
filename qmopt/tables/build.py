"""From unchecked tables to a checked market."""

from __future__ import annotations

from collections.abc import Sequence

from qmopt.errors import Problems, TableError
from qmopt.tables import dense
from qmopt.tables.check import Raw, checked
from qmopt.tables.cross import check_across
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.schema import CONTRACT
from qmopt.tables.table import Table, Tables


def build(
    raws: Sequence[Raw],
    problems: Problems,
    *,
    as_fractions: bool,
    values: dense.Values | None = None,
    source: str = "tables",
    values_at: str = "values",
    limits: Limits = DEFAULT,
) -> Tables:
    """Check everything and return the tables in contract order.

    Parameters
    ----------
    raws
        At most one of each name.
    problems
        What was found wrong so far; any, or any more, and nothing is returned.
    as_fractions
        Hold numbers as rationals.
    values
        Shape (teams, resources), or None.
    source, values_at
        Names of the market and of its values in messages.
    limits
        Of rows and of the length of texts.

    Raises
    ------
    TableError
        With all that is wrong.
    """
    held: dict[str, Table] = {}
    by_name = {raw.name: raw for raw in raws}
    for name, spec in CONTRACT.items():
        if name not in by_name:
            continue
        table = checked(by_name[name], problems, as_fractions=as_fractions, limits=limits)
        # A table that says nothing is the same as none: no format need carry it.
        if spec.required or (len(table) and table.columns):
            held[name] = table
    check_across(held, values, problems, "" if source == "tables" else source)
    if values is not None:
        dense.check(values, held, values_at, problems)
    if problems:
        raise TableError(problems)
    return Tables(held, values, source)
