"""Markets as tables: one contract, read from TOML, JSON, CSV, Parquet and DataFrames.

Nothing here knows what a market means; it only knows which tables and columns there are, what
their cells may hold, and which names must agree.
"""

from qmopt.tables.frames import from_frames
from qmopt.tables.limits import Limits
from qmopt.tables.numerals import rational
from qmopt.tables.reading import read, read_table
from qmopt.tables.schema import CONTRACT
from qmopt.tables.table import Table, Tables
from qmopt.tables.writing import write

__all__ = [
    "CONTRACT",
    "Limits",
    "Table",
    "Tables",
    "from_frames",
    "rational",
    "read",
    "read_table",
    "write",
]
