"""Kept credits: our methods against the CVXPY model, and all methods against each other.

    PYTHONPATH=. python benchmarks/kept_credits.py > benchmarks/results/kept-credits.txt

Markets are ``generate.uniform(200, 400, seed, keep=...)``: half of the buyers, or all, keep credits
that are worth something; "unspent" is the share of all credits that is kept in the end. C is
``eisenberg_gale(market)``, our own model in CVXPY (the textbook peer knows no kept credits), solved
by Clarabel at its own tolerance of 1e-8, from Market to prices and allocation, once. Ours is the
better of three after a first run that loads and compiles, from Market to outcome, crossover
included. Seconds are of the processor, which other work on the machine hardly changes. Worst
residual is the certificate's; "off" is the largest distance of a price from Pivoting's, relative.
Ratios are within one run; the last column is their median over the seeds so far.

After that the five hundred small markets of ``tests/methods/test_kept_credits.py``, in which
nobody, half of the buyers or all keep credits, by our four methods and by EisenbergGale with its
crossover.
"""

import os
import platform
import statistics
import time

import numpy as np

import qmopt as qm
from qmopt import generate
from tests.methods import test_kept_credits as agreement

OURS = (qm.InteriorPoint(), qm.LinearProgramming(), qm.ColumnGeneration(), qm.Pivoting())
SEEDS = range(7)
TOLERANCE = 1e-9


def model(market):
    """Prices and allocation of the CVXPY model, or what became of it."""
    written = qm.eisenberg_gale(market)
    try:
        qm.Clarabel(tolerance=1e-8).solve(written.problem)
    except qm.SolverFailed as error:
        return "no point: " + str(error).split("): ")[-1][:25]
    return written.point()


def ours(method):
    def run(market):
        outcome = method.solve(market)
        return outcome.prices, outcome.allocation

    return run


def once(run, market):
    """Point, and processor seconds."""
    begun = time.process_time()
    point = run(market)
    return point, time.process_time() - begun


def best_of_three(run, market):
    """The same after a first run."""
    run(market)
    return min((once(run, market) for _ in range(3)), key=lambda found: found[1])


def show(start, market, right, point, seconds, more=""):
    if isinstance(point, str):
        print(f"{start}{seconds:9.3f}   {point}", flush=True)
        return
    seen = qm.certify(market, *point, tolerance=TOLERANCE)
    off = np.nanmax(np.abs(point[0] - right.prices) / np.fmax(point[0], right.prices))
    said = "yes" if seen.certified() else "no"
    print(f"{start}{seconds:9.3f}{seen.worst:10.1e}{off:10.1e}{said:>9}{more}", flush=True)


def speed(keep):
    ratios = {type(method).__name__: [] for method in OURS}
    for seed in SEEDS:
        market = generate.uniform(200, 400, seed, keep=keep)
        right = qm.clear(market, qm.Pivoting(), tolerance=1e-12)
        unspent = right.unspent.sum() / market.budgets.sum()
        start = f"{keep:4}{seed:5}{unspent:9.2f}  "
        told, peer = once(model, market)
        show(f"{start}{'C':18}", market, right, told, peer)
        for method in OURS:
            name = type(method).__name__
            point, seconds = best_of_three(ours(method), market)
            if not isinstance(told, str):  # a failure has no speed
                ratios[name].append(peer / seconds)
            more = f"{peer / seconds:8.0f}{statistics.median(ratios[name] or [np.nan]):8.0f}"
            show(f"{start}{name:18}", market, right, point, seconds, more)


def agree():
    """Every pair of answers that differ, and every failure."""
    methods, seeds = (*agreement.OWN, agreement.REFERENCE), range(agreement.MANY)
    found = agreement.disagreements(seeds, methods)
    print(
        f"\n{len(seeds)} markets, seeds 0 to {seeds[-1]}, {len(methods)} methods. Residuals above "
        f"{agreement.SAME:g}, or prices that differ by more than that: {len(found)}"
    )
    for line in found:
        print(line)
    right = [agreement.prices(seed, methods[0]) for seed in seeds]
    for method in methods:
        told = [agreement.prices(seed, method) for seed in seeds]
        off = max(
            np.nanmax(np.abs(p - q) / np.where(q > 0, q, 1), initial=0.0)
            for p, q in zip(told, right, strict=True)
            if not isinstance(p, str) and not isinstance(q, str)
        )
        answered = sum(not isinstance(p, str) for p in told)
        print(
            f"{type(method).__name__:20}{answered} certified, prices within {off:.1e} of Pivoting's"
        )


def main():
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'keep':4}{'seed':>5}{'unspent':>9}  {'method':18}{'CPU':>9}{'worst':>10}{'off':>10}"
          f"{'at 1e-9':>9}{'C/ours':>8}{'median':>8}")  # fmt: skip
    for keep in (0.5, 1):
        speed(keep)
    agree()


if __name__ == "__main__":
    main()
