"""Clear a market: find an answer, measure it, and return it only if it holds."""

from __future__ import annotations

import inspect
import sys
import time
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from qmopt.arguments import named, number
from qmopt.certificate import Certificate, measure
from qmopt.equilibrium import Equilibrium
from qmopt.errors import MarketError, NotCertified
from qmopt.given import units_of
from qmopt.intervals import LAST_BITS
from qmopt.market import Market
from qmopt.methods.choose import choose
from qmopt.methods.outcome import Method, Outcome
from qmopt.nearest import nearest_flow
from qmopt.point import Point, per_good, per_pair
from qmopt.proving import NOTE, prove
from qmopt.solvers import Solver
from qmopt.support import LOST, balance, missed, pro_rata
from qmopt.tight import tight_graph
from qmopt.utilities.linear import Linear
from qmopt.utilities.pairs import pairs
from qmopt.utilities.protocol import Allocation, Array
from qmopt.witness import witness

if TYPE_CHECKING:
    from qmopt.given import Rows


def clear(
    market: Market,
    method: Method | None = None,
    *,
    tolerance: float = 1e-8,
    near: ArrayLike | Allocation | Rows | Equilibrium | None = None,
    exact: bool = False,
    start: Equilibrium | Outcome | None = None,
) -> Equilibrium:
    """Find an equilibrium of a market, and return it only if it certifies.

    Parameters
    ----------
    market
        Who has how many credits, what there is, what it is worth to whom.
    method
        Any object with ``solve(market) -> Outcome``. Default: for linear utilities
        :class:`qmopt.Pivoting` while the market is small, :class:`qmopt.ColumnGeneration` where
        there are many buyers for each good, :class:`qmopt.InteriorPoint` while buyers or goods are
        few, :class:`qmopt.LinearProgramming` beyond; :class:`qmopt.Newton` for CES and
        Cobb-Douglas; :class:`qmopt.EisenbergGale` for all others.
    tolerance
        Largest residual of the certificate that is accepted.
    near
        An allocation that runs, as :func:`qmopt.certify` takes it: units bought of shape (n, m), or
        a table of all that teams hold, such as ``found.tables()["allocation"]``; or the answer that
        it came with. Where several allocations go with the same prices, the one that moves the
        fewest chips away from it is returned; without it, ties are shared pro rata.
    exact
        Go on from the method's point to the equilibrium in rationals, prove it, and return it as
        ``found.exact``; the arrays are its nearest doubles. The market's numbers count as its
        tables write them if they were read with ``exact=True``, otherwise as the doubles that they
        are. For linear utilities without caps. Ties stay as they fall, in an allocation of few
        trades, so that ``near`` does not go with it.
    start
        An earlier answer of a market with the same buyers and goods, to start from. It changes how
        long the method takes, not what it finds. Of the methods :class:`qmopt.Pivoting`,
        :class:`qmopt.InteriorPoint` and :class:`qmopt.ColumnGeneration` take one; a default that
        does not says so in the notes.

    Returns
    -------
    Equilibrium
        Certified at the tolerance.

    Raises
    ------
    NotCertified
        If the answer that was found does not hold; it carries outcome and certificate, and as
        ``exact`` the answer in rationals if that was proved and only its doubles do not hold.
    MarketError
        If the market asks for what the method does not cover.
    SolverNotInstalled, SolverFailed
        If there is no solver, or no point.

    Examples
    --------
    Four chips of one kind and two teams, one with three times the credits of the other:

    >>> from qmopt import Linear, Market
    >>> found = clear(Market(budgets=[30, 10], supplies=[4], utility=Linear([[1], [5]])))
    >>> found.prices.tolist(), found.allocation.tolist()
    ([10.0], [[3.0], [1.0]])
    """
    if not isinstance(market, Market):
        raise MarketError(
            f"a Market expected, got {type(market).__name__}; read_market reads one from a path"
        )
    tolerance = number("tolerance", tolerance, below=1)
    cold = ()
    if method is None:
        method = choose(market)
        if start is not None and not _takes_start(method):
            start, cold = None, (f"{named(method)} starts from nothing",)
    if isinstance(method, type | Solver) or not isinstance(method, Method):
        raise MarketError(
            "method: an object with solve(market) expected, such as Pivoting() or "
            f"EisenbergGale(solver=Clarabel()), got {named(method)}"
        )
    if exact and near is not None:
        raise MarketError("near: an exact answer does not choose among ties; leave one of them out")
    running = None if near is None else _running(market, near)
    begun = time.perf_counter()
    outcome = method.solve(market) if start is None else _warm(method, market, start)
    if not isinstance(outcome, Outcome):
        raise MarketError(
            f"method {named(method)}: an Outcome(prices, allocation, status) expected, "
            f"got {type(outcome).__name__}"
        )
    solved = time.perf_counter()
    try:
        prices = per_good(market, outcome.prices)
        allocation = per_pair(market, outcome.allocation)
    except MarketError as error:
        raise MarketError(f"method {named(method)} returned {error}") from error
    proved = None
    if exact:
        limit = float(getattr(method, "time_limit", None) or np.inf) - (solved - begun)
        proved = prove(market, outcome, limit)
        prices, allocation = proved.arrays(market)
    found = time.perf_counter()
    certificate = measure(market, prices, allocation, tolerance)
    notes = [*cold, *outcome.notes, *certificate.notes]
    if proved is not None:
        notes.append(NOTE)
    elif certificate.certified() and isinstance(market.utility, Linear):
        allocation, certificate, more = _settle_ties(
            market, prices, allocation, certificate, running
        )
        notes += more
    elif near is not None:
        notes.append("near is for linear utilities; the allocation is the method's own")
    if not certificate.certified():
        why = _why(market, certificate, outcome, method)
        why = why if proved is None else f"proved in rationals, but in doubles {why}"
        raise NotCertified(why, outcome, certificate, proved)
    stats = dict(outcome.stats)
    stats["seconds"] = {
        **cast(dict[str, float], stats.get("seconds", {"solve": solved - begun})),
        **({} if proved is None else {"prove": found - solved}),
        "certify": time.perf_counter() - found,
    }
    stats["peak_mib"] = _peak_mib()
    for array in (prices, getattr(allocation, "data", allocation)):
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return Equilibrium(
        market, method, outcome, prices, allocation, certificate, stats, tuple(notes), exact=proved
    )


