"""qm.bench: what it takes, what it returns, and the errors of those who give it something else."""

import json

import numpy as np
import pandas as pd
import pytest

import qmopt as qm
from qmopt import generate, plots, results
from qmopt.bench import Row, bench, peers, profile, published, record, rows, suite


def test_methods_by_label_or_by_class():
    market = generate.uniform(4, 3, 1)
    table = bench([qm.Pivoting(), qm.InteriorPoint()], market, repeat=1)
    assert table["method"].tolist() == ["Pivoting", "InteriorPoint"]
    twice = bench([qm.Pivoting(), qm.Pivoting(time_limit=9)], market, repeat=1)
    assert twice["method"].tolist() == ["Pivoting(time_limit=inf)", "Pivoting(time_limit=9)"]
    labelled = bench({"mine": qm.Pivoting()}, market, repeat=1)
    assert labelled["method"].tolist() == ["mine"]


def test_markets_by_name_path_case_and_object(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'resources = [{ resource = "l4", supply = 20 }]\n'
        'teams = [{ team = "a", credits = 60 }]\n'
        'bids = [{ team = "a", resource = "l4", value = 1 }]\n'
        'expected = [{ resource = "l4", price = "3" }]\n'
    )
    path = str(tmp_path / "mine.toml")
    markets = ["textbook/two-teams", path, suite("squares")[0], generate.uniform(3, 2, 1)]
    table = bench(qm.Pivoting(), markets, repeat=1)
    assert (table["status"] == "certified").all()
    assert table["market"].tolist()[:3] == ["textbook/two-teams", path, "uniform 50x50"]
    assert table["reference"].tolist()[:2] == ["its source", "its source"]
    assert table["price_error"].max() <= 1e-9


@pytest.mark.parametrize(
    ("methods", "markets", "options", "words"),
    [
        ("pivoting", "models", {}, "methods"),
        (qm.Pivoting, "models", {}, "methods"),
        ([], "models", {}, "at least one"),
        (qm.Pivoting(), [], {}, "at least one"),
        (qm.Pivoting(), "squares:huge", {}, "no suite 'squares:huge'"),
        (qm.Pivoting(), "no-such-thing", {}, "no-such-thing"),
        (qm.Pivoting(), [3], {}, "markets"),
        (qm.Pivoting(), "models", {"repeat": 0}, "repeat"),
        (qm.Pivoting(), "models", {"tolerance": 2}, "tolerance"),
        (qm.Pivoting(), "models", {"time_limit": -1}, "time_limit"),
    ],
)
def test_what_is_not_understood_is_said_before_anything_runs(methods, markets, options, words):
    with pytest.raises((qm.MarketError, qm.TableError), match=words):
        rows(methods, markets, **options)


def test_progress_names_market_and_method():
    told = []
    bench(qm.Pivoting(), "textbook/two-teams", repeat=1, progress=told.append)
    assert told == [
        "textbook/two-teams (1 of 1): the right prices", "textbook/two-teams (1 of 1): Pivoting",
    ]  # fmt: skip


def test_published_rows_stand_beside_and_are_marked():
    [case] = [c for c in suite("squares") if c.name == "integer 50x50"]
    table = bench(qm.Pivoting(), case, repeat=1, published=True)
    assert table["status"].tolist() == ["certified", "published", "published"]
    theirs = table[table["source"] != "measured"]
    assert theirs["source"].str.contains("github.com").all()
    assert theirs["worst"].isna().all()
    assert (theirs["versions"] == "").all()


def row(method, market, seconds, worst=0.0, **more):
    return Row("s", market, 2, 2, method, "certified", seconds=seconds, worst=worst, **more)


def test_a_profile_by_hand():
    """A: best on 1, twice the best on 2, fails on 3. B: four times, best, best. 4: nobody."""
    told = [
        row("A", "1", 1.0), row("A", "2", 4.0), row("A", "3", 1.0, worst=1e-3),
        row("B", "1", 4.0), row("B", "2", 2.0), row("B", "3", 9.0),
        row("A", "4", 1.0, worst=1.0), row("B", "4", 1.0, worst=np.inf),
        row("C", "1", 0.1, source="elsewhere"),
    ]  # fmt: skip
    found = profile(told)
    assert found.markets == 3
    assert {name: ratios.tolist() for name, ratios in found.ratios.items()} == {
        "A": [1, 2, np.inf], "B": [1, 1, 4],
    }  # fmt: skip
    assert found.share("A", 1.5) == pytest.approx(1 / 3)
    assert found.share("A", 1e9) == pytest.approx(2 / 3)
    assert found.share("B", 4) == 1
    loose = profile(told, tolerance=1e-2)
    assert loose.ratios["A"].tolist() == [1, 1, 2]
    assert profile([]).markets == 0


