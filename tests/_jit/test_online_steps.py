"""Single steps: compiled against naive, primal against dual, one stream cut in many ways."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive_online import NaiveLearner
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

import mercer
from mercer import KernelAdatron, KernelPerceptron, KernelWidrowHoff, OnlineSVR, Perceptron
from mercer.kernels import RBF, Laplacian, Linear, Polynomial

CLASSIFIERS = [
    Perceptron(radius=2.0),
    Perceptron(fit_intercept=False),
    KernelPerceptron(kernel=RBF(0.5), radius=1.0),
    KernelPerceptron(kernel=RBF(0.5), radius=1.0, budget=7),
    KernelPerceptron(kernel=Polynomial(2, 1.0, 1.0), fit_intercept=False, budget=5, removal="oldest"),
    KernelAdatron(kernel=RBF(0.5)),
    KernelAdatron(kernel=Linear(), loss="squared_hinge", C=3.0, learning_rate=0.7, budget=9),
]
REGRESSORS = [
    OnlineSVR(kernel=RBF(0.5), C=2.0),
    OnlineSVR(kernel=Linear(), epsilon=0.0, loss="squared_epsilon_insensitive", learning_rate=1.5),
    OnlineSVR(kernel=RBF(0.5), C=np.inf, budget=6),
    KernelWidrowHoff(kernel=RBF(0.5)),
    KernelWidrowHoff(kernel=Laplacian(0.3), alpha=0.0, learning_rate=0.5, budget=8, removal="oldest"),
]
KEPT = [m for m in CLASSIFIERS + REGRESSORS if not isinstance(m, Perceptron)]
ATTRIBUTES = ("support_", "entered_", "dual_coef_", "intercept_", "n_updates_", "loss_curve_", "coef_")


def stream(model, n=60, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if isinstance(model, OnlineSVR | KernelWidrowHoff):
        return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, np.argmax(X[:, :classes] + 0.4 * rng.normal(size=(n, classes)), axis=1)


def stepped(model, X, y, cuts=()):
    """Learn a stream by partial_fit, in pieces."""
    model = clone(model)
    more = {} if isinstance(model, OnlineSVR | KernelWidrowHoff) else {"classes": np.unique(y)}
    for piece in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[piece], y[piece], **more)
    return model


def assert_same(one, two, exact=True):
    assert (one.t_, one.mistakes_) == (two.t_, two.mistakes_)
    for name in ATTRIBUTES:
        if name == "coef_" and not isinstance(one, Perceptron):
            continue
        if hasattr(one, name):
            a, b = getattr(one, name), getattr(two, name)
            np.testing.assert_array_equal(a, b) if exact else np.testing.assert_allclose(a, b, atol=1e-12)


# -- the compiled loop against a naive one -------------------------------------------------------------------


def naive_rule(model):
    rule = model._rule()
    name = {KernelPerceptron: "perceptron", KernelAdatron: "adatron", OnlineSVR: "tube"}.get(
        type(model), "widrow_hoff"
    )
    return SimpleNamespace(name=name, **{k: v for k, v in vars(rule).items() if k != "code"})


@pytest.mark.filterwarnings("ignore:.* stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize(
    ("model", "classes"), [(m, 2) for m in KEPT] + [(m, 3) for m in KEPT if m not in REGRESSORS], ids=str
)
def test_the_compiled_loop_equals_the_naive_one(model, classes, passes):
    X, y = stream(model, 40, classes)
    model = clone(model).set_params(max_iter=passes).fit(X, y)
    outputs = 1 if classes == 2 else classes
    naive = NaiveLearner(model.kernel_(X), naive_rule(model), outputs, model.budget, model.removal)
    for _ in range(model.n_iter_):
        for i in range(len(y)):
            if isinstance(model, OnlineSVR | KernelWidrowHoff):
                naive.learn(i, [y[i]])
            elif classes == 2:
                naive.learn(i, [1.0 if y[i] else -1.0])
            else:
                naive.learn(i, [1.0 if y[i] == c else -1.0 for c in range(classes)], y[i])
    kept = {number: coef for number, _, coef in naive.kept if any(coef)}
    assert set(model.support_) == set(kept)
    for number, coef in zip(model.support_, model.dual_coef_.T, strict=True):
        np.testing.assert_allclose(coef, kept[number], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, naive.bias, rtol=1e-12)
    np.testing.assert_allclose(model.loss_curve_[:, 1], np.cumsum(naive.losses), rtol=1e-9)
    np.testing.assert_array_equal(model.loss_curve_[:, 2], np.cumsum(naive.mistakes))
    np.testing.assert_array_equal(model.n_updates_, naive.updates)
    assert model.mistakes_ == sum(naive.mistakes)


# -- primal and dual -----------------------------------------------------------------------------------------

numbers = st.integers(-8, 8).map(float)


@given(
    arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(1, 4)), elements=numbers),
    st.integers(2, 4),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_primal_and_dual_make_the_same_steps(X, classes, bias, random):
    """Whole numbers have exact sums, so that the two forms agree also where f is zero."""
    y = np.array([random.randrange(classes) for _ in range(len(X))])
    primal = Perceptron(fit_intercept=bias, radius=5.0)
    dual = KernelPerceptron(kernel="linear", fit_intercept=bias, radius=5.0)
    for x, label in zip(X, y, strict=True):
        for model in (primal, dual):
            model.partial_fit(x[None], [label], classes=np.arange(classes))
        np.testing.assert_array_equal(primal.coef_, dual.coef_)
        np.testing.assert_array_equal(primal.intercept_, dual.intercept_)
        np.testing.assert_array_equal(primal.n_updates_, dual.n_updates_)
        assert (primal.mistakes_, primal.loss_) == (dual.mistakes_, dual.loss_)


# -- one stream, cut in many ways ----------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=str)
def test_a_stream_does_not_feel_where_it_is_cut(model, classes):
    X, y = stream(model, 80, classes)
    whole = stepped(model, X, y)
    assert_same(whole, stepped(model, X, y, cuts=[1, 7, 40]))
    assert_same(whole, stepped(model, X, y, cuts=range(1, 80)))
    with pytest.warns(match="max_iter=1"):
        once = clone(model).set_params(max_iter=1).fit(X, y)
    assert_same(whole, once)
    assert whole.status_ == "streaming"
    assert once.status_ == "iteration_limit"


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS, ids=str)
def test_pickling_between_steps_changes_nothing(model):
    X, y = stream(model)
    whole = stepped(model, X, y, cuts=[20, 41])
    more = {} if isinstance(model, OnlineSVR | KernelWidrowHoff) else {"classes": np.unique(y)}
    part = clone(model)
    for piece in np.split(np.arange(len(y)), [20, 41]):
        part = pickle.loads(pickle.dumps(part.partial_fit(X[piece], y[piece], **more)))
    assert_same(whole, part)
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))


@pytest.mark.parametrize("kind", ["sparse matrix", "sparse array", "float32", "function", "list"])
@pytest.mark.parametrize("model", [KEPT[1], KEPT[3], KEPT[4], REGRESSORS[2]], ids=str)
def test_data_of_other_kinds_make_the_same_steps(model, kind):
    X, y = stream(model)
    X = np.round(X * 8) / 8  # exact in float32, too
    whole = stepped(model, X, y, cuts=[30])
    other = clone(model)
    data = {"sparse matrix": csr_matrix, "sparse array": csr_array}.get(kind, lambda X: X)(X)
    if kind == "float32":
        data = X.astype(np.float32)
    elif kind in ("function", "list"):
        known = model.kernel
        other.set_params(kernel=mercer.kernel(lambda a, b: known([a], [b])[0, 0], psd=True))
        data = [tuple(map(float, x)) for x in X] if kind == "list" else X
    if kind == "list":
        more = {} if isinstance(model, OnlineSVR) else {"classes": [0, 1]}
        for piece in (slice(0, 30), slice(30, None)):
            other.partial_fit(data[piece], y[piece], **more)
    else:
        other = stepped(other, data, y, cuts=[30])
    assert_same(whole, other, exact=False)
    np.testing.assert_allclose(whole._outputs(X), other._outputs(data), atol=1e-9)


def test_a_given_matrix_is_learned_like_its_kernel():
    X, y = stream(KernelPerceptron())
    K = RBF(0.5)(X)
    by_kernel = KernelPerceptron(kernel=RBF(0.5), max_iter=200).fit(X, y)
    by_matrix = KernelPerceptron(kernel="precomputed", max_iter=200).fit(K, y)
    np.testing.assert_array_equal(by_kernel.support_, by_matrix.support_)
    np.testing.assert_array_equal(by_kernel.predict(X), by_matrix.predict(K))
    with pytest.raises(ValueError, match="partial_fit cannot go on"):
        by_matrix.partial_fit(K, y)


def test_strings():
    @mercer.kernel(psd=True)
    def common_letters(a, b):
        return float(sum(a.count(c) * b.count(c) for c in set(a)))

    words = ["aab", "aba", "baa", "aaab", "bbc", "cbb", "bcb", "ccb", "aaa", "bcc"]
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0, 1, 0])
    fitted = KernelPerceptron(kernel=common_letters).fit(words, y)
    assert fitted.status_ == "no_mistakes"
    np.testing.assert_array_equal(fitted.predict(words), y)
    streamed = KernelPerceptron(kernel=common_letters, radius=3.0, budget=3)
    for word, label in zip(words * 3, np.tile(y, 3), strict=True):
        streamed.partial_fit([word], [label], classes=[0, 1])
        assert len(streamed.support_vectors_) <= 3
    assert streamed.t_ == 30
    assert not hasattr(streamed, "n_features_in_")
