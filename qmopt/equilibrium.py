"""The answer: prices and an allocation that were measured to be an equilibrium."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from qmopt.activity_tables import activities, holdings, served
from qmopt.certificate import Certificate
from qmopt.figures import small
from qmopt.intervals import Unique, price_intervals, uniqueness
from qmopt.market import Market
from qmopt.methods.outcome import Method, Outcome
from qmopt.notebook import page
from qmopt.point import Point
from qmopt.proving import ExactAnswer
from qmopt.utilities.bundles import Bundles
from qmopt.utilities.pairs import entries, pairs
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.workloads import Workloads

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Equilibrium:
    """Prices and an allocation of a market, with their certificate.

    Parameters
    ----------
    market, method, outcome
        What was cleared, by which method, and the method's own point.
    prices
        Shape (m,), market credits per unit. nan for goods without supply, and only there.
    allocation
        Shape (n, m), units bought; sparse if the values are, or if there are more than ten million
        pairs; that of :class:`qmopt.ColumnGeneration` always is. Guaranteed units are not in it.
    certificate
        The measurement, from the definition.
    stats
        Iterations, pivots, passes over the values, seconds by phase, peak memory of the process.
    notes
        What a reader should know.
    status
        ``"certified"``; ``"split"`` or ``"nash_welfare"`` where that was accepted instead.
    exact
        The same in rationals, proved, if that was asked for.
    activities
        Shape (K,): units of each option, where teams have workloads.

    Examples
    --------
    >>> from qmopt import Linear, Market, clear
    >>> found = clear(Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]])))
    >>> found.prices.tolist()
    [7.5, 2.5]
    >>> found.allocation.tolist()
    [[8.0, 0.0], [0.0, 16.0]]
    >>> found.certificate.certified(1e-12)
    True
    """

    market: Market
    method: Method
    outcome: Outcome
    prices: Array
    allocation: Allocation
    certificate: Certificate
    stats: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    #: ``certified``: what is less is labelled otherwise.
    status: str = "certified"

    exact: ExactAnswer | None = None
    activities: Array | None = None

    def __repr__(self) -> str:
        n, m = self.market.shape
        worst = small(self.certificate.worst)
        return f"Equilibrium({n} buyers, {m} goods, {self.status}, worst residual {worst})"

    def _repr_html_(self) -> str:
        market = self.market
        captions = {
            "prices": f"Prices, credits per chip and {market.period.removeprefix('1 ')}",
            "allocation": "Allocation, chips and credits",
            "teams": "Teams, credits, and utility in each team's own unit",
            "activities": "Activities, units of each option",
            "workloads": "Workloads, units of demand, credits, and value in each team's own unit",
        }
        shown = {captions[name]: columns for name, columns in self.columns().items()}
        left_out = [f"excluded: {name}: {reason}" for name, reason in self.excluded.items()]
        headline = f"{market.title or 'Market'}: {self!r}"
        return page(headline, shown, [*left_out, *self.notes])

    @cached_property
    def _point(self) -> Point:
        allocation = self.allocation if self.activities is None else None
        return Point(self.market, self.prices, allocation, self.activities)

    @property
    def utilities(self) -> Array:
        """Utility of each buyer, kept credits included, shape (n,), in its own unit of value."""
        return np.where(self.market.active, self._point.enjoyed.utility, 0.0)

    @property
    def best(self) -> Array:
        """Best utility that each buyer could afford at the prices, shape (n,)."""
        return np.where(self.market.active, self._point.best, 0.0)

    @property
    def spend(self) -> Array:
        """Market credits that each buyer pays, shape (n,)."""
        return self._point.spend

    @property
    def unspent(self) -> Array:
        """Market credits that each buyer keeps, shape (n,)."""
        return np.maximum(self.market.budgets - self.spend, 0)

    @property
    def idle(self) -> Array:
        """Units of each good that nobody gets, shape (m,)."""
        return self._point.left_over

    @property
    def excluded(self) -> dict[str, str]:
        """Buyers and goods that took no part, and why."""
        return self.market.excluded

    @cached_property
    def price_intervals(self) -> Array:
        """Bounds on every equilibrium price, shape (m, 2); see :func:`qmopt.price_intervals`.

        Of a split: for that division of credits, as its certificate.
        """
        return price_intervals(*self._judged)

    @cached_property
    def unique(self) -> Unique:
        """Which parts of the answer are the only ones; see :func:`qmopt.uniqueness`.

        Of a split: for that division of credits, as its certificate.
        """
        return uniqueness(*self._judged)

    @property
    def _judged(self) -> tuple[Market, Array, Allocation | None, Array | None]:
        """The market that the certificate is about, and the point in it."""
        if self.activities is None:
            return self.market, self.prices, self.allocation, None
        divided = self.outcome.divided
        if self.status != "split" or divided is None:
            return self.market, self.prices, None, self.activities
        return divided.market, self.prices, None, divided.levels(self.activities)

    def columns(self) -> dict[str, dict[str, Sequence[Any] | Array]]:
        """Return what there is to show, by table and column: ``prices``, ``allocation``, ``teams``.

        Where values come from :class:`qmopt.Bundles` or :class:`qmopt.Workloads` there is a fourth,
        ``activities``: by team, workload and option, the units in use. For workloads there is a
        fifth, ``workloads``, with what each wants, gets and pays, and the allocation has a row for
        each option and resource. A workload that is None collects a team's bids for none.

        Prices, budgets and spends are in market credits; where the market has pools, columns
        that end in ``_own`` are in credits of the teams' own pools. ``units`` are all that a
        team holds; what of it is ``guaranteed`` was free.
        """
        market = self.market
        low, high = self.price_intervals.T
        tables: dict[str, dict[str, Sequence[Any] | Array]] = {
            "prices": {
                "resource": market.goods,
                "price": self.prices,
                "low": low,
                "high": high,
                "supply": market.supplies,
                "idle": self.idle,
            },
            "allocation": self._holdings(),
            "teams": self._teams(),
        }
        return tables | self._activities()

    @cached_property
    def _levels(self) -> Array:
        """Units of each option, (K,): as found, or those of a best use of the allocation."""
        found = self.activities
        return self.market.utility.levels(self.allocation) if found is None else found

    def _activities(self) -> dict[str, dict[str, Sequence[Any] | Array]]:
        market, utility = self.market, self.market.utility
        if isinstance(utility, Workloads):
            split = self.outcome.divided
            credits = None if split is None else split.credits
            return {
                "activities": activities(market, utility, self._levels),
                "workloads": served(market, utility, self.prices, self._levels, credits),
            }
        if not isinstance(utility, Bundles):
            return {}
        used = np.flatnonzero((self._levels > 0) & market.active[utility.owner])
        return {
            "activities": {
                "team": [market.buyers[i] for i in utility.owner[used]],
                "option": [utility.options[k] for k in used],
                "units": self._levels[used],
            }
        }

    def _holdings(self) -> dict[str, Sequence[Any] | Array]:
        market, bought, utility = self.market, sp.csr_array(self.allocation), self.market.utility
        if isinstance(utility, Workloads):
            return holdings(market, utility, self.prices, bought, self.activities)
        free = market.guarantees
        held = bought if free is None else sp.csr_array(bought + free)
        teams, goods, units = pairs(held)
        columns: dict[str, Sequence[Any] | Array] = {
            "team": [market.buyers[i] for i in teams],
            "resource": [market.goods[j] for j in goods],
            "units": units,
            "spend": entries(bought, teams, goods) * np.nan_to_num(self.prices)[goods],
        }
        return columns if free is None else columns | {"guaranteed": entries(free, teams, goods)}

    def _teams(self) -> dict[str, Sequence[Any] | Array]:
        market = self.market
        credit = {"budget": market.budgets, "spend": self.spend, "unspent": self.unspent}
        columns: dict[str, Sequence[Any] | Array] = {
            "team": market.buyers,
            **credit,
            "utility": self.utilities,
            "best": self.best,
        }
        if market.has_pools:
            columns |= {
                f"{name}_own": amount / market.credit_rate for name, amount in credit.items()
            }
        return columns

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return :meth:`columns` as DataFrames: ``prices``, ``allocation``, ``teams`` and so on."""
        import pandas as pd

        return {name: pd.DataFrame(columns) for name, columns in self.columns().items()}
