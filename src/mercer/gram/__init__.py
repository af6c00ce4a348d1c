"""Rows, blocks, diagonal and products of a kernel matrix under a memory budget.

The only layer that knows dense from sparse, float32 from float64, kept from recomputed, given from computed.
A solver sees :class:`Gram`, never the data.
"""

from mercer.gram.base import Gram, MatrixGram
from mercer.gram.build import gram
from mercer.gram.cross_products import AmongAll, Segment, cross_products
from mercer.gram.features import Features
from mercer.gram.generic import GenericGram
from mercer.gram.vectors import VectorGram
from mercer.threads import Workers, resolve_threads

__all__ = [
    "AmongAll",
    "Features",
    "GenericGram",
    "Gram",
    "MatrixGram",
    "Segment",
    "VectorGram",
    "Workers",
    "cross_products",
    "gram",
    "resolve_threads",
]
