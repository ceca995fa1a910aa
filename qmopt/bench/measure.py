"""Run one method on one market in a process of its own, and measure what comes back."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import statistics
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import numpy as np

from qmopt import generate
from qmopt.arguments import named
from qmopt.bench.process import SETTING_UP, converse
from qmopt.bench.row import Row, machine, versions
from qmopt.bench.suites import Case
from qmopt.certificate import measure as certificate_of
from qmopt.market import Market
from qmopt.methods.outcome import Method, Outcome
from qmopt.point import per_good, per_pair
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: Letters of a message that a row keeps.
SHORT = 300


def run(
    method: Method, case: Case, *, label: str, repeat: int, time_limit: float, tolerance: float
) -> tuple[Row, tuple[Array, Array] | None]:
    """Run a method on a market, and return its row, and prices with the scale of free ones.

    The time is from market to outcome, after a run on a small market that compiles what there is
    to compile. Runs are repeated while they fit into the time limit together.

    Parameters
    ----------
    method
        Where it has a ``time_limit`` that is not set, it is set to that of the run.
    case
        Built in the process of the run.
    label
        Name of the method in the row.
    repeat
        Runs at most.
    time_limit
        Seconds for one run.
    tolerance
        Residual up to which the point counts as certified.
    """
    limited = within(method, time_limit)
    told: dict[str, Any] = {"seconds": [], "memory": [], "stage": "its market was built"}
    try:
        work = (_work, limited, case, repeat, time_limit, tolerance)
        for kind, news in converse(work, SETTING_UP + time_limit, time_limit):
            if kind == "ran":
                told["seconds"].append(news[0])
                told["memory"].append(news[1])
            elif kind == "error":
                told |= {"status": news[0], "error": news[1]}
            else:
                told |= news
    except TimeoutError:
        told["late"] = True
    except EOFError:
        told["error"] = f"its process ended while {told['stage']}, perhaps for want of memory"
    row = _row(told, case, label, named(limited), tolerance)
    return row, (told["prices"], told["scale"]) if "prices" in told else None


def within(method: Method, seconds: float) -> Method:
    """Return the method with a time limit, if it has such a setting and none is set."""
    fields = getattr(type(method), "__dataclass_fields__", {})
    if "time_limit" not in fields or getattr(method, "time_limit", 0) != np.inf:
        return method
    return cast(Method, dataclasses.replace(cast(Any, method), time_limit=seconds))


def _row(told: dict[str, Any], case: Case, label: str, settings: str, tolerance: float) -> Row:
    seconds, worst = told["seconds"], told.get("worst")
    if worst is not None:
        status = "certified" if worst <= tolerance else "not certified"
    elif told.get("late"):
        status = "time limit"
    else:
        status = told.get("status", "failed")
    error = told.get("error", "")
    if told.get("late") and worst is None:
        error = f"ended while {told['stage']}"
    kept = {f.name for f in dataclasses.fields(Row)} & told.keys() - {"seconds", "status", "error"}
    buyers, goods = told.get("shape", case.shape)
    return Row(
        suite=case.suite, market=case.name, buyers=buyers, goods=goods, method=label,
        status=status, settings=settings, error=error[:SHORT], runs=len(seconds),
        seconds=min(seconds) if seconds else None,
        median=statistics.median(seconds) if seconds else None,
        first=seconds[0] if seconds else None,
        peak_mib=min((m for m in told["memory"] if m is not None), default=None),
        versions=versions(), machine=machine(), **{name: told[name] for name in kept},
    )  # fmt: skip


def _work(
    channel: Connection, method: Method, case: Case, repeat: int, limit: float, tolerance: float
) -> None:
    market = case.build()
    channel.send(("warm", {"shape": market.shape, "stage": "it was getting warm"}))
    _warm(method, market)
    spent = 0.0
    for k in range(repeat):
        channel.send(("run", {"stage": "it ran"}))
        before = _memory(restart=True)
        begun = time.perf_counter()
        outcome = method.solve(market)
        took = time.perf_counter() - begun
        channel.send(("ran", (took, _memory() - before if before else None)))
        if k == 0:
            channel.send(("facts", {"stage": "its answer was measured"}))
            channel.send(("facts", _facts(market, outcome, tolerance)))
        del outcome
        spent += took
        if spent + took > limit:
            break


def _warm(method: Method, market: Market) -> None:
    """Let compiled code compile for the kind of values that the market has."""
    if not isinstance(market.utility, Linear):
        return
    small = generate.sparse(12, 6) if market.utility.sparse else generate.uniform(12, 6)
    if not market.utility.sparse:
        kind = np.asarray(market.utility.values).dtype
        small = small.replace(utility=Linear(np.asarray(cast(Any, small.utility).values, kind)))
    try:
        method.solve(small)
    except Exception:  # the run itself will say what is wrong
        return


def _facts(market: Market, outcome: Any, tolerance: float) -> dict[str, Any]:
    """Measure an outcome: everything that a row says of it, and the prices."""
    if not isinstance(outcome, Outcome):
        raise TypeError(f"an Outcome(prices, allocation, status) expected, got {named(outcome)}")
    prices = per_good(market, outcome.prices)
    found = certificate_of(market, prices, per_pair(market, outcome.allocation), tolerance)
    sizes = {name: abs(size) for name, size in found.residuals.items() if size is not None}
    values = getattr(market.utility, "values", None)
    count = None if values is None else getattr(values, "nnz", None) or int((values > 0).sum())
    stats = outcome.stats
    return {
        "prices": prices,
        "scale": credits_per_unit(market),
        "pairs": count,
        "claimed": str(outcome.status)[:SHORT],
        "iterations": _whole(stats.get("iterations")),
        "passes": _whole(stats.get("passes")),
        "gap": None if found.gap is None else float(found.gap),
        "worst": float(found.worst),
        "residual": max(sizes, key=lambda name: sizes[name]) if found.worst else "",
        "error": "; ".join(outcome.notes),
    }


def credits_per_unit(market: Market) -> Array:
    """Return all credits over the units of each good, the scale of a price that should be 0."""
    with np.errstate(divide="ignore"):
        return market.budgets.sum() / market.supplies


def _whole(count: Any) -> int | None:
    try:
        return int(count)
    except (TypeError, ValueError, OverflowError):
        return None


def _memory(*, restart: bool = False) -> float:
    """Most memory of this process since the last restart, MiB; 0 where the system does not tell.

    The kernel's own high-water mark of the process: that of ``getrusage`` is inherited.
    """
    status = Path("/proc/self/status")
    try:
        if restart:
            # what was freed and not given back would hide what the run takes of it
            gc.collect()
            with contextlib.suppress(AttributeError, OSError, TypeError):
                ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", "ascii")
        lines = status.read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return sum(float(x.split()[1]) / 2**10 for x in lines if x.startswith("VmHWM:"))
