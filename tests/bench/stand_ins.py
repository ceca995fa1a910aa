"""Methods that do what methods should not."""

import os
import time
from dataclasses import dataclass

import numpy as np

import qmopt as qm

BIG = 20  # buyers; the markets on which methods get warm have fewer


def given(market):
    """The market whose right answer everybody can see, and a point of it."""
    return qm.Outcome(np.full(market.m, 2.0), np.ones(market.shape), "fine")


@dataclass(frozen=True)
class Raises:
    def solve(self, market):
        raise ZeroDivisionError("so much for that")


@dataclass(frozen=True)
class Dies:
    def solve(self, market):
        os._exit(3)


@dataclass(frozen=True)
class NeverEnds:
    def solve(self, market):
        if market.n >= BIG:
            time.sleep(600)
        return given(market)


@dataclass(frozen=True)
class HearsOfTheLimit:
    time_limit: float = np.inf

    def solve(self, market):
        return qm.Outcome(
            np.full(market.m, 2.0), np.ones(market.shape), f"within {self.time_limit:g} s"
        )


@dataclass(frozen=True)
class Boasts:
    """Its numbers are none."""

    def solve(self, market):
        return qm.Outcome(
            np.full(market.m, np.nan), np.full(market.shape, np.inf), "optimal", {"iterations": "x"}
        )


@dataclass(frozen=True)
class Mumbles:
    def solve(self, market):
        return "prices"


@dataclass(frozen=True)
class WrongShape:
    def solve(self, market):
        return qm.Outcome(np.ones(market.m + 1), np.ones(market.shape), "fine")


@dataclass(frozen=True)
class Hungry:
    """Holds so many MiB while it works, and not before."""

    mib: int

    def solve(self, market):
        held = np.ones(self.mib * 2**17 if market.n >= BIG else 1)
        return qm.Outcome(np.full(market.m, held[-1]), np.ones(market.shape), "fine")


@dataclass(frozen=True)
class Starts:
    """Starts a process of its own, which outlives it unless somebody ends it."""

    told: str

    def solve(self, market):
        if market.n >= BIG:
            child = os.fork()
            if not child:
                time.sleep(600)
                os._exit(0)
            with open(self.told, "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(str(child))
        return given(market)
