"""Build the markets with workloads from the extracts in source/.

    python build_workloads.py [DIR]

writes `queue.toml`, `helios-workloads-100.toml`, `-80`, `-65` and `scaling-curves.toml` into DIR
(default: beside this script). Same bytes every time. Everything that is not measured stands in the
capitals below, and in README.md.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from build import HERE, PLACES, helios_supplies, read_rows, virtual_clusters

Row = Mapping[str, str | float | None]

# ---- queue: chosen by us, but for the rates
NAMED = "H100-SXM"  # demands are in hours of this chip
QUEUE_SUPPLY = {"H100-SXM@east": 384, "H100-SXM@west": 192, "H100-PCIe@west": 256, "L40@east": 256}
NODE = 8  # chips
QUEUE_CREDITS = {"language": 1600, "vision": 900, "speech": 500, "medical": 400, "research": 400}
QUEUE_KEEP = {"research": 1}  # so its values are in its own credits
SXM = ("H100-SXM@east", "H100-SXM@west")
H100 = (*SXM, "H100-PCIe@west")
ALL = tuple(QUEUE_SUPPLY)
LARGE = ("H100-SXM@east", "H100-PCIe@west")  # where 256 chips can run at once


@dataclass(frozen=True)
class Job:
    """One workload of the queue: what MLPerf benchmark it runs like, and what it asks for."""

    team: str
    name: str
    benchmark: str
    demand: float  # hours of NAMED
    gang: int  # chips at once
    priority: int
    value: float  # per hour of NAMED
    places: tuple[str, ...]
    limit_price: float | None = None
    deadline: str | None = None


QUEUE = (
    Job("language", "pretrain", "bert", 320, 256, 2, 10, LARGE),
    Job("language", "finetune", "bert", 80, 8, 1, 12, H100),
    Job("language", "evaluate", "bert", 24, 8, 0, 6, ALL),
    Job("vision", "backbone", "resnet", 192, 64, 2, 8, ALL),
    Job("vision", "detector", "retinanet", 72, 8, 1, 9, ALL),
    Job("vision", "evaluate", "resnet", 16, 8, 0, 5, ALL),
    Job("speech", "recognizer", "rnnt", 128, 64, 1, 7, SXM),
    Job("speech", "adapt", "rnnt", 32, 8, 0, 6, ALL),
    Job("medical", "segment", "unet3d", 64, 64, 3, 10, H100, deadline="2026-12-18"),
    Job("medical", "check", "unet3d", 16, 8, 1, 8, ALL),
    Job("research", "sweep", "resnet", 72, 8, 0, 6, ALL, limit_price=6),
    Job("research", "explore", "retinanet", 24, 8, 0, 4, ALL),
)

APACHE = "Apache-2.0 (MLPerf logs and what is made up); text in helios-earth/"

# ---- helios-workloads: chosen by us
SHARES = (100, 80, 65)  # percent of the quotas that there are chips for
PENDING = 0.8  # worth of a chip to a job that waits, against the same chip to one that runs

# ---- scaling-curves: chosen by us. Half of what the four would take of each type.
SCALING_SUPPLY = {"A100": 256, "H100": 64}
SCALING_CREDITS = 100  # per team: equal shares


def queue(path: Path) -> None:
    """Five teams queue training runs, fine-tuning and evaluation, in gangs."""
    minutes = {
        (row["benchmark"], row["gpu_type"]): float(row["minutes"])
        for row in read_rows("mlperf_minutes.csv")
    }

    def rate(benchmark: str, resource: str) -> float:
        return minutes[benchmark, NAMED] / minutes[benchmark, resource.partition("@")[0]]

    demand = sum(job.demand for job in QUEUE)
    benchmarks = list(dict.fromkeys(benchmark for benchmark, _ in minutes))
    worth = sum(
        units * sum(rate(b, place) for b in benchmarks) / len(benchmarks)
        for place, units in QUEUE_SUPPLY.items()
    )
    about = f"""
Five teams, twelve workloads. A demand is in hours of one {NAMED}; a rate is how many of them one
chip of some type serves in an hour: minutes to train on 8 {NAMED} over minutes on 8 of that type.
All demands add up to {demand} hours, and the chips are worth {worth:.0f}, each type at its mean
rate over the five benchmarks: {demand / worth:.2f} times as much is wanted as there is.