def _warm(method: Method, market: Market, start: Equilibrium | Outcome) -> Outcome:
    """Solve from an earlier answer, if it fits the market and the method takes one."""
    if not isinstance(start, Equilibrium | Outcome):
        raise MarketError(f"start: an earlier answer expected, got {named(start)}")
    if not _takes_start(method):
        raise MarketError(f"start: {named(method)} does not take one")
    if isinstance(start, Equilibrium) and start.market.goods != market.goods:
        raise MarketError("start: the answer is of a market with other goods")
    try:
        prices, allocation = per_good(market, start.prices), per_pair(market, start.allocation)
    except MarketError as error:
        raise MarketError(f"start: {error}") from error
    return cast(Any, method).solve(market, start=Outcome(prices, allocation, "earlier"))


def _takes_start(method: Method) -> bool:
    return "start" in inspect.signature(method.solve).parameters


def _running(market: Market, near: Any) -> Allocation:
    """Return a running allocation in the order of the market, finite and nothing negative."""
    if isinstance(near, Equilibrium):
        same = near.market.named_like(market)
        near = near.allocation if same else near.columns()["allocation"]
    running = units_of(market, near, "near", running=True)
    teams, goods, units = pairs(running)
    bad = np.flatnonzero(~((units > 0) & (units < np.inf)))
    if bad.size:
        team, good = market.buyers[teams[bad[0]]], market.goods[goods[bad[0]]]
        raise MarketError(
            f"near: {units[bad[0]]} units of {good} for {team} are not a finite, nonnegative number"
        )
    return running


# at the ends of floating point numbers overflow; what comes of it is measured
@np.errstate(all="ignore")
def _settle_ties(
    market: Market,
    prices: Array,
    allocation: Allocation,
    certificate: Certificate,
    near: Allocation | None,
) -> tuple[Allocation, Certificate, list[str]]:
    """Choose among the allocations that go with the same prices: nearest, or pro rata."""
    point = Point(market, prices, allocation)
    near_enough = max(LAST_BITS, 10 * certificate.worst)
    graph = tight_graph(market, np.nan_to_num(prices), near_enough, idle_at_reserve=True)
    flow = graph.flow(point.allocation, point.left_over, point.enjoyed.kept)
    loose = graph.loose(flow)
    if not loose.any():
        return allocation, certificate, []
    if missed(graph, flow) > LOST:  # a rough method's: what is forced is made good first
        flow = balance(graph, flow)
        loose = graph.loose(flow)
    if near is None:
        chosen = pro_rata(graph, flow)
    else:
        chosen = flow.copy()
        chosen[loose] = nearest_flow(graph.part(loose, flow), flow[loose], near)
    settled: Any = graph.allocation(chosen)
    measured = measure(market, prices, settled, certificate.tolerance)
    if not measured.certified():
        return allocation, certificate, ["ties stand as the method left them"]
    rule = "shared pro rata" if near is None else "as near to the running allocation as can be"
    settled = settled if sp.issparse(allocation) else settled.toarray()
    return settled, measured, [f"several allocations go with these prices; ties are {rule}"]


def _why(market: Market, certificate: Certificate, outcome: Outcome, method: Method) -> str:
    """Say which residual failed, by how much, at whom, and what to try."""
    sizes = {name: abs(size) for name, size in certificate.residuals.items() if size is not None}
    # the gap sums up what the others say piece by piece, so it is named only when it is alone
    others = {name: size for name, size in sizes.items() if name != "gap"}
    told = others if max(others.values()) > certificate.tolerance else sizes
    name = max(told, key=lambda key: told[key])
    who = witness(market, outcome.prices, outcome.allocation, name)
    whose = f" ({who})" if who else ""
    notes = f" ({'; '.join(outcome.notes)})" if outcome.notes else ""
    advice = "; a larger tolerance, a longer time limit or another solver may do"
    return (
        f"not an equilibrium at tolerance {certificate.tolerance:g}: {name} is {sizes[name]:.2g}"
        f"{whose}; found by {named(method)}, whose own word on it is {named(outcome.status)}{notes}"
        f"{advice if sizes[name] < 1 else ''}"
    )


def _peak_mib() -> float | None:
    """Peak memory of this process so far, MiB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
