"""What a method is, and what it returns: a claim, to be measured by somebody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.arguments import named, of_kind
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import pairs
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.workloads import Workloads

#: Pairs up to which an allocation is an array where the values are one.
MOST_DENSE = 10_000_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """Prices and an allocation, as a method claims them.

    Parameters
    ----------
    prices
        Shape (m,), credits per unit; nan for goods without supply.
    allocation
        Shape (n, m), units; sparse if the values are, or if there are more than ten million pairs;
        that of :class:`qmopt.ColumnGeneration` always is.
    status
        What the method, or the solver behind it, says of itself. Kept for messages.
    stats
        Iterations, pivots and so on, and ``seconds`` by phase.
    notes
        What a reader should know about how the point was found.
    activities
        Shape (K,): units of each activity, where the utility has demands; the allocation is what
        they take.
    notion
        What the point claims to be: ``"equilibrium"``, ``"split"`` (an equilibrium once credits are
        divided over workloads) or ``"nash_welfare"`` (a point of the plain program).
    divided
        The market in which each workload has its own credits, of a split.
    """

    prices: Array
    allocation: Allocation
    status: str
    stats: Mapping[str, float | Mapping[str, float] | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    activities: Array | None = None
    notion: str = "equilibrium"
    divided: Divided | None = None


@dataclass(frozen=True, eq=False)
class Divided:
    """A market whose buyers are workloads with credits of their own.

    Parameters
    ----------
    market
        One buyer for each part of a workload: its options of one value.
    credits
        Shape (W,): credits of each workload of the whole market.
    order
        Shape (K,): for each activity of the whole market, its place in this one; -1 where its part
        of the workload is wanted no more of.
    left_out
        How many parts of workloads that have credits have none of them, or no demand.
    """

    market: Market
    credits: Array
    order: NDArray[np.int64]
    left_out: int = 0

    def levels(self, activities: Array) -> Array:
        """Return levels (K,) of the whole market's activities as those of this one."""
        here = self.order >= 0
        levels = np.zeros(int(here.sum()))
        levels[self.order[here]] = activities[here]
        return levels

    def whole(self, levels: Array) -> Array:
        """Return levels of this market's activities as those of the whole one, (K,)."""
        return np.where(self.order >= 0, levels[np.maximum(self.order, 0)], 0.0)


@runtime_checkable
class Method(Protocol):
    """Anything that turns a market into an outcome; its settings are its own fields."""

    def solve(self, market: Market) -> Outcome:
        """Find prices and an allocation; raise a QmoptError if there is none to return."""
        ...


def trading(market: Market) -> Market:
    """Return the part of a market that trades: active buyers and sold goods.

    Whoever has no credits or no use for anything, and whatever nobody wants or is not there, has a
    settled answer; see :func:`restore`.
    """
    if market.active.all() and market.sold.all():
        return market
    return market.take(np.flatnonzero(market.active), np.flatnonzero(market.sold))


def restore(market: Market, prices: Array, allocation: Allocation) -> tuple[Array, Allocation]:
    """Put the answer of the trading part back among the others.

    Who takes no part gets nothing; what nobody wants costs its reserve (0 without one) and stays
    idle; what is not there has no price (nan). The allocation is sparse if the values are, or if
    there are more than ten million pairs.
    """
    rows, columns, units = pairs(allocation)
    rows, columns = np.flatnonzero(market.active)[rows], np.flatnonzero(market.sold)[columns]
    whole = sp.csr_array((units, (rows, columns)), shape=market.shape)
    return _restore_prices(market, prices), _as_it_should(market, whole)


def restore_levels(market: Market, prices: Array, levels: Array) -> tuple[Array, Allocation, Array]:
    """Put prices (m,) and levels of the trading part's activities back among all.

    Returns
    -------
    prices, allocation, levels
        As :func:`restore` has them; the allocation is what the levels, shape (K,), take.
    """
    ways = market.utility.activities()
    unsold = (~market.sold).astype(float)
    here = market.active[ways.owner] & (ways.needs @ unsold == 0)
    everything = np.zeros(len(ways.owner))
    everything[here] = levels
    allocation = _as_it_should(market, market.utility.taken(everything))
    return _restore_prices(market, prices), allocation, everything


