"""Fits side by side that differed once, or left the BLAS with other thread counts."""

import threading

import numpy as np
import pytest

import mercer

from .judged import cloud

pytest.importorskip("clarabel")
pytest.importorskip("psutil")

pytestmark = pytest.mark.exhaustive


def test_fits_side_by_side_agree_within_their_certificates():
    _, X, y = cloud(0, n=200, d=4)
    serial = mercer.KernelClassifier().fit(X, y)
    found = [None] * 8

    def work(k):
        found[k] = mercer.KernelClassifier().fit(X, y)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    c = serial.certificate_
    for model in found:
        d = model.certificate_
        rounding = 1e-12 * abs(c.primal)
        assert max(c.dual, d.dual) <= min(c.primal, d.primal) + rounding
        # Two points of a strongly convex problem are as close as their gaps say: 1/2 |w - w'|^2 <= both.
        far = np.abs(model.decision_function(X) - serial.decision_function(X)).max()
        assert far <= 4 * np.sqrt(2 * (c.gap + d.gap) + rounding)


def test_concurrent_fits_leave_the_thread_counts_of_the_blas_alone():
    from threadpoolctl import threadpool_info

    _, X, y = cloud(0, n=300, d=4)
    mercer.KernelClassifier().fit(X, y)

    def counts():
        return sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())

    before = counts()
    for _ in range(5):
        threads = [threading.Thread(target=mercer.KernelClassifier().fit, args=(X, y)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts() == before
