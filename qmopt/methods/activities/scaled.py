"""A market as activities with limits, in a scale of its own.

Activity k belongs to one buyer, takes ``needs[k]`` of the goods and ``bank[k]`` credits, is worth
``worth[k]``, and uses ``uses[w, k]`` of limit w of its buyer. A kept credit is the activity that
takes one credit and no goods. Limits are demands of workloads, or caps on utility (which every
activity of the buyer uses in proportion to its worth, kept credits included).

With prices p, rents of limits (what a unit of room in them would be worth, credits) and a cost of
value for each buyer, the conditions are, with a share of 0 or 1::

    levels >= 0,  slack = needs p + bank + rent uses - cost worth >= 0,  levels * slack = 0
    room  = 1 - uses levels  >= 0,  rents >= 0,   rents * room = 0
    idle  = 1 - needs' levels >= 0, p >= reserve, (p - reserve) * idle = 0
    cost * value = budget + share * (sum of the buyer's rents)

At share 0 they are those of the program of Eisenberg and Gale under the limits: convex, an
equilibrium where a limit is all that its buyer wants (a cap, or the only workload), and the Nash
welfare program otherwise. At share 1 every buyer spends its budget, whatever limits it meets: the
effective budgets of D. Jalota, M. Pavone, Q. Qi and Y. Ye ("Fisher markets with linear
constraints", Games and Economic Behavior 141, 2023), whose fixed point is an equilibrium.

Supplies, limits and the mean budget are 1; the best activity of a buyer is worth 1 at the level at
which it would use up a good or a limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.market import Market
from qmopt.methods.activities.iterate import Iterate, Missed, Products
from qmopt.methods.activities.products import Between
from qmopt.utilities.protocol import Activities, Array
from qmopt.utilities.workloads import Workloads


class Scaled:
    """The system of a market whose values are sums of activities under limits.

    Parameters
    ----------
    market
        The part that trades (every buyer active, every good sold).
    floors
        Shape (n,): worth that a kept credit has at least, value per credit. Without one the cost of
        value of a buyer who has all that it wants would run away, at share 1.

    Attributes
    ----------
    owner : (L,) int
        Buyer of each activity: those of the utility, then kept credits.
    count : int
        Activities of the utility, K.
    full : (K,)
        Units of each that would use up a good or a limit: the unit of levels.
    needs : (L, m) csr
        Shares of the supplies that an activity takes.
    bank, worth : (L,)
        Credits that it takes, and its value.
    uses : (W, L) csr
        Shares of the limits that it takes.
    team : (W,) int
        Buyer of each limit.
    shared : (W,)
        1 for limits whose rents may be spent elsewhere (demands), 0 for caps on utility.
    budgets : (n,), reserves : (m,)
        In mean budgets, and of whole supplies.
    """

    def __init__(self, market: Market, floors: Array | None = None) -> None:
        self.market, self.shape = market, market.shape
        n, m = market.shape
        self.credit = float(market.budgets.mean())
        self.budgets = market.budgets / self.credit
        self.reserves = market.reserves * market.supplies / self.credit
        ways = market.utility.activities()
        self.count = len(ways.owner)
        keeps = market.keep_values if floors is None else np.maximum(market.keep_values, floors)
        self.keepers = np.flatnonzero(keeps > 0)
        needs = sp.csr_array(ways.needs @ sp.diags_array(1 / market.supplies))
        served, self.team, self.shared = _limits(market, ways, keeps[self.keepers], self.keepers)
        taken = served[:, : self.count]
        self.full = 1 / np.maximum(_most(needs, 1), _most(taken, 0))
        scale = np.append(self.full, np.full(len(self.keepers), self.credit))
        worth = np.append(ways.values, keeps[self.keepers]) * scale
        self.unit = np.zeros(n)
        np.maximum.at(self.unit, ways.owner, worth[: self.count])
        self.owner = np.append(ways.owner, self.keepers)
        self.worth = worth / self.unit[self.owner]
        self.bank = np.append(np.zeros(self.count), np.ones(len(self.keepers)))
        none = sp.csr_array((len(self.keepers), m))
        self.needs = sp.csr_array(sp.vstack([sp.diags_array(self.full) @ needs, none]))
        self.uses = sp.csr_array(served @ sp.diags_array(scale))
        #: sums by buyer: of activities, and of rents that may be spent elsewhere
        self.gather = _sums(self.owner, np.ones(len(self.owner)), n)
        self.rented = _sums(self.team, self.shared, n)
        self.uses_squared = sp.csr_array(self.uses.power(2))
        #: products of what a step multiplies: by good, by limit and good, by buyer and good
        self.by_good = Between(sp.csr_array(self.needs.T), self.needs)
        self.by_limit = Between(self.uses, self.needs)
        self.by_buyer = Between(self.gather, self.needs)
        self.limits_of = self.by_buyer.gathered(self.by_limit, self.team)
        self._weigh()

    def _weigh(self) -> None:
        """Say how far from 0 each product stays: in proportion to the credits that it is about.

        So small teams are as well centred as large ones.
        """
        (n, m), owner, team = self.shape, self.owner, self.team
        per_activity = self.budgets / np.bincount(owner, minlength=n)
        per_limit = self.budgets / np.maximum(np.bincount(team, minlength=n), 1)
        self.weights = Products(per_activity[owner], per_limit[team], np.full(m, n / m))
        self.weight = float(sum(part.sum() for part in self.weights))

    def owned(self, numbers: Array) -> sp.csr_array:
        """Return the matrix (n, W) that adds up limits by buyer, each times a number."""
        return _sums(self.team, numbers, self.shape[0])

    def value(self, levels: Array) -> Array:
        """Value of levels (L,), of each buyer."""
        return self.gather @ (self.worth * levels)

    def handed_out(self, levels: Array) -> Array:
        """Share of each supply that levels (L,) take, (m,)."""
        return np.asarray(self.needs.T @ levels)

    def used_up(self, levels: Array) -> Array:
        """Share of each limit that levels (L,) take, (W,)."""
        return np.asarray(self.uses @ levels)

    def slacks(self, prices: Array, rents: Array, costs: Array) -> Array:
        """By how much each activity is dearer than what it brings; prices above the reserve."""
        asked = self.needs @ (prices + self.reserves) + self.bank + self.uses.T @ rents
        return asked - costs[self.owner] * self.worth

    def refreshed(self, here: Iterate) -> Iterate:
        """Take slacks from prices again, where what many moves added up to has not lost them."""
        fresh = self.slacks(here.prices, here.rents, here.costs)
        return here._replace(slacks=np.where(fresh > here.slacks / 2, fresh, here.slacks))

    def missed(self, here: Iterate, share: float) -> Missed:
        """Return by how much limits, supplies and budgets are missed."""
        budgets = self.budgets + share * (self.rented @ here.rents)
        return Missed(
            1 - self.used_up(here.levels) - here.room,
            1 - self.handed_out(here.levels) - here.idle,
            budgets - here.costs * self.value(here.levels),
        )

    def start(self) -> Iterate:
        """Return a point within all bounds, well away from each."""
        crowd = np.asarray((self.needs > 0).sum(axis=0)).ravel()
        crowd_of_limits = np.asarray((self.uses > 0).sum(axis=1), dtype=float).ravel()
        # every activity gets an equal part of each thing that it takes
        part = np.maximum(_most((self.needs > 0).astype(float) * crowd, 1), 1)
        limited = _most(sp.diags_array(crowd_of_limits) @ (self.uses > 0), 0)
        levels = 0.5 / np.maximum(part, limited)
        levels[self.count :] = 1.3 * self.budgets[self.keepers]
        room = np.maximum(1 - self.used_up(levels), 0.1)
        idle = np.maximum(1 - self.handed_out(levels), 0.1)
        costs = self.budgets / self.value(levels)
        prices, rents = self.weights.goods, self.budgets[self.team]
        asked = self.needs @ prices + self.uses.T @ rents
        brought = costs[self.owner] * self.worth
        dear = brought[: self.count] / asked[: self.count]
        prices, rents = 1.5 * dear.max() * prices, 1.5 * dear.max() * rents
        slacks = self.slacks(prices, rents, costs)
        # a kept credit costs 1, however much it brings
        slacks[self.count :] = np.maximum(slacks[self.count :], 0.1)
        return Iterate(levels, slacks, room, rents, idle, prices, costs)

    def used(self, here: Iterate) -> NDArray[np.bool_]:
        """Which activities are used: their share of a value is larger than their slack in it.

        Rents are large where a team has all that it wants, and say nothing of one option or
        another; slacks are held against what is paid, or brought in credits of the budget.
        """
        brought = here.costs[self.owner] * self.worth
        asked = here.slacks + brought
        spent = here.costs * self.value(here.levels)
        price = np.minimum(1, self.budgets / spent)[self.owner] * asked
        price = np.maximum(price, asked - self.uses.T @ here.rents)
        return here.levels * price / self.budgets[self.owner] > here.slacks / price

    def point(self, here: Iterate) -> tuple[Array, Array]:
        """Return prices (m,) and levels (K,) in the market's own units.

        Of two numbers whose product tends to 0 the smaller one is taken for 0.
        """
        above = here.prices > here.idle * self.weights.goods
        levels = np.where(self.used(here), here.levels, 0.0)[: self.count]
        return self.in_credits(np.where(above, here.prices, 0.0)), levels * self.full

    def in_credits(self, above: Array) -> Array:
        """Return prices (m,) per unit; what is 0 above the reserve is at it to the last bit."""
        return self.market.reserves + above * self.credit / self.market.supplies


def _limits(
    market: Market, ways: Activities, keeps: Array, keepers: NDArray[np.int64]
) -> tuple[sp.csr_array, NDArray[np.int64], Array]:
    """Limits, as shares that a unit of each activity and a kept credit take; owners; kinds."""
    count, team, blocks = len(ways.owner), np.zeros(0, np.int64), []
    if isinstance(market.utility, Workloads):
        ends, taken = market.utility.shares()
        team = market.utility.team[ends]
        blocks.append(sp.hstack([taken, sp.csr_array((len(ends), len(keepers)))]))
    capped = np.flatnonzero(market.utility_caps < np.inf)
    if len(capped):
        owner = np.append(ways.owner, keepers)
        worth = np.append(ways.values, keeps) / market.utility_caps[owner]
        blocks.append(_sums(owner, worth, market.n)[capped])
    shared = np.append(np.ones(len(team)), np.zeros(len(capped)))
    team = np.append(team, capped)
    limits = sp.vstack(blocks) if blocks else sp.csr_array((0, count + len(keepers)))
    return sp.csr_array(limits), team.astype(np.int64), shared


def _sums(place: NDArray[np.int64], weights: Array, count: int) -> sp.csr_array:
    """Return the matrix that adds up weighted numbers by place."""
    return sp.csr_array((weights, (place, np.arange(len(place)))), shape=(count, len(place)))


def _most(matrix: Any, axis: int) -> Array:
    """Largest entry along an axis, 0 where there is none."""
    if 0 in matrix.shape:
        return np.zeros(matrix.shape[1 - axis])
    return np.asarray(sp.csr_array(matrix).max(axis=axis).toarray()).ravel()
