# ruff: noqa: ANN001, ANN201, ANN202
"""The passes over values, compiled; :mod:`qmopt.methods.scan` says what they find."""

from __future__ import annotations

import numpy as np

from qmopt.loops import compiled

#: A good takes the first place only if it is better by this factor; else it counts as tied.
TIED = 1 + 1e-9

_compiled = compiled(nogil=True)
_inlined = compiled(inline="always")


# A buyer's goods are looked at in turn from a place that depends on the buyer, so that buyers with
# equal ties spread over them.
@_inlined
def _offset(i, count):
    return (i * 40503) % count if count > 0 else 0


@_compiled
def liked_dense(values, per_credit, keep, buyers, best, top, first, second, other):
    """Fill in what each buyer likes best and second best; ``first`` and ``other`` hold guesses.

    With good ones hardly any branch is taken unforeseen, which is what costs the time.
    """
    m = values.shape[1]
    for t in range(len(buyers)):
        i = buyers[t]
        start = _offset(i, m)
        chosen, most, runner, j_chosen, j_most, j_runner = 0.0, 0.0, 0.0, -1, -1, -1
        if keep[i] > 0:
            chosen, most, j_chosen, j_most = keep[i], keep[i], m, m
        guess, guess_next = first[t], other[t]
        for j in (guess, guess_next):
            if 0 <= j < m:
                worth = values[i, j] * per_credit[j]
                if worth > chosen * TIED:
                    runner, j_runner = chosen, j_chosen
                    chosen, j_chosen = worth, j
                elif worth > runner:
                    runner, j_runner = worth, j
                if worth > most:
                    most, j_most = worth, j
        for half in range(2):
            for j in range(start if half == 0 else 0, m if half == 0 else start):
                worth = values[i, j] * per_credit[j]
                if worth > runner and j != guess and j != guess_next:
                    if worth > chosen * TIED:
                        runner, j_runner = chosen, j_chosen
                        chosen, j_chosen = worth, j
                    else:
                        runner, j_runner = worth, j
                    if worth > most:
                        most, j_most = worth, j
        best[t], second[t] = most, runner
        top[t], first[t], other[t] = j_most, j_chosen, j_runner


@_compiled
def liked_sparse(data, indices, indptr, per_credit, keep, buyers, best, top, first, second, other):
    """Fill in what each buyer likes best and second best, from a CSR matrix."""
    m = len(per_credit)
    for t in range(len(buyers)):
        i = buyers[t]
        low, high = indptr[i], indptr[i + 1]
        start = low + _offset(i, high - low)
        chosen, most, runner, j_chosen, j_most, j_runner = 0.0, 0.0, 0.0, -1, -1, -1
        if keep[i] > 0:
            chosen, most, j_chosen, j_most = keep[i], keep[i], m, m
        for half in range(2):
            for e in range(start if half == 0 else low, high if half == 0 else start):
                j = indices[e]
                worth = data[e] * per_credit[j]
                if worth > runner:
                    if worth > chosen * TIED:
                        runner, j_runner = chosen, j_chosen
                        chosen, j_chosen = worth, j
                    else:
                        runner, j_runner = worth, j
                    if worth > most:
                        most, j_most = worth, j
        best[t], second[t] = most, runner
        top[t], first[t], other[t] = j_most, j_chosen, j_runner


@_inlined
def _insert(goods, worths, found, j, worth):
    """Put a good among the nearest of one buyer, in falling order; return how many there are."""
    most = len(goods)
    if found == most and worth <= worths[most - 1]:
        return found
    place = found if found < most else most - 1
    while place > 0 and worths[place - 1] < worth:
        goods[place], worths[place] = goods[place - 1], worths[place - 1]
        place -= 1
    goods[place], worths[place] = j, worth
    return min(found + 1, most)


@_compiled
def close_dense(values, per_credit, keep, share, buyers, best, floor, goods):
    """Fill in the goods that come close to each buyer's best, nearest first."""
    m, most = values.shape[1], goods.shape[1]
    for t in range(len(buyers)):
        i = buyers[t]
        start, found, worths = _offset(i, m), 0, np.empty(most)
        if keep[i] > 0 and (keep[i] >= floor[t] or keep[i] >= best[t] * share[m]):
            found = _insert(goods[t], worths, found, m, keep[i])
        for half in range(2):
            for j in range(start if half == 0 else 0, m if half == 0 else start):
                worth = values[i, j] * per_credit[j]
                if worth > 0 and (worth >= floor[t] or worth >= best[t] * share[j]):
                    found = _insert(goods[t], worths, found, j, worth)


@_compiled
def close_sparse(data, indices, indptr, per_credit, keep, share, buyers, best, floor, goods):
    """Fill in the goods that come close to each buyer's best, from a CSR matrix."""
    m, most = len(per_credit), goods.shape[1]
    for t in range(len(buyers)):
        i = buyers[t]
        low, high = indptr[i], indptr[i + 1]
        start, found, worths = low + _offset(i, high - low), 0, np.empty(most)
        if keep[i] > 0 and (keep[i] >= floor[t] or keep[i] >= best[t] * share[m]):
            found = _insert(goods[t], worths, found, m, keep[i])
        for half in range(2):
            for e in range(start if half == 0 else low, high if half == 0 else start):
                j = indices[e]
                worth = data[e] * per_credit[j]
                if worth > 0 and (worth >= floor[t] or worth >= best[t] * share[j]):
                    found = _insert(goods[t], worths, found, j, worth)
