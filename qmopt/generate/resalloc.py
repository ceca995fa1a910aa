"""A million jobs that want one chip's time each, as resalloc's notebook draws them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Of four kinds of chips: least and largest speed of a job, and chips for a million jobs.
SLOWEST, FASTEST = (0.1, 0.1, 0.3, 0.6), (0.3, 0.5, 0.8, 1.0)
CHIPS = (8e5, 1e5, 1e4, 1e3)


def resalloc(
    jobs: int = 1_000_000, kinds: int = 4
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Jobs by kinds of chips, the faster the scarcer: speeds, and how many chips there are.

    With four kinds this is the problem in ``notebooks/medium_size_problem.ipynb`` of
    github.com/cvxgrp/resalloc (commit 2f8b889; A. Agrawal, S. Boyd, D. Narayanan, F. Kazhamiaka
    and M. Zaharia, "Allocation of fungible resources via a fast, scalable price discovery method",
    2022): ``numpy.random.seed(0)``, four columns of uniform speeds drawn one after the other and
    rounded to single precision. Every job has one credit and no use for more than one chip.

    Other numbers of kinds are ours, in the same spirit: least and largest speeds lie evenly on the
    broken lines through the four, chips on the broken line through their logarithms, scaled to as
    many chips in all (911 for 1000 jobs) and rounded. (The source's own problems of other sizes, in
    ``notebooks/scaling.ipynb``, draw all speeds from one range.)

    Parameters
    ----------
    jobs
        How many; chips are in proportion.
    kinds
        Of chips, at least 2.

    Returns
    -------
    speeds
        Shape (jobs, kinds), per chip.
    supplies
        Shape (kinds,), chips.

    Examples
    --------
    >>> speeds, supplies = resalloc(1000)
    >>> speeds.shape, supplies.tolist()
    ((1000, 4), [800.0, 100.0, 10.0, 1.0])
    """
    drawn, four = np.random.RandomState(0), np.linspace(0, 1, 4)
    at = np.linspace(0, 1, kinds)
    slowest, fastest = np.interp(at, four, SLOWEST), np.interp(at, four, FASTEST)
    speeds = np.empty((jobs, kinds))
    for j in range(kinds):
        speeds[:, j] = drawn.uniform(slowest[j], fastest[j], jobs).astype(np.float32)
    chips = 10 ** np.interp(at, four, np.log10(CHIPS))
    chips *= sum(CHIPS) / chips.sum() * jobs / 1e6
    return speeds, np.maximum(np.round(chips), 1.0)
