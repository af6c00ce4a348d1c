"""What the fitted attributes of each estimator look like: kinds, lengths that fit together, ranges.

An entry reads ``kind[lengths] < bound``, with ``|`` between alternatives and a final ``!`` where prediction
needs the attribute. Lengths are numbers or names: whatever bears the same name within one estimator must have
the same length. n is the number of training rows, d of features, k of classes, m of support vectors.

========== ===============================================================================================
float      finite numbers in double or single precision: without lengths one number, else an array
number     the same, with nan and infinity allowed
int        whole numbers from 0 on
points     data: an array, a sparse matrix, or a sequence of anything
labels     the names of classes, each once
array      any array
kernel     a kernel whose parameters are known
value      a loss, or another object that is its parameters
estimator  another estimator, which is looked at by itself
flag, word True or False; text
dtype      a type of NumPy's
none       None
any        whatever it is, no prediction depends on it
list(x)    a list or tuple of x, as many as the length says
@name      an object with the fields listed in RECORDS under its name in files
========== ===============================================================================================
"""

from __future__ import annotations

Shapes = dict[str, str]

_KERNEL: Shapes = {"kernel_": "kernel!", "_gamma": "any", "shape_fit_": "list(int)[*] !"}
_FITTED: Shapes = {
    "certificate_": "@mercer.problems:Certificate",
    "status_": "word | list(word)[*]",
    "fit_status_": "int",
    "n_iter_": "int | int[*]",
    "condition_": "number | number[*]",
    "history_": "any",
    "_notes": "any",
}
_CLASSES: Shapes = {"classes_": "labels[k]!", "class_weight_": "float[k]", "priors_": "float[k]"}
_MACHINE: Shapes = {
    **_FITTED,
    **_KERNEL,
    "support_": "int[m] < n !",
    "dual_coef_": "float[r,m]!",
    "intercept_": "float[q]!",
    "support_vectors_": "points[m,d]!",
    "loss_": "value | none",
    "kkt_violation_": "number",
    "outside_fraction_": "number",
    "support_fraction_": "number | number[*]",
    "import_objectives_": "any",
}
_CLASSIFIER: Shapes = {
    **_CLASSES,
    **_MACHINE,
    "_n_support": "int[k]!",
    "margin_": "number | number[q]",
    "nu_": "number | number[q]",
    "rho_": "number | number[q]",
    "margin_error_fraction_": "number | number[q]",
    "link_knots_": "float[q,2,p] | none",
    "link_slopes_": "float[q,2,p] | none",
}
_REGRESSOR: Shapes = {**_MACHINE, "epsilon_": "float", "_flat": "flag"}
_BALL: Shapes = {
    **_MACHINE,
    "offset_": "float!",
    "_squared_radius": "float!",
    "center_squared_norm_": "float!",
    "radius_": "float",
    "slack_sum_": "number",
    "_rows": "int",
    "_mean_slack": "number",
    "_training_diagonal": "float[n] | none",
}
_ONLINE: Shapes = {
    **_FITTED,
    **_KERNEL,
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
_RIDGE: Shapes = {
    **_FITTED,
    **_KERNEL,
    "_flat": "flag!",
    "dual_coef_": "float[n] | float[n,o] !",
    "X_fit_": "points[n,d]!",
    "intercept_": "float | float[o] !",
    "alpha_": "float | float[*]",
    "alphas_": "float[*] | float[*,*]",
    "loo_errors_": "number[*,*]",
    "solver_": "word",
    "_known": "none",
}
_PROJECTION: Shapes = {
    **_FITTED,
    **_KERNEL,
    "_n_features_out": "int",
    "explained_variance_ratio_": "number[c]",
}
_DISCRIMINANT: Shapes = {
    **_FITTED,
    **_CLASSES,
    "priors_": "float[k]!",
    "means_": "float[k,d]",
    "xbar_": "float[d]!",
    "explained_variance_ratio_": "number[c]",
    "covariance_": "number[d,d] | list(number[d,d])[k] | none",
    "_n_features_out": "int",
}
_LINEAR: Shapes = {
    **_DISCRIMINANT,
    "scalings_": "float[d,c]!",
    "centroids_": "float[k,c]",
    "coef_": "float[r,d]!",
    "_offset": "float[r]!",
    "intercept_": "float[r]",
    "smallest_eigenvalue_": "number",
    "cut_": "number",
}
_QUADRATIC: Shapes = {
    **_FITTED,
    **_CLASSES,
    "priors_": "float[k]!",
    "means_": "float[k,d]",
    "_spectra": "@mercer.estimators.discriminant._class_spectra:ClassSpectra !",
    "scalings_": "list(float[*])[k]",
    "rotations_": "list(float[d,*])[k]",
    "covariance_": "list(number[d,d])[k] | number[k,d,d] | none",
    "cv_results_": "any",
}
_SEARCH: Shapes = {
    **_FITTED,
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
}

ESTIMATORS: dict[str, Shapes] = {
    "SVC": _CLASSIFIER,
    "NuSVC": _CLASSIFIER,
    "KernelClassifier": _CLASSIFIER,
    "KernelLogisticRegression": _CLASSIFIER,
    "SVCPath": {
        **_CLASSIFIER,
        "_data": "points[n,d]!",
        "_labels": "int[n] < k !",
        "_tasks": "list(@mercer.problems.multiclass:Task)[q] !",
        "paths_": "list(@mercer.solvers.knots:Path)[q] !",
    },
    "SVR": _REGRESSOR,
    "NuSVR": _REGRESSOR,
    "KernelRegressor": _REGRESSOR,
    "SVRPath": {
        **_REGRESSOR,
        "_data": "points[n,d]!",
        "_there": "int[w] < n !",
        "_n": "int",
        "paths_": "list(@mercer.solvers.knots:Path)[1] !",
    },
    "OneClassSVM": {**_MACHINE, "offset_": "float[1] | float !"},
    "SVDD": _BALL,
    "SphereAndSlab": {
        **_BALL,
        "_slab_points": "points[l,d]!",
        "_slab_offsets": "float[c]!",
        "_slab_coef": "float[l,c+1]!",
        "_mean_squared_norm": "float!",
        "_squared_width": "float!",
        "width_": "float",
        "n_components_": "int",
        "explained_variance_": "number[c]",
    },
    "KernelRidge": _RIDGE,
    "KernelRidgeClassifier": {**_RIDGE, **_CLASSES},
    "GaussianProcessRegressor": {
        **_FITTED,
        **_KERNEL,
        "_flat": "flag!",
        "dual_coef_": "float[n] | float[n,o] !",
        "X_fit_": "points[n,d]!",
        "_Y": "float[n,o]!",
        "_y_mean": "float[o]!",
        "_y_std": "float[o]!",
        "_posterior": "@mercer.solvers.posterior:ExactPosterior | none !",
        "_tuned": "@mercer.kernels.tuning:Tuning",
        "_seed": "int!",
        "_noise_limits": "list(float)[2] | none",
        "noise_": "float | float[n] !",
        "theta_": "float[*]",
        "hyperparameters_": "list(word)[*]",
        "log_marginal_likelihood_value_": "number",
        "log_marginal_likelihood_error_": "number",
        "quadratic_bounds_": "list(number)[2]",
    },
    "KernelAdatron": {**_ONLINE, **_CLASSES},
    "KernelPerceptron": {**_ONLINE, **_CLASSES},
    "KernelWidrowHoff": _ONLINE,
    "OnlineSVR": _ONLINE,
    "Perceptron": {
        **{name: shape for name, shape in _ONLINE.items() if "[m" not in shape and ",m]" not in shape},
        **_CLASSES,
        "coef_": "float[r,d]!",
        "kernel_": "kernel",
    },
    "KernelPCA": {
        **_PROJECTION,
        "_n_features_out": "int!",
        "X_fit_": "points[n,d]!",
        "_coef": "float[n,c]!",
        "_shift": "float[c]!",
        "_components": "@mercer.problems.components:Components !",
        "_squares": "float[n]!",
        "_map": "@mercer.problems.preimage:LearnedMap | none !",
        "eigenvalues_": "float[c]",
        "eigenvectors_": "float[n,c]",
        "explained_variance_": "number[c]",
        "reconstruction_error_": "number",
        "residual_": "number",
    },
    "KernelCCA": {
        **_PROJECTION,
        "kernel_y_": "kernel!",
        "_second_shape": "list(int)[*]",
        "ridge_": "list(number)[2]",
        "ridge_results_": "any",
        "_kept_x": "points[l,d]!",
        "_kept_y": "points[h,*]!",
        "dual_coef_x_": "float[l,c]!",
        "dual_coef_y_": "float[h,c]!",
        "_shifts": "list(float[c])[2] !",
        "landmarks_x_": "int[l] < n | none",
        "landmarks_y_": "int[h] < n | none",
        "regularized_correlations_": "number[c]",
        "correlations_": "number[c]",
    },
    "KernelFisherDiscriminant": {
        **_PROJECTION,
        **_CLASSES,
        "priors_": "float[k]!",
        "ridge_": "number",
        "ridge_results_": "any",
        "_kept_x": "points[l,d]!",
        "dual_coef_": "float[l,c]!",
        "_shift": "float[c]!",
        "landmarks_": "int[l] < n | none",
        "centroids_": "float[k,c]!",
        "squared_correlations_": "number[c]",
    },
    "LinearDiscriminantAnalysis": _LINEAR,
    "PenalizedDiscriminantAnalysis": _LINEAR,
    "MixtureDiscriminantAnalysis": {
        **_DISCRIMINANT,
        "scalings_": "float[d,c]!",
        "centroids_": "float[s,c]!",
        "subclass_owner_": "int[s] < k !",
        "subclass_weights_": "float[s]!",
        "subclass_means_": "float[s,d]",
        "n_subclasses_": "int[k]",
        "log_likelihood_history_": "number[*]",
        "log_likelihood_": "number",
        "converged_": "flag",
    },
    "FlexibleDiscriminantAnalysis": {
        **_FITTED,
        **_CLASSES,
        "priors_": "float[k]!",
        "regressor_": "estimator!",
        "scores_": "float[k,*]",
        "_center": "float[o]!",
        "_to_variates": "float[o,c]!",
        "centroids_": "float[k,c]!",
        "squared_correlations_": "number[c]",
        "explained_variance_ratio_": "number[c]",
        "_n_features_out": "int",
    },
    "QuadraticDiscriminantAnalysis": _QUADRATIC,
    "RegularizedDiscriminantAnalysis": {**_QUADRATIC, "alpha_": "float!", "gamma_": "float!"},
    "SVCSearch": _SEARCH,
    "SVRSearch": _SEARCH,
    "DetectorSearch": _SEARCH,
}

# The fields of what estimators keep, under the names that files have for them.
RECORDS: dict[str, Shapes] = {
    "mercer.problems:Certificate": {
        "primal": "number",
        "dual": "number",
        "gap": "number",
        "relative_gap": "number",
        "kkt_violation": "number",
        "n_iter": "int",
        "status": "word",
        "criterion": "word",
        "parts": "list(@mercer.problems:Certificate)[*]",
        "rounding": "number",
    },
    "mercer.problems.components:Components": {
        "values": "float[c]!",
        "vectors": "float[n,c]!",
        "means": "float[n]!",
        "mean": "float!",
        "trace": "float!",
    },
    "mercer.problems.preimage:LearnedMap": {
        "Z": "float[z,c]!",
        "dual": "float[z,d]!",
        "mean": "float[d]!",
        "width": "float!",
    },
    "mercer.estimators.discriminant._class_spectra:ClassSpectra": {
        "sphering": "@mercer.estimators.discriminant._sphering:Sphering !",
        "center": "float[d]!",
        "centroids": "float[k,e]!",
        "values": "float[k,e]!",
        "vectors": "float[k,e,e]!",
    },
    "mercer.estimators.discriminant._sphering:Sphering": {
        "forward": "float[d,e]!",
        "backward": "float[e,d]!",
        "log_det": "float!",
    },
    "mercer.problems.multiclass:Task": {
        "rows": "int[w] < n !",
        "sign": "float[w]!",
        "positive": "int!",
        "negative": "any",
    },
    "mercer.solvers.knots:Path": {
        "t": "float[e]!",
        "a": "float[e,w]!",
        "products": "float[e,w]!",
        "event_t": "float[v]!",
        "event_kind": "int[v]!",
        "event_index": "any",
        "status": "word!",
        "family": "@mercer.problems.path:Family !",
        "largest": "float!",
    },
    "mercer.problems.path:Family": {
        "rests": "number[w,g+1]!",
        "slopes": "number[w,g]!",
        "bias": "flag!",
        "level": "float!",
        "tilt": "float!",
        "dual": "any",
    },
    "mercer.solvers.posterior:ExactPosterior": {"system": "@mercer.solvers.factored:Factored !"},
    "mercer.solvers.factored:Factored": {
        "_diag": "float[n]!",
        "_S": "number[n,n]!",
        "condition": "number",
    },
    "mercer.kernels:Centered": {
        "_training": "points[g,d]!",
        "_weights": "float[g]!",
        "_training_means": "float[g]!",
        "_mean": "float!",
        "_known": "none",
    },
    "mercer.kernels.tuning:Tuning": {
        "kernel": "kernel!",
        "names": "list(word)[j] !",
        "start": "any",
        "limits": "any",
    },
}
