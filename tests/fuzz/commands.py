"""Command lines: options found by asking the command itself, on files that are sound, strange and damaged."""

import contextlib
import functools
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from .data import usually
from .report import Report, short
from .worker import SECONDS

NUMBERS = ["1", "0.5", "10", "0", "-1", "1e-300", "1e300", "nan", "inf", "x", "", "1e-12", "1000000"]
TEXTS = {
    "--target": ["y", "last", "first", "none", "a", "0", "9", "nothing"],
    "--task": ["auto", "classify", "regress", "novelty", "x"],
    "--kernel": ["rbf", "linear", "poly", "sigmoid", "laplacian", "x"],
    "--gamma": ["scale", "auto", "0.1", "0", "-1", "1e300", "x"],
    "--class-weight": ["balanced", "x"],
    "--impute": ["median", "mean", "most_frequent", "zero", "x"],
    "--exclude": ["a", "b", "nothing"],
    "--weights": ["w", "a", "nothing"],
    "--format": ["csv", "svmlight", "npz", "arff", "parquet", "x"],
    "--separator": [",", ";", "xx"],
    "--decimal": [".", ",", "x"],
    "--encoding": ["utf-8", "cp1252", "utf-16", "x"],
    "--to": ["mercer", "libsvm", "onnx", "x"],
    "--method": ["kfold", "loo", "x"],
    "--scoring": ["accuracy", "r2", "x"],
}
PLACES = ["out.mercer", "out.onnx", "out.html", "out.csv", "no/such/folder", ".", ""]
ABSTRUSE = re.compile(
    r"HistGradientBoosting|must not contain infs|LinAlgError|\[Errno|\(34,|has no attribute|broadcast|"
    r"out of bounds|resource busy|Traceback|unsupported operand|not subscriptable|falls for ever"
)
SLOW = {"--search", "--report", "--folds", "--time-limit"}


# -- the folder in which commands run --------------------------------------------------------------------


def _csv(rows, names):
    return ",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


@functools.cache
def folder_content():
    """Return names and bytes of the files that commands may be given."""
    import gzip

    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(24, 2)), 3)
    kinds = np.where(X[:, 0] + 0.4 * rng.normal(size=24) > 0, "yes", "no")
    target = np.round(X[:, 0] - X[:, 1], 3)
    names = ["a", "b", "y"]
    plain = _csv([(*x, k) for x, k in zip(X, kinds, strict=True)], names)
    huge = _csv([(x[0] * 1e300, x[1], k) for x, k in zip(X, kinds, strict=True)], names)
    files = {
        "plain.csv": plain,
        "numbers.csv": _csv([(*x, t) for x, t in zip(X, target, strict=True)], names),
        "huge.csv": huge,
        "huge_target.csv": _csv([(*x, t * 1e32) for x, t in zip(X, target, strict=True)], names),
        "gaps.csv": plain.replace("\n0.", "\n,", 3),
        "words.csv": _csv([("red", x[1], k) for x, k in zip(X, kinds, strict=True)], names),
        "weights.csv": _csv(
            [(*x, i % 3, k) for i, (x, k) in enumerate(zip(X, kinds, strict=True))], ["a", "b", "w", "y"]
        ),
        "constant.csv": _csv([(1, 1, k) for k in kinds], names),
        "one_class.csv": _csv([(*x, "yes") for x in X], names),
        "two_rows.csv": _csv([(1, 2, "yes"), (3, 4, "no")], names),
        "one_row.csv": _csv([(1, 2, "yes")], names),
        "header_only.csv": "a,b,y\n",
        "empty.csv": "",
        "new.csv": _csv(X[:5], ["a", "b"]),
        "plain.svm": "".join(
            f"{1 if k == 'yes' else -1} 1:{x[0]} 2:{x[1]}\n" for x, k in zip(X, kinds, strict=True)
        ),
        "bad.arff": "@relation r\n@attribute a numeric\n@attribute y {u,v}\n@data\n1,u\n2\n",
        "noise.bin": bytes(rng.integers(0, 256, 300, dtype=np.uint8)),
        "plain.csv.gz": gzip.compress(plain.encode(), mtime=0),
        "cut.csv.gz": gzip.compress(plain.encode(), mtime=0)[:60],
    }
    files = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    return files | _models(files)


