"""Plots of a benchmark, with matplotlib (the ``plot`` extra), which is imported only here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmopt.bench.profile import profile
from qmopt.bench.row import Row
from qmopt.errors import QmoptError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colours that stay apart for colour-blind eyes and in grey (Okabe and Ito), and marks with them.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKS = "osD^vP*X"
#: The least gap that is drawn: below, floating point says nothing.
LEAST = 1e-17


class PlotsNotInstalled(QmoptError, ImportError):
    """Plots were asked for and matplotlib is missing."""


def _figure(titles: Sequence[str], across: str, up: str) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes, one for each title, side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotsNotInstalled(
            "plots need matplotlib, which is not installed: pip install 'qmopt[plot]'"
        ) from error
    # no pyplot: nothing is shown, and no state is left behind
    figure = Figure(figsize=(3.7 + 4.8 * len(titles), 4.6), layout="constrained")
    panels = [figure.add_subplot(1, len(titles), k + 1) for k in range(len(titles))]
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlabel=across, ylabel=up if axes is panels[0] else "")
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def _legend(axes: Any, title: str | None = None) -> None:
    if axes.get_legend_handles_labels()[0]:  # an empty one is a warning
        beside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        axes.legend(frameon=False, fontsize="small", title=title, **beside)


def _styles(rows: Iterable[Row]) -> dict[str, dict[str, str]]:
    names = dict.fromkeys(row.method for row in rows)
    return {
        name: {"color": COLOURS[k % len(COLOURS)], "marker": MARKS[k % len(MARKS)]}
        for k, name in enumerate(names)
    }


def performance_profile(rows: Sequence[Row], tolerances: Sequence[float] = (1e-3, 1e-9)) -> Figure:
    """Draw, for each method, the share of markets that it solves within a ratio of the best time.

    Parameters
    ----------
    rows
        Of a benchmark; published ones are left out.
    tolerances
        Largest residuals that count as solved, a panel for each.

    Raises
    ------
    PlotsNotInstalled
        If there is no matplotlib.
    """
    profiles = [profile(rows, tolerance=tolerance) for tolerance in tolerances]
    styles = _styles(row for row in rows if row.measured)
    figure, panels = _figure(
        [f"{p.markets} markets, residual {t:g}" for p, t in zip(profiles, tolerances, strict=True)],
        "time, relative to the best on the market", "share of markets solved",
    )  # fmt: skip
    for found, axes in zip(profiles, panels, strict=True):
        reached = {
            name: [float(r) for r in ratios if r < math.inf]
            for name, ratios in found.ratios.items()
        }
        end = max(10.0, *(1.5 * max(ratios, default=1) for ratios in reached.values()), 10.0)
        for name, ratios in reached.items():
            steps = [1.0, *ratios, end]
            shares = [found.share(name, step) for step in steps]
            style = {"color": styles[name]["color"], "linewidth": 1.8}
            axes.step(steps, shares, where="post", label=f"{name} ({len(ratios)})", **style)
        axes.set(xscale="log", xlim=(1, end), ylim=(-0.02, 1.02))
        _legend(axes, title="solved")
    return figure


def time_against_size(rows: Sequence[Row]) -> Figure:
    """Draw seconds over pairs of positive value; hollow marks are points that do not certify."""
    figure, [axes] = _figure(["Time against size"], "pairs of positive value", "seconds")
    for name, style in _styles(row for row in rows if row.measured).items():
        mine = [r for r in rows if r.method == name and r.measured and r.seconds and r.pairs]
        mine.sort(key=lambda row: (row.pairs or 0, row.market))
        solved = [r for r in mine if r.status == "certified"]
        other = [r for r in mine if r.status != "certified"]
        axes.plot(
            [r.pairs for r in solved], [r.seconds for r in solved],
            linestyle="none", label=name, **style,
        )  # fmt: skip
        axes.plot(
            [r.pairs for r in other], [r.seconds for r in other],
            linestyle="none", markerfacecolor="none", **style,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log")
    _legend(axes, title="hollow: not certified")
    return figure


def gap_against_time(rows: Sequence[Row]) -> Figure:
    """Draw the size of the gap that each method reached over the seconds that it took."""
    figure, [axes] = _figure(["Gap against time"], "seconds", "gap of the program, relative")
    for name, style in _styles(row for row in rows if row.measured).items():
        mine = [
            r for r in rows
            if r.method == name and r.measured and r.seconds
            and r.gap is not None and math.isfinite(r.gap)
        ]  # fmt: skip
        axes.plot(
            [r.seconds for r in mine], [max(abs(r.gap or 0), LEAST) for r in mine],
            linestyle="none", label=name, **style,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log")
    _legend(axes)
    return figure


def write(rows: Sequence[Row], folder: Path, *, tolerance: float = 1e-9) -> list[Path]:
    """Write profile.png, size.png and gap.png into a folder, and return their paths."""
    figures = {
        "profile.png": performance_profile(rows, (max(1e-3, tolerance), tolerance)),
        "size.png": time_against_size(rows),
        "gap.png": gap_against_time(rows),
    }
    paths = []
    for name, figure in figures.items():
        figure.savefig(folder / name, dpi=130)
        paths.append(folder / name)
    return paths
