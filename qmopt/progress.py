"""Word from long work: methods tell where they are, and whoever wants to may listen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(where: str, *numbers: object) -> None:
    """Tell the listener, if there is one, where the work is.

    Parameters
    ----------
    where
        With a ``{}`` for each number; put together only if somebody listens.
    *numbers
        What goes there.
    """
    listener = _listener.get()
    if listener is not None:
        listener(where.format(*numbers))


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a function with every word of progress while the block runs, in this thread.

    Parameters
    ----------
    listener
        Takes one short line of text. What it raises stops the work.

    Examples
    --------
    >>> from qmopt import InteriorPoint, Linear, Market, clear
    >>> from qmopt.progress import listening
    >>> told = []
    >>> with listening(told.append):
    ...     found = clear(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])), InteriorPoint())
    >>> told[0]
    'interior point: step 1, residual 1...'
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
