"""Clear a market: find an answer, measure it, and return it only if it holds."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from qmopt.arguments import named, number
from qmopt.certificate import Certificate, measure
from qmopt.equilibrium import Equilibrium
from qmopt.errors import MarketError, NotCertified
from qmopt.market import Market
from qmopt.methods.choose import choose
from qmopt.methods.outcome import Method, Outcome
from qmopt.notions import NOTIONS, accepted, first_that_holds, unserved
from qmopt.point import per_good, per_pair
from qmopt.proving import NOTE, prove
from qmopt.solvers import Solver
from qmopt.ties import running_allocation, settle_ties
from qmopt.utilities.linear import Linear
from qmopt.utilities.protocol import Allocation, Array
from qmopt.utilities.workloads import Workloads
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
    accept: str | Iterable[str] = (),
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
        few, :class:`qmopt.LinearProgramming` beyond; :class:`qmopt.InteriorPoint` for bundles and
        utility caps; :class:`qmopt.EffectiveBudgets` for workloads; :class:`qmopt.Newton` for CES
        and Cobb-Douglas; :class:`qmopt.EisenbergGale` for all others.
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
    accept
        What is returned, and labelled so, where teams have workloads and no equilibrium was found:
        ``"split"``, an equilibrium once credits are divided over workloads
        (:class:`qmopt.Split`), or ``"nash_welfare"``, the plain program with its measured regret
        (:class:`qmopt.NashWelfare`); of several, the first that is found. Each has the method's
        time limit for itself, and the notes say what was tried before.

    Returns
    -------
    Equilibrium
        Certified at the tolerance, or with the ``status`` that was accepted.

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
    cold, accept = (), accepted(accept)
    if method is None:
        method = choose(market, accept)
        if start is not None and not _takes_start(method):
            start, cold = None, (f"{named(method)} starts from nothing",)
    if isinstance(method, type | Solver) or not isinstance(method, Method):
        raise MarketError(
            "method: an object with solve(market) expected, such as Pivoting() or "
            f"EisenbergGale(solver=Clarabel()), got {named(method)}"
        )
    if exact and near is not None:
        raise MarketError("near: an exact answer does not choose among ties; leave one of them out")
    running = None if near is None else running_allocation(market, near)
    begun = time.perf_counter()
    outcome = method.solve(market) if start is None else _warm(method, market, start)
    _checked(outcome, method)
    solved = time.perf_counter()
    prices, allocation = _arrays(market, outcome, method)
    proved = None
    if exact:
        limit = float(getattr(method, "time_limit", None) or np.inf) - (solved - begun)
        proved = prove(market, outcome, limit)
        prices, allocation = proved.arrays(market)
    found, status = time.perf_counter(), "certified"
    certificate = _measured(market, prices, allocation, outcome, tolerance)
    cold = (*cold, *unserved(market))
    notes = [*cold, *outcome.notes, *certificate.notes]
    if proved is not None:
        notes.append(NOTE)
    elif certificate.certified() and isinstance(market.utility, Linear):
        allocation, certificate, more = settle_ties(
            market, prices, allocation, certificate, running
        )
        notes += more
    elif near is not None:
        notes.append("near is for linear utilities; the allocation is the method's own")
    if not certificate.certified():
        left = float(getattr(method, "time_limit", np.inf))
        lesser = first_that_holds(market, outcome, tolerance, accept, left)
        if lesser is None:
            why = _why(market, certificate, outcome, method, accept)
            why = why if proved is None else f"proved in rationals, but in doubles {why}"
            raise NotCertified(why, outcome, certificate, proved)
        if lesser.outcome is not outcome:
            tried = _why(market, certificate, outcome, method, accept)
            cold, method = (*cold, f"accepted instead: {tried}"), lesser.method
        outcome, certificate, status = lesser.outcome, lesser.certificate, lesser.outcome.notion
        prices, allocation = _arrays(market, outcome, method)
        notes = [*cold, *outcome.notes, *certificate.notes, NOTIONS[status]]
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
        market, method, outcome, prices, allocation, certificate, stats, tuple(notes), status,
        proved, outcome.activities,
    )  # fmt: skip


def _checked(outcome: Any, method: Method) -> None:
    """Check that a method returned an outcome."""
    if not isinstance(outcome, Outcome):
        raise MarketError(
            f"method {named(method)}: an Outcome(prices, allocation, status) expected, "
            f"got {type(outcome).__name__}"
        )


def _arrays(market: Market, outcome: Outcome, method: Method) -> tuple[Array, Allocation]:
    """Return prices and allocation of an outcome, of the market's shape."""
    try:
        return per_good(market, outcome.prices), per_pair(market, outcome.allocation)
    except MarketError as error:
        raise MarketError(f"method {named(method)} returned {error}") from error


def _measured(
    market: Market, prices: Array, allocation: Allocation, outcome: Outcome, tolerance: float
) -> Certificate:
    """Measure an allocation, or the activities that it comes from, where there are any."""
    if outcome.activities is None:
        return measure(market, prices, allocation, tolerance)
    return measure(market, prices, None, tolerance, outcome.activities)


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


def _why(
    market: Market,
    certificate: Certificate,
    outcome: Outcome,
    method: Method,
    accept: tuple[str, ...],
) -> str:
    """Say which residual failed, by how much, at whom, and what to try."""
    sizes = {name: abs(size) for name, size in certificate.residuals.items() if size is not None}
    # the gap sums up what the others say piece by piece, so it is named only when it is alone
    others = {name: size for name, size in sizes.items() if name != "gap"}
    told = others if max(others.values()) > certificate.tolerance else sizes
    name = max(told, key=lambda key: told[key])
    who = witness(market, outcome.prices, outcome.allocation, name, outcome.activities)
    whose = f" ({who})" if who else ""
    notes = f" ({'; '.join(outcome.notes)})" if outcome.notes else ""
    return (
        f"not an equilibrium at tolerance {certificate.tolerance:g}: {name} is {sizes[name]:.2g}"
        f"{whose}; found by {named(method)}, whose own word on it is {named(outcome.status)}{notes}"
        f"{_advice(market, outcome, sizes[name], accept)}"
    )


def _advice(market: Market, outcome: Outcome, size: float, accept: tuple[str, ...]) -> str:
    """Say what may help, and was not asked for yet."""
    if accept:
        return ""
    if outcome.notion != "equilibrium":
        told = "is" if outcome.notion == "split" else "claims"
        name = outcome.notion
        return f'; it {told} no more than {name.replace("_", " ")}, which accept="{name}" takes'
    if isinstance(market.utility, Workloads):
        return '; accept="split" takes an equilibrium for credits divided over workloads instead'
    advice = "; a larger tolerance, a longer time limit or another solver may do"
    return advice if size < 1 else ""


def _peak_mib() -> float | None:
    """Peak memory of this process so far, MiB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
