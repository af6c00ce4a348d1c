"""Running exported models."""

import numpy as np
import onnxruntime

from mercer.io import to_onnx

METHODS = {
    "label": "predict",
    "prediction": "predict",
    "decision": "decision_function",
    "probabilities": "predict_proba",
}


def run(model, data):
    """Return what onnxruntime says: data is a table of numbers, or a data frame for a model with text."""
    return run_bytes(to_onnx(model).SerializeToString(), data)


def run_bytes(content, data):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # an error that a test waits for is no news
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds(session, data)), strict=True))


def feeds(session, data):
    inputs = {given.name: given.type for given in session.get_inputs()}
    if list(inputs) == ["X"]:
        return {"X": np.asarray(data, dtype=np.float64)}
    out = {}
    for name, kind in inputs.items():
        column = data[name.removesuffix("_in") if name not in data.columns else name]
        if kind == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").to_numpy()
        else:
            values = column.to_numpy(dtype=np.float64)
        out[name] = values[:, None]
    return out


def assert_says_the_same(model, data, tolerance=1e-9):
    """Every answer of the model is an output of the graph, and they agree; return the outputs."""
    out = run(model, data)
    for name, method in METHODS.items():
        if name in out:
            wanted = getattr(model, method)(data)
            assert out[name].shape == wanted.shape
            if name == "label":
                np.testing.assert_array_equal(out[name], wanted)
            else:
                assert out[name].dtype == np.float64
                np.testing.assert_allclose(out[name], wanted, rtol=1e-9, atol=tolerance)
        elif method != "predict":
            assert not hasattr(model, method)
    return out
