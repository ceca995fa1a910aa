"""Middle-sized markets: our methods against CVXPY with Clarabel, in one process.

    PYTHONPATH=. python benchmarks/against_cvxpy.py > benchmarks/results/against-cvxpy.txt

C is the textbook program on CVXPY with Clarabel at its defaults, from Market to outcome, once. Ours
is the better of three after a first run that loads and compiles, from Market to outcome, crossover
included. CPU is processor time, which other work on the machine hardly changes. Worst residual and
gap are the certificate's; ``off`` is the largest relative error of a price against the rational
answer, where that takes no minutes.
"""

import os
import platform
import time

import numpy as np

import qmopt as qm
from qmopt.bench.peers import PlainCvxpy
from qmopt.bench.suites import pdhcg

OURS = (qm.InteriorPoint(), qm.ColumnGeneration(), qm.LinearProgramming())


def market(n, m, draw):
    rng = np.random.default_rng(0)
    values = rng.random((n, m)) if draw == "uniform" else rng.lognormal(size=(n, m))
    return qm.Market(rng.random(n) + 0.5, np.ones(m), qm.Linear(values))


#: Name, how it is drawn, whether CVXPY is tried, whether the rational answer is found.
ROWS = [
    ("uniform 200x400", lambda: market(200, 400, "uniform"), True, True),
    ("uniform 500x500", lambda: market(500, 500, "uniform"), True, True),
    ("log-normal 1000x50", lambda: market(1000, 50, "log-normal"), True, False),
    ("log-normal 3000x100", lambda: market(3000, 100, "log-normal"), True, False),
    ("PDHCG-fisher 10000x400, 20%", lambda: pdhcg(10_000, 400), False, False),
]


def timed(method, drawn):
    """Outcome, or what went wrong; seconds, and processor seconds of this process and children."""
    wall, processor = time.perf_counter(), os.times()
    try:
        outcome = method.solve(drawn)
    except qm.SolverFailed as error:
        outcome = str(error)[-60:]
    return outcome, time.perf_counter() - wall, sum(os.times()[:4]) - sum(processor[:4])


def show(name, method, seconds, ratios, rest):
    told = "".join(f"{number:9.3f}" for number in seconds)
    told += "".join(f"{number:8.0f}" for number in ratios)
    print(f"{name:30}{type(method).__name__:19}{told}{rest}", flush=True)


def certified(drawn, found):
    seen = qm.certify(drawn, found.prices, found.allocation, tolerance=1e-9)
    return f"{seen.worst:10.1e}{seen.gap:10.1e}"


def main():
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'market':30}{'method':19}{'seconds':>9}{'CPU':>9}{'C/ours':>8}{'by CPU':>8}"
          f"{'worst':>10}{'gap':>10}{'off':>10}")  # fmt: skip
    for name, build, with_peer, with_exact in ROWS:
        drawn = build()
        peer = np.array([np.nan, np.nan])
        if with_peer:
            found, *peer = timed(PlainCvxpy(), drawn)
            said = f"  {found}" if isinstance(found, str) else certified(drawn, found)
            show(name, PlainCvxpy(), peer, [1, 1], said)
        right = None
        if with_exact:
            right = np.array([float(p) for p in qm.clear(drawn, exact=True).exact.prices])
        for method in OURS:
            method.solve(drawn)
            found, *best = min((timed(method, drawn) for _ in range(3)), key=lambda run: run[1])
            off = "" if right is None else f"{np.abs(found.prices / right - 1).max():10.1e}"
            show(name, method, best, np.divide(peer, best), certified(drawn, found) + off)


if __name__ == "__main__":
    main()
