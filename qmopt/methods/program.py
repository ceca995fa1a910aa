"""The Eisenberg-Gale program in CVXPY: a model to build on.

The duals of the supply rows are the prices (E. Eisenberg and D. Gale, "Consensus of subjective
probabilities: the pari-mutuel method", Annals of Mathematical Statistics 30, 1959)::

    maximise   sum_i (B_i log u_i - kept_i) + sum_j reserve_j idle_j
    where      u_i = value_i(x_i) + keep_value_i kept_i
    subject to sum_i x_ij + idle_j <= s_j,   u_i <= cap_i,   x, kept, idle >= 0

With a cap the answer is an equilibrium of thrifty buyers: who reaches the cap spends the least that
does, and keeps the rest. With demands of workloads it is one where each team has one workload of
one value, and a point of Nash welfare otherwise.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse as sp

from qmopt.arguments import of_kind
from qmopt.errors import SolverFailed
from qmopt.market import Market
from qmopt.methods.outcome import restore, trading
from qmopt.notebook import program_line, program_page
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.workloads import Workloads

if TYPE_CHECKING:
    import cvxpy as cp


class EisenbergGaleModel:
    """The convex program of a market, to be solved as it is or with rows of your own.

    Inside, goods are scaled to shares of their supply, utilities to what an equal share by credits
    would bring, and budgets to 1 on average; from outside everything is in units and
    credits. Pairs of zero value are never variables.

    Attributes
    ----------
    problem : cvxpy.Problem
        Solve it with any solver that CVXPY finds, or build another from its parts.
    supply : cvxpy.Constraint
        Row of each good that trades (in supply, and wanted by somebody with credits): no more is
        handed out than there is.

    Examples
    --------
    >>> from qmopt import Linear, Market, eisenberg_gale
    >>> market = Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]]))
    >>> model = eisenberg_gale(market)
    >>> _ = model.problem.solve(solver="CLARABEL")
    >>> model.prices().round(2).tolist()
    [7.5, 2.5]

    A row of one's own, in chips: the first buyer must leave one of good 0 to the second.

    >>> import cvxpy as cp
    >>> rows = [*model.problem.constraints, model.allocation[1, 0] >= 1]
    >>> problem = cp.Problem(model.problem.objective, rows)
    >>> _ = problem.solve(solver="CLARABEL")
    >>> model.allocation.value[:, 0].round(3).tolist()
    [7.0, 1.0]
    """

    problem: cp.Problem
    supply: cp.Constraint
    _repr_html_ = program_page

    def __init__(self, market: Market) -> None:
        import cvxpy as cp

        of_kind("market", market, Market, "a Market")
        self.market = market
        inner = self._inner = trading(market)
        n, m = inner.shape
        total = float(inner.budgets.sum())
        self._total, self._credit = total, total / n  # a credit inside is an average budget
        activities = inner.utility.activities()
        needs = activities.needs
        # the level at which an activity would use up the scarcest good that it needs
        per_supply = sp.csr_array(needs @ sp.diags_array(1 / inner.supplies))
        self._full = 1 / per_supply.max(axis=1).toarray().ravel()
        self._levels = cp.Variable(len(self._full), nonneg=True, name="levels")
        fair = inner.utility.value(self._fair_share()) + inner.keep_values * inner.budgets
        fair = np.minimum(fair, inner.utility_caps)
        utilities = inner.utility.expression(cp.multiply(self._full, self._levels))
        utilities = cp.multiply(1 / fair, utilities)
        used = sp.csr_array(sp.diags_array(self._full) @ per_supply).T @ self._levels
        objective: Any = 0
        self._kept = None
        keepers = np.flatnonzero(inner.keep_values > 0)
        if keepers.size:
            budgets, worth = inner.budgets[keepers], inner.keep_values[keepers]
            self._kept = kept = cp.Variable(len(keepers), nonneg=True, name="kept")
            pick = sp.csr_array(
                (worth * budgets / fair[keepers], (keepers, np.arange(len(keepers)))),
                shape=(n, len(keepers)),
            )
            utilities = utilities + pick @ kept
            objective -= (budgets / self._credit) @ kept
        reserved = np.flatnonzero(inner.reserves > 0)
        if reserved.size:
            idle = cp.Variable(len(reserved), nonneg=True, name="idle")
            place = sp.csr_array(
                (np.ones(len(reserved)), (reserved, np.arange(len(reserved)))),
                shape=(m, len(reserved)),
            )
            used = used + place @ idle
            objective += ((inner.reserves * inner.supplies)[reserved] / self._credit) @ idle
        objective += (inner.budgets / self._credit) @ cp.log(utilities)
        self.supply = cast("cp.Constraint", used <= 1)
        rows: list[Any] = [self.supply]
        if isinstance(inner.utility, Workloads):
            _, share = inner.utility.shares()
            rows.append(sp.csr_array(share @ sp.diags_array(self._full)) @ self._levels <= 1)
        capped = np.flatnonzero(inner.utility_caps < np.inf)
        if capped.size:
            rows.append(cp.multiply((fair / inner.utility_caps)[capped], utilities[capped]) <= 1)
        self.problem = cp.Problem(cp.Maximize(objective), rows)

    def __repr__(self) -> str:
        return program_line(self)

    def _fair_share(self) -> sp.csr_array:
        """Of every good that a buyer has use for, the share that its budget is of all."""
        inner = self._inner
        activities = inner.utility.activities()
        uses = activities.needs.tocoo()
        places = (activities.owner[uses.row], uses.col)
        wanted = sp.csr_array((np.ones(len(uses.data)), places), shape=inner.shape).tocoo()
        units = inner.budgets[wanted.row] / self._total * inner.supplies[wanted.col]
        return sp.csr_array((units, (wanted.row, wanted.col)), shape=inner.shape)

    @cached_property
    def allocation(self) -> cp.Expression:
        """Units per buyer and good, CVXPY expression of shape (n, m), for rows of your own."""
        n, m = self.market.shape
        activities = self._inner.utility.activities()
        uses = activities.needs.tocoo()
        buyer = np.flatnonzero(self.market.active)[activities.owner[uses.row]]
        good = np.flatnonzero(self.market.sold)[uses.col]
        weight = uses.data * self._full[uses.row]
        units = sp.csr_array((weight, (buyer + n * good, uses.row)), shape=(n * m, len(self._full)))
        return (units @ self._levels).reshape((n, m), order="F")

    def prices(self) -> Array:
        """Prices from the duals of the supply rows: shape (m,), credits per unit.

        Positive as the program stands (CVXPY's dual of ``<=`` is nonnegative). Right to about the
        square root of the solver's tolerance; :class:`EisenbergGale` does better.

        Raises
        ------
        SolverFailed
            If no problem with :attr:`supply` in it has been solved, or the solver gave no duals.
        """
        if self.supply.dual_value is None or self._levels.value is None:
            raise SolverFailed(
                "no prices: solve a problem that has model.supply among its rows, with a solver of "
                "duals; an infeasible one has none"
            )
        dual = np.asarray(self.supply.dual_value, dtype=float) / self._multiple()
        inner = self._inner
        prices = np.maximum(dual, inner.reserves * inner.supplies / self._credit)
        prices = prices * self._credit / inner.supplies
        return restore(self.market, prices, sp.csr_array(inner.shape))[0]

    def _multiple(self) -> float:
        """By what the objective that was solved was multiplied, seen from what is traded.

        Where a buyer uses an activity, its cost at the duals is the buyer's budget times the share
        of its utility that the activity brings. One factor between the two all over is a multiple
        of the objective. Different ones come from rows of the user's own, and are left alone.
        """
        inner = self._inner
        ways = inner.utility.activities()
        levels = np.maximum(np.asarray(self._levels.value, dtype=float), 0)
        brought = inner.utility.brought(self._full * levels)
        total = np.bincount(ways.owner, weights=brought, minlength=inner.n)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (brought / total[ways.owner]) * (inner.budgets / self._credit)[ways.owner]
            per_supply = sp.csr_array(ways.needs @ sp.diags_array(1 / inner.supplies))
            cost = (per_supply @ np.asarray(self.supply.dual_value)) * self._full * levels
            ratio = (cost / share)[share > 0.1 * (inner.budgets / self._credit)[ways.owner]]
        plain = not inner.keep_values.any() and inner.utility.homogeneous
        plain = plain and inner.utility_caps.min() == np.inf
        if not plain or not ratio.size or not np.isfinite(ratio).all() or ratio.min() <= 0:
            return 1.0
        same = ratio.max() / ratio.min() < 1.001
        return float(np.median(ratio)) if same and abs(np.median(ratio) - 1) > 0.001 else 1.0

    def levels(self) -> Array:
        """Units of each activity of the part that trades, shape (K,), of the solved problem.

        Activities are those of ``market.utility.take(...)``, for the buyers and goods that trade.
        """
        if self._levels.value is None:
            raise SolverFailed("no allocation yet: solve the problem first")
        return np.maximum(np.asarray(self._levels.value, dtype=float), 0) * self._full

    def units(self, levels: Array) -> sp.csr_array:
        """Units per buyer and good of the part that trades, (n, m), that levels (K,) take."""
        activities = self._inner.utility.activities()
        uses = activities.needs.tocoo()
        return sp.csr_array(
            (uses.data * levels[uses.row], (activities.owner[uses.row], uses.col)),
            shape=self._inner.shape,
        )

    def kept(self) -> Array:
        """Credits of each buyer of the part that trades that are kept for their worth, (n,)."""
        kept = np.zeros(self._inner.n)
        if self._kept is not None and self._kept.value is not None:
            keeps = self._inner.keep_values > 0
            kept[keeps] = np.maximum(self._kept.value, 0) * self._inner.budgets[keeps]
        return kept

    def point(self) -> tuple[Array, Allocation]:
        """Prices (m,) and units (n, m; sparse if the values are) of the solved problem.

        A good of which a larger share is left over than its price is above the reserve (in the
        model's own scale, where their product tends to 0) is free, or at its reserve.
        """
        inner, units = self._inner, self.units(self.levels())
        prices = self.prices()[self.market.sold]
        left_over = 1 - np.asarray(units.sum(axis=0)).ravel() / inner.supplies
        above = (prices - inner.reserves) * inner.supplies / self._credit
        prices = np.where(left_over > above, inner.reserves, prices)
        return restore(self.market, prices, units)

    def fair_point(self) -> tuple[Array, Allocation]:
        """Return equal prices, and of every good the share that a buyer's budget is of all."""
        prices = np.full(self._inner.m, self._total / self._inner.supplies.sum())
        return restore(self.market, prices, self._fair_share())


def eisenberg_gale(market: Market) -> EisenbergGaleModel:
    """Write the Eisenberg-Gale program of a market in CVXPY; see :class:`EisenbergGaleModel`."""
    return EisenbergGaleModel(market)
