"""What credits buy where demands are limited: one concave curve for each team, in closed form.

A unit of a workload's demand can be served in several ways, each at a cost and a value; mixing them
gives the upper concave hull of these points and the origin. Scaled to the demand, its segments are
what a team can buy for a workload. Merged by falling slope (value per credit) over the team's
workloads they are its curve: the most value for each spend (theory page).

Nothing here loops over teams or workloads: hulls are found for all of them at once, in about as
many passes as the logarithm of the longest hull.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qmopt.utilities.pairs import Array, total_by

Places = NDArray[np.int64]

#: Share of a value by which a curve may miss it because of rounding.
ROUNDING = 1e-12


class Bought(NamedTuple):
    """What each team buys on its curve, each of shape (n,), and along which segments."""

    value: Array
    spend: Array
    #: Units of demand that move along each segment, shape (S,).
    moved: Array


class Curves:
    """The curve of each of n teams: S segments, by team and falling slope.

    Parameters
    ----------
    team
        Shape (W,): the team of each workload.
    demand
        Shape (W,): units of demand, positive or ``inf``.
    workload
        Shape (K,): the workload of each option.
    cost, value
        Shape (K,): credits and value per unit of demand served; ``inf`` where an option is not to
        be had.
    teams
        How many teams there are.

    Attributes
    ----------
    team
        Shape (S,): the team of each segment.
    start, end
        Shape (S,): the options between which a segment lies; -1 for serving nothing.
    slope
        Shape (S,): value per credit, ``inf`` where it is free.

    Examples
    --------
    Serving one unit costs 1 and is worth 3, or 3 and is worth 5; two units are wanted. The first
    2 credits bring 3 each, the next 4 bring (5 - 3) / (3 - 1) = 1 each:

    >>> curves = Curves([0], [2], [0, 0], [1, 3], [3, 5], 1)
    >>> curves.slope.tolist(), curves.length.tolist()
    ([3.0, 1.0], [2.0, 2.0])
    >>> [float(curves.best(np.array([t]), np.zeros(1)).value[0]) for t in (1.0, 2.0, 4.0, 9.0)]
    [3.0, 6.0, 8.0, 10.0]
    """

    def __init__(
        self, team: Places, demand: Array, workload: Places, cost: Array, value: Array, teams: int
    ) -> None:
        team, demand, workload = np.asarray(team), np.asarray(demand, float), np.asarray(workload)
        cost, value = np.asarray(cost, float), np.asarray(value, float)
        end = corners(workload, cost, value)
        first = np.append(True, workload[end][1:] != workload[end][:-1])[: len(end)]
        start = np.where(first, -1, np.append(-1, end[:-1])[: len(end)])
        # where no demand ends it, the first segment goes on for ever
        kept = first | np.isfinite(demand[workload[end]])
        end, start = end[kept], start[kept]
        at = workload[end]
        rise = value[end] - np.where(start < 0, 0.0, value[start])
        run = cost[end] - np.where(start < 0, 0.0, cost[start])
        with np.errstate(divide="ignore", over="ignore"):
            slope = rise / run
        order = _merged(team[at], at, slope)
        self.teams = teams
        self.team, self.start, self.end = team[at][order], start[order], end[order]
        #: Units of demand along each segment, and credits and value per unit.
        self.length, self.run, self.rise = demand[at][order], run[order], rise[order]
        self.slope = slope[order]
        with np.errstate(invalid="ignore", over="ignore"):
            # what is free stays so, however much there is of it
            self._cost = np.where(self.run > 0, self.run * self.length, 0.0)
            self._value = self.rise * self.length
        self._rank = np.arange(len(order)) - np.searchsorted(self.team, self.team)
        self._spent, self._gained = self._before(self._cost), self._before(self._value)

    def _before(self, amounts: Array) -> Array:
        """Sum of a team's segments before each one: no sum goes over two teams."""
        total, shift = amounts.copy(), 1
        while shift <= self._rank.max(initial=0):
            total[shift:] += np.where(self._rank[shift:] >= shift, total[:-shift], 0.0)
            shift *= 2
        return np.where(self._rank > 0, np.roll(total, 1), 0.0)

    def _along(self, part: Array, whole: Array, step: Array, wanted: NDArray[np.bool_]) -> Bought:
        """Go along each wanted segment as far as a part of its whole, or to its end."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            moved = np.where(part >= whole, self.length, part / step)
            moved = np.where(wanted, moved, 0.0)
            spend = np.where(self.run > 0, self.run * moved, 0.0)
            gained = np.where(moved > 0, self.rise * moved, 0.0)
        n = self.teams
        return Bought(total_by(self.team, gained, n), total_by(self.team, spend, n), moved)

    def best(self, budgets: Array, keep_values: Array) -> Bought:
        """Most value, with kept credits beside it: buy while a credit brings more than kept.

        Nothing is bought without credits, even of what is free: such a team takes no part.
        """
        with np.errstate(invalid="ignore"):
            left = np.clip(budgets[self.team] - self._spent, 0, self._cost)
        return self._along(left, self._cost, self.run, self._bought(budgets, keep_values))

    def _bought(self, budgets: Array, keep_values: Array) -> NDArray[np.bool_]:
        """Segments that bring more than kept credits do, of teams that have any; shape (S,)."""
        return (self.slope > keep_values[self.team]) & (budgets[self.team] > 0)

    def cost(self, values: Array) -> Array:
        """Least spend for a value, shape (n,); ``inf`` where no spend is enough."""
        left = np.clip(values[self.team] - self._gained, 0, self._value)
        wanted = values[self.team] > 0
        needed = self._along(left, self._value, self.rise, wanted).spend
        most = total_by(self.team, self._value, self.teams)
        return np.where(values * (1 - ROUNDING) > most, np.inf, needed)

    def conjugate(self, budgets: Array, keep_values: Array) -> Array:
        """Largest ``budget * log(value + keep_value * kept) - spend - kept``, shape (n,).

        On a segment, credits are well spent until the value is the budget times the slope. 0 for
        who has no credits; ``-inf`` where no value is to be had, ``inf`` where any is free.
        """
        wanted = self._bought(budgets, keep_values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # fmin and fmax: beyond endless free value, how much more there is does not matter
            rest = budgets[self.team] * self.slope - self._gained
            left = np.fmax(np.fmin(rest, self._value), 0)
            value, spend, _ = self._along(left, self._value, self.rise, wanted)
            kept = np.where(keep_values > 0, np.maximum(budgets - value / keep_values, 0), 0.0)
            found = budgets * np.log(value + keep_values * kept) - spend - kept
        return np.where(budgets > 0, found, 0.0)


def corners(group: Places, cost: Array, value: Array) -> Places:
    """Corners of the upper concave hull of the origin and a group's points, for all groups.

    Parameters
    ----------
    group
        Shape (K,): the group of each point.
    cost, value
        Shape (K,): where it lies, nonnegative and positive; points of infinite cost are left out.

    Returns
    -------
    ndarray
        The points at the corners, by group and from the origin to the point of the largest value.

    Examples
    --------
    The point (2, 1) lies below the line from the origin to (4, 4), the last one adds no value:

    >>> corners(np.zeros(4, int), np.array([4.0, 1, 2, 9]), np.array([4.0, 3, 1, 4])).tolist()
    [1, 0]
    """
    order = np.lexsort((-value, cost, group))
    order = order[np.isfinite(cost[order])]
    group, cost, value = group[order], cost[order], value[order]
    if not order.size:
        return order
    begin = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    size = np.diff(np.append(begin, len(group)))
    top = np.repeat(np.maximum.reduceat(value, begin), size)
    last = _first(value == top, group)
    found = np.zeros(len(order), dtype=bool)
    found[last] = True
    # each point that is left lies between two corners that are found, the origin being -1
    right = np.repeat(last, size)
    here = np.flatnonzero(np.arange(len(order)) < right)
    left, right = np.full(len(here), -1), right[here]
    while here.size:
        low = left < 0
        x0, y0 = np.where(low, 0.0, cost[left]), np.where(low, 0.0, value[left])
        height = (value[here] - y0) / (value[right] - y0) - (cost[here] - x0) / (cost[right] - x0)
        above = height > 0
        here, left, right, height = here[above], left[above], right[above], height[above]
        if not here.size:
            break
        begin = np.flatnonzero(np.append(True, right[1:] != right[:-1]))
        size = np.diff(np.append(begin, len(here)))
        highest = np.repeat(np.maximum.reduceat(height, begin), size)
        middle = np.repeat(here[_first(height == highest, right)], size)
        found[middle] = True
        left, right = np.where(here > middle, middle, left), np.where(here < middle, middle, right)
        others = here != middle
        here, left, right = here[others], left[others], right[others]
    return order[found]


def _first(chosen: NDArray[np.bool_], group: Places) -> Places:
    """First chosen place of each group; groups stand together and each has one."""
    places = np.flatnonzero(chosen)
    return places[np.append(True, group[places][1:] != group[places][:-1])]


def _merged(team: Places, workload: Places, slope: Array) -> Places:
    """Order segments by team and falling slope, and those of a workload as they come.

    Segments are given by workload, from the origin on. Their slopes fall but for the last bits.
    """
    order = np.lexsort((-slope, team))
    slots = np.argsort(workload[order], kind="stable")
    merged = np.empty_like(order)
    merged[slots] = np.arange(len(order))
    return merged
