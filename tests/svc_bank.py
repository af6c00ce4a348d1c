"""A bank of small two-class problems, random and nasty, and two independent ways to solve them."""

from dataclasses import dataclass

import numpy as np

KERNELS = ("linear", "poly", "rbf", "sigmoid")
SEEDS = 7


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, labels (0 and 1), weights and the parameters of an SVC."""

    name: str
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    kernel: str
    C: float

    @property
    def params(self):
        return {"kernel": self.kernel, "C": self.C, "gamma": self.gamma, "degree": 3, "coef0": self.coef0}

    @property
    def coef0(self):
        return 1.0 if self.kernel == "poly" else 0.0

    @property
    def gamma(self):
        """Return a number, so that no two libraries can differ over what "scale" means."""
        spread = float(self.X.var())
        return 1.0 / (self.X.shape[1] * spread) if spread > 0 else 1.0

    @property
    def weights(self):
        return np.ones(self.y.size) if self.weight is None else self.weight

    @property
    def sign(self):
        return np.where(self.y == 1, 1.0, -1.0)


def _labels(rng, n):
    """Return n labels with both classes present."""
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    return y


def _clouds(rng, n, d, distance=1.0):
    y = _labels(rng, n)
    return rng.normal(size=(n, d)) + distance * np.where(y == 1, 1.0, -1.0)[:, None] / np.sqrt(d), y


def overlapping(rng):
    return *_clouds(rng, int(rng.integers(5, 70)), int(rng.integers(1, 12))), None


def noise(rng):
    n = int(rng.integers(5, 60))
    return rng.normal(size=(n, int(rng.integers(1, 6)))), _labels(rng, n), None


def duplicates(rng):
    X, y = _clouds(rng, 12, 3)
    again = rng.integers(0, 12, 40)
    return np.vstack([X, X[again]]), np.concatenate([y, y[again]]), None


def conflicting_labels(rng):
    X, y = _clouds(rng, 20, 3)
    again = rng.integers(0, 20, 15)
    return np.vstack([X, X[again]]), np.concatenate([y, 1 - y[again]]), None


def all_points_equal(rng):
    n = int(rng.integers(4, 20))
    return np.tile(rng.normal(size=(1, 2)) + 3.0, (n, 1)), _labels(rng, n), None


def constant_columns(rng):
    X, y = _clouds(rng, 30, 3)
    return np.hstack([X, np.full((30, 2), 1.5), np.zeros((30, 1))]), y, None


def tiny_class(rng):
    n = int(rng.integers(10, 60))
    X = rng.normal(size=(n, 3))
    y = np.zeros(n, dtype=int)
    y[int(rng.integers(n))] = 1
    return X, y, None


def two_points(rng):
    return rng.normal(size=(2, int(rng.integers(1, 5)))), np.array([1, 0]), None


def more_features_than_points(rng):
    return *_clouds(rng, 12, 50), None


def integers(rng):
    """Grid points: many equal distances, so many ties between pairs."""
    return rng.integers(-2, 3, size=(45, 2)).astype(float), _labels(rng, 45), None


def random_weights(rng):
    X, y = _clouds(rng, 40, 4)
    return X, y, rng.gamma(0.5, size=40) + 1e-3


def weights_mostly_zero(rng):
    X, y = _clouds(rng, 40, 4)
    weight = np.zeros(40)
    weight[[0, 1]] = 1.0
    weight[rng.integers(2, 40, 5)] = rng.uniform(0.5, 3.0, 5)
    return X, y, weight


FAMILIES = (
    overlapping,
    noise,
    duplicates,
    conflicting_labels,
    all_points_equal,
    constant_columns,
    tiny_class,
    two_points,
    more_features_than_points,
    integers,
    random_weights,
    weights_mostly_zero,
)


def scaled(rng, scale):
    """Return a problem whose data are multiplied by ``scale``; the caller divides C by its square."""
    X, y = _clouds(rng, 30, 3)
    return scale * X, y, None


def problems():
    """Return the bank; the same one each time."""
    bank = []
    for f, family in enumerate(FAMILIES):
        for k, kernel in enumerate(KERNELS):
            for seed in range(SEEDS):
                rng = np.random.default_rng([f, k, seed])
                X, y, weight = family(rng)
                C = float(10.0 ** rng.uniform(-2, 2))
                bank.append(Problem(f"{family.__name__}-{kernel}-{seed}", X, y, weight, kernel, C))
    for e in range(-6, 7):
        for k, kernel in enumerate(KERNELS):
            rng = np.random.default_rng([99, e + 6, k])
            X, y, weight = scaled(rng, 10.0**e)
            # The linear kernel grows with scale^2. The others do not: gamma shrinks with it.
            C = 10.0 ** (-2 * e) if kernel == "linear" else 1.0
            bank.append(Problem(f"scale-1e{e}-{kernel}", X, y, weight, kernel, C))
    for problem in bank:
        for array in (problem.X, problem.y, problem.weights):
            array.setflags(write=False)
    return bank


# -- solutions -------------------------------------------------------------------------------------------


def kernel_matrix(problem, Z=None):
    """Return K by its definition."""
    X, gamma = problem.X, problem.gamma
    Z = X if Z is None else Z
    if problem.kernel == "rbf":
        return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))
    S = X @ Z.T
    if problem.kernel == "poly":
        return (gamma * S + problem.coef0) ** 3
    return S if problem.kernel == "linear" else np.tanh(gamma * S + problem.coef0)


def dual_objective(K, sign, beta):
    """Return sum alpha - 1/2 alpha' Y K Y alpha with alpha = Y beta."""
    return float(sign @ beta - 0.5 * beta @ K @ beta)


