"""Terminals of any width: no name is broken where it need not be, and nothing is lost."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

import qmopt as qm
from qmopt import catalogue
from qmopt.cli.layout import put

WIDTHS = (40, 60, 80, 120)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["gpu/helios-earth", "gpu/gavel", "edge/pools", "edge/tie"])
def test_names_stay_whole(run, monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run("clear", name).stdout
    lines = shown.splitlines()
    assert max(map(cell_len, lines)) <= width
    market = qm.read_market(name)
    assert [name for name in (*market.buyers, *market.goods) if name not in shown] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_models_stays_whole(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run("models").stdout
    assert max(map(cell_len, shown.splitlines())) <= width
    assert set(catalogue.names()) <= set(shown.split())
    # every title, however it is wrapped
    for name in catalogue.names():
        assert set(catalogue.describe(name).title.split()) <= set(shown.split())


def lines(width, *columns):
    screen = Console(width=width, file=io.StringIO())
    put(screen, *columns)
    return [line.rstrip() for line in screen.file.getvalue().splitlines() if line.strip()]


def test_a_table_where_it_fits():
    assert lines(24, {"chip": ["h100@east"]}, {"price": ["7.5"]}) == [
        "  chip        price",
        " ───────────────────",
        "  h100@east     7.5",
    ]


def test_numbers_below_the_name_where_it_does_not():
    assert lines(20, {"chip": ["h100-sxm@east", "l4"]}, {"price": ["7.5", "0.25"]}) == [
        "  chip",
        "    price",
        "  ────────────────",
        "  h100-sxm@east",
        "      7.5",
        "  l4",
        "     0.25",
    ]


def test_each_number_after_its_title_where_they_do_not_fit_either():
    numbers = {"price": ["7.5"], "supply": ["8"], "sold": ["8"], "idle": ["0"]}
    assert lines(20, {"chip": ["h100"]}, numbers) == [
        "  chip",
        "  ────────────────",
        "  h100",
        "    price 7.5,",
        "    supply 8,",
        "    sold 8, idle 0",
    ]


def test_prose_goes_below_before_names_are_broken():
    assert lines(24, {"model": ["a/b"]}, {"teams": ["2"]}, {"title": ["Two teams, one chip"]}) == [
        "  model  teams",
        "  ────────────────────",
        "  a/b        2",
        "    Two teams, one chip",
    ]


def test_a_name_longer_than_the_screen_is_broken_at_its_seams():
    assert lines(20, {"chip": ["very-long-name-of-a-chip@north-east"]}, {"price": ["1"]})[3:] == [
        "  very-long-name-of",
        "    -a-chip@north",
        "    -east",
        "        1",
    ]


def test_names_that_hold_marks_print_as_they_are():
    assert "[red]x[/]" in "".join(lines(20, {"chip": ["[red]x[/]"]}, {"price": ["1"]}))
