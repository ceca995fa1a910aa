"""The shortest step that undoes residuals, where equations repeat or leave things open."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from qmopt.utilities.protocol import Array

#: Weight that keeps equations which say the same from dividing by zero; Newton makes up for it.
DAMPING = 1e-12


def least_step(slopes: sp.csr_array, off: Array) -> Array | None:
    """Return the shortest step that undoes the residuals, up to the damping.

    Parameters
    ----------
    slopes
        Shape (equations, unknowns).
    off
        Shape (equations,): residuals.

    Returns
    -------
    ndarray or None
        Shape (unknowns,); None where the system is singular to the last bit.

    Examples
    --------
    Two unknowns whose sum is to fall by 1 share it:

    >>> least_step(sp.csr_array([[1.0, 1.0]]), np.array([1.0])).round(6).tolist()
    [-0.5, -0.5]
    """
    equations, unknowns = slopes.shape
    system = sp.block_array(
        [[sp.eye_array(unknowns), slopes.T], [slopes, -DAMPING * sp.eye_array(equations)]],
        format="csc",
    )
    try:
        # an order for symmetric matrices fills in a tenth of what one for others does
        found = splu(system, permc_spec="MMD_AT_PLUS_A").solve(
            np.concatenate([np.zeros(unknowns), -off])
        )
    except RuntimeError:  # singular to the last bit
        return None
    return found[:unknowns] if np.isfinite(found).all() else None
