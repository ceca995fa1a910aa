"""What a notebook shows of an object: plain HTML tables, every name escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from qmopt.figures import column

#: Rows of one table before it only counts the rest.
ROWS = 20


def page(headline: str, tables: Mapping[str, Mapping[str, Any]], remarks: Sequence[str]) -> str:
    """Return a headline, captioned tables of columns, and remarks as HTML.

    Parameters
    ----------
    headline
        One line, shown bold.
    tables
        By caption, each a mapping of column names to equally long sequences; arrays are numbers.
    remarks
        Lines below the tables.

    Examples
    --------
    >>> page("Two <teams>", {}, [])
    '<div><p><strong>Two &lt;teams&gt;</strong></p></div>'
    """
    parts = [f"<p><strong>{escape(headline)}</strong></p>"]
    parts += [_table(caption, columns) for caption, columns in tables.items()]
    parts += [f"<p>{escape(remark)}</p>" for remark in remarks]
    return f"<div>{''.join(parts)}</div>"


def _table(caption: str, columns: Mapping[str, Any]) -> str:
    count = len(next(iter(columns.values())))
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    cells = [_cells(values[:ROWS]) for values in columns.values()]
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    more = f" (first {ROWS} of {count} rows)" if count > ROWS else ""
    return (
        f"<table><caption>{escape(caption + more)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _cells(values: Any) -> list[str]:
    if isinstance(values, np.ndarray):
        return [f'<td style="text-align:right">{text}</td>' for text in column(values.tolist())]
    return [f'<td style="text-align:left">{escape(str(value))}</td>' for value in values]
