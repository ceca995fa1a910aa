"""Build the markets `gavel` and `helios-earth` from the extracts in source/.

    python build.py [DIR]

writes the tables of both markets below DIR (default: beside this script). Same bytes every time.
The markets with workloads are built by build_workloads.py.
Everything that is not measured stands in the capitals below, and in each market's README.
"""

import csv
import sys
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

# ---- gavel: chosen by us. 26 chips for 26 jobs, and the faster a chip, the fewer there are.
GAVEL_SUPPLY = {"k80": 12, "p100": 8, "v100": 6}
GAVEL_CREDITS = 100  # per job: equal shares

# ---- helios-earth: synthetic, none of it is in the trace, whose files name no chip type.
SEED = 2020  # of numpy.random.default_rng (PCG64)
SUPPLY_PERCENT = 80  # of the quotas: as if a fifth of the chips were down
TYPE_PERCENT = {"A30": 40, "L40": 25, "H100-PCIe": 20, "H100-SXM": 15}
LOCATION_PERCENT = {"east": 50, "west": 30, "north": 20}
AWAY = 0.9  # worth of a chip away from home, against the same chip at home
BASE = "A30"  # the chip that speeds are relative to
PARTS = 10  # a mix is ten tenths of chip time

PLACES = list(product(TYPE_PERCENT, LOCATION_PERCENT))
Homes = dict[str, str]
Mixes = dict[str, dict[str, int]]
Values = dict[tuple[str, str, str], float]


def gavel(folder: Path) -> None:
    """26 job types on one GPU each; values are their measured steps per second."""
    jobs = {}
    for row in read_rows("gavel_throughputs.csv"):
        batch = f" b{row['batch_size']}" if row["batch_size"] else ""
        jobs[row["model"] + batch] = {chip: row[chip] for chip in GAVEL_SUPPLY}
    about = (
        "26 kinds of training job, each a team with equal credits, on three generations of GPU; "
        "values are steps per second on one GPU, as measured by Gavel's authors. Newer is not "
        "always faster: 8 of the 26 are slower on a V100 than on a P100. Supplies and credits are "
        "chosen by us: 26 chips for 26 jobs, fewer of the faster ones."
    )
    _write(
        folder / "market.csv",
        ["title", "about", "source", "licence", "period", "made_by"],
        [
            [
                "26 training jobs on three generations of GPU",
                about,
                "Gavel (Narayanan et al. OSDI 2020): scheduler/simulation_throughputs.json",
                "MIT",
                "1 hour",
                "models/markets/gpu/build.py",
            ]
        ],
    )
    _write(
        folder / "resources.csv",
        ["resource", "supply", "gpu_type"],
        ([chip, units, chip] for chip, units in GAVEL_SUPPLY.items()),
    )
    _write(folder / "teams.csv", ["team", "credits"], ([job, GAVEL_CREDITS] for job in jobs))
    _write(
        folder / "bids.csv",
        ["team", "resource", "value"],
        (
            [job, chip, speed]
            for job, speeds in jobs.items()
            for chip, speed in speeds.items()
            if float(speed) > 0  # 0 means that the job does not fit: no bid
        ),
    )


def virtual_clusters() -> tuple[Homes, Mixes, Values]:
    """Homes and mixes drawn for the virtual clusters, and what chips are worth to them then.

    Values are keyed by (virtual cluster, chip type, location), in the order of the tables.
    """
    vcs = [row["vc"] for row in read_rows("helios_earth_hour.csv")]
    minutes = {
        (row["benchmark"], row["gpu_type"]): float(row["minutes"])
        for row in read_rows("mlperf_minutes.csv")
    }
    even = dict.fromkeys((benchmark for benchmark, _ in minutes), 1)
    rng = np.random.default_rng(SEED)
    homes = {vc: _draw(rng, LOCATION_PERCENT) for vc in vcs}
    mixes = {vc: [_draw(rng, even) for _ in range(PARTS)] for vc in vcs}

    def value(vc: str, gpu_type: str, place: str) -> float:
        speeds = [minutes[b, BASE] / minutes[b, gpu_type] for b in mixes[vc]]
        return sum(speeds) / PARTS * (1 if place == homes[vc] else AWAY)

    values = {(vc, t, p): value(vc, t, p) for vc in vcs for t, p in PLACES}
    return homes, {vc: {b: mix.count(b) for b in even} for vc, mix in mixes.items()}, values


