"""Imports, warm starts, traces, printing, certificates as objects."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from clouds import blobs
from mercer import SVC
from mercer.problems import Certificate, combine, relative

pytestmark = pytest.mark.core


def run(script, **env):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_is_light():
    script = "import sys, mercer; print(*sys.modules)"
    assert not {"numba", "matplotlib", "dask", "pandas"} & set(run(script))


def test_making_an_estimator_and_a_kernel_needs_no_compiler():
    script = (
        "import sys; from mercer import SVC; from mercer.kernels import RBF; SVC(kernel=RBF()).get_params(); "
    )
    assert run(script + "print('numba' in sys.modules)") == ["False"]


@pytest.mark.parametrize("before", ["", "gc.disable(); ", "gc.freeze(); "])
def test_loading_the_compiler_leaves_the_garbage_collector_as_it_was(before):
    script = (
        f"import gc; from mercer import _jit; {before}state = gc.isenabled(), gc.get_freeze_count() > 0; "
        "_jit.smo; print(state == (gc.isenabled(), gc.get_freeze_count() > 0))"
    )
    assert run(script) == ["True"]


@pytest.mark.slow
def test_works_where_nothing_can_be_written(tmp_path):
    """A cache folder that cannot be made must not stop anybody."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    script = (
        "import numpy as np; from mercer import SVC; X = np.arange(20.0)[:, None]; "
        "print(SVC(kernel='linear').fit(X, X[:, 0] > 9).certificate_.status)"
    )
    assert run(script, NUMBA_CACHE_DIR=str(blocked / "inside"), HOME=str(blocked)) == ["optimal"]


# -- warm starts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_warm_start_continues(n_classes, multiclass):
    X, y = blobs(200, 4, n_classes, seed=0)
    options = {"C": 5.0, "tol": 1e-6, "multiclass": multiclass}
    cold = SVC(**options).fit(X, y)
    warm = SVC(**options, warm_start=True).fit(X, y)
    first = warm.n_iter_.sum()
    warm.fit(X, y)
    assert warm.n_iter_.sum() < 0.1 * first
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)
    warm.set_params(C=5.5).fit(X, y)
    other = SVC(**{**options, "C": 5.5}).fit(X, y)
    assert warm.n_iter_.sum() < other.n_iter_.sum()
    assert warm.certificate_.dual == pytest.approx(other.certificate_.dual, rel=1e-6)
    warm.set_params(C=0.1).fit(X, y)  # the old point lies outside the new box
    assert warm.certificate_.dual == pytest.approx(
        SVC(**{**options, "C": 0.1}).fit(X, y).certificate_.dual, rel=1e-6
    )


def test_warm_start_on_other_data_starts_anew():
    X, y = blobs(100, 4, 3, seed=0)
    model = SVC(warm_start=True, tol=1e-6).fit(X, y)
    for rows, labels in ((slice(0, 60), y), (slice(None), y == 0), (slice(None), (y + 1) % 3)):
        model.fit(X[rows], labels[rows])
        cold = SVC(tol=1e-6).fit(X[rows], labels[rows])
        assert model.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-5)


def test_without_warm_start_a_refit_is_a_fresh_fit():
    X, y = blobs(100, 4, 2, seed=0)
    model = SVC(tol=1e-6).fit(X, y)
    first = model.n_iter_.copy()
    model.fit(X, y)
    np.testing.assert_array_equal(model.n_iter_, first)


# -- traces ------------------------------------------------------------------------------------------------


def test_trace():
    X, y = blobs(4000, 5, 2, seed=0)
    model = SVC(C=10.0, trace=True, cache_size=20).fit(X, y)
    assert len(model.history_) == 1
    history = model.history_[0]
    assert len(history) >= 2
    gaps = [h["gap"] for h in history]
    duals = [h["dual"] for h in history]
    assert gaps[-1] < gaps[0]
    assert all(later >= earlier - 1e-6 * abs(later) for earlier, later in pairwise(duals))
    steps = [h["n_iter"] for h in history]
    assert steps == sorted(steps)
    assert steps[-1] <= model.n_iter_[0]
    assert [h["seconds"] for h in history] == sorted(h["seconds"] for h in history)
    last = history[-1]
    assert last["primal"] == pytest.approx(last["dual"] + last["gap"])
    assert last["n_support"] == pytest.approx(model.support_.size, abs=0.05 * model.support_.size)
    assert last["kernel_evaluations"] > 0


