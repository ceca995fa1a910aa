"""Mutate the definition of the certificate and print what kills each mutant.

python -m tests.mutation > benchmarks/results/mutation-certificate.txt
"""

import hashlib
import platform
import sys
import time
from collections import Counter

import numpy as np
import scipy

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.run import CHECKS, SOURCES, TIME_LIMIT, every_mutant, judge, source


def main():
    started = time.monotonic()
    print("python -m tests.mutation")
    print(
        f"{platform.platform()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}; {len(CHECKS)} checks; a mutant is killed by its first "
        f"failing check, or after {TIME_LIMIT} s"
    )
    for module in SOURCES:
        print(f"{module}: sha256 {hashlib.sha256(source(module).encode()).hexdigest()}")
    print("\nmodule:line | mutant | killed by | how")
    found, counts, modules = every_mutant(), Counter(), Counter()
    for mutant in found:
        verdict = judge(mutant)
        if verdict.killer is None:
            outcome = "equivalent" if mutant.key in EQUIVALENT else "SURVIVED"
        else:
            outcome = "killed"
        counts[outcome] += 1
        modules[mutant.module, outcome] += 1
        killer = verdict.killer or outcome
        what = mutant.key.split(" ", 1)[1]
        print(f"{mutant.module}:{mutant.line} | {what} | {killer} | {verdict.how or ''}")
    print(f"\n{len(found)} mutants: {dict(counts)}")
    for (module, outcome), count in sorted(modules.items()):
        print(f"  {module}: {count} {outcome}")
    unused = EQUIVALENT.keys() - {mutant.key for mutant in found}
    print(f"listed as equivalent but not generated: {sorted(unused) or 'none'}")
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 1 if counts["SURVIVED"] or unused else 0


sys.exit(main())
