"""A market on disk, and two ways to run the commands: in this process, and in one of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qmopt.cli import app

ROOT = Path(__file__).parents[2]
# prices 7.5 and 2.5, as the README works out by hand
TWO_TEAMS = """
[[resources]]
resource = "h100"
supply = 8
[[resources]]
resource = "a100"
supply = 16
[[teams]]
team = "vision"
credits = 60
[[teams]]
team = "speech"
credits = 40
[[bids]]
team = "vision"
resource = "h100"
value = 4
[[bids]]
team = "vision"
resource = "a100"
value = 1
[[bids]]
team = "speech"
resource = "h100"
value = 2
[[bids]]
team = "speech"
resource = "a100"
value = 1
"""


@pytest.fixture
def market(tmp_path):
    path = tmp_path / "market.toml"
    path.write_text(TWO_TEAMS)
    return path


@pytest.fixture
def run():
    """Run a command in this process; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def process(tmp_path):
    """Run a command in a process of its own, in a folder where it finds the stand-in methods."""

    def process(*arguments, **options):
        command = [sys.executable, "-m", "qmopt", *(str(argument) for argument in arguments)]
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
        return subprocess.run(
            command, cwd=tmp_path, env=environment | {"PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, timeout=120, **options,
        )  # fmt: skip

    return process
