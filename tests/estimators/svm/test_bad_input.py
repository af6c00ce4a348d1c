"""Bad input is refused before any work, by a message that names what is wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from clouds import blobs
from mercer import SVC
from mercer.kernels import RBF, Chi2, Polynomial

pytestmark = pytest.mark.core

X, Y = blobs(30, 3, 2, seed=0)


class Untouchable(RBF):
    """A kernel that must not be evaluated."""

    def fused(self):
        return None

    def evaluate(self, X, Z=None):
        raise AssertionError("work was done before the input was checked")


def changed(at, value):
    bad = X.copy()
    bad[at] = value
    return bad


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": -1.0}, "'C' parameter of SVC must be a float in the range"),
        ({"C": 0.0}, "'C' parameter"),
        ({"C": np.nan}, "'C' parameter"),
        ({"C": "1.0"}, "'C' parameter"),
        ({"C": None}, "'C' parameter"),
        ({"kernel": "rfb"}, "kernel='rfb'.*Did you mean 'rbf'"),
        ({"kernel": 3}, "'kernel' parameter"),
        ({"kernel": RBF}, "kernel=RBF is a class"),
        ({"gamma": "wide"}, "'gamma' parameter"),
        ({"gamma": -0.5}, "'gamma' parameter"),
        ({"gamma": np.inf}, "'gamma' parameter"),
        ({"degree": -1}, "'degree' parameter"),
        ({"degree": "3"}, "'degree' parameter"),
        ({"coef0": "0"}, "'coef0' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"tol": "small"}, "'tol' parameter"),
        ({"cache_size": 0}, "'cache_size' parameter"),
        ({"max_iter": -2}, "'max_iter' parameter"),
        ({"max_iter": 1.5}, "'max_iter' parameter"),
        ({"time_limit": -1.0}, "'time_limit' parameter"),
        ({"loss": "logistic"}, "'loss' parameter"),
        ({"criterion": "iterates"}, "'criterion' parameter"),
        ({"precision": "half"}, "'precision' parameter"),
        ({"solver": "magic"}, "'solver' parameter"),
        ({"multiclass": "all"}, "'multiclass' parameter"),
        ({"decision_function_shape": "one"}, "'decision_function_shape' parameter"),
        ({"on_interrupt": "ignore"}, "'on_interrupt' parameter"),
        ({"class_weight": "equal"}, "'class_weight' parameter"),
        ({"class_weight": {0: -1.0}}, "class_weight.*at least 0"),
        ({"class_weight": {0: 0.0}}, "class_weight is zero for every row of class"),
        ({"class_weight": {"north": 2.0}}, "class_weight"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": "two"}, "'n_jobs' parameter"),
        ({"fit_intercept": "yes"}, "'fit_intercept' parameter"),
        ({"multiclass": "ovr", "decision_function_shape": "ovo"}, "decision_function_shape='ovo' needs"),
        ({"kernel": Untouchable(gamma=1.0), "gamma": 0.5}, "gamma=0.5 does not apply to kernel="),
        ({"kernel": Untouchable(gamma=1.0), "degree": 5}, "degree=5 does not apply"),
        ({"kernel": Untouchable(gamma=1.0), "coef0": 1.0}, "coef0=1.0 does not apply"),
        ({"kernel": Untouchable(gamma=-1.0)}, "gamma=-1.0"),
        ({"kernel": Polynomial(degree="two")}, "degree='two'"),
    ],
    ids=str,
)
def test_parameters(params, message):
    params = (
        {"kernel": Untouchable(gamma=1.0), **params}
        if not {"gamma", "degree", "coef0"} & set(params)
        else params
    )
    with pytest.raises((ValueError, TypeError), match=message):
        SVC(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("data", "labels", "weight", "message"),
    [
        (changed((3, 1), np.nan), Y, None, "X contains NaN"),
        (changed((3, 1), np.inf), Y, None, "X contains infinity"),
        (X[:, 0], Y, None, "Expected 2D array"),
        (X[None], Y, None, "dim 3"),
        (X[:0], Y[:0], None, "0 sample"),
        (X[:, :0], Y, None, "0 feature"),
        (X[:20], Y, None, "X has 20 rows, y has 30"),
        (X, Y[:, None] * np.ones(2), None, "y should be a 1d array"),
        (X, None, None, "y"),
        (X, np.zeros(30), None, "one; got 1 class in y"),
        (X, np.linspace(0, 1, 30), None, "Unknown label type: continuous"),
        (X, np.where(Y == 1, np.nan, 0.0), None, "y contains NaN"),
        (X, np.where(Y == 1, np.inf, 0.0), None, "y contains infinity"),
        (X.astype(str), np.array(Y), None, None),
        (np.full((30, 3), "word"), Y, None, "X must hold numbers"),
        (X * 1j, Y, None, "Complex data not supported"),
        (sp.csr_matrix(changed((3, 1), np.nan)), Y, None, "X contains NaN"),
        (X, Y, -np.ones(30), "sample_weight.*negative"),
        (X, Y, np.zeros(30), "all samples have zero or negative weights: sample_weight is zero for all 30"),
        (X, Y, np.where(Y == 1, 0.0, 1.0), "sample_weight is zero for every row of class 1"),
        (X, Y, np.ones(29), "sample_weight"),
        (X, Y, np.ones((30, 2)), "[Ss]ample.?weight"),
        (X, Y, np.full(30, np.nan), "sample_weight contains NaN"),
        (X, Y, ["heavy"] * 30, "sample_weight must hold numbers"),
    ],
)
def test_data(data, labels, weight, message):
    if message is None:  # numbers written as text are numbers, as in scikit-learn
        assert SVC().fit(data, labels).n_features_in_ == 3
        return
    with pytest.raises((ValueError, TypeError), match=message):
        SVC(kernel=Untouchable(gamma=1.0)).fit(data, labels, sample_weight=weight)


def test_precomputed_must_be_square():
    with pytest.raises(ValueError, match=r"kernel='precomputed' needs a square kernel matrix"):
        SVC(kernel="precomputed").fit(X, Y)
    K = X @ X.T
    model = SVC(kernel="precomputed").fit(K, Y)
    with pytest.raises(ValueError, match=r"20.*30"):
        model.predict(K[:, :20])
    with pytest.raises((ValueError, TypeError), match=r"[Ss]parse"):
        SVC(kernel="precomputed").fit(sp.csr_matrix(K), Y)


def test_kernels_with_a_domain():
    with pytest.raises(ValueError, match=r"Chi2.*>= 0"):
        SVC(kernel=Chi2()).fit(X, Y)


def test_new_data():
    model = SVC().fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 2 features, but SVC is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match=r"NaN"):
        model.decision_function(changed((0, 0), np.nan))
    with pytest.raises(ValueError, match=r"Expected 2D array"):
        model.predict(X[0])
    model.set_params(break_ties=True, decision_function_shape="ovo")
    with pytest.raises(ValueError, match=r"break_ties must be False"):
        model.predict(X)
    assert model.decision_function(X).shape == (30,)  # needs no ties to be broken


def test_certify_needs_the_training_data():
    model = SVC().fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 10 rows; this model was fitted on 30"):
        model.certify(X[:10], Y[:10])
    with pytest.raises(ValueError, match=r"y holds the label .*7"):
        model.certify(X, np.where(Y == 1, 7, 0))
    with pytest.raises(ValueError, match=r"y has 29"):
        model.certify(X, Y[:29])


def test_a_kernel_that_returns_nonsense():
    with pytest.raises(ValueError, match=r"returned an array of shape \(2, 2\)"):
        SVC(kernel=lambda A, B: np.eye(2)).fit(X, Y)
    with pytest.raises(ValueError, match=r"kernel=.*not finite at 30 of 30 rows"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, Y)

    def broken_beside_the_diagonal(A, B):
        K = A @ B.T
        return np.where((A**2).sum(axis=1)[:, None] == (B**2).sum(axis=1)[None, :], K, np.inf)

    with pytest.raises(ValueError, match=r"kernel=.*returned NaN or infinity"):
        SVC(kernel=broken_beside_the_diagonal).fit(X, Y)


def test_overflow():
    with pytest.raises(ValueError, match=r"column 0 of X reaches .* square overflows"):
        SVC(kernel="linear").fit(1e200 * X, Y)


def test_unfitted():
    from sklearn.exceptions import NotFittedError

    for use in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(SVC(), use)(X)
    with pytest.raises(NotFittedError):
        SVC().certify(X, Y)
    assert not hasattr(SVC(kernel="linear"), "coef_")


def test_a_failed_fit_does_not_break_a_fitted_model():
    model = SVC().fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"sample_weight"):
        model.fit(X, Y, sample_weight=-np.ones(30))
    np.testing.assert_array_equal(model.decision_function(X), before)
