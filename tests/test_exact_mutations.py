"""Wrong answers to the exact checker: every mutant of an exact answer is refused, or proved right.

``python -m tests.test_exact_mutations`` prints the full count by kind.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import qmopt as qm
from tests.exact_mutants import gap, price_mutants, unit_mutants


def seeded(seed):
    """One of an endless list of small markets: ties, reserves, kept credits, who takes no part."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 7), rng.integers(1, 6)
    high = int(rng.choice([1, 2, 10, 10**6]))
    values = rng.integers(0, high + 1, (n, m))
    values[0, 0] = high
    budgets, supplies = rng.integers(0, 13, n), rng.integers(0, 5, m)
    budgets[0], supplies[0] = max(budgets[0], 1), max(supplies[0], 1)
    return qm.Market(
        budgets,
        supplies,
        qm.Linear(values),
        reserves=rng.integers(0, 5, m) if seed % 2 else None,
        keep_values=rng.integers(0, high + 1, n) if seed % 3 == 2 else None,
    )


def attack(seed):
    """Try every mutant of one answer; returns how many of each kind were refused and proved."""
    market = seeded(seed)
    exact = qm.clear(market, exact=True).exact
    prices, units = list(exact.prices), {(i, j): x for i, j, x in exact.allocation}
    assert gap(market, prices, units) == 0
    refused, proved = Counter(), Counter()
    for kind, p, x in price_mutants(market, prices, units):
        if p != prices:
            found = qm.certify_exact(market, p, x)
            assert not found.proved, (seed, kind, p)
            refused[kind] += 1
    for kind, p, x in unit_mutants(market, prices, units):
        x = {pair: amount for pair, amount in x.items() if amount}
        if x != units:
            found = qm.certify_exact(market, p, x)
            assert found.proved == (gap(market, p, x) == 0), (seed, kind, x)
            (proved if found.proved else refused)[kind] += 1
    return refused, proved


@pytest.mark.parametrize("seed", range(12))
def test_mutants_are_refused(seed):
    refused, _ = attack(seed)
    assert sum(refused.values()) > 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 300))
def test_all_mutants_are_refused(seed):
    attack(seed)


def test_moving_along_a_tight_cycle_is_another_equilibrium():
    # all values are 1: whoever holds what, at a price of 1, is right, and the checker says so
    market = qm.Market([2, 2], [2, 2], qm.Linear([[1, 1], [1, 1]]))
    for share in (0, 1, Fraction(1, 3)):
        x = [[2 * share, 2 - 2 * share], [2 - 2 * share, 2 * share]]
        assert qm.certify_exact(market, [1, 1], x).proved
        assert gap(market, [1, 1], {(i, j): x[i][j] for i in (0, 1) for j in (0, 1)}) == 0


def test_moving_through_the_bank_is_another_equilibrium():
    # a chip is worth to the team what it costs at the reserve: it may buy it, or keep its credits
    market = qm.Market([5], [4], qm.Linear([[2]]), reserves=[1], keep_values=[2])
    for units in (0, 1, 4):
        assert qm.certify_exact(market, [1], [[units]]).proved
    assert not qm.certify_exact(market, [1], [[Fraction(401, 100)]]).proved


if __name__ == "__main__":
    all_refused, all_proved = Counter(), Counter()
    for one in range(300):
        some_refused, some_proved = attack(one)
        all_refused += some_refused
        all_proved += some_proved
    print(f"{'kind of mutant':40} {'refused':>9} {'proved right':>13}")
    for name in sorted(all_refused | all_proved):
        print(f"{name:40} {all_refused[name]:9} {all_proved[name]:13}")
    print(f"{'all, of 300 markets':40} {all_refused.total():9} {all_proved.total():13}")
