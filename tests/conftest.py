"""What every test shares: reproducible draws, and a seeded tenth of the slow tests."""

import math
import os
import random

from hypothesis import settings

# In CI the same examples every time; locally new ones, so that a desk finds what CI has not.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


def pytest_addoption(parser):
    parser.addoption(
        "--slow-tenth",
        type=int,
        metavar="SEED",
        help="of the tests marked slow, keep the tenth that SEED draws (use with -m slow)",
    )


def pytest_report_header(config):
    seed = config.getoption("--slow-tenth")
    return None if seed is None else f"slow tests: the tenth drawn by seed {seed}"


def pytest_collection_modifyitems(config, items):
    """Deselect, never skip: what is not run is counted as such in the closing line."""
    seed = config.getoption("--slow-tenth")
    if seed is None:
        return
    slow = sorted(item.nodeid for item in items if item.get_closest_marker("slow"))
    kept = set(random.Random(seed).sample(slow, math.ceil(len(slow) / 10)))
    dropped = [
        item for item in items if item.get_closest_marker("slow") and item.nodeid not in kept
    ]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]
