"""ONNX: onnxruntime says what we say."""

import numpy as np
import onnxruntime
import pytest
from file_samples import data
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

import mercer
from mercer.io import ModelFileError, to_onnx
from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChi2,
    Chi2,
    Constant,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spline,
)

KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.1, coef0=1.0),
    Polynomial(degree=2.5, gamma=0.1, coef0=1.0),
    RBF(0.3),
    RBF(np.array([0.1, 0.2, 0.3, 0.4])),
    Sigmoid(gamma=0.01),
    Laplacian(0.2),
    Chi2(0.5),
    AdditiveChi2(),
    HistogramIntersection(),
    Matern(2.0, 0.5),
    Matern(2.0, 1.5),
    Matern(np.array([1.0, 2.0, 3.0, 4.0]), 2.5),
    Matern(2.0, np.inf),
    RationalQuadratic(1.5, 0.7),
    ANOVA(0.2, 2),
    Spline(5.0),
    0.1 * Linear(),
    RBF(0.3) + 0.1 * Linear() * Matern(),
    (RBF(0.3) + 1.0) ** 2,
    Polynomial(degree=2, gamma=0.1).normalized(),
    RBF(0.2).on([0, 2]) + Constant(1.0) + Linear().on(slice(1, 3)),
]


def positive_data():
    X, targets = data()
    return np.abs(X + 5.0), np.abs(data(seed=1, n=25)[0] + 5.0), targets


def run(model, X):
    session = onnxruntime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.expression())
def test_every_vector_kernel(kernel):
    X, new, targets = positive_data()
    model = mercer.SVR(kernel=kernel, max_iter=5000).fit(X, targets["real"])
    out = run(model, new)
    assert out["prediction"].dtype == np.float64
    np.testing.assert_allclose(out["prediction"], model.predict(new), rtol=0, atol=1e-6)
    ball = mercer.SVDD(kernel=kernel, nu=0.2, max_iter=5000).fit(X)
    out = run(ball, new)
    np.testing.assert_allclose(out["decision"], ball.decision_function(new), rtol=1e-9, atol=1e-6)
    np.testing.assert_array_equal(out["label"], ball.predict(new))


@pytest.mark.parametrize(
    ("params", "classes"),
    [
        ({"probability": True}, "two"),
        ({}, "three"),
        ({"break_ties": True}, "three"),
        ({"multiclass": "ovr"}, "three"),
        ({"decision_function_shape": "ovo"}, "three"),
    ],
)
@pytest.mark.parametrize("text", [True, False])
def test_classifiers(params, classes, text):
    X, targets = data()
    y = targets[classes]
    y = np.array(["c", "a", "b"])[y] if text else y
    model = mercer.SVC(**params).fit(X, y)
    new = data(seed=1, n=200)[0]
    out = run(model, new)
    np.testing.assert_array_equal(out["label"], model.predict(new))
    np.testing.assert_allclose(out["decision"], model.decision_function(new), atol=1e-9)
    if params.get("probability"):
        np.testing.assert_allclose(out["probabilities"], model.predict_proba(new), atol=1e-9)


def test_other_machines_and_single_features():
    X, targets = data()
    for model in (mercer.NuSVC(nu=0.5), mercer.SVC(kernel="linear", C=0.3)):
        model.fit(X[:, :1], targets["two"])
        np.testing.assert_allclose(
            run(model, X[:, :1])["decision"], model.decision_function(X[:, :1]), atol=1e-9
        )
    plane = mercer.OneClassSVM(nu=0.2).fit(X)
    np.testing.assert_allclose(run(plane, X)["decision"], plane.decision_function(X), atol=1e-9)
    tube = mercer.NuSVR().fit(X, targets["real"])
    np.testing.assert_allclose(run(tube, X)["prediction"], tube.predict(X), atol=1e-9)


@pytest.mark.parametrize(
    "step", [StandardScaler(), RobustScaler(), MinMaxScaler(clip=True), MaxAbsScaler(), PCA(2, whiten=True)]
)
@pytest.mark.parametrize("columns", [1, 4])
def test_scalers_before_a_machine(step, columns):
    X, targets = data()
    X = np.ascontiguousarray(3.7 * X[:, :columns] + 1.3)
    if isinstance(step, PCA) and columns == 1:
        step = PCA(1)
    model = make_pipeline(step, mercer.SVC(kernel="linear")).fit(X, targets["two"])
    np.testing.assert_allclose(run(model, X)["decision"], model.decision_function(X), atol=1e-9)


def test_what_cannot_be_exported_is_refused_by_name(tmp_path):
    X, targets = data()
    y = targets["two"]
    with pytest.raises(ModelFileError, match=r"RBF\(gamma=0.3\).centered\(\) cannot be exported"):
        to_onnx(mercer.SVC(kernel=RBF(0.3).centered()).fit(X, y))
    with pytest.raises(ModelFileError, match="Precomputed"):
        to_onnx(mercer.SVC(kernel="precomputed").fit(X @ X.T, y))
    with pytest.raises(ModelFileError, match="KernelPCA cannot be exported"):
        to_onnx(mercer.KernelPCA().fit(X))
    with pytest.raises(ModelFileError, match=r"step 'onehotencoder' \(OneHotEncoder\)"):
        to_onnx(make_pipeline(OneHotEncoder(handle_unknown="ignore"), mercer.SVC()).fit(np.round(X), y))
    path = tmp_path / "m.onnx"
    made = to_onnx(mercer.SVC().fit(X, y), path)
    assert path.read_bytes() == made.SerializeToString()
