"""What holds for the project as a whole: its names, its layers, its words."""

import ast
import importlib
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEXT = {".py", ".md", ".toml", ".txt", ".cfg", ".yml", ".yaml", ".rst", ""}
FOLDERS = ["src", "tests", "docs", "examples", "benchmarks", ".ci"]

# Marks of unfinished work, paths of one machine, registries; each in a form that does not find itself.
FORBIDDEN = re.compile(
    r"TOD[O]|FIXM[E]|XX[X]|/wor[k]/|/tm[p]/|/roo[t]/|pypi[.]org|conda[-]forge|\b00\d_[0-9a-f]{16}\b"
)
THEIR_OWN = {
    "numpy",
    "scipy",
    "sklearn",
    "joblib",
    "threadpoolctl",
    "numba",
    "llvmlite",
    "safetensors",
    "mercer",
}
LEAVES = {"cli", "_report", "plots", "play", "io"}  # these may import what an extra brings


def project_files():
    files = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    ours = [path for path in files if path.suffix in TEXT and "__pycache__" not in path.parts]
    return [path for path in ours if not path.name.startswith(".coverage")]


@pytest.mark.core
def test_the_version_has_an_entry_in_the_changelog():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == mercer.__version__


@pytest.mark.core
def test_the_changelog_names_everything_public():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not [name for name in mercer.__all__ if name != "__version__" and name not in text]


@pytest.mark.core
@pytest.mark.parametrize(
    "module", ["mercer", "mercer.bounds", "mercer.kernels", "mercer.problems", "mercer.solvers"]
)
def test_public_names_can_be_imported_and_are_documented(module):
    module = importlib.import_module(module)
    assert module.__doc__
    assert sorted(set(module.__all__)) == sorted(module.__all__), "a name stands twice in __all__"
    for name in module.__all__:
        value = getattr(module, name)
        assert name in dir(module)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), f"{module.__name__}.{name} has no docstring"


@pytest.mark.core
def test_public_estimators_document_each_parameter():
    classes = [
        value for value in (getattr(mercer, name) for name in mercer.__all__) if inspect.isclass(value)
    ]
    estimators = [cls for cls in classes if hasattr(cls, "fit")]
    assert mercer.SVC in estimators
    for cls in estimators:
        rest = inspect.getdoc(cls).partition("Parameters\n----------\n")[2]
        table = re.split(r"\n\n\w+( \w+)*\n---", rest)[0]
        heads = [line.partition(" : ")[0] for line in table.splitlines() if re.match(r"\S", line)]
        described = [name for head in heads for name in head.split(", ")]
        assert sorted(described) == sorted(inspect.signature(cls).parameters), cls.__name__


@pytest.mark.core
def test_without_docstrings_there_is_nothing_to_complete():
    code = "import mercer; assert mercer.SVC.__doc__ is None; mercer.SVC(); mercer.KernelPerceptron()"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)


@pytest.mark.core
def test_a_class_describes_its_own_parameters_and_inherits_the_others():
    class Narrow(mercer.SVC):
        """A narrow machine.

        Parameters
        ----------
        C : float, default=7.0
            Price of narrowness.

        Notes
        -----
        Not for wide data.
        """

        def __init__(self, gamma=2.0, C=7.0):
            super().__init__(gamma=gamma, C=C)

    class Silent(mercer.SVC):
        """Nothing to add."""

    assert Narrow.__doc__ == (
        "A narrow machine.\n\nParameters\n----------\n"
        "degree, gamma, coef0\n"
        "    Parameters of the kernels given by name, as in scikit-learn. "
        '``gamma="scale"`` uses the weighted\n'
        "    variance when sample weights are given.\n"
        "C : float, default=7.0\n    Price of narrowness.\n\nNotes\n-----\nNot for wide data.\n"
    )
    assert Silent.__doc__ == "Nothing to add."


@pytest.mark.core
def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_machine"):
        mercer.no_such_machine  # noqa: B018


@pytest.mark.core
def test_dependencies_have_plain_lower_bounds():
    assert all(re.fullmatch(r"[\w.-]+>=[\w.]+", line) for line in PROJECT["project"]["dependencies"])


@pytest.mark.core
def test_the_library_imports_nothing_but_its_dependencies():
    allowed = sys.stdlib_module_names | THEIR_OWN
    for path in (ROOT / "src" / "mercer").rglob("*.py"):
        if path.relative_to(ROOT / "src" / "mercer").parts[0].removesuffix(".py") in LEAVES:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            foreign = {name.partition(".")[0] for name in names} - allowed
            assert not foreign, f"{path.relative_to(ROOT)} imports {foreign}"


@pytest.mark.core
def test_lowest_versions_are_constraints():
    output = subprocess.run(
        [sys.executable, ".ci/lowest.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    pinned = dict(line.split("==") for line in output)
    assert pinned.keys() == {
        "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "numba", "safetensors", "pytest",
    }  # fmt: skip


def test_no_forbidden_words():
    found = []
    for path in project_files():
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in FORBIDDEN.findall(text)]
    assert not found


def test_files_are_small():
    long = {}
    for path in (ROOT / "src").rglob("*.py"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines >= 400:
            long[str(path.relative_to(ROOT))] = lines
    assert not long, "split these files"


LINTER = shutil.which("lint-imports", path=str(Path(sys.executable).parent))  # of this environment, no other


@pytest.mark.skipif(LINTER is None, reason="needs import-linter")
def test_imports_point_downward():
    done = subprocess.run([LINTER, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def test_the_layer_contract_has_no_exception():
    (contract,) = PROJECT["tool"]["importlinter"]["contracts"]
    assert contract["type"] == "layers"
    assert "ignore_imports" not in contract
