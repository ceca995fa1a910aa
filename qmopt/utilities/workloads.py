"""Workloads: each wants so much and no more, and has several ways to be served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.arguments import frozen, numbers
from qmopt.errors import MarketError
from qmopt.utilities.bundles import Bundles
from qmopt.utilities.hull import Curves
from qmopt.utilities.pairs import total_by
from qmopt.utilities.places import counts, labels, places
from qmopt.utilities.protocol import Activities, Allocation, Array, Best, Demands, Utility


class Workloads(Utility):
    """Value comes from serving workloads, each up to its demand, by options that take goods.

    Workload w belongs to a team and wants ``demand[w]`` units: runs, tokens, chip-hours of some
    type. Option k serves workload ``workload[k]``: one unit of it takes ``needs[k, j]`` units of
    good j and serves ``rates[k]`` units of demand, each of which is worth ``values[k]`` to the
    team. With levels y (units of each option) a team has ``sum values * rates * y``, where
    ``sum rates * y <= demand`` over the options of each workload.

    A demand makes value concave, not homogeneous: the program of Eisenberg and Gale is then no
    equilibrium in general (theory page), but where the family is :attr:`separate` it is.

    Parameters
    ----------
    team
        Shape (W,): the team of each workload, whole numbers from 0.
    demand
        Shape (W,): units wanted, nonnegative; ``inf`` where more is always better.
    workload
        Shape (K,): the workload of each option, whole numbers from 0.
    needs
        Shape (K, m), dense or sparse: units of each good that one unit of the option takes, finite
        and nonnegative; every option takes something.
    values
        Shape (K,): value of one unit of demand served, finite and nonnegative. Options of value 0,
        and those of workloads that want nothing, are left out.
    rates
        Shape (K,): units of demand that one unit of the option serves, finite and positive.
        Default 1.
    teams
        How many teams there are, with those that have no workload. Default: as many as the largest
        number in ``team`` says.
    names, options
        Names of the workloads (W,) and of the options (K,), for reading. Default "0", "1", ...
    gangs
        Shape (W,): chips that a workload can only use together, whole numbers from 1. Default 1;
        for whole chips after clearing, nothing here uses it.
    limit_prices
        Shape (W,): most that a team would pay for a unit of demand, credits. Default ``inf``; what
        it means is for the method to say, nothing here uses it.

    Attributes
    ----------
    workload, needs, values, rates, options
        Those of the options that are kept, in the order given; ``needs`` is a ``csr_array``.
    owner, worth
        Shape (K,): the team of each option, and what one unit of it is worth: values times rates.
    team, demand, names, gangs, limit_prices
        Those of all workloads, as given.

    Raises
    ------
    MarketError
        If a number makes no sense; the message names its place.

    Examples
    --------
    One team, two workloads. Training wants 6 runs, each worth 3: an H100 (good 0) serves 2 of them,
    an A100 (good 1) serves 1. Tests take A100 only, are worth 1 each, and there is no end of them.

    >>> utility = Workloads(
    ...     team=[0, 0], demand=[6, np.inf], workload=[0, 0, 1], needs=[[1, 0], [0, 1], [0, 1]],
    ...     values=[3, 3, 1], rates=[2, 1, 1],
    ... )

    With 2 H100 and 5 A100: the H100 serve 4 runs, 2 A100 the other two, and 3 A100 run tests.

    >>> held = np.array([[2.0, 5.0]])
    >>> utility.levels(held).tolist(), utility.value(held).tolist()
    ([2.0, 2.0, 3.0], [21.0])

    At prices 4 and 2 a run costs 2 either way, for 3 of value; a test costs 2 for 1. So of 14
    credits, 12 go to training and the last 2 buy one test: 18 + 1. If a kept credit is worth 0.6,
    more than the 0.5 that tests bring, they are kept: 18 + 1.2.

    >>> prices, credits = np.array([4.0, 2.0]), np.array([14.0])
    >>> utility.best_whole(prices, credits, np.zeros(1)).tolist()
    [19.0]
    >>> utility.best_whole(prices, credits, np.array([0.6])).tolist()
    [19.2]
    >>> utility.cost(prices, np.array([19.0])).tolist()
    [14.0]
    """

    homogeneous: ClassVar[bool] = False

    def __init__(
        self,
        team: ArrayLike,
        demand: ArrayLike,
        workload: ArrayLike,
        needs: ArrayLike | sp.spmatrix | sp.sparray | Any,
        values: ArrayLike,
        rates: ArrayLike | None = None,
        *,
        teams: int | None = None,
        names: Sequence[str] | None = None,
        options: Sequence[str] | None = None,
        gangs: ArrayLike | None = None,
        limit_prices: ArrayLike | None = None,
    ) -> None:
        self.team = places("team", team, "team", teams)
        count = len(self.team)
        n = int(self.team.max(initial=-1)) + 1 if teams is None else int(teams)
        self.names = labels("names", names, count)
        of = places("workload", workload, "workload", count)
        told = labels("options", options, len(of))
        self.demand = numbers("demand", demand, self.names, np.inf)
        self.limit_prices = numbers("limit_prices", limit_prices, self.names, np.inf)
        self.gangs = counts("gangs", gangs, self.names)
        each, rate = numbers("values", values, told, None), numbers("rates", rates, told, 1)
        for k in np.flatnonzero(rate == 0):
            raise MarketError(f"rates[{k}] ({told[int(k)]}): a positive number expected, got 0")
        kept = np.flatnonzero((each > 0) & (self.demand[of] > 0))
        worth = np.where(self.demand[of] > 0, each * rate, 0.0)
        # recipes are checked there, and those of no worth left out
        recipes = Bundles(self.team[of], needs, worth, buyers=n, options=told)
        self.workload, self.needs = frozen(of[kept]), recipes.needs
        self.values, self.rates, self.worth = frozen(each[kept]), frozen(rate[kept]), recipes.values
        self.owner, self.options = recipes.owner, recipes.options
        self._shape = recipes.shape
        #: The same as recipes that take their demand beside goods: one more good per workload.
        self._limited, self._slots = self._with_demands()
        #: Curves at the prices that were asked for last.
        self._known: tuple[bytes, Curves | None] = (b"", None)

    def _with_demands(self) -> tuple[Bundles, sp.csr_array]:
        """Recipes over goods and demands, and what each team has of the demands."""
        (ends, share), (n, _) = self.shares(), self._shape
        slots = sp.csr_array(
            (self.demand[ends], (self.team[ends], np.arange(len(ends)))), shape=(n, len(ends))
        )
        takes = sp.csr_array(sp.diags_array(self.demand[ends]) @ share).T
        mixes = sp.csr_array(sp.hstack([self.needs, takes]))
        return Bundles(self.owner, mixes, self.worth, buyers=n), slots

    @property
    def shape(self) -> tuple[int, int]:
        """Number of teams and of goods."""
        return self._shape

    @property
    def additive(self) -> bool:
        """False: levels alone do not say all, since demands limit them."""
        return False

    @property
    def separate(self) -> bool:
        """Whether each team has at most one workload, all of whose options are equally valued.

        Then a demand is a cap on value, and the program of Eisenberg and Gale is exact.
        """
        first = np.full(self._shape[0], -1)
        first[self.owner[::-1]] = np.arange(len(self.owner))[::-1]
        like = first[self.owner]
        same = (self.workload == self.workload[like]) & (self.values == self.values[like])
        return bool(same.all())

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Numbers beside the activities that say which utility it is."""
        return (
            self.team.astype(float), self.demand, self.limit_prices, self.gangs,
            self.workload.astype(float), self.rates,
        )  # fmt: skip

    def activities(self) -> Activities:
        """Options that are kept, in the order given; their levels are limited by demands."""
        return Activities(self.owner, self.needs, self.worth)

    def demands(self) -> Demands:
        """Demands of all workloads."""
        return Demands(self.team, self.demand, self.names)

    def shares(self) -> tuple[NDArray[np.int64], sp.csr_array]:
        """Workloads whose demand has an end, and the share of it that an option serves, (W', K)."""
        ends = np.flatnonzero(np.isfinite(self.demand) & (self.demand > 0))
        row = np.full(len(self.demand), -1)
        row[ends] = np.arange(len(ends))
        some = np.flatnonzero(row[self.workload] >= 0)
        share = (self.rates / self.demand[self.workload])[some]
        places = (row[self.workload[some]], some)
        return ends, sp.csr_array((share, places), shape=(len(ends), len(self.workload)))

    def served(self, levels: Array) -> Array:
        """Units of demand that levels (K,) serve, of each workload, shape (W,)."""
        return total_by(self.workload, self.rates * levels, len(self.demand))

    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation; to 1e-10, and never too high."""
        return total_by(self.owner, self.worth * self.levels(allocation), self._shape[0])

    def levels(self, allocation: Allocation) -> Array:
        """Units of each option, in the best use of an allocation; shape (K,)."""
        return self._limited.levels(self._held(allocation))

    def _held(self, allocation: Allocation) -> sp.csr_array:
        return sp.csr_array(sp.hstack([sp.csr_array(cast(Any, allocation)), self._slots]))

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to the workloads of some teams, in their order here, and to some goods."""
        team, good = np.full(self._shape[0], -1), np.zeros(self._shape[1], dtype=bool)
        team[buyers], good[goods] = np.arange(len(buyers)), True
        stay = np.flatnonzero(team[self.team] >= 0)
        place = np.full(len(self.team), -1)
        place[stay] = np.arange(len(stay))
        whole = self.needs @ (~good).astype(float) == 0
        kept = np.flatnonzero((place[self.workload] >= 0) & whole)
        return type(self)(
            team[self.team[stay]],
            self.demand[stay],
            place[self.workload[kept]],
            cast(Any, self.needs[kept])[:, goods],
            self.values[kept],
            self.rates[kept],
            teams=len(buyers),
            names=[self.names[int(w)] for w in stay],
            options=[self.options[int(k)] for k in kept],
            gangs=self.gangs[stay],
            limit_prices=self.limit_prices[stay],
        )

    def curves(self, prices: Array) -> Curves:
        """Concave curves of what credits buy at prices of shape (m,), for all teams."""
        # to measure one point takes the curves at its prices several times
        prices = np.asarray(prices, dtype=float)
        key, (known, found) = prices.tobytes(), self._known
        if found is None or key != known:
            cost = (self.needs @ prices) / self.rates
            n, _ = self._shape
            found = Curves(self.team, self.demand, self.workload, cost, self.values, n)
            self._known = key, found
        return found

    def best_whole(self, prices: Array, budgets: Array, keep_values: Array) -> Array:
        """Best value that credits afford, kept ones included; ``inf`` where it is free."""
        value, spend, _ = self.curves(prices).best(budgets, keep_values)
        return value + keep_values * np.maximum(budgets - spend, 0)

    def plan(self, prices: Array, budgets: Array, keep_values: Array) -> Array:
        """Units of each option in a best affordable use, (K,); none where value is infinite."""
        curves = self.curves(prices)
        value, _, moved = curves.best(budgets, keep_values)
        moved = np.where(np.isfinite(value)[curves.team], moved, 0.0)
        units = total_by(curves.end, moved, len(self.rates))
        later = curves.start >= 0
        # from here on, the next option serves what this one did
        units -= total_by(curves.start[later], moved[later], len(self.rates))
        return units / self.rates

    def best(self, prices: Array, budgets: Array) -> Best:
        """Best affordable bundle of each team, none of whose credits are worth keeping."""
        none = np.zeros(self._shape[0])
        levels = self.plan(prices, budgets, none)
        return Best(self.best_whole(prices, budgets, none), self.taken(levels))

    def cost(self, prices: Array, values: Array) -> Array:
        """Cheapest way to a value, credits; ``inf`` where demands or goods do not allow it."""
        return self.curves(prices).cost(values)

    def most(self, goods: NDArray[np.bool_]) -> Array:
        """Value of all demands, each served in the best way that takes given goods alone, (n,)."""
        possible = self.needs @ (~goods).astype(float) == 0
        top = np.zeros(len(self.demand))
        np.maximum.at(top, self.workload[possible], self.values[possible])
        with np.errstate(invalid="ignore"):
            worth = np.where(top > 0, top * self.demand, 0.0)
        return total_by(self.team, worth, self._shape[0])

    def excess_cost(self, prices: Array, allocation: Allocation) -> Array:
        """Spend beyond the cheapest way; summed without cancellation where separate."""
        if not self.separate:
            return super().excess_cost(prices, allocation)
        free = np.zeros(self._slots.shape[1])
        return self._limited.excess_cost(np.append(prices, free), self._held(allocation))

    def conjugate(self, prices: Array, budgets: Array, keep_values: Array | None = None) -> Array:
        """Largest ``budget * log(value + keep_value * kept) - spend - kept`` of each team."""
        keeps = np.zeros(self._shape[0]) if keep_values is None else keep_values
        return self.curves(prices).conjugate(budgets, keeps)
