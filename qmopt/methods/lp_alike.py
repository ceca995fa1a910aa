"""Buyers alike in all but size are one buyer: with a few kinds of work, a large market is small.

Buyers whose values, and worth of a kept credit, are proportional want the same things at all
prices. One buyer with all their credits has the same equilibria, and each gets its share by budget
of what that one gets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from qmopt.methods.lp_options import Near, Options
from qmopt.utilities.pairs import total_by
from qmopt.utilities.protocol import Array

#: Difference of log values, relative to the largest of the row, that is rounding.
ROUNDING = 1e-12
#: Apart from each other, in a random projection of the rows, where they cannot be alike.
APART = 1e-10


@dataclass(frozen=True)
class Alike:
    """One buyer for each kind.

    Parameters
    ----------
    options
        Of the kinds.
    kind
        Shape (n,): kind of each buyer.
    share
        Shape (n,): of the credits of its kind.
    more
        Shape (n,): log values of the buyer over those of its kind.
    """

    options: Options
    kind: NDArray[np.int64]
    share: Array
    more: Array

    def expand(self, near: Near, share: Array) -> tuple[Near, Array]:
        """Return the options of the buyers, where their kind has a share, and their shares."""
        used = share > 0
        members = np.argsort(self.kind, kind="stable")
        size = np.bincount(self.kind)
        start = np.cumsum(size) - size
        kind, count = near.buyer[used], size[near.buyer[used]]
        offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        buyer = members[np.repeat(start[kind], count) + offset]
        worth = np.repeat(near.worth[used], count) + self.more[buyer]
        expanded = Near(buyer, np.repeat(near.good[used], count), worth)
        return expanded, np.repeat(share[used], count) * self.share[buyer]


# a value of 0 has the log -inf, which equals itself but leaves no difference
@np.errstate(invalid="ignore", over="ignore")
def alike(options: Options) -> Alike | None:
    """Find buyers that are alike, where at least half of them are; dense values only."""
    n, m = options.shape
    if sp.issparse(options.log_values) or n < 2:
        return None
    weight, nowhere = np.random.default_rng(0).random(m + 1), np.zeros(m)
    tops, keys = [], []
    for rows, chunk in options.chunks():
        top = chunk.most(chunk.less(nowhere))
        kept = 1 / (1 + np.exp(top - options.keep[rows]))
        keys.append(np.exp(chunk.less(nowhere) - top[:, None]) @ weight[:m] + kept * weight[m])
        tops.append(top)
    top, key = np.concatenate(tops), np.concatenate(keys)
    order = np.argsort(key, kind="stable")
    new = np.append(True, np.diff(key[order]) > APART)
    if 2 * new.sum() > n:
        return None
    first = np.empty(n, dtype=np.int64)
    first[order] = order[new][np.cumsum(new) - 1]
    for rows, chunk in options.chunks():
        one = first[rows]
        here = chunk.less(nowhere) - top[rows, None]
        there = options.log_values[one] - top[one, None]
        same = ((here == there) | (np.abs(here - there) <= ROUNDING)).all(axis=1)
        kept, others = options.keep[rows] - top[rows], options.keep[one] - top[one]
        same &= (kept == others) | (np.abs(kept - others) <= ROUNDING)
        first[rows] = np.where(same, one, np.arange(n)[rows])
    kinds, kind = np.unique(first, return_inverse=True)
    if 2 * len(kinds) > n:
        return None
    budgets = total_by(kind, options.budgets, len(kinds))
    merged = replace(
        options,
        budgets=budgets,
        keep=options.keep[kinds],
        log_values=options.log_values[kinds],
    )
    return Alike(merged, kind, options.budgets / budgets[kind], top - top[first])
