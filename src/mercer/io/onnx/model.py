"""A whole model as an ONNX graph: what goes in, the preparation, the machine, what comes out."""

from __future__ import annotations

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer._version import __version__
from mercer.estimators import ConformalClassifier, ConformalRegressor
from mercer.io.onnx.columns import declared, inputs_of, numbers
from mercer.io.onnx.graph import IR, ML, ML_OPSET, OPSET, Graph
from mercer.io.onnx.machines import OUTPUTS, Output, add_machine, check_machine
from mercer.io.onnx.steps import add_step
from mercer.io.onnx.targets import check_target, undo_target


def onnx_model(model: Any) -> Any:
    """Return a fitted model as an ONNX model, as `mercer.io.to_onnx` describes it."""
    check_is_fitted(model)
    last, steps, targets = model, [], []
    while True:
        if hasattr(last, "best_estimator_"):
            last = last.best_estimator_
        elif isinstance(last, ConformalRegressor | ConformalClassifier):
            last = last.estimator_
        elif isinstance(last, Pipeline):
            steps += last.steps[:-1]
            last = last.steps[-1][1]
        elif isinstance(last, TransformedTargetRegressor):
            check_target(last.transformer_)
            targets.append(last)
            last = last.regressor_
        else:
            break
    check_machine(last)
    g = Graph()
    work = [step for step in (*(step for _, step in steps), last) if not isinstance(step, str | None)]
    inputs = inputs_of(work[0], OUTPUTS)
    g.reserve([*OUTPUTS, *(part.name for part in inputs)])
    parts = list(inputs)
    for name, step in steps:
        parts = add_step(g, name, step, parts)
    table = numbers(g, parts, type(last).__name__)
    g.widths[table.name] = table.width
    outputs = add_machine(g, last, table.name)
    if targets:
        outputs = [_undone(g, targets, outputs[0])]
    return _finish(g, declared(g, inputs), outputs)


def _undone(g: Graph, targets: list[Any], output: Output) -> Output:
    """Undo what was done to the target, the innermost transformation first."""
    _, kind, shape = output
    made = g.nodes[-1].output[0] = g.name()  # the machine's prediction is not the last word
    for owner in reversed(targets):
        made = undo_target(g, owner.transformer_, made)
    if targets[0]._training_dim == 2 and len(shape) == 1:
        made, shape = g.unsqueeze(made, 1), [*shape, 1]
    g.op("Identity", made, out="prediction")
    return "prediction", kind, shape


def _finish(g: Graph, inputs: list[Any], outputs: list[Output]) -> Any:
    helper = g.onnx.helper
    graph = helper.make_graph(
        g.nodes,
        "mercer",
        inputs,
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs],
        g.constants,
    )
    sets = [helper.make_opsetid("", OPSET)]
    sets += [helper.make_opsetid(ML, ML_OPSET)] if ML in g.domains else []
    made = helper.make_model(graph, opset_imports=sets, producer_name="mercer")
    made.ir_version = IR
    made.producer_version = __version__
    g.onnx.checker.check_model(made)
    return made
