"""Run the suites of `qmopt bench`, record them, and write their numbers into docs/choosing.md.

    python benchmarks/compare.py                 # the quick suites, with peers: about 20 minutes
    python benchmarks/compare.py full            # the sizes of their sources, ours only: hours
    python benchmarks/compare.py squares         # one of them
    python benchmarks/compare.py page            # only write the page from what is recorded

Each suite becomes benchmarks/results/bench-SUITE.txt, as the command prints it, and .json. From a
checkout: PYTHONPATH=. python benchmarks/compare.py
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "choosing.md"
START, END = "<!-- from benchmarks/compare.py -->\n", "<!-- to here -->\n"
#: Suite: options.
QUICK = {
    "models": ["--peers", "--time-limit", "20"],
    "squares": ["--peers", "--time-limit", "20", "--repeat", "2"],
    "gao-kroer": ["--peers", "--time-limit", "20", "--repeat", "2"],
    "pdhcg-fisher": ["--peers", "--time-limit", "20", "--repeat", "2"],
    "scaling": ["--peers", "--time-limit", "20", "--repeat", "2"],
}
FULL = {
    "squares:full": ["--time-limit", "60", "--repeat", "2"],
    "gao-kroer:full": ["--time-limit", "60", "--repeat", "1"],
    "pdhcg-fisher:full": ["--peers", "--time-limit", "60", "--repeat", "2"],
    "scaling:full": [
        *("--method", "column-generation", "--method", "lp"),
        *("--time-limit", "60", "--repeat", "2"),
    ],
}


def record(suite, options):
    """Run one suite, and keep what the command prints and its rows."""
    name = suite.replace(":", "-")
    with tempfile.TemporaryDirectory() as folder:
        # the command as anybody would type it, so that the record says it
        command = [sys.executable, "-m", "qmopt", "bench", suite, *options, "--out", folder]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "150"},
        )  # fmt: skip
        said = f"$ qmopt bench {suite} {' '.join(options)}\n\n{ran.stdout.split('written: ')[0]}"
        lines = [line.rstrip() for line in said.splitlines()]
        (RESULTS / f"bench-{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
        document = json.loads((Path(folder) / "results.json").read_text("utf-8"))
        document["options"]["command"] = f"qmopt bench {suite} {' '.join(options)}"
        text = json.dumps(document, indent=1, allow_nan=False)
        (RESULTS / f"bench-{name}.json").write_text(text + "\n", "utf-8")
    print(f"{suite}: recorded", flush=True)


def geometric(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def size(number):
    return "0" if number == 0 else f"{number:.0e}"


def table(name):
    """Return the Markdown table of one recorded suite: a line for each method."""
    document = json.loads((RESULTS / f"bench-{name}.json").read_text("utf-8"))
    rows = [row for row in document["rows"] if row["source"] == "measured"]
    covered = [row for row in rows if row["status"] != "not covered"]
    markets = len({row["market"] for row in rows})
    lines = [
        "| method | certified | seconds: mean (longest) | residual | price error | MiB |",
        "|---|---|---|---|---|---|",
    ]
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in covered if row["method"] == method]
        done = [row for row in mine if row["seconds"] is not None]
        certified = sum(row["status"] == "certified" for row in mine)
        times = [max(row["seconds"], 1e-4) for row in done]
        worst = [math.inf if row["worst"] == "inf" else row["worst"] for row in done]
        memory = [row["peak_mib"] for row in done if row["peak_mib"] is not None]
        errors = [row["price_error"] for row in done if row["price_error"] is not None]
        late = len(mine) - len(done)
        cells = [
            f"`{method}`",
            f"{certified} of {markets}",
            f"{geometric(times):.2g} ({max(times):.2g})" if times else "-",
            size(max(worst)) if worst else "-",
            size(max(errors)) if errors else "-",
            f"{max(memory):.0f}" if memory else "-",
        ]
        if late:
            cells[2] += f", {late} without an answer"
        lines.append(f"| {' | '.join(cells)} |")
    count = "1 market" if markets == 1 else f"{markets} markets"
    title = (
        f"**{name.replace('-full', ', full size')}**, {count}: `{document['options']['command']}`"
    )
    return "\n".join([title, "", *lines, ""])


def write_page():
    """Put the tables of all recorded suites into the page, between the marks."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    names = [name.replace(":", "-") for name in (*QUICK, *FULL)]
    found = [name for name in names if (RESULTS / f"bench-{name}.json").exists()]
    last = json.loads((RESULTS / f"bench-{found[-1]}.json").read_text("utf-8"))
    where = f"Machine: {last['machine']}. Versions: {last['versions']}."
    tables = "\n".join(table(name) for name in found)
    PAGE.write_text(f"{before}{START}\n{tables}\n{where}\n\n{END}{after}", "utf-8")


def main(asked):
    suites = QUICK if not asked else FULL if asked == ["full"] else {}
    if not suites and asked != ["page"]:
        suites = {name: (QUICK | FULL)[name] for name in asked}
    for suite, options in suites.items():
        record(suite, options)
    if PAGE.exists():
        write_page()


if __name__ == "__main__":
    main(sys.argv[1:])
