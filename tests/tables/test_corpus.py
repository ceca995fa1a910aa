"""Mutants that once were findings, or are unlike all others: read, or refused in our own words."""

import signal

import pytest

from tests.tables import fuzz
from tests.tables.mutants import FORMATS
from tests.tables.trees import sound

FILES = sorted(path for path in fuzz.CORPUS.iterdir() if not path.name.startswith("."))


@pytest.fixture(autouse=True)
def alarm():
    """Have the alarm of a mutant that never ends ring here as it does while fuzzing."""
    before = signal.signal(signal.SIGALRM, fuzz.ring)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def trees():
    return sound()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("exact", [False, True])
def test_the_corpus(path, exact):
    _, _, findings = fuzz.outcome(fuzz.loaded(path), exact=exact)
    assert findings == []


def test_there_is_a_corpus():
    assert 150 < len(FILES) <= 300
    assert sum(path.stat().st_size for path in FILES) < 2**21


@pytest.mark.parametrize("form", FORMATS)
def test_fresh_mutants(form, trees):
    past = 0
    for number in range(100):
        files, exact = fuzz.made(form, 1, number, trees)
        _, reached, findings = fuzz.outcome(files, exact=exact)
        assert findings == []
        past += reached
    assert past >= 50  # at least half get past the parser


@pytest.mark.parametrize("number", [1376, 14736])
def test_a_dictionary_of_parquet_that_lies_about_its_entries(number):
    """A turned byte made a cell an entry that its dictionary has not."""
    path = fuzz.CORPUS / f"found-parquet-{number}.folder"
    said, _, findings = fuzz.outcome(fuzz.loaded(path))
    assert "is not Parquet: In chunk" in said
    assert "Dictionary indices invalid" in said
    assert findings == []
