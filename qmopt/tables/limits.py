"""How much a market may ask of its reader before it is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from qmopt.errors import Problem, TableError

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """What reading stops at, so that no file takes all memory or never ends.

    Every market worth clearing is far below; a refusal names the limit and how to raise it.

    Parameters
    ----------
    files
        Entries of a market's folder.
    file_mib
        Size of one CSV or Parquet file, MiB.
    document_mib
        Size of a TOML or JSON file, MiB.
    unpacked_mib
        Size to which a compressed file (Parquet, ``values.npz``) says that it unfolds, MiB.
    ratio
        Unfolded over stored size of ``values.npz``.
    depth
        Tables and lists within each other in TOML and JSON; dotted keys count.
    rows
        Of one table.
    columns
        Of one table, notes among them.
    cells
        Of one file: rows times columns, or what commas and brackets separate in TOML and JSON.
    values
        Entries of a dense matrix of values, or stored entries of a sparse one.
    id_length, text_length
        Characters of an id and of any other text.
    number_length
        Characters of a number.
    exponent
        Largest exponent of a number that is kept exactly, in absolute value.

    Raises
    ------
    TableError
        When a limit is not a whole number of at least 1.

    Examples
    --------
    >>> Limits(rows=10).rows, Limits.parse(["rows=20_000_000", "depth=8"]).rows
    (10, 20000000)
    """

    files: int = 1_000
    file_mib: int = 256
    document_mib: int = 64
    unpacked_mib: int = 2_048
    ratio: int = 200
    depth: int = 32
    rows: int = 5_000_000
    columns: int = 200
    cells: int = 20_000_000
    values: int = 250_000_000
    id_length: int = 253
    text_length: int = 100_000
    number_length: int = 1_200
    exponent: int = 400

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise TableError(f"limit {limit.name}={value!r}: a whole number from 1 up expected")

    @classmethod
    def parse(cls, given: Iterable[str]) -> Limits:
        """Return the defaults with some replaced, each written ``NAME=VALUE``."""
        known = {limit.name for limit in fields(cls)}
        chosen: dict[str, int] = {}
        for text in given:
            name, _, value = (part.strip() for part in text.partition("="))
            if name not in known:
                raise TableError(
                    f"no limit is called {name!r}; they are {', '.join(sorted(known))}"
                )
            if not value.replace("_", "").isdecimal() or not value.isascii() or len(value) > 18:
                raise TableError(f"limit {text!r}: NAME=VALUE with a whole number expected")
            chosen[name] = int(value.replace("_", ""))
        return cls(**chosen)

    def check(self, name: str, found: float, where: str, what: str) -> None:
        """Refuse what is beyond one of the limits.

        Parameters
        ----------
        name
            Of the limit.
        found
            In its unit.
        where
            The place, as messages name it.
        what
            Is too large, with ``{}`` for the number.

        Raises
        ------
        TableError
            When ``found`` is above the limit.

        Examples
        --------
        >>> Limits(rows=2).check("rows", 3, "teams.csv", "has {} rows")
        Traceback (most recent call last):
        qmopt.errors.TableError: teams.csv: has 3 rows; the limit is 2 (raise it by --limit rows=3)
        """
        if found > getattr(self, name):
            raise TableError([Problem(where, self.refusal(name, found, what))])

    def refusal(self, name: str, found: float, what: str) -> str:
        """Return the words for something beyond a limit."""
        least = int(found) + (found > int(found))
        said = what.replace("{}", f"{found:,.0f}" if found >= 1000 else f"{found:g}")
        limit = getattr(self, name)
        return f"{said}; the limit is {limit:,} (raise it by --limit {name}={least})"


#: What holds where nobody says otherwise.
DEFAULT = Limits()
