"""Limits and Ctrl-C: a usable model, its status, and one warning."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from clouds import blobs
from mercer import SVC
from mercer.kernels import RBF

pytestmark = pytest.mark.core

# The Gram matrix of noise with a huge C: SMO-like methods need far longer than any test may take.
HARD = {"kernel": "linear", "C": 1e7, "tol": 1e-12}


def hard_problem(n_classes=2, n=2500):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 30)), rng.integers(0, n_classes, n)


def assert_usable(model, X, y, n_machines=1):
    F = model.decision_function(X[:50])
    assert np.isfinite(F).all()
    assert set(model.predict(X[:50])) <= set(y)
    assert len(model.certificate_.parts) == n_machines
    again = model.certify(X, y)
    assert again.dual == pytest.approx(model.certificate_.dual, abs=1e-6 * abs(again.primal))
    assert again.primal >= again.dual - 1e-9 * abs(again.primal)


def test_max_iter_gives_one_warning_with_the_gap():
    X, y = blobs(200, 4, 2, seed=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model = SVC(C=100.0, max_iter=7).fit(X, y)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "max_iter=7" in message
    assert "relative gap" in message
    assert caught[0].filename == __file__  # it points at the caller
    assert model.n_iter_ <= 7
    assert model.certificate_.status == "iteration_limit"
    assert model.fit_status_ == 1
    assert_usable(model, X, y)


def test_max_iter_of_many_pairs_gives_one_warning():
    X, y = blobs(200, 4, 4, seed=0)
    with pytest.warns(ConvergenceWarning) as caught:
        model = SVC(C=100.0, max_iter=3).fit(X, y)
    assert len(caught) == 1
    assert (model.n_iter_ <= 3).all()
    assert_usable(model, X, y, n_machines=6)


def test_zero_iterations_are_allowed():
    X, y = blobs(50, 4, 3, seed=0)
    with pytest.warns(ConvergenceWarning):
        model = SVC(max_iter=0).fit(X, y)
    assert (model.n_iter_ == 0).all()
    assert model.support_.size == 0
    assert_usable(model, X, y, n_machines=3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_time_limit(n_classes):
    X, y = hard_problem(n_classes)
    started = time.perf_counter()
    with pytest.warns(ConvergenceWarning) as caught:
        model = SVC(**HARD, time_limit=1.0).fit(X, y)
    seconds = time.perf_counter() - started
    assert len(caught) == 1
    assert "time_limit=1.0" in str(caught[0].message)
    assert model.certificate_.status == "time_limit"
    assert 0.9 <= seconds <= 20.0  # it used its time, and stopped long before the end
    assert_usable(model, X, y, n_machines=n_classes * (n_classes - 1) // 2)


def test_time_limit_inside_a_slow_kernel():
    def slow(A, B):
        time.sleep(2e-5 * A.shape[0] * B.shape[0] / 50)
        return A @ B.T

    X, y = blobs(1200, 4, 2, seed=0)
    started = time.perf_counter()
    with pytest.warns(ConvergenceWarning):
        model = SVC(kernel=slow, C=1e5, tol=1e-9, time_limit=0.5, cache_size=1).fit(X, y)
    assert model.certificate_.status == "time_limit"
    assert time.perf_counter() - started < 20.0
    assert np.isfinite(model.decision_function(X[:5])).all()


# -- Ctrl-C ------------------------------------------------------------------------------------------------


def press_ctrl_c_after(seconds, times=1):
    def press():
        for _ in range(times):
            time.sleep(seconds)
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_ctrl_c_keeps_the_model(n_classes, n_jobs):
    X, y = hard_problem(n_classes)
    SVC(**HARD).set_params(tol=1e3).fit(X, y)  # compile first
    handler = signal.getsignal(signal.SIGINT)
    thread = press_ctrl_c_after(0.7)
    started = time.perf_counter()
    model = SVC(**HARD, on_interrupt="keep", n_jobs=n_jobs).fit(X, y)
    assert time.perf_counter() - started < 20.0  # minutes without
    thread.join()
    assert signal.getsignal(signal.SIGINT) is handler
    assert model.certificate_.status == "interrupted"
    assert model.fit_status_ == 1
    assert_usable(model, X, y, n_machines=n_classes * (n_classes - 1) // 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_ctrl_c_raises_by_default(n_classes, n_jobs):
    X, y = hard_problem(n_classes)
    SVC(**HARD).set_params(tol=1e3).fit(X, y)
    thread = press_ctrl_c_after(0.7)
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        SVC(**HARD, n_jobs=n_jobs).fit(X, y)
    assert time.perf_counter() - started < 20.0  # minutes without
    thread.join()
    assert not [t for t in threading.enumerate() if t.name.startswith("mercer") and _is_busy(t)]


def _is_busy(thread):
    """Tell whether a pool thread runs anything but the wait for work."""
    frame = sys._current_frames().get(thread.ident)
    while frame is not None:
        if "solve" in frame.f_code.co_name:
            return True
        frame = frame.f_back
    return False


def test_interrupts_raised_by_a_users_kernel_are_kept_too():
    X, y = blobs(120, 4, 3, seed=0)
    rectangles = []

    def kernel(A, B):
        if len(A) != len(B):  # squares are for the diagonal, before there is anything to keep
            rectangles.append(1)
            if len(rectangles) == 1:
                raise KeyboardInterrupt
        return RBF(gamma=0.2)(A, B)

    asked = {"C": 10.0, "on_interrupt": "keep", "n_jobs": 1}
    model = SVC(kernel=kernel, cache_size=0.05, **asked).fit(X, y)  # the matrix is larger
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.decision_function(X)).all()


def test_a_handler_of_the_program_is_left_alone():
    X, y = blobs(50, 3, 2, seed=0)
    seen = []
    previous = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        SVC(on_interrupt="keep").fit(X, y)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [1]


def test_fits_in_other_threads():
    X, y = blobs(80, 3, 3, seed=0)
    expected = SVC(on_interrupt="keep").fit(X, y).decision_function(X)
    results = [None] * 4

    def work(k):
        results[k] = SVC(on_interrupt="keep").fit(X, y).decision_function(X)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_allclose(result, expected, atol=1e-12)


@pytest.mark.slow
def test_ctrl_c_from_the_terminal():
    """A real process, a real signal, during the first fit (which also compiles)."""
    script = """
        import numpy as np
        from mercer import SVC
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(30_000, 10)), rng.integers(0, 3, 30_000)  # many minutes of work
        print("ready", flush=True)
        model = SVC(C=1e6, on_interrupt="keep").fit(X, y)
        print(model.certificate_.status, np.isfinite(model.decision_function(X[:50])).all())
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "ready"
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=90)
    assert process.returncode == 0
    assert out.split() == ["interrupted", "True"]
