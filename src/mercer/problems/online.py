"""What is learned from a stream: rules of on-line learning, the problems they solve, what bounds them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mercer._jit import online_rules as rules
from mercer.arrays import Float64
from mercer.problems.classification import HardMarginThroughOrigin, soft_margin, squared_hinge
from mercer.problems.dual import Dual
from mercer.problems.problem import Machine, Values
from mercer.problems.regression import EpsilonTube
from mercer.problems.separating import attained_margin

CURVE_POINTS = 4096  # most points of a loss curve: beyond, every second one is dropped


@dataclass(frozen=True)
class Rule:
    r"""How the coefficient of an example changes once its truth is known.

    With f the prediction, y the truth, beta the coefficient so far and kappa = k(x, x) + shift:

    ==============  =====================================================================================
    perceptron      beta + y if y f <= 0; the bias gains ``bias_step`` y
    ordered         the perceptron's, f the sum of all outputs' functions and the output's own bias
    adatron         y clip(alpha + rate (1 - y f - shift alpha) / kappa, 0, most), alpha = y beta
    tube            clip(beta + rate (y - f - shift beta - epsilon sgn(beta)) / kappa, -most, most), zero
                    if that has the other sign; sgn(0) is the number in [-1, 1] that moves beta least
    Widrow-Hoff     beta + rate (y - f - shift beta) / kappa
    ==============  =====================================================================================

    All but the first two are steps of coordinate ascent in the dual of a convex problem, to the best value of
    one coefficient for rate = 1, which raise the dual for 0 < rate < 2.
    """

    code: int
    rate: float = 1.0
    most: float = math.inf
    shift: float = 0.0
    epsilon: float = 0.0
    bias_step: float = 0.0

    def values(self, target: Float64, coef: Float64, f: Float64, spread: float) -> Values:
        """Return primal, dual, gap and violation of the rule's problem, given f = K coef.

        Parameters
        ----------
        target : (n,) float64
            Signs or values.
        coef : (n,) float64
            Coefficients of all examples.
        f : (n,) float64
            The function's values there.
        spread : float
            Largest k(x, x).
        """
        if self.code == rules.WIDROW_HOFF:
            return ridge_values(target, coef, f, self.shift)
        if self._hard:
            if not coef.any():
                return Values(math.inf, 0.0, math.inf, 1.0, np.zeros(0))
            hull = HardMarginThroughOrigin(target, np.ones(target.size), spread)
            values = hull.certify(Machine(coef, 0.0, f), f)
            # The user's multipliers are the ones that were found, not the best multiple of them.
            margins = target * f
            violation = max(0.0, float(np.where(coef != 0, np.abs(1.0 - margins), 1.0 - margins).max()))
            return replace(values, violation=violation)
        problem = self._dual(target)
        return problem.certify(Machine(coef, 0.0, f), f)

    @property
    def _hard(self) -> bool:
        return self.code == rules.ADATRON and self.shift == 0.0 and math.isinf(self.most)

    def margins(self, target: Float64, F: Float64, squared_norms: Float64) -> Float64:
        """Return 1 / ||w|| of each machine; where no error is allowed, the margin that the points have.

        Parameters
        ----------
        target : (n, machines) float64
            Signs.
        F : (n, machines) float64
            The functions' values.
        squared_norms : (machines,) float64
            ||w||^2.
        """
        if not self._hard:
            return margins_of(squared_norms)
        found = [
            attained_margin(f, sign, square, free_bias=False)
            for f, sign, square in zip(F.T, target.T, squared_norms.tolist(), strict=True)
        ]
        return np.array(found)

    def _dual(self, target: Float64) -> Dual:
        squared = self.shift > 0.0
        price = np.full(target.size, 0.5 / self.shift if squared else self.most)
        if self.code == rules.ADATRON:
            return (squared_hinge if squared else soft_margin)(target, price, fit_intercept=False)
        if self.code == rules.TUBE:
            return EpsilonTube(target, price, self.epsilon, squared=squared, fit_intercept=False)
        raise TypeError("the perceptron solves no convex problem: it stops where it makes no mistake")


def perceptron(*, bias_step: float = 0.0) -> Rule:
    """Return Rosenblatt's rule.

    References
    ----------
    Rosenblatt (1958), The perceptron, Psychological Review 65. Freund and Schapire (1999), Large margin
    classification using the perceptron algorithm, Machine Learning 37.
    """
    return Rule(rules.PERCEPTRON, bias_step=bias_step)


def ordered_perceptron() -> Rule:
    """Return the perceptron's rule for thresholds of one function: outputs share it, and have own biases.

    References
    ----------
    Crammer and Singer (2001), Pranking with ranking, Advances in Neural Information Processing Systems 14.
    """
    return Rule(rules.ORDERED, bias_step=1.0)


def adatron(*, C: float, squared: bool = False, rate: float = 1.0) -> Rule:
    """Return the kernel adatron for  min 1/2 ||w||^2 + C sum_i max(0, 1 - y_i <w, x_i>), or its square.

    C = inf is the hard margin through the origin.

    References
    ----------
    Friess, Cristianini and Campbell (1998), The kernel-adatron, ICML. Hildreth (1957), A quadratic
    programming procedure, Naval Research Logistics Quarterly 4.
    """
    if squared and math.isfinite(C):
        return Rule(rules.ADATRON, rate=rate, shift=0.5 / C)
    return Rule(rules.ADATRON, rate=rate, most=C)


def tube(*, C: float, epsilon: float, squared: bool = False, rate: float = 1.0) -> Rule:
    """Return the rule of on-line support vector regression without a bias.

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Algorithm 7.61; the step is
    1 / k(x, x), without which it converges for normalised kernels only.
    """
    if squared and math.isfinite(C):
        return Rule(rules.TUBE, rate=rate, shift=0.5 / C, epsilon=epsilon)
    return Rule(rules.TUBE, rate=rate, most=C, epsilon=epsilon)


def widrow_hoff(*, alpha: float, rate: float = 1.0) -> Rule:
    """Return the dual Widrow-Hoff rule for  min alpha ||w||^2 + sum_i (y_i - <w, x_i>)^2.

    References
    ----------
    Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON. Cristianini and Shawe-Taylor (2000), An
    Introduction to Support Vector Machines, section 7.6.
    """
    return Rule(rules.WIDROW_HOFF, rate=rate, shift=alpha)


def ridge_values(y: Float64, coef: Float64, f: Float64, alpha: float) -> Values:
    r"""Return the values of  min 1/2 ||w||^2 + 1/(2 alpha) sum_i (y_i - f_i)^2  at w = sum coef_i phi(x_i).

    Its dual is  y'coef - 1/2 coef'K coef - alpha/2 coef'coef, and the gap is the squared residual of
    (K + alpha I) coef = y over 2 alpha. For alpha = 0 the primal asks for f = y, which is met at the end.
    """
    norm = float(coef @ f)
    residual = y - f - alpha * coef
    dual = float(y @ coef) - 0.5 * norm - 0.5 * alpha * float(coef @ coef)
    violation = float(np.abs(residual).max(initial=0.0))
    if alpha == 0.0:
        exact = violation == 0.0
        return Values(0.5 * norm if exact else math.inf, dual, 0.0 if exact else math.inf, violation,
                      np.zeros(0))  # fmt: skip
    gap = float(residual @ residual) / (2.0 * alpha)
    return Values(dual + gap, dual, gap, violation, np.zeros(0))


def largest_radius(diagonal: Float64) -> float:
    """Return the largest norm of some points from their k(x, x); 1 where all lie at the origin."""
    largest = float(diagonal.max(initial=0.0))
    return math.sqrt(largest) if largest > 0.0 else 1.0


def novikoff(
    *, radius: float, margin: float, bias: float | None = None, coordinate: float | None = None
) -> float:
    r"""Return the most updates that the perceptron can make on separable points.

    .. math::
        \frac{R^2}{\gamma^2} \text{ without a bias}, \qquad
        \frac{(R^2 + s^2) (1 + b^2 / s^2)}{\gamma^2} \text{ with the bias step } s^2,

    which is 2 (R^2 + b^2) / gamma^2 for the usual s = R. gamma is the margin of some function <w, x> + b with
    ||w|| = 1 that separates the points, R the radius of a ball around the origin that holds them. With a bias
    the points live in a space with one more coordinate, s, where the function has norm sqrt(1 + b^2 / s^2).

    References
    ----------
    Novikoff (1962), On convergence proofs on perceptrons, Symposium on the Mathematical Theory of Automata.
    """
    if bias is None:
        return (radius / margin) ** 2
    if coordinate is None or coordinate == radius:
        return 2.0 * (radius**2 + bias**2) / margin**2
    return (radius**2 + coordinate**2) * (1.0 + (bias / coordinate) ** 2) / margin**2


def norms(coef: Float64, inner: Float64) -> Float64:
    """Return ||w|| of each output: w'w = sum_j coef_j <w, z_j>, given <w, z_j> of the kept examples."""
    return np.asarray(np.sqrt(np.maximum((coef * inner.T).sum(axis=1), 0.0)))


