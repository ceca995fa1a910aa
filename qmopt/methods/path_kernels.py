# ruff: noqa: ANN001, ANN201
"""The passes of the interior point over pairs, compiled; what they do is said where they are used.

Sums over a buyer's pairs may be added in any order, so that they can be vectorised. Where something
is needed by good, or the least of something, it is gathered by good: one number per good that the
buyers go over in turn, which is vectorised as it is.
"""

from __future__ import annotations

import numpy as np

from qmopt.loops import compiled

TINY = float(np.finfo(np.float64).tiny)

_compiled = compiled(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@_compiled
def eliminate(rows, excess, inverse, pivots):
    """Do what :func:`qmopt.methods.laplacian._eliminate` does."""
    size = len(excess)
    for k in range(size):
        for i in range(k):
            share = rows[i, k] / max(pivots[i], TINY)
            if share > 0:
                for j in range(k + 1, size):
                    rows[k, j] += share * rows[i, j]
                for j in range(i + 1):
                    inverse[k, j] += share * inverse[i, j]
                excess[k] += share * excess[i]
        pivot = excess[k]
        for j in range(k + 1, size):
            pivot += rows[k, j]
        pivots[k] = pivot


@_compiled
def moved(
    values, x, z, dx, price, cost, primal, dual, new_x, new_z, weight, gained, square, taken, mass
):
    """Do what :meth:`qmopt.methods.newton_pairs._Passes.moved` does."""
    n, m = values.shape
    total = 0.0
    for i in range(n):
        cost_i = cost[i]
        for j in range(m):
            new_x[i, j] = x[i, j] + primal * dx[i, j]
        for j in range(m):
            v = values[i, j]
            dz = price[j] - cost_i * v
            new_z[i, j] = z[i, j] + (dual * dz if v > 0 else 0.0)
        v_x, v_w, x_z = 0.0, 0.0, 0.0
        for j in range(m):
            v, amount, slack = values[i, j], new_x[i, j], new_z[i, j]
            theta = amount / slack
            weight[i, j] = v * theta
            mass[j] += theta
            v_x += v * amount
            v_w += v * v * theta
            x_z += amount * slack
        for j in range(m):
            taken[j] += new_x[i, j]
        gained[i], square[i] = v_x, v_w
        total += x_z
    return total


@_compiled
def predicted(values, x, z, price, cost):
    """Do what :meth:`qmopt.methods.newton_pairs._Passes.predicted` does."""
    n, m = values.shape
    first, second = 0.0, 0.0
    least, most, q = np.full(m, np.inf), np.full(m, -np.inf), np.empty(m)
    for i in range(n):
        cost_i = cost[i]
        for j in range(m):
            v = values[i, j]
            dz = price[j] - cost_i * v
            q[j] = (dz if v > 0 else 0.0) / z[i, j]
        for j in range(m):
            least[j] = q[j] if q[j] < least[j] else least[j]
            most[j] = q[j] if q[j] > most[j] else most[j]
        one, two = 0.0, 0.0
        for j in range(m):
            product = x[i, j] * z[i, j] * q[j]
            one += product
            two += product * q[j]
        first += one
        second += two
    return least.min(), most.max(), first, second


@_compiled
def corrected(values, x, z, price, cost, per_buyer, per_good, part, push, value, units):
    """Do what :meth:`qmopt.methods.newton_pairs._Passes.corrected` does."""
    n, m = values.shape
    for i in range(n):
        cost_i, mine, worth = cost[i], per_buyer[i], 0.0
        for j in range(m):
            v, amount = values[i, j], x[i, j]
            inverse = 1 / z[i, j]
            q = (price[j] - cost_i * v) * inverse
            asked = mine * per_good[j] * inverse - amount + part * amount * q * (1 + q)
            push[i, j] = asked if v > 0 else 0.0
        for j in range(m):
            worth += values[i, j] * push[i, j]
            units[j] += push[i, j]
        value[i] = worth


@_compiled
def finished(values, x, z, push, price, cost, dx):
    """Do what :meth:`qmopt.methods.newton_pairs._Passes.finished` does."""
    n, m = values.shape
    used, closed, q = np.zeros(m), np.full(m, -np.inf), np.empty(m)
    for i in range(n):
        cost_i = cost[i]
        for j in range(m):
            v = values[i, j]
            dz = price[j] - cost_i * v
            q[j] = (dz if v > 0 else 0.0) / z[i, j]
            closed[j] = -q[j] if -q[j] > closed[j] else closed[j]
        for j in range(m):
            dx[i, j] = push[i, j] - x[i, j] * q[j]
        for j in range(m):
            part = -dx[i, j] / x[i, j]
            used[j] = part if part > used[j] else used[j]
    return used.max(), closed.max()
