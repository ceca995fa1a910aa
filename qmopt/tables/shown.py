"""Values as messages show them: on one line, printable, and short."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

#: Longest text of a value that a message shows.
SHOWN = 80


@dataclass(frozen=True)
class Refused:
    """A value that a format can write and a market cannot hold, kept until its place is known."""

    text: str
    why: str = "is not a finite number"


def shown(value: object) -> str:
    r"""Return a value as a message shows it, cut at 80 characters.

    Examples
    --------
    >>> shown("h100\n"), shown(True), shown([1, {"a": None}])
    ("'h100\\n'", 'true', "[1, {'a': None}]")
    """
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, Refused):
        text = value.text
    elif isinstance(value, Fraction | float):
        text = str(value)
    elif isinstance(value, datetime.date | datetime.time):
        text = value.isoformat()
    elif isinstance(value, int) and value.bit_length() > 10_000:
        text = f"a whole number of {value.bit_length()} bits"
    elif isinstance(value, str):
        text = repr(value[: SHOWN + 1])
    elif isinstance(value, Mapping | list | tuple):
        text = _preview(value, depth=4)
    else:
        text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _preview(value: Mapping[object, object] | Sequence[object], depth: int) -> str:
    """Return the start of what ``repr`` would, without walking all of it."""

    def part(item: object) -> str:
        if isinstance(item, Mapping | list | tuple):
            return _preview(item, depth - 1) if depth else "..."
        return shown(item) if isinstance(item, str | int) else repr(item)

    if isinstance(value, Mapping):
        pairs = islice(value.items(), SHOWN // 4)
        return "{" + ", ".join(f"{part(key)}: {part(item)}" for key, item in pairs) + "}"
    return "[" + ", ".join(map(part, islice(value, SHOWN // 2))) + "]"


def bare(name: str) -> str:
    """Return a name as a message shows it within a key: without quotes, but printable and cut."""
    return shown(name)[1:-1]
