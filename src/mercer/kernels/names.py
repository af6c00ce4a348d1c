"""Kernels by name, as estimators take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.additive import ANOVA, Laplacian, Spline
from mercer.kernels.base import Kernel
from mercer.kernels.dot import Linear, Polynomial, Sigmoid
from mercer.kernels.function import FromFunction
from mercer.kernels.histogram import AdditiveChi2, Chi2, HistogramIntersection
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.stationary import RBF, Matern, RationalQuadratic

_DEFAULTS: dict[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 0.0}

_BY_NAME: dict[str, tuple[type[Kernel], tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "poly": (Polynomial, ("degree", "gamma", "coef0")),
    "rbf": (RBF, ("gamma",)),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "precomputed": (Precomputed, ()),
    "laplacian": (Laplacian, ("gamma",)),
    "chi2": (Chi2, ("gamma",)),
    "additive_chi2": (AdditiveChi2, ()),
    "histogram_intersection": (HistogramIntersection, ()),
    "matern": (Matern, ()),
    "rational_quadratic": (RationalQuadratic, ()),
    "anova": (ANOVA, ("gamma", "degree")),
    "spline": (Spline, ()),
}

KERNEL_NAMES: tuple[str, ...] = tuple(_BY_NAME)


def as_kernel(kernel: Any, *, gamma: Any = "scale", degree: Any = 3, coef0: Any = 0.0) -> Kernel:
    """Return the kernel that an estimator's parameters mean.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name of `KERNEL_NAMES`, a kernel, or a function that takes two sets of items and returns their
        matrix.
    gamma, degree, coef0 : Any
        Given to a kernel that is named, if it has such a parameter, as in scikit-learn. Beside a `Kernel`,
        which has its own, they must be left at their defaults.

    Returns
    -------
    Kernel
        A kernel that is a `Kernel` already is returned itself.
    """
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    if isinstance(kernel, Kernel):
        for name, value in given.items():
            default = _DEFAULTS[name]
            same = value == default if np.ndim(value) == 0 else False
            if not same:
                raise ValueError(
                    f"{name}={value!r} has no meaning beside kernel={kernel!r}, which has its own: "
                    f"leave {name} at {default!r} and set it in the kernel, for example by kernel__{name}."
                )
        return kernel
    if isinstance(kernel, str) and kernel in _BY_NAME:
        cls, names = _BY_NAME[kernel]
        return cls(**{name: given[name] for name in names})
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel={kernel.__name__} is a class; pass an instance: {kernel.__name__}().")
    if callable(kernel):
        return FromFunction(kernel)
    raise ValueError(
        f"kernel={kernel!r} is not allowed; it must be a Kernel, a callable or one of "
        f"{', '.join(map(repr, KERNEL_NAMES))}."
    )
