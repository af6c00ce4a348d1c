"""Run one test module of scikit-learn in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 1200


def run(module, side):
    """Return how each test of a module ended, with their classes or with ours.

    Returns
    -------
    dict of str to dict
        By the test's name: "outcome" (passed, failed, skipped), "used" (whether it concerns a class that is
        swapped; known of "theirs" only) and the "message" of a failure.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "outcomes.json"
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "MERCER_PEERS_SIDE": side,
            "MERCER_PEERS_OUT": str(out),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }
        # Their settings, not ours: no configuration file, warnings are warnings.
        command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-c", os.devnull, "--rootdir", folder]
        command += ["-p", "no:cacheprovider", "-p", "tests.peers.swap", "--pyargs", module]
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=SECONDS
        )
        if not out.exists():
            raise RuntimeError(f"{module} could not be run:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        outcomes = json.loads(out.read_text())
        if not outcomes:
            raise RuntimeError(f"{module} has no tests:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return outcomes
