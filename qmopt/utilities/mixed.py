"""Mixed: buyers of one market whose utilities are of different families."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.arguments import frozen, named, of_kind
from qmopt.errors import MarketError
from qmopt.utilities.protocol import Activities, Allocation, Array, Best, Utility

if TYPE_CHECKING:
    import cvxpy as cp

#: Which buyers, in rising order, and what they want, in the same order.
Part: TypeAlias = tuple[NDArray[np.int64], Utility]
Found = TypeVar("Found", bound=np.generic)


class Mixed(Utility):
    """Some buyers have utilities of one family, others of another, all over the same goods.

    Every family must be homogeneous (doubling a bundle doubles its value): then the program of
    Eisenberg and Gale is exact for the whole market, too. Activities are those of the first part,
    then those of the second, and so on, parts in the order of their first buyers.

    Parameters
    ----------
    parts
        Pairs of buyers and utility: whole numbers, shape (k,), and a utility of k buyers over all m
        goods, in the order of the numbers. Each buyer from 0 to n-1 is in one part. The order of
        parts does not matter; a part may be mixed itself.

    Attributes
    ----------
    parts
        The parts, sorted by buyers within and among them; those of mixed ones in their place.
    buyers, goods
        Names that the utilities bring: of buyers if all do, of goods from those that do.

    Raises
    ------
    MarketError
        If a buyer is in two parts or in none, if parts differ in goods, or if a family is not
        homogeneous.

    Examples
    --------
    The first buyer values a unit of good 0 at 2 and one of good 1 at 1, the second needs one of
    each. At prices 4 and 2 a unit of value costs them 4/2 = 2/1 and 4 + 2:

    >>> from qmopt.utilities import Bundles, Linear
    >>> utility = Mixed([([0], Linear([[2, 1]])), ([1], Bundles.leontief([[1, 1]]))])
    >>> utility
    Mixed(2 buyers, 2 goods: Linear 1, Bundles 1)
    >>> utility.unit_cost(np.array([4.0, 2.0])).tolist()
    [2.0, 6.0]

    These are the prices of two units of each good where both have 6 credits: 12 are spent, and
    each buys one of each.

    >>> from qmopt import Market, clear
    >>> found = clear(Market([6, 6], [2, 2], utility))
    >>> found.prices.round(9).tolist(), found.utilities.round(9).tolist()
    ([4.0, 2.0], [3.0, 1.0])
    """

    def __init__(self, parts: Iterable[tuple[ArrayLike, Utility]]) -> None:
        of_kind("parts", parts, Iterable, "pairs of buyers and a utility")
        told = [_checked(k, given) for k, given in enumerate(parts)]
        if not told:
            raise MarketError("parts: none given")
        _refuse_miscounted([mine for mine, _ in told])
        self.goods: tuple[str, ...] | None = _goods([utility for _, utility in told])
        self.buyers: tuple[str, ...] | None = _buyers(told)
        flat = [one for part in told for one in _flat(*part)]
        # none of no buyers, unless there are no others
        some = [_in_order(*one) for one in flat if len(one[0])] or flat[:1]
        self.parts: tuple[Part, ...] = tuple(sorted(some, key=lambda part: part[0][:1].tolist()))
        #: Where each buyer stands when the parts are written one after the other.
        self._place = np.argsort(np.concatenate([mine for mine, _ in self.parts]))
        self._shape: tuple[int, int] = (len(self._place), told[0][1].shape[1])

    def __repr__(self) -> str:
        n, m = self.shape
        kinds = ", ".join(f"{type(utility).__name__} {len(mine)}" for mine, utility in self.parts)
        return f"Mixed({n} buyers, {m} goods: {kinds})"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""
        return self._shape

    @property
    def sparse(self) -> bool:
        """Whether values of a part are sparse; allocations are then sparse, too."""
        return any(utility.sparse for _, utility in self.parts)

    @property
    def additive(self) -> bool:
        """Whether value is the best sum of activities for all buyers."""
        return all(utility.additive for _, utility in self.parts)

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Of each part its family, by the letters of its name; its buyers; its own parameters."""
        found: list[Array] = []
        for mine, utility in self.parts:
            letters = np.array([ord(letter) for letter in type(utility).__name__], dtype=float)
            found += [letters, mine.astype(float), *utility.parameters]
        return tuple(found)

    def _gathered(self, of: Callable[[Part], NDArray[Found]]) -> NDArray[Found]:
        """One number of each buyer, shape (n,), from those of the parts."""
        return np.concatenate([of(part) for part in self.parts])[self._place]

    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation of shape (n, m), dense or sparse."""
        return self._gathered(lambda part: part[1].value(_rows(allocation, part[0])))

    def unit_cost(self, prices: Array) -> Array:
        """Least spend per unit of value, credits; ``inf`` for who values nothing on sale."""
        return self._gathered(lambda part: part[1].unit_cost(prices))

    def excess_cost(self, prices: Array, allocation: Allocation) -> Array:
        """Spend on a bundle beyond the cheapest way to its value, credits, never negative."""
        return self._gathered(lambda part: part[1].excess_cost(prices, _rows(allocation, part[0])))

    def best(self, prices: Array, budgets: Array) -> Best:
        """Best affordable bundle of each buyer, as its family has it."""
        found = [utility.best(prices, budgets[mine]) for mine, utility in self.parts]
        value = np.concatenate([best.value for best in found])[self._place]
        units: Any = sp.csr_array(sp.vstack([best.activities for best in found]))
        return Best(value, units[self._place])

    def usable(self, goods: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which buyers get value from the given goods alone, shape (n,)."""
        return self._gathered(lambda part: part[1].usable(goods))

    def wanted(self, buyers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which goods, shape (m,), at least one of the given buyers has use for."""
        return np.any([utility.wanted(buyers[mine]) for mine, utility in self.parts], axis=0)

    def activities(self) -> Activities:
        """Those of all parts, one part after the other."""
        return _joined(self.activity_blocks())

    def activity_blocks(self) -> Iterator[Activities]:
        """Those of some buyers at a time, as the families list them."""
        for mine, utility in self.parts:
            for ways in utility.activity_blocks():
                yield _of(mine, ways)

    def worth_using(self, prices: Array, cost: Array, share: float) -> Activities:
        """Activities of each part that bring value as cheaply as is given, or nearly so."""
        return _joined(
            _of(mine, utility.worth_using(prices, cost[mine], share))
            for mine, utility in self.parts
        )

    def levels(self, allocation: Allocation) -> Array:
        """Units of each activity in an allocation, shape (K,)."""
        return np.concatenate(
            [utility.levels(_rows(allocation, mine)) for mine, utility in self.parts]
        )

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Where the activities of each part end."""
        counts = [
            sum(len(ways.owner) for ways in utility.activity_blocks()) for _, utility in self.parts
        ]
        return np.cumsum(counts)

    def brought(self, levels: Array) -> Array:
        """Part of the value that each activity brings at these levels, shape (K,)."""
        own = np.split(levels, self._ends[:-1])
        return np.concatenate(
            [utility.brought(part) for (_, utility), part in zip(self.parts, own, strict=True)]
        )

    def expression(self, levels: cp.Expression) -> cp.Expression:
        """Concave CVXPY expression, shape (n,): that of each part, in the place of its buyers."""
        whole: Any = 0
        n, begin = self.shape[0], 0
        for (mine, utility), end in zip(self.parts, self._ends.tolist(), strict=True):
            count = len(mine)
            spread = sp.csr_array((np.ones(count), (mine, np.arange(count))), shape=(n, count))
            whole += spread @ utility.expression(cast(Any, levels)[begin:end])
            begin = end
        return cast("cp.Expression", whole)

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods, in the order given."""
        place = np.full(self.shape[0], -1)
        place[buyers] = np.arange(len(buyers))
        parts: list[Part] = []
        for mine, utility in self.parts:
            here = np.flatnonzero(place[mine] >= 0)
            here = here[np.argsort(place[mine[here]])]
            parts.append((place[mine[here]], utility.take(here, goods)))
        return type(self)(parts)


def _checked(k: int, given: Any) -> Part:
    """Check one part by itself."""
    if not (isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], Utility)):
        raise MarketError(f"parts[{k}]: (buyers, utility) expected, got {named(given)}")
    mine, utility, count = np.asarray(given[0]), given[1], given[1].shape[0]
    whole = mine.dtype.kind in "iu" or not mine.size
    if mine.shape != (count,) or not whole or mine.min(initial=0) < 0:
        raise MarketError(f"parts[{k}]: whole numbers of {count} buyers expected, as {utility} has")
    if not utility.homogeneous:
        raise MarketError(
            f"parts[{k}]: {type(utility).__name__} is not homogeneous (twice a bundle is not worth "
            "twice as much), and then no program is exact for the mixture"
        )
    return mine.astype(np.int64), utility


def _refuse_miscounted(parts: list[NDArray[np.int64]]) -> None:
    """Raise a MarketError unless each buyer from 0 on is in one part."""
    whose = np.concatenate(parts)
    part = np.repeat(np.arange(len(parts)), [len(mine) for mine in parts])
    order = np.argsort(whose, kind="stable")
    wrong = np.flatnonzero(whose[order] != np.arange(len(whose)))
    if wrong.size:
        k, buyer = wrong[0], whose[order[wrong[0]]]
        if buyer > k:
            raise MarketError(f"parts: buyer {k} is in none of them, buyer {whose.max()} is")
        first, again = part[order[k - 1 : k + 1]]
        raise MarketError(f"parts[{again}]: buyer {buyer} is in parts[{first}] already")


def _goods(utilities: list[Utility]) -> tuple[str, ...] | None:
    """Names of the goods; a MarketError unless all parts have the same, by number and by name."""
    m, names, first = utilities[0].shape[1], None, 0
    for k, utility in enumerate(utilities):
        if utility.shape[1] != m:
            raise MarketError(f"parts[{k}]: {utility.shape[1]} goods, but parts[0] has {m}")
        own = getattr(utility, "goods", None)
        if names is None:
            names, first = own, k
        elif own is not None and own != names:
            j = next(j for j in range(m) if own[j] != names[j])
            raise MarketError(
                f"parts[{k}]: good {j} is {own[j]!r}, but {names[j]!r} in parts[{first}]"
            )
    return names


def _buyers(parts: list[Part]) -> tuple[str, ...] | None:
    """Names of the buyers, if all parts bring them."""
    names: dict[int, str] = {}
    for mine, utility in parts:
        names |= dict(zip(mine.tolist(), getattr(utility, "buyers", None) or (), strict=False))
    count = sum(len(mine) for mine, _ in parts)
    return tuple(names[i] for i in range(count)) if len(names) == count else None


def _flat(mine: NDArray[np.int64], utility: Utility) -> list[Part]:
    """Return the parts of a mixed part."""
    if isinstance(utility, Mixed):
        return [(mine[inner], part) for inner, part in utility.parts]
    return [(mine, utility)]


def _in_order(mine: NDArray[np.int64], utility: Utility) -> Part:
    """Sort the buyers of a part."""
    if (np.diff(mine) < 0).any():
        order = np.argsort(mine)
        mine, utility = mine[order], utility.take(order, np.arange(utility.shape[1]))
    return frozen(mine), utility


def _rows(allocation: Allocation, mine: NDArray[np.int64]) -> Allocation:
    """Return what some buyers have."""
    if sp.issparse(allocation):
        return cast(Any, sp.csr_array(allocation))[mine]
    return np.asarray(allocation)[mine]


def _of(mine: NDArray[np.int64], ways: Activities) -> Activities:
    """Give activities of a part to the buyers of the whole."""
    return Activities(mine[ways.owner], ways.needs, ways.values)


def _joined(blocks: Iterable[Activities]) -> Activities:
    """Write activities one after the other."""
    found = list(blocks)
    return Activities(
        np.concatenate([ways.owner for ways in found]),
        sp.csr_array(sp.vstack([ways.needs for ways in found])),
        np.concatenate([ways.values for ways in found]),
    )