def _restore_prices(market: Market, prices: Array) -> Array:
    everything = np.where(market.empty, np.nan, market.reserves)
    everything[market.sold] = prices
    return everything


def _as_it_should(market: Market, allocation: sp.csr_array) -> Allocation:
    """Return an allocation sparse if the values are, or if there are very many pairs."""
    sparse = market.utility.sparse or market.n * market.m > MOST_DENSE
    return allocation if sparse else allocation.toarray()


def refuse_caps_on_workloads(market: Market) -> None:
    """Raise a MarketError that names the first capped team, where teams have workloads."""
    capped = np.flatnonzero(market.utility_caps < np.inf)
    if isinstance(market.utility, Workloads) and capped.size:
        raise MarketError(
            f"team {market.buyers[capped[0]]}: utility_cap: no method clears a cap on the utility "
            "of a team beside demands of its workloads; the demands say what is enough"
        )


def refuse_caps(market: Market) -> None:
    """Raise a MarketError that names the first capped buyer, if there is one."""
    of_kind("market", market, Market, "a Market")
    capped = np.flatnonzero(market.utility_caps < np.inf)
    if capped.size:
        raise MarketError(
            f"buyer {market.buyers[capped[0]]}: utility caps are not for this method; "
            "EisenbergGale and LinearProgramming take them"
        )


def linear_only(market: Market, method: object) -> None:
    """Raise a MarketError unless a market has linear utilities and no caps, as a method needs."""
    of_kind("market", market, Market, "a Market")
    if not isinstance(market.utility, Linear):
        raise MarketError(
            f"{type(method).__name__} needs linear utilities, got {named(market.utility)}"
        )
    refuse_caps(market)


def workloads_only(market: Market, method: object) -> Workloads:
    """Return the utility of a market of workloads; raise a MarketError if it is another."""
    of_kind("market", market, Market, "a Market")
    if not isinstance(market.utility, Workloads):
        raise MarketError(
            f"{type(method).__name__} needs utilities of Workloads, got {named(market.utility)}"
        )
    refuse_caps_on_workloads(market)
    return market.utility


def refuse_limit_prices(market: Market, utility: Workloads, method: object) -> None:
    """Raise a MarketError at a limit price that means nothing where credits serve all workloads."""
    k = unmet_limit(market, utility)
    if k is None:
        return
    w, i = utility.workload[k], utility.owner[k]
    rate, name = market.credit_rate[i], f"team {market.buyers[i]}, workload {utility.names[w]}"
    raise MarketError(
        f"{name}: limit_price {utility.limit_prices[w] / rate:g}: {type(method).__name__} lets a "
        "team's credits serve all of its workloads, where a limit holds only if keep_value is 1 "
        f"and every value is the limit (keep_value is {market.keep_values[i] * rate:g}, value "
        f'{utility.values[k]:g}); a split takes any limit: accept="split", --accept split'
    )


def unmet_limit(market: Market, utility: Workloads) -> int | None:
    """Return the first option whose workload's limit price does not hold jointly, or None.

    A team pays no more than the limit where that is what the unit of demand is worth to it in
    credits that it could keep: value in own credits, ``keep_value`` 1, and value and limit equal.
    """
    limited = np.flatnonzero(np.isfinite(utility.limit_prices)[utility.workload])
    of, team = utility.workload[limited], utility.owner[limited]
    rate = market.credit_rate[team]
    own_limit, keep = utility.limit_prices[of] / rate, market.keep_values[team] * rate
    close = np.isclose(own_limit, utility.values[limited], rtol=1e-12, atol=0)
    wrong = limited[~(close & np.isclose(keep, 1, rtol=1e-12, atol=0))]
    return int(wrong[0]) if wrong.size else None
