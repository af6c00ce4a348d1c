"""What a fitted machine says about single rows, and what it has learned.

>>> import numpy as np
>>> from mercer import SVC
>>> from mercer.inspect import hardest
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [0.1]]), np.array([0, 0, 1, 1, 1])
>>> int(hardest(SVC(kernel="linear").fit(X, y), X, y).rows[0])  # the wrong label
4
"""

from mercer.inspect.counterfactuals import Counterfactual, counterfactual
from mercer.inspect.dependence import PartialDependence, partial_dependence
from mercer.inspect.feature_weights import FeatureWeights, along_sequence, feature_weights
from mercer.inspect.gradients import gradient, sensitivity
from mercer.inspect.hardest_rows import HardestRows, hardest
from mercer.inspect.importance import Importance, permutation_importance
from mercer.inspect.shapley_values import Shapley, shapley
from mercer.inspect.why_row import Carriers, why

__all__ = [
    "Carriers",
    "Counterfactual",
    "FeatureWeights",
    "HardestRows",
    "Importance",
    "PartialDependence",
    "Shapley",
    "along_sequence",
    "counterfactual",
    "feature_weights",
    "gradient",
    "hardest",
    "partial_dependence",
    "permutation_importance",
    "sensitivity",
    "shapley",
    "why",
]


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
