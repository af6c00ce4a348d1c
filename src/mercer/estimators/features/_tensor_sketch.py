"""Sketches of polynomial kernels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.features._blocks import in_blocks
from mercer.estimators.validation import validated
from mercer.kernels.tensor_sketch import draw_hashes, hashing_matrices, overflows, sketch
from mercer.threads import Workers, resolve_threads
from mercer.values import keep_parameters


class TensorSketch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Features whose inner products approximate :math:`(\gamma \langle x, z \rangle + c_0)^p`.

    The features of a polynomial kernel are the products of p entries, of which there are too many; this
    sketches them into ``n_components`` numbers without making them. Parameters are those of
    :class:`sklearn.kernel_approximation.PolynomialCountSketch`.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor.
    degree : int, default=2
        p.
    coef0 : float, default=0.0
        The constant.
    n_components : int, default=100
        Number of features.
    random_state : int, RandomState or None, default=None
        Draws the hashes.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).

    Attributes
    ----------
    hash_indices_ : ndarray of shape (degree, n_features + 1)
        The bucket of each feature, and of the constant, in each of the sketches that are multiplied.
    hash_signs_ : ndarray of shape (degree, n_features + 1)
        Their signs.
    n_features_in_ : int
        Number of features of the data.

    See Also
    --------
    Nystroem : Features of any kernel, from landmarks.

    References
    ----------
    .. [1] N. Pham and R. Pagh (2013). Fast and scalable polynomial kernels via explicit feature maps. *KDD*,
       239-247.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TensorSketch
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Z = TensorSketch(degree=2, n_components=4096, random_state=0).fit_transform(X)
    >>> error = np.abs(Z @ Z.T - (X @ X.T) ** 2).max() / ((X @ X.T) ** 2).max()
    >>> bool(error < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0, None, closed="left")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the hashes.

        Parameters
        ----------
        X : {array, CSR} of shape (n_samples, n_features)
            Data. Only their number of features counts.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self._refuse_overflow(X)
        rng = check_random_state(self.random_state)
        width, m = X.shape[1] + 1, int(self.n_components)
        self.hash_indices_, self.hash_signs_ = draw_hashes(int(self.degree), width, m, rng)
        self._n_features_out = m
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of points.

        Parameters
        ----------
        X : {array, CSR} of shape (n, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n, n_components)
            Features, in the precision of the data.
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        self._refuse_overflow(X)
        width = int(self._n_features_out)
        matrices = hashing_matrices(self.hash_indices_, self.hash_signs_, width)

        def block(rows: Any, out: np.ndarray) -> None:
            out[...] = sketch(rows, matrices, float(self.gamma), float(self.coef0))

        return in_blocks(X, width, Workers(resolve_threads(self.n_jobs)), block)

    def _refuse_overflow(self, X: Any) -> None:
        if overflows(X, float(self.gamma), float(self.coef0), int(self.degree)):
            raise ValueError(
                f"degree={self.degree!r}: the powers of some rows of X are beyond what float64 can hold: "
                "scale the features (StandardScaler), or lower degree or gamma"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