The chips of a gang, 8, 64 or 256, run all at once, and every resource that it may use has as many.
Only research keeps credits. A kept one is worth 1 to it, so its values are in its own credits, and
the limit price of its sweep is the sweep's value.

REAL: the rates. MADE UP: everything else."""
    workloads, bids = [], []
    for job in QUEUE:
        own = {"team": job.team, "workload": job.name}
        fields = ("demand", "gang", "priority", "limit_price", "deadline")
        told = {field: getattr(job, field) for field in fields}
        workloads.append({**own, **told, "_benchmark": job.benchmark})
        for place in job.places:
            served = float(f"{rate(job.benchmark, place):.4g}")
            bids.append({**own, "resource": place, "value": job.value, "rate": served})
    _write(
        path,
        _market(
            "A queue of workloads with gangs",
            about,
            "rates: MLPerf Training v3.1 logs, not verified by MLCommons; the rest is made up",
            APACHE,
        ),
        resources=[
            {**_resource(place, units), "unit": NODE} for place, units in QUEUE_SUPPLY.items()
        ],
        teams=[
            {"team": team, "credits": credits, "keep_value": QUEUE_KEEP.get(team)}
            for team, credits in QUEUE_CREDITS.items()
        ],
        workloads=workloads,
        bids=bids,
    )


def helios_workloads(path: Path, percent: int) -> None:
    """One hour of 16 virtual clusters; what they ran and what they waited for are demands."""
    rows = read_rows("helios_earth_hour.csv")
    _, _, values = virtual_clusters()
    supplies = helios_supplies(percent)
    workloads = [
        {"team": row["vc"], "workload": state, "demand": float(row[f"{state}_gpus"])}
        for row in rows
        for state in ("running", "pending")
        if float(row[f"{state}_gpus"]) > 0
    ]
    demand = sum(workload["demand"] for workload in workloads)
    worth = {"running": 1, "pending": PENDING}
    about = f"""
The most contested hour of May 2020 in Helios Earth, as in gpu/helios-earth, with demands. A virtual
cluster (VC) has two workloads: running, the GPUs that its jobs held, and pending, those that its
queued jobs asked for, each the mean over the hour. Those of 0 are left out; three VCs had neither.
{demand:.2f} GPUs in all are wanted of {sum(supplies)} chips, {percent}% of the quotas of 856.

A demand is in chips, of whatever type: a job asks for so many. A faster chip is worth more.
REAL: the VCs, their quotas (here their credits), the demands, and how fast each chip type is.
SYNTHETIC: chip types, locations, homes, mixes and the worth of a chip away from home, all as in
gpu/helios-earth; and that to a pending job a chip is worth {PENDING} of what it is to a running
one, which would lose what it has done since its last checkpoint."""
    _write(
        path,
        _market(
            f"Running and pending jobs of 16 virtual clusters, at {percent}% of their quotas",
            about,
            "Helios (Hu et al. SC 2021) 2020-05-16 01:00; MLPerf Training v3.1 logs; synthetic",
            "CC-BY-4.0 and MIT (Helios); Apache-2.0 (MLPerf logs and what is synthetic); "
            "texts in helios-earth/",
        ),
        resources=[
            _resource(f"{t}@{p}", units) for (t, p), units in zip(PLACES, supplies, strict=True)
        ],
        teams=[{"team": row["vc"], "credits": int(row["quota_gpus"])} for row in rows],
        workloads=workloads,
        bids=[
            {
                "team": vc,
                "workload": state,
                "resource": f"{t}@{p}",
                "value": float(f"{worth[state] * values[vc, t, p]:.4g}"),
            }
            for vc, state in ((row["team"], row["workload"]) for row in workloads)
            for t, p in PLACES
        ],
    )


def scaling_curves(path: Path) -> None:
    """Four teams, each with the scaling curve of one benchmark cut into straight pieces."""
    curves: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in read_rows("mlperf_scaling.csv"):
        points = curves.setdefault((row["benchmark"], row["gpu_type"]), [(0, 0.0)])
        points.append((int(row["accelerators"]), 60 / float(row["minutes"])))
    hulls = {key: upper_hull(points) for key, points in curves.items()}
    passed = [
        f"{benchmark} on {chip} at {', '.join(under)}"
        for (benchmark, chip), curve in curves.items()
        if (under := [str(n) for n, r in curve if (n, r) not in hulls[benchmark, chip]])
    ]
    workloads, bids = [], []
    for (benchmark, chip), hull in hulls.items():
        for (few, slow), (many, fast) in pairwise(hull):
            own = {"team": benchmark, "workload": f"{chip} {few} to {many}"}
            slope = float(f"{(fast - slow) / (many - few):.5g}")
            workloads.append({**own, "demand": many - few})
            bids.append({**own, "resource": chip, "value": slope})
    about = f"""
