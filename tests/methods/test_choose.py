"""The rule by which a method is chosen, as docs/choosing.md states it."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods.choose import choose
from qmopt.utilities import Activities, Utility


class Own(Utility):
    """Somebody's own: each buyer wants one chip of each good together."""

    shape = (3, 2)

    def value(self, allocation):
        return np.asarray(allocation).min(axis=1)

    def activities(self):
        return Activities(np.arange(3), sp.csr_array(np.ones((3, 2))), np.ones(3))

    def levels(self, allocation):
        return self.value(allocation)

    def take(self, buyers, goods):
        raise NotImplementedError


INF = np.inf
PLAIN = qm.Linear([[4, 1], [2, 1]])
SMOOTH = qm.CobbDouglas([[4, 1], [2, 1]])


def workloads(team, values, limit_price=INF):
    """Of two teams: each workload has one option, the first good."""
    count = len(team)
    limits = np.full(count, limit_price)
    family = qm.Workloads(
        team, np.ones(count), np.arange(count), np.ones((count, 1)), values, limit_prices=limits
    )
    return qm.Market([1, 1], [1], family)


ONE_EACH, SEVERAL = workloads([0, 1], [1, 2]), workloads([0, 0, 1], [1, 2, 1])
LIMITED = workloads([0, 1], [1, 2], limit_price=3)
BUNDLES = qm.Bundles([0, 1], [[1, 2], [2, 1]])
MANY_GOODS = qm.Bundles([0, 1], np.ones((2, 1001)))


@pytest.mark.parametrize(
    ("market", "method"),
    [
        (generate.integer(20, 10), qm.Pivoting),
        (generate.integer(20, 11), qm.InteriorPoint),
        (generate.integer(5000, 3), qm.InteriorPoint),
        (generate.uniform(5000, 100), qm.ColumnGeneration),
        (generate.uniform(2000, 100), qm.InteriorPoint),
        (generate.sparse(5000, 100), qm.ColumnGeneration),
        (generate.uniform(900, 400), qm.InteriorPoint),
        (generate.uniform(3, 5000), qm.InteriorPoint),
        (generate.copies(600), qm.LinearProgramming),
        (qm.Market(np.ones(3), np.ones(2), Own()), qm.InteriorPoint),
        (qm.Market([1, 1], [1, 1], PLAIN, utility_caps=[1, INF]), qm.InteriorPoint),
        (qm.Market([1, 1], [1, 1], PLAIN, utility_caps=[INF, INF]), qm.Pivoting),
        (qm.Market([1, 1], [1, 1], BUNDLES), qm.InteriorPoint),
        (qm.Market([1, 1], [1, 1], BUNDLES, utility_caps=[1, 1]), qm.InteriorPoint),
        (qm.Market([1, 1], np.ones(1001), MANY_GOODS), qm.EisenbergGale),
        (ONE_EACH, qm.InteriorPoint),
        (SEVERAL, qm.EffectiveBudgets),
        (qm.Market([1, 1], [1, 1], SMOOTH), qm.Newton),
        (qm.Market([1, 1], [1, 1], SMOOTH, keep_values=[0, 1]), qm.EisenbergGale),
        (qm.Market([1, 1], [1, 1], SMOOTH, utility_caps=[1, INF]), qm.EisenbergGale),
    ],
)
def test_the_shape_decides(market, method):
    assert isinstance(choose(market), method)


def test_a_split_is_chosen_where_a_limit_price_needs_one_and_it_is_accepted():
    assert isinstance(choose(LIMITED, ["split"]), qm.Split)
    assert isinstance(choose(LIMITED, ["nash_welfare"]), qm.InteriorPoint)
    assert isinstance(choose(SEVERAL, ["split"]), qm.EffectiveBudgets)


@pytest.mark.parametrize(
    "market",
    [generate.integer(20, 10), generate.tied(400, 3), generate.copies(501), ONE_EACH, SEVERAL],
)
def test_clear_takes_what_was_chosen(market):
    found = qm.clear(market)
    assert isinstance(found.method, type(choose(market)))
    assert found.certificate.worst < 1e-9
