"""Each mutant of the definition dies, or is argued to be none; slow, since there are hundreds."""

import ast

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.operators import mutants
from tests.mutation.run import every_mutant, judge

MUTANTS = every_mutant()
KEYS = [mutant.key for mutant in MUTANTS]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=KEYS)
def test_it_dies(mutant):
    killer = judge(mutant).killer
    assert (killer is None) == (mutant.key in EQUIVALENT)


def test_the_list_of_equivalent_mutants_is_up_to_date():
    assert len(set(KEYS)) == len(KEYS)
    assert EQUIVALENT.keys() - set(KEYS) == set()
    assert all(len(reason) > 20 for reason in EQUIVALENT.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", ["a - b", "a", "b"]),
        ("a / b", ["a * b", "a"]),
        ("-a", ["a"]),
        ("~a", ["a"]),
        ("not a", ["a"]),
        ("np.maximum(a, 0)", ["np.minimum(a, 0)", "a", "0", "np.maximum(a, 1)"]),
        ("a < b", ["a <= b", "a > b"]),
        ("a == b", ["a != b"]),
        ("a and b", ["a or b", "a", "b"]),
        ("np.where(a, b, c)", ["b", "c", "np.where(a, c, b)"]),
        ("max(a, b)", ["min(a, b)", "sum([a, b])", "b", "a"]),
        ("1 if a else b", ["1", "b", "2 if a else b", "0.0 if a else b"]),
        ("market.budgets[a]", ["market.budgets", "market.keep_values[a]"]),
        ("True", ["False"]),
    ],
)
def test_what_the_operators_make(text, expected):
    made = [ast.unparse(mutant.tree()) for mutant in mutants("text", text)]
    assert set(expected) <= set(made)


def test_names_are_swapped_only_for_names_that_are_known():
    source = "def f(rows, columns):\n    return g(rows, budgets)"
    made = [ast.unparse(mutant.tree()).split("return ")[1] for mutant in mutants("text", source)]
    assert made == ["0.0", "g(columns, budgets)"]
