"""Matrices on disk, their headers held against the limits before any number is read."""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from qmopt.errors import Problem, TableError
from qmopt.tables.dense import Values, as_values, check_form
from qmopt.tables.limits import MIB, Limits
from qmopt.tables.text import open_file, unreadable

#: Arrays of a sparse matrix: what scipy.sparse.save_npz writes, for the forms that are read.
_WHOLE = ("indices", "indptr", "row", "col", "coords", "shape")
_MEMBERS = {f"{name}.npy" for name in (*_WHOLE, "data", "format", "_is_array")}
#: Longest directory of a zip archive: a matrix has five or six entries of less than 100 bytes.
_DIRECTORY = 4096
#: Longest header of an array.
_HEADER = 4096
_FORM = re.compile(
    r"\{\s*'descr':\s*'(?P<type>[^']{1,40})',\s*'fortran_order':\s*(?:True|False),"
    r"\s*'shape':\s*\((?P<shape>(?:\s*[0-9]{1,18}\s*,?)*+)\s*\),?\s*\}\s*"
)

#: What NumPy, SciPy and zipfile raise over a file that is not as it should be.
_BROKEN = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    EOFError,
    RuntimeError,  # an encrypted member; RecursionError and NotImplementedError are among them
    MemoryError,
    OverflowError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


def read(path: Path, limits: Limits) -> Values:
    """Return the matrix of a file, not yet checked against any table.

    Parameters
    ----------
    path
        ``.npy`` with a two-dimensional array, opened memory-mapped; or ``.npz`` as
        ``scipy.sparse.save_npz`` writes it, for CSR, CSC and COO.
    limits
        Of its numbers, and of what a compressed file may unfold to.

    Raises
    ------
    TableError
        When the file holds anything else, pickled objects among it, or too much.
    """
    dense = path.suffix.lower() == ".npy"
    try:
        with open_file(path, limits, "" if dense else "unpacked_mib") as file:
            matrix = _mapped(path, file, limits) if dense else _unpacked(path, file, limits)
    except TableError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    except _BROKEN as error:
        wanted = "numpy.save" if dense else "scipy.sparse.save_npz"
        said = f"is not numbers as {wanted} writes them: {str(error)[:200]}"
        raise TableError([Problem(path.as_posix(), said)]) from error
    return as_values(matrix, path.as_posix())


def _mapped(path: Path, file: BinaryIO, limits: Limits) -> Any:
    where = path.as_posix()
    shape, dtype = _header(file)
    check_form(len(shape), dtype, where)
    limits.check("values", math.prod(shape), where, "has {} values")
    missing = math.prod(shape) * dtype.itemsize - (path.stat().st_size - file.tell())
    if missing > 0:
        raise ValueError(f"{missing} bytes are missing")
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read shape and type of an array, up to its first number.

    NumPy would evaluate whatever literal stands there, so that a nest of brackets is its stack's
    end; this takes the one form of header that arrays of numbers have.
    """
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the format")
    wide = version == (2, 0)
    (length,) = struct.unpack("<I" if wide else "<H", file.read(4 if wide else 2))
    text = file.read(min(length, _HEADER + 1)).decode("latin-1")
    found = _FORM.fullmatch(text) if length <= _HEADER else None
    if found is None:
        raise ValueError(f"the header {text[:100].strip()!r}")
    dtype = np.dtype(found["type"])
    if dtype.hasobject:
        raise ValueError("an array of objects")
    return tuple(int(size) for size in found["shape"].split(",") if size.strip()), dtype


def _unpacked(path: Path, file: BinaryIO, limits: Limits) -> Any:
    where = path.as_posix()
    if _directory_size(file) > _DIRECTORY:
        raise ValueError("more entries than a sparse matrix has")
    size = path.stat().st_size
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if unknown := sorted(set(names) - _MEMBERS):
            raise ValueError(f"the entry {unknown[0][:80]!r}")
        if len(names) != len(set(names)):
            raise ValueError("an entry that is there twice")
        total = sum(member.file_size for member in members)
        limits.check("unpacked_mib", total / MIB, where, "unfolds to {} MiB")
        if total > MIB:
            limits.check("ratio", total / size, where, "unfolds to {} times its size")
        for member in members:
            with archive.open(member) as stream:
                _check_member(member, stream, limits, where)
    file.seek(0)
    with np.load(file, allow_pickle=False) as held:
        form, shape = held["format"].item(), held["shape"].tolist()
    limits.check("rows", max(shape), where, "has {} rows or columns")
    known = {"csr": b"csr", "csc": b"csc", "coo": b"coo"}
    if form not in (*known, *known.values()):
        raise ValueError(f"the form {form!r}; convert the matrix to CSR")
    file.seek(0)
    return sparse.load_npz(file)


def _check_member(member: zipfile.ZipInfo, stream: Any, limits: Limits, where: str) -> None:
    """Refuse an array that says it is larger than its entry, or of another kind."""
    shape, dtype = _header(stream)
    name = member.filename.removesuffix(".npy")
    if math.prod(shape) * dtype.itemsize > member.file_size:
        raise ValueError(f"{name} has fewer bytes than it says")
    if name == "data":
        limits.check("values", math.prod(shape), where, "has {} values")
        check_form(2, dtype, where)
    elif name in _WHOLE and dtype.kind not in "iu":
        raise ValueError(f"{name} holds {dtype}")


def _directory_size(file: BinaryIO) -> int:
    """Return the bytes of a zip archive's directory, which zipfile would read at once."""
    end = file.seek(0, 2)
    file.seek(max(0, end - 66_000))
    tail = file.read()
    place = tail.rfind(b"PK\5\6")
    if place < 0 or len(tail) < place + 22:
        raise zipfile.BadZipFile("no zip archive")
    wide = tail.rfind(b"PK\6\6", 0, place)
    if tail[place - 20 : place - 16] == b"PK\6\7" and wide >= 0:
        (size,) = struct.unpack_from("<Q", tail, wide + 40)
    else:
        (size,) = struct.unpack_from("<L", tail, place + 12)
    return size
