"""From a name on the command line to a method object with its settings."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from qmopt.cli.foreign import blaming

if TYPE_CHECKING:
    from qmopt.market import Market
    from qmopt.methods import Method

#: Methods for teams without demands by name; anything else is ``package.module:Class``.
METHODS = {
    "column-generation": "qmopt.methods.column_generation:ColumnGeneration",
    "eisenberg-gale": "qmopt.methods.eisenberg_gale:EisenbergGale",
    "interior-point": "qmopt.methods.interior_point:InteriorPoint",
    "lp": "qmopt.methods.lp:LinearProgramming",
    "pivoting": "qmopt.methods.pivoting:Pivoting",
    "proportional-response": "qmopt.methods.proportional_response:ProportionalResponse",
}
#: Methods for workloads by name.
FOR_WORKLOADS = {
    "effective-budgets": "qmopt.methods.effective_budgets:EffectiveBudgets",
    "nash-welfare": "qmopt.methods.nash_welfare:NashWelfare",
    "split": "qmopt.methods.split:Split",
}
#: Solvers by name; anything else is the name of one that CVXPY has installed.
SOLVERS = {"clarabel": "qmopt.solvers:Clarabel", "scs": "qmopt.solvers:Scs"}


def find_method(
    name: str | None,
    solver: str | None,
    time_limit: float | None,
    market: Market,
    accept: Sequence[str] = (),
) -> Method:
    """Return the method of that name, with the solver and time limit asked for.

    Without a name it is the one that suits the market and what is accepted besides an equilibrium,
    or, for a solver, ``eisenberg-gale``.

    Raises
    ------
    typer.BadParameter
        If there is no such method, or if it does not take a solver or a time limit.
    """
    if name is None and solver is None:
        from qmopt.methods.choose import choose

        chosen = choose(market, accept)
        who = f"method {type(chosen).__name__}"
        return chosen if time_limit is None else _with(chosen, "time_limit", time_limit, who)
    name = name or "eisenberg-gale"
    ours = METHODS | FOR_WORKLOADS
    if name not in ours and not re.fullmatch(r"\w+(\.\w+)*:\w+", name):
        known = ", ".join(ours)
        raise typer.BadParameter(
            f"{name!r} is not one of {known}, nor of the form package.module:Class"
        )
    path = ours.get(name, name)
    with blaming(f"method {name}", path.partition(":")[0]):
        made = _load(path)
        method: Any = _made(name, made) if isinstance(made, type) else made
    if not callable(getattr(method, "solve", None)):
        raise typer.BadParameter(f"{name!r} has no method solve(market, start=None)")
    if solver is not None:
        method = _with(method, "solver", _solver(solver), f"method {name!r}")
    if time_limit is not None:
        method = _with(method, "time_limit", time_limit, f"method {name!r}")
    return method


def _made(name: str, kind: type) -> Any:
    """Make an object of a class that has a default for every setting."""
    try:
        inspect.signature(kind).bind()
    except TypeError as error:
        raise typer.BadParameter(
            f"{name!r} cannot be made without arguments ({error}); name an object that is made, "
            "as package.module:object"
        ) from None
    except ValueError:  # a class that does not tell
        pass
    return kind()


def _solver(name: str) -> Any:
    if name.lower() in SOLVERS:
        return _load(SOLVERS[name.lower()])()
    return _load("qmopt.solvers:Cvxpy")(name.upper())


def _with(thing: Any, setting: str, value: Any, who: str) -> Any:
    """Return a copy of a dataclass with one setting changed."""
    fields = getattr(thing, "__dataclass_fields__", {})
    if setting not in fields:
        raise typer.BadParameter(f"the {who} has no setting {setting!r}")
    return dataclasses.replace(thing, **{setting: value})


def _load(path: str) -> Any:
    """Import ``package.module:Name``; the current folder counts, as it does for ``python -m``."""
    module, _, attribute = path.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise typer.BadParameter(f"{path!r}: {error}") from error
    except AttributeError:
        raise typer.BadParameter(f"{path!r}: module {module} has no {attribute!r}") from None
