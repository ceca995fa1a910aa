"""Clear a market of ML training chips: credits in, certified equilibrium prices out.

>>> import qmopt as qm
>>> market = qm.Market(budgets=[60, 40], supplies=[8, 16], utility=qm.Linear([[4, 1], [2, 1]]))
>>> found = qm.clear(market)
>>> found.prices.tolist()
[7.5, 2.5]
"""

from qmopt.bench import bench
from qmopt.certificate import Certificate
from qmopt.certificate_exact import ExactCertificate, certify_exact
from qmopt.clearing import clear
from qmopt.equilibrium import Equilibrium
from qmopt.errors import (
    LedgerError,
    MarketError,
    NotCertified,
    QmoptError,
    SolverFailed,
    SolverNotInstalled,
    TableError,
)
from qmopt.intervals import Unique, price_intervals, uniqueness
from qmopt.judging import certify
from qmopt.market import Market
from qmopt.methods import (
    ColumnGeneration,
    EffectiveBudgets,
    EisenbergGale,
    EisenbergGaleModel,
    InteriorPoint,
    LinearProgramming,
    Method,
    NashWelfare,
    Newton,
    Outcome,
    Pivoting,
    ProportionalResponse,
    Split,
    eisenberg_gale,
)
from qmopt.proving import ExactAnswer
from qmopt.reading import read_market
from qmopt.solvers import Clarabel, Cvxpy, Scs, Solver
from qmopt.utilities import CES, Bundles, CobbDouglas, Linear, Mixed, Utility, Workloads

__version__ = "0.1.0"

__all__ = [
    "CES",
    "Bundles",
    "Certificate",
    "Clarabel",
    "CobbDouglas",
    "ColumnGeneration",
    "Cvxpy",
    "EffectiveBudgets",
    "EisenbergGale",
    "EisenbergGaleModel",
    "Equilibrium",
    "ExactAnswer",
    "ExactCertificate",
    "InteriorPoint",
    "LedgerError",
    "Linear",
    "LinearProgramming",
    "Market",
    "MarketError",
    "Method",
    "Mixed",
    "NashWelfare",
    "Newton",
    "NotCertified",
    "Outcome",
    "Pivoting",
    "ProportionalResponse",
    "QmoptError",
    "Scs",
    "Solver",
    "SolverFailed",
    "SolverNotInstalled",
    "Split",
    "TableError",
    "Unique",
    "Utility",
    "Workloads",
    "bench",
    "certify",
    "certify_exact",
    "clear",
    "eisenberg_gale",
    "price_intervals",
    "read_market",
    "uniqueness",
]
