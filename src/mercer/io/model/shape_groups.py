"""Attributes that several estimators share, in the language of ``fitted_shapes``."""

from __future__ import annotations

from mercer.io.model.record_shapes import Shapes

PROCESS = "@mercer.solvers.posterior:ExactPosterior | @mercer.solvers.gaussian.kriging:KrigingPosterior"
KERNEL: Shapes = {
    "kernel_": "kernel!",
    "kernel_weights_": "float[*]",
    "_gamma": "any",
    "shape_fit_": "list(int)[*] !",
}
FITTED: Shapes = {
    "certificate_": "@mercer.problems:Certificate",
    "status_": "word | list(word)[*]",
    "fit_status_": "int",
    "n_iter_": "int | int[*]",
    "condition_": "number | number[*]",
    "history_": "any",
    "_notes": "any",
}
UPDATABLE: Shapes = {"X_fit_": "points[n,d]", "y_fit_": "array[n]", "sample_weight_fit_": "float[n]"}
CLASSES: Shapes = {"classes_": "labels[k]!", "class_weight_": "float[k]", "priors_": "float[k]"}
MACHINE: Shapes = {
    **FITTED,
    **KERNEL,
    "support_": "int[m] < n !",
    "dual_coef_": "float[r,m]!",
    "intercept_": "float[q]!",
    "parametric_": "value | none",
    "parametric_coef_": "float[q,*]",
    "support_vectors_": "points[m,d]!",
    "_items_fit": "points[n,d]",
    "loss_": "value | none",
    "kkt_violation_": "number",
    "outside_fraction_": "number",
    "support_fraction_": "number | number[*]",
    "import_objectives_": "any",
    **UPDATABLE,
}
CLASSIFIER: Shapes = {
    **CLASSES,
    **MACHINE,
    "_n_support": "int[k]!",
    "margin_": "number | number[q]",
    "nu_": "number | number[q]",
    "rho_": "number | number[q]",
    "margin_error_fraction_": "number | number[q]",
    "link_knots_": "float[q,2,p] | none",
    "link_slopes_": "float[q,2,p] | none",
}
ORDINAL: Shapes = {
    **MACHINE,
    "classes_": "labels[t+1]!",
    "class_weight_": "float[t+1]",
    "dual_coef_": "float[t,m]!",
    "intercept_": "float[t]!",
    "thresholds_": "float[t]",
    "_n_support": "int[t+1]",
    "margin_": "number",
}
REGRESSOR: Shapes = {**MACHINE, "epsilon_": "float", "scale_": "float", "_flat": "flag"}
BALL: Shapes = {
    **MACHINE,
    "offset_": "float!",
    "_squared_radius": "float!",
    "center_squared_norm_": "float!",
    "radius_": "float",
    "slack_sum_": "number",
    "_rows": "int",
    "_mean_slack": "number",
    "_training_diagonal": "float[n] | none",
}
ONLINE: Shapes = {
    **FITTED,
    **KERNEL,
    "support_": "int[m] < n !",
    "entered_": "int[m]",
    "dual_coef_": "float[r,m]!",
    "intercept_": "float[r]!",
    "support_vectors_": "points[m,d]!",
    "n_updates_": "int[r]",
    "loss_curve_": "number[*,3]",
    "loss_": "number",
    "t_": "int",
    "mistakes_": "int",
    "radius_": "number",
    "margin_": "number | number[r]",
}
RIDGE: Shapes = {
    **FITTED,
    **KERNEL,
    "_flat": "flag!",
    "dual_coef_": "float[n] | float[n,o] !",
    "X_fit_": "points[n,d]!",
    "y_fit_": "float[n] | float[n,*]",
    "sample_weight_fit_": "float[n]",
    "intercept_": "float | float[o] !",
    "parametric_": "value | none",
    "parametric_coef_": "float[*,*]",
    "alpha_": "float | float[*]",
    "alphas_": "float[*] | float[*,*]",
    "loo_errors_": "number[*] | number[*,*]",
    "solver_": "word",
    "_known": "none",
}
PROJECTION: Shapes = {
    **FITTED,
    **KERNEL,
    "_n_features_out": "int",
    "explained_variance_ratio_": "number[c]",
}
DISCRIMINANT: Shapes = {
    **FITTED,
    **CLASSES,
    "priors_": "float[k]!",
    "means_": "float[k,d]",
    "xbar_": "float[d]!",
    "explained_variance_ratio_": "number[c]",
    "covariance_": "number[d,d] | list(number[d,d])[k] | none",
    "_n_features_out": "int",
}
LINEAR: Shapes = {
    **DISCRIMINANT,
    "scalings_": "float[d,c]!",
    "centroids_": "float[k,c]",
    "coef_": "float[r,d]!",
    "_offset": "float[r]!",
    "intercept_": "float[r]",
    "smallest_eigenvalue_": "number",
    "cut_": "number",
}
QUADRATIC: Shapes = {
    **FITTED,
    **CLASSES,
    "priors_": "float[k]!",
    "means_": "float[k,d]",
    "_spectra": "@mercer.estimators.discriminant._class_spectra:ClassSpectra !",
    "scalings_": "list(float[*])[k]",
    "rotations_": "list(float[d,*])[k]",
    "covariance_": "list(number[d,d])[k] | number[k,d,d] | none",
    "cv_results_": "any",
}
WEIGHTS: Shapes = {
    **FITTED,
    **KERNEL,
    "kernel_": "kernel",
    "coef_": "float[r,d]!",
    "intercept_": "float[r]!",
    "dual_coef_": "float[r,n]",
    "loss_": "value",
    "_price": "float",
}
ONE_WEIGHT: Shapes = {
    **WEIGHTS,
    "coef_": "float[d]!",
    "intercept_": "float[1]!",
    "dual_coef_": "float[1,n]",
}
SEARCH: Shapes = {
    **FITTED,
    "best_estimator_": "estimator!",
    "best_index_": "int",
    "best_candidate_index_": "int",
    "one_standard_error_index_": "int",
    "n_splits_": "int",
    "best_score_": "number",
    "refit_time_": "number",
    "cv_results_": "any",
    "best_params_": "any",
    "one_standard_error_params_": "any",
    "scorer_": "any",
    "scoring_": "any",
}
CONFORMAL: Shapes = {
    "estimator_": "estimator!",
    "scores_": "number[c]!",
    "folds_": "array[n]!",
    "_train": "int[*] < n",
    "left_out_": "list(list(estimator)[*])[*]",
    "left_out_coef_": "list(float[g,n])[*]",
    "left_out_intercept_": "list(float[g])[*]",
    "X_fit_": "points[*,*]",
}
