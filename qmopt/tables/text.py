"""Text files in, whatever a spreadsheet saved them as; text files out, whole or not at all."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from pathlib import Path

from qmopt.errors import Problem, TableError

# UTF-32 first: its little-endian mark starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(path: Path) -> str:
    """Return a file's text: UTF-8, or what its byte-order mark says.

    Raises
    ------
    TableError
        When it cannot be opened, or is in another encoding.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        where = f"{path.as_posix()} line {line}"
        byte = f"byte 0x{raw[error.start]:02x}"
        raise TableError([Problem(where, f"{byte} is not {encoding}; save it as UTF-8")]) from error
    if "\0" in text:
        where = f"{path.as_posix()} line {text.count(chr(10), 0, text.index(chr(0))) + 1}"
        raise TableError([Problem(where, "holds a NUL; save it as UTF-8")])
    return text


def unreadable(path: Path, error: OSError) -> TableError:
    """Return the error for a file that the system does not hand over."""
    reason = error.strerror or str(error)
    return TableError([Problem(path.as_posix(), reason[:1].lower() + reason[1:])])


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written beside its name, then moved onto it.

    A reader never meets half a file, and a market may be written over the one it was read from,
    memory-mapped values included.
    """
    # Readers of a folder pass over names that start with an underscore. The suffix stays last:
    # numpy would add its own.
    draft = path.with_name(f"_{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(draft)
        draft.replace(path)
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text with the line ends as they stand."""
    replace_file(path, lambda draft: draft.write_bytes(text.encode("utf-8")))
