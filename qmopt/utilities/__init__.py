"""What buyers want: one file per family, all for every buyer of a market at once."""

from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Activities, Allocation, Array, Best, Utility

__all__ = ["Activities", "Allocation", "Array", "Best", "Linear", "Utility"]
