"""Proportional response: bids follow the value that they brought; memory for the bids, no more.

Each buyer splits its budget over goods; prices are what the bids add up to, and the next bids are
in proportion to the value that each brought::

    p_j   = max(reserve_j, sum_i b_ij / s_j),    x_ij = b_ij / p_j
    b_ij <- B_i v_ij x_ij / u_i,    k_i <- B_i keep_i k_i / u_i,    u_i = v_i . x_i + keep_i k_i

Kept credits k are bids for money, a good whose price is 1 however much is bid for it. Where bids
do not reach a reserve price the seller bids what is missing and keeps the units that it pays for.

**What is proved.** Let r_j = s_j p_j. The bids of an equilibrium minimise the convex function ::

    f(b, k) = min_{c >= 0} sum_j (r_j log r_j - r_j) - sum b_ij log(v_ij s_j)
              - sum k_i log keep_i - sum c_j log(reserve_j s_j),    r_j = sum_i b_ij + c_j

over b, k >= 0 with sum_j b_ij + k_i = B_i (Shmyrev's program; c_j is the seller's bid, which is at
its best max(0, reserve_j s_j - sum_i b_ij)). Its derivatives are log(p_j / v_ij) and
log(1 / keep_i), so that a step of mirror descent in the relative entropy, with length 1, multiplies
b_ij by v_ij / p_j and k_i by keep_i and scales the row to B_i: this is the response above. The
length 1 is right because the relative entropy of sums is at most the sum of the relative entropies
(log-sum inequality), with c held during the step. Hence f falls with each step and, T steps on, is
within KL(equilibrium bids | first bids) / T of its minimum; the entropy distance to every
equilibrium falls, and bids and prices converge to one. **What is not proved** is a rate for the
certificate's residuals: they tend to 0 with the bids, fast where every buyer has few goods that are
nearly best, slowly where many are (benchmarks show 1e-4 after hundreds of steps, 1e-6 after tens of
thousands, on uniform values).

Sources: F. Wu and L. Zhang, "Proportional response dynamics leads to market equilibrium", STOC 2007
(entry only); B. Birnbaum, N. Devanur and L. Xiao, "Distributed algorithms via gradient descent for
Fisher markets", EC 2011, doi:10.1145/1993574.1993594, where linear proportional response is mirror
descent with this rate; Y. Gao and C. Kroer, "First-order methods for large-scale market equilibrium
computation", NeurIPS 2020, for kept credits. Of the last two the abstracts were read; the argument
above, with reserve prices, is complete without.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from qmopt.arguments import settings
from qmopt.errors import SolverFailed
from qmopt.market import Market
from qmopt.methods.bids import DenseBids, SparseBids
from qmopt.methods.crossover import crossover
from qmopt.methods.outcome import Outcome, linear_only, restore, trading
from qmopt.progress import tell


@dataclass(frozen=True)
class ProportionalResponse:
    """Let bids follow the value that they brought, until nobody could do much better.

    For markets whose values just fit into memory: beside them it holds one array of bids (8 bytes
    for each value, or for each stored value where they are sparse) and blocks of 256 KiB. Each step
    is one pass over the values. Digits come slowly; the other methods are quicker where they fit.

    Parameters
    ----------
    tolerance
        Gap and largest regret, relative, at which it stops; the others of the certificate's
        residuals are 0 up to rounding at every step.
    max_iterations
        Steps at most, each one pass over the values.
    time_limit
        Seconds; what is there by then is measured.
    crossover
        Whether to cross over to exact prices in the end. That takes the memory of the crossover.

    Notes
    -----
    A step is one of mirror descent, of length 1 in the relative entropy, on Shmyrev's convex
    program, with kept credits as bids for money and the seller bidding up to the reserve prices.
    Proved, also with these (``qmopt/methods/proportional_response.py`` has the argument, and a test
    tries it): the program's value falls with each step and is, T steps on, within 1/T times the
    entropy distance of the first bids from its least; bids and prices converge to an equilibrium.
    Not proved is a rate for the residuals of the certificate, which is what it stops at.

    Examples
    --------
    Team P has 6 credits and values 2 and 1, team Q has 24 and values 1 and 2. Q buys both, so that
    B costs twice A, and together they cost all 30 credits:

    >>> from qmopt import Linear, Market, clear
    >>> market = Market([6, 24], [1, 1], Linear([[2, 1], [1, 2]]))
    >>> clear(market, ProportionalResponse()).prices.round(6).tolist()
    [10.0, 20.0]
    """

    tolerance: float = 1e-8
    max_iterations: int = 100_000
    time_limit: float = np.inf
    crossover: bool = False

    __post_init__ = settings

    # where a number leaves the range of floats, the last check or the certificate says so
    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Respond until gap and regret are within the tolerance, or time or steps run out.

        Raises
        ------
        MarketError
            If utilities are not linear, or capped.
        SolverFailed
            If values are so far apart that bids leave the range of floating-point numbers.
        """
        begun = time.monotonic()
        linear_only(market, self)
        inner = trading(market)
        bidding = (SparseBids if inner.utility.sparse else DenseBids)(inner)
        worst, passes, iterations = np.inf, 0, 0
        while iterations < self.max_iterations and time.monotonic() - begun < self.time_limit:
            worst = bidding.step()
            iterations, passes = iterations + 1, passes + 1
            tell("proportional response: step {}, gap {:.1e}", iterations, worst)
            if worst <= self.tolerance:  # of the point before the step: measure the one after it
                worst = bidding.step(move=False)
                passes += 1
                if worst <= self.tolerance:
                    break
        solved = time.monotonic()
        prices, allocation = bidding.point()
        if not np.isfinite(prices).all():
            raise SolverFailed(
                "ProportionalResponse: bids left the range of floating-point numbers"
            )
        reached = worst <= self.tolerance
        notes = [] if reached else [f"stopped after {iterations} steps at {worst:.1e}, on its way"]
        stats: dict[str, Any] = {"iterations": iterations, "passes": passes}
        if self.crossover:
            left = self.time_limit - (solved - begun)
            crossed = crossover(inner, prices, allocation, time_limit=left)
            prices, allocation = crossed.prices, crossed.allocation
            stats |= {"pivots": crossed.pivots, "passes": passes + crossed.passes}
            if not crossed.finished:
                notes.append("the crossover ran out of time or pivots before it was done")
        if inner is not market or sp.issparse(allocation) != market.utility.sparse:
            prices, allocation = restore(market, prices, allocation)
        stats["seconds"] = {"solve": solved - begun, "crossover": time.monotonic() - solved}
        return Outcome(prices, allocation, "optimal" if reached else "stopped", stats, tuple(notes))
