"""What scikit-learn calls the parts of a fitted Gaussian process regression."""

from __future__ import annotations

from typing import Any

from mercer.arrays import Float64
from mercer.estimators.gaussian._regression_posterior import RegressionPosterior
from mercer.solvers.gaussian.kriging import KrigingPosterior
from mercer.solvers.gaussian.posterior import ExactPosterior


class SklearnNames(RegressionPosterior):
    """A regressor whose attributes scikit-learn's users know by other names."""

    @property
    def X_train_(self) -> Any:  # noqa: N802
        """The training data."""
        return self.X_fit_

    @property
    def y_train_(self) -> Float64:
        """The outputs, as the process sees them."""
        return self._Y[:, 0] if self._flat else self._Y

    @property
    def alpha_(self) -> Float64:
        """The coefficients of the mean."""
        coef: Float64 = self.dual_coef_
        return coef

    @property
    def L_(self) -> Float64:  # noqa: N802
        """Cholesky's factor of K + noise; around a trend, of the matrix projected along its columns."""
        if not isinstance(self._posterior, ExactPosterior | KrigingPosterior):
            raise AttributeError("there is no factor L_: conjugate gradients have solved the system")
        return self._posterior.system.triangle()

    @property
    def _y_train_mean(self) -> Float64:
        return self._y_mean

    @property
    def _y_train_std(self) -> Float64:
        return self._y_std
