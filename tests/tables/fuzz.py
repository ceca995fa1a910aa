"""Read thousands of mutants of sound markets; each must end in Tables or a TableError.

    python -m tests.tables.fuzz --format toml --count 20000 --seed 0 [--keep 75]

Anything else is a finding, and so is a mutant that takes more than a second or 500 MiB, kills the
process, or is read and then not written and read again to the same. Findings are saved in the
corpus; ``--keep N`` also saves up to N small mutants, each with a complaint of its own. Mutant
number i of a seed is always the same.
"""

import argparse
import collections
import json
import multiprocessing
import re
import resource
import signal
import tempfile
import time
from pathlib import Path
from random import Random

import numpy as np

from qmopt import tables
from qmopt.errors import TableError
from qmopt.tables import reading
from tests.tables.mutants import FORMATS, mutant
from tests.tables.trees import sound

CORPUS = Path(__file__).parent / "corpus"
SECONDS, MEBIBYTES = 1.0, 500
AT_ONCE = 500
#: After this long a mutant counts as one that never ends.
FOREVER = 20


class Endless(BaseException):
    """Raised by the alarm."""


def place(files, folder):
    """Write a mutant's files and return the path to read."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    alone = [name for name in files if name.startswith("market.") and name[7:] in ("toml", "json")]
    return folder / alone[0] if alone else folder


def outcome(files, exact=False):
    """Read one mutant; return what came of it, whether the schema was reached, and its findings."""
    reached = []
    build = reading.build

    def watched(*arguments, **options):
        reached.append(True)
        return build(*arguments, **options)

    findings = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        path = place(files, Path(folder))
        reading.build = watched
        signal.alarm(FOREVER)
        begun = time.process_time()
        try:
            market = tables.read(path, exact=exact)
            said = "Tables"
            findings += again(market, Path(folder))
        except TableError as error:
            said = signature(str(error).replace(folder, ""))
        except Exception as error:
            said = f"{type(error).__name__}: {error}"[:200]
            findings.append(said)
        except Endless:
            said = "never ends"
            findings.append(said)
        finally:
            signal.alarm(0)
            reading.build = build
        seconds = time.process_time() - begun
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    if seconds > SECONDS:
        findings.append(f"took {seconds:.1f} s")
    if grown > MEBIBYTES:
        findings.append(f"took {grown:.0f} MiB")
    return said, bool(reached), findings


def again(market, folder):
    """Write what was read, and report where it does not come back."""
    for name in ("again.toml", "again.json", "again"):
        tables.write(market, folder / name)
        exact = market["resources"].cells["supply"].dtype == object
        if tables.read(folder / name, exact=exact) != market:
            return [f"comes back otherwise from {name}"]
    return []


def signature(message):
    """Return a message without names, numbers and places, so that like outcomes are one."""
    lines = {
        re.sub(r"'[^']*'|\"[^\"]*\"|[0-9]+|/\S*", "", line)[:80] for line in message.splitlines()
    }
    return "\n".join(sorted(lines)[:3])


def made(form, seed, number, trees):
    rng = Random(f"{form} {seed} {number}")
    files = mutant(form, trees, rng)
    return files, rng.random() < 0.2


def stretch(arguments):
    """Read some mutants in a process of its own; return their outcomes."""
    form, seed, numbers = arguments
    signal.signal(signal.SIGALRM, ring)
    trees = sound()
    results = []
    for number in numbers:
        files, exact = made(form, seed, number, trees)
        results.append((number, *outcome(files, exact), sum(map(len, files.values()))))
    return results


def ring(*_):
    """Give up on a mutant."""
    raise Endless


def _queued(form, seed, numbers, results):
    results.put(stretch((form, seed, numbers)))


def survived(form, seed, numbers):
    """Do the same in a child; where it dies, find which mutant killed it."""
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    child = context.Process(target=_queued, args=(form, seed, numbers, results))
    child.start()
    while child.is_alive() and results.empty():
        time.sleep(0.02)
    if not results.empty():
        found = results.get()
        child.join()
        return found
    if len(numbers) == 1:
        died = f"died with {child.exitcode}"
        return [(numbers[0], died, False, [died], 0)]
    half = len(numbers) // 2
    return survived(form, seed, numbers[:half]) + survived(form, seed, numbers[half:])


def save(form, number, files, kind):
    CORPUS.mkdir(exist_ok=True)
    if form in ("toml", "json"):
        (CORPUS / f"{kind}-{number}.{form}").write_bytes(files[f"market.{form}"])
    else:
        held = {name: content.decode("latin-1") for name, content in files.items()}
        (CORPUS / f"{kind}-{form}-{number}.folder").write_text(json.dumps(held, indent=0))


def loaded(path):
    """Return the files of a mutant in the corpus."""
    if path.suffix != ".folder":
        return {f"market{path.suffix}": path.read_bytes()}
    held = json.loads(path.read_text())
    return {name: content.encode("latin-1") for name, content in held.items()}


def distilled(smallest):
    """Return small mutants of which each shows a complaint that none before it has."""
    shown, chosen = set(), []
    for said, (size, number) in sorted(smallest.items(), key=lambda item: item[1]):
        if size < 6000 and not shown.issuperset(said.splitlines()):
            shown.update(said.splitlines())
            chosen.append(number)
    return chosen


def main(form, count, seed, keep):
    begun = time.monotonic()
    trees = sound()
    kinds = collections.Counter()
    smallest = {}
    past = findings = 0
    for start in range(0, count, AT_ONCE):
        numbers = range(start, min(count, start + AT_ONCE))
        for number, said, reached, found, size in survived(form, seed, numbers):
            past += reached
            kinds[said] += 1
            if size and size < smallest.get(said, (np.inf, 0))[0]:
                smallest[said] = (size, number)
            for finding in found:
                findings += 1
                print(f"FINDING {form} {number}: {finding}", flush=True)
                save(form, number, made(form, seed, number, trees)[0], "found")
    for number in distilled(smallest)[:keep]:
        save(form, number, made(form, seed, number, trees)[0], "kept")
    print(
        f"{form}: {count} mutants, seed {seed}: {past} ({past / count:.0%}) past the parser, "
        f"{kinds['Tables']} read, {len(kinds)} kinds of outcome, {findings} findings, "
        f"{time.monotonic() - begun:.0f} s",
        flush=True,
    )
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--format", choices=FORMATS, required=True)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=int, default=0)
    asked = parser.parse_args()
    raise SystemExit(1 if main(asked.format, asked.count, asked.seed, asked.keep) else 0)
