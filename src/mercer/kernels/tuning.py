"""A kernel's free parameters as one vector of logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data

Vector = NDArray[np.float64]

LOW, HIGH = 1e-5, 1e5  # of a parameter about which nothing is said
ROOM = 1e2  # at least so far from the start, in either direction


class Tuning:
    """The tunable parameters of a resolved kernel that are not fixed, in the order of their names.

    Parameters
    ----------
    kernel : Kernel
        Resolved; the start.
    bounds : mapping
        (low, high) or "fixed" by name, as in ``kernel.get_params()``.
    """

    def __init__(self, kernel: Kernel, bounds: Mapping[str, Any] | None = None) -> None:
        self.kernel = kernel
        tunable = kernel.tunable()
        given = dict(bounds or {})
        unknown = [name for name in given if name not in tunable]
        if unknown:
            raise ValueError(
                f"bounds: {unknown[0]!r} is no parameter of {kernel!r} that can be tuned; these are "
                f"{', '.join(map(repr, tunable)) or 'none'}"
            )
        self.names = [name for name in tunable if not _is_fixed(given.get(name))]
        self.start = {name: tunable[name] for name in self.names}
        self.limits = {name: checked_bounds(name, self.start[name], given.get(name)) for name in self.names}

    @property
    def size(self) -> int:
        """Number of entries of the vector."""
        return sum(value.size for value in self.start.values())

    @property
    def labels(self) -> list[str]:
        """A name for each entry of the vector."""
        out, shapes = [], self.kernel.tunable()
        for name, value in self.start.items():
            out += [name] if shapes[name].ndim == 0 else [f"{name}[{j}]" for j in range(value.size)]
        return out

    @property
    def theta(self) -> Vector:
        """The start."""
        return self.packed(self.start, np.log)

    @property
    def bounds(self) -> Vector:
        """The logarithms of the bounds, a row for each entry."""
        rows = [np.tile(self.limits[name], (value.size, 1)) for name, value in self.start.items()]
        return np.asarray(np.log(np.concatenate(rows)) if rows else np.zeros((0, 2)), dtype=np.float64)

    def packed(self, values: Mapping[str, Array], function: Any = None) -> Vector:
        """Return the parameters' values, or slopes, as one vector."""
        parts = [np.ravel(values[name]) for name in self.names]
        vector = np.concatenate(parts) if parts else np.zeros(0)
        return np.asarray(vector if function is None else function(vector), dtype=np.float64)

    def at(self, theta: Array, X: Data) -> Kernel:
        """Return the kernel with these parameters, resolved on the data."""
        values, place, shapes = {}, 0, self.kernel.tunable()
        for name, value in self.start.items():
            part = np.exp(theta[place : place + value.size])
            values[name] = float(part[0]) if shapes[name].ndim == 0 else part
            place += value.size
        return self.kernel.replaced().set_params(**values).resolve_on(X, None)


def _is_fixed(bounds: Any) -> bool:
    return isinstance(bounds, str) and bounds == "fixed"


def checked_bounds(name: str, start: Array, bounds: Any) -> tuple[float, float]:
    """Return the bounds of a parameter, or say what is wrong with them."""
    low, high = float(start.min()), float(start.max())
    if bounds is None:
        power = 2 if name.endswith("gamma") else 1  # an inverse width, as a rule squared
        return min(LOW**power, low / ROOM), max(HIGH**power, high * ROOM)
    try:
        least, most = (float(b) for b in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds[{name!r}]={bounds!r} must be 'fixed' or two numbers > 0") from None
    if not 0 < least <= low <= high <= most < np.inf:
        raise ValueError(
            f"bounds[{name!r}]={bounds!r} must be two numbers > 0 with the start between them, which is "
            f"{start.tolist()}"
        )
    return least, most
