"""The table contract, as literal data.

Everything that reads, checks, writes or documents a table goes by :data:`CONTRACT`; no table or
column is named in two places.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Kind(Enum):
    """What a cell may hold; the value is how a message or the documentation says it."""

    ID = "id"
    TEXT = "text"
    NUMBER = "number"
    NOT_NEGATIVE = "number ≥ 0"
    POSITIVE = "number > 0"
    COUNT = "whole number ≥ 1"
    RATIONAL = "number or fraction ≥ 0"
    DATE = "ISO 8601 date"

    @property
    def numeric(self) -> bool:
        """Whether a column of this kind is held as numbers."""
        return self in (Kind.NUMBER, Kind.NOT_NEGATIVE, Kind.POSITIVE, Kind.COUNT)


@dataclass(frozen=True)
class Column:
    """One column of the contract.

    Parameters
    ----------
    name
        As it stands in the header.
    kind
        What its cells may hold.
    required
        Whether the column must be there and every cell filled.
    unit
        Of the numbers; empty for text.
    default
        What a missing cell means; empty for a required column.
    refers
        Table whose key each cell must name; empty for none.
    """

    name: str
    kind: Kind
    required: bool
    unit: str = ""
    default: str = ""
    refers: str = ""


@dataclass(frozen=True)
class Spec:
    """One table of the contract.

    Parameters
    ----------
    name
        Of the table: the key in a TOML or JSON file, the file's stem in a folder.
    required
        Whether a market must have it.
    key
        Columns that together tell its rows apart; empty for the one-row table ``market``.
    columns
        In the order in which they are written.
    """

    name: str
    required: bool
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def required_columns(self) -> tuple[str, ...]:
        """Names of the columns that every table of this name has."""
        return tuple(column.name for column in self.columns if column.required)

    def column(self, name: str) -> Column | None:
        """Return the column of that name, or None."""
        return next((column for column in self.columns if column.name == name), None)


def _id(name: str, refers: str = "") -> Column:
    return Column(name, Kind.ID, required=True, refers=refers)


def _maybe_id(name: str, default: str, refers: str = "") -> Column:
    return Column(name, Kind.ID, required=False, default=default, refers=refers)


def _must(name: str, kind: Kind, unit: str) -> Column:
    return Column(name, kind, required=True, unit=unit)


def _maybe(name: str, kind: Kind, unit: str, default: str) -> Column:
    return Column(name, kind, required=False, unit=unit, default=default)


_SPECS = (
    Spec(
        "market",
        False,
        (),
        (
            _maybe("title", Kind.TEXT, "", "none"),
            _maybe("about", Kind.TEXT, "", "none"),
            _maybe("source", Kind.TEXT, "", "none"),
            _maybe("licence", Kind.TEXT, "", "none"),
            _maybe("period", Kind.TEXT, "", "1 hour"),
            _maybe("made_by", Kind.TEXT, "", "none"),
        ),
    ),
    Spec(
        "resources",
        True,
        ("resource",),
        (
            _id("resource"),
            _must("supply", Kind.NOT_NEGATIVE, "chips"),
            _maybe("gpu_type", Kind.TEXT, "", "none"),
            _maybe("location", Kind.TEXT, "", "none"),
            _maybe("reserve_price", Kind.NOT_NEGATIVE, "market credits per chip and period", "0"),
            _maybe("unit", Kind.POSITIVE, "chips per node", "1"),
        ),
    ),
    Spec(
        "pools",
        False,
        ("pool",),
        (
            _id("pool"),
            _must("weight", Kind.POSITIVE, "market credits per period"),
            _maybe(
                "minted", Kind.POSITIVE, "own credits per period", "the sum of its teams' credits"
            ),
        ),
    ),
    Spec(
        "pool_supply",
        False,
        ("pool", "resource"),
        (
            _id("pool", "pools"),
            _id("resource", "resources"),
            _must("units", Kind.NOT_NEGATIVE, "chips that the pool owns"),
        ),
    ),
    Spec(
        "teams",
        True,
        ("team",),
        (
            _id("team"),
            _must("credits", Kind.NOT_NEGATIVE, "own credits per period"),
            _maybe_id("pool", "none", "pools"),
            _maybe("keep_value", Kind.NOT_NEGATIVE, "value per own credit kept", "0"),
            _maybe("utility_cap", Kind.NOT_NEGATIVE, "value per period", "no cap"),
        ),
    ),
    Spec(
        "workloads",
        False,
        ("team", "workload"),
        (
            _id("team", "teams"),
            _id("workload"),
            _must("demand", Kind.NOT_NEGATIVE, "the workload's own units"),
            _maybe("gang", Kind.COUNT, "chips at once", "1"),
            _maybe("priority", Kind.NUMBER, "", "0"),
            _maybe("limit_price", Kind.NOT_NEGATIVE, "own credits per unit of demand", "no limit"),
            _maybe("deadline", Kind.DATE, "", "none"),
        ),
    ),
    Spec(
        "bids",
        True,
        ("team", "workload", "option"),
        (
            _id("team", "teams"),
            _maybe_id("workload", "none", "workloads"),
            _maybe_id("option", "the resource"),
            _maybe_id("resource", "what `needs` lists for the option", "resources"),
            _must("value", Kind.NOT_NEGATIVE, "value per unit of demand"),
            _maybe(
                "rate", Kind.POSITIVE, "units of demand per chip, or per unit of the option", "1"
            ),
        ),
    ),
    Spec(
        "needs",
        False,
        ("team", "workload", "option", "resource"),
        (
            _id("team", "teams"),
            _maybe_id("workload", "none", "workloads"),
            _id("option"),
            _id("resource", "resources"),
            _must("units", Kind.POSITIVE, "chips per unit of the option"),
        ),
    ),
    Spec(
        "guarantees",
        False,
        ("team", "resource"),
        (
            _id("team", "teams"),
            _id("resource", "resources"),
            _must("units", Kind.NOT_NEGATIVE, "chips, taken out of supply first"),
        ),
    ),
    Spec(
        "allocation",
        False,
        ("team", "workload", "option", "resource"),
        (
            _id("team", "teams"),
            _maybe_id("workload", "none", "workloads"),
            _maybe_id("option", "the resource"),
            _id("resource", "resources"),
            _must("units", Kind.NUMBER, "chips"),  # a claim, signs included: certify measures it
        ),
    ),
    Spec(
        "prices",
        False,
        ("resource",),
        (
            _id("resource", "resources"),
            _maybe("price", Kind.NUMBER, "market credits per chip and period", "not defined"),
        ),
    ),
    Spec(
        "expected",
        False,
        ("resource",),
        (
            _id("resource", "resources"),
            _maybe("price", Kind.RATIONAL, "market credits per chip and period", "not defined"),
        ),
    ),
)

#: Every table of a market by name, in the order in which they are written.
CONTRACT = MappingProxyType({spec.name: spec for spec in _SPECS})

#: What a market without a ``market.period`` means by it.
DEFAULT_PERIOD = "1 hour"


#: Names that are compared letter by letter with one that is not known, and its longest length.
_FEW, _SHORT = 1000, 100


def is_note(name: str) -> bool:
    """Whether a table, column or file is a note for people, kept out of the market."""
    return name.startswith("_")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'supply'?"``, or nothing where no known name is close.

    Examples
    --------
    >>> did_you_mean("suply", ["resource", "supply"])
    "; did you mean 'supply'?"
    """
    folded = {candidate.strip().lower(): candidate for candidate in known}
    plain = name.strip().lower()
    close = [plain] if plain in folded else []
    # Closeness is dear: among very many names, or for a very long one, nobody waits for it.
    if not close and len(folded) <= _FEW and len(name) <= _SHORT:
        near = (text for text in folded if len(text) <= 2 * _SHORT)
        close = difflib.get_close_matches(plain, near, n=1)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""
