"""Other ways to clear a market, to set ours against: each an ordinary method, plainly written.

They are our own writing of what others do, so that all run in one process on one machine; what
cannot run here is in :mod:`qmopt.bench.published`. None is tuned against; where a choice had to be
made it is the one in its favour, and said. All take linear utilities without reserve prices and
kept credits.
"""

from __future__ import annotations

from qmopt.bench.peers.kelley import Kelley
from qmopt.bench.peers.projected_gradient import ProjectedGradient
from qmopt.bench.peers.textbook import PlainCvxpy
from qmopt.methods.outcome import Method
from qmopt.methods.proportional_response import ProportionalResponse
from qmopt.solvers import Cvxpy

__all__ = ["Kelley", "PlainCvxpy", "ProjectedGradient", "peers"]


def peers(tolerance: float = 1e-9) -> dict[str, Method]:
    """Return every peer by its name; those that stop at a tolerance of ours get this one.

    Examples
    --------
    >>> list(peers())
    ['cvxpy-clarabel', 'cvxpy-scs', 'proportional-response', 'projected-gradient', 'kelley']
    """
    return {
        "cvxpy-clarabel": PlainCvxpy(Cvxpy("CLARABEL")),
        "cvxpy-scs": PlainCvxpy(Cvxpy("SCS")),
        "proportional-response": ProportionalResponse(tolerance),
        "projected-gradient": ProjectedGradient(tolerance),
        "kelley": Kelley(tolerance),
    }
