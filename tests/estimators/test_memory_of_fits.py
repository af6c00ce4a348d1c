"""Memory of fits: within ``cache_size``, half as much again as the data, and 50 MB."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "name",
    [
        "KernelFisherDiscriminant",
        "KernelCCA",
        *(
            pytest.param(name, marks=pytest.mark.exhaustive)
            for name in ("KernelLogisticRegression", "GaussianProcessRegressor", "SVC", "KernelRidge")
        ),
    ],
)
def test_a_fit_stays_within_its_memory(name):
    pytest.importorskip("psutil")
    # Two factors of 500 landmarks take 64 MB; a singular value decomposition of one of them as much again.
    size = ["--n", "8000", "--cache-size", "50", "--seconds", "10"]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.estimator_memory", "--here", "--only", name, *size],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["added"] <= found["allowed"]
