"""The rows that a machine found hardest."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVDD, SVR, KernelPCA, KernelRidge
from mercer.inspect import hardest

pytestmark = pytest.mark.core

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 2))
y = np.where(X[:, 0] > 0, 1, 0)
WRONG = [5, 17]
y[WRONG] = 1 - y[WRONG]  # wrong labels


def test_wrong_labels_come_first_and_the_order_is_that_of_multipliers_and_margins():
    model = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    found = hardest(model, X, y)
    alpha = np.zeros(80)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    sign = np.where(y == 1, 1.0, -1.0)
    margins = sign * model.decision_function(X)
    expected = sorted(model.support_, key=lambda i: (-round(alpha[i], 9), round(margins[i], 9)))
    np.testing.assert_array_equal(found.rows, expected)
    np.testing.assert_allclose(found.multipliers, alpha[expected])
    np.testing.assert_allclose(found.values, margins[expected])
    assert found.measure == "margin"
    far = [i for i in WRONG if abs(X[i, 0]) > 0.5]
    assert far
    assert set(far) <= set(found.rows[:8].tolist())
    assert len(hardest(model, X, y, count=3)) == 3


def test_pipelines_regressors_and_detectors():
    piped = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    alone = SVC(kernel="linear").fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_array_equal(
        hardest(piped, X, y).rows, hardest(alone, StandardScaler().fit_transform(X), y).rows
    )
    target = np.sin(X[:, 0])
    target[7] += 5.0
    assert hardest(SVR(C=0.5).fit(X, target), X, target).rows[0] == 7
    ridge = KernelRidge(kernel="rbf", alpha=1.0).fit(X, target)
    found = hardest(ridge, X, target)
    assert found.multipliers is None
    assert found.rows[0] == 7
    assert np.all(np.diff(found.values) <= 1e-9)
    assert len(found) == 80
    far = X.copy()
    far[3] = 10.0
    ball = hardest(SVDD(nu=0.05, kernel="linear").fit(far), far)
    assert ball.rows[0] == 3
    assert ball.measure == "decision"
    assert ball.values[0] < 0


def test_what_has_no_hard_rows_is_told():
    with pytest.raises(TypeError, match="KernelPCA"):
        hardest(KernelPCA().fit(X), X)
    with pytest.raises(ValueError, match="y is needed"):
        hardest(SVC().fit(X, y), X)
    with pytest.raises(ValueError, match="80 rows, y has 3"):
        hardest(SVC().fit(X, y), X, y[:3])
    with pytest.raises(ValueError, match="count=0"):
        hardest(SVC().fit(X, y), X, y, count=0)
    foreign = hardest(LogisticRegression().fit(X, y), X, y)
    assert len(foreign) == 0
