"""Whether a kernel matrix is positive semi-definite, how far off it is, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigvalsh

from mercer.kernels.base import Kernel
from mercer.kernels.data import check_matrix, size, take
from mercer.kernels.names import as_kernel

Verdict = Literal["positive definite", "positive semi-definite", "indefinite", "not symmetric"]

LARGEST = 4000  # rows whose eigenvalues are computed; of more, a sample is looked at
DOUBLE, SINGLE = 1e-10, 1e-5  # share of the largest eigenvalue that rounding may account for
ASYMMETRY = 1e-8  # of the largest value: what rounding makes of K_ij and K_ji


@dataclass(frozen=True)
class Definiteness:
    """The definiteness of a kernel matrix, by its eigenvalues.

    Attributes
    ----------
    verdict : {"positive definite", "positive semi-definite", "indefinite", "not symmetric"}
        By how the smallest eigenvalue compares with ``rounding``.
    smallest_eigenvalue, largest_eigenvalue : float
        Of (K + K') / 2.
    asymmetry : float
        Largest difference of K_ij and K_ji.
    rounding : float
        Size up to which an eigenvalue may be rounding.
    n, looked_at : int
        Rows of the matrix, and how many of them were looked at: with a sample, a negative eigenvalue is still
        a proof, a positive one is none.
    remedy : str
        What to do about it; empty where nothing needs to be done.
    """

    verdict: Verdict
    smallest_eigenvalue: float
    largest_eigenvalue: float
    asymmetry: float
    rounding: float
    n: int
    looked_at: int
    remedy: str

    @property
    def is_psd(self) -> bool:
        """Whether nothing speaks against a positive semi-definite matrix."""
        return self.verdict in ("positive definite", "positive semi-definite")

    def __bool__(self) -> bool:
        return self.is_psd

    def __str__(self) -> str:
        looked = "" if self.looked_at == self.n else f" of a sample of {self.looked_at} of {self.n} rows"
        text = (
            f"{self.verdict}: eigenvalues{looked} from {self.smallest_eigenvalue:.6g} to "
            f"{self.largest_eigenvalue:.6g}; up to {self.rounding:.1g} may be rounding"
        )
        if self.verdict == "not symmetric":
            text += f"; K_ij and K_ji differ by up to {self.asymmetry:.3g}"
        return f"{text}. {self.remedy}".rstrip()


def check_psd(kernel: Any, X: Any = None, *, random_state: int = 0) -> Definiteness:
    """Check whether a kernel matrix is positive semi-definite, and recommend a remedy if not.

    Parameters
    ----------
    kernel : array of shape (n, n), Kernel, str or callable
        The matrix itself, or a kernel whose matrix on the items X is looked at.
    X : array, CSR matrix or sequence, optional
        The items, beside a kernel.
    random_state : int, default=0
        Of the sample of rows that is looked at where there are more than 4000.

    Returns
    -------
    Definiteness
        True in a condition if the matrix passes; prints as a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Sigmoid, check_psd
    >>> found = check_psd(Sigmoid(gamma=1.0, coef0=-1.0), [[0.0], [1.0], [2.0]])
    >>> found.verdict, round(found.smallest_eigenvalue, 3)
    ('indefinite', -1.27)
    >>> bool(check_psd(Sigmoid(gamma=1.0, coef0=-1.0).clipped(), [[0.0], [1.0], [2.0]]))
    True
    """
    given_matrix = X is None
    if given_matrix:
        if isinstance(kernel, Kernel | str) or callable(kernel):
            raise TypeError(f"kernel={kernel!r} needs X, the items whose kernel matrix is looked at")
        K = check_matrix(kernel, estimator=None, name="kernel")
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"a kernel matrix is square; this one has shape {K.shape}")
        n = K.shape[0]
        idx = _sample(n, random_state)
        K = K if idx is None else K[np.ix_(idx, idx)]
    else:
        used = as_kernel(kernel)
        if used.pairwise:
            raise ValueError("a precomputed kernel has no items: pass the matrix itself, without X")
        items = used.check(X)
        used = used.resolve(items)
        n = size(items)
        idx = _sample(n, random_state)
        K = np.asarray(used.evaluate(items if idx is None else take(items, idx)))
    return _judged(np.asarray(K), n, given_matrix)


def _sample(n: int, seed: int) -> Any:
    if n <= LARGEST:
        return None
    return np.sort(np.random.default_rng(seed).choice(n, size=LARGEST, replace=False))


def _judged(K: Any, n: int, given_matrix: bool) -> Definiteness:
    share = SINGLE if K.dtype == np.float32 else DOUBLE
    values = np.asarray(K, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("the kernel matrix holds infinite values or nan: scale the features")
    asymmetry = float(np.abs(values - values.T).max(initial=0.0))
    spectrum = eigvalsh(0.5 * (values + values.T))
    smallest, largest = float(spectrum[0]), float(spectrum[-1])
    rounding = share * float(np.abs(spectrum).max(initial=0.0))
    verdict: Verdict = "positive definite"
    if asymmetry > max(ASYMMETRY, share) * float(np.abs(values).max(initial=0.0)):
        verdict = "not symmetric"
    elif smallest < -rounding:
        verdict = "indefinite"
    elif smallest <= rounding:
        verdict = "positive semi-definite"
    remedy = _remedy(verdict, smallest, spectrum, rounding, given_matrix)
    return Definiteness(verdict, smallest, largest, asymmetry, rounding, n, values.shape[0], remedy)


def _remedy(verdict: str, smallest: float, spectrum: Any, rounding: float, given_matrix: bool) -> str:
    if verdict == "not symmetric":
        return "Use (K + K') / 2, if both halves mean the same, or fix the kernel."
    if verdict != "indefinite":
        return ""
    negative = int((spectrum < -rounding).sum())
    part = float(np.abs(spectrum[spectrum < 0]).sum() / np.abs(spectrum).sum())
    how = (
        f"add {-smallest:.4g} to the diagonal (shift), or set the negative eigenvalues to 0 (clip) or to "
        "their absolute values (flip)"
        if given_matrix
        else f".shifted() adds {-smallest:.4g} to the diagonal, .clipped() drops the negative directions, "
        ".flipped() makes them positive; all three apply to new points"
    )
    advice = "clip" if part < 0.1 else "flip, or another kernel"
    return (
        f"{negative} eigenvalues are negative and carry {part:.1%} of the spectrum: {how}. With so "
        f"{'little' if part < 0.1 else 'much'}, rather {advice}."
    )
