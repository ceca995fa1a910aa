"""Every command of the README and the docs runs, and prints what the page says it prints."""

import doctest
import os
import subprocess
import sys

import pytest

from tests.docs.pages import PAGES, ROOT, Command, commands, name, write_files

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LONGEST = 120
#: The two commands under "Install" are run by .ci/run, in an environment of their own.
INSTALLS = "pip install"
SPOKEN = [page for page in PAGES if any(INSTALLS not in c.text for c in commands(page))]


@pytest.fixture
def environment(tmp_path):
    """Return an environment in which ``qmopt`` and ``python`` are those under test."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for program, arguments in (("qmopt", "-m qmopt "), ("python", "")):
        script = programs / program
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        script.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return os.environ | plain | {"PATH": path, "PYTHONPATH": str(ROOT)}


def run(command: Command, folder, environment):
    return subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", timeout=LONGEST, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("page", SPOKEN, ids=name)
def test_commands_run(page, tmp_path, environment):
    folder = tmp_path / "reader"
    folder.mkdir()
    write_files(page, folder)
    for command in commands(page):
        if INSTALLS in command.text:
            continue
        place = f"{name(page)} line {command.line}: {command.text}"
        ran = run(command, folder, environment)
        assert ran.returncode == 0, f"{place}\nended with {ran.returncode}\n{ran.stdout}"
        if command.prints:
            agrees = doctest.OutputChecker().check_output(command.prints, ran.stdout, FLAGS)
            assert agrees, f"{place}\nexpected\n{command.prints}\ngot\n{ran.stdout}"


def test_a_page_is_taken_apart(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n```{code-block} text\n:caption: q3/a.csv\n\nteam\n007\n```\n\n"
        "```console\n$ cat q3/a.csv\nteam\n> 7\n$ echo \\\n> b\n```\n\n```sh\ntrue\n```\n"
    )
    assert commands(page) == [
        Command(11, "cat q3/a.csv", "team\n> 7\n"),
        Command(14, "echo \\\nb"),
        Command(19, "true\n"),
    ]
    assert write_files(page, tmp_path) == ["q3/a.csv"]
    assert (tmp_path / "q3" / "a.csv").read_text() == "team\n007\n"
