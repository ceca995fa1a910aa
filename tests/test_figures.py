"""Numbers in tables: nothing that is not zero reads as zero, nothing is longer than it need be."""

import math

from hypothesis import given
from hypothesis import strategies as st

from qmopt.figures import column, small

numbers = st.floats(0, 1e12, allow_subnormal=False)


@given(st.lists(numbers, min_size=1, max_size=8))
def test_what_is_shown_is_the_number_to_two_digits_or_to_six_of_the_largest(values):
    shown = [float(text) for text in column(values)]
    for value, read in zip(values, shown, strict=True):
        assert math.isclose(read, value, rel_tol=0.051)
        assert (read == 0) == (value == 0)
    largest = max(values)
    if largest >= 1e-3:
        assert math.isclose(max(shown), largest, rel_tol=1e-5)


@given(st.lists(st.integers(0, 10**9), min_size=1))
def test_whole_numbers_have_no_decimals(values):
    assert column(values) == [str(value) for value in values]


def test_what_is_not_a_number_is_a_dash():
    assert column([math.nan, None, 1.5]) == ["-", "-", "1.5"]
    assert column([]) == []
    assert column([math.inf, 2]) == ["inf", "2"]
    assert column([2.5, 0.0, 4.0]) == ["2.5", "0", "4.0"]
    assert column([750001.0, 0.25, 4.0, 1e-9]) == ["750001", "0.25", "4", "1e-09"]
    assert small(-1e-9) == "-1.0e-09"
