"""Machines that shall separate two classes without an error, and how far they have come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Float64
from mercer.problems.problem import Machine


def attained_margin(f: Float64, sign: Float64, squared_norm: float, *, free_bias: bool) -> float:
    r"""Return the geometric margin that <w, phi(x)> attains on some points, negative where it fails.

    .. math::
        \frac{\min_{y_i = 1} \langle w, \phi(x_i) \rangle - \max_{y_i = -1} \langle w, \phi(x_i) \rangle}
             {2 \|w\|}

    with the bias in the middle; without a bias :math:`\min_i y_i \langle w, \phi(x_i) \rangle / \|w\|`. At
    the maximal margin both are 1 / ||w||; before, 1 / ||w|| may be more than any margin there is.

    Parameters
    ----------
    f : (n,) float64
        <w, phi(x_i)>.
    sign : (n,) float64
        Labels +1 and -1; 0 for points that do not count.
    squared_norm : float
        ||w||^2; infinity is returned for 0, nan for less.
    free_bias : bool
        Whether the function has a bias.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remark 7.25.
    """
    if not squared_norm > 0:
        return math.inf if squared_norm == 0 else math.nan
    above = float(f[sign > 0].min(initial=math.inf))
    below = float(f[sign < 0].max(initial=-math.inf))
    functional = 0.5 * (above - below) if free_bias else min(above, -below)
    return functional / math.sqrt(squared_norm)


@dataclass(frozen=True)
class SeparatingMachine(Machine):
    """A function that shall separate two classes; while it is unfinished it may not."""

    sign: Float64 = field(default_factory=lambda: np.zeros(0))  # 0 for points that do not count
    free_bias: bool = True

    @property
    def margin(self) -> float:
        """The margin that the points have; see :func:`attained_margin`."""
        squared_norm = float(np.sum(self.coef * self.products))
        return attained_margin(self.products, self.sign, squared_norm, free_bias=self.free_bias)
