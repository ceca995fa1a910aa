"""Code that is not ours: whose it is, and where it raised what is no error of ours."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator

import typer

from qmopt.errors import QmoptError


class MethodRaised(QmoptError, RuntimeError):
    """A method of the caller's own raised; the cause says what, the message where."""


@contextlib.contextmanager
def blaming(who: str, module: str) -> Iterator[None]:
    """Turn what somebody else's module raises into one message that names the place.

    Parameters
    ----------
    who
        The method, as the message calls it.
    module
        Where the method comes from. What its package had no part in passes as it is.
    """
    package = module.partition(".")[0]
    try:
        yield
    except (QmoptError, typer.Exit, typer.BadParameter, BrokenPipeError):
        raise
    except (Exception, SystemExit) as error:
        frames = [
            (frame.f_code.co_filename, line, frame.f_code.co_name)
            for frame, line in traceback.walk_tb(error.__traceback__)
            if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
        ]
        misspelt = isinstance(error, SyntaxError)  # has no frame, and its text names the place
        if package == "qmopt" or not (frames or misspelt):
            raise
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        place = "" if misspelt else " at {}:{} in {}".format(*frames[-1])
        message = f"{who} raised {said}{place}; --traceback shows how it came to that"
        raise MethodRaised(message) from error
