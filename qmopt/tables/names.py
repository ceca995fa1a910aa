"""Which characters a name or a text may hold: whatever survives every format and can be seen."""

from __future__ import annotations

import re

from qmopt.tables.numerals import shown

#: Control characters, line separators, halves of surrogate pairs, the byte-order mark.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
#: The same, but free text may be broken into lines and tabulated.
_UNSEEN_IN_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")


def bad_characters(text: str, *, in_id: bool) -> str:
    r"""Say which character of a text is refused, or return an empty text.

    Examples
    --------
    >>> bad_characters("h100\nwest", in_id=True)
    "'h100\\nwest' holds the control character U+000A"
    >>> bad_characters("007, größer", in_id=True)
    ''
    """
    found = (_UNSEEN if in_id else _UNSEEN_IN_TEXT).search(text)
    if found is None:
        return ""
    return f"{shown(text)} holds the control character U+{ord(found[0]):04X}"