def helios_supplies(percent: int) -> list[int]:
    """Whole chips of each type at each location: so many percent of all quotas."""
    quotas = sum(int(row["quota_gpus"]) for row in read_rows("helios_earth_hour.csv"))
    weights = [TYPE_PERCENT[t] * LOCATION_PERCENT[p] for t, p in PLACES]
    return _whole(round(quotas * percent / 100), weights)


def helios_earth(folder: Path) -> None:
    """One hour of 16 virtual clusters with their real quotas, on 12 synthetic resources."""
    rows = read_rows("helios_earth_hour.csv")
    homes, mixes, values = virtual_clusters()
    supplies = helios_supplies(SUPPLY_PERCENT)
    total = sum(supplies)

    about = (
        "The most contested hour of May 2020 in 16 virtual clusters (VC) of Helios Earth: 694 GPUs "
        "running and 209 asked for, against quotas of 856. REAL: the VCs, their quotas (here their "
        "credits), and how fast each chip type is on each MLPerf benchmark (round v3.1). "
        f"SYNTHETIC: that there are four chip types at three locations, {total} chips in all "
        f"({SUPPLY_PERCENT}% of 856), the shares of types and locations, each VC's home and mix of "
        f"benchmarks (numpy default_rng({SEED})), and the factor {AWAY} for a chip away from home. "
        "A value is the chip-hours of A30 at home that one chip-hour is worth; README.md says more."
    )
    _write(
        folder / "market.csv",
        ["title", "about", "source", "licence", "period", "made_by"],
        [
            [
                "A contested hour of 16 virtual clusters",
                about,
                "Helios (Hu et al. SC 2021) 2020-05-16 01:00; MLPerf Training v3.1 logs; synthetic",
                "CC-BY-4.0 and MIT (Helios); Apache-2.0 (MLPerf logs and what is synthetic)",
                "1 hour",
                "models/markets/gpu/build.py",
            ]
        ],
    )
    _write(
        folder / "resources.csv",
        ["resource", "supply", "gpu_type", "location"],
        ([f"{t}@{p}", units, t, p] for (t, p), units in zip(PLACES, supplies, strict=True)),
    )
    _write(
        folder / "teams.csv",
        [
            "team",
            "credits",
            "_running",
            "_pending",
            "_home",
            *(f"_{b}" for b in mixes[rows[0]["vc"]]),
        ],
        (
            [
                row["vc"],
                row["quota_gpus"],
                row["running_gpus"],
                row["pending_gpus"],
                homes[row["vc"]],
                *mixes[row["vc"]].values(),
            ]
            for row in rows
        ),
    )
    _write(
        folder / "bids.csv",
        ["team", "resource", "value"],
        ([vc, f"{t}@{p}", f"{value:.4g}"] for (vc, t, p), value in values.items()),
    )


def _draw(rng: np.random.Generator, weights: dict[str, int]) -> str:
    """One key, with probability in proportion to its weight.

    From `random()` alone, the part of numpy's generators least likely ever to change.
    """
    ends = np.cumsum(list(weights.values()))
    return list(weights)[int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))]


def _whole(total: int, weights: Sequence[int]) -> list[int]:
    """Deal out whole units in proportion to the weights, by largest remainders."""
    parts = [divmod(total * weight, sum(weights)) for weight in weights]
    units = [whole for whole, _ in parts]
    by_rest = sorted(range(len(parts)), key=lambda k: -parts[k][1])  # stable: earlier ones first
    for k in by_rest[: total - sum(units)]:
        units[k] += 1
    return units


def read_rows(name: str) -> list[dict[str, str]]:
    """Rows of one extract in source/, as text."""
    with (HERE / "source" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    gavel(out / "gavel")
    helios_earth(out / "helios-earth")
