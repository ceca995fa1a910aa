"""LinearProgramming against CVXPY with Clarabel, on large markets, and on the list of awkward ones.

    python benchmarks/lp.py [COUNT]

Gaps are measured by the certificate, not claimed. Of the linear programs it is what they reach
alone, without crossover. C is the package's Eisenberg-Gale model in CVXPY, solved by Clarabel with
its default settings; its seconds count the building of the model. Where it fails so (*), the time
is that of a second try with shorter steps (0.8), alone; that may fail, too. Ratios are of times
within the same run, one right after the other. COUNT markets of `generate.market` (default 2000)
are cleared at 1e-9 at the end.

    python benchmarks/lp.py levels [COUNT]

Bundles and utility caps: LinearProgramming and EisenbergGale with Clarabel, both to the last bits,
one right after the other, in seconds of the processor (Clarabel counts its own threads and HiGHS
its own). COUNT markets of `generate.market` (default 300) with caps on half of the teams, a tenth
to three times what they have without, are cleared by both at 1e-8 at the end.
"""

import contextlib
import platform
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, cast

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


def capped(n: int, m: int, values: str = "lognormal") -> qm.Market:
    """Plain bids; half of the teams want no more than a third to three times an equal share."""
    rng = np.random.default_rng(0)
    worth = rng.random((n, m)) if values == "uniform" else np.exp(rng.normal(size=(n, m)))
    budgets = np.exp(rng.normal(size=n))
    share = worth.max(axis=1) * m * budgets / budgets.sum()
    caps = np.where(rng.random(n) < 0.5, share * 10 ** rng.uniform(-0.5, 0.5, n), np.inf)
    title = f"{values}, caps {n} x {m}"
    return qm.Market(budgets, np.ones(m), qm.Linear(worth), utility_caps=caps, title=title)


def recipes(n: int, m: int, each: int, extras: bool = False) -> qm.Market:
    """So many recipes for each team, of some four goods; with extras, kept credits and reserves."""
    rng = np.random.default_rng(0)
    count = n * each
    needs = np.where(rng.random((count, m)) < 3 / m, np.exp(rng.normal(size=(count, m))), 0.0)
    needs[np.arange(count), rng.integers(0, m, count)] += 1
    family = qm.Bundles(np.repeat(np.arange(n), each), needs, rng.uniform(1, 10, count))
    market = qm.Market(
        np.exp(rng.normal(size=n)), rng.uniform(1, 9, m), family,
        title=f"{each} recipes {n} x {m}{', all' if extras else ''}",
    )  # fmt: skip
    if not extras:
        return market
    had = qm.LinearProgramming().solve(market)
    value = family.value(had.allocation)
    part = had.prices.mean() * 10 ** rng.uniform(-1, 1, m)
    return market.replace(
        utility_caps=np.where(rng.random(n) < 0.5, value * 10 ** rng.uniform(-1, 0.5, n), np.inf),
        keep_values=np.where(
            rng.random(n) < 0.3, value / market.budgets * 10 ** rng.uniform(-1, 1, n), 0
        ),
        reserves=np.where(rng.random(m) < 0.3, part, 0),
    )


def against_conic(market: qm.Market) -> str:
    """One row: seconds of programs and of the polish, and of the conic method."""
    seconds, words = [], []
    for method in (qm.LinearProgramming(), qm.EisenbergGale()):
        begun = time.process_time()
        try:
            found = method.solve(market)
            worst = f"{qm.certify(market, found.prices, found.allocation).worst:9.1e}"
        except qm.QmoptError:
            found, worst = None, "   failed"
        seconds.append(time.process_time() - begun)
        if found is not None and isinstance(method, qm.LinearProgramming):
            polish = cast("dict[str, float]", found.stats["seconds"])
            part = polish["crossover"] / sum(polish.values())
            words.append(f"{worst} {found.stats['iterations']:4d} {part:7.0%}")
        else:
            words.append(worst)
    ratio = seconds[1] / seconds[0]
    return (
        f"{market.title:30s} {seconds[0]:8.2f} s {words[0]} {seconds[1]:8.2f} s {words[1]} "
        f"{ratio:7.1f}"
    )


def levels(count: int) -> None:
    """Print the table of bundles and caps, and how awkward markets with caps fare."""
    columns = f"{'LP':>10s} {'residual':>9s} {'LPs':>4s} {'polish':>7s}"
    print(f"{'market':30s} {columns} {'conic':>10s} {'residual':>9s} {'conic/LP':>8s}")
    against_conic(capped(10, 5))  # imports
    for market in (
        capped(200, 40), capped(1000, 50), capped(1000, 50, "uniform"), capped(3000, 100),
        recipes(200, 40, 4), recipes(200, 40, 10, extras=True), recipes(1000, 100, 4),
        recipes(1000, 100, 4, extras=True),
    ):  # fmt: skip
        print(against_conic(market), flush=True)
    certified, seconds = [0, 0], [0.0, 0.0]
    for seed in range(count):
        market = generate.market(seed)
        rng = np.random.default_rng(seed)
        had = qm.clear(market, qm.LinearProgramming()).utilities
        caps = np.where(rng.random(market.n) < 0.5, had * 10 ** rng.uniform(-1, 0.5, market.n), 0)
        market = market.replace(utility_caps=np.where(caps > 0, caps, np.inf))
        for k, method in enumerate((qm.LinearProgramming(), qm.EisenbergGale())):
            begun = time.process_time()
            with contextlib.suppress(qm.QmoptError):
                certified[k] += bool(qm.clear(market, method))
            seconds[k] += time.process_time() - begun
    print(
        f"{count} of generate.market with caps, certified at 1e-8: linear programs {certified[0]}, "
        f"conic {certified[1]}; seconds {seconds[0]:.1f} and {seconds[1]:.1f}"
    )


if __name__ == "__main__":
    print(
        f"{platform.platform()}, Python {platform.python_version()}, highspy "
        f"{version('highspy')}, CVXPY {version('cvxpy')}, "
        f"Clarabel {version('clarabel')}"
    )
    if sys.argv[1:2] == ["levels"]:
        levels(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
        sys.exit()
    print(f"{'market':30s} {'LP':>10s} {'gap':>9s} {'LPs':>4s} {'C':>10s} {'gap':>9s} {'C/LP':>7s}")
    ALONE.solve(generate.uniform(10, 5))  # imports
    conic(generate.uniform(10, 5))
    for each in MARKETS:
        print(compare(*each), flush=True)
    print(awkward(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
