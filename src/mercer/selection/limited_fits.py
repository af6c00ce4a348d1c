"""Fits inside a search that has a limit: each is given the seconds that are left."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from mercer.selection.parameter_grids import prefix
from mercer.solvers import Limits

REFIT_SHARE = 0.2  # of a search's seconds, kept back for the fit of the chosen setting
SHORTEST = 1e-6  # seconds: a limit must be positive


def fit_within(limits: Limits, model: Any, *data: Any, **params: Any) -> bool:
    """Fit an estimator, or a pipeline, in the seconds that are left; return whether it ended by itself.

    Parameters
    ----------
    limits : Limits
        Of the search.
    model : estimator
        Its own ``time_limit``, or that of its last step, counts if it is shorter, and stays what it is. An
        estimator without such a parameter takes as long as it takes.
    *data, **params
        What ``fit`` is given.
    """
    name = f"{prefix(model)}time_limit"
    own = model.get_params().get(name, limits)  # whatever is not a limit says that there is no parameter
    left = limits.left()
    if left is None or own is limits or (own is not None and own <= left):
        model.fit(*data, **params)
        return True
    model.set_params(**{name: max(left, SHORTEST)})
    try:
        with warnings.catch_warnings():
            # Whoever asks learns of it from the result, and the user from the search's own warning.
            warnings.filterwarnings("ignore", "(?s).*time_limit", ConvergenceWarning)
            model.fit(*data, **params)
    finally:
        model.set_params(**{name: own})
    return _status(model) != "time_limit"


def _status(model: Any) -> str:
    """Return how the fit of an estimator, or of a pipeline's last step, ended; "" where it does not say."""
    last = model.steps[-1][1] if prefix(model) else model
    certificate = getattr(last, "certificate_", None)
    return str(getattr(last, "status_", "") if certificate is None else certificate.status)
