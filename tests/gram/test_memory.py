"""Memory: kernel values in flight count against ``cache_size``."""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.core, pytest.mark.slow]

# A thread watches the resident memory: the process's own peak would include that of the warm-up fit.
SCRIPT = """
    import json, sys, threading, time
    import numpy as np
    from mercer import SVC

    n, d, cache_size, kernel, n_classes, sparse = json.loads(sys.argv[1])
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, d)) + 0.4 * rng.normal(size=(n_classes, d))[y]
    if sparse:
        import scipy.sparse as sp
        X[rng.random(X.shape) < 0.9] = 0.0
        X = sp.csr_matrix(X)
    nbytes = X.nbytes if not sparse else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    model = SVC(kernel=kernel, cache_size=cache_size)
    model.fit(X[:4000], y[:4000])  # compile, load, start the threads

    def status(key):
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(key))

    def settle():
        import ctypes, gc
        gc.collect()
        try:
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        except OSError:
            pass

    settle()
    before = status("VmRSS")
    peak, done = before, threading.Event()

    def watch():
        global peak
        while not done.is_set():
            peak = max(peak, status("VmRSS"))
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    model.fit(X, y)
    done.set()
    watcher.join()
    found = {"status": model.certificate_.status, "support": int(model.support_.size)}
    print(json.dumps({"added": peak - before, "data": nbytes / 1e6, **found}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("n", "d", "cache_size", "kernel", "n_classes", "sparse"),
    [
        (30000, 20, 100, "rbf", 2, False),
        (12000, 20, 100, "laplacian", 2, False),
        (20000, 200, 100, "rbf", 2, True),
    ],
    ids=["rbf", "generic", "sparse"],
)
def test_a_fit_stays_within_its_memory(n, d, cache_size, kernel, n_classes, sparse):
    arguments = json.dumps([n, d, cache_size, kernel, n_classes, sparse])
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["status"] == "optimal"
    assert result["support"] > 0.2 * n  # a fit that needs its memory
    assert result["added"] <= cache_size + 1.5 * result["data"] + 50
