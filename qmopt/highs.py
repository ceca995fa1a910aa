"""HiGHS, warm and silent: the only place that imports highspy."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.errors import SolverFailed, SolverNotInstalled
from qmopt.utilities.protocol import Array

#: Iterations times rows and columns after which a solve comes up for air, so that an interrupt is
#: heard (about a second); it goes on from the basis where it was. And the least iterations.
SLICE, FEWEST = 50_000_000, 100
_MUTE = threading.Lock()


@dataclass(frozen=True)
class Solution:
    """What a solve came back with.

    Parameters
    ----------
    columns
        Shape (k,): the point.
    rows
        Shape (r,): what the rows add up to there.
    duals
        Shape (r,): change of the least cost per unit by which a row's sides move up.
    status
        HiGHS's own word ("Optimal", "Time limit reached", ...); never to be believed.
    """

    columns: Array
    rows: Array
    duals: Array
    status: str

    @property
    def optimal(self) -> bool:
        """Whether HiGHS says so."""
        return self.status == "Optimal"


class WarmLinearProgram:
    """A linear program that minimises, kept in HiGHS between changes.

    Every :meth:`solve` starts from the basis that the last one left.

    Parameters
    ----------
    cost
        Shape (k,).
    columns
        Shape (r, k), sparse: the matrix.
    lower, upper
        Shape (k,): bounds of the columns, may be infinite.
    row_lower, row_upper
        Shape (r,): bounds of the rows; equal where a row is an equation.
    tolerance
        Largest infeasibility, primal and dual, absolute; HiGHS takes 1e-10 at least.

    Raises
    ------
    SolverNotInstalled
        If there is no highspy.
    SolverFailed
        If a number of the program is none, or HiGHS does not take it.

    Examples
    --------
    Two chips at most, worth 3 and 1: the row's dual is the price with its sign turned, since the
    program minimises. Then a second customer comes, and a second row.

    >>> import numpy as np, scipy.sparse as sp
    >>> program = WarmLinearProgram(
    ...     cost=np.array([-3.0, -1.0]),
    ...     columns=sp.csc_array([[1.0, 1.0]]),
    ...     lower=np.zeros(2), upper=np.full(2, 5.0),
    ...     row_lower=np.array([-np.inf]), row_upper=np.array([2.0]),
    ... )
    >>> found = program.solve()
    >>> found.columns.tolist(), found.duals.tolist(), found.status
    ([2.0, 0.0], [-3.0], 'Optimal')
    >>> program.add_columns(
    ...     np.array([-4.0]), sp.csc_array([[1.0]]), np.zeros(1), np.array([1.5])
    ... )
    >>> program.add_rows(sp.csr_array([[1.0, 0.0, 0.0]]), np.array([-np.inf]), np.array([0.25]))
    >>> program.solve().columns.tolist()
    [0.25, 0.25, 1.5]
    """

    def __init__(
        self,
        cost: Array,
        columns: sp.csc_array,
        lower: Array,
        upper: Array,
        row_lower: Array,
        row_upper: Array,
        *,
        tolerance: float = 1e-9,
    ) -> None:
        core = _highspy()
        _numbers("the program", cost, columns, lower, upper, row_lower, row_upper)
        with _muted():
            self._highs: Any = core.Highs()
        # no word on threads: one that differs from what another program in the process said fails
        for name, value in {
            "output_flag": False,
            "presolve": "off",  # a warm start has no use for it, and it would forget the basis
            "primal_feasibility_tolerance": max(tolerance, 1e-10),
            "dual_feasibility_tolerance": max(tolerance, 1e-10),
            "small_matrix_value": 1e-12,
        }.items():
            self._highs.setOptionValue(name, value)
        matrix = sp.csc_array(columns)
        program = core.HighsLp()
        program.num_row_, program.num_col_ = matrix.shape
        program.col_cost_, program.col_lower_, program.col_upper_ = cost, lower, upper
        program.row_lower_, program.row_upper_ = row_lower, row_upper
        program.a_matrix_.format_ = core.MatrixFormat.kColwise
        program.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        program.a_matrix_.index_ = matrix.indices.astype(np.int32)
        program.a_matrix_.value_ = matrix.data
        self._took(self._highs.passModel(program), "the program")

    def add_columns(self, cost: Array, columns: sp.csc_array, lower: Array, upper: Array) -> None:
        """Add columns to the right; arguments as in the constructor."""
        _numbers("new columns", cost, columns, lower, upper)
        matrix = sp.csc_array(columns)
        self._took(
            self._highs.addCols(
                len(cost), cost, lower, upper, matrix.nnz,
                matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data,
            ),
            "new columns",
        )  # fmt: skip

    def add_rows(self, rows: sp.csr_array, row_lower: Array, row_upper: Array) -> None:
        """Add rows below; arguments as in the constructor."""
        _numbers("new rows", np.zeros(0), rows, row_lower, row_upper)
        matrix = sp.csr_array(rows)
        self._took(
            self._highs.addRows(
                len(row_lower), row_lower, row_upper, matrix.nnz,
                matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data,
            ),
            "new rows",
        )  # fmt: skip

    def change_costs(self, columns: NDArray[np.int64], cost: Array) -> None:
        """Give some columns other costs."""
        _numbers("new costs", cost, sp.csc_array((0, 0)))
        which = columns.astype(np.int32)
        self._took(self._highs.changeColsCost(len(which), which, cost), "new costs")

    def change_bounds(self, columns: NDArray[np.int64], lower: Array, upper: Array) -> None:
        """Give some columns other bounds."""
        _numbers("new bounds", np.zeros(0), sp.csc_array((0, 0)), lower, upper)
        which = columns.astype(np.int32)
        self._took(self._highs.changeColsBounds(len(which), which, lower, upper), "new bounds")

    def solve(self, time_limit: float = np.inf) -> Solution:
        """Solve from the basis of the last time.

        Parameters
        ----------
        time_limit
            Seconds; where it strikes, the status says so and the numbers are what there is.

        Raises
        ------
        SolverFailed
            If HiGHS came back without numbers, or with some that are none.
        """
        end = time.monotonic() + time_limit
        size = self._highs.getNumCol() + self._highs.getNumRow()
        # by work rather than by the clock, which would make the answer depend on it
        most = max(SLICE // size, FEWEST)
        while True:
            self._highs.setOptionValue("simplex_iteration_limit", most)
            left = max(end - time.monotonic(), 1e-3)
            # HiGHS adds up the time of all solves
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
            failed = self._highs.run().name == "kError"
            status = str(self._highs.modelStatusToString(self._highs.getModelStatus()))
            if failed or status != "Iteration limit reached":
                break
            most += 1 + most // 4  # so that what a slice repeats cannot go on for ever
        found = self._highs.getSolution()
        solution = Solution(
            np.array(found.col_value), np.array(found.row_value), np.array(found.row_dual), status
        )
        if failed or not (
            len(solution.columns) == self._highs.getNumCol()
            and np.isfinite(solution.columns).all()
            and np.isfinite(solution.duals).all()
        ):
            raise SolverFailed(f"HiGHS says {status!r} and returned no point")
        return solution

    @staticmethod
    def _took(status: Any, what: str) -> None:
        if status.name == "kError":
            raise SolverFailed(f"HiGHS does not take {what}")


def _numbers(what: str, cost: Array, matrix: Any, *bounds: Array) -> None:
    """Refuse what HiGHS would take without a word: costs that are nan, and the like."""
    finite = np.isfinite(cost).all() and np.isfinite(matrix.data).all()
    if not finite or any(np.isnan(bound).any() for bound in bounds):
        raise SolverFailed(f"HiGHS cannot take {what}: not all of it are numbers")


def _highspy() -> Any:
    try:
        import highspy
    except ImportError as error:
        raise SolverNotInstalled("highspy is not installed: pip install highspy") from error
    return highspy


@contextmanager
def _muted() -> Iterator[None]:
    """Keep what C prints away from standard output.

    HiGHS's constructor prints a banner before it can be told to be quiet, and to descriptor 1.
    """
    with _MUTE:
        try:
            kept = os.dup(1)
        except OSError:  # closed: nothing to keep quiet
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)
            os.close(nowhere)
