"""Wrong options and arguments: the usual message, and with ``--json`` a document as well."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

#: Under which a context keeps whether the caller asked for JSON.
_ASKED = "qmopt.json"


class Commands(TyperGroup):
    """The commands; a call that cannot be understood is told in JSON to whoever asked for JSON."""

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Parse what stands before the command."""
        asked = asks_for_json(args)
        with _documented(asked):
            context = super().make_context(info_name, args, *rest, **extra)
        context.meta[_ASKED] = asked
        return context

    def invoke(self, ctx: Any) -> Any:
        """Parse what stands after the command, and run it."""
        with _documented(ctx.meta.get(_ASKED, False)):
            return super().invoke(ctx)


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` is among the options.

    Examples
    --------
    >>> asks_for_json(["clear", "q3", "--json"]), asks_for_json(["clear", "--", "--json"])
    (True, False)
    """
    told = list(arguments)
    return "--json" in (told[: told.index("--")] if "--" in told else told)


@contextlib.contextmanager
def _documented(asked: bool) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # what typer says of a wrong call; its class is another one from release to release
        told = getattr(error, "format_message", None)
        if asked and callable(told):
            from qmopt import results

            document = results.failure(error)
            document["error"]["message"] = told()
            typer.echo(results.dumps(document))
        raise
