"""Files that were made to mislead, to break or to exhaust a reader, each refused in its words."""

import shutil
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qmopt.cli import app
from tests.tables.malicious.expected import EXPECTED

HERE = Path(__file__).parent / "malicious"
SOUND = {
    "resources": "resource,supply\nh100,8\nl4,4\n",
    "teams": "team,credits\na,6\nb,24\n",
    "bids": "team,resource,value\na,h100,2\nb,l4,1\n",
}
FILES = sorted(
    file.name
    for file in HERE.iterdir()
    if file.suffix != ".py" and not file.name.startswith((".", "_"))
)


@pytest.fixture(scope="session", autouse=True)
def warm():
    """Have everything imported before anything is timed."""
    import pyarrow.parquet
    from scipy import sparse

    assert pyarrow.parquet
    assert sparse
    assert CliRunner().invoke(app, ["clear", "textbook/two-teams", "--quiet"]).exit_code == 0


def market_with(name, folder):
    """Return a market of one file; or a sound one where the file stands for one of its tables."""
    table, suffix = name.split(".")[-2:]
    if name.count(".") == 1:
        return HERE / name
    tables = SOUND | ({"bids": None} if table == "values" else {}) | {table: None}
    for sound, text in tables.items():
        if text is not None:
            (folder / f"{sound}.csv").write_text(text)
    shutil.copy(HERE / name, folder / f"{table}.{suffix}")
    return folder


def test_every_file_has_its_message():
    assert sorted(EXPECTED) == FILES
    assert len(FILES) >= 45


@pytest.mark.parametrize("name", FILES)
def test_refused_in_its_words_at_once(name, tmp_path):
    market = market_with(name, tmp_path)
    begun = time.process_time()
    result = CliRunner().invoke(app, ["clear", str(market)])
    assert time.process_time() - begun < 1
    assert result.exit_code == 2, result.stderr
    assert EXPECTED[name] in " ".join(result.stderr.split())
    assert len(result.stderr) < 20_000
    assert result.stdout == ""


def test_what_they_stand_in_for_is_sound(tmp_path):
    for table, text in SOUND.items():
        (tmp_path / f"{table}.csv").write_text(text)
    assert CliRunner().invoke(app, ["clear", str(tmp_path), "--quiet"]).exit_code == 0
