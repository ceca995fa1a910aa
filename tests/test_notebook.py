"""What a notebook shows of a market, a certificate and a program, and their one line."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from tests.shipped import CLEARED
from tests.test_equilibrium_shown import read

TWO = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]))


def test_a_market_shows_teams_resources_and_values():
    market = qm.Market(
        [60, 40, 0], [8, 16], qm.Linear([[4, 1], [2, 1], [3, 3]]), title="Night <shift>",
        buyers=["vision", "speech", "poor"], goods=["h100", "a100"], reserves=[0.5, 0],
    )  # fmt: skip
    page = read(market._repr_html_())
    assert page.tags.count("table") == 3
    assert "Night <shift>: Market(3 buyers, 2 goods, 100 credits)" in page.texts
    assert "excluded: poor: no credits" in page.texts
    assert {"reserve price", "supply", "credits", "vision", "h100", "16", "60"} <= set(page.texts)
    assert "keep value" not in page.texts


def test_a_market_with_pools_shows_own_credits():
    page = read(qm.read_market("edge/pools")._repr_html_())
    assert "own credits" in page.texts


@pytest.mark.parametrize("sparse", [False, True])
def test_of_a_large_market_the_first_rows(sparse):
    values = sp.csr_array(np.ones((30, 12)))
    linear = qm.Linear(values if sparse else values.toarray())
    market = qm.Market(np.ones(30), np.ones(12), linear)
    page = read(market._repr_html_())
    assert any("first 20 of 30 rows" in text for text in page.texts)
    assert any("first 20 of 30 teams, first 8 of 12 resources" in text for text in page.texts)


@pytest.mark.parametrize("name", CLEARED)
def test_every_shipped_market_has_a_page(name):
    read(qm.read_market(name)._repr_html_())


def test_a_certificate_shows_each_residual_and_what_it_means():
    """The second team has half of the 16 chips that its 40 credits buy."""
    page = read(qm.certify(TWO, [7.5, 2.5], [[8, 0], [0, 8]])._repr_html_())
    assert "NOT certified: worst 5.0e-01 > tolerance 1e-08" in page.texts
    assert page.texts.count("NO") == 3  # regret, idle chips, and the gap
    assert page.texts.count("yes") == 5
    assert "nobody could do better with that budget at these prices" in page.texts
    right = read(qm.certify(TWO, [7.5, 2.5], [[8, 0], [0, 16]])._repr_html_())
    assert "Certified: worst 0 <= tolerance 1e-08" in right.texts


def test_a_certificate_in_one_line():
    assert repr(qm.certify(TWO, [7.5, 2.5], [[8, 0], [0, 16]])) == (
        "Certificate(certified at 1e-08: negative 0, reserve 0, overspend 0, regret 0, thrift 0, "
        "overallocated 0, idle 0, gap 0)"
    )
    half = repr(qm.certify(TWO, [7.5, 2.5], [[8, 0], [0, 8]]))
    assert half.startswith("Certificate(NOT certified at 1e-08: ")
    assert "regret 5.0e-01" in half
    assert "\n" not in half


def test_a_program_says_what_it_is():
    kept = qm.Market([60, 40], [8, 16], qm.Linear([[4, 1], [2, 1]]), keep_values=[0.1, 0])
    model = qm.eisenberg_gale(kept)
    assert repr(model) == (
        "EisenbergGaleModel(2 buyers, 2 goods, 1 with kept credits, not solved yet)"
    )
    assert "Eisenberg-Gale program: not solved yet" in read(model._repr_html_()).texts
    model.problem.solve(solver="CLARABEL")
    assert repr(model).endswith("its solver says 'optimal')")
    # two of each buyer's chips, and the kept credits of one
    assert "5" in read(model._repr_html_()).texts


def test_a_program_solved_with_rows_of_ones_own():
    import cvxpy as cp

    model = qm.eisenberg_gale(TWO)
    rows = [*model.problem.constraints, model.allocation[1, 0] >= 1]
    cp.Problem(model.problem.objective, rows).solve(solver="CLARABEL")
    assert repr(model).endswith(", solved)")
