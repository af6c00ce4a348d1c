"""Kernels on named columns of data frames that hold strings, tokens, objects and numbers."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.estimators.machine import IndefiniteKernelWarning
from mercer.kernels import RBF, Constant, Linear, Mismatch, Spectrum, Subsequence, kernel
from mercer.values import parameter_names

pd = pytest.importorskip("pandas")

KERNEL = Spectrum(2).on("sequence").normalized() + RBF().on(["age", "dose"])


def patients(n=40, seed=0):
    """Return a table of mixed columns, one of which no kernel looks at, and numbers to predict."""
    rng = np.random.default_rng(seed)
    sequence = ["".join(rng.choice(list("ACGT"), size=size)) for size in rng.integers(3, 20, size=n)]
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=n),
            "sequence": sequence,
            "age": rng.normal(50.0, 10.0, size=n),
            "dose": rng.integers(0, 5, size=n),
        }
    )
    y = np.array([s.count("A") / len(s) for s in sequence]) + 0.02 * frame["age"].to_numpy()
    return frame, y


def apart(frame):
    """Return the same kernel matrix, computed from columns that were taken out by hand."""
    numbers = frame[["age", "dose"]].to_numpy(dtype=float)
    return Spectrum(2).normalized()(list(frame["sequence"])) + RBF()(numbers)


def test_values_are_those_of_the_columns():
    frame, _ = patients()
    np.testing.assert_allclose(KERNEL(frame), apart(frame), rtol=1e-13)
    np.testing.assert_allclose(KERNEL.diag(frame), np.full(len(frame), 2.0), rtol=1e-13)
    resolved = KERNEL.resolve(frame)
    np.testing.assert_allclose(resolved(frame[:7], frame), KERNEL(frame)[:7], rtol=1e-12)


def test_polars_arrays_of_objects_and_numbers_of_columns():
    polars = pytest.importorskip("polars")
    frame, _ = patients()
    truth = apart(frame)
    np.testing.assert_allclose(KERNEL(polars.from_pandas(frame)), truth, rtol=1e-13)
    by_number = Spectrum(2).on(1).normalized() + RBF().on([2, -1])
    np.testing.assert_allclose(by_number(frame), truth, rtol=1e-13)
    np.testing.assert_allclose(by_number(frame.to_numpy(dtype=object)), truth, rtol=1e-13)


@pytest.mark.parametrize(
    "items",
    [
        [b"abab", b"ba", b"", b"bbb"],
        [[3, 1, 3], [1], [], [3, 3, 1, 1]],
        [["to", "be"], ["or"], ["not", "to", "be"], []],
        [np.array([1, 2, 1]), np.array([2]), np.array([1, 1]), np.array([2, 1, 2])],
    ],
    ids=["bytes", "integers", "words", "arrays"],
)
def test_other_items_than_text(items, tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "item": pd.Series(items, dtype=object)})
    asked = Subsequence(2).on("item") + Linear().on("x")
    truth = Subsequence(2)(items) + np.outer(frame["x"], frame["x"])
    np.testing.assert_allclose(asked(frame), truth, rtol=1e-13)
    model = mercer.KernelRidge(kernel=asked).fit(frame, [0.0, 1.0, 0.0, 1.0])
    mercer.save(model, tmp_path / "items.mercer")
    same = mercer.load(tmp_path / "items.mercer")
    np.testing.assert_allclose(same.predict(frame), model.predict(frame), rtol=1e-12)


def test_columns_of_any_objects():
    @kernel(psd=True)
    def shared(a, b):
        return len(a["edges"] & b["edges"])

    graphs = [{"edges": frozenset(e)} for e in ([(0, 1)], [(0, 1), (1, 2)], [(2, 3)])]
    frame = pd.DataFrame({"graph": graphs, "size": [2, 3, 2]})
    np.testing.assert_allclose(
        (shared.on("graph") + Linear().on("size"))(frame), [[5, 7, 4], [7, 11, 6], [4, 6, 5]]
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda k: k,
        lambda k: k.centered(),
        lambda k: k.clipped(),
        lambda k: k.flipped(),
        lambda k: k.shifted(0.1),
        lambda k: 2 * k + 1,
        lambda k: k**2,
        lambda k: k * Constant(0.5),
    ],
    ids=["itself", "centred", "clipped", "flipped", "shifted", "scaled", "squared", "times"],
)
def test_the_algebra_of_kernels(change):
    frame, y = patients()
    model = mercer.KernelRidge(kernel=change(KERNEL), alpha=0.1).fit(frame, y)
    twin = mercer.KernelRidge(kernel="precomputed", alpha=0.1).fit(change(KERNEL)(frame), y)
    np.testing.assert_allclose(model.predict(frame), twin.predict(change(KERNEL)(frame)), rtol=1e-6)
    for copy in (clone(change(KERNEL)), pickle.loads(pickle.dumps(change(KERNEL)))):
        assert copy == change(KERNEL)


def machines():
    for name in sorted(mercer.__all__):
        cls = getattr(mercer, name)
        if not (isinstance(cls, type) and issubclass(cls, BaseEstimator)) or name in ONLY_VECTORS:
            continue
        if "kernel" in parameter_names(cls):
            yield cls


# Which approximate kernels of distances and products, or draw lines between points.
ONLY_VECTORS = {"RandomFeatures", "TensorSketch", "SupportVectorClustering"}
OPTIONS = {"KernelCCA": {"kernel_y": "linear"}, "GaussianProcessRegressor": {"optimizer": None}}


@pytest.mark.parametrize("cls", list(machines()), ids=lambda cls: cls.__name__)
def test_every_machine_takes_a_mixed_table(cls, tmp_path):
    frame, y = patients()
    labels = np.where(y > np.median(y), "high", "low")
    model = cls(kernel=KERNEL, **OPTIONS.get(cls.__name__, {}))
    classifier = model.__sklearn_tags__().estimator_type == "classifier"
    model.fit(frame, labels if classifier else y)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["when", "sequence", "age", "dose"]

    def answer(model):
        return (model.predict if hasattr(model, "predict") else model.transform)(frame[::3])

    mercer.save(model, tmp_path / "mixed.mercer")
    before, after = answer(model), answer(mercer.load(tmp_path / "mixed.mercer"))
    if np.asarray(before).dtype.kind in "UO":
        assert (before == after).all()
    else:
        np.testing.assert_allclose(before, after, rtol=1e-9)


def test_certificates_and_searches():
    frame, y = patients()
    labels = y > np.median(y)
    model = mercer.SVC(kernel=KERNEL, C=3.0, criterion="gap", tol=1e-8).fit(frame, labels)
    assert model.certificate_.status == model.certify(frame, labels).status == "optimal"
    twin = mercer.SVC(kernel="precomputed", C=3.0, criterion="gap", tol=1e-8).fit(apart(frame), labels)
    np.testing.assert_allclose(model.certificate_.primal, twin.certificate_.primal, rtol=1e-6)
    grid = {"kernel__k1__kernel__kernel__k": [1, 2], "kernel__k2__kernel__gamma": [0.01, 0.1]}
    search = GridSearchCV(mercer.SVC(kernel=KERNEL), grid, cv=3, error_score="raise").fit(frame, labels)
    assert len(search.cv_results_["params"]) == 4
    scaled = ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "dose"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(scaled, mercer.SVC(kernel=KERNEL))
    assert cross_val_score(pipeline, frame, labels, cv=3, error_score="raise").shape == (3,)


def test_columns_that_nobody_looks_at_are_not_kept():
    frame, y = patients()
    kept = mercer.SVR(kernel=KERNEL).fit(frame, y).support_vectors_
    assert kept.shape[1] == 4
    assert kept.columns[0] is None


def test_features_of_both_parts():
    frame, _ = patients()
    linear = Spectrum(2).on("sequence") + Linear().on(["age", "dose"])
    features = linear.feature_map(frame)
    Z = features.transform(linear.check(frame))
    np.testing.assert_allclose((Z @ Z.T).toarray(), linear(frame), rtol=1e-12)
    assert {"k1.AC", "k2.age", "k2.dose"} <= set(features.names)
    np.testing.assert_allclose(features.squared_norms(linear.check(frame)), linear.diag(frame), rtol=1e-12)


def test_an_alphabet_is_that_of_its_column():
    frame, _ = patients()
    resolved = (Mismatch(2, 1).on("sequence") + RBF().on("age")).resolve(frame)
    assert resolved.k1.kernel.alphabet == "ACGT"


@kernel
def opposite(a, b):
    return -float(a == b)


def test_an_indefinite_part_is_told():
    frame, y = patients()
    with pytest.warns(IndefiniteKernelWarning, match="not positive semi-definite"):
        mercer.SVR(kernel=opposite.on("sequence") + 0.01 * RBF().on("age")).fit(frame, y)


FRAME = patients(5)[0]


@pytest.mark.parametrize(
    ("asked", "data", "message"),
    [
        (Spectrum(2).on("sequence_"), FRAME, "Did you mean 'sequence'"),
        (Spectrum(2).on("sequence"), FRAME.to_numpy(dtype=object), "without names"),
        (Spectrum(2).on("sequence"), ["ACG", "A"], "without names"),
        (Spectrum(2).on(["sequence", "age"]), FRAME, "one column"),
        (Spectrum(2).on("age"), FRAME, "X\\['age'\\] is a table of float64"),
        (RBF().on("sequence"), FRAME, r"X\['sequence'\]\[0\] is a str"),
        (RBF() + Spectrum(2).on("sequence"), FRAME, "would look at all columns"),
        (Spectrum(2).on("sequence"), FRAME.assign(sequence=["A", None, "C", "C", "G"]), r"\[1\] is missing"),
        (RBF().on("age"), FRAME.assign(age=[1.0, None, 2.0, 3.0, 4.0]), "NaN"),
        (Spectrum(2).on(4), FRAME, "from -4 to 3"),
        (Spectrum(2).on(["sequence", 1]), FRAME, "a column's name or number"),
        (Spectrum(2).on("sequence"), FRAME[:0], "0 sample"),
    ],
)
def test_what_is_wrong_is_named(asked, data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        asked(data)
    with pytest.raises((TypeError, ValueError), match=message):
        mercer.SVC(kernel=asked).fit(data, np.arange(len(data)) % 2)


def test_frames_of_numbers_are_tables_of_numbers():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 3)), columns=["a", "b", "c"])
    for one, two in product((RBF(0.5), Linear()), repeat=2):
        truth = one(frame[["a"]].to_numpy()) + two(frame[["b", "c"]].to_numpy())
        np.testing.assert_allclose((one.on("a") + two.on(["b", "c"]))(frame), truth, rtol=1e-12)
        np.testing.assert_allclose((one.on(0) + two.on([1, 2]))(frame), truth, rtol=1e-12)
