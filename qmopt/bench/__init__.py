"""The benchmark: any methods on any markets, every answer measured, every failure a row."""

from qmopt.bench.compare import bench, rows
from qmopt.bench.peers import Kelley, PlainCvxpy, ProjectedGradient, peers
from qmopt.bench.profile import Profile, profile
from qmopt.bench.published import published
from qmopt.bench.row import Row
from qmopt.bench.suites import SUITES, Case, suite

__all__ = [
    "SUITES",
    "Case",
    "Kelley",
    "PlainCvxpy",
    "Profile",
    "ProjectedGradient",
    "Row",
    "bench",
    "peers",
    "profile",
    "published",
    "rows",
    "suite",
]
