"""Regularised least squares: objective, dual, gap, bias and leave-one-out residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.problems.certificate import Certificate, combine, relative
from mercer.problems.problem import Values

FEASIBLE = 1e-9  # sum of the coefficients, relative to their size, that rounding explains


@dataclass(frozen=True)
class Ridge:
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

    def evaluate(self, A: Float64, intercept: Float64, F: Float64) -> list[Values]:
        """Return the values of given coefficients and biases, given F = K A."""
        out = []
        for t in range(A.shape[1]):
            a, b, f, y, alpha = A[:, t], float(intercept[t]), F[:, t], self.Y[:, t], float(self.alpha[t])
            misfit = y - b - f
            residual = misfit - alpha * a / self.weight
            gap = float(self.weight @ (residual * residual))
            primal = float(self.weight @ (misfit * misfit)) + alpha * float(a @ f)
            violation = float(np.abs(residual).max(initial=0.0))
            unbalanced = abs(float(a.sum())) > FEASIBLE * float(np.abs(a).sum())
            if self.fit_intercept and unbalanced:
                out.append(Values(primal, -np.inf, np.inf, np.inf, np.array([b])))
            else:
                out.append(Values(primal, primal - gap, gap, violation, np.array([b])))
        return out

    def certificate(
        self, A: Float64, intercept: Float64, F: Float64, n_iter: int, status: str, psd: bool
    ) -> Certificate:
        """Return the certificate of given coefficients and biases, with one part for each output."""
        parts = []
        for v in self.evaluate(A, intercept, F):
            gap = v.gap if psd else float("nan")
            verdict = "stationary" if not psd and status == "optimal" else status
            quotient = relative(gap, v.primal, v.dual) if psd else gap
            parts.append(
                Certificate(v.primal, v.dual, gap, quotient, v.violation, n_iter, verdict, criterion="gap")
            )
        joint = combine(parts)
        return Certificate(
            joint.primal, joint.dual, joint.gap, joint.relative_gap, joint.kkt_violation, n_iter,
            joint.status, joint.criterion, joint.parts,
        )  # fmt: skip

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
