"""LinearProgramming against CVXPY with Clarabel, on large markets, and on the list of awkward ones.

    python benchmarks/lp.py [COUNT]

Gaps are measured by the certificate, not claimed. Of the linear programs it is what they reach
alone, without crossover. C is the package's Eisenberg-Gale model in CVXPY, solved by Clarabel with
its default settings; its seconds count the building of the model. Where it fails so (*), the time
is that of a second try with shorter steps (0.8), alone; that may fail, too. Ratios are of times
within the same run, one right after the other. COUNT markets of `generate.market` (default 2000)
are cleared at 1e-9 at the end.
"""

import platform
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import cvxpy as cp
import numpy as np

import qmopt as qm
from qmopt import generate

ALONE = qm.LinearProgramming(crossover=False)
#: Family, shape, whether C is run too (it takes too long on the largest).
MARKETS: list[tuple[Callable[..., qm.Market], int, int, bool]] = [
    (generate.lognormal, 1000, 50, True),
    (generate.uniform, 1000, 50, True),
    (generate.tied, 1000, 50, True),
    (generate.lognormal, 3000, 100, True),
    (generate.uniform, 3000, 100, True),
    (generate.uniform, 100, 1000, True),
    (generate.sparse, 20_000, 2000, True),
    (generate.lognormal, 100_000, 100, False),
    (generate.uniform, 100_000, 100, False),
]


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and what came back."""
    begun = time.perf_counter()
    found = function()
    return time.perf_counter() - begun, found


def conic(market: qm.Market, **options: float) -> tuple[Any, Any]:
    """Prices and allocation by CVXPY and Clarabel as they come."""
    model = qm.eisenberg_gale(market)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        model.problem.solve(solver=cp.CLARABEL, **options)
    return model.point()


def compare(family: Callable[..., qm.Market], buyers: int, goods: int, with_conic: bool) -> str:
    """One row of the table."""
    market = family(buyers, goods)
    seconds, outcome = timed(lambda: ALONE.solve(market))
    gap = qm.certify(market, outcome.prices, outcome.allocation).gap
    row = f"{market.title:30s} {seconds:8.2f} s {gap:9.1e} {outcome.stats['iterations']:4d}"
    if not with_conic:
        return row
    tries: list[tuple[str, dict[str, float]]] = [("", {}), (" *", {"max_step_fraction": 0.8})]
    slow, its, mark = 0.0, "", ""
    for mark, options in tries:  # noqa: B007
        begun = time.perf_counter()
        try:
            point = conic(market, **options)
        except cp.SolverError:
            slow, its = time.perf_counter() - begun, "failed"
            continue
        slow = time.perf_counter() - begun
        its = f"{qm.certify(market, *point).gap:.1e}"
        break
    return f"{row} {slow:8.2f} s {its:>9s} {slow / seconds:7.1f}{mark}"


def awkward(count: int) -> str:
    """How many of the list are answered, and how well."""
    gaps, times, certified = [], [], 0
    for seed in range(count):
        market = generate.market(seed)
        seconds, outcome = timed(lambda market=market: ALONE.solve(market))
        gap = qm.certify(market, outcome.prices, outcome.allocation).gap
        gaps.append(gap if gap is not None else np.inf)
        times.append(seconds)
        try:
            certified += bool(qm.clear(market, qm.LinearProgramming(), tolerance=1e-9))
        except qm.QmoptError as error:
            print(seed, market.title, error)
    return (
        f"{count} of generate.market: certified at 1e-9 after the crossover {certified}; gap alone "
        f"at most 1e-9 {np.mean(np.array(gaps) <= 1e-9):.2%}, largest {max(gaps):.1e}; seconds "
        f"alone: mean {np.mean(times):.3f}, most {max(times):.2f}"
    )


if __name__ == "__main__":
    print(
        f"{platform.platform()}, Python {platform.python_version()}, highspy "
        f"{version('highspy')}, CVXPY {version('cvxpy')}, "
        f"Clarabel {version('clarabel')}"
    )
    print(f"{'market':30s} {'LP':>10s} {'gap':>9s} {'LPs':>4s} {'C':>10s} {'gap':>9s} {'C/LP':>7s}")
    ALONE.solve(generate.uniform(10, 5))  # imports
    conic(generate.uniform(10, 5))
    for each in MARKETS:
        print(compare(*each), flush=True)
    print(awkward(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
