"""The only calls of third-party solvers: settings under our names, and what each came back with.

A solver's word is kept for messages and never decides anything: an answer counts when its
certificate does.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.arguments import settings
from qmopt.deadline import hold
from qmopt.errors import MarketError, QmoptError, SolverFailed, SolverNotInstalled

if TYPE_CHECKING:
    import cvxpy as cp

Array: TypeAlias = NDArray[np.float64]

#: What solvers behind CVXPY call their time limit, in seconds.
_TIME_LIMIT = {
    "CLARABEL": "time_limit",
    "COPT": "TimeLimit",
    "GUROBI": "TimeLimit",
    "HIGHS": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
}


@dataclass(frozen=True)
class Solver(ABC):
    """A conic solver behind CVXPY, with its settings.

    Parameters
    ----------
    time_limit
        Seconds for one solve; ``inf`` for none. Where it strikes, the solver's last point is
        returned as what it is, and the certificate decides. A solver that does not come back in
        time is ended, and there is no point.
    """

    time_limit: float = field(default=np.inf, kw_only=True)
    #: Name under which CVXPY knows the solver.
    cvxpy_name: ClassVar[str]

    __post_init__ = settings

    def within(self, seconds: float) -> Self:
        """Return the same solver with at most so many seconds."""
        return replace(self, time_limit=max(min(self.time_limit, seconds), 1e-3))

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Return the settings under the solver's own names."""

    def solve(self, problem: cp.Problem) -> str:
        """Solve in place: values and duals stay on the problem's own objects.

        Returns
        -------
        str
            What the solver says of itself ("optimal", "optimal_inaccurate", "user_limit", ...).

        Raises
        ------
        SolverNotInstalled
            If CVXPY cannot find the solver.
        SolverFailed
            If it came back without any point.
        QmoptError
            If the solver does not know an option.
        """
        import cvxpy as cp

        if self.cvxpy_name not in cp.installed_solvers():
            raise SolverNotInstalled(
                f"{self.cvxpy_name} is not installed, or not for CVXPY; found are "
                f"{', '.join(sorted(cp.installed_solvers()))}"
            )
        with warnings.catch_warnings():  # the status says it, and the certificate measures it
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                if np.isinf(self.time_limit):
                    problem.solve(solver=self.cvxpy_name, **self.options())
                else:
                    problem.unpack(hold(lambda: self._solution(problem), self.time_limit))
            except TimeoutError:
                raise SolverFailed(f"{self}: no point in time") from None
            except (cp.SolverError, ValueError, ArithmeticError, ChildProcessError) as error:
                raise SolverFailed(f"{self}: {error}") from error
            except TypeError as error:  # not a failure to solve, from which one could go on
                raise QmoptError(f"{self}: {error}") from error
            except BaseException as error:
                # a solver written in Rust panics past every Exception
                if type(error).__name__ != "PanicException":
                    raise
                raise SolverFailed(f"{self}: {error}") from error
        if any(variable.value is None for variable in problem.variables()):
            raise SolverFailed(f"{self} says {problem.status!r} and returned no point")
        return str(problem.status)

    def _solution(self, problem: cp.Problem) -> Any:
        """Solve, and return what CVXPY needs to put the values where they belong."""
        problem.solve(solver=self.cvxpy_name, **self.options())
        return problem.solution


#: Clarabel's own, and one that gets stuck elsewhere.
_STEP_FRACTIONS = (0.99, 0.8)


@dataclass(frozen=True)
class Clarabel(Solver):
    """Interior point for log objectives: the default.

    Parameters
    ----------
    tolerance
        Relative and absolute, for gap and feasibility. Duals are right to about its square root.
    step_fraction
        Share of the way to the boundary that a step may go. Clarabel's own 0.99 gets stuck now and
        then on markets whose budgets are orders of magnitude apart, 0.8 on some with many ties:
        where one fails, the other is tried, and the status says so.
    """

    tolerance: float = 1e-12
    step_fraction: float = 0.8
    cvxpy_name: ClassVar[str] = "CLARABEL"

    def options(self) -> dict[str, Any]:
        """Return the settings under Clarabel's names."""
        limit = {} if np.isinf(self.time_limit) else {"time_limit": self.time_limit}
        return {
            "tol_feas": self.tolerance,
            "tol_gap_abs": self.tolerance,
            "tol_gap_rel": self.tolerance,
            "max_step_fraction": self.step_fraction,
            **limit,
        }

    def solve(self, problem: cp.Problem) -> str:
        """Solve in place, with the other step fraction where the first gets stuck."""
        begun = time.monotonic()
        try:
            return super().solve(problem)
        except SolverFailed:
            left = self.time_limit - (time.monotonic() - begun)
            if self.step_fraction not in _STEP_FRACTIONS or left <= 0:
                raise
            (other,) = {*_STEP_FRACTIONS} - {self.step_fraction}
            status = Solver.solve(replace(self, step_fraction=other).within(left), problem)
            return f"{status}, with steps of {other} instead of {self.step_fraction}"


