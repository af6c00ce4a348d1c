"""What a structured output is: its joint features, its loss and its argmax.

A structure is a value that holds no data. :class:`~mercer.StructuredSVM` learns the weights of its joint
features. Three methods make a structure of one's own; :class:`Structure` says which.
"""

from mercer.structured.base import Structure
from mercer.structured.chain import Chain
from mercer.structured.cost_sensitive import CostSensitive
from mercer.structured.examples import Examples
from mercer.structured.multi_label import MultiLabel

__all__ = ["Chain", "CostSensitive", "Examples", "MultiLabel", "Structure"]


def __dir__() -> list[str]:
    return sorted(__all__)
