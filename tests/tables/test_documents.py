"""TOML and JSON: what their grammars allow and a market does not."""

# One refusal a line, however long its words.

import json

import pytest

from qmopt import tables

TOML = """\
title = "x"
[[resources]]
resource = "h100@east"
supply = inf

[[teams]]  # a comment with [[teams]] in it
team = "a"
credits = nan

[[teams]]
team = 7
credits = true
"""


def test_toml_names_file_line_and_key(save, complaints):
    assert complaints(tables.read, save("m.toml", TOML)) == [
        "m.toml, title: 'title' is not a table; it belongs into the table market",
        "m.toml line 2, resources[0].supply: inf is not a finite number",
        "m.toml line 10, teams[1].team: 7 is a number; text goes in quotes",
        "m.toml line 6, teams[0].credits: nan is not a finite number",
        "m.toml line 10, teams[1].credits: true is not a number",
        "m.toml, bids: the table is missing, and so are dense values",
    ]


def test_toml_inline_rows_have_lines_too(save, complaints):
    text = (
        'market.about = """\n[[teams]]\nteams = [{\n"""\nteams = [\n {team = "]", credits = 1},\n'
    )
    text += '\n # {team = "z"}\n {team = "a", credits = -inf}, {team = "b", credits = "6"},\n]\n'
    lines = complaints(tables.read_table, save("m.toml", text), "teams")
    assert lines == [
        "m.toml line 9, teams[1].credits: -inf is not a finite number",
        "m.toml line 9, teams[2].credits: '6' is text, not a number; a number goes without quotes",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            '[a]\n"h100@east" = 8\n"h100@east" = 16\n',
            "m.toml line 3: Cannot overwrite a value: '\"h100@east\" = 16'",
        ),
        (
            'teams = [{team = "a", team = "b"}]\n',
            "m.toml line 1: Duplicate inline table key 'team'",
        ),
        ("teams = [\n", "m.toml: is not TOML: "),
        ("x = " + "[" * 100_000, "m.toml line 1: is nested 33 deep or more; the limit is 32"),
        ("x = 1" + "0" * 5000, "m.toml line 1: a number has 5,001 digits; the limit is 1,200"),
        ("teams = 3\n", "m.toml, teams: 3 is not a list of rows"),
        ("teams = [3]\n", "m.toml, teams[0]: 3 is not a row of named cells"),
        ("[teams.a]\ncredits = 1\n", "m.toml, teams: {'a': {'credits': 1}} is not a list of rows"),
        ('[[teams]]\nteam = ""\ncredits = 1\n', "m.toml line 1, teams[0].team: is empty"),
        ('[[teams]]\nteam = " "\ncredits = 1\n', "m.toml line 1, teams[0].team: is empty"),
        (
            '[[teams]]\nteam = "a"\ncredits = 2026-01-01\n',
            "m.toml line 1, teams[0].credits: 2026-01-01 is not a number",
        ),
        ('[[teams]]\nteam = "a"\n', "m.toml, teams.credits: the column is missing"),
        ('[[team]]\nteam = "a"\n', "m.toml, team: unknown table 'team'; did you mean 'teams'?"),
        (
            '[[teams]]\nteam = "a\\u0000"\ncredits = 1\n',
            "m.toml line 1, teams[0].team: 'a\\x00' holds the control character U+0000",
        ),
    ],
)
def test_toml_refusals(save, complaints, text, complaint):
    lines = complaints(tables.read, save("m.toml", text))
    assert any(line.startswith(complaint) for line in lines), lines


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"budgets": {"a": 1, "a": 3}}', "m.json, budgets.a: the key 'a' is there twice"),
        ('{"teams": [], "teams": []}', "m.json, teams: the key 'teams' is there twice"),
        (
            '{"teams": [\n{"team": "a", "credits": 1, "credits": 3}]}',
            "m.json line 2, teams[0].credits: the key 'credits' is there twice",
        ),
        (
            '{"teams": [{"team": "a", "credits": NaN}]}',
            "m.json line 1, teams[0].credits: NaN is not a finite number",
        ),
        (
            '{"teams": [{"team": "a",\n"credits": -Infinity}]}',
            "m.json line 1, teams[0].credits: -Infinity is not a finite number",
        ),
        (
            '{"teams": [{"team": "a", "credits": 1e999}]}',
            "m.json line 1, teams[0].credits: 1e999 is too large for a number here",
        ),
        (
            '{"teams": [{"team": "a", "credits": 1' + "0" * 310 + "}]}",
            "m.json line 1, teams[0].credits: 1000",
        ),
        (
            '{"teams": [{"team": "a", "credits": 1' + "0" * 5000 + "}]}",
            "m.json line 1, teams[0].credits: 1000",
        ),
        (
            '{"teams": [{"team": 7, "credits": 1}]}',
            "m.json line 1, teams[0].team: 7 is a number; text goes in quotes",
        ),
        (
            '{"teams": [{"team": true, "credits": 1}]}',
            "m.json line 1, teams[0].team: true is not text; text goes in quotes",
        ),
        (
            '{"teams": [{"team": ["a"], "credits": 1}]}',
            "m.json line 1, teams[0].team: ['a'] is not text",
        ),
        ('{"teams": [{"team": null, "credits": 1}]}', "m.json line 1, teams[0].team: is missing"),
        (
            '{"teams": [{"team": "a", "credits": "1"}]}',
            "m.json line 1, teams[0].credits: '1' is text, not a number",
        ),
        (
            '{"teams": [{"team": "a", "credits": false}]}',
            "m.json line 1, teams[0].credits: false is not a number",
        ),
        (
            '{"teams": [{"team": "\\ud800", "credits": 1}]}',
            "m.json line 1, teams[0].team: '\\ud800' holds the control character U+D800",
        ),
        ('{"\\ud800": []}', "m.json, \\ud800: unknown table '\\ud800'"),
        ('{"teams": [}', "m.json line 1: Expecting value: '{\"teams\": [}'"),
        ("[" * 100_000, "m.json line 1: is nested 33 deep or more; the limit is 32"),
        ("[]", "m.json: holds no object"),
        ("", "m.json line 1: Expecting value"),
    ],
)
def test_json_refusals(save, complaints, text, complaint):
    lines = complaints(tables.read, save("m.json", text))
    assert any(line.startswith(complaint) for line in lines), lines


