"""Kernel matrices of one data set for many parameters: what they have in common is computed once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from mercer.arrays import Floats
from mercer.gram.build import gram
from mercer.kernels import Kernel
from mercer.kernels.data import size
from mercer.kernels.statistics import dots, squared_distances
from mercer.kernels.vector import ElementwiseKernel
from mercer.threads import Workers

TILE = 256  # rows that are mapped at a time: they stay in the processor's cache


class SharedStatistic:
    """The whole kernel matrix of a data set under one kernel after the other.

    Kernels that are one line over squared distances or inner products share these: a grid of ten gammas
    computes distances once. Any other kernel is evaluated as it is.

    Parameters
    ----------
    X : array, CSR or sequence
        The data, as ``kernel.check`` returns them.
    workers : Workers, optional
        Threads.
    """

    def __init__(self, X: Any, workers: Workers | None = None) -> None:
        self.X = X
        self.n = size(X)
        self.workers = workers or Workers(1)
        self._kept: dict[str, Any] = {}
        self._lock = threading.Lock()

    def matrix(self, kernel: Kernel, dtype: Any = np.float64) -> Floats:
        """Return K of a resolved kernel, as a new array.

        Parameters
        ----------
        kernel : Kernel
            Resolved.
        dtype : dtype
            Precision of the matrix; the statistic is always in float64.
        """
        if not isinstance(kernel, ElementwiseKernel) or kernel.scales() is not None:
            return self._evaluated(kernel, dtype)
        S = self._statistic(kernel)
        K = np.empty((self.n, self.n), dtype=dtype)

        def fill(start: int, stop: int) -> None:
            for s in range(start, stop, TILE):
                e = min(s + TILE, stop)
                K[s:e] = kernel.elementwise(S[s:e].copy())

        self.workers.ranges(self.n, fill)
        return K

    def _statistic(self, kernel: ElementwiseKernel) -> Any:
        name = kernel.statistic
        with self._lock:  # whoever comes second waits and finds it done
            if name not in self._kept:
                X = self.X.astype(np.float64)
                found = dots(X) if name == "dot" else squared_distances(X)
                self._kept[name] = np.ascontiguousarray(found)
            return self._kept[name]

    def _evaluated(self, kernel: Kernel, dtype: Any) -> Floats:
        whole = gram(kernel, self.X, precision="double", workers=self.workers)
        every = np.arange(self.n)
        return np.ascontiguousarray(whole.block(every, every), dtype=dtype)