def test_a_profile_by_gap():
    told = [row("A", "1", 1.0, worst=1.0, gap=-1e-12), row("B", "1", 2.0, worst=1.0, gap=None)]
    assert profile(told, residual="gap").ratios["A"].tolist() == [1]
    assert profile(told, residual="gap").ratios["B"].tolist() == [np.inf]


def test_the_document_is_strict_json_and_the_table_reads_back(tmp_path):
    told = [
        row("A", "1", 1.0, worst=np.inf, gap=np.inf),
        row("B", "1", 2.0),
        *published(suite("squares")),
    ]
    paths = record.write(told, {"tolerance": 1e-9}, tmp_path)
    assert [path.name for path in paths] == ["results.json", "results.csv"]
    document = json.loads(paths[0].read_text(), parse_constant=pytest.fail)
    assert document["rows"][0]["worst"] == "inf"
    assert document["rows"][1]["peak_mib"] is None
    assert [p["solved"] for p in document["profiles"]] == [{"A": 0, "B": 1}] * 3
    table = pd.read_csv(paths[1])
    assert table["method"].tolist()[:2] == ["A", "B"]
    assert len(table) == len(told)
    record.write(told, {}, tmp_path)  # ours may be replaced
    assert results.dumps(document)


def test_files_of_somebody_else_are_left_alone(tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    with pytest.raises(qm.TableError, match=r"results\.csv"):
        record.write([], {}, tmp_path)
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(qm.TableError, match="which qmopt did not write"):
        record.write([], {}, tmp_path)
    with pytest.raises(qm.TableError, match="not a folder"):
        record.write([], {}, tmp_path / "results.csv")
    assert (tmp_path / "results.csv").read_text() == "mine"


def test_plots_show_every_method(tmp_path):
    told = [
        row("A", "1", 1.0, gap=1e-12, pairs=4), row("A", "2", 2.0, gap=0.0, pairs=9),
        row("B", "1", 4.0, worst=1.0, gap=1e-3, pairs=4),
        row("C", "1", 4.0, worst=np.inf, gap=np.inf),
        row("P", "1", 1.0, source="elsewhere"),
    ]  # fmt: skip
    paths = plots.write(told, tmp_path)
    assert [path.name for path in paths] == ["profile.png", "size.png", "gap.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    for axes in plots.performance_profile(told).axes:
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels == ["A (2)", "B (0)", "C (0)"]
        assert list(axes.get_lines()[0].get_ydata())[-1] == 1
    assert plots.write([], tmp_path)


def test_plots_without_matplotlib_say_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(plots.PlotsNotInstalled, match=r"pip install 'qmopt\[plot\]'"):
        plots.performance_profile([])
    assert issubclass(plots.PlotsNotInstalled, ImportError)


def test_every_peer_has_a_row(tmp_path):
    table = bench(peers(1e-6), generate.integer(6, 4, 1), repeat=1, tolerance=1e-2)
    assert set(table["status"]) == {"certified"}


def test_where_nobody_knows_the_right_prices_the_best_answer_is_held_against(monkeypatch):
    from qmopt.bench import compare

    monkeypatch.setattr(compare, "reference", lambda case, limit: None)
    rough = qm.ProportionalResponse(tolerance=1e-3)
    methods = {"rough": rough, "exact": qm.Pivoting(), "again": rough}
    table = bench(methods, generate.uniform(8, 5, 1), repeat=1)
    assert table["method"].tolist() == ["rough", "exact", "again"]
    assert table["reference"].str.startswith("exact, certified to").all()
    errors = table["price_error"].tolist()
    assert errors[1] == 0 < errors[0] == errors[2] < 0.1
    alone = bench({"rough": rough}, generate.uniform(8, 5, 1), repeat=1)
    assert alone["price_error"].isna().all()
