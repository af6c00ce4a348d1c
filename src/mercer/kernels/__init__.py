"""What "similar" means: kernels as values, and their algebra.

>>> from mercer.kernels import RBF, Linear
>>> k = RBF(gamma=0.5) + 2 * Linear()
>>> k([[0.0], [1.0]]).round(3)
array([[1.   , 0.607],
       [0.607, 3.   ]])
"""

from mercer.kernels.additive import ANOVA, Laplacian, Spline
from mercer.kernels.algebra import Constant, Power, Product, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.dot import Linear, Polynomial, Sigmoid
from mercer.kernels.feature_map import FeatureMap
from mercer.kernels.function import FromFunction
from mercer.kernels.fused import Fused
from mercer.kernels.histogram import AdditiveChi2, Chi2, HistogramIntersection
from mercer.kernels.items import ItemKernel, kernel
from mercer.kernels.names import as_kernel, learn_names
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.stationary import RBF, Matern, RationalQuadratic
from mercer.kernels.transforms import Centered, Normalized, OnColumns

__all__ = [
    "ANOVA",
    "KERNEL_NAMES",
    "RBF",
    "AdditiveChi2",
    "Centered",
    "Chi2",
    "Constant",
    "FeatureMap",
    "FromFunction",
    "Fused",
    "HistogramIntersection",
    "ItemKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Normalized",
    "OnColumns",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Spline",
    "Sum",
    "as_kernel",
    "kernel",
]

KERNEL_NAMES = learn_names()


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
