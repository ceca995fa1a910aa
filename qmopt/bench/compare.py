"""Many methods on many markets: rows, and the table of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from qmopt.arguments import named, number
from qmopt.bench.measure import run
from qmopt.bench.published import published as published_rows
from qmopt.bench.reference import RIGHT, Right, reference
from qmopt.bench.row import Row
from qmopt.bench.suites import SUITES, Case, suite
from qmopt.errors import MarketError
from qmopt.market import Market
from qmopt.methods.outcome import Method
from qmopt.utilities.protocol import Array

if TYPE_CHECKING:
    import pandas as pd

#: A market, a case of a suite, or the name of a suite, a shipped market, or a path.
Markets: TypeAlias = "Market | Case | str | Iterable[Market | Case | str]"
Methods: TypeAlias = "Method | Iterable[Method] | Mapping[str, Method]"


def bench(
    methods: Methods,
    markets: Markets,
    *,
    repeat: int = 3,
    time_limit: float = 60.0,
    tolerance: float = 1e-9,
    published: bool = False,
    progress: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Run methods on markets, each run in a process of its own, and return a table of them.

    Nothing that a method says of itself counts: what it returns is measured from the definition of
    an equilibrium, outside the time. A method that raises, crashes or runs out of time has a row
    that says so.

    Parameters
    ----------
    methods
        Objects with ``solve(market) -> Outcome``, or a mapping of labels to them.
    markets
        Markets, names of suites (``squares``, ``scaling:full``, ...), names of shipped markets, or
        paths; one of them, or several.
    repeat
        Runs of each method on each market, as far as they fit into the time limit together. The
        least time counts.
    time_limit
        Seconds for one run.
    tolerance
        Largest residual of the certificate that counts as certified.
    published
        Whether to add what others published of markets of the same kind and size, marked so.
    progress
        Called with a line before each run.

    Returns
    -------
    pandas.DataFrame
        One line per method and market. Columns: ``suite``, ``market``, ``buyers``, ``goods``,
        ``method``, ``status``, ``pairs``, ``settings``, ``claimed``; ``seconds``, ``median`` and
        ``first`` of so many ``runs``; ``iterations``, ``passes``; ``gap``, ``worst`` and the name
        of that ``residual``; ``price_error`` and the ``reference`` it is held against;
        ``peak_mib``; ``error`` in words; ``source``, ``versions``, ``machine``. What each means is
        in the docstring of ``qmopt.bench.Row``.

    Raises
    ------
    MarketError, TableError
        If there is no such suite or market, or a method is none.

    Examples
    --------
    >>> from qmopt import InteriorPoint, Pivoting
    >>> table = bench([Pivoting(), InteriorPoint()], "textbook/two-teams", repeat=1)
    >>> table[["market", "method", "status"]].values.tolist()
    [['textbook/two-teams', 'Pivoting', 'certified'],
     ['textbook/two-teams', 'InteriorPoint', 'certified']]
    """
    import pandas as pd

    found = rows(
        methods, markets, repeat=repeat, time_limit=time_limit, tolerance=tolerance,
        published=published, progress=progress,
    )  # fmt: skip
    fields = dataclasses.fields(Row)
    table = pd.DataFrame(
        [dataclasses.asdict(row) for row in found], columns=[field.name for field in fields]
    )
    # a column of which every number is missing is one of numbers all the same
    kinds = {"float | None": "float64", "int | None": "Int64"}
    return table.astype({f.name: kinds[str(f.type)] for f in fields if str(f.type) in kinds})


def rows(
    methods: Methods,
    markets: Markets,
    *,
    repeat: int = 3,
    time_limit: float = 60.0,
    tolerance: float = 1e-9,
    published: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Row]:
    """Yield the rows of :func:`bench` as they come; everything is checked before the first."""
    time_limit, tolerance = (
        number("time_limit", time_limit),
        number("tolerance", tolerance, below=1),
    )
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise MarketError(f"repeat: a whole number from 1 up expected, got {named(repeat)}")
    labelled, cases = _labelled(methods), _cases(markets)
    options = {"repeat": repeat, "time_limit": time_limit, "tolerance": tolerance}
    return _rows(labelled, cases, options, published, progress or (lambda _: None))


def _rows(
    methods: Mapping[str, Method],
    cases: list[Case],
    options: dict[str, Any],
    published: bool,
    progress: Callable[[str], None],
) -> Iterator[Row]:
    for k, case in enumerate(cases):
        where = f"{case.name} ({k + 1} of {len(cases)})"
        progress(f"{where}: the right prices")
        right = reference(case, options["time_limit"])
        waiting: list[tuple[Row, Array | None]] = []
        for label, method in methods.items():
            progress(f"{where}: {label}")
            row, found = run(method, case, label=label, **options)
            if right is None and found is not None and row.worst is not None and row.worst <= RIGHT:
                right = Right(*found, f"{label}, certified to {max(row.worst, 1e-16):.0e}")
            waiting.append((row, None if found is None else found[0]))
            if right is not None:
                yield from (_held(right, *each) for each in waiting)
                waiting = []
        yield from (row for row, _ in waiting)
        if published:
            yield from published_rows([case])


def _held(right: Right, row: Row, prices: Array | None) -> Row:
    """Return a row with the error of its prices."""
    if prices is None:
        return row
    return dataclasses.replace(row, price_error=right.error(prices), reference=right.source)


def _labelled(methods: Methods) -> dict[str, Method]:
    """Give every method a label: its class, or all its settings where classes repeat."""
    if isinstance(methods, Mapping):
        labelled = {str(label): method for label, method in methods.items()}
        listed = list(labelled.values())
    else:
        listed = [methods] if isinstance(methods, Method) else list(methods)
        classes = [type(method).__name__ for method in listed]
        labelled = {}
        for name, method in zip(classes, listed, strict=True):
            label = name if classes.count(name) == 1 else named(method)
            while label in labelled:
                label += "'"
            labelled[label] = method
    for method in listed:
        if isinstance(method, type) or not isinstance(method, Method):
            raise MarketError(
                f"methods: objects with solve(market) expected, got {named(method)}; "
                "a class is made into one by calling it"
            )
    if not labelled:
        raise MarketError("methods: at least one expected")
    return labelled


def _cases(markets: Markets) -> list[Case]:
    several = [markets] if isinstance(markets, Market | Case | str) else list(markets)
    cases: list[Case] = []
    for k, each in enumerate(several):
        if isinstance(each, Case):
            cases.append(each)
        elif isinstance(each, Market):
            cases.append(given(each, each.title or f"market {k}"))
        elif isinstance(each, str):
            cases += find(each)
        else:
            raise MarketError(f"markets: a Market, a name or a path expected, got {named(each)}")
    if not cases:
        raise MarketError("markets: at least one expected")
    return cases


def given(market: Market, name: str) -> Case:
    """Return a market that is there already as a case."""
    return Case(name, _Given(market), market.shape)


@dataclasses.dataclass(frozen=True)
class _Given:
    """A market that need not be built; a class, so that it can be sent to another process."""

    market: Market

    def __call__(self) -> Market:
        return self.market


def find(name: str) -> list[Case]:
    """Return the cases of a suite, or the one of a shipped market or a path.

    Raises
    ------
    MarketError, TableError
        If there is none, or it cannot be read.
    """
    if name.partition(":")[0] in SUITES:
        return suite(name)
    from qmopt.reading import read_market

    return [given(read_market(name), name)]
