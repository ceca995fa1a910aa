"""Run one method on one market in a process of its own, and measure what comes back.

A process of its own, so that its memory is its own, and so that a crash or a run without end costs
one row. It is forked where the system forks; where numba's threads run already, which do not
survive a fork, and on other systems, a fresh one is started.
"""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import pickle
import signal
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import numpy as np

from qmopt import deadline, generate
from qmopt.arguments import named
from qmopt.bench.row import Row, machine, versions
from qmopt.bench.suites import Case
from qmopt.certificate import measure as certificate_of
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.outcome import Method, Outcome
from qmopt.point import per_good, per_pair
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Array

#: A method that keeps a time limit of its own gets this much longer, in shares of it and seconds.
LONGER, GRACE = 0.25, 2.0
#: Seconds, beside the time limit, to build a market or to measure an answer, and to get warm.
SETTING_UP, WARMING_UP = 300.0, 60.0
#: Letters of a message that a row keeps.
SHORT = 300


def run(
    method: Method, case: Case, *, label: str, repeat: int, time_limit: float, tolerance: float
) -> tuple[Row, Array | None]:
    """Run a method on a market, and return its row and the prices that it found.

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
    told: dict[str, Any] = {"seconds": [], "stage": "building the market"}
    try:
        work = (_work, limited, case, repeat, time_limit, tolerance)
        for kind, news in _converse(work, SETTING_UP + time_limit, time_limit):
            if kind == "ran":
                told["seconds"].append(news)
            elif kind == "error":
                told |= {"status": news[0], "error": news[1]}
            else:
                told |= news
    except TimeoutError:
        told["late"] = True
    except EOFError:
        told["error"] = f"its process ended while {told['stage']}, perhaps for want of memory"
    return _row(told, case, label, named(limited), tolerance), told.get("prices")


def within(method: Method, seconds: float) -> Method:
    """Return the method with a time limit, if it has such a setting and none is set."""
    fields = getattr(type(method), "__dataclass_fields__", {})
    if "time_limit" not in fields or getattr(method, "time_limit", 0) != np.inf:
        return method
    return cast(Method, dataclasses.replace(cast(Any, method), time_limit=seconds))


def aside(work: Callable[..., None], *arguments: Any, seconds: float) -> Any:
    """Return the last thing that a function sent within some seconds from its own process.

    The function gets a connection before its arguments. None if it sent nothing.
    """
    last = None
    try:
        for kind, news in _converse((work, *arguments), seconds, seconds):
            last = news if kind == "told" else last
    except (TimeoutError, EOFError):
        pass
    return last


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
        versions=versions(), machine=machine(), **{name: told[name] for name in kept},
    )  # fmt: skip


def _converse(
    work: tuple[Any, ...], patience: float, time_limit: float
) -> Iterator[tuple[str, Any]]:
    """Yield what a process of its own has to say; TimeoutError if it is late, EOFError if it died.

    It has the patience in seconds for each thing it says, and after the words "warm" and "run" the
    time limit and a little more.
    """
    kind = _start_method()
    context: Any = multiprocessing.get_context(kind)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, *work))
    with warnings.catch_warnings():
        # numerical libraries keep threads; the child uses none that it did not start itself
        warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
        try:
            process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            told = f"it cannot be sent to a fresh process; a module can define what can ({error})"
            yield "error", ("failed", told)
            return
    theirs.close()
    limit = patience
    try:
        while True:
            if not ours.poll(None if np.isinf(limit) else limit):
                raise TimeoutError
            said, news = ours.recv()
            if said == "done":
                return
            limit = patience
            if said in ("run", "warm"):
                limit = time_limit * (1 + LONGER) + (GRACE if said == "run" else WARMING_UP)
            yield said, news
    finally:
        _end(process)
        ours.close()


def _end(process: Any) -> None:
    """End a process and whatever it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def _start_method() -> str:
    # numba's own flag; a missing one only means that it was not loaded
    threads = getattr(sys.modules.get("numba.np.ufunc.parallel"), "_is_initialized", False)
    forks = "fork" in multiprocessing.get_all_start_methods() and not threads
    return "fork" if forks else "spawn"


def _answer(channel: Connection, work: Callable[..., None], *arguments: Any) -> None:
    """Do the work, quietly; whatever it raises is told."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # a group of its own, which is ended as one
    deadline.held = True
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # solvers print from C
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    warnings.simplefilter("ignore")
    try:
        work(channel, *arguments)
    except MarketError as error:
        channel.send(("error", ("not covered", str(error))))
    except BaseException as error:
        channel.send(("error", ("failed", f"{type(error).__name__}: {error}")))
    channel.send(("done", None))


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
        peak = _memory() - before
        channel.send(("ran", took))
        if k == 0:
            channel.send(("facts", {"stage": "its answer was measured"}))
            facts = _facts(market, outcome, tolerance)
            channel.send(("facts", facts | {"peak_mib": peak if before else None}))
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
        "pairs": count,
        "claimed": str(outcome.status)[:SHORT],
        "iterations": _whole(stats.get("iterations")),
        "passes": _whole(stats.get("passes")),
        "gap": None if found.gap is None else float(found.gap),
        "worst": float(found.worst),
        "residual": max(sizes, key=lambda name: sizes[name]) if found.worst else "",
        "error": "; ".join(outcome.notes),
    }


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
            Path("/proc/self/clear_refs").write_text("5", "ascii")
        lines = status.read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return sum(float(x.split()[1]) / 2**10 for x in lines if x.startswith("VmHWM:"))
