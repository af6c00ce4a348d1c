"""Kernels by name, as estimators take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.function import AnyFunction, FromFunction
from mercer.kernels.sklearn_kernels import as_our_kernel, is_sklearn_kernel
from mercer.values import parameter_names, subclasses
from mercer.words import did_you_mean

_DEFAULTS: dict[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 0.0}
_FIRST = ("linear", "poly", "rbf", "sigmoid", "precomputed")  # scikit-learn's, in its order

ALIASES = {"polynomial": "poly"}  # names that scikit-learn's pairwise_kernels knows beside these

_by_name: dict[str, type[Kernel]] = {}


def learn_names() -> tuple[str, ...]:
    """Find the kernels that have a ``name`` of their own; the package calls this once all are there.

    Returns
    -------
    tuple of str
        The names, scikit-learn's first.
    """
    found: dict[str, type[Kernel]] = {}
    for cls in subclasses(Kernel):  # type: ignore[type-abstract]
        name = vars(cls).get("name")
        if name is not None and found.setdefault(name, cls) is not cls:
            raise TypeError(f"{cls.__name__} and {found[name].__name__} have one name: {name!r}.")
    _by_name.update((name, found[name]) for name in (*_FIRST, *sorted(found.keys() - set(_FIRST))))
    return tuple(_by_name)


def as_kernel(
    kernel: Any,
    *,
    gamma: Any = "scale",
    degree: Any = 3,
    coef0: Any = 0.0,
    params: Mapping[str, Any] | None = None,
    pairs: bool = False,
) -> Kernel:
    """Return the kernel given by an estimator's parameters.

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn's Gaussian-process kernel or callable
        A name of `KERNEL_NAMES`, a kernel, or a function that takes two sets of items and returns their
        matrix. White noise of scikit-learn's kernels is none between two sets of items.
    gamma, degree, coef0 : Any
        Given to a kernel that is named, if it has such a parameter, as in scikit-learn. Beside a `Kernel`,
        which has its own, they must be left at their defaults.
    params : mapping, optional
        Keyword arguments of a function; other kernels do not look at them, as in scikit-learn.
    pairs : bool
        Whether a function may also be one of two items, as those of scikit-learn's ``pairwise_kernels`` are.

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
                    f"{name}={value!r} does not apply to kernel={kernel!r}, which has its own: "
                    f"leave {name} at {default!r} and set it in the kernel, for example by kernel__{name}."
                )
        return kernel
    if isinstance(kernel, str) and ALIASES.get(kernel, kernel) in _by_name:
        cls = _by_name[ALIASES.get(kernel, kernel)]
        return cls(**{name: given[name] for name in given if name in parameter_names(cls)})
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel={kernel.__name__} is a class; pass an instance: {kernel.__name__}().")
    if is_sklearn_kernel(kernel):
        return as_our_kernel(kernel)
    if callable(kernel):
        given_params = dict(params) if params else None
        return AnyFunction(kernel, given_params) if pairs else FromFunction(kernel, given_params)
    raise ValueError(
        f"kernel={kernel!r} is not allowed; it must be a Kernel, a callable or one of "
        f"{', '.join(map(repr, _by_name))}.{did_you_mean(kernel, _by_name)}"
    )


def kernel_class(name: str) -> tuple[type[Kernel], tuple[str, ...]]:
    """Return the kernel of a name, and what its parameters are called.

    Parameters
    ----------
    name : str
        One of `KERNEL_NAMES`.
    """
    cls = _by_name[name]
    return cls, parameter_names(cls)