def _models(files):
    """Return model files, made by the command itself."""
    from mercer.cli import run

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _silence():
        os.chdir(folder)
        try:
            for name in ("plain.csv", "numbers.csv", "plain.svm"):
                Path(name).write_bytes(files[name])
            run(["train", "plain.csv", "-o", "classes.mercer", "-q"])
            run(["train", "numbers.csv", "-o", "tube.mercer", "-q"])
            run(["svm-train", "-q", "plain.svm", "old.model"])
            made = {name: Path(name).read_bytes() for name in ("classes.mercer", "tube.mercer", "old.model")}
        finally:
            os.chdir(here)
    made["cut.mercer"] = made["classes.mercer"][:-40]
    return made


@contextlib.contextmanager
def _silence():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


# -- one command -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A command line, run in a folder of files; in this process or in one of its own."""

    words: tuple
    apart: bool = False

    @property
    def place(self):
        return f"mercer {self.words[0] if self.words else ''}"

    def snippet(self):
        shown = " ".join(f"'{w}'" if not re.fullmatch(r"[\w./=-]+", w) else w for w in self.words)
        return (
            f"# in the folder of files of tests/fuzz/commands.py:  mercer {shown}\n"
            f"from fuzz.commands import Command\nprint({self!r}.run().failures)"
        )

    def run(self):
        report = Report(fits=1)
        start = time.process_time()
        files = folder_content()
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                (Path(folder) / name).write_bytes(content)
            os.chdir(folder)
            try:
                code, out, err = self._apart(folder) if self.apart else self._here(report)
            finally:
                os.chdir(here)
            written = {p.name for p in Path(folder).iterdir()} - set(files)
            changed = {
                name for name, content in files.items() if (Path(folder) / name).read_bytes() != content
            }
        report.seconds = time.process_time() - start
        report.ending = f"code {code}"
        self._judge(report, code, out, err, written, changed)
        return report

    def _here(self, report):
        from mercer.cli import run

        out, err = io.StringIO(), io.StringIO()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    code = run(list(self.words))
                except BaseException as error:  # noqa: BLE001 - a command ends with a code, whatever happens
                    code = f"{type(error).__name__}: {error}"
        for warning in caught:
            if warning.category in (RuntimeWarning, DeprecationWarning):
                where = f"{warning.category.__name__} in {short(warning.filename)}"
                report.fail("command: a warning leaked", where, f"line {warning.lineno}: {warning.message}")
        return code, out.getvalue(), err.getvalue()

    def _apart(self, folder):
        done = subprocess.run(
            [sys.executable, "-m", "mercer.cli", *self.words], cwd=folder, capture_output=True, text=True,
            timeout=4 * SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def _judge(self, report, code, out, err, written, changed):
        told = f"code {code}\n{err[-600:]}"
        if code not in (0, 1, 2, 3):
            report.fail("ends with a known code", self.place + _bug(err), told)
            return
        if code == 1 and self.words[0] not in ("verify", "svm-train", "svm-predict", "svm-scale"):
            report.fail("only checks and tools end with 1", self.place, told)
        match = ABSTRUSE.search(err + out)
        if match:
            report.fail("refused without words", f"{self.place}: {match[0]}", told)
        if code and not (err.strip() or out.strip()):
            report.fail("says what is wrong", self.place, told)
        if code in (2, 3) and written:
            report.fail("nothing is written after a mistake", self.place, f"{written}: {told}")
        if changed - set(self.words):
            report.fail("other files are left alone", self.place, f"{changed}: {told}")
        if "--json" in self.words and code == 0 and "--help" not in self.words and "-h" not in self.words:
            try:
                json.loads(out, parse_constant=_refuse)
            except ValueError as error:
                report.fail("--json is JSON", self.place, f"{error}: {out[:300]}")


def _bug(err):
    match = re.search(r"a bug: (\w+)", err)
    return f": {match[1]}" if match else ""


def _refuse(name):
    raise ValueError(f"{name} is not JSON")


# -- strategies ------------------------------------------------------------------------------------------


@functools.cache
def options():
    """Return the positional arguments of each command, and its options with their kinds."""
    import typing

    import typer

    from mercer.cli.app import app

    functions = {info.name or info.callback.__name__: info.callback for info in app.registered_commands}
    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        if name == "play":  # it serves until Ctrl-C; tests/play start and end it
            continue
        if name.startswith("svm-"):
            continue
        places = [p.name for p in command.params if p.param_type_name == "argument"]
        hints = typing.get_type_hints(functions[name])  # what typer makes of them differs by version
        taken = {}
        for p in command.params:
            if p.param_type_name != "option" or "--help" in p.opts:
                continue
            longest = max(p.opts, key=len)
            taken[longest] = "flag" if p.is_flag else repr(hints[p.name]).lower()
            for other in p.secondary_opts:
                taken[other] = "flag"
        found[name] = (places, taken)
    return found


SVM_TOOLS = {
    "svm-train": (
        ["-s 0", "-s 1", "-s 2", "-s 3", "-s 4", "-s 9", "-t 0", "-t 1", "-t 2", "-t 3", "-c 10",
         "-c -1", "-g 0.5", "-n 0.5",
         "-n 2", "-p 0.1", "-e 0.01", "-b 1", "-v 3", "-v 1", "-q", "-x", "-w1 5", "-h 0", "-m 1"],
        [["plain.svm", "out.model"], ["huge.csv", "out.model"], ["empty.csv", "out.model"],
         ["nothing", "out.model"], []],
    ),
    "svm-predict": (
        ["-b 1", "-b 0", "-q", "-x"],
        [["plain.svm", "old.model", "out.txt"], ["plain.svm", "cut.mercer", "out.txt"], ["nothing"],
         ["empty.csv", "old.model", "o"]],
    ),
    "svm-scale": (
        ["-l -1", "-u 1", "-l 5 -u 1", "-s out.range", "-r nothing", "-y 0 1"],
        [["plain.svm"], ["empty.csv"], ["noise.bin"], ["nothing"], []],
    ),
}  # fmt: skip


FILES = {
    "data": usually(
        ["plain.csv", "numbers.csv", "weights.csv", "words.csv", "plain.svm", "new.csv", "plain.csv.gz"],
        ["huge.csv", "huge_target.csv", "gaps.csv", "constant.csv", "one_class.csv", "two_rows.csv",
         "one_row.csv", "header_only.csv", "empty.csv", "bad.arff", "noise.bin", "cut.csv.gz",
         "nothing", "iris", "classes.mercer"],
    ),
    "model": usually(["classes.mercer", "tube.mercer"], ["old.model", "cut.mercer", "plain.csv", "nothing"]),
    "source": usually(["classes.mercer", "tube.mercer", "old.model"], ["cut.mercer", "plain.csv", "nothing"]),
    "destination": usually(PLACES[:4], PLACES[4:]),
}  # fmt: skip


@st.composite
def commands(draw, apart=False):
    verbs = [verb for verb in options() if verb not in ("search", "report", "path")] * 4 + list(options())
    verb = draw(st.sampled_from(verbs + list(SVM_TOOLS)))
    if verb in SVM_TOOLS:
        flags, files = SVM_TOOLS[verb]
        chosen = draw(st.lists(st.sampled_from(flags), max_size=3))
        return Command((verb, *" ".join(chosen).split(), *draw(st.sampled_from(files))), apart)
    places, taken = options()[verb]
    words = [verb, *(draw(FILES.get(place, FILES["data"])) for place in places)]
    keys = sorted(taken)
    if draw(st.integers(0, 4)):
        keys = [key for key in keys if key not in SLOW]
    for key in draw(st.lists(st.sampled_from(keys), max_size=3, unique=True)):
        words.append(key)
        kind = taken[key]
        if kind == "flag":
            continue
        if key in TEXTS:
            words.append(draw(usually(TEXTS[key][:-1], TEXTS[key][-1:])))
        elif "path" in kind or "file" in kind:
            words.append(draw(usually(PLACES[:4], PLACES[4:])))
        elif "int" in kind:
            words.append(draw(usually(["1", "2", "3"], ["0", "-1", "x", "2.5"])))
        else:
            words.append(draw(usually(NUMBERS[:3], NUMBERS[3:])))
    if verb in ("train", "search") and "--folds" not in words:
        words += ["--folds", draw(st.sampled_from(["0", "2"]))] if "--folds" in taken else []
    if draw(st.integers(0, 40)) == 40:
        words.append(draw(st.sampled_from(["--nonsense", "--help", "extra", "--json"])))
    return Command(tuple(words), apart)
