"""The array types that annotations name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]
Index = NDArray[np.intp]
Ints = NDArray[np.int64]

__all__ = ["Float64", "Floats", "Index", "Ints"]
