"""A bank of small problems, random and nasty, and independent ways to state, solve and judge them.

Nothing here imports the library: kernels, objectives and optimality conditions are written from their
definitions.
"""

import warnings
from dataclasses import dataclass

import numpy as np

KERNELS = ("linear", "poly", "rbf")
SEEDS = 4


@dataclass(frozen=True, eq=False)
class Case:
    """Points with signs, targets, weights (zeros allowed) and a kernel."""

    name: str
    X: np.ndarray
    sign: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    kernel: str
    rank: float  # in (0, 1), by which a test chooses its nu, C and epsilon

    @property
    def kernel_params(self):
        return {"kernel": self.kernel, "gamma": self.gamma, "degree": 3, "coef0": 1.0}

    @property
    def gamma(self):
        spread = float(self.X.var())
        return 1.0 / (self.X.shape[1] * spread) if spread > 0 else 1.0

    @property
    def n(self):
        return self.sign.size

    @property
    def K(self):  # noqa: N802
        return kernel_matrix(self, self.X)

    @property
    def given_weight(self):
        """Return None for plain rows, so that both ways of calling fit are used."""
        return None if (self.weight == 1).all() else self.weight


def kernel_matrix(case, Z):
    """Return k(z_i, x_j) by its definition."""
    if case.kernel == "rbf":
        return np.exp(-case.gamma * ((Z[:, None, :] - case.X[None, :, :]) ** 2).sum(axis=2))
    S = Z @ case.X.T
    return S if case.kernel == "linear" else (case.gamma * S + 1.0) ** 3


def kernel_diagonal(case, Z):
    S = (Z * Z).sum(axis=1)
    if case.kernel == "rbf":
        return np.ones(len(Z))
    return S if case.kernel == "linear" else (case.gamma * S + 1.0) ** 3


# -- the bank --------------------------------------------------------------------------------------------


def _cloud(rng, n, d):
    sign = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    return rng.normal(size=(n, d)) + sign[:, None] * rng.normal(size=d) * 0.7, sign


def clouds(rng):
    return *_cloud(rng, int(rng.integers(5, 121)), int(rng.integers(1, 8))), None


def duplicates(rng):
    X, sign = _cloud(rng, 15, 3)
    again = rng.integers(0, 15, 45)
    return np.vstack([X, X[again]]), np.concatenate([sign, sign[again]]), None


def conflicts(rng):
    X, sign = _cloud(rng, 20, 2)
    return np.vstack([X, X[:10]]), np.concatenate([sign, -sign[:10]]), None


def grid(rng):
    """Integer points: many equal distances, hence many ties."""
    X = rng.integers(-2, 3, size=(50, 2)).astype(float)
    return X, np.where(X[:, 0] + rng.normal(size=50) > 0, 1.0, -1.0), None


def wide(rng):
    return *_cloud(rng, 14, 40), None


def outliers(rng):
    X, sign = _cloud(rng, 40, 3)
    X[:2] *= 10.0
    return X, sign, None


def off_centre(rng):
    X, sign = _cloud(rng, 40, 3)
    return X + 5.0, sign, None


def tiny(rng):
    X, sign = _cloud(rng, 30, 3)
    return 1e-3 * X, sign, None


def huge(rng):
    X, sign = _cloud(rng, 30, 3)
    return 1e2 * X, sign, None


def random_weights(rng):
    X, sign = _cloud(rng, 40, 4)
    return X, sign, rng.gamma(1.0, size=40) + 1e-2


def integer_weights(rng):
    X, sign = _cloud(rng, 30, 2)
    return X, sign, rng.integers(1, 4, 30).astype(float)


def zero_weights(rng):
    X, sign = _cloud(rng, 50, 3)
    weight = np.where(rng.random(50) < 0.5, 0.0, rng.uniform(0.5, 2.0, 50))
    weight[:2] = 1.0
    return X, sign, weight


FAMILIES = (
    clouds,
    duplicates,
    conflicts,
    grid,
    wide,
    outliers,
    off_centre,
    tiny,
    huge,
    random_weights,
    integer_weights,
    zero_weights,
)


