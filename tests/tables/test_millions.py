"""A file that is wrong in a million places is answered as briefly as one that is wrong in one."""

import json
import time
import tracemalloc

import numpy as np
import pytest

from qmopt import tables
from qmopt.errors import Problem, Problems, TableError

MANY = 1_000_000
FEWER = 200_000  # where a row costs more to write than to read


@pytest.fixture
def soon(complaints):
    """Return the lines about a market that is wrong all over, within five seconds of work."""

    def soon(call, *args, **kwargs):
        begun = time.process_time()
        lines = complaints(call, *args, **kwargs)
        assert time.process_time() - begun < 5
        assert len(lines) == 21
        return lines

    return soon


def rest(lines):
    return int(lines[-1].removeprefix("... and ").removesuffix(" more"))


@pytest.fixture
def folder(save):
    save("q3/resources.csv", "resource,supply\nh100,8\n")
    return save("q3/teams.csv", "team,credits\na,6\n").parent


def test_a_million_wrong_cells(folder, save, soon):
    save("q3/bids.csv", "team,resource,value\n" + "a,h100,x\n" * MANY)
    lines = soon(tables.read, folder)
    assert lines[0] == "q3/bids.csv line 2, bids[0].value: 'x' is not a number"
    assert rest(lines) == 2 * MANY - 21  # and all but one are there twice


@pytest.mark.parametrize(
    "row", ["a,h100,-1\n", "a,h100,\n", "a,h100,1e999\n", "a\n", ",h100,1\n", "b,h100,1\n"]
)
def test_rows_all_wrong_in_one_way(folder, save, soon, row):
    save("q3/bids.csv", "team,resource,value\n" + row * FEWER)
    assert rest(soon(tables.read, folder)) >= FEWER - 20


def test_unknown_names_all_different(folder, save, soon):
    rows = "".join(f"team-{row},h100,1\n" for row in range(FEWER))
    save("q3/bids.csv", "team,resource,value\n" + rows)
    assert rest(soon(tables.read, folder)) == FEWER - 20


def test_unknown_names_beside_many_known(save, soon):
    known = "".join(f"team-{row},1\n" for row in range(FEWER))
    save("q3/resources.csv", "resource,supply\nh100,8\n")
    folder = save("q3/teams.csv", "team,credits\n" + known).parent
    rows = "".join(f"tean-{row},h100,1\n" for row in range(FEWER))
    save("q3/bids.csv", "team,resource,value\n" + rows)
    assert rest(soon(tables.read, folder)) == FEWER - 20


def test_twins_without_end(save, soon):
    rows = "".join(f"T{row},1\nt{row},1\n" for row in range(FEWER))
    path = save("teams.csv", "team,credits\n" + rows)
    assert rest(soon(tables.read_table, path, "teams")) == FEWER - 20


def test_invisible_characters_without_end(save, soon):
    rows = "".join(f"t{row}\u200b,1\n" for row in range(FEWER))
    path = save("teams.csv", "team,credits\n" + rows)
    assert rest(soon(tables.read_table, path, "teams")) == FEWER - 20


def test_documents_all_wrong(save, soon):
    row = {"team": 7, "credits": True}
    path = save("m.json", json.dumps({"teams": [row] * FEWER}))
    assert rest(soon(tables.read_table, path, "teams")) == 2 * FEWER - 20
    path = save("m.json", json.dumps({"teams": [7] * FEWER}))
    assert rest(soon(tables.read_table, path, "teams")) >= FEWER - 20


def test_doubled_keys_without_end(save, soon):
    row = '{"team": "a", "team": "b", "credits": 1}'
    path = save("m.json", '{"teams": [' + ",\n".join([row] * FEWER) + "]}")
    lines = soon(tables.read_table, path, "teams")
    assert lines[1] == "m.json line 2, teams[1].team: the key 'team' is there twice"
    assert rest(lines) >= FEWER - 20
    keys = ", ".join(f'"k{key}": 1' for key in range(FEWER))
    path = save("m.json", f'{{{keys}, {keys}, "teams": []}}')
    assert rest(soon(tables.read, path)) >= FEWER - 20


def test_values_all_wrong(plain, soon, tmp_path):
    teams = [{"team": f"t{row}", "credits": 1} for row in range(1000)]
    resources = [{"resource": f"r{row}", "supply": 1} for row in range(1000)]
    lines = soon(
        tables.from_frames, teams=teams, resources=resources, values=np.full((1000, 1000), -1.0)
    )
    assert lines[0] == "values[0, 0]: -1.0 is negative (team 't0', resource 'r0')"
    assert rest(lines) == MANY - 20


def test_memory_goes_into_cells_and_not_into_complaints(save):
    path = save("teams.csv", "team,credits\n" + "a,x\n" * FEWER)
    tracemalloc.start()
    with pytest.raises(TableError) as caught:
        tables.read_table(path, "teams")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.more == 2 * FEWER - 21  # numbers, and teams that are there twice
    assert len(caught.value.problems) == 20
    assert peak < 80 * 2**20


def test_problems_are_listed_or_counted():
    problems = Problems()
    problems.extend(Problem(str(row), "is wrong") for row in range(25))
    assert (len(problems), problems.more) == (20, 5)
    assert list(problems.fit(range(3))) == []
    error = TableError(problems)
    assert error.more == 8
    assert str(error).endswith("19: is wrong\n... and 8 more")
    assert str(TableError([Problem("a", "b")], more=2)) == "a: b\n... and 2 more"
    assert str(TableError("only this")) == "only this"
