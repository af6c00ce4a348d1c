"""Families of scikit-learn's Gaussian-process kernels, computed by ours where there are such."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.arrays import Float64
from mercer.gram.kernel_family import Family, KernelFamily, Member, TunedMember, double
from mercer.kernels.sklearn_kernels import SklearnKernel, Translation, is_sklearn_kernel, translated
from mercer.kernels.tuning import Tuning
from mercer.threads import Workers

DIAGONAL_TILE = 32


def family_of(given: Any, tuning: Tuning | None, X: Any, workers: Workers) -> Family:
    """Return the family of a kernel, ours or scikit-learn's.

    Parameters
    ----------
    given : Kernel or scikit-learn's
        The start.
    tuning : Tuning, optional
        Of a kernel of ours.
    X, workers
        As of :class:`Family`.
    """
    if not is_sklearn_kernel(given):
        assert tuning is not None
        return KernelFamily(tuning, X, workers)
    twin = translated(given)
    if twin is not None and _tunable(twin):
        return TwinFamily(given, twin, X, workers)
    return SklearnFamily(given, X, workers)


def _tunable(twin: Translation) -> bool:
    known = twin.kernel.tunable()  # a parameter that is 0 has no logarithm
    return all(not p.free or not p.name or p.name in known for p in twin.parameters)


class _TheirFamily(Family):
    """What families of scikit-learn's kernels share: their parameters, bounds and names."""

    def __init__(self, given: Any, X: Any, workers: Workers) -> None:
        super().__init__(X, workers)
        self.given = given
        self.theta = np.asarray(given.theta, dtype=np.float64)
        self.bounds = np.asarray(given.bounds, dtype=np.float64).reshape(-1, 2)
        self.labels = []
        for h in given.hyperparameters:
            if not h.fixed:
                self.labels += (
                    [h.name] if h.n_elements == 1 else [f"{h.name}[{j}]" for j in range(h.n_elements)]
                )

    def given_at(self, theta: Float64) -> Any:
        """Return their kernel with these parameters: at the start as it was given, to the last digit."""
        if np.array_equal(theta, self.theta):
            return clone(self.given)
        return self.given.clone_with_theta(theta)


class TwinFamily(_TheirFamily):
    """Kernels of scikit-learn's, computed by ours.

    Parameters
    ----------
    given : sklearn.gaussian_process.kernels.Kernel
        Theirs.
    twin : Translation
        Ours.
    X, workers
        As of :class:`Family`.
    """

    def __init__(self, given: Any, twin: Translation, X: Any, workers: Workers) -> None:
        super().__init__(given, X, workers)
        fixed = {p.name: "fixed" for p in twin.parameters if p.name and not p.free}
        self.tuning = Tuning(twin.kernel, {k: v for k, v in fixed.items() if k in twin.kernel.tunable()})
        # Where each entry of our theta comes from, and which entries are variances of white noise.
        places: dict[str, tuple[int, float, float]] = {}
        self.white: list[int] = []
        self.fixed_white, at, level = 0.0, 0, iter(twin.white)
        for p in twin.parameters:
            variance = next(level) if not p.name else 0.0
            if not p.free:
                self.fixed_white += variance
                continue
            if p.name:
                places[p.name] = (at, p.factor, p.shift)
            else:
                self.white.append(at)
            at += p.size
        entries = []
        for name, value in self.tuning.start.items():
            first, factor, shift = places[name]
            entries += [(first + j, factor, shift) for j in range(value.size)]
        table = np.array(entries, dtype=np.float64).reshape(-1, 3)
        self.source = table[:, 0].astype(np.intp)
        self.factor, self.shift = table[:, 1], table[:, 2]

    def at(self, theta: Float64) -> TwinMember:
        """Return the member with these parameters."""
        return TwinMember(self, np.asarray(theta, dtype=np.float64))