def bank():
    """Return the cases, the same ones each time."""
    cases = []
    for f, family in enumerate(FAMILIES):
        for k, kernel in enumerate(KERNELS):
            for seed in range(SEEDS):
                rng = np.random.default_rng([f, k, seed])
                X, sign, weight = family(rng)
                n = sign.size
                unit = X / max(float(X.std()), 1e-300)
                target = np.sin(unit[:, 0]) + 0.3 * unit.sum(axis=1) + 0.2 * rng.normal(size=n)
                target *= 10.0 ** rng.uniform(-1, 1)
                weight = np.ones(n) if weight is None else weight
                for array in (X, sign, target, weight):
                    array.setflags(write=False)
                name = f"{family.__name__}-{kernel}-{seed}"
                cases.append(Case(name, X, sign, target, weight, kernel, float(rng.uniform(0.05, 0.95))))
    return cases


def named(case):
    return case.name


# -- judges ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What the judge says: the optimum, where it is, the scale of the problem, and how sure the judge is."""

    value: float
    x: np.ndarray
    scale: float
    doubt: float


def solve_qp(P, q, lo, hi, sums):
    """Return the optimum of  min 1/2 x'P x + q'x,  lo <= x <= hi,  a'x = s for (a, s) in sums, by Clarabel.

    Variables whose box has no inside are put there; the others are scaled by the size of the solution.
    """
    import clarabel
    from scipy import sparse

    free = hi > lo
    fixed = np.where(free, 0.0, lo)
    A = [(a[free], s - a @ fixed) for a, s in sums]
    q = (q + P @ fixed)[free]
    P = P[np.ix_(free, free)]
    lo, hi = lo[free], hi[free]
    m = q.size
    bounded = np.isfinite(hi)
    unit = max(abs(s) for _, s in A)
    if unit == 0:
        unit = float(hi[bounded].max()) if bounded.any() else float(np.abs(q).max() / np.diagonal(P).max())
    price = max(unit * unit * float(np.abs(P).max()), unit * float(np.abs(q).max()), 1e-300)
    eye = sparse.identity(m, format="csc")
    below = np.isfinite(lo)
    rows = [sparse.csc_matrix(a[None, :]) for a, _ in A] + [-eye[below], eye[bounded]]
    right = np.concatenate([[s / unit for _, s in A], -lo[below] / unit, hi[bounded] / unit])
    cones = [clarabel.ZeroConeT(len(A)), clarabel.NonnegativeConeT(int(below.sum() + bounded.sum()))]
    best = None
    for regularization in (1e-12, 1e-10, 1e-8):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        settings.static_regularization_constant = regularization
        settings.max_iter = 300
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P) * (unit * unit / price)),
            q * (unit / price),
            sparse.vstack(rows, format="csc"),
            right,
            cones,
            settings,
        ).solve()
        gap = abs(solution.obj_val - solution.obj_val_dual)
        if best is None or gap < best[0]:
            best = gap, solution
        if gap <= 1e-10:
            break
    gap, solution = best
    if not gap <= 1e-8 * (1 + abs(solution.obj_val)):
        raise ArithmeticError(f"Clarabel: {solution.status}, gap {gap}")
    x = fixed.copy()
    x[free] = unit * np.array(solution.x)
    value = 0.5 * price * (solution.obj_val + solution.obj_val_dual)
    return Verdict(value, x, price, price * max(gap, 1e-11))


def libsvm(machine, case, K, *, tol, **params):
    """Return scikit-learn's machine fitted on the kernel matrix, and its coefficients; None if it gave up.

    Rows of weight zero are left out by hand.
    """
    from sklearn.exceptions import ConvergenceWarning

    kept = case.weight > 0
    model = machine(kernel="precomputed", tol=tol, max_iter=400_000, **params)
    target = {"NuSVC": case.sign, "OneClassSVM": None}.get(machine.__name__, case.target)
    arguments = (K[np.ix_(kept, kept)],) if target is None else (K[np.ix_(kept, kept)], target[kept])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(*arguments, sample_weight=case.weight[kept])
    if model.fit_status_ != 0:
        return None
    coef = np.zeros(kept.size)
    coef[np.flatnonzero(kept)[model.support_]] = np.asarray(model.dual_coef_).ravel()
    return model, coef


def coefficients(model, n):
    """Return the coefficients of all training points of a fitted two-class or one-function machine."""
    coef = np.zeros(n)
    coef[model.support_] = np.asarray(model.dual_coef_).ravel()
    return coef


def fenchel(b, lo, hi, cost):
    """Return the complementarity terms: what a bounded variable could gain, given its reduced cost."""
    return (b - lo) * np.maximum(cost, 0.0) + (hi - b) * np.maximum(-cost, 0.0)
