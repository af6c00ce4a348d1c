# ruff: noqa: D102  what overrides a method is documented in the base class
"""Several kernels whose weights are learned together with the machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from mercer.kernels.algebra import Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Composite
from mercer.kernels.data import Array, Data
from mercer.values import is_real

WAYS = ("learned", "alignment")  # in which weights are found


class MultipleKernel(Composite):
    r""":math:`k(x, z) = \sum_j \theta_j k_j(x, z)` with weights that are learned together with the machine.

    .. math::
        \min_{\theta \ge 0, \, \|\theta\|_p \le 1} \; \min_{f_1, f_2, \ldots, b} \;
        \tfrac12 \sum_j \frac{\|f_j\|^2}{\theta_j} + C \sum_i L\Bigl(y_i, \sum_j f_j(x_i) + b\Bigr)

    Each kernel is first divided by the mean of :math:`k_j(x, x)` over the training rows (unit trace per row),
    so that weights compare, and C keeps its meaning. :class:`~mercer.SVC`, :class:`~mercer.SVR`,
    :class:`~mercer.OneClassSVM` and :class:`~mercer.KernelRidge` learn the weights; their ``certificate_`` is
    the duality gap of this joint problem. After ``fit``, ``kernel_weights_`` holds :math:`\theta` and
    ``kernel_`` the weighted sum, an ordinary kernel without the parts of weight 0.

    Parameters
    ----------
    kernels : list of Kernel
        The kernels, all positive semi-definite. Kernels on groups of columns (``k.on(...)``) select groups.
    norm : float, default=1.0
        The p of the norm, from 1 to ``np.inf``: 1 gives few weights other than 0, larger numbers weights that
        are more and more alike, and ``np.inf`` the plain sum, which every estimator accepts.
    weights : {"learned", "alignment"}, default="learned"
        "alignment" takes the weights, before the machine is fitted, whose sum is most similar to that of an
        ideal kernel (centred alignment with the target, a non-negative least-squares problem) [2]_. The
        certificate is then that of the machine with this kernel.

    References
    ----------
    .. [1] M. Kloft, U. Brefeld, S. Sonnenburg and A. Zien (2011). lp-norm multiple kernel learning. *Journal
       of Machine Learning Research* 12, 953-997.
    .. [2] C. Cortes, M. Mohri and A. Rostamizadeh (2012). Algorithms for learning kernels based on centered
       alignment. *Journal of Machine Learning Research* 13, 795-828.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.kernels import RBF, MultipleKernel
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> y = X[:, 1] ** 2 > 0.5
    >>> kernel = MultipleKernel([RBF().on([column]) for column in range(3)])
    >>> SVC(kernel=kernel, C=10).fit(X, y).kernel_weights_.argmax()
    np.int64(1)
    """

    def __init__(self, kernels: Sequence[Kernel], norm: float = 1.0, weights: str = "learned") -> None:
        self.kernels = kernels
        self.norm = norm
        self.weights = weights

    @property
    def parts(self) -> list[Kernel]:
        return list(self.kernels)

    @property
    def is_psd(self) -> bool | None:
        return True if all(part.is_psd for part in self.parts) else None

    @property
    def is_nonnegative(self) -> bool | None:
        return True if all(part.is_nonnegative for part in self.parts) else None

    @property
    def is_resolved(self) -> bool:
        return False  # traces and weights are those of the training data

    @property
    def depends_on_data(self) -> bool:
        return True  # through the same

    @property
    def is_plain_sum(self) -> bool:
        """Whether nothing is to be learned."""
        return math.isinf(self.norm) and self.weights == "learned"

    def _check_parts(self) -> None:
        if not isinstance(self.kernels, list | tuple) or not self.kernels:
            self._refuse("kernels", self.kernels, "a list of one kernel or more")
        for number, part in enumerate(self.kernels):
            if not isinstance(part, Kernel):
                raise TypeError(f"MultipleKernel: kernels[{number}]={part!r} must be a Kernel.")
            if part.pairwise:
                raise ValueError(
                    f"MultipleKernel: kernels[{number}]={part!r} cannot be part of another kernel, because "
                    "its data are the kernel matrix already. Combine the matrices instead."
                )

    def validate(self) -> None:
        super().validate()
        if not is_real(self.norm) or not self.norm >= 1:
            self._refuse("norm", self.norm, "a number from 1 to np.inf")
        if self.weights not in WAYS:
            self._refuse("weights", self.weights, "'learned' or 'alignment'")

    def tunable(self) -> dict[str, Array]:
        return {}

    def scaled_on(self, X: Data, sample_weight: Any) -> list[Kernel]:
        """Return the kernels resolved on canonical data, each divided by its mean diagonal there."""
        scaled: list[Kernel] = []
        for number, part in enumerate(self.parts):
            resolved = part.resolve_on(X, sample_weight)
            diagonal = np.asarray(resolved.evaluate_diag(resolved.prepare(X)), dtype=np.float64)
            mean = float(np.average(diagonal, weights=sample_weight))
            if not (mean >= 0 and math.isfinite(mean)):
                raise ValueError(
                    f"MultipleKernel: the trace of kernels[{number}]={part!r} over the training rows is "
                    f"{mean:.3g} per row; it must be finite and not negative: scale the features, or leave "
                    "this kernel out"
                )
            # A kernel that is 0 on all rows (of a column of zeros) has nothing to be scaled.
            scaled.append(Scaled(resolved, 1.0 / mean if mean > 0 else 1.0))
        return scaled

    def resolve_on(self, X: Data, sample_weight: Any) -> Any:
        """Return the plain sum for ``norm=np.inf``; other weights are learned by an estimator's ``fit``."""
        if not self.is_plain_sum:
            raise ValueError(
                f"{self!r} has weights that only the fit of SVC, SVR, OneClassSVM or KernelRidge finds, as "
                "the kernel of the machine: take norm=np.inf (the plain sum), or the kernel_ of such a fit"
            )
        return weighted_sum(self.scaled_on(X, sample_weight), np.ones(len(self.parts)))

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        return cast("Kernel", self.resolve_on(X, None)).evaluate(X, Z)


def weighted_sum(kernels: Sequence[Kernel], weights: Array) -> Kernel:
    """Return the sum of kernels with weights, those of weight 0 left out, as a tree of small depth.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    weights : (m,) array
        Non-negative, not all 0.
    """
    terms = [times(kernel, float(w)) for kernel, w in zip(kernels, weights, strict=True) if w > 0]
    while len(terms) > 1:
        pairs = [Sum(one, two) for one, two in zip(terms[::2], terms[1::2], strict=False)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
    return terms[0]


def times(kernel: Kernel, factor: float) -> Kernel:
    """Return a multiple of a kernel, without a factor of 1, and with one factor only."""
    if isinstance(kernel, Scaled):
        return times(kernel.kernel, factor * float(kernel.scale))
    return kernel if factor == 1.0 else Scaled(kernel, factor)
