"""Sizes of subtrees."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def inner_nodes(child_starts: np.ndarray, children: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out`` with the number of nodes with children at and below each node; children come first."""
    for node in range(child_starts.size - 1):
        total = 1.0 if child_starts[node + 1] > child_starts[node] else 0.0
        for c in range(child_starts[node], child_starts[node + 1]):
            total += out[children[c]]
        out[node] = total
