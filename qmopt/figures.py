"""Numbers for people: as many digits as matter, decimal points one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: Significant digits of the largest number of a column.
DIGITS = 6
#: Numbers from here on are written with an exponent.
LONGEST = 1e15
#: What stands where no number does.
NONE = "-"


def column(values: Iterable[float | None], digits: int = DIGITS) -> list[str]:
    """Format the numbers of one column alike.

    The largest gets ``digits`` significant digits and sets the decimals of all. A number that these
    would cut to less than two digits of its own is written on its own terms, zero as a plain 0.
    Decimals that are zero in the whole column are dropped.

    Examples
    --------
    >>> column([7.5, 2.5, None])
    ['7.5', '2.5', '-']
    >>> column([109 / 18, 109 / 45, 2e-7, 0])
    ['6.05556', '2.42222', '2e-07', '0']
    >>> column([8.0, 16.0, 123456789.0, 0.25])
    ['8', '16', '123456789', '0.25']
    """
    numbers = [math.nan if v is None else float(v) for v in values]
    largest = max((abs(v) for v in numbers if math.isfinite(v)), default=0.0)
    decimals = digits - 1 - math.floor(math.log10(largest)) if largest > 0 else 0
    decimals = min(max(decimals, 0), 9)
    aligned = [f"{v:.{decimals}f}" if _fits(v, decimals) else "" for v in numbers]
    spare = min((len(t) - len(t.rstrip("0")) for t in aligned if "." in t), default=0)

    def shortened(text: str) -> str:
        return text[: len(text) - spare].removesuffix(".") if "." in text else text

    return [shortened(text) or _alone(v) for text, v in zip(aligned, numbers, strict=True)]


def _alone(value: float) -> str:
    return NONE if math.isnan(value) else f"{value + 0.0:.3g}"  # no sign before a zero


def _fits(value: float, decimals: int) -> bool:
    """Whether so many decimals leave a nonzero number at least two digits, or all that it has."""
    if value == 0 or not math.isfinite(value) or abs(value) >= LONGEST:
        return False
    return abs(value) * 10**decimals >= 10 or float(f"{value:.{decimals}f}") == value


def small(value: float | None) -> str:
    """Format one residual: its size is what matters.

    Examples
    --------
    >>> small(2.345e-12), small(0.0), small(None), small(float("inf"))
    ('2.3e-12', '0', '-', 'inf')
    """
    if value is None:
        return NONE
    return "0" if value == 0 else f"{value:.1e}" if math.isfinite(value) else f"{value}"
