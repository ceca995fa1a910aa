"""Loops over nodes and edges that no array operation can do: interpreted, or compiled when long.

One source serves both. On lists the interpreter is quick for a few ten thousand turns, and nothing
has to be loaded; beyond, numba compiles the same function once for all and runs it on arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

#: Length from which on compiling pays, and where the compiler is loaded anyway.
LONG, LOADED = 30_000, 300


def run(loop: Callable[..., Any], length: int, *arguments: Any) -> tuple[list[Any], ...]:
    """Run a loop that fills its arguments in place; return those it may have filled, as lists.

    Parameters
    ----------
    loop
        Takes numbers and one-dimensional arrays or lists, indexed by whole numbers only; returns
        nothing. It may call what :mod:`math` has.
    length
        About how many turns it takes.
    *arguments
        Numbers, arrays or lists.

    Examples
    --------
    >>> def squares(numbers, found):
    ...     for k in range(len(numbers)):
    ...         found[k] = numbers[k] * numbers[k]
    >>> run(squares, 3, [1.0, 2.0, 3.0], [0.0] * 3)
    ([1.0, 2.0, 3.0], [1.0, 4.0, 9.0])
    """
    if length < (LOADED if "numba" in sys.modules else LONG):
        told = [a.tolist() if isinstance(a, np.ndarray) else a for a in arguments]
        loop(*told)
        return tuple(a for a in told if isinstance(a, list))
    told = [np.array(a) if _many(a) else a for a in arguments]
    _compiled(loop)(*told)
    return tuple(a.tolist() for a in told if isinstance(a, np.ndarray))


def _many(argument: Any) -> bool:
    return isinstance(argument, np.ndarray | Sequence)


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function, and keeps the code on disk where it may.

    Parameters
    ----------
    **options
        Of ``numba.njit``.
    """
    import numba

    def compile_(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no folder to write to: compiled anew in each process
            return numba.njit(**options)(function)

    return compile_


@cache
def _compiled(loop: Callable[..., Any]) -> Any:
    return compiled()(loop)
