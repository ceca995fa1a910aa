"""Times that others published, of programs that cannot run here: on their machines, not on ours.

They stand beside measured rows of the same kind of market (drawn from the same distribution at the
same size, not the same numbers), are marked ``published``, and count in no ratio and no profile.
PDHCG-fisher is not among them: its repository states no time.
"""

from __future__ import annotations

from collections.abc import Iterable

from qmopt.bench.row import Row
from qmopt.bench.suites import Case

_GOODS_ATM = "github.com/Chonghe-Jiang/Goods_ATM, stored results"
_RESALLOC = "github.com/cvxgrp/resalloc, notebooks (at most one unit per job: another program)"

#: By family and size of the market: method, seconds, price error where it could be checked against
#: our own answers on the stored matrices, source.
PUBLISHED: dict[tuple[str, tuple[int, int]], list[tuple[str, float, float | None, str]]] = {
    ("squares/uniform", (100, 100)): [("MOSEK by YALMIP", 1.97, 1.6e-5, _GOODS_ATM)],
    ("squares/uniform", (300, 300)): [("MOSEK by YALMIP", 35.2, 6e-5, _GOODS_ATM)],
    ("squares/uniform", (500, 500)): [("MOSEK by YALMIP", 230.8, 2e-4, _GOODS_ATM)],
    ("squares/integer", (50, 50)): [
        ("MOSEK by YALMIP", 1.25, None, _GOODS_ATM),
        ("adaptive ATM", 0.062, None, _GOODS_ATM),
    ],
    ("squares/integer", (100, 100)): [
        ("MOSEK by YALMIP", 3.41, None, _GOODS_ATM),
        ("adaptive ATM", 0.119, None, _GOODS_ATM),
    ],
    ("squares/integer", (200, 200)): [
        ("MOSEK by YALMIP", 15.5, None, _GOODS_ATM),
        ("adaptive ATM", 0.41, None, _GOODS_ATM),
    ],
    ("squares/integer", (300, 300)): [
        ("MOSEK by YALMIP", 14.8, 4e-7, _GOODS_ATM),
        ("MOSEK by YALMIP, second file", 43.4, None, _GOODS_ATM),
        ("adaptive ATM", 1.04, None, _GOODS_ATM),
    ],
    ("squares/integer", (400, 400)): [
        ("MOSEK by YALMIP", 98.5, None, _GOODS_ATM),
        ("adaptive ATM", 2.54, None, _GOODS_ATM),
    ],
    ("squares/integer", (500, 500)): [("MOSEK by YALMIP", 55.8, 9e-8, _GOODS_ATM)],
    ("squares/exponential", (300, 300)): [("MOSEK by YALMIP", 14.4, 7e-5, _GOODS_ATM)],
    ("squares/exponential", (500, 500)): [("MOSEK by YALMIP", 63.4, 6e-5, _GOODS_ATM)],
    ("scaling", (1000, 100)): [
        ("resalloc (4 goods, gap 1e-3)", 0.030, None, _RESALLOC),
        ("MOSEK (4 goods, gap 1e-3)", 0.131, None, _RESALLOC),
    ],
    ("scaling", (10_000, 100)): [
        ("resalloc (4 goods, gap 1e-3)", 0.0142, None, _RESALLOC),
        ("MOSEK (4 goods, gap 1e-3)", 0.798, None, _RESALLOC),
    ],
    ("scaling", (100_000, 100)): [
        ("resalloc (4 goods, gap 1e-3)", 0.355, None, _RESALLOC),
        ("MOSEK (4 goods, gap 1e-3)", 8.94, None, _RESALLOC),
    ],
    ("scaling", (1_000_000, 100)): [
        ("resalloc (4 goods, gap 1e-3)", 2.32, None, _RESALLOC),
        ("MOSEK (4 goods, gap 1e-3)", 99.8, None, _RESALLOC),
        ("resalloc (16 goods, stopped at gap 3.3e-2)", 54.0, None, _RESALLOC),
        ("MOSEK (16 goods, gap 1e-3)", 208.6, None, _RESALLOC),
    ],
}


def published(cases: Iterable[Case]) -> list[Row]:
    """Return what is published about markets of the kind and size of these.

    Examples
    --------
    >>> from qmopt.bench.suites import suite
    >>> [(row.market, row.method, row.seconds) for row in published(suite("squares"))][:2]
    [('integer 50x50', 'MOSEK by YALMIP', 1.25), ('integer 50x50', 'adaptive ATM', 0.062)]
    """
    return [
        Row(
            suite=case.suite, market=case.name, buyers=case.shape[0], goods=case.shape[1],
            method=method, status="published", seconds=seconds, price_error=error, source=source,
            machine="the authors'",
        )
        for case in cases
        for method, seconds, error, source in PUBLISHED.get((case.family, case.shape), [])
    ]  # fmt: skip
