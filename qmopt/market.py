"""The market: who has how many credits, what there is, and what it is worth to whom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from qmopt.arguments import frozen, names, numbers
from qmopt.assemble import assemble
from qmopt.digest import digest
from qmopt.errors import MarketError
from qmopt.notebook import market_page
from qmopt.utilities.protocol import Utility

if TYPE_CHECKING:
    from qmopt.tables import Tables


#: Arguments of the constructor that :meth:`Market.replace` carries over.
_ARGUMENTS = (
    "budgets", "supplies", "utility", "reserves", "keep_values", "utility_caps", "buyers", "goods",
    "credit_rate", "guarantees", "title", "period",
)  # fmt: skip


class Market:
    """n buyers with credits, m goods in limited supply; checked once, then frozen.

    Parameters
    ----------
    budgets
        Shape (n,): credits that each buyer offers in this clearing (market credits), nonnegative.
    supplies
        Shape (m,): units of each good to be sold, nonnegative. Chips that were guaranteed to
        somebody are taken out already.
    utility
        What bundles are worth, for n buyers and m goods; see :class:`qmopt.Linear`.
    reserves
        Shape (m,): price below which a unit stays idle, credits per unit. Default 0.
    keep_values
        Shape (n,): worth of a kept credit, in the buyer's unit of value. Default 0.
    utility_caps
        Shape (n,): utility beyond which a buyer wants no more; ``inf`` for none (default). A cap is
        on the whole utility, kept credits included.
    buyers, goods
        Names. Default: those of the utility, if it has them, else "0", "1", ...
    credit_rate
        Shape (n,): market credits per credit of the buyer's own pool. Default 1.
    guarantees
        Shape (n, m): units handed out free before the market, beside ``supplies``. Default none.
    title, period
        For reading only: what the market is called, and the time that credits, prices and values
        are per.
    tables
        The checked tables that the market came from, if it did.

    Attributes
    ----------
    active : (n,) bool
        Buyers who take part: with credits, and with a use for something on sale.
    sold : (m,) bool
        Goods that have a market: in supply, and wanted by an active buyer.
    empty : (m,) bool
        Goods without supply; they have no price.

    Raises
    ------
    MarketError
        If shapes differ, a number is negative, infinite or not a number, a name stands twice, or
        nobody with credits has a use for anything on sale. The message names the place.

    Examples
    --------
    >>> from qmopt import Linear, Market
    >>> market = Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]]), buyers=["vision", "speech"])
    >>> market
    Market(2 buyers, 2 goods, 100 credits)
    >>> market.excluded
    {}
    """

    def __init__(
        self,
        budgets: ArrayLike,
        supplies: ArrayLike,
        utility: Utility,
        *,
        reserves: ArrayLike | None = None,
        keep_values: ArrayLike | None = None,
        utility_caps: ArrayLike | None = None,
        buyers: Sequence[str] | None = None,
        goods: Sequence[str] | None = None,
        credit_rate: ArrayLike | None = None,
        guarantees: sp.csr_array | None = None,
        title: str = "",
        period: str = "1 hour",
        tables: Tables | None = None,
    ) -> None:
        if not isinstance(utility, Utility):
            raise MarketError(
                f"utility: a Utility such as Linear(values) expected, got {type(utility).__name__}"
            )
        n, m = self.shape = utility.shape
        self.utility = utility
        self.title, self.period, self.tables = title, period, tables
        buyers = getattr(utility, "buyers", None) if buyers is None else buyers
        goods = getattr(utility, "goods", None) if goods is None else goods
        self._buyers, self._goods = names("buyers", buyers, n), names("goods", goods, m)
        self.budgets = numbers("budgets", budgets, self._buyers, None)
        self.supplies = numbers("supplies", supplies, self._goods, None)
        self.reserves = numbers("reserves", reserves, self._goods, 0)
        self.keep_values = numbers("keep_values", keep_values, self._buyers, 0)
        self.utility_caps = numbers("utility_caps", utility_caps, self._buyers, np.inf)
        self.credit_rate = numbers("credit_rate", credit_rate, self._buyers, 1)
        self.guarantees = guarantees
        if guarantees is not None and np.shape(guarantees) != self.shape:
            raise MarketError(
                f"guarantees: shape {self.shape} expected, got {np.shape(guarantees)}"
            )
        if not (n and m):
            raise MarketError(f"a market needs buyers and goods, got {n} buyers and {m} goods")
        self.empty = frozen(self.supplies == 0)
        self.active = frozen(
            (self.budgets > 0) & (self.utility_caps > 0) & utility.usable(~self.empty)
        )
        self.sold = frozen(~self.empty & utility.wanted(self.active))
        if not self.active.any():
            reason = "; ".join(f"{name}: {why}" for name, why in list(self.excluded.items())[:20])
            raise MarketError(f"no buyer has credits and a use for anything on sale ({reason})")
        self._checked = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_checked" in self.__dict__:
            raise AttributeError(f"a market is frozen; market.replace({name}=...) makes another")
        super().__setattr__(name, value)

    @classmethod
    def from_tables(cls, tables: Tables | None = None, **frames: Any) -> Self:
        """Build a market from tables of resources, teams, bids, and so on.

        Parameters
        ----------
        tables
            Checked tables, as :func:`qmopt.tables.read` returns them; or leave this out and give
        **frames
            each table by its name as a DataFrame, a dict of columns or a list of rows:
            ``resources=``, ``teams=``, ``bids=``, ``pools=``, ...

        Returns
        -------
        Market
            Budgets in market credits (``credits * weight / minted`` of the team's pool).

        Raises
        ------
        TableError
            If a table breaks the contract; the message names table, row and column.
        MarketError
            If the tables are right but ask for something that this version cannot clear.

        Examples
        --------
        >>> market = Market.from_tables(
        ...     resources=[{"resource": "h100@east", "supply": 8}],
        ...     teams=[{"team": "vision", "credits": 60}, {"team": "speech", "credits": 40}],
        ...     bids=[
        ...         {"team": "vision", "resource": "h100@east", "value": 4},
        ...         {"team": "speech", "resource": "h100@east", "value": 2},
        ...     ],
        ... )
        >>> market.buyers, market.goods
        (('vision', 'speech'), ('h100@east',))
        """
        return cls(**assemble(tables, frames))

    def __repr__(self) -> str:
        return f"Market({self.n} buyers, {self.m} goods, {self.budgets.sum():.15g} credits)"

    _repr_html_ = market_page

    @property
    def n(self) -> int:
        """Number of buyers."""
        return self.shape[0]

    @property
    def m(self) -> int:
        """Number of goods."""
        return self.shape[1]

    @cached_property
    def buyers(self) -> tuple[str, ...]:
        """Names of the buyers."""
        return tuple(self._buyers)

    @cached_property
    def goods(self) -> tuple[str, ...]:
        """Names of the goods; both are made, where none were given, when somebody asks."""
        return tuple(self._goods)

    def named_like(self, other: Market) -> bool:
        """Tell whether another market has the same buyers and goods, by name and in order."""
        return (self._buyers, self._goods) == (other._buyers, other._goods) or (
            (self.buyers, self.goods) == (other.buyers, other.goods)
        )

    @property
    def has_pools(self) -> bool:
        """Whether buyers count in currencies of their pools."""
        return self.tables is not None and len(self.tables["pools"]) > 0

    def replace(self, **changes: Any) -> Market:
        """Return the same market with some arguments changed, by their names in the constructor.

        Its tables, which no longer say the same, are left behind, and pools with them.

        Raises
        ------
        MarketError
            If there is no such argument, or the result is no market.

        Examples
        --------
        Half of the first good is taken back:

        >>> from qmopt import Linear, Market
        >>> market = Market([60, 40], [8, 16], Linear([[4, 1], [2, 1]]))
        >>> market.replace(supplies=[4, 16]).supplies.tolist()
        [4.0, 16.0]
        """
        arguments: dict[str, Any] = {name: getattr(self, name) for name in _ARGUMENTS}
        arguments |= {"buyers": self._buyers, "goods": self._goods}
        unknown = sorted(changes.keys() - arguments.keys())
        if unknown:
            raise MarketError(f"replace: no argument {unknown[0]!r}; there are {_ARGUMENTS}")
        return Market(**(arguments | changes))

    def take(self, buyers: NDArray[np.int64], goods: NDArray[np.int64]) -> Market:
        """Restrict to some buyers and goods, in the order given; tables are left behind."""
        return Market(
            self.budgets[buyers],
            self.supplies[goods],
            self.utility.take(buyers, goods),
            reserves=self.reserves[goods],
            keep_values=self.keep_values[buyers],
            utility_caps=self.utility_caps[buyers],
            buyers=[self._buyers[int(i)] for i in buyers],
            goods=[self._goods[int(j)] for j in goods],
            credit_rate=self.credit_rate[buyers],
            title=self.title,
            period=self.period,
        )

    @cached_property
    def excluded_buyers(self) -> dict[str, str]:
        """Buyers who take no part, and why."""
        asked = self.utility.demands()
        some = np.bincount(asked.owner, minlength=self.n) > 0
        sated = some & (np.bincount(asked.owner, asked.units, self.n) == 0)
        reasons = {
            "no credits": self.budgets == 0,
            "a utility cap of 0: wants nothing": self.utility_caps == 0,
            "wants nothing: no demand above 0": sated,
            "values only resources without supply": self.utility.usable(np.full(self.m, True)),
        }
        told = np.select(list(reasons.values()), list(reasons), "values no resource")
        return {self.buyers[i]: str(told[i]) for i in np.flatnonzero(~self.active)}

    @cached_property
    def excluded_goods(self) -> dict[str, str]:
        """Goods that have no market, and why."""
        return {
            self.goods[j]: "no supply" if self.empty[j] else "wanted by no team with credits"
            for j in np.flatnonzero(~self.sold)
        }

    @cached_property
    def excluded(self) -> dict[str, str]:
        """Buyers and goods that take no part, and why; a name that is both tells both."""
        both = self.excluded_buyers | self.excluded_goods
        for name in self.excluded_buyers.keys() & self.excluded_goods.keys():
            as_team, as_resource = self.excluded_buyers[name], self.excluded_goods[name]
            both[name] = f"as a team: {as_team}; as a resource: {as_resource}"
        return both

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that bears on the answer, as text."""
        names = (type(self.utility).__name__, self.buyers, self.goods)
        numbers = (
            self.budgets, self.supplies, self.reserves, self.keep_values, self.utility_caps,
            self.credit_rate, *self.utility.parameters,
        )  # fmt: skip
        return digest(names, numbers, self.utility)