def test_trace_of_pairs_has_one_history_each():
    X, y = blobs(100, 5, 4, seed=0)
    assert len(SVC(trace=True).fit(X, y).history_) == 6
    assert not hasattr(SVC().fit(X, y), "history_")


def test_verbose_prints(capsys):
    X, y = blobs(100, 5, 2, seed=0)
    SVC(verbose=False).fit(X, y)
    assert capsys.readouterr().out == ""
    SVC(verbose=True).fit(X, y)
    out = capsys.readouterr().out
    assert "[SVC]" in out
    assert "KKT violation" in out
    assert "gap" in out


# -- certificates ------------------------------------------------------------------------------------------


def test_certificate_of_several_machines(four_clouds):
    X, y = four_clouds
    model = SVC().fit(X, y)
    certificate = model.certificate_
    assert len(certificate.parts) == 6
    assert certificate.primal == pytest.approx(sum(p.primal for p in certificate.parts))
    assert certificate.dual == pytest.approx(sum(p.dual for p in certificate.parts))
    assert certificate.gap == pytest.approx(sum(p.gap for p in certificate.parts))
    assert certificate.kkt_violation == max(p.kkt_violation for p in certificate.parts)
    assert certificate.n_iter == model.n_iter_.sum()
    assert certificate.relative_gap == certificate.gap / max(abs(certificate.primal), abs(certificate.dual))
    assert model.margin_.shape == (6,)
    # Each part is the certificate of that pair alone.
    pair = np.isin(y, [0, 2])
    alone = SVC(gamma=model.kernel_.gamma).fit(X[pair], y[pair]).certificate_
    assert certificate.parts[1].dual == pytest.approx(alone.dual, rel=1e-4)
    again = model.certify(X, y)
    for part, known in zip(again.parts, certificate.parts, strict=True):
        assert part.primal == pytest.approx(known.primal, rel=1e-6)
        assert part.dual == pytest.approx(known.dual, rel=1e-6)


def test_certificates_add_up_and_keep_the_worst():
    def part(gap, status):
        return Certificate(2.0, 2.0 - gap, gap, gap / 2, gap / 10, 5, status, "kkt")

    whole = combine([part(0.5, "optimal"), part(0.1, "time_limit"), part(0.2, "iteration_limit")])
    assert (whole.primal, whole.gap, whole.n_iter) == (6.0, pytest.approx(0.8), 15)
    assert (whole.kkt_violation, whole.status) == (0.05, "time_limit")
    assert whole.relative_gap == pytest.approx(0.8 / 6.0)
    assert "time_limit" in str(whole)
    assert combine([part(0.5, "optimal"), part(float("inf"), "optimal")]).relative_gap == float("inf")
    assert relative(0.0, 0.0, 0.0) == 0.0
    with pytest.raises(AttributeError):
        whole.gap = 0.0  # a proof is not to be changed


@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_certificates_read_well():
    X, y = blobs(60, 3, 2, seed=0)
    assert str(SVC(tol=1e-6).fit(X, y).certificate_).startswith("optimal: proved within ")
    assert "stationary" in str(SVC(kernel="sigmoid").fit(X, y).certificate_)


def test_certify_needs_only_the_shipped_model():
    """Whatever the solver believed, the shipped coefficients are what is judged."""
    X, y = blobs(60, 3, 2, seed=0)
    model = SVC(tol=1e-8).fit(X, y)
    good = model.certify(X, y)
    model.intercept_ = model.intercept_ + 0.3
    worse = model.certify(X, y)
    assert worse.primal > good.primal + 1e-3
    assert worse.dual == pytest.approx(good.dual)
    sign = np.where(y == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sign * model.decision_function(X))
    w2 = 1.0 / model.margin_**2
    assert worse.primal == pytest.approx(0.5 * w2 + slack.sum(), rel=1e-9)


def test_a_wide_box_changes_nothing_but_the_answer():
    """No number of the caller's is changed by a fit."""
    X, y = blobs(60, 3, 2, seed=0)
    weight = np.linspace(0.5, 1.5, 60)
    copies = X.copy(), y.copy(), weight.copy()
    params = SVC(C=2.0).get_params()
    model = SVC(C=2.0).fit(X, y, sample_weight=weight)
    for before, after in zip(copies, (X, y, weight), strict=True):
        np.testing.assert_array_equal(before, after)
    assert model.get_params() == params
