"""Seconds and memory to clear K independent copies of a two-by-two market, sparse.

    python benchmarks/copies.py 10 1000 10000

Each count runs in a process of its own, so that the peak is its own; imports are included in the
peak and not in the seconds. Prices are checked against the ones worked by hand.
"""

import subprocess
import sys
import time


def run(count: int) -> str:
    import numpy as np

    import qmopt as qm
    from qmopt import generate

    begun = time.perf_counter()
    found = qm.clear(generate.copies(count))
    seconds = time.perf_counter() - begun
    exact = np.outer(np.arange(1, count + 1), [10, 20]).ravel()
    off = np.abs(found.prices / exact - 1).max()
    phases = ", ".join(f"{name} {took:.2f}" for name, took in found.stats["seconds"].items())
    peak = found.stats["peak_mib"]
    return f"K = {count}: {seconds:.2f} s ({phases}), peak {peak:.0f} MiB, prices off by {off:.0e}"


if __name__ == "__main__":
    counts = sys.argv[1:] or ["10", "1000"]
    if len(counts) == 1:
        print(run(int(counts[0])))
    else:
        for each in counts:
            subprocess.run([sys.executable, __file__, each], check=True)
