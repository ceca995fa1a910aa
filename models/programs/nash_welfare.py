"""Nash welfare under demands: the most of the product of utilities, each workload up to its demand.

    maximise     sum_i B_i log( u_i + kappa_i t_i ) - sum_i t_i + sum_j r_j z_j
    subject to   sum_k needs_kj y_k + z_j <= s_j       for every good j     (dual: the price p_j)
                 sum_{k of w} rate_k y_k <= d_w        for every w with an end
                 y, t, z >= 0

    u_i = sum_{k of i} value_k rate_k y_k

Teams i with budgets B (credits), goods j with supplies s (units) and reserve prices r; options k,
of which one unit takes needs_k of the goods and serves rate_k of the demand d_w of its workload, at
value_k for each unit of demand. A kept credit t_i is worth kappa_i; z_j is what stays idle, bought
back at the reserve.

**What its duals are.** With q the duals of the demand rows, stationarity reads B_i value_k rate_k /
(u_i + kappa_i t_i) <= p needs_k + rate_k q_w, with equality where y_k > 0. Where no demand is met q
is 0 and each team buys what brings most per credit: an equilibrium. Where one is met its q takes
from the team's spend, which is B_i less t_i and the sum of q_w d_w: credits that it would rather
spend on another workload. So with several workloads of a team p is an indication only. With one
workload, all of whose options are equally valued, a met demand is all that its team wants, and p is
an equilibrium price again.

**Sign.** As in ``eisenberg_gale.py``: written as `use + idle <= s`, the row's dual is +p.

**Units.** What is solved has supplies 1, demands 1, budgets that sum to 1, and the best option of a
team is worth 1 at the level at which it would use up a good or a demand.

Source: Eisenberg and Gale's program with the demands as rows; D. Jalota, M. Pavone, Q. Qi and Y.
Ye, "Fisher markets with linear constraints: equilibrium properties and efficient distributed
algorithms", *Games and Economic Behavior* 141, 2023, say that its duals are no equilibrium. The
argument above is complete without.
"""

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

ACCURACY = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def solve(
    budgets: ArrayLike,
    supplies: ArrayLike,
    team: ArrayLike,
    demand: ArrayLike,
    workload: ArrayLike,
    needs: ArrayLike,
    values: ArrayLike,
    rates: ArrayLike,
    *,
    reserves: ArrayLike | None = None,
    keep_values: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return prices (m,) in credits per unit and levels (K,) in units of each option.

    ``team`` and ``demand`` (W,) are of workloads, ``workload``, ``needs`` (K, m), ``values`` and
    ``rates`` of options. Every budget, supply, demand, value and rate must be positive, every team
    have an option, every good be needed.
    """
    budgets, supplies = np.asarray(budgets, float), np.asarray(supplies, float)
    demand, of, rates = np.asarray(demand, float), np.asarray(workload), np.asarray(rates, float)
    owner, options, total = np.asarray(team)[of], np.arange(len(of)), budgets.sum()
    keeps = np.zeros(len(budgets)) if keep_values is None else np.asarray(keep_values, float)
    floors = np.zeros(len(supplies)) if reserves is None else np.asarray(reserves, float)

    ends = np.flatnonzero(np.isfinite(demand))
    shares = np.asarray(needs, float) / supplies
    served = csr_array((rates / demand[of], (of, options)), (len(demand), len(of)))[ends]
    unit = 1 / np.maximum(shares.max(axis=1), rates / demand[of])  # uses up a good or a demand
    worth = np.asarray(values, float) * rates * unit
    best = np.zeros(len(budgets))
    np.maximum.at(best, owner, worth)
    utility = csr_array((worth / best[owner], (owner, options)), (len(budgets), len(of)))

    # in shares of what there is, kept credits in shares of all credits
    levels = cp.Variable(len(of), nonneg=True)
    kept, idle = cp.Variable(len(budgets), nonneg=True), cp.Variable(len(supplies), nonneg=True)
    supply = (shares * unit[:, None]).T @ levels + idle <= 1
    demands = [served @ cp.multiply(unit, levels) <= 1] if len(ends) else []
    value = utility @ levels + cp.multiply(keeps * total / best, kept)
    objective = budgets / total @ cp.log(value) - cp.sum(kept) + floors * supplies / total @ idle
    cp.Problem(cp.Maximize(objective), [supply, *demands]).solve(solver=cp.CLARABEL, **ACCURACY)
    return supply.dual_value * total / supplies, levels.value * unit


if __name__ == "__main__":
    # the first wants a quarter of good 0 at 2 and any of good 1 at 1, the second any good at 1
    prices, levels = solve(
        [1, 1], [1, 1],
        team=[0, 0, 1], demand=[1 / 4, np.inf, np.inf], workload=[0, 1, 2, 2],
        needs=[[1, 0], [0, 1], [1, 0], [0, 1]], values=[2, 1, 1, 1], rates=[1, 1, 1, 1],
    )  # fmt: skip
    print("prices, credits per unit (8/9 and 8/9 by hand):", prices.round(6))
    print("units of each option:", levels.round(6).tolist())
