r"""Features whose inner products are a kernel on average, drawn at random.

By Bochner's theorem a kernel of the difference x - z is a mean of cosines,
:math:`k(x - z) = E \cos \omega^T (x - z)`, over frequencies from its spectral distribution: the Gaussian for
the RBF kernel, Student's t for the Matern kernels, independent Cauchy numbers for the Laplacian. Frequencies
that are orthogonal to each other, or that fill the space evenly (quasi-random), make the error smaller than
independent ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri
from scipy.stats import qmc

from mercer.kernels.additive import Laplacian
from mercer.kernels.algebra import Constant, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, dense
from mercer.kernels.stationary import RBF, Matern

LEAST = 1e-12  # distance of a quasi-random number from 0 and 1
INTERVALS = {1: 0.8, 2: 0.5, 3: 0.4}  # at which the spectrum of the chi-squared kernel is best sampled


def frequencies(kernel: Kernel, width: int, number: int, sampling: str, rng: np.random.RandomState) -> Array:
    """Return frequencies of a resolved kernel, one in each column.

    Parameters
    ----------
    kernel : RBF, Laplacian or Matern
        The kernel.
    width : int
        Number of features of the data.
    number : int
        How many.
    sampling : {"auto", "independent", "orthogonal", "quasi"}
        How they are drawn. "auto" takes orthogonal ones where the kernel depends on the Euclidean distance,
        else quasi-random ones.
    rng : RandomState
        Draws them.
    """
    if isinstance(kernel, Laplacian):
        if sampling == "orthogonal":
            raise ValueError(
                "sampling='orthogonal' needs a kernel of the Euclidean distance, and the Laplacian kernel is "
                "one of the sum of absolute differences: use 'quasi' or 'independent'"
            )
        uniform = _uniform(width, number, "quasi" if sampling == "auto" else sampling, rng)
        return np.asarray(float(kernel.gamma) * np.tan(math.pi * (uniform - 0.5))).T
    assert isinstance(kernel, RBF | Matern)  # as_spectral has seen to it
    dof = math.inf if isinstance(kernel, RBF) else 2.0 * kernel.nu
    columns = _gaussian(width, number, sampling, rng, heavy=math.isfinite(dof))
    draws = columns[:width]
    if math.isfinite(dof):
        # Student's t: a Gaussian over the root of an independent chi-squared number, in units of its mean.
        draws = draws * np.sqrt(dof / chdtri(dof, columns[width]))
    if isinstance(kernel, RBF):
        scales = np.sqrt(2.0 * np.asarray(kernel.gamma, dtype=np.float64))
    else:
        scales = 1.0 / np.asarray(kernel.length_scale, dtype=np.float64)
    return np.asarray(draws * (scales[:, None] if scales.ndim else scales))


def _uniform(width: int, number: int, sampling: str, rng: np.random.RandomState) -> Array:
    """Return points of the unit cube, one in each row."""
    if sampling != "quasi":
        return np.asarray(rng.uniform(size=(number, width)))
    sequence = qmc.Halton(width, scramble=True, rng=np.random.default_rng(rng.randint(2**31)))
    return np.clip(sequence.random(number), LEAST, 1.0 - LEAST)


def _gaussian(width: int, number: int, sampling: str, rng: np.random.RandomState, heavy: bool) -> Array:
    """Return Gaussian vectors, one in each column; with ``heavy``, a uniform number below each."""
    if sampling == "quasi":
        uniform = _uniform(width + heavy, number, "quasi", rng).T
        return np.vstack([ndtri(uniform[:width]), uniform[width:]])
    if sampling == "independent":
        vectors = rng.standard_normal((width, number))
    else:
        vectors = np.empty((width, number))
        for start in range(0, number, width):
            stop = min(start + width, number)
            Q = np.linalg.qr(rng.standard_normal((width, width)))[0]
            lengths = np.sqrt(rng.chisquare(width, size=stop - start))
            vectors[:, start:stop] = Q[:, : stop - start] * lengths
    return np.vstack([vectors, rng.uniform(size=(1, number))]) if heavy else vectors


def waves(X: Data, F: Array, columns: int, offset: float, out: Array) -> None:
    """Write cosines and sines of the rows' frequencies to ``out``, scaled so that squares sum to about 1.

    An odd number of columns ends with a cosine that is shifted by ``offset``.
    """
    T = np.asarray(X @ F, dtype=out.dtype)
    pairs = columns // 2
    np.cos(T[:, :pairs], out=out[:, :pairs])
    np.sin(T[:, :pairs], out=out[:, pairs : 2 * pairs])
    if columns % 2:
        out[:, -1] = np.cos(T[:, -1] + offset)
    out *= out.dtype.type(math.sqrt(2.0 / columns))


def arcs(X: Data, F: Array, order: int, out: Array) -> None:
    r"""Write features of the arc-cosine kernel: :math:`\sqrt{2 / m} \max(0, \omega^T x)^p`, a step for p = 0.

    References
    ----------
    .. [1] Y. Cho and L. K. Saul (2009). Kernel methods for deep learning. *NeurIPS*, 342-350.
    """
    T = np.asarray(X @ F, dtype=out.dtype)
    out[...] = T > 0 if order == 0 else np.maximum(T, 0.0) ** order
    out *= out.dtype.type(math.sqrt(2.0 / F.shape[1]))


def chi_squared(X: Data, steps: int, out: Array) -> None:
    r"""Write features of the additive chi-squared kernel :math:`\sum_j 2 x_j z_j / (x_j + z_j)`.

    Its spectrum, 1 / cosh(pi l), is sampled at ``steps`` frequencies in the logarithm of each entry: 2 steps
    - 1 features for each.

    References
    ----------
    .. [1] A. Vedaldi and A. Zisserman (2012). Efficient additive kernels via explicit feature maps. *IEEE
       Transactions on Pattern Analysis and Machine Intelligence* 34, 480-492.
    """
    values = np.asarray(dense(X), dtype=np.float64)
    width = values.shape[1]
    interval = INTERVALS.get(steps, 0.4)
    logarithm = np.log(values, out=np.zeros_like(values), where=values > 0)
    out[:, :width] = np.sqrt(values * interval)
    for j in range(1, steps):
        size = np.sqrt(2.0 * values * interval / math.cosh(math.pi * j * interval))
        place = (2 * j - 1) * width
        out[:, place : place + width] = size * np.cos(j * interval * logarithm)
        out[:, place + width : place + 2 * width] = size * np.sin(j * interval * logarithm)


def spectral_parts(kernel: Kernel) -> tuple[Kernel, float, float] | None:
    """Return k, a and c of a kernel a k + c with k an RBF, Laplacian or Matern kernel; None for others."""
    if isinstance(kernel, RBF | Laplacian | Matern):
        return kernel, 1.0, 0.0
    if isinstance(kernel, Scaled):
        inner = spectral_parts(kernel.kernel)
        return None if inner is None else (inner[0], kernel.scale * inner[1], kernel.scale * inner[2])
    if isinstance(kernel, Sum):
        for one, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            inner, level = spectral_parts(one), _constant(other)
            if inner is not None and level is not None:
                return inner[0], inner[1], inner[2] + level
    return None


def _constant(kernel: Kernel) -> float | None:
    if isinstance(kernel, Scaled):
        inner = _constant(kernel.kernel)
        return None if inner is None else kernel.scale * inner
    return float(kernel.value) if isinstance(kernel, Constant) else None


def as_spectral(kernel: Any, gamma: Any, length_scale: Any, nu: float) -> Kernel:
    """Return the kernel that a name and its parameters mean, or the kernel itself; refuse others."""
    named: dict[str, Kernel] = {
        "rbf": RBF(gamma),
        "laplacian": Laplacian(gamma),
        "matern": Matern(length_scale, nu),
    }
    found = kernel if isinstance(kernel, Kernel) else named[kernel]
    if spectral_parts(found) is None:
        raise ValueError(
            f"kernel={kernel!r} has no random features; 'rbf', 'laplacian', 'matern', 'additive_chi2' and "
            "'arc_cosine' do, and multiples of the first three plus a constant. Nystroem takes any kernel"
        )
    return found
