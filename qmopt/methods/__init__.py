"""Methods: each an object with its settings and one verb, ``solve(market) -> Outcome``."""

from qmopt.methods.choose import choose
from qmopt.methods.column_generation import ColumnGeneration
from qmopt.methods.effective_budgets import EffectiveBudgets
from qmopt.methods.eisenberg_gale import EisenbergGale
from qmopt.methods.interior_point import InteriorPoint
from qmopt.methods.lp import LinearProgramming
from qmopt.methods.nash_welfare import NashWelfare
from qmopt.methods.newton import Newton
from qmopt.methods.outcome import Method, Outcome
from qmopt.methods.pivoting import Pivoting
from qmopt.methods.program import EisenbergGaleModel, eisenberg_gale
from qmopt.methods.proportional_response import ProportionalResponse
from qmopt.methods.split import Split

__all__ = [
    "ColumnGeneration",
    "EffectiveBudgets",
    "EisenbergGale",
    "EisenbergGaleModel",
    "InteriorPoint",
    "LinearProgramming",
    "Method",
    "NashWelfare",
    "Newton",
    "Outcome",
    "Pivoting",
    "ProportionalResponse",
    "Split",
    "choose",
    "eisenberg_gale",
]
