"""The numbers of a market as rationals: what was written, or else what the doubles are.

Every double is a rational, and ``Fraction(0.1)`` is the one that is stored. A market whose tables
were read with ``exact=True`` has better: 0.1 is one tenth, a budget in another currency is exactly
``credits * weight / minted``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qmopt.arguments import named
from qmopt.assemble import needed
from qmopt.deadline import in_time
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.tables import Table, Tables
from qmopt.utilities.linear import Linear

#: How far a double may be from the number that it came from: a few roundings, relative.
ROUNDED = 1e-14

Fractions = list[Fraction]


@dataclass(frozen=True, eq=False)
class Rationals:
    """The numbers of a market with linear utilities, exactly.

    Parameters
    ----------
    budgets, keep_values
        Length n.
    utility_caps
        Length n, None where there is no cap.
    supplies, reserves
        Length m.
    guaranteed
        Units handed out free, by positions of buyer and good.
    owner, good
        Shape (E,): buyer and good of every positive value, in row order.
    values
        Length E: numerator and denominator of the value per unit.
    as_written
        Whether they are what the tables say; otherwise they are the doubles.
    """

    budgets: Fractions
    keep_values: Fractions
    utility_caps: list[Fraction | None]
    supplies: Fractions
    reserves: Fractions
    guaranteed: dict[tuple[int, int], Fraction]
    owner: NDArray[np.int64]
    good: NDArray[np.int64]
    values: list[tuple[int, int]]
    as_written: bool


def rationals(market: Market, deadline: float = math.inf) -> Rationals:
    """Return the numbers of a market as rationals.

    Parameters
    ----------
    market
        With linear utilities.
    deadline
        On the clock ``time.monotonic``.

    Raises
    ------
    MarketError
        If utilities are not linear, or a number as written is too far from its double (it would
        be 0, for one).
    TimeoutError
        If the deadline passes before.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> rationals(Market([0.5], [3], Linear([[0.1]]))).budgets
    [Fraction(1, 2)]
    """
    if not isinstance(market.utility, Linear):
        raise MarketError(f"exact answers are for linear utilities, got {named(market.utility)}")
    activities = market.utility.activities()
    owner, good = activities.owner, activities.needs.indices.astype(np.int64)
    if market.tables is not None and _exact(market.tables["teams"], "credits"):
        return _written(market, market.tables, owner, good, activities.values, deadline)
    caps = market.utility_caps.tolist()
    free = {} if market.guarantees is None else market.guarantees.todok()
    return Rationals(
        _doubles(market.budgets),
        _doubles(market.keep_values),
        [Fraction(cap) if cap < np.inf else None for cap in caps],
        _doubles(market.supplies),
        _doubles(market.reserves),
        {(int(i), int(j)): Fraction(float(units)) for (i, j), units in free.items()},
        owner,
        good,
        [value.as_integer_ratio() for value in in_time(activities.values.tolist(), deadline)],
        as_written=False,
    )


def written(number: Fraction) -> str:
    """Return a rational as text, however long: Python's own ``str`` stops at 4300 digits.

    Examples
    --------
    >>> written(Fraction(109, 18)), written(Fraction(-20)), len(written(Fraction(10**9999)))
    ('109/18', '-20', 10000)
    """
    sign = "-" if number < 0 else ""
    above, below = _digits(abs(number.numerator)), _digits(number.denominator)
    return sign + (above if below == "1" else f"{above}/{below}")


def _digits(number: int) -> str:
    """Return the digits of a whole number of at least 0, in halves while it is long."""
    if number.bit_length() <= 10_000:
        return str(number)
    places = number.bit_length() * 3 // 20  # about half of the digits
    high, low = divmod(number, 10**places)
    return _digits(high) + _digits(low).zfill(places)


def _doubles(numbers: NDArray[np.float64]) -> Fractions:
    return [Fraction(number) for number in numbers.tolist()]


def _exact(table: Table, name: str) -> bool:
    column = table.column(name)
    return isinstance(column, np.ndarray) and column.dtype == object


def _written(
    market: Market,
    tables: Tables,
    owner: NDArray[np.int64],
    good: NDArray[np.int64],
    doubles: NDArray[np.float64],
    deadline: float,
) -> Rationals:
    """Read the numbers off the tables, as qmopt.assemble does in doubles."""
    teams, resources = tables["teams"], tables["resources"]
    buyer_at = {name: i for i, name in enumerate(market.buyers)}
    good_at = {name: j for j, name in enumerate(market.goods)}

    def pairs(table: Table) -> list[tuple[int, int]]:
        columns = table.ids("team"), table.ids("resource")
        return [(buyer_at[i], good_at[j]) for i, j in zip(*columns, strict=True)]

    zero = Fraction(0)
    rates = _rates(tables)
    credits = _column(teams, "credits", zero)
    keeps = _column(teams, "keep_value", zero)
    guarantees = tables["guarantees"]
    free = dict(zip(pairs(guarantees), _column(guarantees, "units", zero), strict=True))
    supplies = _column(resources, "supply", zero)
    for (_, j), units in free.items():
        supplies[j] -= units
    caps: list[Any] = _column(teams, "utility_cap", None)
    if tables.values is None:
        bids = tables["bids"]
        worth = zip(_column(bids, "value", zero), _column(bids, "rate", Fraction(1)), strict=True)
        worth = [value * rate for value, rate in worth]
        bid, resource, _ = needed(tables, market.goods)
        plain = [Fraction(1)] * (len(bid) - len(tables["needs"]))
        units = [*plain, *_column(tables["needs"], "units", zero)]
        team = [buyer_at[name] for name in bids.ids("team")]
        by_pair: dict[tuple[int, int], Fraction] = {}
        rows = zip(bid.tolist(), resource.tolist(), units, strict=True)
        for row, j, each in in_time(rows, deadline):
            place = team[row], j
            by_pair[place] = max(worth[row] / each, by_pair.get(place, zero))
        places = zip(owner.tolist(), good.tolist(), strict=True)
        if sum(value > 0 for value in by_pair.values()) != len(owner):
            raise MarketError("bids: a value times its rate is not 0, but too close to it")
        values = [by_pair[place].as_integer_ratio() for place in places]
    else:
        values = [value.as_integer_ratio() for value in in_time(doubles.tolist(), deadline)]
    found = Rationals(
        [credit * rate for credit, rate in zip(credits, rates, strict=True)],
        [keep / rate if rate else keep for keep, rate in zip(keeps, rates, strict=True)],
        caps,
        supplies,
        _column(resources, "reserve_price", zero),
        free,
        owner,
        good,
        values,
        as_written=True,
    )
    _compare("credits", found.budgets, market.budgets, market.buyers)
    _compare("keep_value", found.keep_values, market.keep_values, market.buyers)
    _compare("supply", found.supplies, market.supplies, market.goods)
    _compare("reserve_price", found.reserves, market.reserves, market.goods)
    _compare("value", [Fraction(*value) for value in values], doubles, owner.tolist())
    return found


def _rates(tables: Tables) -> Fractions:
    """Market credits per credit of each team's own pool: W_k/C_k, or 1 without pools."""
    teams, pools = tables["teams"], tables["pools"]
    if not len(pools):
        return [Fraction(1)] * len(teams)
    names, member = pools.ids("pool"), teams.ids("pool")
    offered = dict.fromkeys(names, Fraction(0))
    for name, credit in zip(member, _column(teams, "credits", Fraction(0)), strict=True):
        offered[name] += credit
    minted = _column(pools, "minted", None)
    weights = _column(pools, "weight", Fraction(0))
    rate = {
        name: weight / (offered[name] if mint is None else mint)
        for name, weight, mint in zip(names, weights, minted, strict=True)
    }
    return [rate[name] for name in member]


def _column(table: Table, name: str, default: Any) -> list[Any]:
    """Return a column of Fractions, the default where a cell or the column is missing."""
    column = table.column(name)
    if not isinstance(column, np.ndarray):
        return [default] * len(table)
    return [Fraction(cell) if cell == cell else default for cell in column]


def _compare(
    what: str, exact: Fractions, doubles: NDArray[np.float64], names: Sequence[object]
) -> None:
    """Refuse numbers that the market's arrays do not stand for: they would be another market."""
    nearest = np.array([float(number) for number in exact])
    wrong = (np.abs(nearest - doubles) > ROUNDED * np.abs(doubles)) | (
        (nearest > 0) != (doubles > 0)
    )
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise MarketError(
            f"{what} of {names[k]}: {exact[k]} as written, but {doubles[k]} as a number of the "
            "market; too close to 0 for a double, or the tables are of another market"
        )
