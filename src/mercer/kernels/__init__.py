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
from mercer.kernels.definiteness import Definiteness, check_psd
from mercer.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.feature_map import FeatureMap
from mercer.kernels.function import AnyFunction, FromFunction, OfPairs
from mercer.kernels.fused import Fused
from mercer.kernels.graphs.attributed import AttributedShortestPath
from mercer.kernels.graphs.diffusion import Diffusion
from mercer.kernels.graphs.graphlets import Graphlets
from mercer.kernels.graphs.histograms import EdgeHistogram, VertexHistogram
from mercer.kernels.graphs.paths import ShortestPath
from mercer.kernels.graphs.walks import RandomWalk
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman, WLOptimalAssignment
from mercer.kernels.histogram import AdditiveChi2, Chi2, HistogramIntersection
from mercer.kernels.items import ItemKernel, kernel
from mercer.kernels.multiple import MultipleKernel
from mercer.kernels.names import ALIASES, as_kernel, learn_names
from mercer.kernels.on_columns import OnColumns
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.series.alignment import GlobalAlignment
from mercer.kernels.series.signature import Signature
from mercer.kernels.series.warping import DTW
from mercer.kernels.sklearn_kernels import SklearnKernel
from mercer.kernels.spectral import Clipped, Flipped, Shifted
from mercer.kernels.stationary import RBF, Matern, RationalQuadratic
from mercer.kernels.strings.alignment import LocalAlignment
from mercer.kernels.strings.mismatch import Mismatch
from mercer.kernels.strings.pairs import AllSubstrings, Edit, Subsequence, WeightedDegree
from mercer.kernels.strings.spectrum import BlendedSpectrum, GappyPairs, Spectrum
from mercer.kernels.thin_plate import ThinPlate
from mercer.kernels.transforms import Centered, Normalized
from mercer.kernels.trees.fragments import PartialTree, SubsetTree, Subtree

__all__ = [
    "ANOVA",
    "DTW",
    "KERNEL_NAMES",
    "KERNEL_OPTIONS",
    "RBF",
    "AdditiveChi2",
    "AllSubstrings",
    "AnyFunction",
    "AttributedShortestPath",
    "BlendedSpectrum",
    "Centered",
    "Chi2",
    "Clipped",
    "Constant",
    "Cosine",
    "Definiteness",
    "Diffusion",
    "EdgeHistogram",
    "Edit",
    "FeatureMap",
    "Flipped",
    "FromFunction",
    "Fused",
    "GappyPairs",
    "GlobalAlignment",
    "Graphlets",
    "HistogramIntersection",
    "ItemKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "LocalAlignment",
    "Matern",
    "Mismatch",
    "MultipleKernel",
    "Normalized",
    "OfPairs",
    "OnColumns",
    "PartialTree",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomWalk",
    "RationalQuadratic",
    "Scaled",
    "Shifted",
    "ShortestPath",
    "Sigmoid",
    "Signature",
    "SklearnKernel",
    "Spectrum",
    "Spline",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "ThinPlate",
    "VertexHistogram",
    "WLOptimalAssignment",
    "WeightedDegree",
    "WeisfeilerLehman",
    "as_kernel",
    "check_psd",
    "kernel",
]

KERNEL_NAMES = learn_names()
KERNEL_OPTIONS = frozenset({*KERNEL_NAMES, *ALIASES})  # what a parameter may be


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
