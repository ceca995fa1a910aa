"""Workloads with credits of their own: convex, and certified for that division of credits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from qmopt.arguments import named, numbers, settings
from qmopt.certificate import measure
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.activities.path import follow
from qmopt.methods.activities.scaled import Scaled
from qmopt.methods.dividing import best_division, divide
from qmopt.methods.interior_activities import solve_activities
from qmopt.methods.outcome import Divided, Outcome, restore, trading, workloads_only
from qmopt.utilities.protocol import Array
from qmopt.utilities.workloads import Workloads

#: Merit at which the rough prices that the first division is made at are left.
ROUGH = 1e-2


@dataclass(frozen=True)
class Split:
    """Divide each team's credits over its workloads, and find the equilibrium for that division.

    Each workload is a buyer of its own then, which wants no more than its demand and spends no more
    than it must on it. That is a convex program with an exact answer, whatever the market; the
    answer is an equilibrium *for that division*, and with a better one a team may do better. A
    ``limit_price`` holds: a kept credit is worth value over limit to its workload. Where the
    options of a workload are not worth the same, its credits and its demand are divided over the
    values, too.

    Parameters
    ----------
    credits
        Shape (W,): market credits of each workload, as the bidder divides them; those of a team's
        workloads come to no more than it has. Default: what a team would best spend on each at the
        prices of the plain program, then at those of the split, and so on; a twentieth is divided
        equally.
    rounds
        Divisions to try, if none is given; that at which the certificate of the joint market is
        best is returned.
    tolerance
        Merit at which the central path is left.
    max_iterations
        Newton steps at most.
    time_limit
        Seconds for all; what is there by then is measured.

    Examples
    --------
    Team 0 gives a quarter of its credit to the one workload, and the rest to the other:

    >>> from qmopt import Market, Workloads, clear
    >>> utility = Workloads(
    ...     team=[0, 0, 1], demand=[1 / 4, np.inf, np.inf], workload=[0, 1, 2, 2],
    ...     needs=[[1, 0], [0, 1], [1, 0], [0, 1]], values=[2, 1, 1, 1],
    ... )
    >>> found = clear(
    ...     Market([1, 1], [1, 1], utility), Split(credits=[1 / 4, 3 / 4, 1]), accept="split"
    ... )
    >>> found.status, found.prices.round(9).tolist(), found.allocation.round(9).tolist()
    ('certified', [1.0, 1.0], [[0.25, 0.75], [0.75, 0.25]])

    That is how it best spends it, so it is an equilibrium in full. Had it given half to each, its
    first workload would keep what it does not need:

    >>> found = clear(
    ...     Market([1, 1], [1, 1], utility), Split(credits=[1 / 2, 1 / 2, 1]), accept="split"
    ... )
    >>> found.status, found.prices.round(6).tolist(), found.unspent.round(6).tolist()
    ('split', [0.857143, 0.857143], [0.285714, 0.0])
    """

    credits: ArrayLike | Sequence[float] | None = None
    rounds: int = 3
    tolerance: float = 1e-11
    max_iterations: int = 150
    time_limit: float = np.inf

    def __post_init__(self) -> None:
        settings(self)
        whole = isinstance(self.rounds, Integral) and not isinstance(self.rounds, bool)
        if not whole or self.rounds < 1:
            told = named(self.rounds)
            raise MarketError(f"Split: rounds: a whole number from 1 up expected, got {told}")

    @np.errstate(all="ignore")
    def solve(self, market: Market) -> Outcome:
        """Divide, solve the divided market, and divide again at its prices.

        Raises
        ------
        MarketError
            If utilities are not workloads, capped, or the credits given are not the team's to
            give.
        """
        begun = time.monotonic()
        utility = workloads_only(market, self)
        given = None if self.credits is None else _checked(market, utility, self.credits)
        prices = _rough_prices(market, begun + self.time_limit)
        credits = best_division(market, utility, prices) if given is None else given
        best, least = None, np.inf
        for _ in range(self.rounds):
            outcome = self._solve(market, divide(market, utility, prices, credits), begun)
            worst = measure(market, outcome.prices, None, 0.0, outcome.activities).worst
            if best is None or worst < least:
                best, least = outcome, worst
            prices = np.where(market.sold, np.nan_to_num(outcome.prices), market.reserves)
            if given is not None or time.monotonic() - begun > self.time_limit:
                break
            credits = (credits + best_division(market, utility, prices)) / 2
        assert best is not None
        stats: dict[str, Any] = dict(best.stats) | {"seconds": {"solve": time.monotonic() - begun}}
        return replace(best, stats=stats)

    def _solve(self, market: Market, divided: Divided, begun: float) -> Outcome:
        """Solve a divided market, and give its levels back to the whole one."""
        found = solve_activities(
            divided.market,
            tolerance=self.tolerance,
            crossover=True,
            most=self.max_iterations,
            time_limit=self.time_limit - (time.monotonic() - begun),
        )
        assert found.activities is not None
        levels = divided.whole(found.activities)
        poor = divided.left_out
        none = f"{poor} parts of workloads got no credits, so nothing even of what may be free"
        _, allocation = restore(market, found.prices[market.sold], _held(market, levels))
        return replace(
            found,
            notes=(*found.notes, *([none] if poor else [])),
            allocation=allocation,
            activities=levels,
            notion="split",
            divided=divided,
        )


def _held(market: Market, levels: Array) -> Any:
    """Return what levels take, of the buyers and goods that trade."""
    taken = cast(Any, market.utility.taken(levels))
    return taken[np.flatnonzero(market.active)][:, np.flatnonzero(market.sold)]


def _rough_prices(market: Market, deadline: float) -> Array:
    """Prices of the plain program, to a few digits, for all goods; 0 where there is no supply."""
    inner = trading(market)
    scaled = Scaled(inner)
    here, _, _ = follow(scaled, ROUGH, deadline=deadline)
    prices = np.where(market.empty, 0.0, market.reserves)
    prices[market.sold] = (here.prices + scaled.reserves) * scaled.credit / inner.supplies
    return prices


def _checked(market: Market, utility: Workloads, credits: ArrayLike) -> Array:
    """Check that credits of workloads are numbers, and no more than their teams have."""
    given = numbers("credits", credits, utility.names, None)
    total = np.bincount(utility.team, weights=given, minlength=market.n)
    over = np.flatnonzero(total > market.budgets * (1 + 1e-12))
    if over.size:
        i = int(over[0])
        raise MarketError(
            f"Split: credits: the workloads of team {market.buyers[i]} are given {total[i]:.17g} "
            f"of its {market.budgets[i]:.17g} credits"
        )
    return given
