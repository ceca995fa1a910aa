"""CSV as spreadsheets and people write it."""

# One refusal a line, however long its words.

import pytest

from qmopt import tables

GERMAN = "team;credits\na;1.299,99\nb;1.299\nc;24,5\n"


def rows(path, name="teams", **how):
    return [tuple(row.values()) for row in tables.read_table(path, name, **how).rows()]


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf"team","credits"\r\n"a","6"\r\n"b","24"\r\n',
        "team,credits\na,6\nb,24\n".encode("utf-16"),
        b"\xfe\xff" + "team,credits\na,6\nb,24\n".encode("utf-16-be"),
        "team,credits\na,6\nb,24\n".encode("utf-32"),
        b"team,credits\r\na,6\r\nb,24",
        b"team,credits\ra,6\rb,24\r",
        b"team,credits\na,6\nb,24\n\n \n,\n\n",
        b"\n\nteam,credits\n\na,6\n\nb,24\n",
        b" team ,\tcredits \na, 6\nb,24 ",
        b' "team" , "credits" \na,6\nb,24\n',
        b"_why,team,credits,_who\nbig,a,6,x\nbigger,b,24,\n",
    ],
)
def test_one_table_in_many_dresses(save, content):
    assert rows(save("teams.csv", content)) == [("a", 6.0), ("b", 24.0)]


def test_ids_are_text_as_they_stand(save):
    ids = ["007", "7", "NA", "NO", "null", "TRUE", "1e5", "1234567890123456789"]
    ids += ["1234567890123456788", "nan", "None", "N/A", "-0", "1.0", "1_000", "inf", " a", "b "]
    ids += ["12:30", "2026-01-02", "é", "o\u0308", "größe", "日本", "=1+1"]
    path = save("teams.csv", "team,credits\n" + "".join(f"{name},1\n" for name in ids))
    assert tables.read_table(path, "teams").column("team") == ids


def test_quotes_keep_commas_and_quotes(save):
    path = save("teams.csv", 'team,credits\n"a, b",1\n"say ""x""",2\n')
    assert rows(path) == [("a, b", 1.0), ('say "x"', 2.0)]


def test_declared_marks(save):
    path = save("teams.csv", GERMAN)
    read = rows(path, delimiter=";", decimal=",", thousands=".")
    assert read == [("a", 1299.99), ("b", 1299.0), ("c", 24.5)]


def test_declared_marks_in_quotes(save):
    path = save("teams.csv", 'team,credits\na,"1,299.5"\nb,"12,345,678"\n')
    assert rows(path, thousands=",") == [("a", 1299.5), ("b", 12345678.0)]


def test_declared_marks_hold_for_known_prices(save):
    path = save("expected.csv", "resource;price\nx;10,9\ny;109/18\nz;\n")
    table = tables.read_table(path, "expected", delimiter=";", decimal=",")
    assert table.column("price") == ["10.9", "109/18", None]


@pytest.mark.parametrize(
    "cell", ["12.34", "0.299", "1.29", "1.2999", "1.299.9", ".299", "1.299.", "1,2,3"]
)
def test_broken_groups_are_no_number(save, complaints, cell):
    path = save("teams.csv", f"team;credits\na;{cell}\n")
    how = {"delimiter": ";", "decimal": ",", "thousands": "."}
    assert f"'{cell}' is not a number" in complaints(tables.read_table, path, "teams", **how)[0]


def test_undeclared_marks_name_row_and_column(save, complaints):
    path = save("teams.csv", GERMAN)
    assert complaints(tables.read_table, path, "teams", delimiter=";") == [
        "teams.csv line 2, teams[0].credits: '1.299,99' is not a number; if the file writes "
        "numbers that way, declare decimal=',', thousands='.'",
        "teams.csv line 4, teams[2].credits: '24,5' is not a number; if the file writes numbers "
        "that way, declare decimal=','",
    ]


def test_an_undeclared_delimiter_is_named(save, complaints):
    lines = complaints(tables.read_table, save("teams.csv", GERMAN), "teams")
    assert lines[0] == (
        "teams.csv line 1: the header is one column, 'team;credits'; declare delimiter=';'"
    )
    assert "line 2, teams[0].credits: '1.299,99' is not a number" in lines[1]


@pytest.mark.parametrize(
    "cell",
    [
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "1_000",
        "0x10",
        "1e",
        "٣",
        "1 000",
        "true",
        "5%",
        "1d3",
    ],
)
def test_only_plain_decimals_are_numbers(save, complaints, cell):
    lines = complaints(tables.read_table, save("teams.csv", f"team,credits\na,{cell}\n"), "teams")
    assert lines[0].startswith(f"teams.csv line 2, teams[0].credits: '{cell}' is not a number")


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("8", 8),
        ("+8", 8),
        ("8.", 8),
        (".5", 0.5),
        ("1e3", 1000),
        ("1E-3", 0.001),
        ("007", 7),
        ("-0", 0),
    ],
)
def test_plain_decimals(save, cell, number):
    assert rows(save("teams.csv", f"team,credits\na,{cell}\n")) == [("a", number)]


