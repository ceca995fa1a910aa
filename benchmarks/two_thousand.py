"""Every method on the two thousand awkward markets of ``generate.market``.

    python benchmarks/two_thousand.py                       # all methods, two at a time
    python benchmarks/two_thousand.py --method InteriorPoint --seeds 0 300

Counts what is answered, certified at 1e-9, with ties settled and prices that hold alone; the worst
residual, the longest time, and how far the prices are from those of the first method. Failures are
listed, each with its explanation. Methods and explanations are those of
``tests/methods/awkward.py``, where the tests hold every method to its share.
"""

import argparse
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "two-thousand.txt"
#: Markets that a process takes at a time.
BATCH = 50

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import scipy  # noqa: E402

import qmopt as qm  # noqa: E402
from tests.methods.awkward import MANY, PATIENCE, TOLERANCE, WAYS, apart, examine_all  # noqa: E402


def examined(name: str, seeds: range) -> list:
    return examine_all(seeds, WAYS[name])


def run(names: list[str], seeds: range, workers: int) -> dict[str, list]:
    """Findings of every method, by seed; each batch runs in a process of its own."""
    batches = [range(s, min(s + BATCH, seeds.stop)) for s in range(seeds.start, seeds.stop, BATCH)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        found = {name: [pool.submit(examined, name, b) for b in batches] for name in names}
        return {
            name: [finding for future in futures for finding in future.result()]
            for name, futures in found.items()
        }


def report(name: str, findings: list, first: str, reference: list) -> list[str]:
    """Lines about one method."""
    way, count = WAYS[name], len(findings)
    answered = sum(f.prices is not None for f in findings)
    good = sum(f.problem is None for f in findings)
    slowest = max(findings, key=lambda f: f.seconds)
    worst = max((f for f in findings if f.prices is not None), key=lambda f: f.worst)
    lines = [
        f"{name}: {answered} of {count} answered and certified at {TOLERANCE:g} "
        f"({answered / count:.2%}; asked for {way.share:.1%}), {good} with nothing to remark",
        f"    largest residual {worst.worst:.1e} (seed {worst.seed})",
        f"    seconds: {sum(f.seconds for f in findings):.0f} in all, median "
        f"{np.median([f.seconds for f in findings]):.3f}, longest {slowest.seconds:.2f} "
        f"(seed {slowest.seed}: {slowest.title})",
    ]
    if name != first:
        far = [(apart(a, b, way.exact), a) for a, b in zip(reference, findings, strict=True)]
        most, where = max(far, key=lambda pair: pair[0])
        which = "all prices" if way.exact else "prices that both know to 1e-8"
        lines.append(f"    {which} within {most:.1e} of those of {first} (seed {where.seed})")
    for finding in findings:
        if finding.problem:
            why = way.known.get(finding.seed, "not explained")
            lines.append(f"    {finding}\n        because: {why}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--method", action="append", choices=list(WAYS), help="default: all")
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, MANY), metavar=("FROM", "TO"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help=f"default for all: {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args()
    names, seeds = options.method or list(WAYS), range(*options.seeds)
    found = run(names, seeds, options.workers)
    command = " ".join(["python", "benchmarks/two_thousand.py", *sys.argv[1:]])
    lines = [
        f"$ {command}",
        f"qmopt {qm.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}; {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} CPUs, {options.workers} processes, {PATIENCE:g} s a market at most",
        f"generate.market, seeds {seeds.start} to {seeds.stop - 1}",
        "",
    ]
    for name in names:
        lines += report(name, found[name], names[0], found[names[0]])
    text = "\n".join(lines) + "\n"
    print(text, end="")
    out = options.out or (RESULTS if not options.method and len(seeds) == MANY else None)
    if out:
        out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
