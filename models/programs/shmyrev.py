"""Shmyrev's program: equilibrium prices from what the buyers spend.

    minimise     sum_j r_j log(r_j / s_j) - sum_ij b_ij log v_ij
    subject to   sum_j b_ij = B_i        for every buyer i
                 sum_i b_ij = r_j        for every good j
                 b_ij >= 0               for every pair with v_ij > 0

b_ij is what buyer i spends on good j (credits), r_j = p_j s_j what good j earns. Prices are
primal: p_j = r_j / s_j, and x_ij = b_ij / p_j, so that no sign or scale of a dual can go wrong.
Constraints are those of a transport problem; only m terms are not linear.

**Why.** With unit costs beta_i = exp(-1 - dual of i's budget row) (CVXPY's sign), stationarity
reads log(r_j / s_j) - log v_ij >= log beta_i, with equality where b_ij > 0: p_j / v_ij >= beta_i,
each buyer spends only where its value is cheapest. The rows say the rest: budgets are spent, and
r_j / p_j = s_j units are sold.

**Supplies other than 1.** Usually the program is written for s = 1, with prices p_j = r_j. All
units of good j together are one good with values v_ij s_j; so put log(v_ij s_j) for log v_ij and
collect: sum_ij b_ij log s_j = sum_j r_j log s_j, which is the s_j in the first term.

**Units.** Budgets are scaled to sum 1, the best value of each row to 1: neither changes who spends
what share. A pair without value is no variable; a buyer without budget or without a value, and a
good without supply or takers, stand outside the program.

Source: V. I. Shmyrev, "An algorithm for finding equilibrium in the linear exchange model with
fixed budgets", *Journal of Applied and Industrial Mathematics* 3(4), 505-518, 2009. The entry was
checked in a bibliography (but for its last page), the paper was not read. N. Devanur, K. Jain, T.
Mai, V. Vazirani and S. Yazdanbod, "New convex programs for Fisher's market model and its
generalizations", arXiv:1603.01257, name the program so and say that its dual is that of Eisenberg
and Gale's up to a change of variables (abstract read). The derivation above is our own.
"""

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

# Where a buyer is indifferent, prices are only as good as the square root of the solver's gap: its
# default of 1e-8 leaves errors of 1e-4, this about 1e-5.
ACCURACY = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def solve(
    budgets: ArrayLike, supplies: ArrayLike, values: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return prices (m,) in credits per unit and the allocation (n, m) in units.

    Budgets (n,), supplies (m,), values (n, m). A good that nobody takes costs 0, a good without
    supply has no price (nan).
    """
    budgets, supplies = np.asarray(budgets, float), np.asarray(supplies, float)
    values = np.where((budgets[:, None] > 0) & (supplies > 0), values, 0.0)
    buyers, goods = np.nonzero(values)
    pairs = np.arange(len(buyers))
    taking, row = np.unique(buyers, return_inverse=True)
    taken, column = np.unique(goods, return_inverse=True)
    spent_by = csr_array((np.ones(len(pairs)), (row, pairs)), (len(taking), len(pairs)))
    spent_on = csr_array((np.ones(len(pairs)), (column, pairs)), (len(taken), len(pairs)))

    total = budgets[taking].sum()
    best = (values * supplies).max(axis=1)
    worth = values[buyers, goods] * supplies[goods] / best[buyers]  # at most 1

    # in shares of the supplies, so that s = 1 and the first term is revenue * log(revenue)
    spends = cp.Variable(len(pairs), nonneg=True)
    revenues = cp.Variable(len(taken))
    problem = cp.Problem(
        cp.Minimize(-cp.sum(cp.entr(revenues)) - np.log(worth) @ spends),
        [spent_by @ spends == budgets[taking] / total, spent_on @ spends == revenues],
    )
    problem.solve(solver=cp.CLARABEL, **ACCURACY)

    prices = np.where(supplies > 0, 0.0, np.nan)
    prices[taken] = total * revenues.value / supplies[taken]
    allocation = np.zeros(values.shape)
    allocation[buyers, goods] = total * spends.value / prices[goods]
    return prices, allocation


if __name__ == "__main__":
    # vision prefers an h100 to an a100 by 4 to 1, speech by 2 to 1
    prices, allocation = solve(budgets=[60, 40], supplies=[8, 16], values=[[4, 1], [2, 1]])
    print("prices, credits per chip (7.5 and 2.5 by hand):", prices.round(4))
    print("chips of vision and of speech:", allocation.round(4).tolist())
