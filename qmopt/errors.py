"""What can go wrong, by whose fault it is.

Every exception that leaves the package is a :class:`QmoptError`. Each also is the built-in that a
caller who has never heard of qmopt would catch: bad input is a ``ValueError``, a missing solver an
``ImportError``, an answer that does not certify a ``RuntimeError``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

#: Problems that one message lists before it only counts the rest.
LISTED = 20

Row = TypeVar("Row")


class QmoptError(Exception):
    """Above every exception of this package."""


class MarketError(QmoptError, ValueError):
    """The numbers do not make a market, or not one that this version can clear."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input.

    Parameters
    ----------
    where
        The place, as a reader would look for it: ``q3/bids.csv line 5, bids[3].value``.
    message
        What is wrong there, with the value at fault.
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Problems(list[Problem]):
    """What was found wrong so far: the first 20 in full, the rest only counted.

    A file may have a million wrong cells; neither memory nor time goes into messages that nobody
    will read.

    Examples
    --------
    >>> problems = Problems()
    >>> problems.extend(Problem(f"teams[{row}]", "is wrong") for row in problems.fit(range(1000)))
    >>> len(problems), problems.more
    (20, 980)
    """

    def __init__(self) -> None:
        super().__init__()
        self.more = 0

    @property
    def full(self) -> bool:
        """Whether the next one is only counted."""
        return len(self) >= LISTED

    def append(self, problem: Problem) -> None:
        """List one more, or count it."""
        if self.full:
            self.more += 1
        else:
            super().append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """List or count several."""
        for problem in problems:
            self.append(problem)

    def fit(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return as many rows at fault as there is room to list, and count the others."""
        room = max(0, LISTED - len(self))
        self.more += max(0, len(rows) - room)
        return rows[:room]


class TableError(QmoptError, ValueError):
    """A file or table breaks the contract.

    Parameters
    ----------
    problems
        One message, or what was found; the text lists the first 20 and counts the rest.
    more
        Problems beyond those given, that were only counted.

    Examples
    --------
    >>> print(TableError([Problem("q3/teams.csv line 2, teams[0].credits", "-6 is negative")]))
    q3/teams.csv line 2, teams[0].credits: -6 is negative
    """

    def __init__(self, problems: str | Sequence[Problem], more: int = 0) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        self.more = more + (problems.more if isinstance(problems, Problems) else 0)
        lines = [str(problem) for problem in self.problems[:LISTED]]
        left = len(self.problems) - len(lines) + self.more
        if left:
            lines.append(f"... and {left} more")
        super().__init__("\n".join(lines))


class SolverNotInstalled(QmoptError, ImportError):
    """A solver was asked for by name and its package is missing."""


class SolverFailed(QmoptError, RuntimeError):
    """A solver came back without any point at all."""


class NotCertified(QmoptError, RuntimeError):
    """An answer was found, measured, and is not an equilibrium at the tolerance asked for.

    Parameters
    ----------
    message
        Which residual failed, by how much, and what to try.
    outcome
        The point that was measured, as the method returned it.
    certificate
        The measurement.
    exact
        The :class:`qmopt.ExactAnswer`, where one was asked for and proved but its nearest doubles
        do not certify (numbers of 1e300 beside small ones do that); otherwise None.
    """

    def __init__(
        self, message: str, outcome: Any = None, certificate: Any = None, exact: Any = None
    ) -> None:
        super().__init__(message)
        self.exact = exact
        self.outcome = outcome
        self.certificate = certificate


class LedgerError(QmoptError):
    """A movement of credits that the ledger's rules do not allow."""
