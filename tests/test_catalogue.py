"""Shipped models are found by name, and a name leads nowhere else."""

from pathlib import Path

import pytest

from qmopt import MarketError, catalogue
from tests.shipped import WORKLOADS

MARKETS = Path(__file__).parents[1] / "models" / "markets"


def test_every_market_of_the_tree_is_listed():
    files = {
        path.relative_to(MARKETS).with_suffix("").as_posix() for path in MARKETS.rglob("*.toml")
    }
    folders = {
        path.parent.relative_to(MARKETS).as_posix() for path in MARKETS.rglob("resources.csv")
    }
    assert set(catalogue.names()) == files | folders
    assert {"gpu/gavel", "gpu/helios-earth", "textbook/four-by-five", "edge/tie"} < files | folders
    assert catalogue.names() == sorted(catalogue.names())


def test_a_name_leads_to_a_file_or_a_folder():
    assert catalogue.path("edge/tie") == MARKETS / "edge" / "tie.toml"
    assert catalogue.path("gpu/gavel") == MARKETS / "gpu" / "gavel"


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("gpu/helios", "gpu/helios-earth"),
        ("helios-earth", "gpu/helios-earth"),
        ("textbook/two_teams", "textbook/two-teams"),
        ("unwanted-goods", "edge/unwanted-good"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_close_ones(name, close):
    with pytest.raises(MarketError, match=f"no shipped market '{name}'; close: .*{close}"):
        catalogue.path(name)


@pytest.mark.parametrize(
    "name",
    [
        "../markets/edge/tie",
        "edge/../edge/tie",
        "../../pyproject",
        "/etc/passwd",
        str(MARKETS / "edge" / "tie"),
        "edge/tie.toml",
        "gpu/source",
        "gpu/build",
        "gpu",
        "",
        ".",
    ],
)
def test_nothing_but_listed_names_becomes_a_path(name):
    with pytest.raises(MarketError, match="no shipped market"):
        catalogue.path(name)


def test_an_unlike_name_is_answered_with_all_of_them():
    with pytest.raises(MarketError, match="there are: edge/empty-good, "):
        catalogue.path("zzzzz")


def test_an_installed_package_has_its_own_copy(monkeypatch, tmp_path):
    folder = tmp_path / "_models" / "markets" / "edge"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text("")
    monkeypatch.setattr(catalogue, "_PACKAGE", tmp_path)
    assert catalogue.names() == ["edge/mine"]


def test_an_installation_without_models_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "_PACKAGE", tmp_path)
    assert catalogue.names() == []
    with pytest.raises(MarketError, match="none is installed"):
        catalogue.path("edge/tie")


@pytest.mark.parametrize("name", catalogue.names())
def test_every_market_says_what_it_is(name):
    found = catalogue.describe(name)
    assert found.name == name
    for text in (found.title, found.about, found.source, found.licence):
        assert text
    assert found.teams
    assert found.resources
    assert found.bids
    assert found.answered == (name not in ("gpu/gavel", "gpu/helios-earth", *WORKLOADS))
