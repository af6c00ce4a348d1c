"""What the documents say is run: each Python block, and each shell block of the README."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import mercer
from shown_digits import differing_digits

pytestmark = pytest.mark.core

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "howto").glob("*.md")]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(PAGES)]
LANGUAGES = {"python", "sh", "text", "math", "{toctree}", "{eval-rst}"}  # the first three are looked at below
NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")


class Block(NamedTuple):
    language: str
    line: int
    body: str


def blocks(path):
    """Return the fenced blocks of a document, read line by line so that an unclosed fence is noticed."""
    found, language, start, lines = [], None, 0, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.lstrip().startswith("```"):
            lines.append(line)
        elif language is None:
            language, start, lines = line.strip().removeprefix("```"), number, []
        else:
            found.append(Block(language, start, "\n".join(lines) + "\n"))
            language = None
    assert language is None, f"{path.name}:{start}: this block is never closed"
    return found


def words(text):
    """Return a text with its numbers masked: the last digits may differ between machines."""
    return NUMBER.sub("#", text).split()


def test_the_documents_are_there():
    assert all(path.is_file() for path in DOCUMENTS)
    assert {"README.md", "CONTRIBUTING.md", "notation.md"} <= {path.name for path in DOCUMENTS}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_has_a_language_that_is_checked(path):
    for block in blocks(path):
        assert block.language in LANGUAGES, f"{path.name}:{block.line}: {block.language!r}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run_and_print_what_is_shown(path, tmp_path, monkeypatch, capsys):
    """The blocks of a document share one namespace; a text block shows the output of the block before it."""
    if any(re.search(r"^import pandas", block.body, re.MULTILINE) for block in blocks(path)):
        pytest.importorskip("pandas")  # data frames are an extra
    monkeypatch.chdir(tmp_path)
    module = ModuleType(f"document_{path.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed = None
    for block in blocks(path):
        if block.language == "python":
            # Blank lines first, so that a traceback names the line of the document.
            exec(compile("\n" * block.line + block.body, str(path), "exec"), module.__dict__)
            printed = capsys.readouterr().out
        elif block.language == "text" and printed is not None:
            assert words(printed) == words(block.body), f"{path.name}:{block.line}: printed\n{printed}"
            assert path.name != "README.md" or not differing_digits(printed, block.body)
            printed = None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith("https://"):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"


@pytest.mark.skipif(sys.platform == "win32", reason="the continuous integration runs under bash")
def test_the_shell_commands_of_the_readme_are_run_by_ci():
    listed = subprocess.run(
        ["bash", ".ci/run", "--list"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    shell = [block for block in blocks(ROOT / "README.md") if block.language == "sh"]
    commands = [line for block in shell for line in block.body.splitlines() if line.strip()]
    assert sum(line.startswith("step: readme ") for line in listed) == len(shell)
    assert set(commands) <= set(listed)
    assert {"make demo", "make test", "pip install ."} <= {c.partition("#")[0].strip() for c in commands}


def test_the_readme_begins_with_a_picture_and_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("![") < text.index("make demo") < text.index("make test") < text.index("pip install .")
    picture = ROOT / re.search(r"!\[[^\]]+\]\(([^)]+)\)", text)[1]
    assert picture.stat().st_size < 150_000


def test_the_reference_lists_every_public_name():
    listed = {line.strip() for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines()}
    assert set(mercer.__all__) - {"__version__"} <= listed


def test_every_page_can_be_reached():
    index = {line.strip() for line in (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()}
    for page in PAGES:
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert name in index or name == "index", f"{name} is missing from docs/index.md"
