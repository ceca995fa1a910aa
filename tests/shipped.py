"""Names of shipped markets, by what can be done with them."""

from qmopt import catalogue

#: They have demands: read and checked, and cleared by no method yet.
WORKLOADS = (
    "gpu/helios-workloads-100",
    "gpu/helios-workloads-65",
    "gpu/helios-workloads-80",
    "gpu/queue",
    "gpu/scaling-curves",
)
CLEARED = [name for name in catalogue.names() if name not in WORKLOADS]
