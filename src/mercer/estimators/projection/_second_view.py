"""The second view of paired data: its kernel and its checks."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.kernels import KERNEL_OPTIONS, Kernel, Precomputed, as_kernel
from mercer.kernels.data import naming


class SecondView:
    """What an estimator of two views does with the second, called y."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel_y": [StrOptions(set(KERNEL_OPTIONS)), Kernel, callable, None],
        "gamma_y": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither"), None],
        "degree_y": [Interval(Real, 0, None, closed="left"), None],
        "coef0_y": [Interval(Real, None, None, closed="neither"), None],
    }

    kernel_y_: Kernel
    _second_shape: tuple[int, ...]

    def _second_kernel(self) -> Kernel:
        """Return the kernel that the parameters name, not yet resolved."""
        params: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        own = {name: params[f"{name}_y"] for name in ("kernel", "gamma", "degree", "coef0")}
        if own["kernel"] is None:
            own = {name: params[name] if value is None else value for name, value in own.items()}
        return as_kernel(own.pop("kernel"), **{name: v for name, v in own.items() if v is not None})

    def _begin_second(self, X: Any, y: Any) -> Any:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "it is the second view"
            )
        kernel = self._second_kernel()
        self.kernel_y_ = kernel
        y = self._check_second(y, reset=True)
        rows = [int(v.shape[0]) if hasattr(v, "shape") else len(v) for v in (X, y)]
        if rows[0] != rows[1]:
            raise ValueError(f"X and y have inconsistent numbers of samples: {rows[0]} and {rows[1]} rows")
        if kernel.pairwise and y.shape[0] != y.shape[1]:
            raise ValueError(
                f"kernel_y='precomputed' needs a square kernel matrix in fit, y has shape {y.shape}"
            )
        self.kernel_y_ = kernel.resolve(y)
        self._second_shape = tuple(y.shape) if hasattr(y, "shape") else (rows[1],)
        return y

    def _check_second(self, y: Any, *, reset: bool) -> Any:
        kernel = self.kernel_y_
        if kernel.is_vector and not hasattr(y, "shape"):
            y = np.asarray(y)
        if kernel.is_vector and len(y.shape) == 1:
            y = np.asarray(y).reshape(-1, 1)
        with naming("y"):
            y = kernel.check(y, estimator=self, input_name="y")
        if not reset and getattr(y, "ndim", 1) == 2 and y.shape[1:] != self._second_shape[1:]:
            raise ValueError(
                f"y has {y.shape[1]} columns, but {type(self).__name__} was fitted on {self._second_shape[1]}"
            )
        return y

    def _second_landmarks(self, y: Any, idx: NDArray[Any] | None) -> Any:
        if isinstance(self.kernel_y_, Precomputed):
            return np.arange(y.shape[0]) if idx is None else idx
        return y if idx is None else self.kernel_y_.take(y, idx)
