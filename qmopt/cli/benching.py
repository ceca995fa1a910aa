"""The command that compares methods: bench."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qmopt.cli.terminal import INTERRUPTED, complain, working

if TYPE_CHECKING:
    from qmopt.bench.row import Row
    from qmopt.methods import Method

#: What runs when no market is named.
DEFAULT = "models"


def bench(
    markets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE|PATH|MODEL",
            help="Suites (`--list` tells which), files, folders, or names of shipped models. "
            f"Default: `{DEFAULT}`.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="As for `qmopt clear`, or a peer's name; may be repeated. `package.module:Class` "
            "is one of your own. Default: all of ours.",
        ),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            metavar="",
            help="Add other ways to clear a market, and what others published of such markets.",
        ),
    ] = False,
    tolerance: Annotated[
        float, typer.Option(min=0, metavar="NUMBER", help="Residual that counts as certified.")
    ] = 1e-9,
    time_limit: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="For one run.")
    ] = 60.0,
    repeat: Annotated[
        int,
        typer.Option(min=1, metavar="COUNT", help="Runs, as far as they fit into the time limit."),
    ] = 3,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print one JSON document instead of tables.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write results.json, results.csv and, with matplotlib, plots there."
        ),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", metavar="", help="List suites, methods and peers.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Print nothing; for use with --out.")
    ] = False,
) -> None:
    """Compare methods on markets: time, memory, and how right the answers are.

    Every run has a process of its own, and every answer is measured from the definition of an
    equilibrium, whatever the method says of itself. A method that fails has a row that says how.
    A suite is quick as it stands; `NAME:full` is the size of its source, and may take hours.

    Example: `qmopt bench squares --peers --time-limit 20 --out compared`
    """
    if listing:
        _list()
        return
    named = markets or [DEFAULT]
    with working(as_json):
        from qmopt import results
        from qmopt.bench import record
        from qmopt.bench.compare import rows

        if out is not None:
            record.refuse_foreign(out)
        chosen = _methods(method or [], peers, tolerance)
        options = {
            "command": shlex.join(["qmopt", *sys.argv[1:]]),
            "markets": named,
            "tolerance": tolerance,
            "time_limit": time_limit,
            "repeat": repeat,
        }
        with _progress(quiet) as progress:
            measuring = rows(
                chosen, named, repeat=repeat, time_limit=time_limit, tolerance=tolerance,
                published=peers, progress=progress,
            )  # fmt: skip
            found, finished = _collected(measuring)
        written = [] if out is None else _write(found, options, out)
    if as_json:
        typer.echo(results.dumps(record.document(found, options)))
    elif not quiet:
        _show(found, tolerance)
        if written:
            typer.echo(f"written: {', '.join(map(str, written))}")
    if not finished:
        complain("interrupted; what was measured by then is all there is")
        raise typer.Exit(INTERRUPTED)


def _collected(measuring: Iterator[Row]) -> tuple[list[Row], bool]:
    """Return the rows, and whether they are all: hours of work outlive being told to stop."""
    found: list[Row] = []
    before = None
    with contextlib.suppress(ValueError):  # only the main thread may
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for row in measuring:
            found.append(row)  # noqa: PERF402 - what is there counts if the next one never comes
    except KeyboardInterrupt:
        return found, False
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    return found, True


def _methods(names: Sequence[str], peers: bool, tolerance: float) -> dict[str, Method]:
    """Return methods by the names that were given, or all of ours; and the peers if asked for."""
    from qmopt.bench.peers import peers as all_peers
    from qmopt.cli.methods import METHODS, find_method

    others = all_peers(tolerance)
    unread: Any = None  # a market is looked at only where no name is given
    chosen = list(names) or [name for name in METHODS if name not in others]
    found = {name: others.get(name) or find_method(name, None, None, unread) for name in chosen}
    return {**found, **(others if peers else {})}


def _write(found: Sequence[Row], options: dict[str, Any], out: Path) -> list[Path]:
    from qmopt import plots
    from qmopt.bench import record

    written = record.write(found, options, out)
    try:
        written += plots.write(found, out, tolerance=options["tolerance"])
    except plots.PlotsNotInstalled as error:
        complain(f"no plots: {error}")
    return written


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Show a person at a terminal what runs; others see nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    from qmopt.cli.terminal import printable

    with Console(stderr=True, markup=False).status("") as status:
        yield lambda line: status.update(printable(line))


def _list() -> None:
    from qmopt.bench import SUITES
    from qmopt.bench.peers import peers
    from qmopt.cli.layout import put
    from qmopt.cli.methods import METHODS
    from qmopt.cli.terminal import console

    screen = console()
    put(
        screen,
        {"suite": list(SUITES)},
        {},
        {"markets": [each.about for each in SUITES.values()]},
    )
    for name, each in SUITES.items():
        screen.print(f"{name}: as in {each.source}")
    screen.print()
    others = peers()
    screen.print(f"methods: {', '.join(name for name in METHODS if name not in others)}")
    screen.print(f"peers:   {', '.join(others)}")


def _show(found: Sequence[Row], tolerance: float) -> None:
    """Print a table for each market, the best of its certified times as 1."""
    from rich.text import Text

    from qmopt.bench.row import machine, versions
    from qmopt.cli.layout import put
    from qmopt.cli.terminal import console, printable
    from qmopt.figures import small

    screen = console()
    for market in dict.fromkeys((row.suite, row.market) for row in found):
        mine = [row for row in found if (row.suite, row.market) == market]
        first = mine[0]
        times = [row.seconds for row in mine if row.status == "certified" and row.seconds]
        best = min(times, default=None)
        name = " ".join(part for part in market if part)
        screen.print(Text(f"{printable(name)}: {first.buyers} x {first.goods}", "bold"))
        put(
            screen,
            {
                "method": [printable(row.method) for row in mine],
                "status": [row.status for row in mine],
            },
            {
                "seconds": [_time(row.seconds) for row in mine],
                "ratio": [_ratio(row, best) for row in mine],
                "steps": ["-" if row.iterations is None else str(row.iterations) for row in mine],
                "gap": [small(row.gap) for row in mine],
                "worst": [small(row.worst) for row in mine],
                "price error": [small(row.price_error) for row in mine],
                "MiB": ["-" if r.peak_mib is None else f"{r.peak_mib:.1f}" for r in mine],
            },
        )
        for row in mine:
            if row.status in ("failed", "time limit", "not covered"):
                screen.print(f"  {printable(row.method)}: {printable(row.error)}")
        right = {row.reference for row in mine if row.reference}
        if right:
            screen.print(f"  prices are held against: {', '.join(sorted(right))}")
        for source in dict.fromkeys(row.source for row in mine if not row.measured):
            screen.print(f"  published: on the authors' machines, {printable(source)}")
        screen.print()
    screen.print(
        f"certified: every residual is at most {tolerance:g}. seconds: the best run, from market "
        "to outcome. ratio: to the best certified one. MiB: beside the market."
    )
    screen.print(f"{printable(machine())}; {versions()}")


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.4f}" if seconds < 1 else f"{seconds:.2f}"


def _ratio(row: Row, best: float | None) -> str:
    if best is None or row.seconds is None or not row.measured:
        return "-"
    return f"{row.seconds / best:.1f}"
