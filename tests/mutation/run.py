"""Run the certificate's checks against broken copies of the modules that define it."""

import ast
import contextlib
import signal
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import qmopt
from tests.certificate_checks import CHECKS, definition_of
from tests.mutation.operators import mutants

#: The modules that make up the definition, each after those that it imports.
SOURCES = {
    "pairs": "utilities/pairs.py",
    "keep": "utilities/keep.py",
    "point": "point.py",
    "gap": "gap.py",
    "certificate": "certificate.py",
}
PACKAGE = Path(qmopt.__file__).parent
#: Seconds after which a mutant counts as killed.
TIME_LIMIT = 30


class Verdict(NamedTuple):
    """Which check failed and how, or None for both."""

    killer: str | None
    how: str | None


def source(module):
    return (PACKAGE / SOURCES[module]).read_text("utf-8")


def every_mutant():
    return [mutant for module in SOURCES for mutant in mutants(module, source(module))]


def load(module=None, tree=None):
    """Compile all these modules afresh, one of them from another tree, and none of them shared."""
    front = ModuleType("mutant")
    sys.modules["mutant"] = front
    for name in SOURCES:
        code = tree if name == module else ast.parse(source(name))
        fresh = ModuleType(f"mutant.{name}")
        sys.modules[fresh.__name__] = fresh
        setattr(front, name, fresh)
        exec(compile(Redirect().visit(code), f"<{name}>", "exec"), fresh.__dict__)
    return definition_of(front.certificate, front.point, front.keep, front.pairs)


class Redirect(ast.NodeTransformer):
    """Let a copy import the copies of the others."""

    def visit_ImportFrom(self, node):
        last = (node.module or "").split(".")[-1]
        if node.module == "qmopt.utilities" and [alias.name for alias in node.names] == ["keep"]:
            node.module = "mutant"
        elif last in SOURCES and node.module.startswith("qmopt."):
            node.module = f"mutant.{last}"
        return node


class TooLong(BaseException):
    """Not an Exception, so that no check can take it for a result."""


@contextlib.contextmanager
def time_limit(seconds):
    def stop(*_):
        raise TooLong

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def judge(mutant):
    """Run the checks until one fails. Warnings count as failures, as they do in the suite."""
    name = "import"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with time_limit(TIME_LIMIT):
                definition = load(mutant.module, mutant.tree())
                for name in CHECKS:
                    CHECKS[name](definition)
        except TooLong:
            return Verdict(name, f"still running after {TIME_LIMIT} s")
        except BaseException as error:  # pytest.fail raises outside of Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return Verdict(name, type(error).__name__)
    return Verdict(None, None)
