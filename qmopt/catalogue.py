"""Find the markets that ship with the package, by names such as ``gpu/helios-earth``.

They live in ``models/markets`` of a checkout and in ``qmopt/_models/markets`` of an installed
package: one file, or one folder of tables, is one market. Only names that :func:`names` lists are
ever turned into paths, so that no name leads outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from qmopt import tables
from qmopt.errors import MarketError

_PACKAGE = Path(__file__).parent
_FILES = (".toml", ".json")
_FOLDER_HAS = ("resources.csv", "resources.parquet")


@dataclass(frozen=True)
class Description:
    """What a shipped market is, on a few lines.

    Parameters
    ----------
    name
        As :func:`names` lists it.
    title, about, source, licence
        From its ``market`` table; empty text where that says nothing.
    teams, resources, bids
        How many rows these tables have.
    answered
        Whether prices are known from the source or by hand (an ``expected`` table).
    """

    name: str
    title: str
    about: str
    source: str
    licence: str
    teams: int
    resources: int
    bids: int
    answered: bool


def names() -> list[str]:
    """Return the names of all shipped markets, sorted.

    Examples
    --------
    >>> [name for name in names() if name.startswith("gpu/helios")]
    ['gpu/helios-earth', 'gpu/helios-workloads-100', 'gpu/helios-workloads-65',
     'gpu/helios-workloads-80']
    """
    return sorted(_found())


def path(name: str) -> Path:
    """Return the file or folder of a shipped market.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    MarketError
        If there is no such market; the message lists names that look alike.

    Examples
    --------
    >>> path("textbook/two-teams").name
    'two-teams.toml'
    >>> path("unwanted-goods")
    Traceback (most recent call last):
    qmopt.errors.MarketError: no shipped market 'unwanted-goods'; close: edge/unwanted-good
    """
    found = _found()
    if name in found:
        return found[name]
    raise MarketError(f"no shipped market {name!r}; {_suggestion(name, sorted(found))}")


def describe(name: str) -> Description:
    """Read a shipped market and say what it is.

    Raises
    ------
    MarketError
        If there is no such market.

    Examples
    --------
    >>> found = describe("textbook/two-teams")
    >>> found.title, found.teams, found.resources, found.bids, found.answered
    ('Two teams, two kinds of chip', 2, 2, 4, True)
    """
    read = tables.read(path(name))
    said = {key: read.market.get(key, "") for key in ("title", "about", "source", "licence")}
    return Description(
        name,
        **{key: text.strip() for key, text in said.items()},
        teams=len(read["teams"]),
        resources=len(read["resources"]),
        bids=len(read["bids"]),
        answered=len(read["expected"]) > 0,
    )


def _root() -> Path:
    installed = _PACKAGE / "_models"
    return (installed if installed.is_dir() else _PACKAGE.parent / "models") / "markets"


def _found() -> dict[str, Path]:
    """Every market below the root; a folder is one if it holds a table of resources."""
    root = _root()
    found: dict[str, Path] = {}
    for entry in root.glob("*/*"):
        if entry.suffix in _FILES and entry.is_file():
            found[entry.relative_to(root).with_suffix("").as_posix()] = entry
        elif entry.is_dir() and any((entry / table).is_file() for table in _FOLDER_HAS):
            found[entry.relative_to(root).as_posix()] = entry
    return found


def _suggestion(name: str, known: list[str]) -> str:
    """Known names that look alike, with or without their group; else all of them."""
    close = get_close_matches(name, known, n=3)
    ends = {full.rpartition("/")[2]: full for full in known}
    close += [ends[end] for end in get_close_matches(name, ends, n=3)]
    if close:
        return f"close: {', '.join(dict.fromkeys(close))}"
    return f"there are: {', '.join(known)}" if known else "none is installed"
