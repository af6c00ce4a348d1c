"""What an estimator says of itself when features may stand for its kernel."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mercer.arrays import Float64
from mercer.problems.linear_risk import LinearRisk

APPROXIMATION: dict[str, list[Any]] = {
    "approximation": [StrOptions({"nystroem", "features"}), HasMethods(["fit", "transform"]), None],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
}


class ApproximationMixin:
    """An estimator that takes ``approximation`` and ``n_components``.

    It states the problem on features in ``_on_features``; the rest has defaults.

    Parameters
    ----------
    approximation : None, "nystroem", "features" or a transformer, default=None
        Explicit features that stand for the kernel, for very many rows: from landmarks
        (:class:`Nystroem`), random ones (:class:`RandomFeatures`), or an unfitted map, which takes this
        machine's kernel where it is one of ours. ``tol`` is then a relative gap, and
        ``distance_from_exact_`` tells what the approximation costs.
    n_components : int or "auto", default="auto"
        Number of features. "auto" doubles 100 until a fit on 5000 rows is within 1 % of its exact optimum,
        up to 3200; a given map keeps its own.
    """

    intercept_: Any
    kernel_: Any

    @property
    def _exact_kernel(self) -> Any:
        """The fitted kernel that features stand for."""
        return self.kernel_

    def _trial_parameters(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Return parameters of fits on some rows that find out how many features are enough."""
        return {}

    def _on_features(self, target: Any, weight: Any, features: Any) -> LinearRisk:
        """Return what is minimised over the weights of features, for one part of the target."""
        raise NotImplementedError

    def _feature_risk(self, loss: Any, target: Any, price: Any, features: Any) -> LinearRisk:
        this: Any = self
        return LinearRisk(features, loss, target, price, bias_scale=math.inf if this.fit_intercept else 0.0)

    def _check_approximation(self) -> None:
        """Refuse parameters that features do not go with; called before the data are looked at."""

    def _keep_on_features(self, machines: list[Any], split: Any) -> None:
        """Store what the machines know beside their weights and biases."""
        this: Any = self
        this._keep(machines, split)

    def _keep_biases(self, biases: Float64, split: Any) -> None:
        """Store the biases of the functions."""
        self.intercept_ = biases

    def _biases(self) -> Float64:
        """Return what was stored."""
        return np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))

    def _price_of_loss(self) -> float:
        """Return what multipliers are proportional to, for a warm start at another price."""
        return float(getattr(self, "C", 1.0))

    def _objective_scale(self) -> float:
        """Return the estimator's objective in units of 1/2 ||w||^2 + losses."""
        return 1.0
