"""Seeded random markets: tests, benchmarks and simulations draw from here.

The same call gives the same market, from numpy's default generator (``numpy.random.default_rng``,
PCG64). :func:`market` is an endless list of small awkward markets of every kind; the other
functions draw one family at any size, :func:`workloads` teams with demands (and :func:`wanted`
says how much of the supply those come to). :func:`resalloc` draws plain numbers of a published
problem, as its authors did.
"""

from qmopt.generate.families import (
    copies,
    degenerate,
    exponential,
    integer,
    lognormal,
    sparse,
    tied,
    uniform,
)
from qmopt.generate.listed import FAMILIES, market
from qmopt.generate.resalloc import resalloc
from qmopt.generate.workloads import wanted, workloads

__all__ = [
    "FAMILIES",
    "copies",
    "degenerate",
    "exponential",
    "integer",
    "lognormal",
    "market",
    "resalloc",
    "sparse",
    "tied",
    "uniform",
    "wanted",
    "workloads",
]
