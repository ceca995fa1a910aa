"""The log of a utility as straight segments, between a few of its tangents.

The least of the tangents to ``log u`` at points ``a < b < ...`` is above the log everywhere and
consists of segments of slopes ``1/a > 1/b > ...``; two of them meet at the logarithmic mean of
``1/a`` and ``1/b``, turned over. A linear program fills the segments in order by itself, and
needs no row for them. Where it ends is known to about the distance between two tangents; the next
ones lie closer together around that, and a few far away, so that nothing is out of reach.
"""

from __future__ import annotations

import numpy as np

from qmopt.utilities.protocol import Array

#: Tangents on either side of the middle one: close together, and far away.
CLOSE, FAR = 6, 2
TANGENTS = 1 + 2 * (CLOSE + FAR)
#: Next distance over the last one: the close tangents reach over that.
SHRINK = 1 / CLOSE
#: Least distance, in logs.
NARROWEST = 1e-7


def first_grid(low: Array, high: Array) -> Array:
    """Log utilities of tangents that divide the range of each buyer evenly, (n, TANGENTS).

    Examples
    --------
    >>> grid = first_grid(np.array([1.0]), np.array([np.e**8]))
    >>> grid.shape, grid[0, [0, 1, 8, 16]].round(9).tolist()
    ((1, 17), [0.0, 0.5, 4.0, 8.0])
    """
    return np.linspace(np.log(low), np.log(high), TANGENTS, axis=1)


def next_grid(grid: Array, at: Array, reach: Array) -> Array:
    """Closer tangents around where the last program ended.

    Parameters
    ----------
    grid
        Shape (n, TANGENTS), rising: log utilities of the last tangents.
    at
        Shape (n,): log utilities where the program ended.
    reach
        Shape (n,): the farthest tangents lie that far from there.

    Examples
    --------
    The last tangents were 0.6 apart, so that the next ones are 0.1 apart, up to 0.6 away, where
    the next two tangents of the last grid were:

    >>> last = 0.6 * np.arange(17)[None, :]
    >>> next_grid(last, np.array([1.5]), np.array([9.6]))[0, [2, 7, 8, 9, 14, 16]].round(9).tolist()
    [0.9, 1.4, 1.5, 1.6, 2.1, 11.1]
    """
    buyers = np.arange(len(grid))
    above = np.clip((grid < at[:, None]).sum(axis=1), 1, TANGENTS - 1)
    apart = np.maximum((grid[buyers, above] - grid[buyers, above - 1]) * SHRINK, NARROWEST)
    close = apart[:, None] * np.arange(CLOSE + 1)
    last = close[:, -1:]
    farthest = np.maximum(reach[:, None], last)
    side = np.concatenate([close, np.sqrt(last * farthest), farthest], axis=1)
    return at[:, None] + np.concatenate([-side[:, :0:-1], side], axis=1)


def segments(grid: Array, caps: Array) -> tuple[Array, Array]:
    """Slopes of the segments and how wide they are, each (n, TANGENTS); caps cut them off.

    The last one has no end without a cap.

    Examples
    --------
    Tangents to the log at 1 and 2: ``u - 1`` and ``u/2 - 1 + log 2``, which meet at 2 log 2:

    >>> slopes, widths = segments(np.log([[1.0, 2.0]]), np.array([3.0]))
    >>> slopes.tolist(), widths.round(4).tolist()
    ([[1.0, 0.5]], [[1.3863, 1.6137]])
    """
    step = np.diff(grid, axis=1)
    # two tangents at one point meet there
    mean = np.where(step > 0, step / -np.expm1(-np.where(step > 0, step, 1)), 1.0)
    meet = np.minimum(np.exp(grid[:, :-1]) * mean, caps[:, None])
    ends = np.concatenate([np.zeros((len(grid), 1)), meet, caps[:, None]], axis=1)
    return np.exp(-grid), np.maximum(np.diff(ends, axis=1), 0)


def above_log(grid: Array, utility: Array) -> Array:
    """How far the segments are above the log at utilities (n,), never negative.

    Examples
    --------
    Where tangents at 1 and 2 meet, both are 2 log 2 - 1 high:

    >>> meet = 2 * np.log(2)
    >>> gap = above_log(np.log([[1.0, 2.0]]), np.array([meet]))
    >>> bool(np.isclose(gap[0], meet - 1 - np.log(meet)))
    True
    """
    away = np.log(utility)[:, None] - grid
    # e^d - 1 - d, to all digits also where d is small
    small = np.abs(away) < 1e-3
    d = np.where(small, away, 0.0)
    near = d * d * (0.5 + d * (1 / 6 + d / 24))
    return np.where(small, near, np.expm1(away) - away).min(axis=1)
