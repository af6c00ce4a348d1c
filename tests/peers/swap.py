"""A pytest plugin for one run of a test module of scikit-learn: with their classes, or with ours.

``MERCER_PEERS_SIDE`` is "theirs" or "ours", ``MERCER_PEERS_OUT`` the file for the outcomes. It has a process
of its own, because the swap is for all who import the classes from scikit-learn's public modules.
"""

import functools
import importlib
import json
import os
from pathlib import Path

from .classes import SWAPPED

used = False  # whether the running test has made or fitted one of the classes
outcomes = {}


def _noted(method):
    @functools.wraps(method)
    def noting(self, *args, **kwargs):
        global used
        used = True
        return method(self, *args, **kwargs)

    return noting


def _watch(theirs):
    """Let a class of scikit-learn say that a test concerns it."""
    theirs.__init__ = _noted(theirs.__init__)
    theirs.fit = _noted(theirs.fit)


def _missing(name):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"mercer has no {name}")

    return type(name, (), {"__init__": refuse})


def _prepare(side):
    for home, names in SWAPPED.items():
        module = importlib.import_module(home)
        for name in names:
            if side == "theirs":
                _watch(getattr(module, name))
            else:
                import mercer

                setattr(module, name, getattr(mercer, name, None) or _missing(name))


_prepare(os.environ["MERCER_PEERS_SIDE"])  # before the test modules are imported


def pytest_runtest_setup(item):
    """Begin to watch."""
    global used
    used = False


def pytest_runtest_logreport(report):
    """Note how a test ended: one that fails in its setup has failed."""
    name = report.nodeid.partition("::")[2]
    if report.when == "call" or report.outcome != "passed":
        xfail = hasattr(report, "wasxfail")
        crash = getattr(report.longrepr, "reprcrash", None)
        outcomes[name] = {
            "outcome": "skipped" if xfail else report.outcome,
            "used": used,
            "message": " ".join(crash.message.split())[:200] if crash else "",
        }


def pytest_sessionfinish(session):
    """Write what was noted."""
    Path(os.environ["MERCER_PEERS_OUT"]).write_text(json.dumps(outcomes))
