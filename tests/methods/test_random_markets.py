"""Awkward markets: all of them clear and certify, methods agree, and so does the textbook."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from tests.methods.awkward import (
    FEW,
    MANY,
    REFERENCE,
    SAME,
    WAYS,
    apart,
    examine_all,
    part,
    unexpected,
)

PROGRAMS = Path(__file__).parents[2] / "models" / "programs"
#: The first three hundred in three parts, all two thousand in twenty.
SHORT = [(start, start + FEW // 3) for start in range(0, FEW, FEW // 3)]
RUNS = [(name, seeds) for name in ("Pivoting", "InteriorPoint") for seeds in SHORT]
RUNS += [(name, SHORT[0]) for name in REFERENCE]
LONG = [(start, start + MANY // 20) for start in range(0, MANY, MANY // 20)]


def load(name):
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "seeds"), RUNS, ids=str)
def test_all_of_them_clear_and_certify(name, seeds):
    assert unexpected(name, part(name, *seeds)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seeds", LONG, ids=lambda seeds: f"{seeds[0]}")
@pytest.mark.parametrize("name", WAYS)
def test_two_thousand_clear_and_certify(name, seeds):
    assert unexpected(name, part(name, *seeds)) == []


def disagreements(seeds, names):
    """Answers of other methods whose prices are not those of the first."""
    first, *others = names
    return [
        (name, str(one), far)
        for name in others
        for one, other in zip(part(first, *seeds), part(name, *seeds), strict=True)
        if (far := apart(one, other, (WAYS | REFERENCE)[name].exact)) > SAME
    ]


@pytest.mark.parametrize("seeds", SHORT, ids=lambda seeds: f"{seeds[0]}")
def test_methods_agree_on_prices(seeds):
    more = REFERENCE if seeds == SHORT[0] else ()
    assert disagreements(seeds, ["Pivoting", "InteriorPoint", *more]) == []


@pytest.mark.slow
@pytest.mark.parametrize("seeds", LONG, ids=lambda seeds: f"{seeds[0]}")
def test_all_methods_agree_on_two_thousand(seeds):
    assert disagreements(seeds, list(WAYS)) == []


@pytest.mark.parametrize("name", WAYS)
def test_no_more_is_excused_than_the_share_allows(name):
    """Every excuse is of one market on the list and says why."""
    way = WAYS[name]
    assert len(way.known) <= (1 - way.share) * MANY
    assert set(way.known) <= set(range(MANY))
    assert all(way.known.values())


def test_what_hangs_is_ended_and_listed():
    """One of three markets never ends; the other two are examined all the same."""
    import time

    from tests.methods import awkward

    def hangs(market):
        if market.title.endswith("seed 1"):
            time.sleep(600)
        return qm.clear(market, tolerance=awkward.TOLERANCE)

    findings = examine_all(range(3), awkward.Way(hangs, 1.0), patience=2)
    assert [finding.problem for finding in findings] == [None, "no answer in 2 s", None]


@pytest.mark.parametrize("program", ["eisenberg_gale", "shmyrev"])
def test_the_textbook_program_finds_the_same_prices(program):
    """It is right to about 1e-4 of what everything costs; it knows no reserves and keeps nothing.

    Numbers are of few orders and shapes are ordinary: its solver is not made for more.
    """
    textbook, differences, seen = load(program), [], 0
    for seed in range(200):
        market = generate.market(seed)
        values = sp.csr_array(market.utility.values).toarray()
        tame = all(x.max() < 1e4 * x.min() for x in (values[values > 0], market.supplies))
        if market.reserves.any() or market.keep_values.any() or not tame or max(values.shape) > 40:
            continue
        seen += 1
        spread = np.log10(market.budgets.max() / market.budgets.min())
        budgets = market.budgets ** (1 / max(1, spread / 2))
        market = qm.Market(budgets, market.supplies, qm.Linear(values))
        prices, _ = textbook.solve(market.budgets, market.supplies, values)
        found = qm.clear(market).prices
        if not np.allclose(found, prices, rtol=1e-3, atol=0, equal_nan=True):
            differences.append((seed, market.title, found / prices))
    assert differences == []
    assert seen >= 20
