"""Models for programs that run ONNX."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


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
    # Much of scikit-learn is needed to know its transformers: too much for those who only open a file.
    from mercer.io.onnx.model import onnx_model

    made = onnx_model(model)
    if path is not None:
        Path(path).write_bytes(made.SerializeToString())
    return made
