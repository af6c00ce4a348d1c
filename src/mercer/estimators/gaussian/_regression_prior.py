"""What a Gaussian process of numbers says before it has seen any."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.gaussian._base import BaseGaussianProcess
from mercer.estimators.gaussian._outputs import squeezed
from mercer.gram.sklearn_family import family_of
from mercer.kernels.sklearn_kernels import is_sklearn_kernel
from mercer.kernels.tuning import Tuning


class RegressionPrior(BaseGaussianProcess):
    """A regressor that predicts from its kernel alone until it is fitted."""

    n_targets: int | None

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        """Return mean and uncertainty before any data are seen."""
        kernel = self._kernel()
        if kernel.pairwise:
            check_is_fitted(self)
        kernel.validate()
        X = self._check_X(X, kernel=kernel, reset=False)
        given, outputs = self._given_kernel(), self.n_targets or 1
        tuning = None if is_sklearn_kernel(given) else Tuning(kernel.resolve_on(X, None))
        family = family_of(given, tuning, X, self._workers())
        member = family.at(family.theta)
        mean = squeezed(np.zeros((self._length(X), outputs)))
        if return_cov:
            cov = member.prior_covariance(X)
            return mean, squeezed(np.repeat(cov[:, :, None], outputs, axis=2))
        if return_std:
            std = np.sqrt(member.prior_variances(X))
            return mean, squeezed(np.repeat(std[:, None], outputs, axis=1))
        return mean
