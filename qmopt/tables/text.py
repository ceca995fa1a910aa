"""Files in, never more of them than is allowed; text files out, whole or not at all."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from qmopt.errors import Problem, TableError
from qmopt.tables.limits import MIB, Limits

# UTF-32 first: its little-endian mark starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: How files start that are no text and are often given a text's name.
_PACKED = (
    (b"\x1f\x8b", "is compressed by gzip; unpack it"),
    (b"BZh", "is compressed by bzip2; unpack it"),
    (b"\xfd7zXZ\0", "is compressed by xz; unpack it"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd; unpack it"),
    (b"PK\x03\x04", "is a zip archive, perhaps a spreadsheet; save it as text"),
)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def not_a_file(mode: int) -> str:
    """Return what a path leads to instead of a file, or an empty text.

    Examples
    --------
    >>> not_a_file(stat.S_IFIFO | 0o600), not_a_file(stat.S_IFREG)
    ('a named pipe', '')
    """
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "something else")


def open_file(path: Path, limits: Limits, limit: str) -> BinaryIO:
    """Open a regular file of limited size; a pipe or device would keep its reader waiting.

    Parameters
    ----------
    path
        Of the file.
    limits, limit
        What is allowed, and which of it bounds the size in MiB; an empty text for none.

    Raises
    ------
    TableError
        When it cannot be opened, is no file, or is too large.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        _refuse_kind(path, path.stat().st_mode)
        file = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise unreadable(path, error) from error
    except TableError:
        raise
    except ValueError as error:  # a NUL in the path
        raise TableError([Problem(repr(path.as_posix()), str(error))]) from error
    try:
        found = os.fstat(file.fileno())
        _refuse_kind(path, found.st_mode)
        if limit:
            limits.check(limit, found.st_size / MIB, path.as_posix(), "has {} MiB")
    except BaseException:
        file.close()
        raise
    return file


def _refuse_kind(path: Path, mode: int) -> None:
    if kind := not_a_file(mode):
        raise TableError([Problem(path.as_posix(), f"is {kind}, not a file")])


def read_text(path: Path, limits: Limits, limit: str) -> str:
    """Return a file's text: UTF-8, or what its byte-order mark says.

    Raises
    ------
    TableError
        When it cannot be opened, is too large, or is in another encoding.
    """
    with open_file(path, limits, limit) as file:
        try:
            raw = _contents(file, getattr(limits, limit) * MIB)
        except OSError as error:
            raise unreadable(path, error) from error
    limits.check(limit, len(raw) / MIB, path.as_posix(), "has more than {} MiB")
    for start, said in _PACKED:
        if raw.startswith(start):
            raise TableError([Problem(path.as_posix(), said)])
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


def _contents(file: BinaryIO, most: int) -> bytes:
    """Read a file, and one byte beyond the most: it may grow, or have no size to be asked for."""
    raw = file.read(min(os.fstat(file.fileno()).st_size, most) + 1)
    while len(raw) <= most and (more := file.read(MIB)):
        raw += more
    return raw


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
