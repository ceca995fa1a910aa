"""A market of every table, and ways to put a text on disk and read what is wrong with it."""

import copy

import pytest

from qmopt import tables
from qmopt.errors import TableError

FULL = {
    "market": [{"title": "Everything", "period": "1 day"}],
    "resources": [
        {"resource": "h100@east", "supply": 8, "gpu_type": "h100", "reserve_price": 0.5, "unit": 8},
        {"resource": "l4@west", "supply": 16},
    ],
    "pools": [{"pool": "research", "weight": 70, "minted": 700}, {"pool": "product", "weight": 30}],
    "pool_supply": [{"pool": "research", "resource": "l4@west", "units": 4}],
    "teams": [
        {"team": "a", "credits": 60, "pool": "research", "keep_value": 0.1, "utility_cap": 50},
        {"team": "b", "credits": 24, "pool": "product"},
    ],
    "workloads": [
        {"team": "a", "workload": "train", "demand": 100, "gang": 4, "priority": -1},
        {"team": "a", "workload": "serve", "demand": 9, "limit_price": 2, "deadline": "2026-03-01"},
    ],
    "bids": [
        {"team": "a", "workload": "train", "resource": "h100@east", "value": 4, "rate": 2},
        {"team": "a", "workload": "train", "option": "mixed", "value": 5},
        {"team": "b", "resource": "l4@west", "value": 1.5},
    ],
    "needs": [
        {"team": "a", "workload": "train", "option": "mixed", "resource": "h100@east", "units": 1},
        {"team": "a", "workload": "train", "option": "mixed", "resource": "l4@west", "units": 2},
    ],
    "guarantees": [{"team": "b", "resource": "l4@west", "units": 1}],
    "allocation": [{"team": "b", "resource": "l4@west", "units": 3}],
    "prices": [{"resource": "h100@east", "price": 7.5}, {"resource": "l4@west"}],
    "expected": [{"resource": "h100@east", "price": "109/18"}],
}


@pytest.fixture
def full():
    """Rows of every table, free to be changed."""
    return copy.deepcopy(FULL)


@pytest.fixture
def plain():
    """Rows of the smallest market with two teams and two resources."""
    return {
        "resources": [{"resource": "h100@east", "supply": 8}, {"resource": "l4@west", "supply": 4}],
        "teams": [{"team": "a", "credits": 6}, {"team": "b", "credits": 24}],
        "bids": [
            {"team": "a", "resource": "h100@east", "value": 2},
            {"team": "b", "resource": "l4@west", "value": 1},
        ],
    }


@pytest.fixture
def save(tmp_path):
    """Write text or bytes under a name, return the path."""

    def save(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return save


@pytest.fixture
def complaints(tmp_path):
    """Call something that must raise a TableError; return its lines, without the folder."""

    def complaints(call, *args, **kwargs):
        with pytest.raises(TableError) as caught:
            call(*args, **kwargs)
        return str(caught.value).replace(f"{tmp_path.as_posix()}/", "").splitlines()

    return complaints


@pytest.fixture
def refused(complaints):
    """Return what is wrong with tables made in Python."""
    return lambda **frames: complaints(tables.from_frames, **frames)
