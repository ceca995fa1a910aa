"""Markets as trees that may be wrong in any way, grown from sound ones and written in any format.

A tree is a list of (key, tree) pairs in a ``Pairs``, a list of trees, or a leaf: ``Number`` as its
text, ``str``, or ``Word`` for whatever else a language spells out.
"""

import json
import re
from functools import cache
from random import Random

from hypothesis import HealthCheck, given, seed, settings

from qmopt import catalogue, tables
from qmopt.tables.numerals import number_text
from qmopt.tables.schema import CONTRACT
from tests.tables.test_round_trips import markets


class Pairs(list):
    """What a language calls table or object; a key may be there twice."""


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class Word(str):
    """A word of the language: true, null, a date."""

    __slots__ = ()


NUMBERS = [
    "0",
    "-0",
    "-1",
    "1.5",
    "1e308",
    "1e309",
    "-1e309",
    "1e-400",
    "5e-324",
    "1e999999999",
    "0e999999999",
    "00",
    "007",
]
NUMBERS += [
    "1.",
    ".5",
    "+1",
    "1e",
    "+",
    "NaN",
    "nan",
    "Infinity",
    "inf",
    "-inf",
    "1_000",
    "1__0",
    "0x10",
    "0b11",
    "0o17",
    "1,5",
    "1.299,99",
]
NUMBERS += ["109/18", "1/0", "-1/2", "\u0661\u0662", "\uff11\uff12", "1" + "0" * 4400]
NUMBERS += ["9" * 310, "9" * 1201, "0." + "3" * 900]
WORDS = [
    "true",
    "false",
    "null",
    "1979-05-27",
    "07:32:00",
    "1979-05-27T07:32:00-08:00",
    "2026-13-40",
]
TEXTS = [
    "",
    " ",
    "a ",
    " a",
    "A",
    "\u0430",
    "visi\u043en",
    "NA",
    "null",
    "true",
    "12",
    "\u200b",
    "\x00",
]
TEXTS += [
    "\x1b[2J",
    "\u202eevil",
    "\ud800",
    "Zoe\u0308",
    "Zo\u00eb",
    "\uff41",
    "\U0001f469\u200d\U0001f680",
]
TEXTS += [
    "a\nb",
    'say "x"',
    "'''",
    '"""',
    "\\",
    "#",
    "[[teams]]",
    "[red]",
    "=1+1",
    "../../x",
    "a,b",
    ";",
]
TEXTS += [
    "x" * 254,
    "y" * 3000,
    "109/18",
    "1e5",
    "\ue000",
    "\u3164",
    "\ufeff",
    "\r",
    "2026-03-01",
    "\x85",
]
KEYS = [column.name for spec in CONTRACT.values() for column in spec.columns]
KEYS += [*CONTRACT, "_note", "valeu", "team ", "", "schema", "v\u0430lue", "a.b", "[x]", "\n"]


