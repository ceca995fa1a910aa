"""What goes where: answers to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn, TextIO

import typer

from qmopt.errors import MarketError, QmoptError, TableError

if TYPE_CHECKING:
    from rich.console import Console

_MARKS = re.compile(r"\b(delimiter|decimal|thousands)='(.)'")
#: Exit codes of every command.
CERTIFIED, FAILED, BAD_INPUT, LESS, INTERRUPTED = 0, 1, 2, 3, 130
#: Width for tables that go into a file or a pipe: as wide as they are.
UNBOUNDED = 10_000


def claim_stdout() -> None:
    """Keep standard output for our own answers, for the rest of this process.

    Solvers print banners from C, some of them only when the process ends. So descriptor 1 is led to
    standard error for good, and ``sys.stdout`` writes to a copy of what it was.
    """
    if sys.stdout is None:  # closed by the caller, who wants no answer
        sys.stdout = _nowhere()
        return
    old = sys.stdout
    old.flush()
    ours = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # never closed: it lives as long as the process; what an encoding lacks is escaped, not fatal
    sys.stdout = os.fdopen(ours, "w", encoding=old.encoding, errors="backslashreplace")


@contextlib.contextmanager
def working(as_json: bool = False, *, tracing: bool = False) -> Iterator[None]:
    """Run what may fail or print: errors end in one message and an exit code.

    Whatever Python code prints meanwhile goes to standard error. With ``as_json``, standard output
    gets one document that says what failed. ``tracing`` prints the traceback as well; a mistake of
    qmopt's own always has it.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except (BrokenPipeError, typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        if as_json:
            from qmopt import results

            document = results.failure(error)
            document["error"]["message"] = _reason(error)
            typer.echo(results.dumps(document))
        expected = isinstance(error, QmoptError | OSError | MemoryError)
        if tracing or not expected:
            traceback.print_exception(error.__cause__ or error, file=sys.stderr)
        complain(_reason(error) if expected else f"a mistake in qmopt: {_told(error)}")
        bad_input = isinstance(error, MarketError | TableError | OSError)
        raise typer.Exit(BAD_INPUT if bad_input else FAILED) from None


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}; please report it with the lines above"


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def give_up_writing(error: OSError) -> NoReturn:
    """End with one message because the answer could not be written (a full disk, say)."""
    sys.stdout = _nowhere()
    complain(f"cannot write the answer: {_reason(error)}")
    sys.exit(FAILED)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "out of memory"
    # what is an argument in Python is an option here
    return _MARKS.sub(r"--\1 '\2'", str(error))


def complain(message: str) -> None:
    """Write one message to standard error."""
    lines = [printable(line) for line in message.splitlines()] or [""]
    typer.echo("qmopt: " + "\n       ".join(lines), err=True)


def printable(text: str) -> str:
    r"""Return text with control characters escaped, so that no name can steer a terminal.

    Examples
    --------
    >>> print(printable("h100\x1b[2J@east"))
    h100\x1b[2J@east
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def console() -> Console:
    """Return a console on standard output that prints names as they are.

    No colour and no cutting to a width when the output goes to a file or a pipe.
    """
    from rich.console import Console

    bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if bounded else UNBOUNDED
    return Console(width=width, markup=False, emoji=False, highlight=False, soft_wrap=False)


def counted(count: int, noun: str) -> str:
    """Return "1 team", "2 teams"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@contextlib.contextmanager
def waiting(what: str, *, quiet: bool) -> Iterator[None]:
    """Show a person at a terminal where the work is, on standard error; others see nothing."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    from qmopt.progress import listening

    said = f"{printable(what)} ..."
    line = Console(stderr=True).status(said)
    with line, listening(lambda where: line.update(f"{said} {where}")):
        yield
