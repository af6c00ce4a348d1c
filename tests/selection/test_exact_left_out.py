"""Exact leave-one-out, against as many fits."""

import warnings

import numpy as np
import pytest

from mercer import SVC, SVDD, SVR, OneClassSVM
from mercer.kernels import RBF
from mercer.selection import leave_one_out

pytestmark = pytest.mark.core


def rows(seed, ties):
    """Draw rows, three classes and numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(36, 2))
    X = np.round(X) if ties else X
    noisy = X[:, 0] + 0.6 * rng.normal(size=36)
    return X, np.digitize(noisy, [-0.4, 0.4]), np.round(noisy, 1)


def refitted(model, X, y, values):
    """Return the values of each row by a machine that was fitted without it."""
    frozen = {"kernel": model.kernel_, "tol": 1e-10}
    if getattr(model, "class_weight", None) is not None:
        frozen["class_weight"] = dict(zip(model.classes_.tolist(), model.class_weight_, strict=True))
    found = []
    for i in range(len(X)):
        twin = type(model)(**{**model.get_params(deep=False), **frozen, "gamma": "scale"})
        twin.fit(np.delete(X, i, axis=0), None if y is None else np.delete(y, i))
        found.append(values(twin, X[i : i + 1]))
    return np.array(found)


def decision(model, x):
    return model.decision_function(x)[0]


def prediction(model, x):
    return model.predict(x)[0]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("model", "target"),
    [
        (SVC(kernel=RBF(gamma=0.5), C=2.0), "two"),
        (SVC(kernel=RBF(gamma=0.5), loss="squared_hinge"), "two"),
        (SVC(kernel="linear", fit_intercept=False), "two"),
        (SVR(kernel=RBF(gamma=0.5)), "numbers"),
        (OneClassSVM(kernel=RBF(gamma=0.5), nu=0.3), None),
        (SVDD(kernel=RBF(gamma=0.5), nu=0.3), None),
        (SVDD(kernel="linear", C=0.2), None),
    ],
    ids=str,
)
def test_every_left_out_value_is_that_of_a_fit(model, target, ties):
    X, classes, numbers = rows(3, ties)
    y = {"two": (classes > 0).astype(int), "numbers": numbers, None: None}[target]
    model.fit(X, y)
    found = leave_one_out(model, X, y, method="exact")
    read = prediction if isinstance(model, SVR) else decision
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = refitted(model, X, y, read)
    np.testing.assert_allclose(found.values[:, 0], truth, atol=1e-6)
    if isinstance(model, SVR):
        assert found.exact == pytest.approx(np.mean((truth - y) ** 2), abs=1e-6)
    assert found.sv_fraction >= 0.0


def test_the_table_has_the_exact_error_beside_bounds_and_estimates():
    X, classes, _ = rows(5, False)
    y = (classes > 0).astype(int)
    model = SVC(kernel=RBF(gamma=0.5), tol=1e-9).fit(X, y)
    found = leave_one_out(model, X, y, method="exact")
    wrong = refitted(model, X, y, prediction) != y
    assert found.exact == pytest.approx(wrong.mean())
    assert next(iter(found.estimates)) == "leave-one-out, exact"
    assert found.exact <= found.sv_fraction
    assert leave_one_out(model, X, y).exact is None


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_several_classes(multiclass):
    X, y, _ = rows(7, False)
    model = SVC(kernel=RBF(gamma=0.5), multiclass=multiclass, class_weight="balanced").fit(X, y)
    found = leave_one_out(model, X, y, method="exact")
    assert found.exact == pytest.approx((refitted(model, X, y, prediction) != y).mean())


def test_weights_count():
    X, classes, _ = rows(8, False)
    y, w = (classes > 0).astype(int), np.arange(36) % 3.0
    model = SVC(kernel=RBF(gamma=0.5)).fit(X, y, w)
    found = leave_one_out(model, X, y, w, method="exact")
    assert 0.0 <= found.exact <= 1.0
    assert found.values.shape == (36, 1)


def test_what_cannot_be_left_out_is_refused():
    X, _, numbers = rows(9, False)
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match="finite C"):
        leave_one_out(SVC(C=np.inf, kernel=RBF(gamma=0.5)).fit(X, y), X, y, method="exact")
    with pytest.raises(TypeError, match="method='exact' also takes SVR"):
        leave_one_out(SVR().fit(X, numbers), X, numbers)
    with pytest.raises(ValueError, match="method='span'"):
        leave_one_out(SVC().fit(X, y), X, y, method="span")
