"""Utility caps and bundles of many teams by the interior point: seconds, and what was measured.

    PYTHONPATH=. python benchmarks/limits.py

Values are uniform on [0, 1]; half of the teams have a cap of 0.3 to 3 times the mean value of a
chip. Recipes take one chip of a good and half of one of another. A pass is one sum over the values.
"""

from __future__ import annotations

import os
import platform
import time

import numpy as np
import scipy
import scipy.sparse as sp

import qmopt as qm
from qmopt.certificate import measure


def capped(n: int, m: int) -> qm.Market:
    rng = np.random.default_rng(0)
    values, budgets = rng.random((n, m)), rng.uniform(0.5, 2, n)
    some = rng.random(n) < 0.5
    caps = np.where(some, values.mean(axis=1) * rng.uniform(0.3, 3, n), np.inf)
    return qm.Market(budgets, np.full(m, n / m), qm.Linear(values), utility_caps=caps)


def recipes(n: int, m: int, each: int) -> qm.Market:
    rng = np.random.default_rng(1)
    count = n * each
    goods, units = rng.integers(0, m, (count, 2)), np.tile([1.0, 0.5], count)
    needs = sp.csr_array((units, (np.repeat(np.arange(count), 2), goods.ravel())), (count, m))
    utility = qm.Bundles(np.repeat(np.arange(n), each), needs, rng.random(count) + 0.1)
    return qm.Market(rng.uniform(0.5, 2, n), np.full(m, n / m), utility)


def run(name: str, market: qm.Market) -> None:
    method = qm.InteriorPoint()
    method.solve(capped(40_000, 3))  # compiled code is loaded here
    begun, used = time.perf_counter(), time.process_time()
    found = method.solve(market)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    certificate = measure(market, found.prices, found.allocation, 1e-8)
    print(
        f"{name:28} {wall:7.2f} {cpu:7.2f} {found.stats['iterations']:6} "
        f"{certificate.worst:9.1e} {'yes' if certificate.certified() else 'NO'}",
        flush=True,
    )


if __name__ == "__main__":
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"qmopt {qm.__version__}, numpy {np.__version__}, scipy {scipy.__version__}")
    print(f"{'market':28} {'wall s':>7} {'cpu s':>7} {'steps':>6} {'worst':>9} at 1e-8")
    for n, m in ((1000, 50), (20_000, 50), (100_000, 20), (100_000, 100)):
        run(f"caps {n} x {m}", capped(n, m))
    for n, m in ((1000, 50), (20_000, 50)):
        run(f"5 recipes each, {n} x {m}", recipes(n, m, 5))
