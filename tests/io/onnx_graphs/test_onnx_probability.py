"""ONNX: the coupling of class probabilities against the library's own."""

from functools import cache

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.io.onnx import probability as onnx_probability
from mercer.io.onnx.graph import DOUBLE, INT64, IR, OPSET, Graph
from mercer.solvers.calibration import coupling

COUPLINGS = {
    "pairs": (onnx_probability.couple_pairs, coupling.couple_pairs),
    "rest": (onnx_probability.couple_rest, lambda z, k, choice: coupling.couple_rest(z, choice)),
}


@cache
def session(kind, k):
    g = Graph()
    helper = g.onnx.helper
    columns = k * (k - 1) // 2 if kind == "pairs" else k
    g.op("Identity", COUPLINGS[kind][0](g, "logits", k, "choice"), out="p")
    inputs = [("logits", DOUBLE, ["rows", columns]), ("choice", INT64, ["rows"])]
    graph = helper.make_graph(
        g.nodes,
        "coupling",
        [helper.make_tensor_value_info(*given) for given in inputs],
        [helper.make_tensor_value_info("p", DOUBLE, ["rows", k])],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    return columns, onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


@pytest.mark.parametrize("kind", COUPLINGS)
@settings(max_examples=40, deadline=None)
@given(
    st.integers(3, 9),
    st.integers(0, 20),
    st.sampled_from([0.0, 1e-9, 0.1, 1.0, 6.0, 40.0]),
    st.integers(0, 99),
)
def test_coupled_probabilities_whatever_the_pairs_say(kind, k, n, scale, seed):
    """The choice may contradict the logits: then classes tie at the top, which is where the method works."""
    columns, run = session(kind, k)
    rng = np.random.default_rng(seed)
    logits = np.clip(scale * rng.normal(size=(n, columns)), -30.0, 30.0)
    choice = rng.integers(0, k, n)
    (found,) = run.run(None, {"logits": logits, "choice": choice})
    np.testing.assert_allclose(found, COUPLINGS[kind][1](logits, k, choice), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.argmax(axis=1), choice)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_many_classes():
    columns, run = session("pairs", 26)
    rng = np.random.default_rng(0)
    logits, choice = 3.0 * rng.normal(size=(40, columns)), rng.integers(0, 26, 40)
    (found,) = run.run(None, {"logits": logits, "choice": choice})
    np.testing.assert_allclose(found, coupling.couple_pairs(logits, 26, choice), rtol=0, atol=1e-9)
