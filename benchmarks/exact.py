"""How long exact answers take: found in rationals, and proved.

From a checkout: ``PYTHONPATH=. python benchmarks/exact.py``, and with a number for as many of the
random markets of ``generate.market``.
"""

import platform
import sys
import time

import numpy as np

import qmopt as qm
from qmopt import generate


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


def random_markets(count):
    """Clear and prove so many of the awkward markets; one line for what failed, one for all."""
    begun, pivots, proved, longest = time.perf_counter(), [], 0, 0.0
    for seed in range(count):
        start = time.perf_counter()
        try:
            found = qm.clear(generate.market(seed), exact=True)
            proved += found.exact.certificate.proved
            pivots.append(found.exact.pivots)
        except qm.QmoptError as error:
            print(f"{seed}: {type(error).__name__}: {error}")
        longest = max(longest, time.perf_counter() - start)
    print(
        f"generate.market(0) to ({count - 1}): {proved} proved; pivots in rationals in "
        f"{np.count_nonzero(pivots)} of them, {sum(pivots)} in all, {max(pivots)} at most; "
        f"{time.perf_counter() - begun:.0f} s, the longest {longest:.1f} s"
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
    random_markets(int(sys.argv[1])) if len(sys.argv) > 1 else main()
