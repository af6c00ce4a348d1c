"""What the fitted attributes of scikit-learn's estimators look like, as in `fitted_shapes`."""

from __future__ import annotations

from mercer.io.model.record_shapes import Shapes

_LINES: Shapes = {"coef_": "float[d] | float[o,d] !", "intercept_": "float | float[o] !"}

SKLEARN_SHAPES: dict[str, Shapes] = {
    "StandardScaler": {
        "mean_": "number[d] | none !",
        "var_": "number[d] | none",
        "scale_": "number[d] | none !",
    },
    "MinMaxScaler": {
        "min_": "number[d]!",
        "scale_": "number[d]!",
        "data_min_": "number[d]",
        "data_max_": "number[d]",
        "data_range_": "number[d]",
    },
    "MaxAbsScaler": {"scale_": "number[d]!", "max_abs_": "number[d]"},
    "RobustScaler": {"center_": "number[d] | none !", "scale_": "number[d] | none !"},
    "PowerTransformer": {"lambdas_": "number[d]!", "_scaler": "estimator"},
    "QuantileTransformer": {"references_": "number[j]!", "quantiles_": "number[j,d]!"},
    "KBinsDiscretizer": {"n_bins_": "int[d]!", "bin_edges_": "array[d]!", "_encoder": "estimator"},
    "SimpleImputer": {
        "statistics_": "array[d]!",
        "indicator_": "estimator | none",
        "_fit_dtype": "dtype | none",
        "_fill_dtype": "dtype | none",
    },
    "MissingIndicator": {"_n_features": "int!", "_precomputed": "flag!", "features_": "int[*] < d !"},
    "OneHotEncoder": {
        "categories_": "list(array[*])[d] !",
        "drop_idx_": "array[d] | none",
        "_drop_idx_after_grouping": "array[d] | none",
        "_n_features_outs": "list(int)[d]",
        "_infrequent_enabled": "flag",
    },
    "OrdinalEncoder": {"categories_": "list(array[*])[d] !"},
    "TargetEncoder": {"categories_": "list(array[*])[d] !", "encodings_": "list(number[*])[*] !"},
    "PCA": {
        "components_": "float[c,d]!",
        "mean_": "float[d]!",
        "explained_variance_": "number[c]!",
        "explained_variance_ratio_": "number[c]",
        "singular_values_": "number[c]",
        "noise_variance_": "number",
    },
    "TruncatedSVD": {"components_": "float[c,d]!"},
    "VarianceThreshold": {"variances_": "number[d]!"},
    "Nystroem": {
        "components_": "points[c,d]!",
        "normalization_": "float[c,c]!",
        "component_indices_": "int[c]",
    },
    "RBFSampler": {"random_weights_": "float[d,c]!", "random_offset_": "float[c]!"},
    "KernelCenterer": {"K_fit_rows_": "float[*]!", "K_fit_all_": "float!"},
    "LabelEncoder": {"classes_": "array[*]!"},
    "LabelBinarizer": {"classes_": "array[*]!"},
    "LinearRegression": _LINES,
    "Ridge": _LINES,
    "LogisticRegression": {"classes_": "labels[k]!", "coef_": "float[r,d]!", "intercept_": "float[r]!"},
    "KernelRidge": {"X_fit_": "points[n,d]!", "dual_coef_": "float[n] | float[n,o] !"},
    "IsotonicRegression": {"X_thresholds_": "float[j]!", "y_thresholds_": "float[j]!"},
}
