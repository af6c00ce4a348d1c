"""Maps to explicit features whose inner products are nearly a kernel."""

from mercer.estimators.features._nystroem import Nystroem
from mercer.estimators.features._random_features import RandomFeatures
from mercer.estimators.features._tensor_sketch import TensorSketch

__all__ = ["Nystroem", "RandomFeatures", "TensorSketch"]
