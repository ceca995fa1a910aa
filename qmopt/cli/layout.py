"""Rows of names, numbers and prose, as a table where it fits and one below the other where not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

#: Columns by title: as many texts in each.
Columns: TypeAlias = Mapping[str, Sequence[str]]
#: Width below which a column of prose is no longer easy to read.
READABLE = 24
#: What a table adds to each column (a space on both sides, a line between), and once more.
_BETWEEN, _EDGE = 3, 1


def put(screen: Console, names: Columns, numbers: Columns, prose: Columns | None = None) -> None:
    """Print rows, names on the left, numbers aligned, prose on the right; no name is broken.

    Where names and numbers do not fit beside one another, each row has its names on a line of
    their own and the numbers below; where numbers do not fit into a line either, each has its title
    before it. A name that is longer than the screen is broken before an ``@``, ``/`` or ``-``.
    """
    prose = prose or {}
    columns = {**names, **numbers}
    needed = sum(_widest(title, cells) + _BETWEEN for title, cells in columns.items()) + _EDGE
    needed += len(prose) * (READABLE + _BETWEEN)
    if needed > screen.width:
        for line in _stacked(screen.width, names, numbers, prose):
            screen.print(Text(line), overflow="fold")
        screen.print()
        return
    table = Table(box=SIMPLE_HEAD)
    for title in names:
        table.add_column(title, no_wrap=True)
    for title in numbers:
        table.add_column(title, justify="right", no_wrap=True)
    for title in prose:
        table.add_column(title)
    for row in zip(*columns.values(), *prose.values(), strict=True):
        table.add_row(*map(Text, row))
    screen.print(table)


def _widest(title: str, cells: Sequence[str]) -> int:
    return max(map(cell_len, [title, *cells]))


def _stacked(width: int, names: Columns, numbers: Columns, prose: Columns) -> Iterator[str]:
    """Yield the lines of rows that are too wide for a table."""
    left = [_widest(title, cells) for title, cells in names.items()]
    right = [_widest(title, cells) for title, cells in numbers.items()]
    # prose below names and numbers; or numbers below names; or each number after its title
    one_line = bool(prose) and 2 * len(left + right) + sum(left + right) <= width
    aligned = 2 + 2 * len(right) + sum(right) <= width

    def row(name: Sequence[str], number: Sequence[str]) -> Iterator[str]:
        beside = [" " * (w - cell_len(t)) + t for t, w in zip(number, right, strict=True)]
        if one_line:
            padded = [t + " " * (w - cell_len(t)) for t, w in zip(name, left, strict=True)]
            yield "  " + "  ".join(padded + beside)
            return
        yield from _named(name, width)
        if number and aligned:
            yield "    " + "  ".join(beside)
        elif number:
            pairs = [f"{title} {text}," for title, text in zip(numbers, number, strict=True)]
            yield from _filled([*pairs[:-1], pairs[-1].removesuffix(",")], width)

    if one_line or aligned:
        yield from row(list(names), list(numbers))
    else:
        yield f"  {', '.join(names)}"
    yield "  " + "─" * (width - 4)
    for k in range(len(next(iter(names.values())))):
        yield from row([c[k] for c in names.values()], [c[k] for c in numbers.values()])
        for column in prose.values():
            yield from _filled(column[k].split(" "), width)


def _named(names: Sequence[str], width: int) -> Iterator[str]:
    """Yield the names of a row on one line, or on as many as they need."""
    beside = f"  {'  '.join(names)}"
    if cell_len(beside) <= width:
        yield beside
        return
    for name in names:
        line = "  "
        for piece in re.split(r"(?=[@/ -])", name):
            if line.strip() and cell_len(line + piece) > width:
                yield line
                line = "    "
            line += piece
        yield line


def _filled(words: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines of words, indented."""
    line = "   "
    for word in words:
        if line.strip() and cell_len(f"{line} {word}") > width:
            yield line
            line = "   "
        line += f" {word}"
    yield line
