"""Seconds and memory to read a CSV market of a million bids.

    python benchmarks/read_csv.py [ROWS]

The market is written to a temporary folder first. Each reading is a process of its own, so that
the peak is its own; the seconds count reading and checking, not the imports.
"""

import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3


def write(folder: Path, rows: int) -> None:
    """Write rows of bids by a thousandth as many teams for a thousand resources."""
    resources = 1000
    teams = max(1, rows // resources)
    (folder / "resources.csv").write_text(
        "resource,supply\n" + "".join(f"h100@zone-{j},{j % 64 + 1}\n" for j in range(resources))
    )
    (folder / "teams.csv").write_text(
        "team,credits\n" + "".join(f"team-{i},{i % 90 + 10}.5\n" for i in range(teams))
    )
    with (folder / "bids.csv").open("w") as file:
        file.write("team,resource,value\n")
        for row in range(rows):
            team, good = divmod(row, resources)
            file.write(f"team-{team},h100@zone-{good},{(row * 7919 % 9973) / 100}\n")


def read(folder: str) -> str:
    """Return what one reading took."""
    from qmopt import tables

    begun, worked = time.perf_counter(), time.process_time()
    market = tables.read(folder)
    seconds, work = time.perf_counter() - begun, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bids = len(market["bids"])
    return f"{bids:>9,} bids: {seconds:.2f} s ({work:.2f} s of work), peak {peak:.0f} MiB"


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
        print(f"{size:.1f} MiB of CSV, Python {platform.python_version()}, {platform.machine()}")
        for _ in range(RUNS):
            subprocess.run([sys.executable, __file__, "--read", folder], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        print(read(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
