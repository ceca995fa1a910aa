"""The rules of the house: what no single module's test would notice."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import qmopt

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "qmopt"
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PROSE = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST = 300
LATE = ("cvxpy", "pandas", "numba", "pyarrow", "typer", "rich", "matplotlib")


def declared_order() -> list[str]:
    """Return the modules that docs/architecture.md lists, lowest first."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    block = re.search(r"```layers\n(.*?)```", text, re.DOTALL)
    assert block, "docs/architecture.md has no block marked layers"
    return [line.split()[0].rstrip("/") for line in block[1].splitlines() if line.strip()]


def layer(path: Path) -> str:
    """Return the name under which a file stands in the order: its module or top package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    """Return the layers of qmopt that a file imports anywhere, inside functions too."""
    here = ["qmopt", *path.relative_to(PACKAGE).with_suffix("").parts]
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(here[: -node.level]) if node.level else ""
            origin = ".".join(part for part in (base, node.module) if part)
            # `from qmopt import tables` names a module, not the package's front
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("qmopt.")}
        found |= {"qmopt" for name in names if name == "qmopt"}
    return found


def test_every_module_has_its_place():
    on_disk = {layer(path) for path in MODULES} - {"__init__"}
    order = declared_order()
    assert len(order) == len(set(order))
    assert on_disk == set(order)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_downward(path):
    order = declared_order()
    own = layer(path)
    if own == "__init__":  # the front, which nobody inside the house imports
        return
    allowed = {*order[: order.index(own)], own, "__version__"}
    assert imported_layers(path) <= allowed


@pytest.mark.parametrize("path", [*MODULES, *TESTS], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_outgrows_its_idea(path):
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, qmopt; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "qmopt" in loaded
    assert not set(LATE) & set(loaded)


@pytest.mark.parametrize("path", [*TESTS, *MODULES, *PROSE], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_test_is_switched_off(path):
    # Spelt in two halves, so that this file does not find itself.
    words = r"pytest\.(mark\.)?sk" + r"ip|import" + r"orskip|xf" + r"ail|doctest: *\+SK" + "IP"
    assert not re.findall(words, path.read_text("utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_the_command_line_prints(path):
    if layer(path) == "cli":
        return
    calls = (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call))
    assert not [call.lineno for call in calls if getattr(call.func, "id", None) == "print"]


@pytest.mark.parametrize("page", PROSE, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)", page.read_text("utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    cited = re.search(r"^version: (\S+)$", citation, re.MULTILINE)
    newest = re.search(r"^## (\d\S*)", changes, re.MULTILINE)
    assert cited
    assert newest
    assert {project["version"], cited[1], newest[1]} == {qmopt.__version__}
