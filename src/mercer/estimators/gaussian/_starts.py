"""Where the search for the parameters of a Gaussian process begins when the data are to say so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.gram.kernel_family import Family
from mercer.kernels import RBF, Constant, Kernel
from mercer.kernels.data import is_sparse

WIDEST = 32  # columns up to which each gets a width of its own
WIDTHS = (1.0, 0.25, 4.0)  # factors of the data's own widths
SHARES = (0.1, 0.5, 0.01)  # shares of the outputs' variance that are noise
TINY = 1e-300


def spreads(X: Any) -> Float64 | None:
    """Return the standard deviation of each column, 1 for constant ones; None for what has no columns."""
    if getattr(X, "ndim", 1) != 2:
        return None
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    else:
        variance = np.var(np.asarray(X, dtype=np.float64), axis=0)
    return np.sqrt(np.where(variance > TINY, variance, 1.0))


def default_kernel(X: Any, centred: bool) -> Kernel:
    """Return a Gaussian kernel with a width for each of not too many columns, and an offset if it is needed.

    Parameters
    ----------
    X : array, CSR or sequence
        Checked data.
    centred : bool
        Whether the outputs have mean zero.
    """
    spread = spreads(X)
    few = spread is not None and spread.size <= WIDEST
    gamma: Any = 0.5 / (spread.size * spread**2) if spread is not None and few else "scale"
    if spread is not None and spread.size == 1:
        gamma = float(gamma[0])
    return with_amplitude(RBF(gamma=gamma), centred)


def with_amplitude(kernel: Kernel, centred: bool) -> Kernel:
    """Return a kernel with a variance of its own, and with an offset unless the outputs have mean zero."""
    return 1.0 * kernel if centred else 1.0 * kernel + Constant(1.0)


def data_starts(family: Family, Y: Float64, own: Float64) -> list[Float64]:
    """Return starts with the scales of the data: wide, middling and narrow, with little and much noise.

    Parameters
    ----------
    family : Family
        The kernels. Parameters are known by their names: widths, factors, constants. Others stay as they are.
    Y : (n, t) array
        Outputs, as the process sees them.
    own : (p,) array
        The user's start, with the logarithm of the noise at its end.

    Returns
    -------
    list of (p,) array
    """
    spread = spreads(family.X)
    variance = max(float(Y.var(axis=0).mean()), TINY)
    offset = max(float((Y.mean(axis=0) ** 2).mean()), variance)
    starts = []
    for width in WIDTHS:
        theta = own.copy()
        for j, label in enumerate(family.labels):
            name, _, place = label.rpartition("__")[2].partition("[")
            column = None if spread is None else spread[int(place[:-1])] if place else None
            if spread is not None and name in ("gamma", "length_scale"):
                one = column if column is not None else math.sqrt(float((spread**2).mean()))
                length = math.log(width) + math.log(one) + 0.5 * math.log(spread.size)
                theta[j] = length if name == "length_scale" else -2.0 * length - math.log(2.0)
            elif name == "scale" or name == "constant_value":
                theta[j] = math.log(variance)
            elif name == "value":
                theta[j] = math.log(offset)
            elif name == "noise_level":
                theta[j] = math.log(0.1 * variance)
        for share in SHARES:
            start = theta.copy()
            start[-1] = math.log(share * variance)
            starts.append(start)
    return starts


def constant_evidence(Y: Float64) -> float:
    """Return the log probability of outputs that are a constant and noise, both the best for them."""
    n = Y.shape[0]
    variances = np.maximum(Y.var(axis=0), TINY)
    return float(-0.5 * n * (np.log(2.0 * math.pi * variances) + 1.0).sum())
