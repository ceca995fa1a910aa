"""Logs as segments between tangents: theorems about them, on drawn grids."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qmopt.methods.lp_segments import (
    CLOSE,
    NARROWEST,
    SHRINK,
    TANGENTS,
    above_log,
    first_grid,
    next_grid,
    segments,
)  # fmt: skip

LOGS = st.floats(-20, 20)


@given(low=LOGS, width=st.floats(0, 20), part=st.floats(0, 1.2), cap=st.floats(-1, 2))
def test_segments_fill_up_to_the_least_tangent(low, width, part, cap):
    """Filled in order, they add up to the least tangent, less what it is at 0; caps end them."""
    grid = first_grid(np.exp([low]), np.exp([low + width]))
    most = np.exp(low + cap * width)
    slopes, widths = segments(grid, np.array([most]))
    np.testing.assert_allclose(widths.sum(), most, rtol=1e-12)
    assert (np.diff(slopes) <= 0).all()
    utility = min(np.exp(low + part * width), most)
    begin = np.append(0, np.cumsum(widths)[:-1])
    filled = slopes[0] @ np.clip(utility - begin, 0, widths[0])
    least = (grid + (utility * np.exp(-grid) - 1)).min()
    np.testing.assert_allclose(filled, least - (grid[0, 0] - 1), rtol=1e-9, atol=1e-9)


@given(low=LOGS, width=st.floats(0, 20), part=st.floats(-0.5, 1.5))
def test_above_the_log_by_the_least_tangent(low, width, part):
    grid = first_grid(np.exp([low]), np.exp([low + width]))
    at = low + part * width
    plain = (grid + np.expm1(at - grid)).min() - at
    (above,) = above_log(grid, np.exp([at]))
    assert above >= 0
    np.testing.assert_allclose(above, plain, rtol=1e-9, atol=1e-13 * np.exp(abs(width)))


def test_the_distance_is_right_where_it_is_tiny():
    """d**2 / 2 for a tangent that is d away, far below what a plain difference could tell."""
    for away in 10.0 ** -np.arange(3, 12):
        grid = np.full((1, TANGENTS), 3.0)
        (above,) = above_log(grid, np.exp([3.0 + away]))
        # the log of the utility is itself known to rounding
        np.testing.assert_allclose(above, away**2 / 2, rtol=away + 1e-14 / away)


@given(low=LOGS, width=st.floats(1e-3, 20), part=st.floats(0, 1))
def test_the_next_tangents_are_closer_and_cover_as_much(low, width, part):
    grid = first_grid(np.exp([low]), np.exp([low + width]))
    at, reach = np.array([low + part * width]), np.array([width])
    then = next_grid(grid, at, reach)
    assert then.shape == grid.shape
    assert (np.diff(then) >= 0).all()
    assert then[0, TANGENTS // 2] == at[0]
    near = np.diff(then[0])[TANGENTS // 2 - CLOSE : TANGENTS // 2 + CLOSE]
    apart = max(width / (TANGENTS - 1) * SHRINK, NARROWEST)
    np.testing.assert_allclose(near, apart, rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose([then[0, 0], then[0, -1]], [at[0] - width, at[0] + width])
