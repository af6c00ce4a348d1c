"""The report on every estimator there is: promises where theorems apply, else a sentence."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier

import mercer
from mercer import bounds
from mercer.bounds import report

pytestmark = pytest.mark.core

ESTIMATORS = sorted(
    name
    for name in dir(mercer)
    if inspect.isclass(getattr(mercer, name)) and hasattr(getattr(mercer, name), "fit")
    if name != "StructuredSVM"  # which has a test of its own
)
rng = np.random.default_rng(0)
X = rng.normal(size=(50, 2))
TWO = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
TARGET = X[:, 0] + 0.1 * rng.normal(size=50)

# Of what predicts, what no theorem of the chapters is about; every other estimator is read.
NOT_READ = {
    "AdaptiveAdditiveSplines", "FlexibleDiscriminantAnalysis", "KernelFisherDiscriminant", "KernelKMeans",
    "LinearDiscriminantAnalysis", "MARS", "MixtureDiscriminantAnalysis", "PenalizedDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis", "RegularizedDiscriminantAnalysis",
    "SupportVectorClustering",
}  # fmt: skip
JOINT = {"KernelLogisticRegression"}  # not read for more than two classes


def _fitted(name, y):
    model = getattr(mercer, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, X[:, ::-1] + 0.01 * rng.normal(size=X.shape) if name == "KernelCCA" else y)


def _cases():
    for name in ESTIMATORS:
        targets = (TWO, THREE) if is_classifier(getattr(mercer, name)()) else (TARGET,)
        for y in targets:
            yield pytest.param(name, y, id=f"{name}-{np.unique(y).size if y is not TARGET else 'numbers'}")


@pytest.mark.parametrize(("name", "y"), list(_cases()))
def test_a_report_on_every_estimator(name, y):
    model = _fitted(name, y)
    options = {"X_test": X, "y_test": y, "tolerance": 1.0} if hasattr(model, "predict") else {}
    found = report(model, X, y, **options)
    text = str(found)
    lines = [line for part in getattr(found, "parts", (found,)) for line in part]
    unread = name in NOT_READ or (name in JOINT and y is THREE) or not hasattr(model, "predict")
    if unread:
        assert lines[0].value is None
        joint = y is THREE and name in {*JOINT, "KernelFisherDiscriminant"}
        reason = "theorems are about functions of two classes" if joint else "theorems need the norm"
        assert (reason if hasattr(model, "predict") else "makes no predictions") in lines[0].why
        assert lines[0].why in " ".join(text.split()) or lines[0].why[:40] in text
        assert hasattr(model, "predict") == any(line.name == "held-out points" for line in lines)
    else:
        assert any(line.value is not None and line.assumptions for line in lines)


def test_an_estimator_of_another_library_gets_a_sentence_and_what_held_out_points_promise():
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X[:30], TWO[:30])
    found = report(forest, X[:30], TWO[:30], X_test=X[30:], y_test=TWO[30:])
    assert "RandomForestClassifier" in found["margins and norms"].why
    errors = int((forest.predict(X[30:]) != TWO[30:]).sum())
    assert found["held-out points"].value == pytest.approx(bounds.held_out_error(errors=errors, n=20))


def test_several_targets_get_a_sentence():
    model = mercer.KernelRidge(kernel="rbf", gamma=1.0).fit(X, np.column_stack([TARGET, TARGET**2]))
    found = report(model, X, np.column_stack([TARGET, TARGET**2]))
    assert "predicts 2" in found["margins and norms"].why


@pytest.mark.parametrize(
    "model",
    [
        mercer.KernelLogisticRegression(kernel="rbf", gamma=1.0, tol=1e-8),
        mercer.KernelLogisticRegression(kernel="rbf", gamma=1.0, import_vectors=True),
        mercer.KernelRidgeClassifier(kernel="rbf", gamma=1.0),
        mercer.KernelClassifier(loss="binomial_deviance", gamma=1.0, tol=1e-8),
    ],
    ids=str,
)
def test_the_margin_of_any_loss_is_that_of_the_theorem(model):
    """(7.8) for the function of norm 1 in the space with the bias, at the best margin of a fixed grid."""
    model.fit(X, TWO)
    found = report(model, X, TWO, delta=0.1)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    f = np.ravel(model.decision_function(X))
    bias = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    biased = getattr(model, "fit_intercept", True)
    a = np.zeros(50)
    a[getattr(model, "support_", slice(None))] = np.ravel(model.dual_coef_)
    norm2 = float(a @ K @ a) + (bias**2 if biased else 0.0)
    np.testing.assert_allclose(f, K @ a + (bias if biased else 0.0), atol=1e-6)
    margins = np.where(TWO == 1, f, -f) / np.sqrt(norm2)
    trace = 50.0 + (50.0 if biased else 0.0)  # tau = R = 1
    grid = bounds.margin_grid(n=50, radius=np.sqrt(2.0) if biased else 1.0)
    expected = min(
        np.clip(1.0 - margins / gamma, 0.0, 1.0).mean()
        + 4.0 / (50 * gamma) * np.sqrt(trace)
        + 3.0 * np.sqrt(np.log(2.0 * len(grid) / 0.1) / 100.0)
        for gamma in grid
    )
    line = found["margin and slack"]
    assert line.value == pytest.approx(expected, rel=1e-4)
    assert "7.30" not in line.source


def test_structured_outputs_get_a_sentence():
    model = mercer.StructuredSVM(mercer.structured.CostSensitive()).fit(X, THREE)
    assert "does not support StructuredSVM" in report(model, X, THREE)["margins and norms"].why
