"""scikit-learn's look at the data, without NumPy's words about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data


def validated(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Return checked data, as ``validate_data`` does; what overflows is the sum by which it finds nan.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose number and names of features are kept or compared.
    X, y
        The data.
    **options
        Of ``sklearn.utils.validation.validate_data``.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return validate_data(estimator, X, y, **options)
