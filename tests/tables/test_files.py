"""Folders: which files are tables, what stands beside them, and dense values."""

# One refusal a line, however long its words.
# ruff: noqa: E501

import sys

import numpy as np
import pytest
from scipy import sparse

from qmopt import tables


@pytest.fixture
def folder(save):
    save("q3/resources.csv", "resource,supply\nh100@east,8\nl4@west,4\n")
    save("q3/teams.csv", "team,credits\na,6\nb,24\n")
    return save("q3/bids.csv", "team,resource,value\na,h100@east,2\nb,l4@west,1\n").parent


@pytest.fixture
def dense(folder):
    (folder / "bids.csv").unlink()
    return folder


def test_a_folder_and_what_stands_beside_its_tables(folder, save):
    for name in ("_old.csv", "README.csv", "LICENSE", "notes.txt", "market.toml", ".teams.csv"):
        save(f"q3/{name}", "x")
    save("q3/more/pools.csv", "x")
    market = tables.read(folder)
    assert market.source.endswith("/q3/")
    assert market.names == ("resources", "teams", "bids")
    assert market["bids"].where(1, "value").endswith("/q3/bids.csv line 3, bids[1].value")


def test_problems_of_all_files_at_once(folder, save, complaints):
    save("q3/prices.csv", "resource,price\nh100@eats,1\n")
    save("q3/bids.csv", "team,resource,value\nA,h100@east,x\n")
    assert complaints(tables.read, folder) == [
        "q3/bids.csv line 2, bids[0].value: 'x' is not a number",
        "q3/bids.csv line 2, bids[0].team: unknown team 'A'; did you mean 'a'?",
        "q3/prices.csv line 2, prices[0].resource: unknown resource 'h100@eats'; "
        "did you mean 'h100@east'?",
    ]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("team.csv", "q3/team.csv: unknown table 'team'; did you mean 'teams'?"),
        ("Teams.csv", "q3/Teams.csv: unknown table 'Teams'; did you mean 'teams'?"),
        ("value.npy", "q3/value.npy: unknown values 'value.npy'; they are called values.npy"),
        ("bids.parquet", "q3/bids.parquet: bids is there in two formats; keep one"),
    ],
)
def test_files_that_look_like_tables(folder, save, complaints, name, complaint):
    save(f"q3/{name}", "x")
    assert complaint in complaints(tables.read, folder)


def test_a_folder_without_tables(tmp_path, complaints):
    (line,) = complaints(tables.read, tmp_path)
    assert "holds no tables; a market is one .toml or .json file, or a folder" in line


def test_a_missing_table_names_the_folder(folder, complaints):
    (folder / "teams.csv").unlink()
    assert "q3/teams: the table is missing" in complaints(tables.read, folder)


def test_csv_and_parquet_side_by_side(folder, tmp_path, plain):
    market = tables.from_frames(**plain)
    tables.write(market, tmp_path / "p", format="parquet")
    (folder / "bids.csv").unlink()
    (tmp_path / "p" / "bids.parquet").rename(folder / "bids.parquet")
    assert tables.read(folder) == market


def test_parquet_refusals(tmp_path, save, complaints):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = save("teams.parquet", "x")
    assert complaints(tables.read_table, path, "teams")[0].startswith(
        "teams.parquet: is not Parquet"
    )
    columns = {"team": pa.array(["a", "b"]), "credits": pa.array([1.0, float("nan")])}
    pq.write_table(pa.table(columns), path)
    assert complaints(tables.read_table, path, "teams") == [
        "teams.parquet, teams[1].credits: nan is not a finite number"
    ]
    pq.write_table(pa.table({**columns, "credits": pa.array([1, None])}), path)
    assert complaints(tables.read_table, path, "teams") == [
        "teams.parquet, teams[1].credits: is missing"
    ]
    pq.write_table(pa.table({**columns, "credits": pa.array([True, False])}), path)
    assert complaints(tables.read_table, path, "teams")[0].endswith("credits: true is not a number")
    pq.write_table(pa.table({"team": pa.array([7, 8]), "credits": pa.array([1, 2])}), path)
    assert "7 is a number in a column of text" in complaints(tables.read_table, path, "teams")[0]
    categories = pa.array(["a", "b"]).dictionary_encode()
    pq.write_table(pa.table({"team": categories, "credits": pa.array([1, 2])}), path)
    assert tables.read_table(path, "teams").column("team") == ["a", "b"]


