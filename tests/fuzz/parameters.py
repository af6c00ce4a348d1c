"""Parameters of estimators: the usual values, the extremes, and now and then one that is wrong."""

import functools
from numbers import Integral

from hypothesis import strategies as st
from sklearn.utils._param_validation import Interval, StrOptions

from . import discovery
from .code import Code
from .data import usually

SIZES = usually([1.0, 0.1, 10.0, 1e-3, 100.0], [1e-300, 1e-100, 1e-10, 1e4, 1e6, 1e8, 1e12, 1e100, 1e300])
WRONG = [-1.0, float("nan"), "nonsense", None, -1, [], 2.5, float("inf"), True, {}]

ANYWHERE = {
    "C": SIZES | usually([1.0], [float("inf")]),
    "nu": usually([0.5, 0.1, 0.3], [0.005, 1.0, 0.99, 1e-9, 0.0]),
    "epsilon": usually([0.1, 0.0, 1.0], [1e-12, 1e6, 1e300]),
    "gamma": usually(["scale", "auto", 1.0, 0.1], [0.0, 1e-300, 1e-12, 1e-4, 1e4, 1e11, 1e100, 1e300]),
    "degree": usually([3, 2, 1], [0, 5, 2.5, 10, 50]),
    "coef0": usually([0.0, 1.0], [-1.0, 1e6, 1e-6, -1e10]),
    "tol": usually([1e-3, 1e-6, 1e-1], [1e-10, 1e-14, 1e-300, 0.9, 10.0]),
    "alpha": SIZES,
    "noise": SIZES,
    "ridge": usually([1e-3, 0.1], [1e-12, 1e-300, 1e6, 1e300]),
    "max_iter": usually([-1], [0, 1, 3, 100]),
    "time_limit": usually([None], [1e-9, 0.02, 0.3]),
    "cache_size": usually([200], [1e-6, 0.01, 1]),
    "n_jobs": usually([1], [None, 2]),
    "criterion": st.sampled_from(["kkt", "gap"]),
    "class_weight": usually([None, "balanced"], [{0: 1.0, 1: 1e6}, {0: 0.0}]),
    "random_state": st.integers(0, 3),
    "n_components": usually([1, 2], [None, 3, 100]),
    "import_vectors": usually([None], ["auto", 1, 3]),
    "budget": usually([None], [1, 3]),
    "radius": usually([None], [1e-3, 1.0, 1e9]),
    "learning_rate": usually([1.0, 0.1], [1e-9, 1.9]),
    "optimizer": usually([None], ["lbfgs"]),
    "n_restarts_optimizer": usually([0], [1]),
    "n_probes": usually([16], [1, 2]),
    "preconditioner_rank": usually([None], [0, 1, 5]),
    "max_rank": usually([500], [1, 3]),
    "rank_tol": usually([1e-6], [1e-15, 0.5]),
    "C_min": usually([0.0], [1e-8, 0.5]),
    "C_max": usually([1e4, 10.0], [1e-6, 1e10]),
    "penalty": st.sampled_from(["ridge", "smooth"]),
    "n_subclasses": usually([3, 1], [2, 10]),
    "covariance_floor": usually([1e-6], [1e-15, 0.1]),
    "cv": usually([None, 2], [3]),
    "delta": usually([0.05], [1e-9, 0.5]),
}
# Named so, but of another kind than elsewhere; and what is slow, prints, or waits for a person.
OF = {
    ("LinearDiscriminantAnalysis", "method"): st.sampled_from(["gaussian", "least_squares"]),
    ("RegularizedDiscriminantAnalysis", "alpha"): usually([0.5, 0.0, 1.0], [1e-12, "cv"]),
    ("RegularizedDiscriminantAnalysis", "gamma"): usually([1.0, 0.5, 0.0], [1e-12, "cv"]),
    ("SVDD", "C"): usually([None], [0.5, 1.0, 1e-3, 1e6, float("inf")]),
    ("MixtureDiscriminantAnalysis", "max_iter"): usually([100], [1]),
    ("KernelRidge", "alpha"): SIZES | st.just("loo"),
    ("KernelRidgeClassifier", "alpha"): SIZES | st.just("loo"),
    ("KernelCCA", "ridge"): usually([0.01, 0.1], [1e-12, 0.99]),
    ("KernelCCA", "n_permutations"): st.sampled_from([2, 3]),
    ("KernelPCA", "tol"): usually([0.0], [1e-6]),
    ("KernelPCA", "max_iter"): usually([None], [1, 100]),
}
LEFT_ALONE = {
    "verbose", "trace", "on_interrupt", "warm_start", "shrinking", "kernel", "kernel_y", "scoring",
    "estimator", "priors", "regressor", "bounds", "param_grid", "alphas", "ridges", "gammas", "cv_object",
    "tolerance", "refit", "store_covariance", "verbosity",
}  # fmt: skip
KERNELS_BY_NAME = [
    "rbf",
    "linear",
    "poly",
    "sigmoid",
    "laplacian",
    "matern",
    "rational_quadratic",
    "anova",
    "spline",
]
FOR_HISTOGRAMS = ["chi2", "additive_chi2", "histogram_intersection"]
KERNELS_AS_OBJECTS = [
    Code(f"mercer.kernels.{text}")
    for text in (
        "RBF(0.5)", "Linear()", "Polynomial(degree=2, gamma=1.0, coef0=1.0)",
        "RBF(gamma='scale').normalized()", "Linear().normalized()",
        "Linear().centered()", "RBF(1e-3).centered()", "RBF(2.0).on([0])",
        "Matern(length_scale=1.0, nu=1.5)", "Matern(length_scale=1e-3, nu=0.5)",
        "Sigmoid(gamma=1.0, coef0=-1.0)", "Laplacian(1e4)", "RationalQuadratic()",
    )
] + [
    Code("mercer.kernels.RBF(0.5) + mercer.kernels.Linear()"),
    Code("mercer.kernels.RBF(0.5) * mercer.kernels.Linear()"),
    Code("1e8 * mercer.kernels.RBF(0.5)"),
    Code("1e-8 * mercer.kernels.Linear()"),
    Code("mercer.kernels.Linear() ** 2"),
]  # fmt: skip
KERNELS_OF_ITEMS = [Code("items.shared_pairs"), Code("items.shared_letters"), Code("items.length_gap")]
LOSSES = {
    "classifier": [Code("mercer.losses.HuberizedSquaredHinge()"), Code("mercer.losses.SquaredHinge()")],
    "regressor": [
        Code("mercer.losses.Huber(threshold=0.7)"), Code("mercer.losses.Huber(threshold=1e-9)"),
        Code("mercer.losses.EpsilonInsensitive(epsilon=0.3)"), Code("mercer.losses.Pinball(quantile=0.01)"),
        Code("mercer.losses.SquaredEpsilonInsensitive(epsilon=0.0)"),
    ],
}  # fmt: skip


