"""What the lines of a report need to know of a two-class machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer.arrays import Float64
from mercer.bounds.compression_bounds import perceptron_updates
from mercer.bounds.promises import Assumption
from mercer.bounds.report_setting import Setting


@dataclass(frozen=True)
class TwoClass:
    """A fitted two-class function f(x) = <w, phi(x)> + b and its training points."""

    sign: Float64  # +1 or -1
    values: Float64  # f
    bias: float | None  # None: the function has none
    norm: float  # ||w||
    diagonal: Float64  # k(x_i, x_i)
    n_support: int | None = None
    machine: str = "soft"  # "soft", "hard", "squared", "nu", "loss", "perceptron" or "stream"
    ridge: Float64 | None = None  # what the squared hinge adds to the diagonal, per point
    determined: bool = True  # whether the bias is the only one possible
    gap: float = 0.0  # relative duality gap
    updates: int | None = None  # of a machine that learns from mistakes
    remembered: int = 0  # points beside those of the updates that it was made from

    @cached_property
    def errors(self) -> int:
        """Number of training points on the wrong side; the boundary belongs to the positive class."""
        return int(((self.values >= 0) != (self.sign > 0)).sum())

    @cached_property
    def least(self) -> float:
        """Smallest geometric margin of a training point."""
        return float((self.sign * self.values).min()) / self.norm if self.norm > 0.0 else 0.0

    @property
    def novikoff(self) -> float | None:
        """Most updates of a perceptron on these points, for the margin reached; None if it has none."""
        if self.least <= 0.0:
            return None
        bias = None if self.bias is None else self.bias / self.norm
        return perceptron_updates(radius=self.reach, margin=self.least, bias=bias)

    @property
    def reach(self) -> float:
        """Radius of the training points around the origin."""
        return math.sqrt(max(float(self.diagonal.max()), 0.0))


@dataclass(frozen=True)
class Scaled:
    """The function of norm 1 whose bias is a coordinate of size tau."""

    setting: Setting
    it: TwoClass

    # How a bias enters: each of these four is that of the machine itself when there is none.

    @cached_property
    def tau(self) -> float:
        """Size of the bias's coordinate."""
        return 0.0 if self.it.bias is None else self.setting.tau

    @cached_property
    def norm(self) -> float:
        """Norm of (w, b / tau)."""
        return self.it.norm if self.it.bias is None else math.hypot(self.it.norm, self.it.bias / self.tau)

    @cached_property
    def trace(self) -> float:
        """Trace of K + tau^2."""
        return float(self.it.diagonal.sum()) + self.it.sign.size * self.tau**2

    @cached_property
    def radius(self) -> float | None:
        """Radius of the distribution's support, if it is known."""
        return None if self.setting.radius is None else math.hypot(self.setting.radius, self.tau)

    @cached_property
    def margins(self) -> Float64:
        """Geometric margins of the training points."""
        return np.asarray(self.it.sign * self.it.values / self.norm)

    @cached_property
    def least(self) -> float:
        """Smallest geometric margin of a training point."""
        return float(self.margins.min())

    def slacks(self, margin: float) -> Float64:
        """Return by how much points fall short of a geometric margin."""
        # The loss beneath the theorem counts no point more than once, so a slack is cut at the margin.
        return np.asarray(np.clip(margin - self.margins, 0.0, margin))

    def assumptions(self, *more: Assumption) -> tuple[Assumption, ...]:
        """Return what a statement about all such functions rests on."""
        bias = () if self.it.bias is None else (self.setting.bias(),)
        return (*self.setting.common(), *bias, *more)
