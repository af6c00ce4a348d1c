"""What machines hold whose kernel explicit features stand for, in the language of `fitted_shapes`."""

from __future__ import annotations

from mercer.io.model.record_shapes import Shapes

# What only exact machines have, and what those have instead whose kernel features stand for (u functions).
_OF_SUPPORT = {"support_", "support_vectors_", "_n_support", "X_fit_"}
_ON_FEATURES: Shapes = {
    "feature_map_": "estimator!",
    "feature_weights_": "float[u,*]!",
    "intercept_": "float | float[u] !",
    "dual_coef_": "float[u,n]",
    "margin_": "number | number[u]",
    "n_components_": "int",
    "distance_from_exact_": "@mercer.problems:DistanceFromExact | none",
    "_feature_price": "float",
    "log_marginal_likelihood_bounds_": "list(number)[2] | none",
    "_white": "float",
}


def shapes_on_features(exact: Shapes) -> Shapes:
    """Return the table of an estimator that was fitted with ``approximation``."""
    kept = {name: shape for name, shape in exact.items() if name not in _OF_SUPPORT}
    if "_posterior" in exact:  # a process has no bias
        return {
            **kept,
            **{name: shape for name, shape in _ON_FEATURES.items() if name != "intercept_"},
            "_posterior": "@mercer.solvers.gaussian.on_features:FeaturePosterior !",
        }
    return {**kept, **_ON_FEATURES}