def _from_constraints(rules):
    """Return a strategy of what scikit-learn's validation lets through, or None if it says too little."""
    choices = []
    for rule in rules:
        if isinstance(rule, StrOptions):
            choices += sorted(rule.options)
        elif rule == "boolean":
            choices += [False, True]
        elif isinstance(rule, Interval):
            whole = rule.type is Integral
            low = 0 if rule.left is None else rule.left
            high = low + 10 if rule.right is None else rule.right
            some = [low, high, (low + high) // 2 if whole else (low + high) / 2]
            choices += [int(v) if whole else float(v) for v in some if v in rule]
        elif rule is None:
            choices.append(None)
    return st.sampled_from(choices) if choices else None


@functools.cache
def strategy_for(name, key):
    """Return the strategy of one parameter of one estimator, or None if it is left at its default."""
    if key in LEFT_ALONE:
        return None
    if (name, key) in OF:
        return OF[name, key]
    rules = discovery.constraints(name).get(key)
    words = [rule for rule in rules or [] if isinstance(rule, StrOptions)]
    if key == "loss" and words:
        return st.sampled_from(
            sorted(words[0].options) + (LOSSES[discovery.role(name)] if len(rules) > 1 else [])
        )
    if key == "max_iter" and discovery.parameters(name)[key] != -1:
        return usually([discovery.parameters(name)[key]], [1, 3])
    if key in ANYWHERE:
        return ANYWHERE[key]
    return None if rules is None else _from_constraints(rules)


@st.composite
def kernels(draw, name, kind):
    """Return the parameters that choose a kernel for this kind of data."""
    if "kernel" not in discovery.parameters(name) or kind == "matrix":
        return {} if kind == "vectors" else {"kernel": "precomputed"}
    if kind == "strings":
        second = {"kernel_y": "rbf"} if "kernel_y" in discovery.parameters(name) else {}
        return {"kernel": draw(st.sampled_from(KERNELS_OF_ITEMS)), **second}
    if draw(st.integers(0, 3)) == 3:
        return {"kernel": draw(st.sampled_from(KERNELS_AS_OBJECTS))}
    chosen = {"kernel": draw(usually(KERNELS_BY_NAME, FOR_HISTOGRAMS))}
    for key in ("gamma", "degree", "coef0"):
        if draw(st.booleans()):
            chosen[key] = draw(ANYWHERE[key])
    return chosen


@st.composite
def settings_of(draw, name, kind):
    """Return the parameters of an estimator, most of them at their defaults."""
    params = draw(kernels(name, kind))
    named = isinstance(params.get("kernel"), str) and params["kernel"] != "precomputed"
    if discovery.is_search(name):
        grid = {} if discovery.role(name) == "detector" else {"C": [1.0, 100.0]}
        params["param_grid"] = grid | ({"gamma": draw(st.sampled_from([[0.1, 1.0], ["scale"]]))})
    keys = [key for key in discovery.parameters(name) if key not in params]
    if "kernel" in discovery.parameters(name) and not named:
        keys = [key for key in keys if key not in ("gamma", "degree", "coef0")]
    keys = [
        key
        for key in keys
        if key not in ("gamma", "degree", "coef0") or name.endswith("DiscriminantAnalysis")
    ]
    strategies = {key: strategy_for(name, key) for key in keys}
    strategies = {key: found for key, found in strategies.items() if found is not None}
    if strategies:
        for key in draw(st.lists(st.sampled_from(sorted(strategies)), max_size=5, unique=True)):
            params[key] = draw(strategies[key])
    if "n_jobs" in discovery.parameters(name):
        params.setdefault("n_jobs", 1)
    if draw(st.integers(0, 30)) == 30:
        params[draw(st.sampled_from(sorted(params) or ["tol"]))] = draw(st.sampled_from(WRONG))
    return {key: value for key, value in params.items() if key in discovery.parameters(name)}