def test_a_row_that_is_none_does_not_shift_the_lines(save, complaints):
    text = '{"teams": [\n5,\n{"team": "a", "credits": -1}]}'
    lines = complaints(tables.read_table, save("m.json", text), "teams")
    assert "m.json, teams[1].credits: -1 is negative" in lines


@pytest.mark.parametrize("name", ["m.yaml", "m.yml", "m.csv", "m.txt", "m"])
def test_other_files_name_the_formats(save, complaints, name):
    (line,) = complaints(tables.read, save(name, "x"))
    assert "is not read; a market is one .toml or .json file, or a folder" in line


@pytest.mark.parametrize(
    "name", ["none.toml", "none.json", "none", "none.csv", "none/bids.parquet"]
)
def test_no_such_file(tmp_path, complaints, name):
    for read in (tables.read, lambda path: tables.read_table(path, "bids")):
        (line,) = complaints(read, tmp_path / name)
        assert line == f"{name}: no such file or directory"


def test_what_json_writes_is_strict_json(tmp_path, full):
    tables.write(tables.from_frames(**full), tmp_path / "m.json")

    def refuse(constant):
        raise AssertionError(constant)

    document = json.loads((tmp_path / "m.json").read_text("utf-8"), parse_constant=refuse)
    assert document["prices"] == [{"resource": "h100@east", "price": 7.5}, {"resource": "l4@west"}]
    assert document["market"] == {"title": "Everything", "period": "1 day"}


def test_toml_dates_become_text(save):
    text = '[[workloads]]\nteam="a"\nworkload="w"\ndemand=1\ndeadline=2026-03-01T18:00:00+01:00\n'
    table = tables.read_table(save("m.toml", text), "workloads")
    assert table.column("deadline") == ["2026-03-01T18:00:00+01:00"]


def test_notes_are_left_out(save):
    text = '_todo = ["x"]\nteams = [{team = "a", credits = 1, _since = 1979-05-27}]\n'
    text += 'resources = [{resource = "r", supply = 1}]\nbids = []\n[[_old]]\nx = inf\n'
    market = tables.read(save("m.toml", text))
    assert market.names == ("resources", "teams", "bids")
    assert list(market["teams"].rows()) == [{"team": "a", "credits": 1.0}]


def test_prices_and_allocation_of_a_result(save):
    result = {
        "schema": 1,
        "prices": {"h100@east": 7.5, "l4@west": None},
        "allocation": [{"team": "a", "resource": "h100@east", "units": 8, "spend": 60}],
    }
    path = save("result.json", json.dumps(result))
    assert tables.read_table(path, "prices").column("price").tolist()[0] == 7.5
    assert len(tables.read_table(path, "prices")) == 2
    allocation = tables.read_table(path, "allocation")
    assert list(allocation.rows()) == [{"team": "a", "resource": "h100@east", "units": 8.0}]


def test_a_table_that_is_not_there(save, complaints):
    path = save("m.json", "{}")
    assert complaints(tables.read_table, path, "prices") == ["m.json: has no table prices"]
    assert complaints(tables.read_table, path, "price")[0].startswith("unknown table 'price'")
    folder = save("q3/teams.csv", "team,credits\na,1\n").parent
    assert complaints(tables.read_table, folder, "prices") == [
        "q3/: holds neither prices.csv nor prices.parquet"
    ]
    assert len(tables.read_table(folder, "teams")) == 1
