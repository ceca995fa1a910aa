"""Line numbers of rows in TOML and JSON, found only once a message asks for one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_JSON = re.compile(r'"((?:\\.|[^"\\])*)"(\s*:)?|[\[\]{}]', re.DOTALL)
_TOML = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|\#[^\n]*'
    r"|^[ \t]*\[\[[ \t]*(?P<row>[\w-]+)[ \t]*\]\]"
    r"|^[ \t]*(?P<header>\[)"
    r"|^[ \t]*(?P<key>[\w-]+)[ \t]*="
    r"|[\[\]{}]",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class TextLines:
    r"""Where the rows of one table start in a text.

    Parameters
    ----------
    text
        A whole file that parses.
    table
        A key at its top, holding rows.
    toml
        TOML; otherwise JSON.

    Examples
    --------
    >>> text = '{"teams": [\n  {"team": "a"},\n  {"team": "b"}]}'
    >>> list(TextLines(text, "teams", toml=False))
    [2, 3]
    >>> list(TextLines('[[teams]]\nteam = "a"\n[[teams]]\nteam = "b"\n', "teams", toml=True))
    [1, 3]
    """

    text: str
    table: str
    toml: bool

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, row: int, /) -> int:
        return self._lines[row]

    @cached_property
    def _lines(self) -> list[int]:
        starts = self._toml_starts() if self.toml else self._json_starts()
        lines, line, last = [], 1, 0
        for start in starts:
            line += self.text.count("\n", last, start)
            last = start
            lines.append(line)
        return lines

    def _json_starts(self) -> list[int]:
        starts, depth, key = [], 0, ""
        for match in _JSON.finditer(self.text):
            token = match[0]
            if token[0] == '"':
                if depth == 1 and match[2]:
                    key = match[1]
            elif token in "[{":
                if token == "{" and depth == 2 and key == self.table:
                    starts.append(match.start())
                depth += 1
            else:
                depth -= 1
        return starts

    def _toml_starts(self) -> list[int]:
        starts, depth, key, headed = [], 0, "", False
        for match in _TOML.finditer(self.text):
            token = match[0].strip()
            if token[0] in "\"'#":
                continue
            if depth == 0 and match["row"]:
                headed = True
                if match["row"] == self.table:
                    starts.append(match.end() - len(token))
            elif match["key"]:
                key = match["key"] if depth == 0 and not headed else key
            elif match["row"] is None and token in "[{":
                headed = headed or (depth == 0 and match["header"] is not None)
                if token == "{" and depth == 1 and key == self.table:
                    starts.append(match.start())
                depth += 1
            elif token in "]}":
                depth -= 1
        return starts
