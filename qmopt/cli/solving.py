"""Commands that solve and measure: clear and certify."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qmopt.cli.foreign import blaming
from qmopt.cli.methods import FOR_WORKLOADS, METHODS, find_method
from qmopt.cli.terminal import CERTIFIED, FAILED, LESS, complain, counted, waiting, working

if TYPE_CHECKING:
    from qmopt.market import Market
    from qmopt.tables import Table

Source = Annotated[
    str, typer.Argument(metavar="PATH", help="A file, a folder, or the name of a shipped model.")
]
Tolerance = Annotated[
    float,
    typer.Option(min=0, metavar="NUMBER", help="Largest residual that still counts as certified."),
]
AsJson = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document instead of tables.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", metavar="", help="Print nothing; the exit code tells.")
]
Delimiter = Annotated[
    str,
    typer.Option(metavar="CHAR", help="What separates the cells of CSV files; `tab` for a tab."),
]
Decimal = Annotated[str, typer.Option(metavar="CHAR", help="Decimal mark in CSV files.")]
Thousands = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Mark between groups of digits in CSV files. Default: none."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Raise or lower a limit of reading, such as `rows=10000000`; may be repeated.",
    ),
]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def clear(
    path: Source,
    tolerance: Tolerance = 1e-8,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write result.json, prices.csv, allocation.csv and team_results.csv there.",
        ),
    ] = None,
    near: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of an allocation that runs; among equal equilibria, stay near it.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            metavar="",
            help="Take numbers as they are written, clear in rationals and prove it; `--json` "
            "gives prices and units as text such as 109/18.",
        ),
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"{_listed(METHODS)}; for workloads {_listed(FOR_WORKLOADS)}; or "
            "`package.module:Class` of your own. Default: what suits the market.",
        ),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="For workloads, what else may be returned if no equilibrium is found, labelled so "
            "and with exit code 3: `split` (each workload has credits of its own), or "
            "`nash_welfare` (prices as an indication). May be repeated.",
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="`clarabel`, `scs`, or the name of one that CVXPY has installed."
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="When to stop, to measure what there is by then."),
    ] = None,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    thousands: Thousands = None,
    limit: Limit = None,
    quiet: Quiet = False,
    tracing: Annotated[
        bool,
        typer.Option(
            "--traceback", metavar="", help="Show where an error comes from, line by line."
        ),
    ] = False,
) -> None:
    """Clear a market: find one price per resource, and who gets what, with a certificate.

    Example: `qmopt clear gpu/helios-earth --out result`
    """
    if time_limit is not None and not time_limit > 0:
        raise typer.BadParameter("more than 0 seconds expected", param_hint="--time-limit")
    with working(as_json, tracing=tracing):
        csv = _csv_options(delimiter, decimal, thousands, limit)
        from qmopt import files, results
        from qmopt.arguments import named
        from qmopt.clearing import clear as clear_market
        from qmopt.errors import QmoptError
        from qmopt.notions import accepted
        from qmopt.reading import read_market

        accepts = accepted(name.replace("-", "_") for name in accept or ())
        if out is not None:
            files.refuse_foreign(out)
        market = read_market(path, exact=exact, **csv)
        chosen = find_method(method, solver, time_limit, market, accepts)
        running = _one(near, "allocation", csv) if near else None
        told = f"clearing {counted(market.n, 'team')} x {counted(market.m, 'resource')}"
        try:
            with (
                waiting(f"{told} by {type(chosen).__name__}", quiet=quiet),
                blaming(f"method {method or named(chosen)}", type(chosen).__module__),
            ):
                found = clear_market(
                    market,
                    chosen,
                    tolerance=tolerance,
                    near=running,
                    exact=exact,
                    accept=accepts,
                )
        except QmoptError as error:
            if out is not None:
                files.record_failure(error, out)
            raise
        if out is not None:
            files.write(found, out)
    if as_json:
        typer.echo(results.dumps(results.to_json(found)))
    elif not quiet:
        from qmopt.cli import show

        show.equilibrium(found)
        if out is not None:
            typer.echo(f"written: {', '.join(str(out / name) for name in files.FILES)}")
    raise typer.Exit(CERTIFIED if found.status == "certified" else LESS)


def certify(
    path: Source,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table of prices. Default: the market's own."),
    ] = None,
    allocation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of an allocation. Default: the market's own if the prices are its own "
            "too, else none: the prices are judged alone.",
        ),
    ] = None,
    tolerance: Tolerance = 1e-8,
    as_json: AsJson = False,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    thousands: Thousands = None,
    limit: Limit = None,
    quiet: Quiet = False,
) -> None:
    """Measure prices, with or without an allocation, against the definition of an equilibrium.

    They may come from qmopt, from another program, or from a spreadsheet.

    Example: `qmopt certify my-market/market.toml --prices result/prices.csv`
    """
    with working(as_json):
        csv = _csv_options(delimiter, decimal, thousands, limit)
        from qmopt import results
        from qmopt.judging import certify as measure
        from qmopt.reading import read_market

        market = read_market(path, **csv)
        told = _one(prices, "prices", csv) if prices else _own(market, "prices")
        if told is None:
            raise typer.BadParameter(
                "the market has no table of prices; name one", param_hint="--prices"
            )
        held = _one(allocation, "allocation", csv) if allocation else None
        if held is None and prices is None:
            held = _own(market, "allocation")
        found = measure(market, told, held, tolerance=tolerance)
    certified = found.certified()
    if as_json:
        typer.echo(results.dumps(results.verdict(market, found)))
    elif not quiet:
        from qmopt.cli import show

        show.certificate(found)
    if not certified and quiet:
        complain(f"not certified: worst residual {found.worst:.1e} > tolerance {tolerance:g}")
    raise typer.Exit(CERTIFIED if certified else FAILED)


def _csv_options(
    delimiter: str, decimal: str, thousands: str | None, limit: list[str] | None
) -> dict[str, Any]:
    """Return how files are read, as the keywords of all that reads them."""
    from qmopt.tables import Limits

    named = {"tab": "\t", "\\t": "\t"}.get(delimiter.lower(), delimiter)
    return {
        "delimiter": named,
        "decimal": decimal,
        "thousands": thousands,
        "limits": Limits.parse(limit or ()),
    }


def _one(path: Path, name: str, csv: dict[str, Any]) -> Table:
    """Read one table, written as the market's CSV files are, or as qmopt writes its results.

    The two are told apart by the header: that of a result is separated by commas.
    """
    from qmopt import tables

    if path.suffix.lower() == ".csv" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            header = file.readline(1000)
        if csv["delimiter"] not in header and "," in header:
            csv = csv | {"delimiter": ",", "decimal": ".", "thousands": None}
    return tables.read_table(path, name, **csv)


def _own(market: Market, name: str) -> Table | None:
    """Return a table that came with the market, if it has any rows."""
    table = market.tables[name] if market.tables is not None else None
    return table if table is not None and len(table) else None
