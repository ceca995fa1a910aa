"""How long exact answers take: found in rationals, and proved.

From a checkout: ``PYTHONPATH=. python benchmarks/exact.py``.
"""

import platform
import time

import numpy as np

import qmopt as qm


def market(buyers, goods, most, seed):
    """Budgets, supplies and values whole numbers from 1 to the most."""
    rng = np.random.default_rng(seed)
    return qm.Market(
        rng.integers(1, most + 1, buyers),
        rng.integers(1, most + 1, goods),
        qm.Linear(rng.integers(1, most + 1, (buyers, goods))),
    )


def digits(found):
    """Binary digits of the longest price."""
    return max(
        max(p.numerator.bit_length(), p.denominator.bit_length()) for p in found.exact.prices
    )


def main():
    """Print one line per market: seconds of the float method, of the exact answer, and in all."""
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}; "
        "seconds, best of three; prove: crossover in rationals and the proof"
    )
    print(f"{'market':32} {'method':14} {'float':>7} {'prove':>7} {'in all':>7}  pivots  bits")
    sizes = [(200, 100, 10**6, seed) for seed in range(3)]
    sizes += [(k, k, 10, 0) for k in (50, 100, 200, 300, 400, 500)]
    sizes += [(400, 400, 10**6, 0)]
    for buyers, goods, most, seed in sizes:
        given = market(buyers, goods, most, seed)
        runs = []
        for _ in range(3):
            begun = time.perf_counter()
            found = qm.clear(given, exact=True)
            runs.append((time.perf_counter() - begun, found.stats["seconds"]["prove"]))
        took, prove = min(runs)
        name = f"{buyers} x {goods}, 1 to {most}, seed {seed}"
        method = type(found.method).__name__
        print(
            f"{name:32} {method:14} {took - prove:7.2f} {prove:7.2f} {took:7.2f}"
            f"  {found.exact.pivots:6} {digits(found):5}",
            flush=True,
        )


if __name__ == "__main__":
    main()