def margins_of(squared_norms: Float64) -> Float64:
    """Return 1 / ||w||, infinite for w = 0; nan where an indefinite kernel gives w no length."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1.0 / np.sqrt(squared_norms))


def stride(steps: int) -> int:
    """Return how many steps lie between two points of a loss curve; it depends on their number only."""
    step = 1
    while steps // step > CURVE_POINTS:
        step *= 2
    return step


@dataclass(frozen=True)
class Tally:
    """What a learner has lost so far, and when."""

    steps: int
    loss: float
    mistakes: int
    curve: Float64  # (points, 3): step, loss and mistakes up to there

    @classmethod
    def empty(cls) -> Tally:
        """Return the tally of a learner that has seen nothing."""
        return cls(0, 0.0, 0, np.empty((0, 3)))

    def grown(self, loss: Float64, mistake: Float64) -> Tally:
        """Return the tally after further steps; the curve keeps few points, the same however steps come."""
        # A running sum that starts with what there was: the same numbers however the stream is cut.
        total = np.cumsum(np.concatenate([[self.loss], loss]))
        count = self.mistakes + np.cumsum(mistake)
        steps = self.steps + loss.size
        apart = stride(steps)
        kept = np.arange(self.steps - self.steps % apart + apart, steps + 1, apart)
        at = kept - self.steps
        fresh = np.column_stack([kept, total[at], count[at - 1]])
        old = self.curve if apart == stride(self.steps) else self.curve[self.curve[:, 0] % apart == 0]
        mistakes = int(count[-1]) if loss.size else self.mistakes
        return Tally(steps, float(total[-1]), mistakes, np.concatenate([old, fresh]))
