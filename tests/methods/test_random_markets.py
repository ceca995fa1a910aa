"""Three hundred awkward markets: all of them clear and certify, and the textbook agrees."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate

TOLERANCE = 1e-8
SEEDS = range(300)
METHODS = {"by default": None, "Eisenberg-Gale": qm.EisenbergGale()}
PROGRAMS = Path(__file__).parents[2] / "models" / "programs"


def load(name):
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failure(seed, method):
    """What is wrong with the answer to one market, or None."""
    market = generate.market(seed)
    try:
        found = qm.clear(market, method, tolerance=TOLERANCE)
    except qm.QmoptError as error:
        return seed, market.title, str(error)
    again = qm.certify(market, found.prices, found.allocation, tolerance=TOLERANCE)
    if not again.certified() or again.worst != found.certificate.worst:
        return seed, market.title, f"certificate {again}"
    if any("stand as" in note for note in found.notes):
        return seed, market.title, f"ties were not settled: {found.notes}"
    alone = qm.certify(market, found.prices, tolerance=TOLERANCE)
    if not alone.certified():
        return seed, market.title, f"prices alone: {alone}"
    return None


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_all_of_them_clear_and_certify(method, part):
    failures = [found for seed in SEEDS[part::3] if (found := failure(seed, method))]
    assert failures == []


@pytest.mark.parametrize("program", ["eisenberg_gale", "shmyrev"])
def test_the_textbook_program_finds_the_same_prices(program):
    """It is right to about 1e-4 of what everything costs; it knows no reserves."""
    textbook, differences = load(program), []
    for seed in [seed for seed in SEEDS[:60] if seed % 3 != 2]:
        market = generate.market(seed)
        values = sp.csr_array(market.utility.values).toarray()
        market = qm.Market(market.budgets ** (1 / 3), market.supplies, qm.Linear(values))
        prices, _ = textbook.solve(market.budgets, market.supplies, values)
        found = qm.clear(market).prices
        if not np.allclose(found, prices, rtol=1e-3, atol=0, equal_nan=True):
            differences.append((seed, market.title, found / prices))
    assert differences == []
