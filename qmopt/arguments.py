"""What callers give: numbers, names and settings, checked, then frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qmopt.errors import MarketError

Array: TypeAlias = NDArray[np.float64]

#: Letters of an object that a message still shows.
_LONG = 200


@dataclass(frozen=True)
class Numbered(Sequence[str]):
    """Names "0", "1", ... that are made when somebody asks for one; there may be a million.

    Examples
    --------
    >>> Numbered(12)[-1], len(Numbered(12)), tuple(Numbered(3))
    ('11', 12, ('0', '1', '2'))
    """

    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        found = range(self.size)[place]
        return [str(k) for k in found] if isinstance(found, range) else str(found)


def numbers(
    what: str, given: ArrayLike | None, names: Sequence[str], default: float | None
) -> Array:
    """Check one finite, nonnegative number for each name; infinite only where the default is.

    Without a default, numbers have to be given.

    Raises
    ------
    MarketError
        That names the argument, the place and the value.

    Examples
    --------
    >>> numbers("supplies", [8, -1], ("h100", "a100"), 0)
    Traceback (most recent call last):
    qmopt.errors.MarketError: supplies[1] (a100): -1.0 is not a finite, nonnegative number
    """
    if given is None and default is None:
        raise MarketError(f"{what}: numbers expected, got None")
    if given is None:
        return frozen(np.full(len(names), float(default or 0)))
    raw = np.asarray(by_name(what, given, names))
    if np.ma.is_masked(given):
        raise MarketError(f"{what}: numbers expected, got masked ones")
    if raw.dtype == bool or raw.dtype.kind not in "iuf":
        raise MarketError(f"{what}: numbers expected, got {raw.dtype}")
    array = np.array(raw, dtype=float) + 0.0  # there is no negative zero
    if array.shape != (len(names),):
        raise MarketError(f"{what}: shape ({len(names)},) expected, got {array.shape}")
    ceiling = np.inf if default == np.inf else np.finfo(float).max
    bad = np.flatnonzero(~((array >= 0) & (array <= ceiling)))
    if bad.size:
        k = int(bad[0])
        raise MarketError(
            f"{what}[{k}] ({names[k]}): {array[k]} is not a finite, nonnegative number"
        )
    return frozen(array)


def by_name(what: str, given: Any, names: Sequence[str]) -> Any:
    """Put labelled numbers (a pandas Series) into the order of the names; others are as they are.

    Labels 0, 1, 2, ... are taken for positions.

    Raises
    ------
    MarketError
        If labels and names are not the same.
    """
    labels = getattr(given, "index", None)
    if labels is None or callable(labels):
        return given
    told = [str(label) for label in labels]
    if told == [str(k) for k in range(len(told))] or told == list(names):
        return given
    strange = sorted(set(told) ^ set(names))
    if strange or len(set(told)) != len(told):
        raise MarketError(f"{what}: labels and names differ: {', '.join(map(repr, strange[:5]))}")
    place = {label: k for k, label in enumerate(told)}
    return np.asarray(given)[[place[name] for name in names]]


def names(what: str, given: Sequence[str] | None, count: int) -> Sequence[str]:
    """Check so many different nonempty names; "0", "1", ... if none are given.

    Raises
    ------
    MarketError
        That names the argument and the place.
    """
    if given is None:
        return Numbered(count)
    if isinstance(given, Numbered) and len(given) == count:
        return given
    if not hasattr(given, "__iter__"):
        raise MarketError(f"{what}: {count} names expected, got {named(given)}")
    told = (given,) if isinstance(given, str) else tuple(given)
    if len(told) != count:
        raise MarketError(f"{what}: {count} names expected, got {len(told)}")
    seen: set[str] = set()
    for k, name in enumerate(told):
        if not isinstance(name, str) or not name:
            raise MarketError(f"{what}[{k}]: a name is nonempty text, got {name!r}")
        if name in seen:
            raise MarketError(f"{what}[{k}]: {name!r} stands twice")
        seen.add(name)
    return tuple(str(name) for name in told)  # numpy's text is a subclass


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody can write to any more."""
    array.setflags(write=False)
    return array


def number(what: str, given: Any, *, below: float = np.inf) -> float:
    """Check one number from 0 to below a bound; infinite where there is none.

    Raises
    ------
    MarketError
        That names the argument and what came instead.

    Examples
    --------
    >>> number("tolerance", "x", below=1)
    Traceback (most recent call last):
    qmopt.errors.MarketError: tolerance: a number from 0 to below 1 expected, got 'x'
    """
    allowed = isinstance(given, Real) and not isinstance(given, bool | np.bool_)
    value = float(given) if allowed else np.nan
    if not (0 <= value < below or value == below == np.inf):
        span = "of at least 0" if below == np.inf else f"from 0 to below {below:g}"
        raise MarketError(f"{what}: a number {span} expected, got {named(given)}")
    return value


def settings(method: Any) -> None:
    """Check what methods and solvers have in common, by the names of their fields.

    ``time_limit`` is a number of seconds, ``tolerance`` and ``step_fraction`` are from 0 to below
    1, ``max_iterations`` is a whole number from 1 up, ``crossover`` true or false. Fields of other
    names are not looked at.

    Raises
    ------
    MarketError
        That names class and setting.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Mine:
    ...     time_limit: float = np.inf
    ...     __post_init__ = settings
    >>> Mine(time_limit=-1)
    Traceback (most recent call last):
    qmopt.errors.MarketError: Mine: time_limit: a number of at least 0 expected, got -1
    """
    who = type(method).__name__
    for field in fields(method):
        what, value = f"{who}: {field.name}", getattr(method, field.name)
        if field.name in ("time_limit", "tolerance", "step_fraction"):
            number(what, value, below=np.inf if field.name == "time_limit" else 1)
        elif field.name == "max_iterations":
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise MarketError(f"{what}: a whole number from 1 up expected, got {named(value)}")
        elif field.name == "crossover" and not isinstance(value, bool | np.bool_):
            raise MarketError(f"{what}: True or False expected, got {named(value)}")


def of_kind(what: str, given: Any, kind: type, example: str) -> None:
    """Check that an object is of a class, and neither the class itself nor its name.

    Raises
    ------
    MarketError
        That names the argument, an example, and what came instead.

    Examples
    --------
    >>> of_kind("solver", "clarabel", float, "a Solver such as Clarabel()")
    Traceback (most recent call last):
    qmopt.errors.MarketError: solver: a Solver such as Clarabel() expected, got 'clarabel'
    """
    if isinstance(given, type) and issubclass(given, kind):
        said = f"the class {given.__name__}: write {given.__name__}()"
        raise MarketError(f"{what}: {example} expected, got {said}")
    if not isinstance(given, kind):
        raise MarketError(f"{what}: {example} expected, got {named(given)}")


def named(thing: Any) -> str:
    """Return how a message calls an object: as it shows itself, or by its class.

    An address in memory tells a reader nothing, and neither does a page of numbers.

    Examples
    --------
    >>> class Mine:
    ...     pass
    >>> named(Mine()), named(Mine), named("x"), named(len), named(None)
    ('Mine', 'the class Mine', "'x'", 'len', 'None')
    """
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    try:
        shown = repr(thing)
    except Exception:  # a repr of somebody else's; the message matters more
        shown = ""
    if not shown or " at 0x" in shown or shown.startswith("<built-in"):
        return str(getattr(thing, "__name__", type(thing).__name__))
    return shown if len(shown) <= _LONG and "\n" not in shown else f"a {type(thing).__name__}"
