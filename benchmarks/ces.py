"""CES and Cobb-Douglas markets, cleared and measured.

From a checkout: ``PYTHONPATH=. python benchmarks/ces.py > benchmarks/results/ces.txt``.

The first two rows are the market that github.com/bzhangcw/ExchangeMarket.jl is shown on: 1000
buyers, 500 goods of one unit each, a fifth of all pairs with coefficients 30 U(0, 1), budgets
U(0, 1) that add up to 1, rho = -0.9 and 0.9. A coefficient c stands outside the power there,
``sum c x ** rho``, so that a weight is ``c ** (1 / rho)``. Its authors report 0.307 s (9 steps) and
0.099 s (14 steps) at a tolerance of 1e-10 on a machine of theirs. Seconds are of ``clear``: method,
measurement and all; "cpu" are those of the processor, which other work on the machine leaves alone.
"""

import platform
import time

import numpy as np
import scipy
import scipy.sparse as sp

import qmopt as qm

RUNS = 7
TOLERANCE = 1e-10
#: Buyers, goods, density, power (None: Cobb-Douglas).
MARKETS = [
    (1000, 500, 0.2, -0.9),
    (1000, 500, 0.2, 0.9),
    (1000, 500, 0.2, None),
    (1000, 500, 0.2, -10),
    (1000, 500, 0.2, -100),
    (1000, 500, 0.2, 0.99),
    (10_000, 500, 0.2, -0.9),
    (10_000, 500, 0.2, 0.9),
    (1000, 5000, 0.2, 0.9),
    (100_000, 100, 0.2, 0.9),
]
#: Small enough for the conic program.
SMALL = [(50, 25, 0.2, -0.9), (50, 25, 0.2, 0.9), (50, 25, 0.2, None)]


def market(n, m, density, rho, seed=0):
    """Draw a market; every buyer and every good has a partner."""
    rng = np.random.default_rng(seed)
    count = rng.binomial(m, density, n)
    rows = np.repeat(np.arange(n), count)
    columns = np.concatenate([rng.choice(m, size=k, replace=False) for k in count])
    rows = np.concatenate([rows, np.arange(n), rng.integers(0, n, m)])
    columns = np.concatenate([columns, rng.integers(0, m, n), np.arange(m)])
    places = np.unique(rows * m + columns)
    weights = 30 * rng.random(len(places))
    budgets = 30 * rng.random(n)
    if rho is not None:
        weights = weights ** (1 / rho)
    weights = sp.csr_array((weights, np.divmod(places, m)), shape=(n, m))
    utility = qm.CobbDouglas(weights) if rho is None else qm.CES(weights, rho)
    return qm.Market(budgets / budgets.sum(), np.ones(m), utility)


def row(shape, drawn, method, runs, tolerance):
    """Clear some times; print the least and the middle time and what was measured."""
    times, busy = [], []
    for _ in range(runs):
        begun, worked = time.perf_counter(), time.process_time()
        found = qm.clear(drawn, method, tolerance=tolerance)
        times.append(time.perf_counter() - begun)
        busy.append(time.process_time() - worked)
    n, m, density, rho = shape
    family = "Cobb-Douglas" if rho is None else f"rho = {rho:g}"
    gap = found.certificate.gap
    print(
        f"{n:7d} {m:6d} {density:8g}  {family:13s} {type(found.method).__name__:14s}"
        f"{min(times):8.3f} {sorted(times)[len(times) // 2]:8.3f} {min(busy):8.3f}"
        f" {found.stats['iterations']:6d} {found.certificate.worst:9.1e} {abs(gap):9.1e}",
        flush=True,
    )
    return found.prices


def main():
    print(f"{platform.platform()}, Python {platform.python_version()}, qmopt {qm.__version__}")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}; least and middle of {RUNS} runs")
    print(f"certified at {TOLERANCE:g}; the conic program at 1e-4\n")
    heads = ("buyers", "goods", "density", "family", "method")
    numbers = ("least", "middle", "cpu", "steps", "residual", "gap")
    widths = ("8s", "6s", "8s", "13s", "14s", ">7s", ">8s", ">8s", ">6s", ">9s", ">9s")
    print(*(f"{name:{width}}" for name, width in zip((*heads, *numbers), widths, strict=True)))
    for shape in MARKETS:
        row(shape, market(*shape), qm.Newton(), RUNS, TOLERANCE)
    for shape in SMALL:
        drawn = market(*shape)
        ours = row(shape, drawn, qm.Newton(), RUNS, TOLERANCE)
        try:
            conic = row(shape, drawn, qm.EisenbergGale(crossover=False), 3, 1e-4)
        except qm.NotCertified as error:
            print(f"{'':40s}the conic program does not certify: {error.certificate}")
            conic = error.outcome.prices
        apart = np.abs(conic / ours - 1).max()
        print(f"{'':40s}prices of the two are apart by at most {apart:.1e}")


if __name__ == "__main__":
    main()
