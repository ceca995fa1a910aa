"""What a TOML or JSON text would take to parse, found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qmopt.tables.limits import Limits

# Possessive throughout, and a string may end with the file: no text makes a match start over.
_STRING = r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)'
#: A whole object without another inside is one match, so that a row costs one step.
_JSON = re.compile(rf'\{{(?:[^"\[\]{{}}]++|{_STRING})*+\}}|{_STRING}|[\[\]{{}}]', re.DOTALL)
_TOML = re.compile(
    r'"""(?:[^"\\]++|\\.?|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\[^\n]?)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
    # A decimal point is no dot of a key; in a key of digits every second dot is counted.
    r"|(?P<number>[0-9][0-9_]*+(?:\.[0-9][0-9_]*+)?)"
    r"|(?P<header>^[ \t]*+\[\[?)"
    r"|[\[\]{}.=,\n]",
    re.DOTALL | re.MULTILINE,
)


def check_json(text: str, limits: Limits, where: str) -> None:
    """Refuse a JSON text that is too deep or has too many cells.

    Raises
    ------
    TableError
        Naming the limit.
    """
    _check_count(text.count(",") + text.count("[") + text.count("{"), limits, where)
    depth = 0
    for match in _JSON.finditer(text):
        token = match[0]
        if token in "]}":
            depth -= 1
        elif token[0] in "[{":
            if depth >= limits.depth:
                _refuse_depth(depth + 1, limits, where, text, match.start())
            depth += len(token) == 1


def check_toml(text: str, limits: Limits, where: str) -> None:
    """Refuse a TOML text that is too deep, has too many cells or too long a number.

    Raises
    ------
    TableError
        Naming the limit.
    """
    _check_count(text.count(",") + text.count("[") + text.count("="), limits, where)
    for match, depth in _toml_depths(text):
        if depth > limits.depth:
            _refuse_depth(depth, limits, where, text, match.start())
        if match["number"] and len(match[0]) > limits.number_length:
            at = f"{where} line {text.count(chr(10), 0, match.start()) + 1}"
            limits.check("number_length", len(match[0]), at, "a number has {} digits")


def _toml_depths(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield tokens, and how many tables and lists stand around them; a dotted key opens some."""
    opened: list[int] = []  # what each bracket adds, the dots of its key included
    total = header = dots = 0
    heading = False
    for match in _TOML.finditer(text):
        token = match[0]
        if not opened and match["header"]:
            heading, header, dots = True, len(token.strip()), 0
        elif heading:
            # Up to the end of the line, dots of the heading's name.
            if token == ".":
                header += 1
            heading = token != "\n"
        elif token.lstrip() in ("[", "{", "[["):
            opened += [1] * (len(token.lstrip()) - 1) + [1 + dots]
            total, dots = total + len(token.lstrip()) + dots, 0
        elif token in ("]", "}"):
            total, dots = total - (opened.pop() if opened else 0), 0
        elif token == ".":
            dots += 1
        elif token in (",", "=", "\n"):
            # A key's dots still count for the bracket right behind its equals sign.
            dots = dots if token == "=" else 0
        yield match, total + header + dots


def _check_count(cells: int, limits: Limits, where: str) -> None:
    limits.check("cells", cells, where, "has {} cells, by its commas and brackets")


def _refuse_depth(depth: int, limits: Limits, where: str, text: str, start: int) -> None:
    line = text.count("\n", 0, start) + 1
    limits.check("depth", depth, f"{where} line {line}", "is nested {} deep or more")
