"""The built pages need no network, and the reference lists everything that is public."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import mercer

pytestmark = pytest.mark.core

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def settings():
    """Return the plain values that Sphinx's configuration sets, without running it."""
    found = {}
    for node in ast.parse((DOCS / "conf.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_every_extension_is_installed_by_the_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=\[;]", line)[0] for line in project["optional-dependencies"]["docs"]}
    foreign = [name for name in settings()["extensions"] if not name.startswith("sphinx.")]
    assert len(foreign) > 3
    for name in foreign:
        assert name.partition(".")[0].replace("_", "-") in names, name


def test_formulas_come_with_the_pages():
    assert "sphinx-mathjax-offline" in settings()["extensions"]
    for path in (DOCS / "_static").glob("*.css"):
        assert not re.search(r"https?:|@import", path.read_text(encoding="utf-8"))


def test_style_sheets_exist():
    assert settings()["html_css_files"]
    for name in settings()["html_css_files"]:
        assert (DOCS / "_static" / name).is_file()


def test_the_reference_lists_every_public_name():
    listed = set(re.findall(r"(?m)^   (?:selection\.)?(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8")))
    missing = [name for name in mercer.__all__ if not name.startswith("__") and name not in listed]
    assert not missing
    assert {"kernels", "losses", "bounds", "io", "plots", "problems", "solvers"} <= listed


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_formulas_are_set_as_formulas(path):
    fenced = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
    prose = fenced.sub("", path.read_text(encoding="utf-8"))
    for line in re.findall(r"(?m)^ {4}\S.*", prose):  # an indented block is shown as code
        assert not re.search(r"\|\||Σ|<-|\bmin  ?\d", line), f"{path.name}: {line.strip()}"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples" / "gallery").glob("plot_*.py")), ids=lambda p: p.stem
)
def test_a_figure_is_finished_in_the_block_that_begins_it(path):
    """The gallery takes its pictures at the end of each block: what is drawn later is lost."""
    for block in path.read_text(encoding="utf-8").split("\n# %%\n"):
        if "plt.subplots(" in block:
            assert "plt.show()" in block[block.index("plt.subplots(") :]
