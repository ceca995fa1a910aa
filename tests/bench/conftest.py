"""A market that stands for any, large enough that methods are not only getting warm on it."""

import numpy as np
import pytest

import qmopt as qm
from qmopt.bench import process

BUYERS = 20


@pytest.fixture
def market():
    """One good for each buyer, at 2 credits: nobody wants anybody else's."""
    return qm.Market(
        np.full(BUYERS, 2.0), np.ones(BUYERS), qm.Linear(np.eye(BUYERS)), title="one for each"
    )


@pytest.fixture
def impatient(monkeypatch):
    """Who does not answer is ended at once."""
    monkeypatch.setattr(process, "GRACE", 0.1)
    monkeypatch.setattr(process, "WARMING_UP", 5.0)