def test_a_long_value_is_cut(save, complaints):
    path = save("teams.csv", f"team,credits\na,{'x' * 5000}\n")
    (line,) = complaints(tables.read_table, path, "teams")
    assert len(line) < 200
    assert "xxx... is not a number" in line


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("team,credits\na\n", "teams.csv line 2, teams[0]: has 1 cell, and the header has 2"),
        ("team,credits\na,1,2\n", "teams.csv line 2, teams[0]: has 3 cells, and the header has 2"),
        ("team,team,credits\na,b,1\n", "teams.csv line 1: the column 'team' is there twice"),
        ("team,credits,\na,1,\n", "teams.csv line 1: column 3 has no name"),
        (
            "team,credit\na,1\n",
            "teams.csv line 1, teams: unknown column 'credit'; did you mean 'credits'?",
        ),
        ("team\na\n", "teams.csv line 1, teams.credits: the column is missing"),
        ("team,credits\n,1\n", "teams.csv line 2, teams[0].team: is missing"),
        ("team,credits\na,\n", "teams.csv line 2, teams[0].credits: is missing"),
        (
            "team,credits\na,1e999\n",
            "teams.csv line 2, teams[0].credits: 1e999 is too large for a number here",
        ),
        ("team,credits\na,-6\n", "teams.csv line 2, teams[0].credits: -6 is negative"),
        (
            'team,credits\n\n"a\nb",1\n',
            "teams.csv line 3, teams[0].team: 'a\\nb' holds the control character U+000A",
        ),
        ("", "teams.csv line 1: there is no header"),
        (
            b"team,credits\nb\xe9b\xe9,1\n",
            "teams.csv line 2: byte 0xe9 is not utf-8; save it as UTF-8",
        ),
        (b"t\0e\0a\0m\0", "teams.csv line 1: holds a NUL; save it as UTF-8"),
    ],
)
def test_refusals(save, complaints, content, complaint):
    assert complaint in complaints(tables.read_table, save("teams.csv", content), "teams")


def test_lines_count_line_ends_within_cells(save, complaints):
    path = save("market.csv", 'title,about\n"x","one\ntwo"\n"y","three"\n')
    assert complaints(tables.read_table, path, "market") == [
        "market.csv, market: has 2 rows; it has one"
    ]
    path = save("teams.csv", 'team,_note,credits\na,"one\n\ntwo",1\nb,,-1\n')
    assert complaints(tables.read_table, path, "teams") == [
        "teams.csv line 5, teams[1].credits: -1 is negative"
    ]


def test_an_open_quote_is_named(save, complaints):
    path = save("teams.csv", 'team,credits\na,1\n"b,2\nc,3\n')
    (line,) = complaints(tables.read_table, path, "teams")
    assert line.startswith("teams.csv line 4: is not CSV, perhaps a quote stands open")


def test_a_row_twice_names_both_lines(save, complaints):
    path = save("teams.csv", "team,credits\na,1\nb,2\na,3\n")
    assert complaints(tables.read_table, path, "teams") == [
        "teams.csv line 4, teams[2]: team 'a' is there twice; "
        "the first is teams.csv line 2, teams[0]"
    ]


def test_everything_wrong_is_said_and_the_first_twenty_shown(save, complaints):
    path = save("teams.csv", "team,credits\n" + "".join(f"t{i},-1\n" for i in range(10_000)))
    lines = complaints(tables.read_table, path, "teams")
    assert len(lines) == 21
    assert lines[-1] == "... and 9980 more"


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"delimiter": ""}, "delimiter='': it is one character such as ',' or ';'"),
        ({"delimiter": ";;"}, "delimiter=';;': it is one character such as ',' or ';'"),
        ({"decimal": "x"}, "decimal='x': the decimal mark is '.' or ','"),
        ({"thousands": "."}, "decimal and thousands are both '.'"),
        ({"thousands": "0"}, "thousands='0': it is one character such as '.', ',' or \"'\""),
    ],
)
def test_options_are_checked(save, complaints, how, complaint):
    path = save("teams.csv", "team,credits\na,1\n")
    assert complaints(tables.read_table, path, "teams", **how) == [complaint]


def test_ten_thousand_rows(save):
    """Long enough to be read in several pieces; sums worked by hand."""
    names = [f"{i:05d}" for i in range(10_000)]
    body = "".join(f"{name},{i}\n" for i, name in enumerate(names))
    for content in (body, body.replace("05000,", '"05000",')):
        table = tables.read_table(save("teams.csv", "team,credits\n" + content), "teams")
        assert table.column("team") == names
        assert table.column("credits").sum() == 10_000 * 9_999 / 2
        assert table.where(9_999, "credits").endswith("teams.csv line 10001, teams[9999].credits")
