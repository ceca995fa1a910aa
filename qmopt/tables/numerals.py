"""Numbers as text: the grammar that is read, and the shortest text that reads back the same."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import cached_property

from qmopt.errors import TableError
from qmopt.tables.limits import DEFAULT, Limits
from qmopt.tables.shown import Refused, shown

_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")


@dataclass(frozen=True)
class Numerals:
    """How a file writes its numbers.

    Parameters
    ----------
    decimal
        ``"."`` or ``","``.
    thousands
        The mark between groups of three digits; None where there is none.

    Raises
    ------
    TableError
        When the marks are not single characters, or are the same.

    Examples
    --------
    >>> german = Numerals(decimal=",", thousands=".")
    >>> german.plain("1.299,99"), german.plain("1.299"), german.plain("12.34")
    ('1299.99', '1299', None)
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise TableError(f"decimal={self.decimal!r}: the decimal mark is '.' or ','")
        mark = self.thousands
        if mark is None:
            return
        if len(mark) != 1 or mark.isalnum() or mark in '+-"\r\n':
            raise TableError(f"thousands={mark!r}: it is one character such as '.', ',' or \"'\"")
        if mark == self.decimal:
            raise TableError(f"decimal and thousands are both {mark!r}")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a whole cell must match."""
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands is not None:
            # A group never starts with 0: 0.299 under thousands="." is a decimal, misdeclared.
            whole = rf"(?:[1-9][0-9]{{0,2}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        return re.compile(rf"[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?")

    def plain(self, text: str) -> str | None:
        """Return the number as Python writes it, or None where the text is not one."""
        return self.normal(text) if self.pattern.fullmatch(text) else None

    def normal(self, text: str) -> str:
        """Swap the marks of text that is known to match."""
        if self.thousands is not None:
            text = text.replace(self.thousands, "")
        return text if self.decimal == "." else text.replace(self.decimal, ".")

    def hint(self, text: str) -> str:
        """Say how a cell that is no number here could be declared to be one."""
        if not text.isascii() and any(map(str.isdigit, text)):
            return "; digits are 0 to 9"
        for other in _COMMON:
            if other != self and other.plain(text) is not None:
                marks = f"decimal={other.decimal!r}"
                marks += f", thousands={other.thousands!r}" if other.thousands else ""
                return f"; if the file writes numbers that way, declare {marks}"
        return ""


#: As Python, TOML and JSON write numbers.
PLAIN = Numerals()
_COMMON = (Numerals(","), Numerals(".", ","), Numerals(",", "."), PLAIN)


#: Why a number is refused that is not 0 and would become it.
TOO_SMALL = "is too close to 0 for a number here"
TOO_LARGE = "is too large for a number here"


def floating(text: str, limits: Limits = DEFAULT) -> float | Refused:
    """Convert a plain decimal number to the nearest double.

    One that is too long, or so large or small that no double is near, is refused.

    Examples
    --------
    >>> floating("24.50"), floating("1e309").why, floating("1e-400").why
    (24.5, 'is too large for a number here', 'is too close to 0 for a number here')
    """
    if len(text) > limits.number_length:
        return Refused(text, limits.refusal("number_length", len(text), "has {} characters"))
    number = float(text)
    if math.isinf(number):
        return Refused(text, TOO_LARGE)
    return Refused(text, TOO_SMALL) if number == 0 and vanishes(text) else number


def vanishes(text: str) -> bool:
    """Whether a number that is 0 as a double has a digit that is not."""
    return _DIGIT.match(text) is not None


_DIGIT = re.compile("[^eE1-9]*[1-9]")


def exact(text: str, limits: Limits = DEFAULT) -> Fraction | Refused:
    """Convert a plain decimal number to the rational that it writes.

    Examples
    --------
    >>> exact("24.50")
    Fraction(49, 2)
    """
    nearest = floating(text, limits)
    if isinstance(nearest, Refused):
        return nearest
    match = _PLAIN.fullmatch(text)
    exponent = (match[1] or "0").lstrip("+-").lstrip("0") if match else ""
    if len(exponent) > 9 or int(exponent or "0") > limits.exponent:
        found = min(int(exponent[:10]), 10**9)
        return Refused(text, limits.refusal("exponent", found, "has an exponent of {}"))
    return Fraction(text)


def rational(text: str) -> Fraction:
    """Return the number that a text such as ``"109/18"`` or ``"10.9"`` writes.

    Raises
    ------
    TableError
        When it is neither a decimal number nor a fraction of whole numbers.

    Examples
    --------
    >>> rational("109/18")
    Fraction(109, 18)
    >>> rational("10.9") == Fraction(109, 10)
    True
    """
    stripped = text.strip()
    if re.fullmatch(r"[+-]?[0-9]{1,400}/[0-9]{1,400}", stripped):
        above, below = stripped.split("/")
        if int(below) == 0:
            raise TableError(f"{shown(text)} divides by zero")
        return Fraction(int(above), int(below))
    number = exact(stripped) if _PLAIN.fullmatch(stripped) else None
    if number is None:
        raise TableError(f"{shown(text)} is neither a number nor a fraction such as '109/18'")
    if isinstance(number, Refused):
        raise TableError(f"{shown(text)} {number.why}")
    return number


def number_text(number: float | Fraction) -> str:
    """Return the text that reads back as exactly this number.

    Raises
    ------
    TableError
        When a Fraction has no finite decimal expansion.

    Examples
    --------
    >>> number_text(16.0), number_text(0.1), number_text(Fraction(1, 8))
    ('16', '0.1', '0.125')
    """
    if isinstance(number, Fraction):
        return str(exact_decimal(number))
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def exact_decimal(number: Fraction) -> Decimal:
    """Return the decimal number equal to a Fraction, or raise TableError where there is none."""
    below, twos, fives = number.denominator, 0, 0
    while below % 2 == 0:
        below, twos = below // 2, twos + 1
    while below % 5 == 0:
        below, fives = below // 5, fives + 1
    if below != 1:
        raise TableError(f"{number} has no finite decimal: a file could not hold it exactly")
    places = max(twos, fives)
    digits = number.numerator * 2 ** (places - twos) * 5 ** (places - fives)
    context = Context(
        prec=max(len(str(abs(digits))), 1), Emax=10**6, Emin=-(10**6), traps=[Inexact]
    )
    return context.create_decimal(digits).scaleb(-places, context)
