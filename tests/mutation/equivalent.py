"""Mutants that no test can tell from the original, each with the reason why.

A mutant belongs here only if no input gives another verdict or another residual beyond rounding.
"""

_EMPTY = (
    "goods without supply: the residuals meet their prices only multiplied by a supply of 0, or at "
    "units of goods in supply, of which they are none"
)
_TYPE = "the same number, as a numpy scalar"
_FLOORED = "`most` floors at 0, and what is below 0 here is never the largest of the rest"
_WEIGHTED = (
    "the second number is never the larger one: sum (p - r)+ idle <= max(idle/s) * sum (p - r)+ s "
    "over goods with p > r, and sum (p - r)+ s is at most the worth of the supply; the definition "
    "states both, so the code does"
)

EQUIVALENT = {
    # pairs
    "pairs : `NDArray[np.float64]` -> `NDArray`": "a type for readers; nothing is computed with it",
    "pairs entries: `rows` -> `columns`": "asked for its size alone, and both have the same",
    "pairs entries: `np.zeros(0)` -> `np.ones(0)`": "an array without entries",
    # keep
    "keep enjoyed: `caps` -> `utility` #2": (
        "utility = min(cap, value + worth * kept). At the cap it is the cap. Below it, "
        "(utility - value) / worth is kept, and so is the minimum of kept and the room to the cap"
    ),
    "keep missed: `off > -0.5` -> `off >= -0.5`": (
        "at -1/2 both sides are the same logarithm, up to rounding"
    ),
    "keep missed: `rate > 0` -> `rate >= 0`": "where the rate is 0, nothing is lost either way",
    # point
    "point Point.__init__: `np.where(market.empty, 0.0, np.maximum(np.nan_to_num(prices), 0))` -> "
    "`np.maximum(np.nan_to_num(prices), 0)`": _EMPTY,
    "point Point.__init__: `0.0` -> `1.0`": _EMPTY,
    "point Point.__init__: `bool(np.isnan(units).any())` -> `np.isnan(units).any()`": _TYPE,
    "point Point.__init__: `units > 0` -> `units >= 0`": "`pairs` lists no zeros",
    "point Point.__init__: `levels > 0` -> `levels >= 0`": (
        "what is done zero times takes nothing and brings nothing"
    ),
    "point Point.scaled: `self.given_prices` -> `self.offered`": (
        "a scaled point is asked for its gap alone, which looks at cleaned prices; cleaning again "
        "changes nothing, and the infinite prices of goods without supply are cleaned away"
    ),
    "point Point.scaled: `self.given_prices` -> `self.prices`": (
        "a scaled point is asked for its gap alone, which looks at cleaned prices; cleaning again "
        "changes nothing"
    ),
    "point Point.spend: `self.prices` -> `self.offered`": (
        "they differ at goods without supply alone, and units of those are taken out before"
    ),
    "point Point.left_over: `np.maximum(self.market.supplies - self.units_out, 0)` -> "
    "`self.market.supplies - self.units_out`": (
        "below 0 where too much is handed out: in *idle* the share is floored at 0 and the sum "
        "only falls, which is not the larger number anyway; in *gap* the units were scaled down"
    ),
    "point Point.worth: `float(self.market.supplies @ self.prices)` -> "
    "`self.market.supplies @ self.prices`": _TYPE,
    "point Point.worth: `float(self.market.budgets.sum())` -> `self.market.budgets.sum()`": _TYPE,
    # certificate
    "certificate Certificate: `False` -> `True`": (
        "repr= of a field: the class has a __repr__ of its own, and none is made"
    ),
    "certificate Certificate: `False` -> `True` #3": (
        "repr= of a field: the class has a __repr__ of its own, and none is made"
    ),
    "point most: `max(values.max(initial=0.0), 0.0)` -> `values.max(initial=0.0)`": (
        "the initial value is the same floor"
    ),
    "certificate _negative: `point.nan_units or not np.isfinite(prices[~market.empty]).all()` -> "
    "`not np.isfinite(prices[~market.empty]).all()`": (
        "units that are not numbers reach `most` as such, which makes them infinite"
    ),
    "certificate _negative: `np.maximum(-point.all_units, 0)` -> `-point.all_units`": _FLOORED,
    "certificate _negative: `np.maximum(-paid, 0)` -> `-paid`": _FLOORED,
    "certificate _negative: `np.maximum(-asked, 0)` -> `-asked`": _FLOORED,
    "certificate _negative: `0.0` -> `1.0`": (
        "a positive price of a good without supply: negative units of it are infinitely negative "
        "already, positive ones are not paid out"
    ),
    "certificate _reserve: `point.prices` -> `point.offered`": (
        "they differ at goods without supply alone, which are masked"
    ),
    "certificate _idle: `(point.prices > market.reserves) & ~market.empty` -> "
    "`point.prices > market.reserves`": "cleaned prices of goods without supply are 0",
    "certificate _idle: `point.prices` -> `point.given_prices`": (
        "compared with a reserve of at least 0: what is below 0, or no number, is not above it, "
        "cleaned or not"
    ),
    "certificate _idle: `point.prices` -> `point.offered`": (
        "they differ at goods without supply alone, which are masked"
    ),
    "certificate _idle: `np.maximum(point.prices - market.reserves, 0)` -> "
    "`np.minimum(point.prices - market.reserves, 0)`": _WEIGHTED,
    "certificate _idle: `np.maximum(point.prices - market.reserves, 0)` -> "
    "`point.prices - market.reserves`": _WEIGHTED,
    "certificate _idle: `max(most(share), most(np.array([wasted / point.worth])))` -> "
    "`most(share)`": _WEIGHTED,
    "gap _lost: `caps` -> `utility`": (
        "utility is the cap where the value is above it, and at least the value elsewhere"
    ),
    "gap _lost: `short < 0.5` -> `short <= 0.5`": (
        "at 1/2 both sides are the same logarithm, up to rounding"
    ),
    "gap _lost: `budgets / cost <= caps` -> `budgets / cost < caps`": (
        "where the budget buys just the cap, both formulas of h are B log(c/u) - B + beta u"
    ),
    "gap duality_gap: `float(lost[market.active].sum() + held_outside + left_over)` -> "
    "`lost[market.active].sum() + held_outside + left_over`": _TYPE,
}
