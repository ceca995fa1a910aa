"""Which characters a name or a text may hold: whatever survives every format and can be seen."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from qmopt.tables.lookalikes import LOOKALIKES, WRITTEN_ALIKE
from qmopt.tables.shown import shown

#: Control characters, line separators, halves of surrogate pairs, marks that turn the direction of
#: writing, private and invisible characters; the two joiners are looked at by themselves.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\uffa0\ufff0-\uffff"
    "\ue000-\uf8ff\U000e0000-\U000e00ff\U000f0000-\U0010ffff]"
)
#: The same, but free text may be broken into lines, tabulated, and marked in its direction.
_UNSEEN_IN_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\u202d\u202e\U000e0000-\U000e007f]"
)
_JOINERS = "\u200c\u200d"
#: Scripts that share letters by their looks, by the first word of a character's name.
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU", "COPTIC")


def bad_characters(text: str, *, in_id: bool) -> str:
    r"""Say which character of a text is refused, or return an empty text.

    Examples
    --------
    >>> bad_characters("h100\nwest", in_id=True)
    "'h100\\nwest' holds the control character U+000A"
    >>> bad_characters("007, größer, Восток", in_id=True)
    ''
    >>> bad_characters("visi\u043en", in_id=True).partition(" mixes ")[2]
    'letters that look alike: U+043E CYRILLIC SMALL LETTER O among LATIN ones'
    """
    found = (_UNSEEN if in_id else _UNSEEN_IN_TEXT).search(text)
    if found is not None:
        kind = (
            "control" if unicodedata.category(found[0]) in ("Cc", "Cs", "Zl", "Zp") else "invisible"
        )
        return f"{shown(text)} holds the {kind} character {code_point(found[0])}"
    if not in_id or text.isascii():
        return ""
    for place, character in enumerate(text):
        if character in _JOINERS and not _joins(text, place):
            return f"{shown(text)} holds the invisible character {code_point(character)}"
    return _mixed(text)


def code_point(character: str) -> str:
    """Return ``U+0430`` for a character."""
    return f"U+{ord(character):04X}"


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands where writing needs one: in Persian and Indic words, and emoji."""
    before, after = text[:place][-1:], text[place + 1 :][:1]
    if not before or not after or after in _JOINERS:
        return False
    if before == "\ufe0f" or unicodedata.category(before) in ("So", "Sk"):
        return True
    return unicodedata.category(before)[0] in "LM" and _script(before) not in _ALIKE


def _script(character: str) -> str:
    return unicodedata.name(character, "").split(" ")[0]


def _mixed(text: str) -> str:
    """Report a word of two scripts that reads as if it were of one."""
    for is_word, run in groupby(text, key=lambda c: unicodedata.category(c)[0] in "LM"):
        word = "".join(run)
        if not is_word or word.isascii():
            continue
        scripts = {c: _script(c) for c in word if _script(c) in _ALIKE}
        latin = [c for c, script in scripts.items() if script == "LATIN"]
        foreign = [c for c, script in scripts.items() if script != "LATIN"]
        if not latin or not foreign:
            continue
        if all(c in LOOKALIKES for c in foreign):
            return _says_mixed(text, foreign[0], "LATIN")
        few = sum(map(word.count, latin)) < sum(map(word.count, foreign))  # not as in Δx
        if few and all(c in WRITTEN_ALIKE for c in latin):
            return _says_mixed(text, latin[0], scripts[foreign[0]])
    return ""


def _says_mixed(text: str, odd: str, among: str) -> str:
    name = f"{code_point(odd)} {unicodedata.name(odd, '')}".strip()
    return f"{shown(text)} mixes letters that look alike: {name} among {among} ones"


def spelled(name: str) -> str:
    r"""Return the code points that eyes may miss in a name that is not known, or nothing.

    Examples
    --------
    >>> spelled("v\u0430lue"), spelled("value")
    (' (U+0430)', '')
    """
    odd = [c for c in dict.fromkeys(name) if not c.isascii() and c.isprintable()]
    return f" ({', '.join(map(code_point, odd[:4]))})" if odd else ""