@dataclass(frozen=True)
class Scs(Solver):
    """First-order splitting; needs the ``scs`` extra. Rough points, for the crossover to finish."""

    tolerance: float = 1e-7
    max_iterations: int = 100_000
    cvxpy_name: ClassVar[str] = "SCS"

    def options(self) -> dict[str, Any]:
        """Return the settings under SCS's names."""
        limit = {} if np.isinf(self.time_limit) else {"time_limit_secs": self.time_limit}
        return {
            "eps_abs": self.tolerance,
            "eps_rel": self.tolerance,
            "max_iters": self.max_iterations,
            **limit,
        }


@dataclass(frozen=True, init=False)
class Cvxpy(Solver):
    """Any solver that CVXPY finds, by CVXPY's name, with options under the solver's own names.

    Examples
    --------
    >>> Cvxpy("CLARABEL", max_iter=50)
    Cvxpy(time_limit=inf, cvxpy_name='CLARABEL', settings={'max_iter': 50})
    """

    cvxpy_name: str  # pyright: ignore[reportIncompatibleVariableOverride]
    settings: dict[str, Any]

    def __init__(self, cvxpy_name: str, **settings: Any) -> None:
        object.__setattr__(self, "time_limit", np.inf)
        object.__setattr__(self, "cvxpy_name", cvxpy_name)
        object.__setattr__(self, "settings", settings)

    def options(self) -> dict[str, Any]:
        """Return the options as they were given."""
        return self.settings

    def within(self, seconds: float) -> Self:
        """Return the same solver with at most so many seconds, under its own name for that.

        Raises
        ------
        MarketError
            If a limit is asked for and this version does not know how the solver spells it.
        """
        if np.isinf(seconds):
            return self
        if self.cvxpy_name not in _TIME_LIMIT:
            raise MarketError(
                f"no time limit known for {self.cvxpy_name}: give it as an option under the "
                "solver's own name instead"
            )
        option = _TIME_LIMIT[self.cvxpy_name]
        limit = max(min(self.settings.get(option, np.inf), seconds), 1e-3)
        held = type(self)(self.cvxpy_name, **{**self.settings, option: limit})
        object.__setattr__(held, "time_limit", limit)
        return held


def linear_program(
    cost: Array, rows: sp.csr_array, lower: Array, upper: Array, *, time_limit: float = np.inf
) -> Array | None:
    """Minimise ``cost @ x`` over ``x >= 0`` and ``lower <= rows @ x <= upper``, with HiGHS (scipy).

    Parameters
    ----------
    cost
        Shape (k,).
    rows
        Shape (r, k), sparse.
    lower, upper
        Shape (r,); equal where the row is an equation, infinite where there is no bound.

    Returns
    -------
    x
        Shape (k,), the solver's last point whatever it said of it, or None if it has none, or if
        the program is none: costs or coefficients that have overflowed.
    """
    from scipy.optimize import linprog

    if not len(cost):
        return np.zeros(0)
    if not (np.isfinite(cost).all() and np.isfinite(rows.data).all()):
        return None
    # as `<=` rows; highspy would do too, but prints a banner on standard output when constructed
    above, below = np.isfinite(upper), np.isfinite(lower)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    if np.isfinite(time_limit):
        options["time_limit"] = time_limit
    found = cast(Any, linprog)(
        cost,
        A_ub=sp.vstack([rows[above], -rows[below]]),
        b_ub=np.concatenate([upper[above], -lower[below]]),
        method="highs",
        options=options,
    )
    return None if found.x is None else np.asarray(found.x, dtype=float)
