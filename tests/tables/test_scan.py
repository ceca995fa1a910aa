"""What is found of a text before it is parsed is what parsing finds."""

import json
import time
import tomllib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmopt.errors import TableError
from qmopt.tables.limits import Limits
from qmopt.tables.scan import check_json, check_toml
from tests.tables.trees import Number, Pairs, as_json, as_toml

texts = st.text(st.sampled_from("[]{}\",=.#\\'ab \n"), max_size=6)
leaves = st.one_of(texts, st.sampled_from([Number("1"), Number("1.5"), Number("-2e3")]))
nests = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(texts, inner, max_size=3).map(lambda held: Pairs(held.items())),
    ),
)
documents = st.dictionaries(texts, nests, max_size=4).map(lambda held: Pairs(held.items()))


def depth(content):
    if isinstance(content, dict):
        return 1 + max(map(depth, content.values()), default=0)
    return 1 + max(map(depth, content), default=0) if isinstance(content, list) else 0


def found(check, text):
    """Return the least limit of depth that lets a text pass."""
    for limit in range(1, 50):
        try:
            check(text, Limits(depth=limit), "m")
        except TableError:
            continue
        return limit
    raise AssertionError


@given(tree=documents, style=st.integers(0, 99))
def test_the_depth_of_json(tree, style):
    text = as_json(tree, Random(style))
    assert found(check_json, text) == max(1, depth(json.loads(text)))


@given(tree=documents, style=st.integers(0, 99))
def test_the_depth_of_toml(tree, style):
    text = as_toml(tree, Random(style))
    real = depth(tomllib.loads(text))
    # the whole document is a table more; one under headings is counted with its list
    assert real - 1 <= found(check_toml, text) <= real + 1


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("a.b.c.d = 1", 3),
        ("[a.b.c]\nd = 1", 3),
        ("[[a.b.c]]\nd.e = 1.5", 5),
        ("a = {b = {c.d.e = [1.5]}}", 5),
        ('"a.b" = "x.y.z"', 1),
        ("a = '''\n[[[[[[[[\n'''", 1),
        ('a = """\\"""[[[[[[[[""""', 1),
        ("# [[[[[[[[\na = [\n[1],\n[[2]]]", 3),
        ("a = 1979-05-27T07:32:00.5\nb.c = 1", 1),
    ],
)
def test_depths_by_hand(text, real):
    assert found(check_toml, text) == real


@given(text=st.text(st.sampled_from("[]{}\"'\\,=.#\na1 "), max_size=40))
def test_any_text_is_scanned(text):
    for check in (check_json, check_toml):
        assert found(check, text) >= 1


def test_texts_made_to_be_scanned_twice(tmp_path):
    """Each is quadratic for a scanner that starts over; here they take a fraction of a second."""
    size = 300_000
    for piece in (
        '"',
        '\\"',
        "{",
        '{"',
        "'",
        "'''",
        '"""',
        '"\\',
        "[a.",
        "1_",
        "1,",
        "1\n",
        "#",
        "{}",
        '"a" ',
    ):
        for check in (check_json, check_toml):
            text = piece * (size // len(piece))
            begun = time.process_time()
            try:
                check(text, Limits(depth=10**9, cells=10**9, number_length=10**9), "m")
            except TableError:
                raise AssertionError(piece) from None
            assert time.process_time() - begun < 2, piece
