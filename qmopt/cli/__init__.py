"""The command line: one file for each group of commands, wired together here.

Nothing that solves or reads tables is imported before a command needs it, so that ``--help`` and
completion answer at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from qmopt.cli import benching, solving, starting
from qmopt.cli.usage import Commands

app = typer.Typer(
    name="qmopt",
    cls=Commands,
    help="Clear a market of ML training chips: credits in, certified equilibrium prices out.\n\n"
    "A market is a TOML or JSON file, a folder of CSV or Parquet tables, or the name of a shipped "
    "model. Start with `qmopt models`, or write a market of your own with `qmopt new my-market`.",
    epilog="Exit codes: 0 certified, 1 failed or not certified, 2 bad input, "
    "3 an accepted answer that is less than certified.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(solving.clear)
app.command()(solving.certify)
app.command()(starting.models)
app.command()(starting.new)
app.command()(benching.bench)


def _version(asked: bool) -> None:
    if asked:
        from qmopt import __version__

        typer.echo(f"qmopt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass
