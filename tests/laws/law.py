"""What a law is: a statement about answers, tried on many drawn markets with every method."""

import os
import random
from functools import lru_cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import qmopt as qm

#: Every method that the laws hold for. A new method joins by one line.
METHODS = [
    qm.Pivoting(),
    qm.InteriorPoint(),
    qm.EisenbergGale(),
]
#: Those made for large markets take their time over small ones: marked slow, all of them.
LARGE = [
    qm.LinearProgramming(),
    qm.ColumnGeneration(),
]

#: Residual that every answer has to meet, and share by which equal numbers may differ.
TOLERANCE = 1e-9

#: Drawn markets per law and method; the thorough run is marked slow.
EXAMPLES, MANY_EXAMPLES = 100, 2000

CASES = [
    *(pytest.param(each, EXAMPLES, id=f"{type(each).__name__}-{EXAMPLES}") for each in METHODS),
    *(
        pytest.param(each, many, id=f"{type(each).__name__}-{many}", marks=pytest.mark.slow)
        for methods, many in ((METHODS, MANY_EXAMPLES), (LARGE, EXAMPLES))
        for each in methods
    ),
]

# Laws that draw the same kind of market draw the same markets: an answer serves them all.
SEED = 0 if os.environ.get("CI") else random.randrange(2**32)


@lru_cache(maxsize=20_000)
def answer(method, numbers):
    """The certified equilibrium that a method finds for :class:`Numbers`."""
    return qm.clear(numbers.market(), method, tolerance=TOLERANCE)


def law(*strategies):
    """Make a test of ``function(clear, *drawn)``, for every method, short and thorough.

    ``clear(numbers)`` is the method's certified answer. A draw that breaks off with ``assume`` does
    not count: the test fails if fewer markets than asked for went through to the end.
    """

    def decorate(function):
        @pytest.mark.parametrize(("method", "examples"), CASES)
        def test(method, examples):
            passed = 0

            @seed(SEED)
            @settings(max_examples=examples)
            @given(drawn=st.tuples(*strategies))
            def check(drawn):
                nonlocal passed
                function(lambda numbers: answer(method, numbers), *drawn)
                passed += 1

            check()
            assert passed >= examples

        test.__name__ = test.__qualname__ = function.__name__
        test.__module__, test.__doc__ = function.__module__, function.__doc__
        return test

    return decorate


def held_in(found):
    """Allocation of an answer as an array; that of some methods is sparse."""
    return sp.csr_array(found.allocation).toarray()


def same(one, other, scale=None):
    """Assert that arrays are equal to the tolerance, relative to themselves or to a scale."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    scale = np.maximum(abs(one), abs(other)) if scale is None else scale
    off = abs(one - other) > TOLERANCE * scale
    off |= np.isnan(one) != np.isnan(other)
    assert not off.any(), f"{one} is not {other}"


def at_most(one, other, scale=None):
    """Assert that no entry of one array is above that of another; pairs with a nan are left out."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    scale = np.maximum(abs(one), abs(other)) if scale is None else scale
    assert not (one > other + TOLERANCE * scale).any(), f"{one} is not at most {other}"
