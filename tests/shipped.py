"""Names of shipped markets, by what can be done with them."""

from qmopt import catalogue

#: They have demands, and no exact answers in rationals.
WORKLOADS = (
    "gpu/helios-workloads-100",
    "gpu/helios-workloads-65",
    "gpu/helios-workloads-80",
    "gpu/queue",
    "gpu/scaling-curves",
)
CLEARED = catalogue.names()
