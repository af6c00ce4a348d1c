"""A threshold moves predictions alone, and goes with the model wherever that goes."""

import numpy as np
import pytest

import mercer
from clouds import blobs
from mercer.io import ModelFileError, write_libsvm_model


@pytest.fixture(scope="module")
def pair():
    X, y = blobs(80, 2, 2, seed=0)
    return X, y, mercer.SVC(probability=True).fit(X, y)


@pytest.mark.parametrize("kind", [mercer.SVC, mercer.NuSVC])
def test_predictions_move_and_nothing_else(pair, kind):
    X, y, _ = pair
    plain = kind(probability=True).fit(X, y)
    moved = kind(probability=True, threshold=0.4).fit(X, y)
    np.testing.assert_array_equal(moved.predict(X), (plain.decision_function(X) >= 0.4).astype(int))
    np.testing.assert_array_equal(moved.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(moved.predict_proba(X), plain.predict_proba(X))
    assert moved.certify(X, y).gap == plain.certify(X, y).gap
    assert moved.predict(X).sum() < plain.predict(X).sum()


def test_it_is_saved_and_loaded(pair, tmp_path):
    X, _, model = pair
    moved = mercer.SVC(probability=True, threshold=-0.7).fit(*pair[:2])
    again = mercer.load(mercer.save(moved, tmp_path / "moved.mercer"))
    assert again.threshold == -0.7
    np.testing.assert_array_equal(again.predict(X), moved.predict(X))
    assert (again.predict(X) != model.predict(X)).any()


def test_onnx_honours_it(pair, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from mercer.io import to_onnx

    X, y, model = pair
    moved = mercer.SVC(probability=True, threshold=0.4).fit(X, y)
    to_onnx(moved, tmp_path / "moved.onnx")
    session = runtime.InferenceSession(str(tmp_path / "moved.onnx"), providers=["CPUExecutionProvider"])
    label, probabilities = session.run(["label", "probabilities"], {"X": X})
    clear = np.abs(moved.decision_function(X) - 0.4) > 1e-9
    np.testing.assert_array_equal(label[clear], moved.predict(X)[clear])
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-9)


def test_formats_without_thresholds_refuse_it(pair, tmp_path):
    X, y, _ = pair
    moved = mercer.SVC(threshold=0.4).fit(X, y)
    with pytest.raises(ModelFileError, match=r"threshold=0\.4"):
        write_libsvm_model(moved, tmp_path / "moved.model")
    with pytest.raises(ValueError, match=r"threshold=0\.4"):
        moved.to_sklearn()


def test_it_is_between_two_classes():
    X, y = blobs(60, 2, 3, seed=0)
    with pytest.raises(ValueError, match=r"threshold=0.1 is between two classes; y has 3"):
        mercer.SVC(threshold=0.1).fit(X, y)
