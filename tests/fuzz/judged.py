"""Examples that failed once, judged by all properties of the fuzzer in a process that is watched."""

import numpy as np


def judged(worker, case, *, refusable=True):
    """Run a case; it must keep all promises and, if it is not ``refusable``, give a model."""
    report = worker.run(case)
    assert not report.failures, "\n\n".join(f"{f.key}\n{f.message}" for f in report.failures)
    assert refusable or report.ending != "refused", report.refusal
    return report


def cloud(seed, n=40, d=2):
    """Return a generator, n normal points of two overlapping classes, and the classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return rng, X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)