@cache
def sound(how_many=60):
    """Return trees of shipped markets and of drawn ones, the same each time; to be copied."""
    found = []
    for name in catalogue.names():
        market = tables.read(catalogue.path(name))
        if sum(len(table) for table in market.tables.values()) < 200 and market.values is None:
            found.append(_tree(market))

    @seed(0)
    @settings(
        max_examples=how_many, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(rows=markets())
    def collect(rows):
        found.append(_tree(tables.from_frames(**rows)))

    collect()
    return found


def _tree(market):
    return Pairs(
        (name, [Pairs((key, _leaf(cell)) for key, cell in row.items()) for row in table.rows()])
        for name, table in market.tables.items()
    )


def _leaf(cell):
    return cell if isinstance(cell, str) else Number(number_text(cell))


def copied(tree):
    if isinstance(tree, Pairs):
        return Pairs((key, copied(part)) for key, part in tree)
    return [copied(part) for part in tree] if isinstance(tree, list) else tree


def places(tree):
    """Return every (container, index) below a tree."""
    found, waiting = [], [tree]
    while waiting:
        content = waiting.pop()
        for index, part in enumerate(content):
            found.append((content, index))
            part = part[1] if isinstance(content, Pairs) else part
            if isinstance(part, list):
                waiting.append(part)
    return found


def leaf(rng: Random, tree):
    """Return something for a cell: odd, or from elsewhere in the market."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(TEXTS)
    if kind == 1:
        return Word(rng.choice(WORDS))
    if kind == 2:
        return [Pairs(), [], [[Number("1")]], Pairs([("a", "b")])][rng.randrange(4)]
    known = places(tree)
    if kind == 3 and known:
        content, index = rng.choice(known)
        part = content[index][1] if isinstance(content, Pairs) else content[index]
        return copied(part) if not isinstance(part, list) or len(part) < 9 else "a"
    return Number(rng.choice(NUMBERS))


def mutate(rng: Random, tree):
    """Change one thing of a tree in place, mostly a cell."""
    known = places(tree)
    if not known:
        tree.append((rng.choice(KEYS), leaf(rng, tree)))
        return
    content, index = rng.choice(known)
    deed = rng.randrange(12)
    named = isinstance(content, Pairs)
    key, part = content[index] if named else ("", content[index])
    if deed < 4:
        new = leaf(rng, tree)
        content[index] = (key, new) if named else new
    elif deed == 4:
        del content[index]
    elif deed == 5:
        content.insert(rng.randrange(len(content) + 1), copied([content[index]])[0])
    elif deed == 6:
        other = rng.randrange(len(content))
        content[index], content[other] = content[other], content[index]
    elif deed == 7 and named:
        content[index] = (rng.choice(KEYS), part)
    elif deed == 8:
        for _ in range(rng.choice([1, 1, 2, 40])):
            part = [part] if rng.random() < 0.5 else Pairs([(rng.choice(KEYS), part)])
        content[index] = (key, part) if named else part
    elif deed == 9 and isinstance(part, Pairs):
        part.insert(rng.randrange(len(part) + 1), (rng.choice(KEYS), leaf(rng, tree)))
    elif deed == 10 and isinstance(part, list):
        del part[rng.randrange(len(part) + 1) :]
    elif named:
        other, where = rng.choice(known)
        if isinstance(other, Pairs) and other is not content:
            other[where] = (other[where][0], copied([part])[0])


def as_json(tree, rng: Random):
    if isinstance(tree, Pairs):
        inside = (
            f"{json.dumps(key, ensure_ascii=rng.random() < 0.5)}: {as_json(part, rng)}"
            for key, part in tree
        )
        return "{" + rng.choice([", ", ",\n"]).join(inside) + "}"
    if isinstance(tree, list):
        return "[" + rng.choice([", ", ",\n "]).join(as_json(part, rng) for part in tree) + "]"
    if isinstance(tree, Number | Word):
        return str(tree)
    return json.dumps(tree, ensure_ascii=rng.random() < 0.5 or not _sayable(tree))


def _sayable(text):
    return not any(0xD800 <= ord(c) < 0xE000 for c in text)


def as_toml(tree, rng: Random):
    """Write tables inline or under headings, one way for a file or mixed."""
    headed = rng.random()
    lines = []
    for key, part in tree:
        rows = isinstance(part, list) and not isinstance(part, Pairs)
        if rows and rng.random() < headed and all(isinstance(row, Pairs) for row in part):
            for row in part:
                lines.append(f"[[{_key(key, rng)}]]")
                lines += [f"{_key(name, rng)} = {_toml(cell, rng)}" for name, cell in row]
        else:
            lines.insert(0, f"{_key(key, rng)} = {_toml(part, rng)}")
    return "\n".join(lines) + "\n"


def _key(key, rng):
    return (
        key if re.fullmatch(r"[\w-]+", key, re.ASCII) and rng.random() < 0.9 else _quoted(key, rng)
    )


def _quoted(text, rng):
    if rng.random() < 0.2 and not set(text) & set("'\n\r\x00\x1b") and _sayable(text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=not _sayable(text)).replace("\x7f", "\\u007f")


def _toml(tree, rng):
    if isinstance(tree, Pairs):
        return (
            "{ " + ", ".join(f"{_key(key, rng)} = {_toml(part, rng)}" for key, part in tree) + " }"
        )
    if isinstance(tree, list):
        return "[" + rng.choice([", ", ",\n  "]).join(_toml(part, rng) for part in tree) + "]"
    return str(tree) if isinstance(tree, Number | Word) else _quoted(tree, rng)
