"""The seeded tenth of the slow tests: the same for a seed, another for another, never skipped."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
TWENTY_SLOW = """
import pytest

def test_quick():
    pass

@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_slow(number):
    pass
"""


@pytest.fixture
def session(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    (tmp_path / "test_twenty.py").write_text(TWENTY_SLOW)

    def session(*arguments):
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    return session


def drawn(done):
    return re.findall(r"test_slow\[(\d+)\] PASSED", done.stdout)


def test_a_tenth_is_drawn_by_the_seed(session):
    first, again, other = (session("-m", "slow", "--slow-tenth", s) for s in ("3", "3", "4"))
    assert len(drawn(first)) == len(drawn(other)) == 2
    assert drawn(first) == drawn(again) != drawn(other)
    assert "2 passed, 19 deselected" in first.stdout
    assert "seed 3" in first.stdout


def test_without_a_seed_all_are_run(session):
    assert len(drawn(session("-m", "slow"))) == 20


def test_quick_tests_are_not_thinned_out(session):
    assert "3 passed, 18 deselected" in session("--slow-tenth", "3").stdout


def test_no_slow_test_at_all_is_what_the_ci_script_expects(session):
    assert session("-m", "slow and not slow", "--slow-tenth", "3").returncode == 5
