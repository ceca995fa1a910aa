"""One row of a benchmark: a method on a market, or what somebody else published about it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

#: Packages whose versions bear on what is measured.
PACKAGES = ("qmopt", "numpy", "scipy", "numba", "cvxpy", "clarabel", "scs", "highspy")


@dataclass(frozen=True)
class Row:
    """What was measured, or published. None means that there is no such number.

    Parameters
    ----------
    suite, market
        Names; ``suite`` is empty for a market of one's own.
    buyers, goods, pairs
        Size, and the number of pairs of positive value.
    method, settings
        Label, and the method as it shows itself.
    status
        ``certified``: every residual is within the tolerance. ``not certified``: there is a point,
        and it is not. ``time limit``: there was none in time. ``not covered``: the method says that
        the market is not for it. ``failed``: it raised, or its process ended. ``published``.
    claimed
        What the method says of itself.
    seconds, median, first
        From market to outcome: the least, the middle one, and the first of all runs.
    runs
        How many.
    iterations, passes
        As the method counts them; passes are those over all values.
    gap, worst, residual
        Of the certificate, measured outside the time; ``residual`` names the worst.
    price_error
        Largest error of a price, relative to the price; of a good that is free, relative to all
        credits.
    reference
        Where the right prices come from.
    peak_mib
        Most memory that a run took beside the market and what was loaded already, MiB; of several
        runs the least, since the first may load code.
    error
        What went wrong, in words.
    source
        ``measured``, or where it was published.
    versions, machine
        Of the packages, and of what it ran on.
    """

    suite: str
    market: str
    buyers: int
    goods: int
    method: str
    status: str
    pairs: int | None = None
    settings: str = ""
    claimed: str = ""
    seconds: float | None = None
    median: float | None = None
    first: float | None = None
    runs: int = 0
    iterations: int | None = None
    passes: int | None = None
    gap: float | None = None
    worst: float | None = None
    residual: str = ""
    price_error: float | None = None
    reference: str = ""
    peak_mib: float | None = None
    error: str = ""
    source: str = "measured"
    versions: str = ""
    machine: str = ""

    @property
    def measured(self) -> bool:
        """Whether this ran here."""
        return self.source == "measured"


@cache
def versions() -> str:
    """Return the versions of Python and of what matters that is installed."""
    found = [f"python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            if package == "qmopt":  # a checkout on the path
                from qmopt import __version__

                found.insert(0, f"qmopt {__version__}")
    return ", ".join(found)


@cache
def machine() -> str:
    """Return processor, number of cores, memory and system."""
    name = platform.processor() or platform.machine()
    told = Path("/proc/cpuinfo")
    if told.is_file():
        models = [x for x in told.read_text("utf-8").splitlines() if x.startswith("model name")]
        name = models[0].partition(":")[2].strip() if models else name
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        memory = f", {size:.0f} GiB"
    return f"{name}, {os.cpu_count()} cores{memory}, {platform.system()} {platform.release()}"
