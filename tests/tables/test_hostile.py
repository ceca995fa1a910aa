"""Attacks that are made on the spot, for their size or because no file could hold them."""

import gzip
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from qmopt import tables
from qmopt.tables import Limits

ROOT = Path(__file__).parents[2]
MIB = 2**20


@pytest.fixture
def folder(save):
    save("q3/resources.csv", "resource,supply\nh100,8\nl4,4\n")
    save("q3/teams.csv", "team,credits\na,6\nb,24\n")
    return save("q3/bids.csv", "team,resource,value\na,h100,2\nb,l4,1\n").parent


@pytest.fixture
def at_once(complaints):
    """Return what is said of a market, within a second of work and few lines."""

    def at_once(path, seconds=1, **how):
        begun = time.process_time()
        lines = complaints(tables.read, path, **how)
        assert time.process_time() - begun < seconds
        assert len(lines) <= 21
        return lines

    return at_once


def sparse_file(path, size):
    """Make a file that is long and takes no room."""
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("m.toml", "document_mib=1024"),
        ("m.json", "document_mib=1024"),
        ("q3/teams.csv", "file_mib=1024"),
        ("q3/teams.parquet", "file_mib=1024"),
    ],
)
def test_a_line_of_a_gigabyte(folder, tmp_path, at_once, name, limit):
    (folder / "teams.csv").unlink()
    path = tmp_path / name
    sparse_file(path, 1024 * MIB)
    market = folder if path.parent == folder else path
    (line,) = at_once(market)
    assert line.startswith(f"{name}: has 1,024 MiB; the limit is ")
    assert line.endswith(f"(raise it by --limit {limit})")


def test_an_archive_of_three_gigabytes(folder, at_once):
    (folder / "bids.csv").unlink()
    sparse_file(folder / "values.npz", 3 * 1024 * MIB)
    (line,) = at_once(folder)
    assert line.startswith("q3/values.npz: has 3,072 MiB; the limit is 2,048")


def test_a_limit_raised_lets_pass(folder):
    ids = {"team": ["a", "b" * 300], "credits": [1, 1]}
    (folder / "teams.csv").write_text("team,credits\na,1\n" + "b" * 300 + ",1\n")
    (folder / "bids.csv").write_text("team,resource,value\na,h100,1\n")
    with pytest.raises(ValueError, match="--limit id_length=300"):
        tables.read(folder)
    assert tables.read(folder, limits=Limits(id_length=300))["teams"].column("team") == ids["team"]


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        (Limits(rows=1), "q3/bids.csv, bids: has 2 rows or more; the limit is 1"),
        (Limits(columns=2), "q3/bids.csv line 1: has 3 cells; the limit is 2"),
        (Limits(cells=5), "q3/bids.csv, bids: has 6 cells or more; the limit is 5"),
        (Limits(files=2), "q3/: holds 3 files or more; the limit is 2"),
        (Limits(id_length=3), "q3/resources.csv line 2, resources[0].resource: 'h100' has 4"),
    ],
)
def test_limits_of_a_folder(folder, at_once, limits, line):
    assert at_once(folder, limits=limits)[0].startswith(line)


@pytest.mark.parametrize("given", [{"rows": 0}, {"rows": -1}, {"rows": True}, {"rows": 1.5}])
def test_limits_are_whole_numbers(complaints, given):
    assert complaints(Limits, **given)[0].endswith("a whole number from 1 up expected")


@pytest.mark.parametrize(
    "given", ["row=5", "rows", "rows=", "rows=-1", "rows=1e6", "rows=\u0661", "=5"]
)
def test_limits_on_the_command_line(complaints, given):
    assert complaints(Limits.parse, [given])[0].startswith(("no limit is called", "limit '"))


# what is no file


