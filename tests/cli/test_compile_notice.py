"""Whoever waits for the compiler is told so; whoever does not wait is not."""

import subprocess
import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from mercer import _jit
from mercer._jit.notice import tell_a_programmer, tell_of_compiling
from mercer.cli import libsvm

compiles = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled at all")


def loop(a):
    return a[0] + 1.0


def fresh():
    """Return a loop that nobody has compiled yet."""
    from mercer._jit import compiler  # it listens from now on

    assert compiler.numba is numba
    return numba.njit(loop)


@compiles
def test_compiling_is_told_once_and_only_when_it_happens():
    told, x = [], np.zeros(1)
    one, other = fresh(), fresh()
    with _jit.telling(told.append):
        one(x)
        other(x)
        assert len(told) == 1
    with _jit.telling(told.append):
        one(x)  # known by now
        assert len(told) == 1
        with _jit.telling(told.append):
            pass
        fresh()(x)
        assert len(told) == 2
    fresh()(x)  # nobody listens
    assert len(told) == 2


@compiles
def test_what_is_not_kept_is_told(capsys):
    from mercer._jit.compiler import _Compilations, compiled

    kept = []
    with _jit.telling(kept.append):
        fresh()(np.zeros(1))
    with _jit.telling(kept.append):  # compiled before, perhaps: as if it were not
        _Compilations().on_start(SimpleNamespace(data={"dispatcher": compiled(loop)}))
    assert kept == [False, True]
    tell_of_compiling(False)
    tell_of_compiling(True)
    out = capsys.readouterr()
    assert out.out == ""
    each, once = out.err.splitlines()
    assert "NUMBA_CACHE_DIR" in each
    assert each.startswith("compiling")
    assert once.endswith("once) ...")


@compiles
def test_a_fit_in_python_tells_a_log_and_a_terminal(capsys, caplog, monkeypatch):
    caplog.set_level("INFO", "mercer")

    def in_python(module):
        with _jit.telling(tell_a_programmer):
            _jit.compiling(True, module)
            _jit.compiling(True, module)

    in_python("notebook.loops")  # the programmer's own
    assert not caplog.messages
    in_python("mercer._jit.smo")
    (words,) = caplog.messages
    assert words.startswith("compiling")
    assert capsys.readouterr().err == ""  # a pipe, or a notebook that shows no log
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    in_python("mercer._jit.smo")
    assert capsys.readouterr().err == f"mercer: {words}\n"


def test_a_python_process_tells_by_itself():
    code = "from mercer import _jit; assert _jit._tell.__name__ == 'tell_a_programmer'"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@compiles
def test_commands_tell_it_unless_they_are_to_be_quiet(capsys, monkeypatch):
    pytest.importorskip("typer")
    from mercer.cli.exits import guarded

    def command(quiet=False, as_json=False):
        fresh()(np.zeros(1))

    guarded(command)()
    assert capsys.readouterr().err.count("compiling") == 1
    guarded(command)(quiet=True)
    guarded(command)(as_json=True)
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(libsvm, "_tool", lambda tool: lambda arguments: command())
    assert libsvm.run("svm-train", ["data"]) == 0
    out = capsys.readouterr()
    assert (out.out, out.err.count("compiling")) == ("", 1)
    assert libsvm.run("svm-train", ["-q", "data"]) == 0
    assert capsys.readouterr().err == ""
