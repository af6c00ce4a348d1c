"""Kernel matrices by their definitions, in extended precision."""

import numpy as np

Wide = np.longdouble


def matrix(kernel, X):
    """Return k(x_i, x_j) of a resolved kernel; None for kernels that are not written out here.

    Parameters
    ----------
    kernel : mercer.kernels.Kernel
        Resolved: its class and its numbers are used, none of its methods.
    X : array, sparse array, data frame or square matrix
        As given to ``fit``.
    """
    name = type(kernel).__name__
    if hasattr(X, "toarray"):
        X = X.toarray()
    if isinstance(X, list) and X and isinstance(X[0], str):
        return None
    X = np.asarray(X)
    X = X.astype(Wide)
    with np.errstate(all="ignore"):
        K = _matrix(kernel, name, X)
    return K if K is not None and np.isfinite(K).all() and float(np.abs(K).max(initial=0.0)) < 1e300 else None


def _matrix(kernel, name, X):
    if name == "Precomputed":
        return X
    if name == "Linear":
        return _products(X)
    if name == "Polynomial":
        base = Wide(kernel.gamma) * _products(X) + Wide(kernel.coef0)
        return base ** Wide(kernel.degree)
    if name == "RBF" and np.ndim(kernel.gamma) == 0:
        squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        return np.exp(-Wide(kernel.gamma) * squares)
    if name == "Laplacian" and np.ndim(kernel.gamma) == 0:
        return np.exp(-Wide(kernel.gamma) * np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2))
    return None


def _products(X):
    return (X[:, None, :] * X[None, :, :]).sum(axis=2)


def is_psd(K):
    """Return whether a matrix is symmetric and positive semi-definite, as far as float64 can tell."""
    scale = float(np.abs(K).max(initial=0.0))
    if scale == 0.0:
        return True
    if float(np.abs(K - K.T).max()) > 1e-15 * scale:
        return False
    values = np.linalg.eigvalsh((K / Wide(scale)).astype(float))
    return bool(values[0] >= -1e-13 * max(values[-1], 1e-300) * len(K))
