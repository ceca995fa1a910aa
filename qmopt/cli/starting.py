"""Commands to start from: the shipped models, and a market of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qmopt.cli.terminal import working

EXAMPLE = """\
# A market of ML training chips. Change the numbers, then run
#
#     qmopt clear market.toml
#
# Credits, values and prices are per period; supplies are chips held during it.

[market]
title = "Two teams, two kinds of chip"
about = "Both teams prefer an H100, but vision prefers it more: 4 to 1 against 2 to 1."
period = "1 hour"

# What there is: one row per chip type and place.
[[resources]]
resource = "h100@east"
supply = 8                  # chips
# reserve_price = 1.5       # below this price per chip, leave it idle

[[resources]]
resource = "a100@east"
supply = 16

# Who wants it: credits are what a team offers in this clearing.
[[teams]]
team = "vision"
credits = 60
# keep_value = 0.01         # worth of an unspent credit, in the team's unit of value

[[teams]]
team = "speech"
credits = 40

# What a chip is worth to a team. Only ratios within a team matter: here an H100 does four
# times the work of an A100 for vision, twice for speech. No row: of no use.
[[bids]]
team = "vision"
resource = "h100@east"
value = 4

[[bids]]
team = "vision"
resource = "a100@east"
value = 1

[[bids]]
team = "speech"
resource = "h100@east"
value = 2

[[bids]]
team = "speech"
resource = "a100@east"
value = 1

# Chips that a team gets in any case, free, taken out of the supply first:
# [[guarantees]]
# team = "speech"
# resource = "h100@east"
# units = 1
"""
README = """\
Next: `qmopt clear market.toml`, then change the numbers in market.toml and run it again.
`qmopt clear market.toml --out result` also writes the prices and the allocation as CSV files, and
`qmopt certify market.toml --prices result/prices.csv --allocation result/allocation.csv` measures
them once more.
"""


def models(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A model, to read about it. Default: list them all."),
    ] = None,
) -> None:
    """List the markets that come with qmopt, or tell about one of them.

    Example: `qmopt models gpu/helios-earth`
    """
    from qmopt.cli.layout import put
    from qmopt.cli.terminal import console, counted, printable

    with working():
        from qmopt import catalogue

        found = [catalogue.describe(each) for each in ([name] if name else catalogue.names())]
    screen = console()
    if name is not None:
        [model] = found
        screen.print(f"{model.name}: {printable(model.title)}")
        counts = {"team": model.teams, "resource": model.resources, "bid": model.bids}
        screen.print(", ".join(counted(count, noun) for noun, count in counts.items()))
        for key in ("about", "source", "licence"):
            told = " ".join(getattr(model, key).split())
            screen.print(f"\n{key}: {printable(told) or 'not said'}")
        screen.print(f"\npath: {catalogue.path(model.name)}", soft_wrap=True)
        return
    put(
        screen,
        {"model": [model.name for model in found]},
        {
            "teams": [str(model.teams) for model in found],
            "resources": [str(model.resources) for model in found],
        },
        {"title": [printable(model.title) for model in found]},
    )


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
) -> None:
    """Write a commented example market to start from.

    Example: `qmopt new my-market && qmopt clear my-market/market.toml`
    """
    from qmopt.errors import TableError

    with working():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise TableError(f"{folder}: a new or empty folder expected; nothing was written")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "market.toml").write_text(EXAMPLE, encoding="utf-8")
        (folder / "README.md").write_text(README, encoding="utf-8")
    typer.echo(f"written: {folder / 'market.toml'}")
    typer.echo(f"next:    qmopt clear {folder / 'market.toml'}")