def test_parquet_without_pyarrow(save, complaints, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert complaints(tables.read_table, save("teams.parquet", "x"), "teams") == [
        "teams.parquet: Parquet needs pyarrow: pip install 'qmopt[parquet]'"
    ]


def test_dense_values_follow_the_tables(dense):
    np.save(dense / "values.npy", np.array([[2, 0], [0, 1]], dtype=np.float32))
    assert tables.read(dense).values.tolist() == [[2, 0], [0, 1]]
    np.save(dense / "values.npy", np.array([[2.0, 0], [0, 1]]))
    assert isinstance(tables.read(dense).values, np.memmap)
    (dense / "values.npy").unlink()
    sparse.save_npz(dense / "values.npz", sparse.csc_matrix([[2, 0], [0, 1]]))
    read = tables.read(dense).values
    assert isinstance(read, sparse.csr_array)
    assert read.dtype == np.float64
    assert read.nnz == 2


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (
            [[2, 0, 0], [0, 1, 0]],
            "q3/values.npX: has shape (2, 3), and there are 2 teams and 2 resources",
        ),
        (
            [[2, 0], [0, -1]],
            "q3/values.npX, values[1, 1]: -1.0 is negative (team 'b', resource 'l4@west')",
        ),
        (
            [[2, np.inf], [0, 1]],
            "q3/values.npX, values[0, 1]: inf is not a finite number (team 'a', resource 'l4@west')",
        ),
        (
            [[2, 0], [-np.inf, 1]],
            "q3/values.npX, values[1, 0]: -inf is not a finite number (team 'b', resource 'h100@east')",
        ),
        (
            [[np.nan, 0], [0, 1]],
            "q3/values.npX, values[0, 0]: nan is not a finite number (team 'a', resource 'h100@east')",
        ),
        ([[True, False], [False, True]], "q3/values.npX: holds bool, not numbers"),
        ([[1j, 0], [0, 1]], "q3/values.npX: holds complex128, not numbers"),
    ],
)
def test_dense_refusals(dense, complaints, form, values, complaint):
    if form is np.array:
        np.save(dense / "values.npy", np.array(values))
    else:
        sparse.save_npz(dense / "values.npz", form(np.array(values)))
    expected = complaint.replace(".npX", ".npy" if form is np.array else ".npz")
    assert expected in complaints(tables.read, dense)


def test_dense_files_that_are_none(dense, complaints, tmp_path):
    file = dense / "values.npy"
    np.save(file, np.array([[{}]], dtype=object), allow_pickle=True)
    (line,) = complaints(tables.read, dense)
    assert line.startswith("q3/values.npy: is not numbers as numpy.save writes them")
    file.write_bytes(b"x")
    assert complaints(tables.read, dense)[0].startswith("q3/values.npy: is not numbers")
    np.save(file, np.ones(4))
    assert complaints(tables.read, dense) == [
        "q3/values.npy: has 1 dimensions; rows are teams, columns resources"
    ]
    np.savez(dense / "values.npz", values=np.ones((2, 2)))
    file.unlink()
    (line,) = complaints(tables.read, dense)
    assert line.startswith("q3/values.npz: is not numbers as scipy.sparse.save_npz writes them")
    broken = {"indices": np.array([9]), "indptr": np.array([0, 1, 1]), "shape": np.array([2, 2])}
    np.savez(dense / "values.npz", data=np.ones(1), format=b"csr", **broken)
    assert complaints(tables.read, dense)[0].startswith("q3/values.npz: is ")


def test_dense_beside_bids_or_twice(folder, complaints):
    np.save(folder / "values.npy", np.ones((2, 2)))
    (line,) = complaints(tables.read, folder)
    assert line == "q3/bids.csv, bids: dense values are there as well: a market has either"
    sparse.save_npz(folder / "values.npz", sparse.csr_array(np.ones((2, 2))))
    lines = complaints(tables.read, folder)
    assert lines[0] == "q3/values.npz: values is there in two formats; keep one"


def test_writing_over_the_market_that_was_read(dense):
    np.save(dense / "values.npy", np.array([[2.0, 0], [0, 1]]))
    market = tables.read(dense)
    tables.write(market, dense)
    assert tables.read(dense) == market
    assert market.values.tolist() == [[2, 0], [0, 1]]


def test_writing_refusals(tmp_path, folder, complaints, plain):
    market = tables.from_frames(**plain)
    assert complaints(tables.write, market, tmp_path / "m.yaml")[0].startswith(
        "m.yaml: .yaml is not written"
    )
    assert complaints(tables.write, market, folder, format="parquet") == [
        "q3/: holds bids.csv, resources.csv, teams.csv, no part of this market; "
        "write elsewhere or remove it"
    ]
    assert complaints(tables.write, market, tmp_path / "n", format="xml") == [
        "format='xml': a folder holds 'csv' or 'parquet'"
    ]
    (tmp_path / "file").write_text("")
    assert complaints(tables.write, market, tmp_path / "file") == ["file: file exists"]
    del plain["bids"]
    dense = tables.from_frames(**plain, values=np.ones((2, 2)))
    assert complaints(tables.write, dense, tmp_path / "m.toml") == [
        "m.toml: dense values are written into a folder, beside its tables"
    ]
    assert complaints(tables.write, dense, folder)[0].startswith("q3/: holds bids.csv, no part")
    assert not list(tmp_path.glob("_*"))