Twice the chips are not twice the speed. Four teams, each trains one MLPerf benchmark over and over;
n chips finish 60/minutes(n) runs an hour. That curve, from nothing at no chips through the measured
counts, is cut into straight pieces, each a workload: its demand is the chips that the piece adds,
its value the slope, in runs per hour and chip. Slopes fall, so the pieces fill in order.
A100 and H100 have curves of their own, since one run does not mix them: what a team has of both
trains two models side by side.

A measured point below the straight line between two others is passed over (the upper hull), as if
the chips were shared in time between these two. Passed over:
{"; ".join(passed)}.

REAL: the curves, of one round, best submission at each count. MADE UP: credits and supplies."""
    _write(
        path,
        _market(
            "Scaling curves: the more chips, the less each adds",
            about,
            "MLPerf Training v2.1 logs, closed division; not verified by MLCommons",
            APACHE,
        ),
        resources=[_resource(chip, units) for chip, units in SCALING_SUPPLY.items()],
        teams=[
            {"team": benchmark, "credits": SCALING_CREDITS}
            for benchmark in dict.fromkeys(benchmark for benchmark, _ in curves)
        ],
        workloads=workloads,
        bids=bids,
    )


def upper_hull(points: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Corners of the least concave curve that is nowhere below the points."""
    hull: list[tuple[int, float]] = []
    for x, y in sorted(points):
        while len(hull) > 1:
            (a, u), (b, v) = hull[-2:]
            if (v - u) * (x - a) > (y - u) * (b - a):  # the last corner is above the line past it
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _resource(name: str, units: int) -> dict[str, str | float | None]:
    gpu_type, _, location = name.partition("@")
    place = location or None
    return {"resource": name, "supply": units, "gpu_type": gpu_type, "location": place}


def _market(title: str, about: str, source: str, licence: str) -> dict[str, str]:
    return {
        "title": title,
        "about": about,
        "source": source,
        "licence": licence,
        "period": "1 hour",
        "made_by": "models/markets/gpu/build_workloads.py",
    }


def _write(path: Path, market: Mapping[str, str], **tables: Sequence[Row]) -> None:
    """Write TOML: the market under dotted keys, then one row a line, columns aligned."""
    blocks = ["".join(f"market.{key} = {_text(text)}\n" for key, text in market.items())]
    for name, rows in tables.items():
        cells = [
            {key: f"{key} = {_cell(cell)}" for key, cell in row.items() if cell is not None}
            for row in rows
        ]
        keys = dict.fromkeys(key for row in rows for key in row)
        widths = {key: max(len(row.get(key, "")) for row in cells) for key in keys}
        lines = [f"{name} = ["]
        for row in cells:
            ends = dict.fromkeys(row, ",") | {list(row)[-1]: ""}
            padded = [
                (row.get(key, "") + ends.get(key, "")).ljust(width + 1)
                for key, width in widths.items()
            ]
            lines.append(f"  {{ {' '.join(padded).rstrip()} }},")
        blocks.append("\n".join([*lines, "]\n"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(blocks), encoding="utf-8", newline="\n")


def _cell(cell: str | float) -> str:
    return _text(cell) if isinstance(cell, str) else f"{cell:.10g}"


def _text(text: str) -> str:
    return f'"""{text}\n"""' if "\n" in text else json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    queue(out / "queue.toml")
    for percent in SHARES:
        helios_workloads(out / f"helios-workloads-{percent}.toml", percent)
    scaling_curves(out / "scaling-curves.toml")
