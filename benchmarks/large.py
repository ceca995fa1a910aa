"""Large markets: time in passes over the values, memory beyond them, and what it grows with.

From a checkout: ``PYTHONPATH=. python benchmarks/large.py > benchmarks/results/large.txt``.
Every row runs in a process of its own. ``P`` is the best of five times that ``values.sum()`` takes;
solve and clear are the better of two, after a small market has loaded and compiled everything. The
MiB are what the process had at most, less the values and what it had before they were drawn.
``--quick`` takes small sizes, ``--row KIND N M`` one row.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp

import qmopt as qm

KINDS = ("lognormal", "uniform", "low rank", "integer", "sparse")
SIZES = [(10_000, 100), (100_000, 100), (1_000_000, 100), (1_000_000, 20), (100_000, 1000)]
QUICK = [(3_000, 30), (10_000, 30), (30_000, 30)]
#: Share by which budgets change before the market is cleared again from the last answer.
CHANGE = 1e-3


def values_of(kind, n, m):
    """Values (n, m), read-only, so that the market takes them as they are."""
    rng = np.random.default_rng(1)
    if kind == "sparse":  # one in a hundred, and one good for everybody
        some = sp.random_array((n, m), density=0.01, rng=rng, format="csr")
        one = (1 - rng.random(n), (np.arange(n), rng.integers(0, m, n)))
        return sp.csr_array(some + sp.csr_array(one, shape=(n, m)))
    values = np.empty((n, m))
    goods = rng.random((5, m))
    for begin in range(0, n, 10_000):  # in parts: drawing is not to be the peak
        rows = values[begin : begin + 10_000]
        shape = rows.shape
        if kind == "lognormal":
            rows[:] = rng.lognormal(size=shape)
        elif kind == "uniform":
            rows[:] = 1 - rng.random(shape)
        elif kind == "low rank":
            rows[:] = rng.random((len(rows), 5)) @ goods + 1e-3 * rng.random(shape)
        else:
            rows[:] = rng.integers(1, 11, shape)
    values.setflags(write=False)
    return values


def peak():
    """Most memory that this process had so far, MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def better(run, times=2):
    """Result of a run, and the least seconds of some."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        found = run()
        taken.append(time.perf_counter() - begun)
    return found, min(taken)


def row(kind, n, m):
    """Measure one market, in this process."""
    method = qm.ColumnGeneration()
    qm.clear(qm.Market(np.ones(500), np.full(5, 100), qm.Linear(values_of(kind, 500, 5))), method)
    before = peak()
    values = values_of(kind, n, m)
    data = [values] if isinstance(values, np.ndarray) else [values.data, values.indices]
    stored = sum(array.nbytes for array in data) / 2**20
    _, one = better(data[0].sum, 5)
    begun = time.perf_counter()
    market = qm.Market(np.ones(n), np.full(m, n / m), qm.Linear(values))
    built = time.perf_counter() - begun
    outcome, solve = better(lambda: method.solve(market))
    solve_peak = peak()
    found, clear = better(lambda: qm.clear(market, method))
    cleared_peak = peak()
    changed = market.budgets * np.random.default_rng(2).lognormal(0, CHANGE, n)
    other = market.replace(budgets=changed)
    _, cold = better(lambda: method.solve(other))
    limited = qm.ColumnGeneration(time_limit=max(60.0, 10 * cold))  # a bad start shows, and ends
    _, warm = better(lambda: limited.solve(other, start=found), 1)
    copies = 0 if isinstance(values, np.ndarray) else 1  # a sparse matrix is copied
    return {
        "kind": kind, "n": n, "m": m, "MiB": stored, "P": one, "build": built / one,
        "solve": solve / one, "clear": clear / one, "passes": outcome.stats["passes"],
        "solve MiB": solve_peak - before - (1 + copies) * stored,
        "clear MiB": cleared_peak - before - (1 + copies) * stored,
        "worst": found.certificate.worst, "gap": found.certificate.gap,
        "warm/cold": warm / cold, "seconds": clear,
    }  # fmt: skip


COLUMNS = {
    "kind": "{:<10}", "n": "{:>9,}", "m": "{:>5}", "MiB": "{:>6.0f}", "P": "{:>8.4f}",
    "build": "{:>6.1f}", "solve": "{:>8.1f}", "clear": "{:>8.1f}", "passes": "{:>6}",
    "solve MiB": "{:>9.0f}", "clear MiB": "{:>9.0f}", "worst": "{:>8.1e}", "gap": "{:>8.1e}",
    "warm/cold": "{:>9.2f}", "seconds": "{:>8.2f}",
}  # fmt: skip


def shown(found):
    return " ".join(form.format(found[name]) for name, form in COLUMNS.items())


def heading():
    return " ".join(
        f"{name:{'<' if '<' in form else '>'}{len(form.format(1 if 'e' not in form else 1e-9))}}"
        for name, form in COLUMNS.items()
    )


def measured(kind, n, m):
    """Measure one market in a process of its own."""
    run = subprocess.run(
        [sys.executable, __file__, "--row", kind, str(n), str(m), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr.strip().splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--row", nargs=3, metavar=("KIND", "N", "M"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.row:
        kind, n, m = options.row
        found = row(kind, int(float(n)), int(m))
        print(json.dumps(found) if options.json else f"{heading()}\n{shown(found)}")
        return
    print(f"{platform.platform()}, Python {platform.python_version()}, numpy {np.__version__}")
    print("P in seconds; build, solve and clear in P; MiB beyond the values; gap relative\n")
    print(heading(), flush=True)
    fitted = {kind: [] for kind in KINDS}
    sizes = QUICK if options.quick else SIZES
    width = sizes[0][1]
    for n, m in sizes:
        for kind in KINDS:
            found = measured(kind, n, m)
            if isinstance(found, str):
                print(f"{kind:<10} {n:>9,} {m:>5} {found}", flush=True)
                continue
            print(shown(found), flush=True)
            if m == width:
                fitted[kind].append((n, found["solve"] * found["P"], found["seconds"]))
    print(f"\nexponent of time in n at m = {width}, fitted: solve, clear")
    for kind, points in fitted.items():
        if len(points) > 1:
            logs = np.log(points)
            solve, clear = (np.polyfit(logs[:, 0], logs[:, k], 1)[0] for k in (1, 2))
            print(f"{kind:<10} {solve:5.2f} {clear:5.2f}")


if __name__ == "__main__":
    main()
