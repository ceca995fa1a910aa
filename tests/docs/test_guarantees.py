"""docs/guarantees.md: each promise names tests, and each test that it names exists."""

import ast
import re

from tests.docs.pages import DOCS, ROOT

PAGE = DOCS / "guarantees.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def promises():
    """Return promise and evidence of every row."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("| ") and line != "| promise | held by |"
    ]
    assert len(rows) > 20
    return rows


def test_every_promise_has_a_test_that_exists():
    for promise, evidence in promises():
        named = NAMED.findall(evidence)
        assert named, promise
        for file, test in named:
            tree = ast.parse((ROOT / file).read_text("utf-8"))
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert test in defined, f"{file} has no {test}, which is to hold: {promise}"
            assert test.startswith("test_"), test


def test_evidence_is_nothing_but_names_of_tests():
    for promise, evidence in promises():
        assert NAMED.sub("", evidence).replace(",", "").strip() == "", promise
