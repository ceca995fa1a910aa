"""The blocks of a Markdown page: files that it shows, and commands that it has a reader type.

A fenced block with a line ``:caption: q3/teams.csv`` is a file of that name. A block marked
``console`` is a session: ``$`` starts a command, ``>`` goes on with it, and the lines below, if
there are any, are what it prints, with ``...`` for what does not matter. A block marked ``sh`` is a
script that has to end well.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts),
]

FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r"^:caption: *(\S+) *\n", re.MULTILINE)
OPTION = re.compile(r"\A(?::[\w-]+:[^\n]*\n)*\n?")


@dataclass(frozen=True)
class Command:
    """One command, the page's line that it starts on, and what it prints (empty: not told)."""

    line: int
    text: str
    prints: str = ""


def name(page: Path) -> str:
    """Return a page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


def write_files(page: Path, folder: Path) -> list[str]:
    """Write every file that a page shows into a folder, and return their names."""
    written = []
    for _, _, body in FENCE.findall(page.read_text("utf-8")):
        options = OPTION.match(body)[0]
        caption = CAPTION.search(options)
        if caption is None:
            continue
        assert caption[1] not in written, f"{name(page)} shows {caption[1]} twice"
        target = folder / caption[1]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body.removeprefix(options), encoding="utf-8")
        written.append(caption[1])
    return written


def commands(page: Path) -> list[Command]:
    """Return every command of a page, in order."""
    text = page.read_text("utf-8")
    found = []
    for fence in FENCE.finditer(text):
        language = fence[2].strip()
        line = text[: fence.start()].count("\n") + 2
        if language == "console":
            found += _session(fence[3], line)
        elif language == "sh":
            found.append(Command(line, fence[3]))
    return found


def _session(body: str, line: int) -> list[Command]:
    found: list[Command] = []
    for number, row in enumerate(body.splitlines(), line):
        if row.startswith("$ "):
            found.append(Command(number, row[2:]))
            continue
        assert found, f"line {number}: a session starts with '$ '"
        last = found[-1]
        if row.startswith("> ") and not last.prints:
            found[-1] = Command(last.line, f"{last.text}\n{row[2:]}")
        else:
            found[-1] = Command(last.line, last.text, f"{last.prints}{row}\n")
    return found
