"""What a fitted machine says about single rows, and what it has learned.

>>> import numpy as np
>>> from mercer import SVC
>>> from mercer.inspect import hardest
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [0.1]]), np.array([0, 0, 1, 1, 1])
>>> int(hardest(SVC(kernel="linear").fit(X, y), X, y).rows[0])  # the wrong label
4
"""

from mercer.inspect.feature_weights import FeatureWeights, along_sequence, feature_weights
from mercer.inspect.hardest_rows import HardestRows, hardest

__all__ = ["FeatureWeights", "HardestRows", "along_sequence", "feature_weights", "hardest"]


def __dir__() -> list[str]:
    return list(__all__)  # not the modules
