"""What a release needs: one version everywhere, and notes that are the changelog's."""

import importlib.util
import re
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)

CHANGELOG = """# Changelog

## 0.2.0 - 2030-01-31

### Added

- A machine.

## 0.1.0 - unreleased

- The first one.
"""


def test_one_version_everywhere():
    assert release.version() == mercer.__version__ == release.cited()


def test_notes_are_the_section_of_the_release():
    assert release.notes(CHANGELOG, "0.2.0") == "### Added\n\n- A machine.\n"
    assert release.notes(CHANGELOG, "0.1.0") == "- The first one.\n"
    with pytest.raises(SystemExit, match=r"no section for 0\.3\.0; it has 0\.2\.0, 0\.1\.0"):
        release.notes(CHANGELOG, "0.3.0")


def test_a_release_has_a_date():
    assert not release.unreleased(CHANGELOG, "0.2.0")
    assert release.unreleased(CHANGELOG, "0.1.0")


def test_hosted_checks_run_what_everybody_runs():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert re.search(r"^ *- run: bash \.ci/run$", workflow, re.MULTILINE)


def test_hooks_are_tools_of_the_development_environment():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    lint = (ROOT / "Makefile").read_text(encoding="utf-8")
    tools = re.findall(r"entry: \.venv/bin/([\w-]+)", hooks)
    assert tools
    assert all(tool in lint for tool in tools)
