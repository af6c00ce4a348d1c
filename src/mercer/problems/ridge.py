"""Regularised least squares: objective, dual, gap, bias and leave-one-out residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.problem import FEASIBLE, Machine, Problem, Values

EPS = 4 * float(np.finfo(np.float64).eps)
ROUNDING = 1e-6  # share of w y / alpha, times FEASIBLE, that the rounding of y leaves in a coefficient


@dataclass(frozen=True)
class Ridge(Problem):
    r"""Least squares with a penalty on the norm, for several outputs at once.

    .. math::
        \min_{f, b} \; \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2,
        \qquad f = \sum_i a_i k(x_i, \cdot)

    The coefficients solve :math:`(K + \alpha W^{-1}) a + b 1 = y`, with :math:`1^T a = 0` if there is a bias.
    With :math:`D = W^{1/2}` and a = D c this is :math:`(D K D + \alpha I) c = D (y - b 1)`, which solvers are
    given: its condition does not suffer from weights of different sizes.

    The dual value of any a (that sums to 0 if there is a bias) is
    :math:`\alpha (2 a^T y - a^T (K + \alpha W^{-1}) a)`, and the gap is the squared residual of the system,
    :math:`\sum_i w_i (y_i - b - (K a)_i - \alpha a_i / w_i)^2`: a sum of non-negative terms. Divided by alpha
    the two values are the lower and the upper bound on :math:`y^T (K + \alpha W^{-1})^{-1} y` that are known
    as Skilling's [1]_.

    Parameters
    ----------
    Y : (n, t) array
        A column for each output.
    weight : (n,) array
        Positive weights of the points.
    alpha : (t,) array
        The penalty of each output.
    fit_intercept : bool
        Whether there is a bias, which is not penalised.

    References
    ----------
    .. [1] M. Gibbs and D. J. C. MacKay (1997). Efficient implementation of Gaussian processes. Technical
       report, Cavendish Laboratory, Cambridge.
    .. [2] C. Saunders, A. Gammerman and V. Vovk (1998). Ridge regression learning algorithm in dual
       variables. *International Conference on Machine Learning*, 515-521.
    """

    Y: Float64
    weight: Float64
    alpha: Float64
    fit_intercept: bool = False

    @property
    def root(self) -> Float64:
        """The diagonal of D."""
        return np.sqrt(self.weight)

    def right_sides(self) -> Float64:
        """Return D Y and, if there is a bias, D 1 behind it: what the scaled system is solved for."""
        columns = [self.Y, np.ones((self.Y.shape[0], 1))] if self.fit_intercept else [self.Y]
        return np.asarray(self.root[:, None] * np.hstack(columns))

    def only(self, outputs: NDArray[np.intp]) -> Ridge:
        """Return the problem of some outputs."""
        return Ridge(self.Y[:, outputs], self.weight, self.alpha[outputs], self.fit_intercept)

    def join(self, C: Float64, ones: Float64 | None) -> tuple[Float64, Float64]:
        """Return c, which with its bias solves the scaled system, and the biases.

        Parameters
        ----------
        C : (n, t) array
            (D K D + alpha I)^-1 D Y, perhaps approximately.
        ones : (n, t) or (n, 1) array or None
            (D K D + alpha I)^-1 D 1, if there is a bias.

        Returns
        -------
        C, intercept : (n, t) array, (t,) array
            The coefficients sum to 0 also where the solutions are approximate.
        """
        if ones is None:
            return C, np.zeros(C.shape[1])
        sums = self.root @ ones
        mean = self.weight @ self.Y / self.weight.sum()
        # A constant that no function of the kernel contains is fitted by the mean.
        intercept = np.where(sums > 0, self.root @ C / np.where(sums > 0, sums, 1.0), mean)
        return C - ones * intercept, intercept

    def split(self, X: Float64) -> tuple[Float64, Float64 | None]:
        """Return the columns of `right_sides`, or of what belongs to them: those of Y, that of the bias."""
        t = self.Y.shape[1]
        return X[:, :t], X[:, t:] if self.fit_intercept else None

    def gaps(self, X: Float64, R: Float64) -> tuple[Float64, Float64]:
        """Return gap and dual value of each output at approximate solutions X with residuals R.

        Parameters
        ----------
        X, R : array of the shape of `right_sides`
            Approximate solutions of the scaled system, and what is left of the right sides.

        Returns
        -------
        gaps, duals : (t,) array
        """
        C, intercept = self.join(*self.split(X))
        residual = self.joined(R, intercept)
        targets = self.root[:, None] * self.Y
        duals = self.alpha * np.einsum("ij,ij->j", C, targets + residual)
        return np.einsum("ij,ij->j", residual, residual), np.asarray(duals)

    def joined(self, R: Float64, intercept: Float64) -> Float64:
        """Return the residuals of the scaled system with these biases, given those of its right sides."""
        residual, ones = self.split(R)
        return residual if ones is None else residual - ones * intercept

    def free_share(self) -> Float64 | float:
        """Return how much of each point's place in an inverse belongs to columns that cost nothing."""
        return 0.0

    # -- what the other problems have, too -------------------------------------------------------------------

    @property
    def n(self) -> int:  # type: ignore[override]
        """Number of points."""
        return int(self.Y.shape[0])

    def outputs(self) -> list[Ridge]:
        """Return the problem of each output: they share nothing but the kernel matrix."""
        return [self.only(np.array([t])) for t in range(self.Y.shape[1])]

    def start(self) -> Float64:
        """Return zero."""
        return np.zeros(self.n)

    def nearest(self, b: Float64) -> Float64:
        """Return b with the sum that a bias asks for."""
        return b - b.mean() if self.fit_intercept else b

    def beta(self, b: Float64) -> Float64:
        """Return the coefficients."""
        return b

    def recover(self, coef: Float64) -> Float64:
        """Return the coefficients."""
        return coef

    def evaluate(
        self, b: Float64, f: Float64, multipliers: Float64 | None = None, noise: Float64 | float = 0.0
    ) -> Values:
        """Return the values of the coefficients of one output, given f = K b."""
        y, alpha = self.Y[:, 0], float(self.alpha[0])
        if multipliers is None:
            free = y - f - alpha * b / self.weight
            multipliers = np.array([float(self.weight @ free) / float(self.weight.sum())])
        bias = float(multipliers[0]) if self.fit_intercept else 0.0
        misfit = y - bias - f
        residual = misfit - alpha * b / self.weight
        gap = float(self.weight @ (residual * residual))
        primal = float(self.weight @ (misfit * misfit)) + alpha * float(b @ f)
        violation = float(np.abs(residual).max(initial=0.0))
        error = noise + EPS * (np.abs(y) + abs(bias) + np.abs(f) + alpha * np.abs(b) / self.weight)
        rounding = float(self.weight @ (2.0 * np.abs(residual) * error + error * error))
        rounding += alpha * float(np.abs(b) @ (noise + np.zeros(b.size)))
        missed = abs(float(b.sum())) if self.fit_intercept else 0.0
        size = float(np.abs(b).sum())
        if missed > FEASIBLE * size and alpha > 0:
            size += ROUNDING * float(self.weight @ (np.abs(y) + abs(bias))) / alpha
        if missed > FEASIBLE * size:
            return Values.infeasible(primal, multipliers)
        rounding += 4.0 * alpha * missed * violation
        size = float(self.weight @ (y * y)) + alpha * float(np.abs(b * f).sum())
        return Values(primal, primal - gap, gap, violation, multipliers, rounding, size)

    def machine(self, b: Float64, f: Float64) -> Machine:
        """Return the function."""
        return Machine(b, float(self.evaluate(b, f).multipliers[0]) if self.fit_intercept else 0.0, f)

    def certify(self, machine: Machine, f: Float64, noise: Float64 | float = 0.0) -> Values:
        """Return what a shipped machine is worth, given f = K coef."""
        return self.evaluate(machine.coef, f, np.array([machine.intercept]), noise)

    def left_out(self, C: Float64, diagonal: Float64, ones: Float64 | None) -> Float64:
        r"""Return what each point's output differs by from the prediction of a fit without that point.

        With G the inverse of the system's matrix (bordered by the bias) this is :math:`a_i / G_{ii}`: leaving
        out a point is demanding that its coefficient be 0.

        Parameters
        ----------
        C : (n, t) array
            Scaled coefficients, as `join` returns them.
        diagonal : (n, t) or (n, 1) array
            The diagonal of (D K D + alpha I)^-1.
        ones : (n, t) or (n, 1) array or None
            (D K D + alpha I)^-1 D 1, if there is a bias.

        Returns
        -------
        (n, t) array

        References
        ----------
        .. [1] R. D. Cook and S. Weisberg (1982). *Residuals and Influence in Regression*. Chapman and Hall.
        """
        if ones is not None:
            sums = self.root @ ones
            diagonal = diagonal - ones * ones / np.where(sums > 0, sums, np.inf)
        return np.asarray(C / (self.root[:, None] * diagonal))
