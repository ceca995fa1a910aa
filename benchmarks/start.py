"""How long a fresh process takes to clear a small market, and which imports that is.

From a checkout: ``PYTHONPATH=. python benchmarks/start.py > benchmarks/results/start.txt``.
"""

import platform
import re
import subprocess
import sys
import time

COMMANDS = [
    ["-c", "pass"],
    ["-c", "import qmopt"],
    ["-m", "qmopt", "--version"],
    ["-m", "qmopt", "clear", "textbook/two-teams", "--quiet"],
    ["-m", "qmopt", "clear", "gpu/helios-earth", "--quiet"],
    ["-m", "qmopt", "clear", "gpu/helios-earth", "--quiet", "--method", "eisenberg-gale"],
]
RUNS = 7
SHOWN = 15


def seconds(arguments):
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - begun


def main():
    print(f"{platform.platform()}, Python {platform.python_version()}")
    print(f"seconds of a fresh process: least, middle and most of {RUNS} after a warm-up")
    for arguments in COMMANDS:
        seconds(arguments)
        times = sorted(seconds(arguments) for _ in range(RUNS))
        shown = " ".join(f"{t:6.2f}" for t in (times[0], times[RUNS // 2], times[-1]))
        print(f"{shown}  python {' '.join(arguments)}")
    profile = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMANDS[3]],
        check=True, capture_output=True, text=True,
    ).stderr  # fmt: skip
    rows = re.findall(r"import time:\s+(\d+) \|\s+(\d+) \|(.*)", profile)
    rows = sorted(((int(total), int(own), name.strip()) for own, total, name in rows), reverse=True)
    print(f"\nimports of `qmopt clear textbook/two-teams`, the {SHOWN} longest: total ms, own ms")
    for total, own, name in rows[:SHOWN]:
        print(f"{total / 1000:8.1f} {own / 1000:8.1f}  {name}")
    print(f"{len(rows)} modules, of which cvxpy, pandas, numba: ", end="")
    print(sum(name.split(".")[0] in ("cvxpy", "pandas", "numba") for _, _, name in rows))


if __name__ == "__main__":
    main()
