"""The convex program of CES and Cobb-Douglas markets, in units or in their logarithms.

    maximise     sum_i B_i log u_i
    subject to   sum_i x_ij <= s_j       for every good j        (dual: the price p_j)

    u_i = ( sum_j (a_ij x_ij)^rho_i )^(1/rho_i),   or, where rho_i = 0,   prod_j x_ij^a_ij

n buyers with budgets B (credits), m goods with supplies s (units), weights a (n, m). For rho = 0,
Cobb-Douglas, the weights of a row are divided by their sum. No reserve prices, kept credits or
caps.

**Why its duals are prices.** u_i is concave and doubles with the bundle, so stationarity, B_i
(slope of log u_i in x_ij) <= p_j with equality where x_ij > 0, says that buyer i buys what brings
most per credit; multiplied by x_ij and summed it says that it spends exactly B_i (Euler).

**How it is written.** log u_i has to be concave in the variables by CVXPY's rules:

- substitutes, 0 < rho < 1: in units, log( sum_j (a x)^rho ) / rho is a concave, growing function
  of a sum of concave powers;
- complements, rho < 0: in logs of units l = log x, log( sum_j exp(rho (log a + l)) ) / rho is a
  convex function over a negative number; units are exp(l), and a sum of them at most s is convex;
- Cobb-Douglas: sum_j a_j l_j.

**Units.** What is solved has supplies 1 and budgets that sum to 1. A good that nobody gives weight
to stands outside; every budget, supply and some weight of each row must be positive.

Source: the program is Eisenberg and Gale's with another utility; the argument above is complete.
"""

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

ACCURACY = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def solve(
    budgets: ArrayLike, supplies: ArrayLike, weights: ArrayLike, rho: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return prices (m,) in credits per unit and the allocation (n, m) in units.

    ``rho`` is one number or one for each buyer, below 1; 0 is Cobb-Douglas.
    """
    budgets, supplies = np.asarray(budgets, float), np.asarray(supplies, float)
    weights = np.asarray(weights, float)
    powers = np.broadcast_to(np.asarray(rho, float), budgets.shape)

    objective, used = 0, [[] for _ in supplies]
    held = []
    for budget, row, power in zip(budgets / budgets.sum(), weights, powers, strict=True):
        goods = np.flatnonzero(row)
        if power > 0:
            units = cp.Variable(len(goods), nonneg=True)
            brought = cp.power(units, power, approx=False)
            log_value = cp.log((row * supplies)[goods] ** power @ brought) / power
        else:
            logs = cp.Variable(len(goods))
            units = cp.exp(logs)
            if power < 0:
                log_value = cp.log_sum_exp(power * (np.log((row * supplies)[goods]) + logs)) / power
            else:
                log_value = (row[goods] / row[goods].sum()) @ logs
        objective += budget * log_value
        held.append((goods, units))
        for place, good in enumerate(goods):
            used[good].append(units[place])
    wanted = [good for good, takers in enumerate(used) if takers]
    supply = cp.hstack([sum(used[good]) for good in wanted]) <= 1
    cp.Problem(cp.Maximize(objective), [supply]).solve(solver=cp.CLARABEL, **ACCURACY)

    prices, allocation = np.zeros(len(supplies)), np.zeros(weights.shape)
    prices[wanted] = supply.dual_value * budgets.sum() / supplies[wanted]
    for i, (goods, units) in enumerate(held):
        allocation[i, goods] = units.value * supplies[goods]
    return prices, allocation


if __name__ == "__main__":
    # both buy one of good 0 with one of good 1, more or less; there are two of good 0
    prices, allocation = solve([3, 1], [2, 1], [[1, 1], [1, 1]], rho=-1)
    print("prices, credits per unit (2/3 and 8/3 by hand):", prices.round(6))
    print("units of the first and of the second:", allocation.round(4).tolist())
