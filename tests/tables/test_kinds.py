"""Every column of the contract, given what its kind does not allow, in every format."""

import json

import pytest

from qmopt import tables
from qmopt.tables.schema import CONTRACT, Kind
from tests.tables.trees import Number, Pairs, Word, as_toml

COLUMNS = [(spec.name, column) for spec in CONTRACT.values() for column in spec.columns]
WRONG = {
    "truth": (True, lambda kind: True),
    "text for a number": ("1", lambda kind: kind.numeric),
    "number for text": (7, lambda kind: kind in (Kind.ID, Kind.TEXT, Kind.DATE)),
    "list": ([1], lambda kind: True),
    "object": ({"a": 1}, lambda kind: True),
    "infinity": (float("inf"), lambda kind: kind.numeric or kind is Kind.RATIONAL),
    "digits of elsewhere": ("\u0661", lambda kind: kind.numeric or kind is Kind.RATIONAL),
}
CASES = [
    pytest.param(table, column.name, cell, id=f"{table}.{column.name}: {name}")
    for table, column in COLUMNS
    for name, (cell, applies) in WRONG.items()
    if applies(column.kind)
]


class Plainest:
    """Stands for a generator of random numbers: everything inline and quoted the plainest way."""

    random = staticmethod(lambda: 0.5)
    choice = staticmethod(lambda options: options[0])


def tree(content):
    """Return JSON's objects as a tree that TOML is written from."""
    if isinstance(content, dict):
        return Pairs((key, tree(part)) for key, part in content.items())
    if isinstance(content, list):
        return [tree(part) for part in content]
    if isinstance(content, bool):
        return Word(str(content).lower())
    return content if isinstance(content, str) else Number(content)


@pytest.mark.parametrize(("table", "column", "cell"), CASES)
def test_refused_in_every_format(table, column, cell, full, refused, save, complaints):
    full[table][0][column] = cell
    key = f"{table}.{column}: " if table == "market" else f"{table}[0].{column}: "
    plain = [line for line in refused(**full) if line.startswith(key)]
    assert plain
    as_json = complaints(tables.read, save("m.json", json.dumps(full)))
    assert any(key in line for line in as_json)
    as_toml_text = as_toml(tree(full), Plainest)
    assert any(key in line for line in complaints(tables.read, save("m.toml", as_toml_text)))
