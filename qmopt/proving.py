"""The exact answer: found near a method's point, proved before anybody sees it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from qmopt.certificate_exact import ExactCertificate, proof
from qmopt.deadline import in_time
from qmopt.errors import NotCertified
from qmopt.market import Market
from qmopt.methods.outcome import Outcome
from qmopt.methods.rational import rational_crossover
from qmopt.point import per_good, per_pair
from qmopt.rationals import Rationals, rationals
from qmopt.utilities.protocol import Allocation, Array

#: What a reader of an exact answer should know.
NOTE = (
    "prices and units were also found in rationals and proved; where several allocations go with "
    "these prices, this is one of few trades, not shared pro rata"
)


@dataclass(frozen=True)
class ExactAnswer:
    """An equilibrium in rationals, proved by :func:`qmopt.certify_exact`.

    Parameters
    ----------
    prices
        Length m, market credits per unit; None for goods without supply.
    allocation
        Buyer, good and units bought of every pair that trades, in row order. It has no cycle: at
        most n + m - 1 pairs.
    utilities
        Length n, kept credits included; 0 for buyers who take no part.
    pivots
        Of the search in rationals; 0 where the floats had the right support.
    certificate
        The proof, carried out.

    Examples
    --------
    >>> from qmopt import Linear, Market, clear
    >>> found = clear(Market([1, 1], [1, 1, 1], Linear([[1, 2, 3], [3, 2, 1]])), exact=True)
    >>> [str(price) for price in found.exact.prices]
    ['3/4', '1/2', '3/4']
    >>> [str(utility) for utility in found.exact.utilities]
    ['4', '4']
    """

    prices: tuple[Fraction | None, ...]
    allocation: list[tuple[int, int, Fraction]]
    utilities: tuple[Fraction, ...]
    pivots: int
    certificate: ExactCertificate

    def arrays(self, market: Market) -> tuple[Array, Allocation]:
        """Return prices (m,) and allocation (n, m) as the nearest doubles.

        Raises
        ------
        NotCertified
            If one of them is too large for a double; it carries this answer as ``exact``.
        """
        rows = np.array([i for i, _, _ in self.allocation], dtype=np.int64)
        columns = np.array([j for _, j, _ in self.allocation], dtype=np.int64)
        try:
            prices = np.array([np.nan if p is None else float(p) for p in self.prices])
            units = np.array([float(amount) for _, _, amount in self.allocation])
        except OverflowError as error:
            why = "proved in rationals, but an exact price or amount is too large for a double"
            raise NotCertified(why, exact=self) from error
        held = sp.csr_array((units, (rows, columns)), shape=market.shape)
        return prices, (held if market.utility.sparse else held.toarray())


def prove(market: Market, outcome: Outcome, time_limit: float = np.inf) -> ExactAnswer:
    """Find the exact equilibrium near the point of a method, and prove it.

    Parameters
    ----------
    market
        With linear utilities without caps.
    outcome
        What a method found; however rough, only the time depends on it.
    time_limit
        Seconds.

    Raises
    ------
    MarketError
        If utilities are not linear, or capped.
    NotCertified
        If time ran out, or the proof fails.
    """
    deadline = time.monotonic() + time_limit
    prices, units = per_good(market, outcome.prices), per_pair(market, outcome.allocation)
    # at the ends of floats they overflow; what comes of it is only a start
    with np.errstate(all="ignore"):
        found = rational_crossover(market, prices, units, time_limit=time_limit)
    late = (
        f"time ran out in the exact step: the method's time_limit left {max(time_limit, 0):.1f} s "
        "for it, and the exact answer was not"
    )
    if found is None:
        raise NotCertified(f"{late} found", outcome)
    try:
        certificate = proof(market, found.prices, found.allocation, deadline)
        held = in_time(found.allocation, deadline)
        utilities = _utilities(market, rationals(market, deadline), found.prices, held)
    except TimeoutError:
        raise NotCertified(f"{late} proved", outcome) from None
    if not certificate.proved:
        raise NotCertified(f"the exact answer has no proof: {certificate}", outcome)
    return ExactAnswer(found.prices, found.allocation, utilities, found.pivots, certificate)


def _utilities(
    market: Market,
    numbers: Rationals,
    prices: tuple[Fraction | None, ...],
    allocation: Iterable[tuple[int, int, Fraction]],
) -> tuple[Fraction, ...]:
    """Value of each bundle and worth of what is kept, 0 for those who take no part."""
    pairs = zip(numbers.owner.tolist(), numbers.good.tolist(), strict=True)
    value = dict(zip(pairs, numbers.values, strict=True))
    left, utility = list(numbers.budgets), [Fraction(0)] * market.n
    for i, j, units in allocation:
        utility[i] += units * Fraction(*value[i, j])
        left[i] -= units * (prices[j] or 0)
    for i in np.flatnonzero(market.active).tolist():
        utility[i] += numbers.keep_values[i] * left[i]
    return tuple(utility)