@pytest.mark.parametrize("name", ["teams.csv", "teams.parquet", "values.npy", "values.npz"])
def test_pipes_sockets_and_folders_that_look_like_tables(folder, at_once, name):
    path = folder / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert f"q3/{name}: is a named pipe, not a file" in at_once(folder)
    path.unlink()
    path.mkdir()
    assert f"q3/{name}: is a folder, not a file" in at_once(folder)
    path.rmdir()
    listening = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    try:
        os.chdir(folder)  # the name of a socket is short
        listening.bind(name)
    finally:
        os.chdir(here)
        listening.close()
    assert f"q3/{name}: is a socket, not a file" in at_once(folder)


@pytest.mark.parametrize("name", ["m.toml", "m.json", "teams.csv"])
def test_a_pipe_never_keeps_the_command_waiting(tmp_path, name):
    os.mkfifo(tmp_path / name)
    named = tmp_path if name == "teams.csv" else tmp_path / name
    command = [sys.executable, "-m", "qmopt", "clear", str(named)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert ran.returncode == 2
    assert f"{name}: is a named pipe, not a file" in ran.stderr


def test_devices(tmp_path, at_once):
    for device in ("/dev/zero", "/dev/null"):
        link = tmp_path / "m.toml"
        link.symlink_to(device)
        assert at_once(link) == ["m.toml: is a device, not a file"]
        link.unlink()


def test_links_stay_in_the_folder(folder, tmp_path, at_once):
    whole = tables.read(folder)
    (folder / "data").mkdir()
    (folder / "teams.csv").rename(folder / "data" / "teams.csv")
    (folder / "teams.csv").symlink_to("data/teams.csv")
    assert tables.read(folder) == whole
    (tmp_path / "linked").symlink_to(folder)  # the folder itself may be reached by any way
    assert tables.read(tmp_path / "linked") == whole
    (folder / "teams.csv").unlink()
    outside = tmp_path / "secret.csv"
    outside.write_text("team,credits\na,6\nb,24\n")
    (folder / "teams.csv").symlink_to("../secret.csv")
    assert at_once(folder)[0] == "q3/teams.csv: is a link out of the folder; copy the file instead"
    (folder / "teams.csv").unlink()
    (folder / "teams.csv").symlink_to("teams.csv")
    assert at_once(folder)[0].startswith("q3/teams.csv: ")


def test_paths_that_are_none(complaints, tmp_path):
    assert complaints(tables.read, "a\0b.toml")[0].endswith("embedded null byte")
    assert complaints(tables.read, tmp_path / ("x" * 300 + ".toml"))[0].endswith("name too long")


def test_compressed_tables_are_refused_by_name(folder, tmp_path, at_once):
    (folder / "teams.csv").rename(folder / "_teams.csv")
    (folder / "teams.csv.gz").write_bytes(gzip.compress(b"team,credits\n" + b"\0" * 10**6))
    assert at_once(folder)[0] == "q3/teams.csv.gz: .gz is not read; unpack it"
    packed = tmp_path / "m.json.gz"
    packed.write_bytes(gzip.compress(b"{}"))
    assert at_once(packed)[0].endswith("; unpack it")


def test_an_archive_of_a_million_entries(folder, at_once):
    (folder / "bids.csv").unlink()
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, 46 * 10**6, 0, 0)
    (folder / "values.npz").write_bytes(b"PK\1\2" * 10**6 + end)
    assert "more entries than a sparse matrix has" in at_once(folder)[0]


def test_large_values_of_few_kinds_pass(folder):
    (folder / "bids.csv").unlink()
    kept = sparse.csr_array(np.array([[2.0, 0], [0, 1]]))
    sparse.save_npz(folder / "values.npz", kept)
    assert (tables.read(folder).values != kept).nnz == 0
    # all equal, in every place: compresses well, and is no bomb
    rng = np.random.default_rng(5)
    many = sparse.random_array(
        (600, 600), density=0.9, rng=rng, data_sampler=lambda size: np.ones(size)
    )
    sparse.save_npz(folder / "values.npz", many)
    names = [f"t{i}" for i in range(600)]
    (folder / "teams.csv").write_text("team,credits\n" + "".join(f"{n},1\n" for n in names))
    (folder / "resources.csv").write_text("resource,supply\n" + "".join(f"{n},1\n" for n in names))
    assert tables.read(folder).values.nnz == many.nnz
