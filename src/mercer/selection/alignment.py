"""Kernel-target alignment: whether the kernel calls points similar that have similar targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64


def target_alignment(K: Any, y: NDArray[Any], *, classes: bool, weight: Float64 | None = None) -> float:
    r"""Return the centred alignment of a kernel matrix with the targets.

    .. math::
        A = \frac{\langle K_c, T_c \rangle_F}{\|K_c\|_F \, \|T_c\|_F}

    with T = y y' for numbers and T_ij = [y_i = y_j] for classes, both centred in feature space. It lies
    between -1 and 1 (0 and 1 for a positive semi-definite K), and 1 means that the kernel is the target.

    Parameters
    ----------
    K : (n, n) ndarray
        Kernel matrix.
    y : (n,) ndarray
        Targets.
    classes : bool
        Whether the targets are classes.
    weight : (n,) float64, optional
        Sample weights; a weight of 2 equals the row twice.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff and Kandola (2002), On kernel-target alignment, NIPS 14. Cortes,
    Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment, JMLR 13.
    """
    n = y.shape[0]
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    root = np.sqrt(share)
    if classes:
        T = (np.unique(y)[None, :] == y[:, None]).astype(np.float64)
    else:
        T = np.asarray(y, dtype=np.float64)[:, None]
    T = root[:, None] * (T - share @ T)
    Kc = np.asarray(K, dtype=np.float64)
    means = Kc @ share
    Kc = Kc - means[:, None] - means[None, :] + float(share @ means)
    Kc *= root[:, None]
    Kc *= root[None, :]
    sizes = float(np.linalg.norm(Kc)) * float(np.linalg.norm(T.T @ T))
    return float(np.sum(T * (Kc @ T))) / sizes if sizes > 0 else 0.0
