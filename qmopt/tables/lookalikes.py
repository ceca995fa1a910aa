"""Names that eyes take for the same: letters of other scripts, case, accents in two spellings."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Letters that most typefaces draw alike, each under the Latin one that it resembles.
# ruff: noqa: RUF001
_CYRILLIC = ("аеорсухѕіјԛԝһԁӏүАВЕКМНОРСТУХІЈЅԚԜӀ", "aeopcyxsijqwhdlyABEKMHOPCTYXIJSQWI")
_GREEK = ("οανρικυγχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oavpikuyxcjABEZHIKMNOPTYX")
_ARMENIAN = ("օոսհցզՏՍՕԼ", "onuhgqSUOL")
_CHEROKEE = ("ᎪᏴᏟᎬᎻᎫᏦᏞᎷᎡᏚᎢᏙᎳᏃ", "ABCEHJKLMRSTVWZ")
_LISU = ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU")
_COPTIC = ("ⲟⲣⲥⲞⲢⲤⲀⲘⲚⲎ", "opcOPCAMNH")
_SIGNS = (
    "ıɑɡ×\u2010\u2011\u2012\u2013\u2014\u2212\u2043\u2044\u2215‘’ʼ′“”∶ː։·",
    "iagx-------//''''\"\":::.",
)

#: Letters of other scripts, by the Latin letter that each looks like.
LOOKALIKES = {
    theirs: ours
    for letters, latin in (_CYRILLIC, _GREEK, _ARMENIAN, _CHEROKEE, _LISU, _COPTIC)
    for theirs, ours in zip(letters, latin, strict=True)
}
#: Latin letters that look like one of Cyrillic or Greek.
WRITTEN_ALIKE = frozenset(_CYRILLIC[1] + _GREEK[1])

_SAME = LOOKALIKES | dict(zip(*_SIGNS, strict=True))
#: Decompositions that change a letter's width or style and not its looks.
_STYLES = ("<wide>", "<narrow>", "<font>", "<noBreak>", "<compat>")


def folded(text: str) -> str:
    r"""Return a key that names have in common which differ in case, spacing or encoding only.

    Examples
    --------
    >>> folded("Vision ") == folded("vision"), folded("Zo\u00eb") == folded("zoe\u0308")
    (True, True)
    >>> folded("h100") == folded("\uff48\uff11\uff10\uff10"), folded("a b") == folded("ab")
    (True, False)
    """
    if text.isascii():
        return " ".join(text.lower().split()) if " " in text else text.lower()
    return " ".join("".join(map(_plain, unicodedata.normalize("NFD", text))).casefold().split())


def looks(text: str) -> str:
    r"""Return a key that names have in common which look alike.

    Examples
    --------
    >>> looks("visi\u043en") == looks("vision"), looks("visi\u0440n") == looks("vision")
    (True, False)
    """
    if text.isascii():
        return " ".join(text.lower().split()) if " " in text else text.lower()
    plain = "".join(map(_plain, unicodedata.normalize("NFD", text)))
    return " ".join("".join(_SAME.get(c, c) for c in plain).casefold().split())


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return a character in its common width and style; nothing for one that cannot be seen."""
    if unicodedata.category(character) == "Cf" or 0xFE00 <= ord(character) <= 0xFE0F:
        return ""
    if 0xE0100 <= ord(character) <= 0xE01EF:  # which form of a Chinese character
        return ""
    style, _, points = unicodedata.decomposition(character).partition(" ")
    if style not in _STYLES:
        return character
    return "".join(chr(int(point, 16)) for point in points.split())


def difference(one: str, other: str) -> str:
    r"""Say where two names that look alike part.

    Examples
    --------
    >>> difference("visi\u043en", "vision"), difference("a ", "a")
    ('U+043E in place of U+006F', 'U+0020 in place of its end')
    """
    place = next(
        (p for p, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    parts = [
        f"U+{ord(text[place]):04X}" if place < len(text) else "its end" for text in (one, other)
    ]
    return " in place of ".join(parts)
