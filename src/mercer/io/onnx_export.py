"""Models as ONNX graphs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer._version import __version__
from mercer.io.onnx_columns import declared, inputs_of, numbers
from mercer.io.onnx_graph import IR, ML, ML_OPSET, OPSET, Graph
from mercer.io.onnx_machines import OUTPUTS, Output, add_machine, check_machine
from mercer.io.onnx_steps import add_step
from mercer.io.onnx_targets import check_target, undo_target


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a model as an ONNX graph of plain operators in double precision.

    If all columns are numbers there is one input, X, a double tensor of shape (rows, features). If some are
    text there is one input for each column that the model uses, named as the column (``x0``, ``x1``, ... if
    columns have no names; ``_in`` is added to a name that an output has), of shape (rows, 1), with strings or
    doubles. A missing number is nan, a missing text is the empty string. Outputs:

    - classifiers: ``label`` (int64, double or string), ``decision`` (as ``decision_function``) and, if the
      model has ``predict_proba``, ``probabilities``
    - regressors: ``prediction``; of a Gaussian process, its mean
    - detectors: ``label`` (+1 or -1) and ``decision``

    Parameters
    ----------
    model : estimator, or a Pipeline that ends with one
        Fitted, with a kernel on vectors. Before it there may be scalers, imputers, encoders of categories,
        PCA and the like, also in a ``ColumnTransformer`` or ``FeatureUnion``, around it a
        ``TransformedTargetRegressor``. Of a search, the best estimator is written. Other models, kernels and
        steps are refused by name.
    path : str or path, optional
        Where to write it, too.

    Returns
    -------
    onnx.ModelProto
        Checked by ONNX's own checker.

    Examples
    --------
    >>> import mercer, onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.SVC(probability=True).fit(X, y)
    >>> session = onnxruntime.InferenceSession(mercer.io.to_onnx(model).SerializeToString())
    >>> label, decision, probabilities = session.run(None, {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    >>> float(abs(probabilities - model.predict_proba(X)).max()) < 1e-6
    True
    """
    check_is_fitted(model)
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    last, steps, targets = model, [], []
    while isinstance(last, Pipeline | TransformedTargetRegressor):
        if isinstance(last, Pipeline):
            steps += last.steps[:-1]
            last = last.steps[-1][1]
        else:
            check_target(last.transformer_)
            targets.append(last)
            last = last.regressor_
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
    return _finish(g, declared(g, inputs), outputs, path)


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


def _finish(g: Graph, inputs: list[Any], outputs: list[Output], path: Any) -> Any:
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
    if path is not None:
        Path(path).write_bytes(made.SerializeToString())
    return made
