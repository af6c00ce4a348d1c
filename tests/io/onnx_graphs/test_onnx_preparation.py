"""ONNX: the steps before a machine, on numbers and on text."""

import numpy as np
import pytest
from file_samples import data
from onnx.reference import ReferenceEvaluator
from onnx_running import assert_says_the_same, run, run_bytes
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.manifold import Isomap
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

import mercer
from mercer.io import ModelFileError, load, save, to_onnx

pd = pytest.importorskip("pandas")

CITIES = ["Rome", "Oslo", "Lima", "Kyiv", "Łódź"]
IGNORING = OneHotEncoder(handle_unknown="ignore")


def people(n=80, seed=0):
    """Return a table with numbers, text and gaps, and classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.round(rng.lognormal(10, 0.5, n)),
            "city": rng.choice(CITIES, n, p=[0.4, 0.3, 0.2, 0.06, 0.04]),
            "size": rng.choice(["small", "large"], n),
            "rooms": rng.integers(1, 5, n),
        }
    )
    score = (frame["age"] - 45) / 15 + (frame["city"] == "Oslo") + 0.4 * rng.normal(size=n)
    return frame, np.array(["no", "maybe", "yes"])[np.digitize(score, [-0.3, 0.9])]


def with_gaps(frame):
    frame = frame.astype({"age": float})
    frame.loc[frame.index % 7 == 3, "income"] = np.nan
    frame.loc[frame.index % 9 == 2, "city"] = None
    return frame


def fit(*steps, frame=None, y=None, **params):
    default, classes = people()
    frame = default if frame is None else frame
    return make_pipeline(*steps, mercer.SVC(**params)).fit(frame, classes if y is None else y)


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        RobustScaler(),
        MinMaxScaler(clip=True),
        MaxAbsScaler(),
        PCA(0.9, whiten=True),
        TruncatedSVD(1),
        Normalizer(),
        Normalizer("l1"),
        Normalizer("max"),
        Binarizer(threshold=1.0),
        VarianceThreshold(),
        PolynomialFeatures(2),
        PolynomialFeatures(3, interaction_only=True, include_bias=False),
        PowerTransformer(),
        PowerTransformer(standardize=False),
        FunctionTransformer(),
        "passthrough",
        make_pipeline(MinMaxScaler(), StandardScaler()),
        FeatureUnion(
            [("a", StandardScaler()), ("b", "passthrough"), ("c", "drop")], transformer_weights={"a": 0.3}
        ),
    ],
    ids=lambda step: " ".join(repr(step).split()),
)
@pytest.mark.parametrize("columns", [1, 4])
def test_steps_on_numbers(step, columns):
    X, targets = data()
    if isinstance(step, TruncatedSVD) and columns == 1:
        columns = 2  # it takes no less
    X = np.ascontiguousarray(3.7 * X[:, :columns] + 1.3)
    model = make_pipeline(step, mercer.SVC(kernel="linear")).fit(X, targets["two"])
    assert_says_the_same(model, np.vstack([X, 2.0 * X, np.zeros((1, columns))]))


@pytest.mark.parametrize(
    "imputer",
    [
        SimpleImputer(),
        SimpleImputer(strategy="median", add_indicator=True),
        SimpleImputer(strategy="constant", fill_value=0.0),
        SimpleImputer(keep_empty_features=True),
        SimpleImputer(missing_values=-1.0),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_missing_numbers(imputer):
    X, targets = data()
    X[::5, 1] = X[1::7, 2] = X[:, 3] = imputer.missing_values
    model = make_pipeline(imputer, StandardScaler(), mercer.SVC()).fit(X, targets["two"])
    assert_says_the_same(model, X)


def test_a_model_as_the_command_makes_it():
    frame, y = people()
    frame = with_gaps(frame)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    text = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    prepare = ColumnTransformer(
        [("numbers", numbers, ["age", "income", "rooms"]), ("text", text, ["city", "size"])]
    )
    model = fit(prepare, frame=frame, y=y, probability=True)
    new = with_gaps(people(seed=1)[0])
    new.loc[4, "city"] = "Atlantis"
    out = assert_says_the_same(model, new)
    assert out["probabilities"].shape == (80, 3)
    shapes = {
        given.name: (given.type.tensor_type.elem_type, given.type.tensor_type.shape.dim[1].dim_value)
        for given in to_onnx(model).graph.input
    }
    assert shapes == {"age": (11, 1), "income": (11, 1), "city": (8, 1), "size": (8, 1), "rooms": (11, 1)}


def test_another_runtime_reads_the_operators_the_same_way():
    frame, y = people()
    prepare = ColumnTransformer([("text", IGNORING, ["city", "size"])], remainder=StandardScaler())
    model = make_pipeline(prepare, mercer.SVC(kernel="laplacian", probability=True)).fit(frame, y)
    runtime = ReferenceEvaluator(to_onnx(model))
    new = people(n=12, seed=1)[0]
    new.loc[5, "city"] = "unheard of"
    feeds = {name: new[name].to_numpy()[:, None] for name in new}
    numbers = {name: values.astype(float) for name, values in feeds.items() if name not in ("city", "size")}
    text = {name: values.astype(str) for name, values in feeds.items() if name in ("city", "size")}
    label, decision, probabilities = runtime.run(None, numbers | text)
    np.testing.assert_array_equal(label, model.predict(new))
    np.testing.assert_allclose(decision, model.decision_function(new), atol=1e-9)
    np.testing.assert_allclose(probabilities, model.predict_proba(new), atol=1e-9)


def test_a_model_from_a_file(tmp_path):
    frame, _ = people()
    prepare = ColumnTransformer([("text", IGNORING, ["city"])], remainder="drop")
    save(fit(prepare), tmp_path / "model.mercer")
    model = load(tmp_path / "model.mercer")
    assert_says_the_same(model, frame)
    assert [given.name for given in to_onnx(model).graph.input] == ["city"]


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="ignore", drop="first", sparse_output=False),
        OneHotEncoder(handle_unknown="ignore", drop="if_binary"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3, drop="first"),
        OneHotEncoder(handle_unknown="ignore", min_frequency=10, drop=["Rome", "small", 1]),
        OneHotEncoder(handle_unknown="infrequent_if_exist"),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2, max_categories=3),
        OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-3, min_frequency=10
        ),
    ],
    ids=lambda step: " ".join(repr(step).split()),
)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_encoders_know_what_scikit_learn_knows(encoder, gaps):
    frame, y = people()
    new = people(seed=1)[0]
    if gaps:
        frame.loc[frame.index % 9 == 2, "city"] = new.loc[new.index % 9 == 3, "city"] = None
    if gaps and isinstance(encoder, OrdinalEncoder) and np.isnan(encoder.encoded_missing_value):
        encoder = encoder.set_params(encoded_missing_value=9)
    new.loc[5, ["city", "size"]] = "unheard of"
    new.loc[7, "rooms"] = 99
    columns = ["city", "size", "rooms"]
    model = fit(ColumnTransformer([("code", encoder, columns)], remainder=StandardScaler()), frame=frame, y=y)
    assert_says_the_same(model, new)


@pytest.mark.parametrize("kind", ["two", "three", "real"])
def test_categories_by_their_targets(kind):
    frame, y = people()
    machine, y = (mercer.SVR(), np.log(frame["income"])) if kind == "real" else (mercer.SVC(), y)
    y = y == "yes" if kind == "two" else y
    encoder = TargetEncoder(cv=3)
    prepare = ColumnTransformer([("code", encoder, ["city", "size", "rooms"])], remainder="drop")
    model = make_pipeline(prepare, machine).fit(frame, y)
    new = people(seed=1)[0]
    new.loc[5, ["city", "size"]] = "unheard of"
    assert_says_the_same(model, new)


@pytest.mark.parametrize("rate", [0.0, 1e-9, 0.5, 2.0 - 1e-12, 2.0, -1.0])
@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
def test_powers_at_their_limits(rate, method):
    X, targets = data()
    X = X if method == "yeo-johnson" else np.abs(X) + 0.1
    model = make_pipeline(PowerTransformer(method=method), mercer.SVR()).fit(X, targets["real"])
    model[0].lambdas_[:2] = rate
    assert_says_the_same(model, X)


@pytest.mark.parametrize(
    "params",
    [
        {"transformer": StandardScaler()},
        {"transformer": StandardScaler(with_mean=False)},
        {"transformer": RobustScaler(with_scaling=False)},
        {"transformer": MinMaxScaler((2, 5))},
        {"transformer": MaxAbsScaler()},
        {"func": np.log1p, "inverse_func": np.expm1},
        {"func": np.log, "inverse_func": np.exp},
        {"func": np.sqrt, "inverse_func": np.square},
        {"func": np.square, "inverse_func": np.sqrt},
        {"func": np.exp, "inverse_func": np.log},
        {"func": np.expm1, "inverse_func": np.log1p},
        {},
    ],
    ids=str,
)
def test_transformed_targets(params):
    X, targets = data()
    y = np.abs(targets["real"]) + 1.0
    inner = make_pipeline(StandardScaler(), mercer.SVR())
    assert_says_the_same(TransformedTargetRegressor(inner, **params).fit(X, y), X)
    if "func" not in params:
        both = TransformedTargetRegressor(mercer.KernelRidge(), **params).fit(X, targets["view"])
        assert_says_the_same(both, X)
        column = TransformedTargetRegressor(mercer.KernelRidge(), **params).fit(X, y[:, None])
        assert_says_the_same(column, X)
        twice = TransformedTargetRegressor(
            TransformedTargetRegressor(inner, func=np.log, inverse_func=np.exp)
        )
        assert_says_the_same(make_pipeline(StandardScaler(), twice).fit(X, y), X)


def test_targets_that_cannot_go_back_are_refused_by_name():
    X, targets = data()
    y = targets["real"]
    odd = TransformedTargetRegressor(mercer.SVR(), func=np.cbrt, inverse_func=_cube).fit(X, y)
    with pytest.raises(ModelFileError, match="the function _cube of the target cannot be exported"):
        to_onnx(odd)
    odd = TransformedTargetRegressor(mercer.SVR(), transformer=PowerTransformer()).fit(X, y)
    with pytest.raises(ModelFileError, match="PowerTransformer of the target cannot be exported"):
        to_onnx(odd)


def _cube(x):
    return x**3


def test_an_encoder_that_refuses_what_it_does_not_know_does_so_in_onnx_too():
    frame, _ = people()
    for columns, place in ((["city", "size"], "size"), (["rooms"], "rooms")):
        for encoder in (OneHotEncoder(), OrdinalEncoder()):
            model = fit(ColumnTransformer([("code", encoder, columns)]))
            assert_says_the_same(model, frame)
            new = frame.copy()
            new.loc[3, place] = "huge" if place == "size" else 17
            with pytest.raises(Exception, match=r"(?i)indices element out of data bounds"):
                run_bytes(to_onnx(model).SerializeToString(), new)


def test_columns_by_number_mask_slice_and_selector():
    frame, y = people()
    for numeric, text in (
        ([0, 1], [2]),
        (slice(0, 2), slice(2, 4)),
        (np.array([True, True, False, False, False]), ["size"]),
        (make_column_selector(dtype_include=np.number), make_column_selector(pattern="i[tz]")),
    ):
        prepare = ColumnTransformer(
            [("numbers", StandardScaler(), numeric), ("text", IGNORING, text)],
            transformer_weights={"numbers": 0.7},
        )
        assert_says_the_same(fit(prepare), frame)
    prepare = ColumnTransformer(
        [("first", StandardScaler(), [4, 0]), ("none", RobustScaler(), [])], remainder="passthrough"
    )
    table = frame[["age", "income", "rooms", "age", "rooms"]].to_numpy(dtype=float)
    model = make_pipeline(prepare, mercer.SVC()).fit(table, y)
    assert_says_the_same(model, table)
    assert [given.name for given in to_onnx(model).graph.input] == ["X"]


def test_columns_without_names_and_with_names_of_ours():
    frame, y = people()
    prepare = ColumnTransformer([("text", IGNORING, [2, 3])], remainder=StandardScaler())
    bare = make_pipeline(prepare, mercer.SVC()).fit(frame.to_numpy(), y)
    assert [given.name for given in to_onnx(bare).graph.input] == ["x0", "x1", "x2", "x3", "x4"]
    names = ["v0", "c1", "label", "decision", ""]
    table = frame.set_axis(names, axis=1)
    odd = make_pipeline(prepare, mercer.SVC()).fit(table, y)
    inputs = [given.name for given in to_onnx(odd).graph.input]
    assert inputs == ["v0", "c1", "label_in", "decision_in", "x4"]
    out = run(odd, table.rename(columns={"": "x4"}))
    np.testing.assert_array_equal(out["label"], odd.predict(table))
    np.testing.assert_allclose(out["decision"], odd.decision_function(table), atol=1e-9)


def test_text_that_was_filled_in_by_a_constant_or_twice():
    frame, y = people()
    frame.loc[::6, "city"] = "?"
    frame.loc[1::6, "city"] = None
    for imputers in (
        [SimpleImputer(strategy="constant", fill_value="nowhere")],
        [
            SimpleImputer(missing_values="?", strategy="most_frequent"),
            SimpleImputer(strategy="constant", fill_value="Rome"),
        ],
        [
            SimpleImputer(strategy="constant", fill_value="?"),
            SimpleImputer(missing_values="?", strategy="most_frequent"),
        ],
    ):
        table = frame if not isinstance(imputers[0].missing_values, str) else frame.fillna("Lima")
        prepare = ColumnTransformer([("text", make_pipeline(*imputers, IGNORING), ["city", "size"])])
        assert_says_the_same(fit(prepare, frame=table, y=y), table)


def test_what_cannot_be_said_in_onnx_is_refused_by_name():
    frame, y = people()
    X, targets = data()
    with pytest.raises(ModelFileError, match=r"step 'isomap' \(Isomap\) cannot be exported"):
        to_onnx(make_pipeline(Isomap(), mercer.SVC()).fit(X, targets["two"]))
    with pytest.raises(ModelFileError, match="step 'functiontransformer' calls the function exp"):
        to_onnx(make_pipeline(FunctionTransformer(np.exp), mercer.SVC()).fit(X, targets["two"]))
    both = frame.copy()
    both.loc[0, "city"], both.loc[1, "city"] = "", None
    with pytest.raises(ModelFileError, match="column city tells a missing text from an empty one"):
        to_onnx(fit(ColumnTransformer([("text", IGNORING, ["city"])]), frame=both, y=y))
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), IGNORING)
    with pytest.raises(ModelFileError, match="column city tells a missing text from an empty one"):
        to_onnx(fit(ColumnTransformer([("text", filled, ["city"])]), frame=both, y=y))


class OwnEncoder(OneHotEncoder):
    """An encoder that is not scikit-learn's own."""


def test_a_class_of_ones_own_is_not_taken_for_its_parent():
    model = fit(ColumnTransformer([("text", OwnEncoder(), ["city"])]))
    with pytest.raises(ModelFileError, match=r"step 'text' \(OwnEncoder\) cannot be exported"):
        to_onnx(model)
