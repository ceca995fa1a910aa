"""An equilibrium or a certificate as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from qmopt.arguments import named
from qmopt.certificate import MEANING
from qmopt.cli.layout import put
from qmopt.cli.terminal import console, counted, printable
from qmopt.figures import column, small
from qmopt.rationals import written

if TYPE_CHECKING:
    from qmopt.certificate import Certificate
    from qmopt.equilibrium import Equilibrium
    from qmopt.market import Market
    from qmopt.proving import ExactAnswer
    from qmopt.utilities.protocol import Array

#: Rows of one table before it only counts the rest.
ROWS = 40
#: Of a supply or a budget, the share up to which something left over is rounding.
ROUNDING = 1e-12
#: An interval narrower than this share of the price is a point.
WIDE = 1e-6
#: Characters of a rational that somebody would read.
READABLE = 24


def equilibrium(found: Equilibrium) -> None:
    """Print prices, allocation, teams, certificate and remarks."""
    market, screen = found.market, console()
    name = printable(market.title) or "Market"
    screen.print(
        Text(f"{name}: {counted(market.n, 'team')}, {counted(market.m, 'resource')}", "bold")
    )
    screen.print()
    _prices(found)
    if found.exact is not None:
        _exact_prices(found, found.exact)
    _allocation(found)
    _activities(found)
    _teams(found)
    split = " of the split, in which each workload has credits of its own"
    certificate(found.certificate, split if found.status == "split" else "")
    _remarks(found)


def certificate(measured: Certificate, of: str = "") -> None:
    """Print each residual with what it says, and the verdict; of what, if not of the market."""
    screen = console()
    screen.print(Text(f"Certificate{of} (each number is relative; 0 is exact)", "bold"))
    sizes = measured.residuals
    put(
        screen,
        {"residual": list(sizes)},
        {"size": [small(size) for size in sizes.values()]},
        {"0 says that": [MEANING[name] for name in sizes]},
    )
    holds = measured.certified()
    verdict = "certified" if holds else "NOT certified"
    relation = "<=" if holds else ">"
    line = f"{verdict}: worst {small(measured.worst)} {relation} tolerance {measured.tolerance:g}"
    screen.print(Text(line, "bold green" if holds else "bold red"))
    for note in measured.notes:
        screen.print(f"note: {printable(note)}")


def _prices(found: Equilibrium) -> None:
    market, bounds, wide = found.market, found.price_intervals, _wide(found)
    sold = market.supplies - found.idle
    columns: dict[str, Sequence[float | None]] = {"price": found.prices.tolist()}
    if wide.any():
        for side, name in enumerate(("from", "to")):
            columns[name] = [b if w else None for b, w in zip(bounds[:, side], wide, strict=True)]
    if market.reserves.any():
        columns["reserve"] = market.reserves.tolist()
    columns |= {"supply": market.supplies.tolist(), "sold": sold.tolist()}
    columns["idle"] = _settled(found.idle, market.supplies)
    if market.guarantees is not None:
        columns["guaranteed"] = market.guarantees.sum(axis=0).tolist()
    title = f"Prices (credits per chip and {_per(market)}; supply, sold and idle in chips)"
    _put(title, {"resource": market.goods}, columns)


def _wide(found: Equilibrium) -> NDArray[np.bool_]:
    """Which prices could be others that a reader would notice."""
    low, high = found.price_intervals.T
    with np.errstate(invalid="ignore"):
        wide = high - low > WIDE * np.abs(found.prices)
    return wide | (found.market.empty & ~np.isnan(low))


def _exact_prices(found: Equilibrium, exact: ExactAnswer) -> None:
    """Print the prices as rationals, those that are short enough to be read."""
    pairs = zip(found.market.goods, exact.prices, strict=True)
    texts = [(printable(good), written(price)) for good, price in pairs if price is not None]
    short = [f"{good} {text}" for good, text in texts if len(text) <= READABLE][:ROWS]
    left = len(texts) - len(short)
    more = [f"{left} more with --json"] if left else []
    console().print(Text(f"exactly: {'; '.join([*short, *more])}\n"))


def _allocation(found: Equilibrium) -> None:
    title = f"Allocation (units in chips, spend in credits per {_per(found.market)})"
    _put(title, *_apart(found.columns()["allocation"]))


def _activities(found: Equilibrium) -> None:
    """Print what teams do with bundles and workloads, where there are any."""
    columns = found.columns()
    if "activities" in columns and not _one_chip_each(found.market):
        _put("Activities (units of each option)", *_apart(columns["activities"]))
    if "workloads" in columns:
        names, numbers = _apart(columns["workloads"])
        endless = numbers["demand"]
        numbers["demand"] = [None if demand == np.inf else demand for demand in endless]
        title = (
            f"Workloads (units of demand, credits per {_per(found.market)}, value in each team's "
            "own unit)"
        )
        _put(title, names, numbers)


def _one_chip_each(market: Market) -> bool:
    """Whether each option takes one chip, so that an allocation says what is done."""
    needs = market.utility.activities().needs
    return len(needs.data) == needs.shape[0] and bool((needs.data == 1).all())


def _apart(
    columns: Mapping[str, Sequence[Any] | Array],
) -> tuple[dict[str, list[str]], dict[str, list[float | None]]]:
    """Part the columns of names from those of numbers; no name is an empty one."""
    names = {
        key: ["" if name is None else str(name) for name in column]
        for key, column in columns.items()
        if not isinstance(column, np.ndarray)
    }
    return names, {key: list(column) for key, column in columns.items() if key not in names}


def _teams(found: Equilibrium) -> None:
    columns = {key: list(c) for key, c in found.columns()["teams"].items() if key != "team"}
    for unspent in [key for key in columns if key.startswith("unspent")]:
        budget = columns[unspent.replace("unspent", "budget")]
        columns[unspent] = _settled(np.asarray(columns[unspent]), np.asarray(budget))
    title = f"Teams (credits per {_per(found.market)}; utility in each team's own unit of value)"
    _put(title, {"team": found.market.buyers}, columns)


def _remarks(found: Equilibrium) -> None:
    screen = console()
    if _wide(found).any():
        screen.print(
            "note: every price between from and to goes with an equilibrium; "
            "where there is no supply, nobody would buy at from or above"
        )
    for name, reason in found.excluded.items():
        screen.print(f"excluded: {printable(name)}: {printable(reason)}")
    for note in found.notes:
        screen.print(f"note: {printable(note)}")
    seconds = found.stats.get("seconds")
    spent = sum(seconds.values()) if isinstance(seconds, Mapping) else seconds
    took = "" if spent is None else f", {spent:.2f} s"
    screen.print(f"method: {printable(named(found.method))}{took}")


def _per(market: Market) -> str:
    """Return the period as it reads after "per": "1 hour" is "hour"."""
    return printable(market.period).removeprefix("1 ")


def _settled(differences: Array, of: Array) -> list[float]:
    """Return what is left of a difference once the last bits of its terms are taken for zero."""
    return np.where(differences <= ROUNDING * of, 0.0, differences).tolist()


def _put(
    title: str,
    names: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[float | None]],
) -> None:
    """Print a title and a table of names on the left and numbers on the right, at most ROWS."""
    screen = console()
    screen.print(Text(title, "bold"))
    put(
        screen,
        {name: list(map(printable, texts[:ROWS])) for name, texts in names.items()},
        {name.replace("_", " "): column(numbers[:ROWS]) for name, numbers in columns.items()},
    )
    count = len(next(iter(names.values())))
    if count > ROWS:
        screen.print(f"  ... and {count - ROWS} more rows; --out DIR and --json write them all\n")
