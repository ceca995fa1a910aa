"""qmopt models and qmopt new, and what a first-time user types: --version, --help, nothing."""

import json
import subprocess
import sys

import pytest

import qmopt
from qmopt import catalogue
from qmopt.cli.methods import METHODS

COMMANDS = ("clear", "certify", "models", "new", "bench")


def test_models_lists_every_shipped_market(run):
    result = run("models")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in catalogue.names())


@pytest.mark.parametrize("name", catalogue.names())
def test_a_model_tells_where_it_comes_from(run, name):
    result = run("models", name)
    assert result.exit_code == 0
    for word in ("about:", "source:", "licence:", str(catalogue.path(name))):
        assert word in result.stdout


def test_a_model_that_does_not_exist(run):
    result = run("models", "gpu/atlantis")
    assert result.exit_code == 2
    assert "gpu/atlantis" in result.stderr


def test_the_example_of_new_clears(run, tmp_path):
    folder = tmp_path / "deep" / "mine"
    assert run("new", folder).exit_code == 0
    result = run("clear", folder / "market.toml", "--json")
    assert result.exit_code == 0
    prices = json.loads(result.stdout)["prices"]
    assert prices == pytest.approx({"h100@east": 7.5, "a100@east": 2.5})
    assert "qmopt clear" in (folder / "README.md").read_text()


def test_every_commented_line_of_the_example_works(run, tmp_path):
    """Whoever takes the marks away gets a market, too."""
    run("new", tmp_path / "mine")
    path = tmp_path / "mine" / "market.toml"
    lines = path.read_text().splitlines()
    code = ("# [[", "# team =", "# resource =", "# units =", "# keep_value", "# reserve_price")
    path.write_text("\n".join(x[2:] if x.startswith(code) else x for x in lines))
    assert sum(x.startswith(code) for x in lines) == 6
    assert run("clear", path).exit_code == 0


def test_new_leaves_what_is_there_alone(run, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = run("new", tmp_path)
    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert run("new", tmp_path / "mine.txt").exit_code == 2


def test_version(run):
    assert run("--version").stdout == f"qmopt {qmopt.__version__}\n"


def test_help_teaches(run):
    overview = run("--help").stdout
    assert all(command in overview for command in COMMANDS)
    assert "Exit codes" in overview
    for command in COMMANDS:
        assert "Example: qmopt" in run(command, "--help").stdout


def test_help_lists_every_method(run):
    shown = run("clear", "--help").stdout
    assert all(name in shown for name in METHODS)


def test_no_arguments_show_the_help(run):
    assert "Usage" in run().output


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from qmopt.cli import app;"
        "CliRunner().invoke(app, ['--help']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"cvxpy", "pandas", "numba", "scipy.optimize"} & set(done.stdout.split())


def test_completion_knows_the_commands(process):
    done = process("--show-completion", "bash")
    assert done.returncode == 0
    assert "qmopt" in done.stdout


def test_a_reader_that_leaves_early_sees_no_traceback(tmp_path):
    command = [sys.executable, "-m", "qmopt", "models"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        told = running.stderr.read().decode()
    assert "Traceback" not in told
    assert "Exception" not in told
