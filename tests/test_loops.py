"""Compiled and interpreted loops do the same."""

import numpy as np
import pytest

from qmopt import generate, loops
from qmopt.forest import flows, grow, without_cycles
from qmopt.methods.crossover import crossover
from qmopt.methods.outcome import trading


def squares(numbers, factor, found):
    for k in range(len(numbers)):
        found[k] = factor * numbers[k] * numbers[k]


@pytest.mark.parametrize("length", [0, loops.LONG])
def test_what_is_filled_comes_back_and_arrays_stay_as_they_are(length):
    numbers, found = np.arange(4.0), np.zeros(4)
    assert loops.run(squares, length, numbers, 2.0, found) == ([0, 1, 2, 3], [0, 2, 8, 18])
    assert found.tolist() == [0] * 4


@pytest.fixture(params=[0, 10**9], ids=["compiled", "interpreted"])
def long(request, monkeypatch):
    monkeypatch.setattr(loops, "LONG", request.param)
    monkeypatch.setattr(loops, "LOADED", request.param)


def test_a_tree_worked_by_hand(long):
    """The tree 2 - 0 - 3 - 1 - 4 of the forest's tests."""
    forest = grow(5, [(0, 2), (0, 3), (1, 3), (1, 4)], [4, 0, 1, 2, 3])
    assert forest.order == [4, 1, 3, 0, 2]
    assert forest.parent == [3, 4, 0, 1, -1]
    assert forest.depth == [3, 1, 4, 2, 0]
    flow, scale = flows(forest, [6, 4, 3, 5, 0], 4)
    assert flow.tolist() == [3, 3, 2, 2]
    assert scale.tolist() == [3, 9, 14, 18]


def test_a_square_gives_up_an_edge(long):
    """Round 0-2-1-3 flow can go either way, until an edge is empty.

    If edge 0-2 gains, 1 goes on it and off 0-3, which is empty then. If it loses, 2 comes off it
    and off 1-3, and goes on the others: the smallest of these two, 0-2 with 3, is not reached.
    """
    source, sink = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    flow = np.array([3.0, 1.0, 2.0, 2.0])
    kept, moved = without_cycles(4, source, sink, np.array([1.0, 0, 0, 0]), flow, range(4))
    assert moved.tolist() == [4, 0, 1, 3]
    assert sorted(kept) == [0, 2, 3]
    kept, moved = without_cycles(4, source, sink, np.array([-1.0, 0, 0, 0]), flow, range(4))
    assert moved.tolist() == [1, 3, 4, 0]
    assert sorted(kept) == [0, 1, 2]


def test_both_cross_over_to_the_same_bits(monkeypatch):
    found = {}
    for length in (0, 10**9):
        monkeypatch.setattr(loops, "LONG", length)
        monkeypatch.setattr(loops, "LOADED", length)
        for seed in range(0, 60, 3):
            market = trading(generate.market(seed))
            shares = np.outer(market.budgets / market.budgets.sum(), market.supplies)
            prices = np.full(market.m, market.budgets.sum() / market.supplies.sum())
            crossed = crossover(market, prices, shares)
            found.setdefault(seed, []).append((crossed.prices, crossed.allocation.toarray()))
    for one, other in found.values():
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])


def test_without_a_folder_for_compiled_code_it_is_compiled_all_the_same(monkeypatch):
    """As numba does where neither the package's folder nor the user's can be written to."""
    import numba

    njit = numba.njit

    def read_only(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", read_only)
    assert loops.compiled(nogil=True)(lambda x: x * x)(3) == 9
