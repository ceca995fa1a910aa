"""Nash welfare of a million jobs, each with one demand, to the last digit.

From a checkout: ``PYTHONPATH=. python benchmarks/nash_welfare.py``; the log is in
``benchmarks/results/nash-welfare.txt``.

With four kinds of chips this is the medium problem of github.com/cvxgrp/resalloc (see
``qmopt.generate.resalloc``), whose notebook reports 336 s for Mosek (prices 2e-6 off) and 3.7 s for
its own method (prices up to 1e-2 off) on a machine of its authors. 8 and 16 kinds are ours, in the
same spirit. Seconds are of the solution from plain arrays, compiled code at hand; "cpu" are those
of the processor, on all threads, which other work on the machine leaves alone. The gap is exact:
the dual at the prices, from each buyer's hull, minus the welfare of the chips handed out. Regret is
the share of the best utility that a job could have bought with its credit at these prices, and does
not get; frugal are jobs that spend less than their credit, as their demand is met.
"""

import os
import platform
import time

import numba
import numpy as np
import scipy

import qmopt as qm
from qmopt.generate import resalloc
from qmopt.methods.demands.path import solve
from qmopt.methods.demands.rows import Buyers

JOBS, RUNS = 1_000_000, 5
KINDS = (4, 8, 16)


def affordable(speeds, prices):
    """Best speed that one credit buys, as one chip's time of one kind or of two, (n,)."""
    best = (speeds * np.minimum(1, 1 / prices)).max(axis=1)
    for cheap in np.flatnonzero(prices < 1):
        for dear in np.flatnonzero(prices >= 1):
            part = (1 - prices[cheap]) / (prices[dear] - prices[cheap])
            best = np.maximum(best, (1 - part) * speeds[:, cheap] + part * speeds[:, dear])
    return best


def row(kinds):
    """Solve some times; print the least and the middle time and what was measured."""
    speeds, supplies = resalloc(JOBS, kinds)
    begin, goods = np.arange(JOBS + 1) * kinds, np.tile(np.arange(kinds, dtype=np.int32), JOBS)
    given = Buyers.of(1, 1, (begin, goods, speeds.ravel(), 1), supplies)
    times, busy = [], []
    for _ in range(RUNS):
        begun, worked = time.perf_counter(), time.process_time()
        found = solve(given)
        times.append(time.perf_counter() - begun)
        busy.append(time.process_time() - worked)
    chips = found.levels.reshape(JOBS, kinds)
    gap = given.gap(found.prices, found.levels) / JOBS
    regret = 1 - (speeds * chips).sum(axis=1) / affordable(speeds, found.prices)
    frugal = np.mean(chips @ found.prices < 1 - 1e-6)
    prices = np.array2string(found.prices, precision=7, max_line_width=500)
    print(
        f"{kinds:5d} {min(times):7.2f} {sorted(times)[RUNS // 2]:7.2f} {min(busy):7.2f}"
        f" {found.iterations:6d} {found.status:8s} {given.dual_value(found.prices):16.4f}"
        f" {gap:9.1e} {regret.mean():8.4f} {frugal:8.4f}  {prices}",
        flush=True,
    )


def main():
    print(f"{platform.platform()}, Python {platform.python_version()}, qmopt {qm.__version__}")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, numba {numba.__version__}")
    print(f"{JOBS} jobs; {len(os.sched_getaffinity(0))} threads; least and middle of {RUNS} runs\n")
    solve(Buyers.of(1, 1, ([0, 1], [0], 1, 1), [1]))  # compiled code is loaded here
    heads = ("kinds", "least", "middle", "cpu", "steps", "status", "dual", "gap/job", "regret")
    widths = (">5s", ">7s", ">7s", ">7s", ">6s", "8s", ">16s", ">9s", ">8s")
    print(
        *(f"{name:{width}}" for name, width in zip(heads, widths, strict=True)), "  frugal  prices"
    )
    for kinds in KINDS:
        row(kinds)


if __name__ == "__main__":
    main()
