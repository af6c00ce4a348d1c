"""Pre-images: points whose images lie near given points of a subspace of feature space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.estimators.projection._base import KernelProjection
from mercer.kernels import RBF, Linear
from mercer.problems.components import Components
from mercer.problems.preimage import LearnedMap, expansion, nearest_images
from mercer.solvers.projection.preimages import gaussian_preimages, learned_map, ridge_coefficients

MAP_ROWS = 2000  # training points from which a pre-image map is learned


class PreimageProjection(KernelProjection):
    """A projection on principal components that finds the way back, by what it learned or directly."""

    fit_inverse_transform: bool
    preimages: str
    alpha: float
    X_fit_: Any
    _components: Components
    _coef: Float64  # of the directions, in the images of the training points
    _squares: Float64  # k(x, x) of the training points
    _map: LearnedMap | None
    _n_features_out: int

    def _learn_preimages(self, X: Any) -> None:
        """Learn the regression of the points on their projections, with the kernel of the fit."""
        if not (isinstance(X, np.ndarray) and X.ndim == 2):
            raise ValueError(
                f"fit_inverse_transform=True needs data that are vectors, which kernel={self.kernel_!r} does "
                "not promise"
            )
        if np.ndim(getattr(self.kernel_, "gamma", 0.0)) > 0:
            raise ValueError(
                "fit_inverse_transform=True: a vector gamma is not supported for projections; set "
                "preimages='direct'"
            )
        n = self._length(X)
        room = max(1, math.isqrt(self._cache_bytes() // 8))
        idx = np.unique(np.linspace(0, n - 1, min(n, room)).astype(np.intp))
        self.X_transformed_fit_ = self._components.projections[idx]
        K = np.array(self.kernel_.evaluate(self.X_transformed_fit_), dtype=np.float64)
        self.dual_coef_ = ridge_coefficients(K, np.asarray(X[idx], dtype=np.float64), float(self.alpha))

    def _learned_map(self, X: Any) -> LearnedMap | None:
        if self._pairwise_kernel or not self.kernel_.is_vector:
            raise ValueError(
                f"fit_inverse_transform=True needs data that are vectors, which kernel={self.kernel_!r} does "
                "not promise"
            )
        if isinstance(self.kernel_, RBF | Linear):  # these have better ones
            return None
        n = self._length(X)
        idx = np.unique(np.linspace(0, n - 1, min(n, MAP_ROWS)).astype(np.intp))
        rows = self.kernel_.take(X, idx)
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
        return learned_map(self._components.projections[idx], rows, self.alpha)

    def inverse_transform(self, X: Any) -> Any:
        r"""Return points whose images lie near :math:`\mu + \sum_j z_j v_j`.

        With ``preimages="ridge"`` what a kernel ridge regression learned, if ``fit_inverse_transform``. With
        "direct": for the linear kernel that point itself; for the Gaussian kernel the end of a fixed-point
        iteration; for other kernels on vectors what was learned, if ``fit_inverse_transform``; for other
        items the training item with the nearest image.

        Parameters
        ----------
        X : array of shape (n, n_components)
            Projections z.

        Returns
        -------
        ndarray of shape (n, n_features), or a sequence of items
        """
        check_is_fitted(self)
        if self.preimages == "ridge" and not hasattr(self, "dual_coef_"):
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when fitting, and hence the inverse "
                "transform is not available; preimages='direct' needs none for many kernels"
            )
        Z = check_array(X, dtype=np.float64, input_name="X", estimator=self)
        if Z.shape[1] != self._n_features_out:
            raise ValueError(f"X has {Z.shape[1]} columns; there are {self._n_features_out} components")
        if self.preimages == "ridge":
            return self._products(Z, self.X_transformed_fit_, self.dual_coef_)
        if self._map is not None:
            return self._map(Z)
        if self._pairwise_kernel:
            raise ValueError("kernel='precomputed' has no training points that pre-images could be made of")
        if isinstance(self.kernel_, Linear):
            return expansion(self._coef, Z) @ self.X_fit_
        nearest = nearest_images(self._squares, self._components.projections, Z)
        start = self.kernel_.take(self.X_fit_, nearest)
        if isinstance(self.kernel_, RBF):
            start = start.toarray() if hasattr(start, "toarray") else start
            return gaussian_preimages(self.X_fit_, self.kernel_.gamma, self._coef, Z, start)
        if self.kernel_.is_vector:
            raise NotFittedError(
                f"pre-images of kernel={self.kernel_!r} are learned in fit: set fit_inverse_transform=True"
            )
        return start
