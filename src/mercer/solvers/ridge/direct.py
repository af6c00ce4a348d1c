"""Solving regularised least squares: by Cholesky's factor, or by one decomposition for all penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from mercer.arrays import Float64
from mercer.gram import Workers
from mercer.gram.projected import ProjectedGram
from mercer.problems.parametric_ridge import ParametricRidge
from mercer.problems.ridge import Ridge
from mercer.solvers.linear_algebra.factored import NOT_FINITE, WORST, Factored
from mercer.solvers.linear_algebra.tridiagonal import Tridiagonal

GRID = 50  # penalties tried when none are given
DEPTH = 1e-10  # the least of them, relative to the largest eigenvalue
TIE = 1e-6  # relative difference of leave-one-out errors that tells nothing


@dataclass(frozen=True)
class RidgeSolution:
    """Coefficients and biases, and how well the system was conditioned.

    Attributes
    ----------
    A : (n, t) array
        The coefficients.
    intercept : (t,) array
        The biases.
    F : (n, t) array
        K A, in float64.
    n_iter : int
        Iterations, 1 for a factorisation.
    status : str
        "optimal" or the limit that was hit.
    condition : float
        Estimate of the condition of the (scaled) system; nan where nothing is known.
    method : str
        "cholesky", "eigen" or "cg".
    note : str
        What the user should know about the conditioning; empty if nothing.
    """

    A: Float64
    intercept: Float64
    F: Float64
    n_iter: int
    status: str
    condition: float
    method: str
    note: str = ""


def by_cholesky(K: Float64, problem: Ridge) -> RidgeSolution:
    """Solve by Cholesky's factor; where there is none, by eigenvectors, with a note.

    Parameters
    ----------
    K : (n, n) float64 array
        The kernel matrix.
    problem : Ridge
        Of one and the same penalty for all outputs.

    Returns
    -------
    RidgeSolution
    """
    alpha, root = float(problem.alpha[0]), problem.root
    try:
        system = Factored(_scaled(K, root), alpha)
    except LinAlgError:
        return by_eigenvectors(Spectrum.of(K, problem), K, problem)
    C, intercept = problem.join(*problem.split(system.solve(problem.right_sides())))
    A = root[:, None] * C
    note = "" if system.condition < WORST else _ill(system.condition, alpha)
    return RidgeSolution(A, intercept, K @ A, 1, "optimal", system.condition, "cholesky", note)


def _scaled(K: Float64, root: Float64) -> Float64:
    if (root == 1.0).all():
        return np.array(K)
    return np.asarray(root[:, None] * K * root[None, :])


def _ill(condition: float, alpha: float) -> str:
    return (
        f"the system K + alpha I is near-singular: its condition number is about {condition:.1e} at "
        f"alpha={alpha:g}, so hardly a digit of the coefficients is certain (predictions suffer less). Raise "
        "alpha, or remove duplicate rows"
    )


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues and eigenvectors of D K D, from which every penalty's solution is a product away.

    Attributes
    ----------
    values : (n,) array
        Ascending.
    U : (n, n) array
        Eigenvectors in columns.
    """

    values: Float64
    U: Float64

    @classmethod
    def of(cls, K: Float64, problem: Ridge) -> Spectrum:
        """Return the spectrum of D K D."""
        M = _scaled(K, problem.root)
        M += M.T
        M *= 0.5
        if not np.isfinite(M.sum()):
            raise ValueError(NOT_FINITE)
        values, U = scipy.linalg.eigh(M, driver="evd", overwrite_a=True, check_finite=False)
        return cls(values, np.asfortranarray(U))

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue."""
        return float(self.values[0]), float(self.values[-1])

    def solve(self, B: Float64, shifts: Float64) -> Float64:
        """Return (D K D + shift I)^-1 B for each shift, of shape (n, p, g)."""
        shrink, _ = self.shrinkage(shifts)
        solved = (self.U.T @ B)[:, :, None] * shrink[:, None, :]
        return np.asarray((self.U @ solved.reshape(solved.shape[0], -1)).reshape(solved.shape))

    def inverse_diagonals(self, shifts: Float64, workers: Workers | None = None) -> Float64:
        """Return the diagonals of (D K D + shift I)^-1, of shape (n, g)."""
        shrink, _ = self.shrinkage(shifts)
        return np.asarray(np.square(self.U) @ shrink)

    @property
    def noise(self) -> float:
        """Eigenvalues below this are rounding."""
        largest = float(np.abs(self.values).max(initial=0.0))
        return self.values.size * np.finfo(np.float64).eps * largest

    def shrinkage(self, alpha: Float64) -> tuple[Float64, NDArray[np.bool_]]:
        """Return 1 / (eigenvalue + alpha) for each penalty, 0 where that is rounding, and where it is not."""
        values = np.where(np.abs(self.values) <= self.noise, 0.0, self.values)
        shifted = values[:, None] + alpha[None, :]
        good = np.abs(shifted) > self.noise
        return np.where(good, 1.0 / np.where(good, shifted, 1.0), 0.0), good


def by_eigenvectors(spectrum: Spectrum, K: Float64, problem: Ridge) -> RidgeSolution:
    """Solve for each output's own penalty; directions without curvature get no coefficient.

    Parameters
    ----------
    spectrum : Spectrum
        Of D K D.
    K : (n, n) float64 array
        The kernel matrix.
    problem : Ridge
        The problem.

    Returns
    -------
    RidgeSolution
    """
    shrink, good = spectrum.shrinkage(problem.alpha)
    C, ones = _solutions(spectrum, shrink, problem)
    C, intercept = problem.join(C, ones)
    A = problem.root[:, None] * C
    shifted = np.abs(spectrum.values[:, None] + problem.alpha)
    least = np.min(np.where(good, shifted, np.inf), axis=0)
    worst = int(np.argmax(shifted.max(axis=0) / least))
    condition = float(shifted[:, worst].max() / least[worst]) if good.all() else np.inf
    note = ""
    if not good.all():
        note = (
            f"the system K + alpha I is singular to working precision at alpha={problem.alpha[worst]:g}: "
            f"{int((~good).sum(axis=0).max())} of {spectrum.values.size} eigenvalues are rounding (below "
            f"{spectrum.noise:.1e}), and their directions were left out. Raise alpha, or drop duplicate rows"
        )
    elif condition >= WORST:
        note = _ill(condition, float(problem.alpha[worst]))
    return RidgeSolution(A, intercept, K @ A, 1, "optimal", condition, "eigen", note)


def _solutions(spectrum: Spectrum, shrink: Float64, problem: Ridge) -> tuple[Float64, Float64 | None]:
    targets, ones = problem.split(spectrum.U.T @ problem.right_sides())
    C = spectrum.U @ (targets * shrink)
    return C, None if ones is None else spectrum.U @ (ones * shrink)


@dataclass(frozen=True)
class RidgePath:
    """The solutions of a grid of penalties.

    Attributes
    ----------
    alphas : (g,) array
        The penalties.
    dual_coef : (g, n, t) array
        Coefficients.
    intercept : (g, t) array
        Biases.
    left_out : (g, n, t) array
        Outputs minus their predictions by fits without that point.
    errors : (g, t) array
        Weighted means of their squares.
    parametric : (g, t, m) array or None
        Coefficients of the columns beside the kernel that cost nothing, where there are any.
    """

    alphas: Float64
    dual_coef: Float64
    intercept: Float64
    left_out: Float64
    errors: Float64
    parametric: Float64 | None = None


def reduced(
    K: Float64, problem: Ridge, alphas: Float64 | None = None
) -> tuple[Spectrum | Tridiagonal, Float64]:
    """Return a form of D K D in which all penalties are cheap, and the penalties.

    Parameters
    ----------
    K : (n, n) float64 array
        The kernel matrix.
    problem : Ridge
        Its weights matter, its penalties do not.
    alphas : (g,) array, optional
        Penalties; by default from where only the mean is left to where little is smoothed away.

    Returns
    -------
    form : Tridiagonal, or Spectrum
        Eigenvectors only where rounding could make a system indefinite: they can leave out what it destroyed.
    alphas : (g,) array
    """
    M = _scaled(K, problem.root)  # one triangle of it is all that is looked at
    if not np.isfinite(M.sum()):
        raise ValueError(NOT_FINITE)
    form = Tridiagonal.of(M)
    low, high = form.ends
    if alphas is None:
        top = max(high, np.finfo(np.float64).tiny / DEPTH)
        alphas = np.geomspace(top * DEPTH, 10.0 * top, GRID)
    safe = low >= -form.noise and float(alphas.min()) > 10.0 * form.noise
    return (form if safe else Spectrum.of(K, problem)), alphas


def best_penalties(errors: Float64, alphas: Float64) -> NDArray[np.intp]:
    """Return the place of each output's best penalty: the largest whose error is the least, up to rounding.

    Where all penalties are equally good (no point tells of another, say) rounding must not choose.

    Parameters
    ----------
    errors : (g, t) array
        Of each penalty and output.
    alphas : (g,) array
        The penalties.

    Returns
    -------
    (t,) array
    """
    tied = errors <= errors.min(axis=0) * (1.0 + TIE)
    return np.asarray(np.where(tied, alphas[:, None], -np.inf).argmax(axis=0), dtype=np.intp)


def by_form(form: Spectrum | Tridiagonal, K: Float64, problem: Ridge) -> RidgeSolution:
    """Solve for each output's own penalty, given a form of D K D.

    Parameters
    ----------
    form : Spectrum or Tridiagonal
        As `reduced` returns it for these penalties.
    K : (n, n) float64 array
        The kernel matrix.
    problem : Ridge
        The problem.

    Returns
    -------
    RidgeSolution
    """
    if isinstance(form, Spectrum):
        return by_eigenvectors(form, K, problem)
    A, intercept = np.empty(problem.Y.shape), np.empty(problem.alpha.size)
    for alpha in np.unique(problem.alpha):
        outputs = np.flatnonzero(problem.alpha == alpha)
        part = problem.only(outputs)
        X = form.solve(part.right_sides(), np.array([alpha]))[:, :, 0]
        C, intercept[outputs] = part.join(*part.split(X))
        A[:, outputs] = problem.root[:, None] * C
    low, high = form.ends
    least = float(problem.alpha.min())
    condition = (high + least) / (max(low, 0.0) + least)
    note = "" if condition < WORST else _ill(condition, least)
    return RidgeSolution(A, intercept, K @ A, 1, "optimal", condition, "eigen", note)


def path(
    form: Spectrum | Tridiagonal,
    problem: Ridge,
    alphas: Float64,
    *,
    keep: bool = True,
    workers: Workers | None = None,
) -> RidgePath:
    """Return solutions and leave-one-out residuals for every penalty of a grid: O(n^2) each.

    Parameters
    ----------
    form : Spectrum or Tridiagonal
        Of D K D, as `reduced` returns it.
    problem : Ridge
        Its own penalties are not looked at.
    alphas : (g,) array
        Positive.
    keep : bool
        Whether coefficients and residuals of all penalties are wanted, not only the errors.
    workers : Workers, optional
        Threads; one when not given.

    Returns
    -------
    RidgePath
    """
    g, (n, t) = alphas.size, problem.Y.shape
    diagonals = form.inverse_diagonals(alphas, workers)
    free = problem.free_share()
    if not isinstance(free, float):  # along columns that cost nothing the system's matrix is alpha I
        diagonals = diagonals - free[:, None] / alphas
    X = form.solve(problem.right_sides(), alphas)
    ones = X[:, t] if problem.fit_intercept else None
    share = problem.weight / problem.weight.sum()
    coef, left = np.empty((g if keep else 0, n, t)), np.empty((g if keep else 0, n, t))
    intercept, errors = np.empty((g, t)), np.empty((g, t))
    for output in range(t):
        one = problem.only(np.array([output]))
        C, intercept[:, output] = one.join(X[:, output], ones)
        residuals = one.left_out(C, diagonals, ones)
        errors[:, output] = share @ (residuals * residuals)
        if keep:
            coef[:, :, output], left[:, :, output] = (problem.root[:, None] * C).T, residuals.T
    return RidgePath(alphas, coef, intercept, left, errors)


def with_columns(found: RidgePath, problem: ParametricRidge, seen: ProjectedGram) -> RidgePath:
    """Return a path with the coefficients of the columns beside the kernel, and their constant as the bias.

    Parameters
    ----------
    found : RidgePath
        Of the problem on the projected matrix.
    problem : ParametricRidge
        The problem.
    seen : ProjectedGram
        That matrix.
    """
    parts = [problem.columns.split(problem.free_coefficients(A, seen)) for A in found.dual_coef]
    bias = np.stack([intercept for intercept, _ in parts])
    return replace(found, intercept=bias, parametric=np.stack([others.T for _, others in parts]))
