"""The penalty of a ridge regression by the norm that its function may have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.gram import gram
from mercer.solvers.ridge.norm_bound import penalty_for_norm


def alpha_for_norm(model: Any, X: Any, y: ArrayLike, norm: float) -> float:
    r"""Return the ``alpha`` at which a KernelRidge has a given norm.

    .. math::
        \min_w \sum_i (y_i - \langle w, \phi(x_i) \rangle - b)^2 \quad \text{subject to} \quad \|w\| \le B

    is solved by ``KernelRidge(alpha=...)`` with the number returned here: 0 where the bound does not bind.

    Parameters
    ----------
    model : KernelRidge
        Its kernel and ``fit_intercept`` are used; it need not be fitted.
    X : array, CSR or sequence
        Training data.
    y : array of shape (n,)
        Targets.
    norm : float
        B.

    Returns
    -------
    float
        alpha.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Computation 7.40.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.selection import alpha_for_norm
    >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, 2.0])
    >>> round(alpha_for_norm(KernelRidge(kernel="linear"), X, y, 0.5), 6)  # w = 5 / (5 + alpha)
    5.0
    """
    if not (math.isfinite(norm) and norm > 0):
        raise ValueError(f"norm={norm} must be a positive number")
    target = np.asarray(y, dtype=np.float64)
    kernel = model._kernel()
    X = kernel.check(X)
    if target.ndim != 1 or target.size != (X.shape[0] if hasattr(X, "shape") else len(X)):
        raise ValueError(f"y has shape {target.shape}; it must be a vector with an entry for each row of X")
    every = np.arange(target.size)
    K = np.asarray(gram(kernel.resolve(X), X, precision="double").block(every, every), dtype=np.float64)
    return penalty_for_norm(K, target, float(norm), fit_intercept=bool(model.fit_intercept))
