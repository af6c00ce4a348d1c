"""Small data sets, harmless and nasty, each a few numbers that Hypothesis can make smaller."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

MOST_ROWS = 40


# -- points ----------------------------------------------------------------------------------------------


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def integers(rng, n, d):
    """Grid points: ties everywhere."""
    return rng.integers(-2, 3, size=(n, d)).astype(float)


def duplicates(rng, n, d):
    few = rng.normal(size=(max(1, n // 4), d))
    return few[rng.integers(0, len(few), n)]


def one_point(rng, n, d):
    return np.tile(rng.normal(size=(1, d)), (n, 1))


def zeros(rng, n, d):
    return np.zeros((n, d))


def constant_column(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, 0] = 10.0 ** rng.integers(-3, 9)
    return X


def collinear(rng, n, d):
    return rng.normal(size=(n, 1)) * rng.normal(size=(1, d)) + rng.normal(size=(1, d))


def nearly_collinear(rng, n, d):
    return collinear(rng, n, d) + 1e-9 * rng.normal(size=(n, d))


def cauchy(rng, n, d):
    return rng.standard_cauchy(size=(n, d))


def far_away(rng, n, d):
    """A cloud whose distance from the origin is many times its size."""
    return rng.normal(size=(n, d)) + 10.0 ** rng.integers(3, 9)


def mixed_scales(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 9, size=(1, d))


def wild_scales(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-150, 151, size=(n, d))


def an_outlier(rng, n, d):
    X = rng.normal(size=(n, d))
    X[0] *= 10.0 ** rng.integers(3, 13)
    return X


def positive(rng, n, d):
    return rng.gamma(0.5, size=(n, d))


def mostly_zero(rng, n, d):
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)


def wide(rng, n, d):
    return rng.normal(size=(n, 10 * d))


def separated(rng, n, d):
    """Two far clouds, one half of the rows each."""
    return rng.normal(size=(n, d)) + np.where(np.arange(n) % 2, 6.0, -6.0)[:, None]


SHAPES = {
    shape.__name__: shape
    for shape in (
        normal, integers, duplicates, separated, constant_column, collinear, positive, mostly_zero, wide,
        an_outlier,        one_point, nearly_collinear, far_away, cauchy, mixed_scales, zeros, wild_scales,
    )
}  # fmt: skip

DENSE = ("dense", "float32", "list", "fortran", "integer", "frame")
CONTAINERS = ("dense", "float32", "csr", "csr_array", "coo", "csc", "list", "fortran", "integer", "frame")

# -- targets and weights ---------------------------------------------------------------------------------


def classes(kind, rng, X, k):
    """Return n labels; every class is there if there are rows enough."""
    n = len(X)
    if kind == "lonely":  # all classes but the first have one row
        y = np.zeros(n, dtype=int)
        y[: k - 1] = np.arange(1, k)[:n]
    elif kind == "learnable":
        with np.errstate(all="ignore"):
            score = np.nan_to_num(X[:, 0])
        y = np.argsort(np.argsort(score, kind="stable"), kind="stable") * k // max(n, 1)
    elif kind == "alternating":
        y = np.arange(n) % k
    else:
        y = rng.integers(0, k, n)
        y[: min(k, n)] = np.arange(k)[:n]
    return y


LABELS = {
    "integers": lambda y: y,
    "texts": lambda y: np.array(["red", "blue", "green", "grey", "white"])[y],
    "signs": lambda y: 2 * y - 1,
    "floats": lambda y: y.astype(float),
}
CLASS_KINDS = ("random", "learnable", "alternating", "lonely")


def _numbers(kind, rng, X):
    n = len(X)
    if kind == "constant":
        return np.full(n, float(rng.integers(-3, 4)))
    if kind == "feature":
        return np.array(X[:, 0], dtype=float)
    if kind == "integers":
        return rng.integers(-2, 3, n).astype(float)
    if kind == "cauchy":
        return rng.standard_cauchy(n)
    if kind == "spike":
        return np.where(np.arange(n) == 0, 1e6, 0.0)
    return rng.normal(size=n)


NUMBER_KINDS = ("normal", "feature", "integers", "constant", "cauchy", "spike")


def _weights(kind, rng, n):
    if kind == "random":
        return rng.gamma(1.0, size=n) + 1e-3
    if kind == "integers":
        return rng.integers(1, 4, n).astype(float)
    if kind == "zeros":
        w = rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.6)
        w[: min(5, n)] = 1.0
        return w
    if kind == "ratios":
        return 10.0 ** rng.integers(-8, 9, n)
    if kind == "tiny":
        return np.full(n, 1e-200)
    if kind == "huge":
        return np.full(n, 1e200)
    return np.ones(n)


WEIGHT_KINDS = ("random", "integers", "zeros", "ones", "ratios", "tiny", "huge")


# -- one data set ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """What a data set is made from; the same one each time."""

    kind: str  # "vectors", "strings" or "matrix"
    shape: str
    n: int
    d: int
    exponent: int
    container: str
    target: str
    target_exponent: int
    classes: int
    labels: str
    weight: str | None
    seed: int

    def points(self):
        """Return the rows as float64, before they are put into their container."""
        rng = np.random.default_rng([1, self.seed])
        with np.errstate(all="ignore"):
            X = SHAPES[self.shape](rng, self.n, self.d) * 10.0**self.exponent
        return np.clip(np.nan_to_num(X, posinf=1e300, neginf=-1e300), -1e300, 1e300)

    def X(self):  # noqa: N802
        if self.kind == "strings":
            rng = np.random.default_rng([2, self.seed])
            return ["".join(rng.choice(list("ab"), rng.integers(0, 6))) for _ in range(self.n)]
        if self.kind == "matrix":
            return self._matrix()
        return contained(self.points(), self.container)

    def _matrix(self):
        """Return a kernel matrix; for some containers an indefinite or an unsymmetric one."""
        X = SHAPES[self.shape](np.random.default_rng([1, self.seed]), self.n, self.d)
        X = np.clip(np.nan_to_num(X), -1e100, 1e100)
        K = X @ X.T if self.seed % 2 else np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
        if self.container == "coo":
            K = np.tanh(X @ X.T - 1.0)
        elif self.container == "csc":
            K = K + 0.1 * np.random.default_rng([5, self.seed]).normal(size=K.shape)
        with np.errstate(over="ignore"):
            return np.clip(K * 10.0 ** np.clip(self.exponent, -200, 200), -1e300, 1e300)

    def y(self, role):
        rng = np.random.default_rng([3, self.seed])
        X = self.points()
        if role == "classifier":
            kind = CLASS_KINDS[NUMBER_KINDS.index(self.target) % len(CLASS_KINDS)]
            return LABELS[self.labels](classes(kind, rng, X, self.classes))
        if role == "views":
            return np.column_stack([X[:, 0], rng.normal(size=(self.n, 1))])
        if role == "regressor":
            with np.errstate(all="ignore"):
                y = _numbers(self.target, rng, X) * 10.0**self.target_exponent
            return np.clip(y, -1e300, 1e300)
        return None

    def weights(self):
        return (
            None
            if self.weight is None
            else _weights(self.weight, np.random.default_rng([4, self.seed]), self.n)
        )


def contained(X, container):
    """Return an array as another type of table."""
    if container == "float32":
        return np.clip(X, -3e38, 3e38).astype(np.float32)
    if container == "csr":
        return sp.csr_matrix(X)
    if container == "csr_array":
        return sp.csr_array(X)
    if container == "coo":
        return sp.coo_array(X)
    if container == "csc":
        return sp.csc_matrix(X)
    if container == "list":
        return X.tolist()
    if container == "fortran":
        return np.asfortranarray(X)
    if container == "integer":
        return np.clip(np.rint(X), -(2.0**53), 2.0**53).astype(np.int64)
    if container == "frame":
        import pandas

        return pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return X


def usually(usual, rare):
    """Draw one of the usual values four times out of five; shrink to the first of them."""
    usual, rare = list(usual), list(rare)
    times = max(1, round(4 * len(rare) / len(usual)))
    return st.sampled_from(usual * times + rare)


EXPONENTS = usually([0, 1, -1, 2, -3], [-300, -160, -100, -30, -8, 5, 8, 30, 100, 160, 300])


@st.composite
def data_sets(draw, kind, role, weighted, containers=CONTAINERS):
    return Data(
        kind=kind,
        shape=draw(st.sampled_from(list(SHAPES))),
        n=draw(st.integers(2, 12) | st.integers(2, MOST_ROWS)),
        d=draw(st.integers(1, 4)),
        exponent=draw(EXPONENTS),
        container=draw(st.sampled_from(containers)) if kind != "strings" else "list",
        target=draw(st.sampled_from(NUMBER_KINDS))
        if role in ("classifier", "regressor")
        else NUMBER_KINDS[0],
        target_exponent=draw(EXPONENTS) if role == "regressor" else 0,
        classes=draw(st.sampled_from([2, 2, 2, 3, 4])) if role == "classifier" else 2,
        labels=draw(st.sampled_from(list(LABELS))) if role == "classifier" else "integers",
        weight=draw(st.none() | st.sampled_from(WEIGHT_KINDS)) if weighted else None,
        seed=draw(st.integers(0, 1000)),
    )
