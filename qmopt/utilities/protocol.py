"""What a utility is, as the theory says it.

One object describes all buyers of a market at once, so that nothing loops over them in Python.
A family says how a bundle is valued, what the cheapest way to one unit of value costs, and which
activities bring it; from these come the best affordable bundle, the conjugate and the price
intervals. A new family is one file with one subclass of :class:`Utility`: the CVXPY model and the
certificate then serve it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.utilities.pairs import Allocation, Array, pairs, total_by

if TYPE_CHECKING:
    import cvxpy as cp


@dataclass(frozen=True)
class Activities:
    """The ways in which buyers get value: K of them, each owned by one buyer.

    A plain bid "one H100 is worth 4" is an activity that needs one chip of one good. A recipe
    needs several.

    Parameters
    ----------
    owner
        Shape (K,): the buyer of each activity.
    needs
        Shape (K, m), sparse: units of each good that one unit of the activity uses.
    values
        Shape (K,): value that one unit of the activity brings to its owner.
    """

    owner: NDArray[np.int64]
    needs: sp.csr_array
    values: Array


@dataclass(frozen=True)
class Best:
    """A best bundle that each buyer can afford.

    Parameters
    ----------
    value
        Shape (n,), in the buyer's own unit of value; ``inf`` where something wanted is free.
    activities
        Shape (n, m), sparse: units of each good in one such bundle. Rows of buyers whose best value
        is infinite or zero are empty.
    """

    value: Array
    activities: sp.csr_array


@dataclass(frozen=True)
class Demands:
    """What buyers want no more of, however it is served: W demands.

    Parameters
    ----------
    owner
        Shape (W,): the buyer of each demand.
    units
        Shape (W,): how much is wanted, in units of its own; ``inf`` where more is always better.
    names
        W names, for reading.
    """

    owner: NDArray[np.int64]
    units: Array
    names: Sequence[str]


class Utility(ABC):
    """Utilities of n buyers over m goods.

    Prices have shape (m,), in credits per unit; an infinite price means "not to be had". Every
    method is vectorised over buyers and returns shape (n,) unless it says otherwise.

    A family says five things: its :attr:`shape`, what a bundle is worth (:meth:`value`), by which
    activities it comes about (:meth:`activities`, :meth:`levels`), and how to restrict it
    (:meth:`take`). The rest follows, for families whose value is the best sum of activities that a
    bundle allows (linear, fixed mixes, recipes); others override it, and any may do so to be
    quicker or more accurate.
    """

    #: Whether doubling a bundle doubles its value; then Eisenberg-Gale is exact.
    homogeneous: ClassVar[bool] = True

    def __repr__(self) -> str:
        n, m = self.shape
        return f"{type(self).__name__}({n} buyers, {m} goods)"

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""

    @property
    def sparse(self) -> bool:
        """Whether allocations are to be sparse, too."""
        return False

    @property
    def additive(self) -> bool:
        """Whether value is the best sum of activities, so that their levels say all."""
        return type(self).expression is Utility.expression

    @property
    def separate(self) -> bool:
        """Whether a family that is not homogeneous is so up to caps: Eisenberg-Gale is exact."""
        return False

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Numbers beside the activities that say which utility it is; for fingerprints."""
        return ()

    @abstractmethod
    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation of shape (n, m), dense or sparse."""

    @abstractmethod
    def activities(self) -> Activities:
        """Every activity that brings value: the rows that support prices."""

    @abstractmethod
    def levels(self, allocation: Allocation) -> Array:
        """Units of each of the K activities in an allocation, shape (K,)."""

    @abstractmethod
    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given."""

    def demands(self) -> Demands:
        """Limits on what levels of :meth:`activities` serve; none by default.

        A family with demands is measured at levels, not only at the bundles that they take.
        """
        return Demands(np.zeros(0, np.int64), np.zeros(0), ())

    def served(self, levels: Array) -> Array:
        """Units of each of the :meth:`demands` that levels (K,) serve, shape (W,)."""
        return np.zeros(0)

    def most(self, goods: NDArray[np.bool_]) -> Array:
        """Value, shape (n,), beyond which no units of the given goods bring more.

        Default: there is no end to it.
        """
        return np.full(self.shape[0], np.inf)

    def activity_blocks(self) -> Iterator[Activities]:
        """All activities in their order, some at a time.

        Default: all at once. Families of very many activities list them in parts.
        """
        yield self.activities()

    def worth_using(self, prices: Array, cost: Array, share: float) -> Activities:
        """List the activities that bring value as cheaply as is given, or nearly so.

        Parameters
        ----------
        prices
            Shape (m,), credits per unit; ``inf`` where a good is not to be had.
        cost
            Shape (n,), credits per unit of value.
        share
            By which an activity may be dearer.
        """
        found = []
        for ways in self.activity_blocks():
            with np.errstate(invalid="ignore"):
                spend = ways.needs @ prices
                here = spend <= ways.values * cost[ways.owner] * (1 + share)
            found.append((ways.owner[here], ways.needs[here], ways.values[here]))
        owner, needs, values = zip(*found, strict=True)
        return Activities(
            np.concatenate(owner), sp.csr_array(sp.vstack(needs)), np.concatenate(values)
        )

    def expression(self, levels: cp.Expression) -> cp.Expression:
        """Concave CVXPY expression, shape (n,), of the levels (K,) of :meth:`activities`.

        Default: the values of the activities times their levels.
        """
        ways = self.activities()
        shape = (self.shape[0], len(ways.owner))
        weights = sp.csr_array((ways.values, (ways.owner, np.arange(shape[1]))), shape=shape)
        return cast("cp.Expression", weights @ levels)

    def brought(self, levels: Array) -> Array:
        """Part of the value that each activity brings at these levels, shape (K,).

        Default: its value times its level. Where value is no such sum, the parts are those of
        Euler's theorem: levels times the slope of value in them.
        """
        return self.activities().values * levels

    def unit_cost(self, prices: Array) -> Array:
        """Least spend per unit of value, credits; ``inf`` for who values nothing on sale.

        Default: that of the cheapest activity.
        """
        ways = self.activities()
        cheapest = np.full(self.shape[0], np.inf)
        np.minimum.at(cheapest, ways.owner, (ways.needs @ prices) / ways.values)
        return cheapest

    def cost(self, prices: Array, values: Array) -> Array:
        """Cheapest way to a value, credits."""
        with np.errstate(invalid="ignore"):
            return np.where(values > 0, self.unit_cost(prices) * values, 0.0)

    def dear(self, prices: Array, levels: Array) -> Array:
        """Spend on levels (K,) beyond what their value costs at the unit cost, never negative."""
        ways, used = self.activities(), levels > 0
        with np.errstate(invalid="ignore"):
            more = ways.needs @ prices - self.unit_cost(prices)[ways.owner] * ways.values
        spend = np.where(used, np.maximum(more, 0) * levels, 0.0)
        return total_by(ways.owner, spend, self.shape[0])

    def excess_cost(self, prices: Array, allocation: Allocation) -> Array:
        """Spend on a bundle beyond the cheapest way to its value, credits, never negative.

        Default: the difference. A family does better by summing nonnegative terms, which stay
        accurate where the two nearly cancel.
        """
        buyers, goods, units = pairs(allocation)
        spend = total_by(buyers, prices[goods] * units, self.shape[0])
        return np.maximum(spend - self.cost(prices, self.value(allocation)), 0)

    def best(self, prices: Array, budgets: Array) -> Best:
        """Best affordable bundle of each buyer.

        Default: the whole budget on the cheapest activity, the first of several.
        """
        n, m = self.shape
        ways, cost = self.activities(), self.unit_cost(prices)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(budgets > 0, budgets / cost, 0.0)
            cheapest = (ways.needs @ prices) / ways.values <= cost[ways.owner]
        cheapest &= np.isfinite(value[ways.owner]) & (value[ways.owner] > 0)
        buyers, first = np.unique(ways.owner[cheapest], return_index=True)
        chosen = np.flatnonzero(cheapest)[first]
        pick = sp.csr_array(
            (value[buyers] / ways.values[chosen], (buyers, chosen)), shape=(n, len(ways.owner))
        )
        return Best(value, sp.csr_array(pick @ ways.needs, shape=(n, m)))

    def best_whole(self, prices: Array, budgets: Array, keep_values: Array) -> Array:
        """Best value that credits afford, kept ones included; ``inf`` where it is free.

        A buyer without credits has 0, even of what is free: it takes no part. Default: all credits
        go where a unit of value costs least, to goods or into keeping.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            cost = np.minimum(1 / keep_values, self.unit_cost(prices))
            return np.where(budgets > 0, budgets / cost, 0.0)

    def taken(self, levels: Array) -> sp.csr_array:
        """Units of goods (n, m) that levels (K,) of :meth:`activities` take, sparse."""
        ways = self.activities()
        shape = (self.shape[0], len(levels))
        return sp.csr_array(
            sp.csr_array((levels, (ways.owner, np.arange(len(levels)))), shape=shape) @ ways.needs
        )

    def conjugate(self, prices: Array, budgets: Array) -> Array:
        """Largest ``budget * log(value) - spend`` over all bundles, at the given prices.

        The concave conjugate of the log utility: what buyer i adds to the dual of Eisenberg-Gale.
        Default: that of a homogeneous family.
        """
        return budgets * np.log(budgets / self.unit_cost(prices)) - budgets

    def usable(self, goods: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which buyers get value from the given goods alone, shape (n,)."""
        ways = self.activities()
        possible = ways.needs @ (~goods).astype(float) == 0
        return np.bincount(ways.owner[possible], minlength=self.shape[0]) > 0

    def wanted(self, buyers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which goods, shape (m,), at least one of the given buyers has use for."""
        ways = self.activities()
        return np.asarray(ways.needs.T @ buyers[ways.owner].astype(float) > 0)
