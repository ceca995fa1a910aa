"""Prove, in rationals, that prices and an allocation are a competitive equilibrium.

The definition is written down once more, for linear utilities, without a float, a tolerance or a
rounding; it shares nothing with any method and next to nothing with :mod:`qmopt.certificate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from qmopt.deadline import in_time
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.rationals import Rationals, rationals, written

#: Bits up to which all prices together are brought to one denominator, which is quicker.
LONG = 2**28


@dataclass(frozen=True)
class ExactCertificate:
    """Whether a point is an equilibrium, and if not, what is wrong first.

    Parameters
    ----------
    failed
        Name of the first condition that does not hold, by its residual in
        :class:`qmopt.Certificate`, or "price" for a price that is missing or should be; None if all
        hold.
    who
        Team or resource (or both) at which it does not.
    by
        By how much: units, credits, credits per unit, or utility of the team. None if infinite.

    Examples
    --------
    >>> print(ExactCertificate("overspend", "vision", Fraction(1, 3)))
    not an equilibrium: overspend at vision by 1/3
    """

    failed: str | None = None
    who: str | None = None
    by: Fraction | None = None

    @property
    def proved(self) -> bool:
        """Whether every condition holds, exactly."""
        return self.failed is None

    def __str__(self) -> str:
        if self.proved:
            return "an equilibrium, exactly"
        size = "infinitely much" if self.by is None else written(self.by)
        return f"not an equilibrium: {self.failed} at {self.who} by {size}"


def certify_exact(
    market: Market, prices: Sequence[Any] | Mapping[str, Any], allocation: Any
) -> ExactCertificate:
    """Prove that prices and an allocation are an equilibrium, or name what is wrong.

    Parameters
    ----------
    market
        With linear utilities. Its numbers count as its tables write them if they were read with
        ``exact=True``, otherwise as the doubles that they are.
    prices
        Length m, or by name: Fractions, whole numbers, or doubles as the rationals that they are;
        None (or nan) for a good without supply, and only there.
    allocation
        Units, as n rows of m; or only those that are not 0, as ``{(buyer, good): units}``, as a
        list of tuples ``(buyer, good, units)`` with buyers and goods by position or name, or as a
        scipy sparse matrix. Guaranteed units not included.

    Returns
    -------
    ExactCertificate
        ``.proved``, or the first condition that fails: who, and by how much.

    Raises
    ------
    MarketError
        If utilities are not linear, if shapes are not those of the market, or something is not a
        finite number.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> market = Market([6, 24], [1, 1], Linear([[2, 1], [1, 2]]))
    >>> shares = [[Fraction(3, 5), 0], [Fraction(2, 5), 1]]
    >>> certify_exact(market, [10, 20], shares).proved
    True
    >>> print(certify_exact(market, [10, 20], [[0.6, 0], [0.4, 1]]))
    not an equilibrium: regret at 0 by 1/22517998136852480

    since the double 0.6 is less than three fifths, by 1/5 of its last bit 2**-53.
    """
    return proof(market, prices, allocation)


def proof(
    market: Market, prices: Any, allocation: Any, deadline: float = math.inf
) -> ExactCertificate:
    """Do what :func:`certify_exact` does; TimeoutError if the clock passes the deadline before."""
    numbers = rationals(market, deadline)
    p = _prices(market, prices)
    held: list[list[tuple[int, Fraction]]] = [[] for _ in market.buyers]
    for i, j, units in in_time(_units(market, allocation), deadline):
        held[i].append((j, units))
    return next(_violations(market, numbers, p, held, deadline), ExactCertificate())


def _violations(
    market: Market,
    numbers: Rationals,
    prices: list[Fraction | None],
    held: list[list[tuple[int, Fraction]]],
    deadline: float,
) -> Iterator[ExactCertificate]:
    """Yield every way in which the point is no equilibrium: the definition."""
    zero = Fraction(0)
    idle = list(numbers.supplies)
    for j, price in enumerate(prices):
        good = market.goods[j]
        if (price is None) != (numbers.supplies[j] == 0):
            yield ExactCertificate("price", good)
        elif price is not None and price < 0:
            yield ExactCertificate("negative", good, -price)
        elif price is not None and price < numbers.reserves[j]:
            yield ExactCertificate("reserve", good, numbers.reserves[j] - price)
    ratios, unit = _common(prices, deadline)
    values: list[dict[int, tuple[int, int]]] = [{} for _ in held]
    pairs = zip(numbers.owner.tolist(), numbers.good.tolist(), numbers.values, strict=True)
    for i, j, value in pairs:
        values[i][j] = value
    for i, bundle in enumerate(in_time(held, deadline)):
        buyer, budget, keep = market.buyers[i], numbers.budgets[i], numbers.keep_values[i]
        spend = worth = zero
        for j, units in bundle:
            if units < 0:
                yield ExactCertificate("negative", f"{buyer}, {market.goods[j]}", -units)
            idle[j] -= units
            spend += units * (prices[j] or 0)
            worth += units * Fraction(*values[i].get(j, (0, 1)))
        cap = numbers.utility_caps[i]
        # who wants nothing on sale takes no part, and must not pay for it
        limit = budget if cap != 0 and any(numbers.supplies[j] for j in values[i]) else zero
        if spend > limit:
            yield ExactCertificate("overspend", buyer, spend - limit)
        if limit == 0:
            continue
        # the most utility that a credit brings, and that all credits bring
        most = _most_per_credit(values[i], ratios, unit, keep)
        best = cap if most is None or (cap is not None and budget * most > cap) else budget * most
        got = worth + keep * (budget - spend)
        got = got if cap is None else min(got, cap)
        if best is None or got < best:
            yield ExactCertificate("regret", buyer, None if best is None else best - got)
        # satisfied, with credits that are worth nothing kept: still no more is paid than needed
        needed = zero if most is None or cap is None else cap / most
        if got == cap and not keep and spend > needed:
            yield ExactCertificate("thrift", buyer, spend - needed)
    for j, left in enumerate(idle):
        if left < 0:
            yield ExactCertificate("overallocated", market.goods[j], -left)
        elif left > 0 and (prices[j] or 0) > numbers.reserves[j]:
            yield ExactCertificate("idle", market.goods[j], left)


def _most_per_credit(
    values: dict[int, tuple[int, int]],
    prices: list[tuple[int, int] | None],
    unit: int,
    keep: Fraction,
) -> Fraction | None:
    """Return the most utility that a credit brings: spent on some good, or kept; None: unbounded.

    Prices are those of :func:`_common`; the best so far is ``above / below`` for ``1 / unit``
    credits. Fractions are compared by whole numbers, since to reduce them would take all the time.
    """
    above, below = keep.numerator, keep.denominator * unit
    for j, (times, by) in values.items():
        price = prices[j]
        if price is None:
            continue
        if price[0] <= 0:
            return None
        up, down = times * price[1], by * price[0]
        if up * below > above * down:
            above, below = up, down
    return Fraction(above * unit, below)


def _common(
    prices: list[Fraction | None], deadline: float
) -> tuple[list[tuple[int, int] | None], int]:
    """Return prices times a unit as ratios: whole numbers, unless these would be too long."""
    unit = 1
    for price in in_time(prices, deadline):
        unit = math.lcm(unit, 1 if price is None else price.denominator)
    if unit.bit_length() * len(prices) > LONG:
        unit = 1
    ratios = [
        None if price is None else (price * unit).as_integer_ratio()
        for price in in_time(prices, deadline)
    ]
    return ratios, unit


def _prices(market: Market, given: Sequence[Any] | Mapping[str, Any]) -> list[Fraction | None]:
    if isinstance(given, Mapping):
        missing = [good for good in market.goods if good not in given]
        others = [name for name in given if name not in set(market.goods)]
        if missing or others:
            what = f"none for {missing[0]}" if missing else f"no resource is called {others[0]!r}"
            raise MarketError(f"prices: {what}")
        given = [given[good] for good in market.goods]
    row = _listed("prices", given)
    if len(row) != market.m:
        raise MarketError(f"prices: {market.m} expected, got {len(row)}")
    return [
        None if price is None or price != price else _rational(f"price of {good}", price)
        for good, price in zip(market.goods, row, strict=True)
    ]


def _units(market: Market, given: Any) -> list[tuple[int, int, Fraction]]:
    """Return buyer, good and units of each pair that is named; a pair may come but once."""
    shape = getattr(given, "shape", market.shape)
    if shape != market.shape:
        raise MarketError(f"allocation: shape {market.shape} expected, got {shape}")
    if sp.issparse(given):
        matrix = sp.coo_array(cast(Any, given))
        matrix.sum_duplicates()
        rows: Iterable[Any] = zip(
            matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True
        )
    elif isinstance(given, Mapping):
        rows = [
            (*pair, units) if isinstance(pair, tuple) else (pair, units)
            for pair, units in given.items()
        ]
    else:
        rows = _listed("allocation", given)
        if not all(isinstance(row, tuple) for row in rows):
            rows = _table(market, rows)
    found: dict[tuple[int, int], Fraction] = {}
    for row in rows:
        if len(row) != 3:
            raise MarketError(f"allocation: (buyer, good, units) expected, got {row!r}")
        pair = _at("buyer", market.buyers, row[0]), _at("good", market.goods, row[1])
        name = f"{market.buyers[pair[0]]}, {market.goods[pair[1]]}"
        if pair in found:
            raise MarketError(f"allocation: units of {name} are there twice")
        found[pair] = _rational(f"units of {name}", row[2])
    return [(i, j, units) for (i, j), units in found.items() if units]


def _table(market: Market, rows: Sequence[Any]) -> list[tuple[int, int, Any]]:
    table = [_listed(f"allocation[{i}]", row) for i, row in enumerate(rows)]
    if [len(row) for row in table] != [market.m] * market.n:
        raise MarketError(f"allocation: {market.n} rows of {market.m} expected")
    return [(i, j, units) for i, row in enumerate(table) for j, units in enumerate(row)]


def _at(what: str, names: Sequence[str], given: Any) -> int:
    if isinstance(given, str) and given in names:
        return names.index(given)
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if whole and given in range(len(names)):
        return int(given)
    raise MarketError(f"allocation: no {what} {given!r}")


def _listed(what: str, given: Any) -> Sequence[Any]:
    if isinstance(given, np.ndarray):
        return given.tolist()
    if isinstance(given, Sequence) and not isinstance(given, str):
        return given
    raise MarketError(f"{what}: a sequence of numbers expected, got {type(given).__name__}")


def _rational(what: str, given: Any) -> Fraction:
    """Return a number as the rational that it is."""
    if isinstance(given, Rational):  # which a bool is, too
        if not isinstance(given, bool):
            return Fraction(given)
    elif isinstance(given, float | np.floating) and np.isfinite(given):
        return Fraction(float(given))
    raise MarketError(f"{what}: a finite number expected, got {given!r}")
