"""Bundles: value comes from recipes, each of which takes several goods in a fixed mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.arguments import Numbered, frozen
from qmopt.errors import MarketError
from qmopt.solvers import linear_program
from qmopt.utilities.pairs import entries, pairs, total_by
from qmopt.utilities.protocol import Activities, Allocation, Array, Utility


class Bundles(Utility):
    """Value of a bundle is the best sum of recipes that it is enough for.

    Recipe k belongs to one buyer, takes ``needs[k, j]`` units of good j, and brings ``values[k]``:
    "8 H100 at home are worth 10, or 16 A100 and a fast network are worth 9". A buyer with units x
    has ``max{c.y : sum_k y_k a_k <= x, y >= 0}`` over its own recipes. One recipe per buyer is
    Leontief's case, one good per recipe the linear one. Doubling a bundle doubles its value, so
    the program of Eisenberg and Gale is exact (theory page).

    Parameters
    ----------
    owner
        Shape (K,): the buyer of each recipe, whole numbers from 0.
    needs
        Shape (K, m), dense or sparse: units of each good that one unit of the recipe takes, finite
        and nonnegative; every recipe takes something.
    values
        Shape (K,): value of one unit of the recipe to its owner, finite and nonnegative. Recipes
        of value 0 are left out. Default: 1.
    buyers
        How many buyers there are, with those that have no recipe. Default: as many as the largest
        owner says.
    options
        Shape (K,): names of the recipes, for reading. Default "0", "1", ...

    Attributes
    ----------
    owner, needs, values, options
        Those of the recipes of positive value, in the order given; ``needs`` is a ``csr_array``.

    Raises
    ------
    MarketError
        If a number makes no sense; the message names its place.

    Examples
    --------
    One buyer, two recipes: 1 unit of good 0 and 2 of good 1 are worth 5, or good 0 alone 2. Of 3
    and 4 units, two are used the first way and one the second: 2 * 5 + 1 * 2 = 12.

    >>> utility = Bundles([0, 0], [[1, 2], [1, 0]], [5, 2])
    >>> held = np.array([[3.0, 4.0]])
    >>> utility.value(held).tolist(), utility.levels(held).tolist()
    ([12.0], [2.0, 1.0])

    At prices 3 and 1 the recipes cost 5/5 and 3/2 for each unit of value, so 10 credits buy 10:

    >>> prices = np.array([3.0, 1.0])
    >>> utility.unit_cost(prices).tolist(), utility.best(prices, np.array([10.0])).value.tolist()
    ([1.0], [10.0])
    """

    def __init__(
        self,
        owner: ArrayLike,
        needs: ArrayLike | sp.spmatrix | sp.sparray | Any,
        values: ArrayLike | None = None,
        *,
        buyers: int | None = None,
        options: Sequence[str] | None = None,
    ) -> None:
        whose, mix = _owners(owner), _needs(needs)
        count = len(whose)
        worth = np.ones(count) if values is None else _numbers("values", values)
        if mix.shape[0] != count or worth.shape != (count,):
            raise MarketError(
                f"needs and values: {count} recipes expected, as owner has, got "
                f"{mix.shape[0]} and {worth.shape}"
            )
        n = int(whose.max(initial=-1)) + 1 if buyers is None else int(buyers)
        names = Numbered(count) if options is None else tuple(options)
        if len(names) != count:
            raise MarketError(f"options: {count} names expected, got {len(names)}")
        for k in np.flatnonzero(whose >= n):
            raise MarketError(f"owner[{k}]: buyer {whose[k]} of {n}, counted from 0")
        for k in np.flatnonzero(~((worth >= 0) & (worth < np.inf))):
            raise MarketError(f"values[{k}]: {worth[k]} is not a finite, nonnegative number")
        for k in np.flatnonzero(np.diff(mix.indptr) == 0):
            raise MarketError(f"needs[{k}] (recipe {names[int(k)]}): takes nothing")
        kept = np.flatnonzero(worth > 0)
        self.owner = frozen(whose[kept])
        self.needs = sp.csr_array(mix[kept])
        self.values = frozen(worth[kept])
        self.options = tuple(names[int(k)] for k in kept)
        self._shape: tuple[int, int] = (n, int(mix.shape[1]))
        # the goods of each recipe, as pairs of owner and good
        self._recipe = np.repeat(np.arange(len(kept)), np.diff(self.needs.indptr))
        key = self.owner[self._recipe] * self._shape[1] + self.needs.indices
        _, self._pair, often = np.unique(key, return_inverse=True, return_counts=True)
        #: Recipes that share a good with another one of the same buyer: what each gets of it is a
        #: choice. The others take what there is.
        self._choice = np.zeros(len(kept), dtype=bool)
        self._choice[self._recipe[often[self._pair] > 1]] = True
        #: Levels of the allocation that was asked for last.
        self._known: tuple[bytes, Array] = (b"", np.zeros(0))

    @classmethod
    def leontief(cls, needs: ArrayLike | sp.spmatrix | sp.sparray | Any) -> Self:
        """One recipe per buyer: chips in a fixed mix, each job worth 1 (W. Leontief's case).

        Parameters
        ----------
        needs
            Shape (n, m): units of each good that one job of the buyer takes.

        Examples
        --------
        A job takes 1 CPU and 4 GB; with 3 CPUs and 8 GB memory is short, for two jobs:

        >>> Bundles.leontief([[1, 4]]).value(np.array([[3.0, 8.0]])).tolist()
        [2.0]
        """
        mix = _needs(needs)
        return cls(np.arange(mix.shape[0]), mix)

    @classmethod
    def linear(cls, values: ArrayLike | sp.spmatrix | sp.sparray | Any) -> Self:
        """One good per recipe: the same as :class:`qmopt.Linear`, which is quicker and exact.

        Parameters
        ----------
        values
            Shape (n, m): value per unit.

        Examples
        --------
        >>> Bundles.linear([[4, 1], [2, 0]]).value(np.array([[1.0, 3.0], [0.5, 9.0]])).tolist()
        [7.0, 1.0]
        """
        worth = _needs(values)
        buyer, good, each = pairs(worth)
        ones, places = np.ones(len(good)), (np.arange(len(good)), good)
        mix = sp.csr_array((ones, places), shape=(len(good), worth.shape[1]))
        return cls(buyer, mix, each, buyers=worth.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of buyers and of goods."""
        return self._shape

    def activities(self) -> Activities:
        """Recipes of positive value, in the order given."""
        return Activities(self.owner, self.needs, self.values)

    def value(self, allocation: Allocation) -> Array:
        """Value of the bundles in an allocation of shape (n, m).

        Right to the last bits where no two recipes of a buyer share a good, otherwise to 1e-10: it
        takes a linear program. It is never too high.
        """
        return total_by(self.owner, self.values * self.levels(allocation), self.shape[0])

    def levels(self, allocation: Allocation) -> Array:
        """Units of each recipe, in the best use of an allocation; shape (K,)."""
        buyers, goods = self.owner[self._recipe], self.needs.indices.astype(np.int64)
        held = np.maximum(entries(allocation, buyers, goods), 0)
        # to measure one point asks for the same several times
        key, (known, found) = held.tobytes(), self._known
        if key != known:
            found = self._levels(held)
            self._known = key, found
        return found.copy()

    def _levels(self, held: Array) -> Array:
        levels = np.full(len(self.owner), np.inf)  # each recipe alone
        np.minimum.at(levels, self._recipe, held / self.needs.data)
        chosen = self._choice & (levels > 0)
        if chosen.any():
            levels[chosen] *= self._shares(chosen, levels, held)
        return levels

    def _shares(self, chosen: NDArray[np.bool_], alone: Array, held: Array) -> Array:
        """Of what each chosen recipe could do alone, the share that it does beside the others.

        One linear program for all buyers, in which every coefficient is at most 1.
        """
        place = np.cumsum(chosen) - 1
        here = np.flatnonzero(chosen[self._recipe])
        recipe = self._recipe[here]
        _, row = np.unique(self._pair[here], return_inverse=True)
        share = self.needs.data[here] * alone[recipe] / held[here]
        count, rows = int(chosen.sum()), int(row.max()) + 1
        taken = sp.csr_array((share, (row, place[recipe])), shape=(rows, count))
        worth, owner = (self.values * alone)[chosen], self.owner[chosen]
        most = np.zeros(self.shape[0])
        np.maximum.at(most, owner, worth)
        found = linear_program(
            -worth / most[owner],
            sp.csr_array(sp.vstack([taken, sp.eye_array(count)])),
            np.full(rows + count, -np.inf),
            np.ones(rows + count),
        )
        if found is None:  # the solver's failure: an even split is possible, if not best
            found = np.ones(count)
        found = np.clip(found, 0, 1)
        # what the solver takes too much of is given back
        crowded = np.ones(count)
        np.maximum.at(crowded, place[recipe], np.asarray(taken @ found)[row])
        return found / crowded

    def excess_cost(self, prices: Array, allocation: Allocation) -> Array:
        """Spend beyond need: recipes dearer than the cheapest, and units that none of them uses."""
        n, _ = self.shape
        levels = self.levels(allocation)
        used = levels > 0
        cost = self.unit_cost(prices)[self.owner]
        with np.errstate(invalid="ignore"):
            dear = np.maximum(self.needs @ prices - cost * self.values, 0) * levels
        taken = sp.csr_array((levels, (self.owner, np.arange(len(levels)))), shape=(n, len(levels)))
        left = sp.csr_array(sp.csr_array(allocation) - taken @ self.needs)
        buyer, good, units = pairs(left)
        unused = np.where(units > 0, prices[good] * units, 0.0)
        return total_by(self.owner[used], dear[used], n) + total_by(buyer, unused, n)

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Self:
        """Restrict to some buyers and goods; recipes that take another good are out of reach."""
        n, m = self.shape
        buyer, good = np.full(n, -1), np.zeros(m, dtype=bool)
        buyer[buyers], good[goods] = np.arange(len(buyers)), True
        whole = self.needs @ (~good).astype(float) == 0
        kept = np.flatnonzero((buyer[self.owner] >= 0) & whole)
        return type(self)(
            buyer[self.owner[kept]],
            cast(Any, self.needs[kept])[:, goods],
            self.values[kept],
            buyers=len(buyers),
            options=[self.options[int(k)] for k in kept],
        )


def _owners(given: ArrayLike) -> NDArray[np.int64]:
    owner = np.asarray(given)
    if owner.ndim != 1 or (owner.size and owner.dtype.kind not in "iu"):
        raise MarketError("owner: one whole number for each recipe expected")
    if owner.min(initial=0) < 0:
        raise MarketError(f"owner[{int(np.argmin(owner))}]: {owner.min()} is negative")
    return owner.astype(np.int64)


def _numbers(what: str, given: Any) -> Array:
    try:
        array = np.asarray(given)
    except ValueError as error:  # rows of different lengths
        raise MarketError(f"{what}: rows of one length expected ({error})") from error
    if array.dtype == bool or array.dtype.kind not in "iuf":
        raise MarketError(f"{what}: numbers expected, got {array.dtype}")
    return array.astype(float)


def _needs(given: Any) -> sp.csr_array:
    """Check a matrix of finite, nonnegative numbers; kept sparse, without stored zeros."""
    matrix: Any = given if sp.issparse(given) else _numbers("needs", given)
    if matrix.ndim != 2:
        raise MarketError(f"needs: shape (recipes, goods) expected, got {matrix.shape}")
    found: Any = sp.csr_array(matrix, dtype=float, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    wrong = np.flatnonzero(~((found.data > 0) & (found.data < np.inf)))
    if wrong.size:
        row = int(np.searchsorted(found.indptr, wrong[0], side="right")) - 1
        raise MarketError(
            f"needs[{row}, {found.indices[wrong[0]]}]: {found.data[wrong[0]]} is not a finite, "
            "nonnegative number"
        )
    return found
