"""docs/tables.md says what the contract says, and its examples run."""

import doctest
from dataclasses import fields
from pathlib import Path

from qmopt.tables.limits import Limits
from qmopt.tables.schema import CONTRACT

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_lists_every_table_and_column():
    text = PAGE.read_text(encoding="utf-8")
    for name, spec in CONTRACT.items():
        section = text.split(f"### `{name}`\n")[1].split("\n## ")[0].split("\n### ")[0]
        told = [line for line in section.splitlines() if line.startswith("| `")]
        assert told == [
            f"| `{c.name}` | {c.kind.value + (f' of `{c.refers}`' if c.refers else '')} "
            f"| {c.unit} | {'refused' if c.required else c.default} |"
            for c in spec.columns
        ]
        assert ("Required" in section) == spec.required
        assert all(f"`{key}`" in section.split("| column")[0] for key in spec.key)


def test_the_page_lists_every_limit():
    text = PAGE.read_text(encoding="utf-8").split("## Limits")[1].split("\n## ")[0]
    told = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    assert [(name.strip(" `"), value.strip()) for name, value in told] == [
        (limit.name, f"{limit.default:,}") for limit in fields(Limits)
    ]


def test_the_examples_run():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    ran = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags, encoding="utf-8")
    assert ran.attempted > 20
    assert ran.failed == 0
