"""Eisenberg and Gale's program: equilibrium allocations maximise the product of utilities.

    maximise     sum_i B_i log( sum_j v_ij x_ij )
    subject to   sum_i x_ij <= s_j       for every good j        (dual: the price p_j)
                 x_ij >= 0               for every pair with v_ij > 0

n buyers with budgets B (credits), m goods with supplies s (units), values v (worth of a unit, only
ratios within a row matter). No reserve prices, kept credits or caps.

**Why its duals are prices.** Stationarity reads B_i v_ij / u_i <= p_j, with equality where x_ij >
0: each buyer buys only where v_ij / p_j is largest. Multiplied by x_ij and summed it says that
each buyer spends exactly B_i. That, and complementary slackness on the supply rows, is a market
equilibrium.

**Sign.** CVXPY's Lagrangian is f + dual * (left - right), f being the objective as a minimisation,
and maximising does not flip the duals. Written as `sum(x) <= s`, the row's dual is +p.

**Units.** What is solved is the same market in friendlier units: supplies 1 (so variables are
shares y_ij = x_ij / s_j), the best value of each row 1, budgets that sum to 1. The prices of the
shares are p_j s_j / sum(B). A pair without value is no variable; a buyer without budget or without
a value, and a good without supply or takers, stand outside the program.

Source: E. Eisenberg and D. Gale, "Consensus of subjective probabilities: the pari-mutuel method",
*Annals of Mathematical Statistics* 30(1), 165-168, 1959, doi:10.1214/aoms/1177706369. The entry
was checked in bibliographies; the paper itself was not read: the argument above is complete
without.
"""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

# Where a buyer is indifferent, prices are only as good as the square root of the solver's gap: its
# default of 1e-8 leaves errors of 1e-4, this about 1e-5.
ACCURACY = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


class Program(NamedTuple):
    """The program, and what to read off it."""

    problem: cp.Problem
    shares: cp.Variable  #: (pairs,) share of the good's supply, one for each pair below
    supply: cp.Constraint  #: (goods,) its dual is price * supply / sum of budgets
    buyers: np.ndarray  #: (pairs,) row of each pair
    goods: np.ndarray  #: (pairs,) column of each pair


def program(budgets: ArrayLike, supplies: ArrayLike, values: ArrayLike) -> Program:
    """Write the program for budgets (n,), supplies (m,) and values (n, m)."""
    worth = np.asarray(values, float) * supplies  # of all units of a good together
    worth[np.asarray(budgets) == 0] = 0
    buyers, goods = np.nonzero(worth)
    pairs = np.arange(len(buyers))
    taking, row = np.unique(buyers, return_inverse=True)
    taken, column = np.unique(goods, return_inverse=True)

    scaled = worth / np.where(worth.max(axis=1) > 0, worth.max(axis=1), 1)[:, None]
    utility = csr_array((scaled[buyers, goods], (row, pairs)), (len(taking), len(pairs)))
    use = csr_array((np.ones(len(pairs)), (column, pairs)), (len(taken), len(pairs)))
    weights = np.asarray(budgets, float)[taking]

    shares = cp.Variable(len(pairs), nonneg=True)
    supply = use @ shares <= 1
    objective = cp.Maximize(weights / weights.sum() @ cp.log(utility @ shares))
    return Program(cp.Problem(objective, [supply]), shares, supply, buyers, goods)


def solve(
    budgets: ArrayLike, supplies: ArrayLike, values: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return prices (m,) in credits per unit and the allocation (n, m) in units.

    A good that nobody takes costs 0, a good without supply has no price (nan).
    """
    budgets, supplies = np.asarray(budgets, float), np.asarray(supplies, float)
    written = program(budgets, supplies, values)
    written.problem.solve(solver=cp.CLARABEL, **ACCURACY)

    revenue = np.zeros(len(supplies))
    revenue[np.unique(written.goods)] = written.supply.dual_value
    # the equilibrium spends all credits of those who take part; a solver only nearly does
    revenue *= budgets[np.unique(written.buyers)].sum() / revenue.sum()
    prices = np.where(supplies > 0, revenue / np.where(supplies > 0, supplies, 1), np.nan)
    allocation = np.zeros((len(budgets), len(supplies)))
    allocation[written.buyers, written.goods] = written.shares.value * supplies[written.goods]
    return prices, allocation


if __name__ == "__main__":
    # vision prefers an h100 to an a100 by 4 to 1, speech by 2 to 1
    prices, allocation = solve(budgets=[60, 40], supplies=[8, 16], values=[[4, 1], [2, 1]])
    print("prices, credits per chip (7.5 and 2.5 by hand):", prices.round(4))
    print("chips of vision and of speech:", allocation.round(4).tolist())
