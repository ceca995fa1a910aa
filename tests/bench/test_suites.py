"""The suites: the distributions of their sources, built only when asked for."""

import numpy as np
import pytest

import qmopt as qm
from qmopt import catalogue
from qmopt.bench import SUITES, published, suite, suites
from qmopt.bench.published import PUBLISHED


@pytest.mark.parametrize("name", list(SUITES))
def test_cases_have_names_of_their_own_and_the_shapes_that_they_say(name):
    quick, full = suite(name), suite(f"{name}:full")
    assert len(full) >= len(quick) > 0
    for cases in (quick, full):
        assert len({case.name for case in cases}) == len(cases)
        assert {case.suite for case in cases} == {name}
    smallest = min(quick, key=lambda case: case.shape)
    assert smallest.build().shape == smallest.shape
    assert [case.name for case in suite(f"{name}:quick")] == [case.name for case in quick]


def test_the_same_case_is_the_same_market():
    for name in ("squares", "pdhcg-fisher", "gao-kroer"):
        case = suite(name)[0]
        assert case.build().hash == case.build().hash


def test_gao_kroer_draws_as_their_scripts_do():
    """np.random.seed(sd); abs(draw(size=(n, 2n))), n in 200, 400, 600, 800."""
    for name in ("uniform", "normal", "exponential", "lognormal"):
        np.random.seed(3)
        theirs = np.abs(getattr(np.random, name)(size=(5, 10)))
        draw = {"exponential": "exp"}.get(name, name)
        np.testing.assert_array_equal(suites.gao_kroer(draw, 5, 3).utility.values, theirs)
    market = suites.gao_kroer("exp", 5, 1)
    assert (market.budgets == 1).all()
    assert (market.supplies == 1).all()
    assert {case.shape for case in suite("gao-kroer:full")} == {
        (n, 2 * n) for n in (200, 400, 600, 800)
    }


def test_squares_are_what_they_are_called():
    n = 60
    drawn = {name: suites.square(name, n).utility.values for name in ("uniform", "integer")}
    for values in drawn.values():
        np.testing.assert_allclose(values.sum(axis=1), 1)
    ones = drawn["integer"] / drawn["integer"].min(axis=1, keepdims=True)
    whole = [row for row in ones if np.allclose(row, row.round())]
    assert len(whole) > n / 2  # of the others the least value is not 1
    assert {float(value) for row in whole for value in row.round()} == set(range(1, 11))
    logs = np.log(suites.square("lognormal", n).utility.values)
    spread = (logs - logs.mean(axis=1, keepdims=True)).std()
    assert 9 < spread < 11


def test_pdhcg_has_a_fifth_of_all_pairs():
    market = suites.pdhcg(1000, 100)
    assert market.utility.values.nnz == 20_000
    assert market.active.all()
    assert market.sold.all()
    assert (market.supplies == 250).all()
    assert 0 < market.budgets.min() < market.budgets.max() <= 1
    assert suite("pdhcg-fisher:full")[0].shape == (10_000, 400)


def test_nothing_is_built_before_it_is_run():
    """The full scaling suite would take a gigabyte; describing it takes none."""
    assert suite("scaling:full")[-1].shape == (1_000_000, 100)


def test_shipped_markets_are_a_suite():
    assert [case.name for case in suite("models:full")] == catalogue.names()
    assert {case.name for case in suite("models")} < set(catalogue.names())


def test_an_unknown_suite():
    with pytest.raises(qm.MarketError, match="there are models, gao-kroer"):
        suite("maros")


def test_published_rows_belong_to_a_suite():
    cases = [case for name in SUITES for size in ("", ":full") for case in suite(name + size)]
    known = {(case.family, case.shape) for case in cases}
    assert set(PUBLISHED) <= known
    found = published(cases)
    assert len(found) >= sum(map(len, PUBLISHED.values()))
    assert all(row.status == "published" and not row.measured for row in found)
