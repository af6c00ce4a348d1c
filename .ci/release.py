"""Build a release, check it in fresh environments, write its notes: ``python .ci/release.py [--folder F]``.

Nothing is uploaded. The folder holds the sdist, the wheel and ``notes.md`` afterwards.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECK = """
import mercer
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
model = mercer.SVC().fit(X, y)
assert model.certificate_.status == "optimal", model.certificate_
assert mercer.__version__ == {version!r}, mercer.__version__
print(mercer.__version__, model.score(X, y))
"""


def version() -> str:
    """Return the version that the source states."""
    found = re.search(r'__version__ = "(.+)"', (ROOT / "src/mercer/_version.py").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def notes(changelog: str, release: str) -> str:
    """Return the part of the changelog about one release, without its heading."""
    parts = re.split(r"^## (\S+)[^\n]*\n", changelog, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if release not in sections:
        raise SystemExit(f"CHANGELOG.md has no section for {release}; it has {', '.join(sections)}")
    return sections[release].strip() + "\n"


def unreleased(changelog: str, release: str) -> bool:
    """Return whether the heading of a release has no date yet."""
    return re.search(rf"^## {re.escape(release)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE) is None


def cited() -> str:
    """Return the version that CITATION.cff states."""
    found = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def run(*command: str | Path) -> None:
    """Run a command in the project's folder and stop if it fails."""
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


def environment(folder: Path) -> Path:
    """Make a virtual environment; return its interpreter."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def main() -> None:
    """Build, check, write the notes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "dist", help="where the results go")
    parser.add_argument("--rehearsal", action="store_true", help="allow a changelog without a date")
    options = parser.parse_args()
    release, changelog = version(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    text = notes(changelog, release)
    if cited() != release:
        raise SystemExit(f"CITATION.cff says {cited()}, the source {release}")
    if unreleased(changelog, release) and not options.rehearsal:
        raise SystemExit(f"write the date into CHANGELOG.md: ## {release} - YYYY-MM-DD")
    with tempfile.TemporaryDirectory() as scratch:
        builder = environment(Path(scratch) / "build")
        run(builder, "-m", "pip", "install", "--quiet", "build")
        run(builder, "-m", "build", "--outdir", options.folder)
        for name in (f"mercer-{release}-py3-none-any.whl", f"mercer-{release}.tar.gz"):
            fresh = environment(Path(scratch) / name)
            run(fresh, "-m", "pip", "install", "--quiet", options.folder / name)
            run(fresh, "-c", CHECK.format(version=release))
    (options.folder / "notes.md").write_text(text, encoding="utf-8")
    print(f"{options.folder}: sdist, wheel, notes.md")


if __name__ == "__main__":
    sys.exit(main())
