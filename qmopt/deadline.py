"""Hold compiled code to a deadline, in a process of its own, which can be ended; and loops."""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")

#: Seconds beyond the deadline in which whoever keeps deadlines of its own may still answer.
GRACE = 0.5
#: Whether this process is held to a deadline as a whole, so that none is needed for its parts.
held = False


def hold(work: Callable[[], T], seconds: float) -> T:
    """Return what a function returns, or raise TimeoutError if it has not by then.

    A solver looks at its clock between iterations only, and on a large problem one can take long.
    So the work is done in a forked process, which is killed a little after the deadline. Where
    processes cannot be forked (Windows), or this one is held to a deadline as a whole, the function
    is simply called.

    Parameters
    ----------
    work
        Takes nothing, returns something that pickles; so do the exceptions it raises.
    seconds
        Time from now.

    Examples
    --------
    >>> import time
    >>> hold(lambda: 6 * 7, seconds=60)
    42
    >>> hold(lambda: time.sleep(60), seconds=0.01)
    Traceback (most recent call last):
    TimeoutError
    """
    if held or "fork" not in multiprocessing.get_all_start_methods():
        return work()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, theirs), daemon=True)
    with warnings.catch_warnings():
        # numerical libraries keep threads; the child uses none that it did not start itself
        warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
        process.start()
    theirs.close()
    try:
        if not ours.poll(seconds + GRACE):
            raise TimeoutError
        returned, answer = ours.recv()
    except EOFError:
        raise ChildProcessError("the solver's process ended without an answer") from None
    finally:
        process.kill()
        process.join()
        ours.close()
    if not returned:
        raise answer
    return answer


def in_time(items: Iterable[T], deadline: float) -> Iterator[T]:
    """Yield items, or raise TimeoutError once ``time.monotonic()`` is past a deadline.

    Examples
    --------
    >>> list(in_time([1, 2], deadline=float("inf")))
    [1, 2]
    >>> list(in_time([1, 2], deadline=0))
    Traceback (most recent call last):
    TimeoutError
    """
    for item in items:
        if time.monotonic() > deadline:
            raise TimeoutError
        yield item


def _answer(work: Callable[[], object], ours: Connection) -> None:
    try:
        answer: tuple[bool, object] = (True, work())
    except Exception as error:
        answer = (False, error)
    ours.send(answer)
