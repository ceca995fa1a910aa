"""Every kind of small change to an exact answer, and why some of them change nothing.

**Prices.** At an equilibrium of a linear market with reserves and kept credits the prices of goods
in supply are unique: where a good is wanted, the convex program has one optimal value of its whole
supply; where nobody wants it, it stays idle, so it costs its reserve. Goods without supply have no
price. So *every* change of a price must be refused.

**Units.** At the right prices p a point is an equilibrium exactly if it is feasible (units, kept
credits and what is left over are not negative; who takes no part pays nothing) and the duality gap
is 0. The gap is a sum of terms that are not negative: what each buyer pays beyond its least cost of
that value, what it keeps although spending brings more, and what is left over times the price above
the reserve. A change of units that keeps all of them at 0 moves along a cycle of tight pairs
(through the bank, where credits are kept or chips idle), and is another equilibrium. So a change of
units must be refused unless :func:`gap` says 0, and must then be proved.
"""

from fractions import Fraction

#: Sizes of a change, as a share of what is changed: a whole, a half, one in a billion, a crumb.
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 10**9), Fraction(1, 2**90))


def price_mutants(market, prices, units):
    """Kind, prices and units: the prices changed."""
    priced = [j for j, price in enumerate(prices) if price is not None]
    for share in SHARES:
        for sign in (1, -1):
            step = sign * share
            yield "all prices", [p and p * (1 + step) for p in prices], units
            for j in priced:
                moved = list(prices)
                moved[j] = prices[j] * (1 + step) if prices[j] else step
                yield "one price", moved, units
    for j, price in enumerate(prices):
        moved = list(prices)
        moved[j] = Fraction(1) if price is None else None
        yield "a price that is missing, or should be", moved, units
        if price is not None:
            for k in priced[: priced.index(j)]:
                moved = list(prices)
                moved[j], moved[k] = prices[k], prices[j]
                yield "two prices swapped", moved, units


def unit_mutants(market, prices, units):
    """Kind, prices and units: the units changed."""
    n, m = market.shape
    pairs = sorted(units)

    def changed(*steps):
        moved = dict(units)
        for pair, step in steps:
            moved[pair] = moved.get(pair, Fraction(0)) + step
        return moved

    for share in SHARES:
        for i, j in pairs:
            step = share * units[i, j]
            yield "units dropped", prices, changed(((i, j), -step))
            yield "units added", prices, changed(((i, j), step))
            for k in range(n):
                if k != i:
                    moved = changed(((i, j), -step), ((k, j), step))
                    yield "units moved to another buyer", prices, moved
            for k in range(m):
                if k != j and prices[k]:
                    worth = step * prices[j] / prices[k]
                    moved = changed(((i, j), -step), ((i, k), worth))
                    yield "credits moved to another good", prices, moved
                    yield (
                        "units moved to another good",
                        prices,
                        changed(((i, j), -step), ((i, k), step)),
                    )
                for h in range(n):
                    if k != j and h != i and units.get((h, k)) and prices[j]:
                        # both sides stay sold out and within their budgets
                        size = min(step, units[h, k] * prices[k] / prices[j])
                        worth = size * prices[j] / prices[k]
                        moved = changed(
                            ((i, j), -size), ((i, k), worth), ((h, k), -worth), ((h, j), size)
                        )
                        yield "turned round a cycle", prices, moved
        for i in range(n):
            for j in range(m):
                if (i, j) not in units:
                    step = share * Fraction(float(market.supplies[j]) or 1)
                    yield "units out of nothing", prices, changed(((i, j), step))
                    yield "negative units", prices, changed(((i, j), -step))
        yield "all units", prices, {pair: x * (1 - share) for pair, x in units.items()}
        yield "all units", prices, {pair: x * (1 + share) for pair, x in units.items()}
    for i in range(n):
        for k in range(i):
            swap = {i: k, k: i}
            moved = {(swap.get(a, a), b): x for (a, b), x in units.items()}
            yield "two buyers swapped", prices, moved
    for j in range(m):
        for k in range(j):
            swap = {j: k, k: j}
            moved = {(a, swap.get(b, b)): x for (a, b), x in units.items()}
            yield "two goods swapped", prices, moved


def gap(market, prices, units):
    """Duality gap in credits at nonnegative prices, or None where the point is not feasible."""
    budgets, keeps = _all(market.budgets), _all(market.keep_values)
    supplies, reserves = _all(market.supplies), _all(market.reserves)
    values = [_all(row) for row in market.utility.values]
    price = [p or Fraction(0) for p in prices]
    idle, kept = list(supplies), list(budgets)
    for (i, j), x in units.items():
        idle[j] -= x
        kept[i] -= x * price[j]
        if x < 0 or (x > 0 and price[j] > 0 and not market.active[i]):
            return None
    if min(idle) < 0 or min(kept) < 0:
        return None
    cost = [
        min(
            [1 / keep if keep else Fraction(10**99)]
            + [price[j] / v for j, v in enumerate(row) if v and supplies[j]]
        )
        for keep, row in zip(keeps, values, strict=True)
    ]
    total = sum((p - r) * left for p, r, left in zip(price, reserves, idle, strict=True))
    for i in range(market.n):
        if market.active[i]:
            total += kept[i] * (1 - cost[i] * keeps[i])
    for (i, j), x in units.items():
        if market.active[i]:
            total += x * (price[j] - cost[i] * values[i][j])
    return total


def _all(numbers):
    return [Fraction(float(number)) for number in numbers]
