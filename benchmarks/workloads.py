"""Workloads: a split, and credits that serve all of a team's workloads, on many random markets.

    PYTHONPATH=. python benchmarks/workloads.py > benchmarks/results/workloads.txt

Markets are ``generate.workloads(seed)``, 10 to 200 teams, 3 to 30 goods. By "wanted", the chips
that all demands take over the supply (``generate.wanted``), they fall into three groups. A split is
measured in its divided market, effective budgets in the joint one: how many certify at which
tolerance, the longest time, and the largest of each residual over all answers of a group, certified
or not. Joint answers that miss 1e-8 are listed one by one.

After that one large market, ``generate.workloads(1, 5000, 60, most=7, ratio=1.2)``: both, within a
limit of time, and how many teams could do better by more than a millionth.

Seconds are of the clock; "cpu" are those of the processor, which other work on the machine changes
less.
"""

import os
import platform
import time

import numpy as np
import scipy

import qmopt as qm
from qmopt import generate
from qmopt.certificate import measure

SEEDS = range(400)
TOLERANCES = (1e-3, 1e-6, 1e-8)
SPLIT_TOLERANCES = (1e-7, 1e-8, 1e-9)
LARGE = {"seed": 1, "teams": 5000, "goods": 60, "most": 7, "ratio": 1.2}
LIMIT = 60
#: Groups by how much is wanted, and where each ends.
GROUPS = {"below 0.8": 0.8, "0.8 to 1.2": 1.2, "above 1.2": np.inf}


def group(market):
    """Name of the group of a market."""
    wanted = generate.wanted(market)
    return next(name for name, end in GROUPS.items() if wanted < end)


def timed(method, market):
    """Outcome, seconds, and processor seconds."""
    begun, worked = time.perf_counter(), time.process_time()
    outcome = method.solve(market)
    return outcome, time.perf_counter() - begun, time.process_time() - worked


def jointly(market, outcome):
    """Measure an outcome as an equilibrium in which credits serve all of a team's workloads."""
    return measure(market, outcome.prices, None, activities=outcome.activities)


def divided(market, outcome):
    """Measure a split in the market in which each workload has its own credits."""
    levels = outcome.divided.levels(outcome.activities)
    return measure(outcome.divided.market, outcome.prices, None, activities=levels)


def certified(certificates, tolerances):
    """How many certify at each tolerance, as columns."""
    return "".join(f"{sum(c.certified(t) for c in certificates):8d}" for t in tolerances)


def sizes(certificate):
    """Every residual by name, as a number."""
    return {name: abs(size) for name, size in certificate.residuals.items() if size is not None}


def table(name, rows, tolerances):
    """Print what was certified by group, and the largest of each residual."""
    print(f"\n{name}\n{'wanted':12}{'markets':>8}" + "".join(f"{t:>8.0e}" for t in tolerances)
          + f"{'longest':>9}{'cpu':>8}{'all cpu':>9}")  # fmt: skip
    groups = {key: [row for row in rows if row[0] == key] for key in GROUPS} | {"all": rows}
    for key, mine in groups.items():
        seconds, busy = [row[2] for row in mine], [row[3] for row in mine]
        counts = certified([row[1] for row in mine], tolerances)
        print(f"{key:12}{len(mine):8d}{counts}{max(seconds):9.2f}{max(busy):8.2f}{sum(busy):9.1f}")
    print("largest residuals")
    names = list(dict.fromkeys(part for row in rows for part in sizes(row[1])))
    print(f"{'wanted':12}" + "".join(f"{key:>14}" for key in names))
    for key, mine in groups.items():
        most = (max(sizes(row[1]).get(part, 0.0) for row in mine) for part in names)
        print(f"{key:12}" + "".join(f"{size:14.1e}" for size in most), flush=True)


def small():
    """Both methods on all seeds."""
    splits, joint, missed = [], [], []
    for seed in SEEDS:
        market = generate.workloads(seed)
        where = group(market)
        outcome, seconds, busy = timed(qm.Split(), market)
        splits.append((where, divided(market, outcome), seconds, busy))
        outcome, seconds, busy = timed(qm.EffectiveBudgets(), market)
        seen = jointly(market, outcome)
        joint.append((where, seen, seconds, busy))
        if not seen.certified(1e-8):
            missed.append((seed, generate.wanted(market), outcome, seen, seconds))
    table("Split(), in its divided market", splits, SPLIT_TOLERANCES)
    table("EffectiveBudgets(), jointly", joint, TOLERANCES)
    print(f"\njointly above 1e-8: {len(missed)} of {len(SEEDS)}")
    for seed, wanted, outcome, seen, seconds in missed:
        worst = ", ".join(f"{k} {v:.1e}" for k, v in sizes(seen).items() if v > 1e-9)
        print(f"  seed {seed}, wanted {wanted:.2f}, {outcome.status}, {seconds:.1f} s: {worst}")


def large():
    """Both methods on the large market."""
    market = generate.workloads(**LARGE)
    count, options = len(market.utility.demand), len(market.utility.workload)
    wanted = generate.wanted(market)
    print(f"\n{market.title}: {count} workloads, {options} options, wanted {wanted:.2f}")
    outcome, seconds, busy = timed(qm.Split(), market)
    show("Split, divided", divided(market, outcome), outcome, seconds, busy)
    outcome, seconds, busy = timed(qm.EffectiveBudgets(time_limit=LIMIT), market)
    show(f"EffectiveBudgets(time_limit={LIMIT})", jointly(market, outcome), outcome, seconds, busy)
    regrets = regret(market, outcome)
    print(f"  teams with a regret above 1e-6: {int((regrets > 1e-6).sum())} of {market.n}; "
          f"the largest {regrets.max():.1e}")  # fmt: skip


def regret(market, outcome):
    """Share by which each team could do better at the prices, (n,)."""
    ways, levels = market.utility.activities(), outcome.activities
    value = np.bincount(ways.owner, weights=ways.values * levels, minlength=market.n)
    spend = np.asarray(market.utility.taken(levels) @ np.nan_to_num(outcome.prices))
    value += market.keep_values * np.maximum(market.budgets - spend, 0)
    best = market.utility.best_whole(outcome.prices, market.budgets, market.keep_values)
    return 1 - value / best


def show(name, seen, outcome, seconds, busy):
    """Print one answer of the large market."""
    print(f"{name}: {outcome.status}, {outcome.stats['iterations']} steps, {seconds:.1f} s "
          f"(cpu {busy:.1f} s), worst {seen.worst:.1e}")  # fmt: skip
    print("  " + ", ".join(f"{k} {v:.1e}" for k, v in sizes(seen).items()), flush=True)


def main():
    print("$ PYTHONPATH=. python benchmarks/workloads.py")
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, qmopt {qm.__version__}, "
          f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'not set')}")  # fmt: skip
    print(f"generate.workloads, seeds {SEEDS[0]} to {SEEDS[-1]}")
    small()
    large()


if __name__ == "__main__":
    main()
