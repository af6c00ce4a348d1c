"""Kernels of strings, trees, graphs and time series wherever a kernel is used."""

import pickle
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import mercer
from mercer.gram import gram
from mercer.kernels import (
    RBF,
    GappyPairs,
    GlobalAlignment,
    LocalAlignment,
    PartialTree,
    RandomWalk,
    ShortestPath,
    Signature,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from mercer.kernels.series import alignment
from mercer.kernels.trees import fragments

pytestmark = pytest.mark.core

N = 30
Y = np.arange(N) % 2
RNG = np.random.default_rng(0)
TARGET = Y + 0.1 * RNG.normal(size=N)


def gene(kind):
    letters = RNG.choice(list("ACGT"), size=int(RNG.integers(14, 20)))
    letters[3:9] = list("TATAAT" if kind else "GGCCGG")
    return "".join(letters)


def sentence(kind):
    noun, verb = RNG.choice(["cat", "dog", "cow"]), RNG.choice(["saw", "heard"])
    return f"(S (NP (D {'the' if kind else 'a'}) (N {noun})) (VP (V {verb}) (NP (D a) (N {noun}))))"


def molecule(kind):
    n = int(RNG.integers(4, 8))
    edges = [(k, int(RNG.integers(0, k))) for k in range(1, n)] + [(0, n), (n, n + 1)]
    return edges, ["C"] * n + (["N", "O"] if kind else ["O", "N"])


def wave(kind):
    t = np.linspace(0, 6, int(RNG.integers(15, 25)))
    return np.sin((1 + kind) * t) + 0.1 * RNG.normal(size=t.size)


STRINGS = [gene(kind) for kind in Y]
DATA = {
    "strings": STRINGS,
    "bytes": [item.encode() for item in STRINGS],
    "tokens": [list(item) for item in STRINGS],
    "numbers": [[ord(letter) for letter in item] for item in STRINGS],
    "trees": [sentence(kind) for kind in Y],
    "graphs": [molecule(kind) for kind in Y],
    "series": [wave(kind) for kind in Y],
}
PAIRS = [
    (Spectrum(3), "strings"),
    (Spectrum(2), "bytes"),
    (GappyPairs(1, 1), "tokens"),
    (Subsequence(2, 0.5), "numbers"),
    (LocalAlignment(beta=0.3), "strings"),
    (Subtree(0.5), "trees"),
    (SubsetTree(0.4), "trees"),
    (PartialTree(), "trees"),
    (WeisfeilerLehman(2), "graphs"),
    (WLOptimalAssignment(2), "graphs"),
    (ShortestPath(), "graphs"),
    (RandomWalk(0.01), "graphs"),
    (GlobalAlignment(), "series"),
    (Signature(2, time=True), "series"),
]
ONE_OF_EACH = [PAIRS[0], PAIRS[3], PAIRS[6], PAIRS[8], PAIRS[12]]
IDS = [f"{type(kernel).__name__}-{kind}" for kernel, kind in PAIRS]
SOME_IDS = [f"{type(kernel).__name__}-{kind}" for kernel, kind in ONE_OF_EACH]
ESTIMATORS = [
    (mercer.SVC(C=10.0), Y),
    (mercer.NuSVC(nu=0.2), Y),
    (mercer.SVR(C=10.0), TARGET),
    (mercer.OneClassSVM(nu=0.2), None),
    (mercer.SVDD(nu=0.2), None),
    (mercer.KernelRidge(alpha=0.1), TARGET),
    (mercer.KernelLogisticRegression(), Y),
    (mercer.KernelClassifier(loss="squared_hinge"), Y),
    (mercer.GaussianProcessRegressor(noise=0.1, optimizer=None), TARGET),
    (mercer.KernelPerceptron(), Y),
    (mercer.KernelPCA(n_components=2), None),
    (mercer.KernelFisherDiscriminant(), Y),
    (mercer.Nystroem(n_components=10, random_state=0), None),
]


def column(items):
    """Return items as an array of objects, one in each cell."""
    cells = np.empty(len(items), dtype=object)
    cells[:] = items
    return cells


def outputs(model, X):
    """Return numbers that a fitted model gives for items."""
    for name in ("decision_function", "transform", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise AssertionError(f"{model} says nothing")


@pytest.mark.parametrize(("kernel", "kind"), ONE_OF_EACH, ids=SOME_IDS)
@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=[type(e).__name__ for e, _ in ESTIMATORS])
def test_every_machine_takes_them_and_files_keep_them(estimator, y, kernel, kind, tmp_path):
    X = DATA[kind]
    model = clone(estimator).set_params(kernel=kernel.normalized()).fit(X, y)
    said = outputs(model, X)
    assert said.shape[0] == N
    assert np.isfinite(said).all()
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_allclose(
        outputs(mercer.load(tmp_path / "model.mercer"), X), said, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(outputs(pickle.loads(pickle.dumps(model)), X), said, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kernel", "kind"), PAIRS, ids=IDS)
def test_machines_equal_those_on_the_matrix(kernel, kind, tmp_path):
    X = DATA[kind]
    kernel = kernel.normalized()
    asked = {"C": 10.0, "criterion": "gap", "tol": 1e-8}
    model = mercer.SVC(kernel=kernel, **asked).fit(X, Y)
    assert model.certificate_.status == model.certify(X, Y).status == "optimal"
    K = kernel(X)
    twin = mercer.SVC(kernel="precomputed", **asked).fit(K, Y)
    np.testing.assert_allclose(model.certificate_.primal, twin.certificate_.primal, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(K), atol=1e-2)
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), rtol=1e-9)
    if not kernel.depends_on_data:
        assert loaded.kernel_ == model.kernel_ == kernel


@pytest.mark.parametrize(("kernel", "kind"), PAIRS, ids=IDS)
def test_blocks_order_and_halves(kernel, kind):
    X = DATA[kind]
    kernel = kernel.normalized().resolve(X)
    K = kernel(X)
    order = np.random.default_rng(1).permutation(N)
    size = 1e-13 * np.abs(K).max()
    np.testing.assert_allclose(kernel([X[i] for i in order]), K[np.ix_(order, order)], rtol=1e-12, atol=size)
    np.testing.assert_allclose(kernel(X[:7], X), K[:7], rtol=1e-12, atol=size)
    served = gram(kernel, kernel.check(X))
    np.testing.assert_allclose(served.block(order[:5], order), K[np.ix_(order[:5], order)], rtol=1e-12)
    np.testing.assert_allclose(served.diag(), 1.0, rtol=1e-12)
    v = np.linspace(-1, 1, N)
    np.testing.assert_allclose(served.matvec(v), K @ v, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("kernel", "kind"), PAIRS, ids=IDS)
def test_feature_maps_take_items_as_they_come(kernel, kind):
    pandas = pytest.importorskip("pandas")
    X = DATA[kind]
    kernel = kernel.normalized()
    features = kernel.feature_map(X[:20])
    if features is None:
        assert kernel.kernel.feature_map(X) is None
        return
    rows, others = features.transform(X[:20]), features.transform(X)
    np.testing.assert_allclose(
        (sp.csr_matrix(rows) @ sp.csr_matrix(others).T).toarray(), kernel(X[:20], X), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(features.squared_norms(X), 1.0)  # of features that are new, too
    assert len(features.names) == rows.shape[1]
    frame = pandas.DataFrame({"item": column(X), "age": np.arange(N)})
    seen = kernel.on("item").feature_map(frame[:20]).transform(frame)
    np.testing.assert_allclose(sp.csr_matrix(seen).toarray(), sp.csr_matrix(others).toarray(), rtol=1e-12)
    machine = mercer.LinearSVC().fit(rows, Y[:20])
    assert machine.predict(others).shape == (N,)


PARAMETERS = ["k", "length", "decay", "h", "triangular"]


@pytest.mark.parametrize(("kernel", "kind"), ONE_OF_EACH, ids=SOME_IDS)
def test_pipelines_and_searches(kernel, kind):
    X = DATA[kind]
    name = next(p for p in PARAMETERS if p in kernel.get_params())
    values = [0.3, 0.6] if name == "decay" else [1, 2]
    plain = GridSearchCV(mercer.SVC(kernel=kernel), {f"kernel__{name}": values}, cv=2, error_score="raise")
    assert plain.fit(X, Y).best_params_[f"kernel__{name}"] in values
    model = make_pipeline(FunctionTransformer(), mercer.SVC(kernel=kernel.normalized()))
    grid = {f"svc__kernel__kernel__{name}": values, "svc__C": [1.0, 10.0]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, Y)
    assert search.predict(X).shape == (N,)
    assert cross_val_score(model, X, Y, cv=2, error_score="raise").mean() > 0.6


@pytest.mark.parametrize(("kernel", "kind"), ONE_OF_EACH, ids=SOME_IDS)
def test_the_algebra(kernel, kind):
    X = DATA[kind]
    kernel = kernel.normalized().resolve(X)
    K = kernel(X)
    np.testing.assert_allclose((2 * kernel + kernel * kernel + 1)(X), 2 * K + K * K + 1, rtol=1e-12)
    np.testing.assert_allclose((kernel**2)(X), K**2, rtol=1e-12)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    np.testing.assert_allclose(kernel.centered().resolve(X)(X), centred, atol=1e-12)
    model = mercer.SVC(kernel=2 * kernel + kernel * kernel).fit(X, Y)
    assert model.score(X, Y) > 0.6


@pytest.mark.parametrize("kernel", [Signature(3, time=True), GlobalAlignment(2.0)], ids=repr)
def test_products_are_no_worse_than_their_factors(kernel):
    """The error of a factor meets the other factor, not the numbers that this one is what is left of."""
    X = DATA["series"]
    kernel = kernel.normalized()
    size = kernel.magnitude(kernel.check(X))
    for one in (kernel * kernel, kernel**2):
        assert (one.magnitude(one.check(X)) <= 1.5 * size).all()
        assert (one.magnitude(one.check(X)) >= 1.0).all()
    model = mercer.SVC(kernel=2 * kernel + kernel * kernel, C=10.0).fit(X, Y)
    assert model.certificate_.status == "optimal"


def test_one_machine_on_columns_of_all_kinds(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({kind: column(DATA[kind]) for kind in ("strings", "trees", "graphs", "series")})
    frame["age"] = RNG.normal(size=N)
    frame["unused"] = "not looked at"
    parts = [
        Spectrum(3).normalized().on("strings"),
        SubsetTree().normalized().on("trees"),
        WeisfeilerLehman(2).normalized().on("graphs"),
        GlobalAlignment().on("series"),
        RBF(0.5).on("age"),
    ]
    kernel = parts[0] + parts[1] * parts[4] + parts[2] + parts[3]
    model = mercer.SVC(kernel=kernel, C=10.0).fit(frame, Y)
    resolved = GlobalAlignment().resolve(DATA["series"])
    alone = [
        Spectrum(3).normalized()(DATA["strings"]),
        SubsetTree().normalized()(DATA["trees"]),
        WeisfeilerLehman(2).normalized()(DATA["graphs"]),
        resolved(DATA["series"]),
        RBF(0.5)(frame[["age"]].to_numpy()),
    ]
    truth = alone[0] + alone[1] * alone[4] + alone[2] + alone[3]
    np.testing.assert_allclose(model.kernel_(frame), truth, rtol=1e-12)
    mercer.save(model, tmp_path / "mixed.mercer")
    loaded = mercer.load(tmp_path / "mixed.mercer")
    np.testing.assert_allclose(loaded.decision_function(frame), model.decision_function(frame), rtol=1e-9)
    wrong = frame.copy()
    wrong["trees"] = column([3, *DATA["trees"][1:]])
    with pytest.raises(TypeError, match=r"\[0\] is a int"):
        model.predict(wrong)


@pytest.mark.parametrize(("kernel", "kind"), ONE_OF_EACH, ids=SOME_IDS)
def test_bounds_and_report(kernel, kind):
    pytest.importorskip("matplotlib")
    X = DATA[kind]
    model = mercer.SVC(kernel=kernel.normalized()).fit(X, Y)
    assert "probability" in str(mercer.bounds.report(model, X, Y))
    assert type(kernel).__name__ in mercer.report(model, X, Y, cv=0)


INTERRUPTED = [
    (GlobalAlignment(2.0), "series", alignment._jit.series_pairs, "global_alignments"),
    (SubsetTree(0.4), "trees", fragments._jit.tree_pairs, "tree_kernel"),
    (RandomWalk(0.01), "graphs", fragments._jit.graph_walks, "labelled_walks"),
]


@pytest.mark.parametrize("asked", ["keep", "raise"])
@pytest.mark.parametrize(("kernel", "kind", "module", "loop"), INTERRUPTED, ids=["series", "trees", "graphs"])
def test_ctrl_c_ends_a_fit(kernel, kind, module, loop, asked, monkeypatch):
    X = DATA[kind] * 2
    y = np.concatenate([Y, Y])
    model = mercer.SVC(kernel=kernel.normalized(), C=10.0, on_interrupt=asked, n_jobs=1)
    model.fit(X, y)
    fill, sent = getattr(module, loop), []

    def interrupted(*arguments):
        if not sent:  # as a terminal would, in the first values of the fit
            sent.append(signal.raise_signal(signal.SIGINT))
        return fill(*arguments)

    monkeypatch.setattr(module, loop, interrupted)
    if asked == "raise":
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    else:
        assert model.fit(X, y).certificate_.status == "interrupted"
