# ruff: noqa: ANN001, ANN201
"""The passes of :mod:`qmopt.methods.demands.newton`, compiled; each does a block of buyers.

A buyer i has the options ``begin[i]:begin[i + 1]``. Whatever is added up by good goes into arrays
of the block's own, so that blocks can be done at the same time and added in their order.
"""

from __future__ import annotations

import numpy as np

from qmopt.loops import compiled
from qmopt.methods.demands.hull import respond

_compiled = compiled(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@_compiled
def centre(
    start, stop, begin, goods, worths, rates, budgets, demands, price, share, barrier, turns,
    beta, mu, spare, y, z,
):  # fmt: skip
    """Put each buyer near its own central path at the prices, by Newton's method in beta and mu."""
    for i in range(start, stop):
        low, high, budget, demand = begin[i], begin[i + 1], budgets[i], demands[i]
        push = barrier * budget
        b, u, _, _ = respond(low, high, goods, worths, rates, price, budget, demand)
        b /= 1 + barrier
        capped = demand < np.inf
        u = u / (1 + barrier) + push / demand if capped else 0.0
        for _ in range(turns):
            gain, served, rr, rc, cc = 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(low, high):
                c, r = worths[k], rates[k]
                slack = 1 / (price[goods[k]] + u * r - b * c)
                amount = push * share[goods[k]] * slack
                theta = amount * slack
                gain += c * amount
                served += r * amount
                rr += r * r * theta
                rc += r * c * theta
                cc += c * c * theta
            of_b, of_u = budget / b - gain, 0.0
            cc += budget / (b * b)
            step_u = 0.0
            if capped:
                of_u = served + push / u - demand
                rr += push / (u * u)
                det = rr * cc - rc * rc
                step_b = (rr * of_b + rc * of_u) / det
                step_u = (cc * of_u + rc * of_b) / det
            else:
                step_b = of_b / cc
            most = max(-step_b / b, -step_u / u if capped else 0.0)
            for k in range(low, high):
                c, r = worths[k], rates[k]
                fall = (step_b * c - step_u * r) / (price[goods[k]] + u * r - b * c)
                most = max(most, fall)
            length = 1.0 if most <= 0.7 else 0.7 / most
            b += length * step_b
            u += length * step_u
            if length == 1 and abs(of_b) * b < 0.03 * budget and abs(of_u) * u < 0.03 * push:
                break
        beta[i], mu[i] = b, u
        spare[i] = push / u if capped else np.inf
        for k in range(low, high):
            z[k] = price[goods[k]] + u * rates[k] - b * worths[k]
            y[k] = push * share[goods[k]] / z[k]


@_compiled
def reduce(
    start, stop, begin, goods, worths, rates, budgets, demands, primal, dual, dp, dy, db, du, dq,
    beta, mu, spare, y, z, inverse, ratio, schur, diagonal, right, taken, worst,
):  # fmt: skip
    """Move all, then reduce the Newton system to the prices; return the sum of ``y z``.

    What the buyers' own two equations need later is kept: ``inverse`` of both pivots, ``ratio``.
    """
    longest = 0
    for i in range(start, stop):
        longest = max(longest, begin[i + 1] - begin[i])
    thetas, by_rate, by_rest = np.empty(longest), np.empty(longest), np.empty(longest)
    total = 0.0
    for i in range(start, stop):
        low, high = begin[i], begin[i + 1]
        capped = demands[i] < np.inf
        step_b, step_u = db[i], du[i]
        beta[i] += dual * step_b
        gain, served, rr, rc = 0.0, 0.0, 0.0, 0.0
        for k in range(low, high):
            c, r, j = worths[k], rates[k], goods[k]
            amount = y[k] + primal * dy[k]
            slack = z[k] + dual * (dp[j] + r * step_u - c * step_b)
            y[k], z[k] = amount, slack
            theta = amount / slack
            thetas[k - low] = theta
            taken[j] += amount
            total += amount * slack
            gain += c * amount
            served += r * amount
            rr += r * r * theta
            rc += r * c * theta
        one, tilt, cc = 0.0, 0.0, gain / beta[i]
        if capped:
            mu[i] += dual * step_u
            spare[i] += primal * dq[i]
            total += mu[i] * spare[i]
            rr += spare[i] / mu[i]
            one, tilt = 1 / rr, rc / rr
            cc += tilt * tilt * spare[i] / mu[i]
            short = abs(demands[i] - served - spare[i]) / demands[i]
            worst[0] = max(worst[0], short)
        worst[0] = max(worst[0], abs(1 - beta[i] * gain / budgets[i]))
        for k in range(low, high):
            rest = worths[k] - tilt * rates[k]
            by_rate[k - low] = rates[k] * thetas[k - low]
            by_rest[k - low] = rest * thetas[k - low]
            cc += rest * by_rest[k - low]
        two = 1 / cc
        inverse[i, 0], inverse[i, 1], ratio[i] = one, two, tilt
        first = -one * demands[i] if capped else 0.0
        second = two * (budgets[i] / beta[i] - (tilt * demands[i] if capped else 0.0))
        for k in range(low, high):
            j, rate, rest = goods[k], by_rate[k - low], by_rest[k - low]
            right[j] += rest * second - rate * first - y[k]
            diagonal[j] += thetas[k - low] - one * rate * rate - two * rest * rest
            rate, rest = one * rate, two * rest
            for other in range(k - low):
                schur[j, goods[low + other]] -= rate * by_rate[other] + rest * by_rest[other]
    return total


@_compiled
def predict(
    start, stop, begin, goods, worths, rates, budgets, demands, share, dp,
    beta, mu, spare, y, z, inverse, ratio, db, du, found, of_centre, of_second,
):  # fmt: skip
    """Find the predictor's moves of beta and mu, and what the corrector's right side is made of.

    ``found`` gets the least and largest q, the largest fall of a beta, the sums of y z q and
    y z q q; q is the move of a slack as a share of it.
    """
    least, most, fall, sum_one, sum_two = found
    for i in range(start, stop):
        low, high, budget = begin[i], begin[i + 1], budgets[i]
        one, two, tilt, capped = inverse[i, 0], inverse[i, 1], ratio[i], demands[i] < np.inf
        on_rate, on_rest, gain = 0.0, 0.0, 0.0
        for k in range(low, high):
            moved = y[k] / z[k] * dp[goods[k]]
            on_rate += rates[k] * moved
            on_rest += (worths[k] - tilt * rates[k]) * moved
            gain += worths[k] * y[k]
        first = -demands[i] if capped else 0.0
        step_b = two * (budget / beta[i] + tilt * first + on_rest)
        step_u = one * (first - on_rate) + tilt * step_b if capped else 0.0
        db[i], du[i] = step_b, step_u
        fall = max(fall, -step_b / beta[i])
        # on the demand and on the value: what centring asks for, and what the second order does
        rate_1, rate_2, worth_1, worth_2 = 0.0, 0.0, 0.0, 0.0
        if capped:
            q, product = step_u / mu[i], spare[i] * mu[i]
            least, most = min(least, q), max(most, q)
            sum_one += product * q
            sum_two += product * q * q
            rate_1, rate_2 = budget / mu[i], spare[i] * q * (1 + q)
        for k in range(low, high):
            c, r, j = worths[k], rates[k], goods[k]
            part = 1 / z[k]
            q = (dp[j] + r * step_u - c * step_b) * part
            least, most = min(least, q), max(most, q)
            product = y[k] * z[k] * q
            sum_one += product
            sum_two += product * q
            push_1, push_2 = budget * share[j] * part, y[k] * q * (1 + q)
            of_centre[j] += push_1
            of_second[j] += push_2
            rate_1 += r * push_1
            rate_2 += r * push_2
            worth_1 -= c * push_1
            worth_2 -= c * push_2
        gained = (budget - beta[i] * gain - gain * step_b) / beta[i]
        worth_2 -= step_b * gained / beta[i]
        second_1, second_2 = two * (worth_1 + tilt * rate_1), two * (worth_2 + tilt * rate_2)
        rate_1, rate_2 = one * rate_1, one * rate_2
        for k in range(low, high):
            j, theta = goods[k], y[k] / z[k]
            rate, rest = rates[k] * theta, (worths[k] - tilt * rates[k]) * theta
            of_centre[j] += rest * second_1 - rate * rate_1
            of_second[j] += rest * second_2 - rate * rate_2
    found[:] = least, most, fall, sum_one, sum_two


@_compiled
def correct(
    start, stop, begin, goods, worths, rates, budgets, demands, share, dp, dp_first, aim, part,
    beta, mu, spare, y, z, inverse, ratio, db, du, dq, dy, used,
):  # fmt: skip
    """Find the moves of all; ``used`` gets how often a full step would use up units and slacks."""
    of_units, of_slacks = used
    for i in range(start, stop):
        low, high, budget = begin[i], begin[i + 1], budgets[i]
        one, two, tilt, capped = inverse[i, 0], inverse[i, 1], ratio[i], demands[i] < np.inf
        first_b, first_u = db[i], du[i]
        on_rate, on_rest, gain, of_rate, of_worth = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(low, high):
            c, r, j = worths[k], rates[k], goods[k]
            inside = 1 / z[k]
            q = (dp_first[j] + r * first_u - c * first_b) * inside
            asked = aim * budget * share[j] * inside + part * y[k] * q * (1 + q)
            dy[k] = asked - y[k]
            of_rate += r * asked
            of_worth += c * asked
            gain += c * y[k]
            moved = y[k] * inside * dp[j]
            on_rate += r * moved
            on_rest += (c - tilt * r) * moved
        gained = (budget - beta[i] * gain - gain * first_b) / beta[i]
        second = (budget - part * first_b * gained) / beta[i] - of_worth
        push, step_u = 0.0, 0.0
        if capped:
            q = first_u / mu[i]
            push = aim * budget / mu[i] + part * spare[i] * q * (1 + q)
            of_rate += push - demands[i]
            second += tilt * of_rate
        step_b = two * (second + on_rest)
        if capped:
            step_u = one * (of_rate - on_rate) + tilt * step_b
            dq[i] = push - spare[i] - spare[i] / mu[i] * step_u
            of_units = max(of_units, -dq[i] / spare[i])
            of_slacks = max(of_slacks, -step_u / mu[i])
        db[i], du[i] = step_b, step_u
        of_slacks = max(of_slacks, -step_b / beta[i])
        for k in range(low, high):
            both = 1 / (y[k] * z[k])
            fall = (worths[k] * step_b - rates[k] * step_u - dp[goods[k]]) * y[k] * both
            dy[k] += y[k] * fall
            of_units = max(of_units, -dy[k] * z[k] * both)
            of_slacks = max(of_slacks, fall)
    used[:] = of_units, of_slacks