def solve_by_qp(K, sign, upper, *, intercept=True):
    """Return the value and beta of  max sign'beta - 1/2 beta'K beta,  0 <= sign beta <= upper,  sum beta = 0.

    Solved by Clarabel, an interior point method. Its variables are alpha / unit, so that its quadratic term
    is of the order of 1. Points whose bound is 0 are left out: a box without an inside has no interior point.
    """
    import clarabel
    from scipy import sparse

    inside = upper > 0
    y = sign[inside]
    n = y.size
    unit = 1.0 / max(float(np.diagonal(K)[inside].max()), 1e-300)
    bound = upper[inside] / unit
    Q = sparse.csc_matrix(unit * y[:, None] * K[np.ix_(inside, inside)] * y[None, :])
    finite = np.isfinite(bound)
    eye = sparse.identity(n, format="csc")
    rows = [sparse.csc_matrix(y[None, :])] if intercept else []
    cones = [clarabel.ZeroConeT(1)] if intercept else []
    A = sparse.vstack([*rows, -eye, eye[finite]], format="csc")
    right = np.concatenate([np.zeros(n + len(rows)), bound[finite]])
    cones.append(clarabel.NonnegativeConeT(n + int(finite.sum())))
    for regularization in (
        1e-12,
        1e-10,
        1e-8,
    ):  # a judge must be sure: try again until its own gap has closed
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        settings.static_regularization_constant = regularization
        settings.max_iter = 500
        solution = clarabel.DefaultSolver(
            sparse.triu(Q, format="csc"), -np.ones(n), A, right, cones, settings
        ).solve()
        value, other = -unit * solution.obj_val, -unit * solution.obj_val_dual
        if abs(value - other) <= 1e-7 * abs(value):
            break
    else:
        raise ArithmeticError(f"Clarabel: {solution.status}, {value} against {other}")
    beta = np.zeros(sign.size)
    beta[inside] = y * np.clip(unit * np.array(solution.x), 0.0, upper[inside])
    return 0.5 * (value + other), beta


def solve_by_libsvm(problem, *, tol=1e-6, max_iter=500_000):
    """Return scikit-learn's fitted SVC, its signed duals, and whether it stopped by itself.

    Rows of weight zero are left out by hand: scikit-learn's ``support_`` would not count them.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    kept = problem.weights > 0
    model = SVC(**problem.params, tol=tol, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(problem.X[kept], problem.y[kept], sample_weight=problem.weights[kept])
    beta = np.zeros(kept.size)
    beta[np.flatnonzero(kept)[model.support_]] = model.dual_coef_[0]
    return model, beta, model.fit_status_ == 0


def beta_of(model, n):
    """Return the signed duals of a fitted two-class model, one per training row."""
    beta = np.zeros(n)
    beta[model.support_] = np.asarray(model.dual_coef_).ravel()
    return beta


def kkt_violation(K, sign, upper, beta, *, intercept=True):
    """Return the most that an allowed exchange (or, without a bias, a single step) gains per unit."""
    gradient = K @ beta - sign
    lower, upper = np.where(sign > 0, 0.0, -upper), np.where(sign > 0, upper, 0.0)
    grow = [-gradient[i] for i in range(sign.size) if beta[i] < upper[i]]
    shrink = [-gradient[i] for i in range(sign.size) if beta[i] > lower[i]]
    if not intercept:
        return max([0.0, *grow, *(-v for v in shrink)])
    return max(0.0, max(grow, default=-np.inf) - min(shrink, default=np.inf))
