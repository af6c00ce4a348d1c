"""Novikoff's bound of a fitted perceptron, from the hard margin machines of its two-class problems."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.svm.svc import SVC
from mercer.kernels import Linear
from mercer.problems import InfeasibleError
from mercer.problems.online import novikoff


def most_updates(model: Any, X: Any, y: ArrayLike) -> Any:
    """Return the bound of each machine of a perceptron on these examples.

    Parameters
    ----------
    model : Perceptron or KernelPerceptron
        Fitted.
    X, y
        Examples and their classes.
    """
    check_is_fitted(model)
    signs = model._signs(model._known_labels(y))
    kernel = getattr(model, "kernel_", Linear())
    diagonal = kernel.diag(X)
    radius = float(np.sqrt(diagonal.max()))
    bounds = np.full(signs.shape[1], np.inf)
    for o, sign in enumerate(signs.T):
        machine = SVC(
            C=np.inf, kernel=kernel, fit_intercept=model.fit_intercept, precision="double", tol=1e-6
        )
        try:
            machine.fit(X, sign)
        except InfeasibleError:
            continue
        # The margin that the points have, not the one of the exact optimum: the bound must hold.
        least = float((sign * machine.decision_function(X)).min())
        if least > 0.0:
            bias = float(machine.intercept_[0]) * machine.margin_ / least if model.fit_intercept else None
            bounds[o] = novikoff(radius=radius, margin=machine.margin_, bias=bias, coordinate=model.radius_)
    return float(bounds[0]) if bounds.size == 1 else bounds
