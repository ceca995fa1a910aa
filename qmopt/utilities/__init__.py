"""What buyers want: one file per family, all for every buyer of a market at once."""

from qmopt.utilities.bundles import Bundles
from qmopt.utilities.ces import CES
from qmopt.utilities.cobb_douglas import CobbDouglas
from qmopt.utilities.linear import Linear
from qmopt.utilities.mixed import Mixed
from qmopt.utilities.protocol import Activities, Allocation, Array, Best, Demands, Utility
from qmopt.utilities.smooth import Smooth
from qmopt.utilities.workloads import Workloads

__all__ = [
    "CES",
    "Activities",
    "Allocation",
    "Array",
    "Best",
    "Bundles",
    "CobbDouglas",
    "Demands",
    "Linear",
    "Mixed",
    "Smooth",
    "Utility",
    "Workloads",
]
