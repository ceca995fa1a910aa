"""A method of one's own that raises, on the command line: one message, and where it came from."""

import json

import pytest

BROKEN = """
import numpy as np
import sys
import qmopt as qm

class Divides:
    def solve(self, market):
        return helped(1)

def helped(number):
    return number / 0                           # line 11

class Singular:
    def solve(self, market):
        np.linalg.inv(np.zeros((2, 2)))         # line 15

class Missing:
    def solve(self, market):
        open("no-such-file")                    # line 19

class Leaves:
    def solve(self, market):
        sys.exit(0)                             # line 23

class Demands:
    def __init__(self, setting):
        pass
    def solve(self, market):
        pass

class Refuses:
    def solve(self, market):
        raise qm.MarketError("not for me")

class Empty:
    def __init__(self):
        raise ValueError                        # line 37
    def solve(self, market):
        pass
"""
RAISES = [
    ("Divides", "ZeroDivisionError: division by zero", 11),
    ("Singular", "LinAlgError: Singular matrix", 15),
    ("Missing", "FileNotFoundError", 19),
    ("Leaves", "SystemExit: 0", 23),
    ("Empty", "ValueError", 37),
]


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(BROKEN)


@pytest.mark.parametrize(("name", "error", "line"), RAISES)
@pytest.mark.usefixtures("own")
def test_one_message_names_method_error_and_line(process, market, name, error, line):
    result = process("clear", market, "--method", f"own:{name}")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"qmopt: method own:{name} raised {error}")
    assert f"own.py:{line} in " in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("own")
def test_the_traceback_on_request(process, market):
    result = process("clear", market, "--method", "own:Divides", "--traceback")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "return number / 0" in result.stderr
    assert "qmopt: method own:Divides raised" in result.stderr


@pytest.mark.usefixtures("own")
def test_with_json_the_document_says_so(process, market):
    out = market.parent / "result"
    assert process("clear", market, "--out", out, "-q").returncode == 0
    result = process("clear", market, "--method", "own:Divides", "--json", "--out", out)
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert document["status"] == "failed"
    assert document["error"]["kind"] == "MethodRaised"
    assert "own.py:11" in document["error"]["message"]
    # and no certified result of an earlier run is left beside it
    assert json.loads((out / "result.json").read_text())["status"] == "failed"


@pytest.mark.usefixtures("own")
def test_an_error_of_ours_raised_by_a_method_stays_ours(process, market):
    result = process("clear", market, "--method", "own:Refuses")
    assert (result.returncode, result.stderr) == (2, "qmopt: not for me\n")


@pytest.mark.usefixtures("own")
def test_a_class_that_needs_arguments(process, market):
    result = process("clear", market, "--method", "own:Demands")
    assert result.returncode == 2
    assert "own:Demands" in result.stderr
    assert "setting" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("text", ["def (:\n", "1 / 0\n"])
def test_a_module_that_cannot_be_imported(process, market, text):
    (market.parent / "torn.py").write_text(text)
    result = process("clear", market, "--method", "torn:Method")
    assert result.returncode == 1
    assert "method torn:Method raised" in result.stderr
    assert "torn.py" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", [":Method", ".own:Method", "own:", "own:A:B", "a b:C"])
def test_a_name_that_is_none(run, market, name):
    result = run("clear", market, "--method", name)
    assert result.exit_code == 2
    assert "package.module:Class" in result.stderr


USAGE = [
    (("clear", "{market}", "--json", "--no-such-option"), "NoSuchOption", "--no-such-option"),
    (("clear", "--json"), "MissingParameter", "PATH"),
    (("clear", "{market}", "--json", "--tolerance", "x"), "BadParameter", "--tolerance"),
    (("clear", "{market}", "--tolerance", "-1", "--json"), "BadParameter", "--tolerance"),
    (("clear", "{market}", "--time-limit", "0", "--json"), "BadParameter", "--time-limit"),
    (("clear", "{market}", "--method", "simplex", "--json"), "BadParameter", "simplex"),
    (("clear", "{market}", "second", "--json"), "UsageError", "second"),
    (("certify", "{market}", "--json"), "BadParameter", "--prices"),
    (("clean", "{market}", "--json"), "UsageError", "clean"),
    (("--json",), "NoSuchOption", "--json"),
]


@pytest.mark.parametrize(("arguments", "kind", "word"), USAGE)
def test_a_wrong_call_is_told_in_json_to_who_asked_for_it(run, market, arguments, kind, word):
    result = run(*(argument.format(market=market) for argument in arguments))
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert document["status"] == "failed"
    assert document["error"]["kind"] == kind
    assert word in document["error"]["message"]
    assert result.stderr


def test_a_wrong_call_without_json_leaves_standard_output_empty(run, market):
    for arguments in (("clear", market, "--nonsense"), ("clear", "--", "--json", "--json")):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