class TwinMember(TunedMember):
    """A kernel of scikit-learn's, computed by ours."""

    family: TwinFamily

    def __init__(self, family: TwinFamily, theta: Float64) -> None:
        super().__init__(family, family.tuning, family.factor * theta[family.source] + family.shift)
        self.theta = theta
        self.white = family.fixed_white + float(np.exp(theta[family.white]).sum())

    @property
    def shown(self) -> Any:
        """Theirs, with these parameters."""
        return self.family.given_at(self.theta)

    @property
    def _new_white(self) -> float:
        return float(self.white)

    def as_given(self, slopes: Float64, diagonal: float) -> Float64:
        """Return slopes by their parameters."""
        out = np.zeros(self.theta.size)
        out[self.family.source] = self.family.factor * slopes
        out[self.family.white] = np.exp(self.theta[self.family.white]) * diagonal
        return out

    def slopes(self, G: Float64, total: float, diagonal: Float64) -> Float64:
        """Return the slopes by their parameters."""
        return self.as_given(super().slopes(G, total, diagonal), float(diagonal.sum()))

    def thin_slopes(self, U: Float64, V: Float64) -> Float64:
        """Return the slopes by their parameters."""
        return self.as_given(super().thin_slopes(U, V), float(np.vdot(U, V)))


class SklearnFamily(_TheirFamily):
    """Kernels of scikit-learn's that have no twin of ours: values and gradients are theirs.

    Parameters
    ----------
    given : sklearn.gaussian_process.kernels.Kernel
        The kernel.
    X, workers
        As of :class:`Family`.
    """

    def at(self, theta: Float64) -> SklearnMember:
        """Return the member with these parameters."""
        return SklearnMember(self, np.asarray(theta, dtype=np.float64))


class SklearnMember(Member):
    """A kernel of scikit-learn's."""

    family: SklearnFamily

    def __init__(self, family: SklearnFamily, theta: Float64) -> None:
        self.family, self.theta = family, theta
        self.given = family.given_at(theta)
        self.kernel = SklearnKernel(self.given)
        self.kernel.validate()
        white = np.empty(family.n)
        for start in range(0, family.n, DIAGONAL_TILE):
            rows = np.arange(start, min(family.n, start + DIAGONAL_TILE))
            part = self.kernel.take(family.X, rows)
            white[rows] = np.diagonal(self.given(part)) - np.diagonal(self.given(part, part))
        level = float(white[0])
        self.white = level if (white == level).all() else white

    @property
    def shown(self) -> Any:
        """The kernel itself."""
        return self.given

    def matrix(self) -> Float64:
        """Return the matrix of k, which the caller may change."""
        K = np.array(self.given(self.family.X), dtype=np.float64)
        if not np.isfinite(K.sum()):
            raise ValueError(f"kernel={self.given!r} is not finite for some pairs of rows of X")
        K.ravel()[:: K.shape[0] + 1] -= self.white
        return K

    def slopes(self, G: Float64, total: float, diagonal: Float64) -> Float64:
        """Return the sums with their gradient, which is an array for each parameter."""
        if self.theta.size == 0:
            return np.zeros(0)
        gradient = self.given(self.family.X, eval_gradient=True)[1]
        return np.array([float(np.vdot(G, gradient[:, :, j])) for j in range(self.theta.size)])

    def thin_slopes(self, U: Float64, V: Float64) -> Float64:
        """Refuse: their gradient is an array of n by n for each parameter."""
        if self.theta.size == 0:
            return np.zeros(0)
        raise ValueError(
            f"kernel={self.given!r} has no twin in mercer.kernels, and its gradient needs a matrix for each "
            "parameter: raise cache_size until it holds the kernel matrix, or pass optimizer=None"
        )

    def prior_variances(self, X: Any) -> Float64:
        """Return what the kernel calls its diagonal."""
        return np.array(self.given.diag(double(X)), dtype=np.float64)

    def prior_covariance(self, X: Any) -> Float64:
        """Return the kernel's own matrix."""
        return np.array(self.given(double(X)), dtype=np.float64)
