"""The rule by which a method is chosen, as docs/choosing.md states it."""

import numpy as np
import pytest
import scipy.sparse as sp

import qmopt as qm
from qmopt import generate
from qmopt.methods.choose import choose
from qmopt.utilities import Activities, Utility


class Bundles(Utility):
    """Each buyer wants one chip of each good together."""

    shape = (3, 2)

    def value(self, allocation):
        return np.asarray(allocation).min(axis=1)

    def activities(self):
        return Activities(np.arange(3), sp.csr_array(np.ones((3, 2))), np.ones(3))

    def levels(self, allocation):
        return self.value(allocation)

    def take(self, buyers, goods):
        raise NotImplementedError


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
        (qm.Market(np.ones(3), np.ones(2), Bundles()), qm.EisenbergGale),
    ],
)
def test_the_shape_decides(market, method):
    assert isinstance(choose(market), method)


@pytest.mark.parametrize(
    "market", [generate.integer(20, 10), generate.tied(400, 3), generate.copies(501)]
)
def test_clear_takes_what_was_chosen(market):
    found = qm.clear(market)
    assert isinstance(found.method, type(choose(market)))
    assert found.certificate.worst < 1e-9
