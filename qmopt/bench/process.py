"""Work in a process of its own, which says how it goes and can be ended.

A process of its own, so that its memory is its own, and so that a crash or a run without end costs
one row. It is forked where the system forks; where numba's threads run already, which do not
survive a fork, and on other systems, a fresh one is started.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from qmopt import deadline
from qmopt.errors import MarketError

#: A method that keeps a time limit of its own gets this much longer, in shares of it and seconds.
LONGER, GRACE = 0.25, 2.0
#: Seconds, beside the time limit, to build a market or to measure an answer, and to get warm.
SETTING_UP, WARMING_UP = 300.0, 60.0
#: Of the free memory of the machine, what one process may take.
SHARE = 0.8


def aside(work: Callable[..., None], *arguments: Any, seconds: float) -> Any:
    """Return the last thing that a function sent within some seconds from its own process.

    The function gets a connection before its arguments. None if it sent nothing.
    """
    last = None
    try:
        for kind, news in converse((work, *arguments), seconds, seconds):
            last = news if kind == "told" else last
    except (TimeoutError, EOFError):
        pass
    return last


def converse(
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
    _bound_memory()
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


def _bound_memory() -> None:
    """Let this process have most of what is free, so that a large market costs a row, no more.

    Linux only: elsewhere nothing counts what a process could come to hold.
    """
    with contextlib.suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        told = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(x.split()[1]) for x in told if x.startswith("MemAvailable:")) * 2**10
        status = Path("/proc/self/status").read_text("ascii").splitlines()
        held = next(int(x.split()[1]) for x in status if x.startswith("VmData:")) * 2**10
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (int(held + SHARE * free), most))
