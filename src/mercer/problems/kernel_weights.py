r"""Weights of several kernels: the joint problem of weights and machine.

With :math:`g_j = \sum_t c_t \beta_t' K_j \beta_t` over the machines t of one fit, where :math:`c_t \beta' K
\beta` is the quadratic term of the dual value, a machine's dual at the weights theta has :math:`\theta' g`.
No weights of the ball :math:`\theta \ge 0, \|\theta\|_p \le 1` make this larger than the dual norm
:math:`\|g\|_q`, 1/p + 1/q = 1; so the joint dual value is lower by :math:`\|g\|_q - \theta' g \ge 0` than the
machine's own, and the joint gap larger by as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.gram.base import UNIT, MatrixGram
from mercer.problems.dual import Dual
from mercer.problems.problem import Machine, Problem
from mercer.problems.ridge import Ridge

LEAST = 1e-14  # no weight falls below this while it is learned: it could never rise again


@dataclass(frozen=True)
class WeightSlack:
    """By how much the joint dual value is lower than the machines' own, and a bound on its rounding error."""

    value: float
    rounding: float = 0.0


def price(problem: Problem) -> float:
    """Return the factor of beta' K beta in the dual value of a problem."""
    if isinstance(problem, Ridge):
        return float(problem.alpha[0])
    if isinstance(problem, Dual):
        return 0.5 * problem.scale
    raise ValueError(
        "the chosen solver does not support MultipleKernel, whose weights are learned in the dual: use "
        "solver='auto'"
    )


def quadratic_forms(
    grams: Sequence[Gram], parts: Sequence[tuple[Problem, Machine, np.ndarray]]
) -> tuple[Float64, Float64]:
    r"""Return :math:`g_j` of each kernel, and bounds on the rounding errors.

    Parameters
    ----------
    grams : sequence of Gram
        The matrices K_j.
    parts : sequence of (Problem, Machine, rows)
        The machines, and the rows of the matrices that they are about.
    """
    B = np.zeros((grams[0].n, len(parts)))
    for t, (problem, machine, rows) in enumerate(parts):
        B[rows, t] = math.sqrt(price(problem)) * problem.beta(problem.recover(machine.coef))
    used = np.flatnonzero(np.abs(B).max(axis=1))
    forms, noises = np.zeros(len(grams)), np.zeros(len(grams))
    for j, gram in enumerate(grams):
        products = np.zeros_like(B)
        if isinstance(gram, MatrixGram):
            products = gram.products(B)
        elif used.size:
            gram.add_products(used, np.ascontiguousarray(B[used]), products)
        forms[j] = max(float(np.sum(B * products)), 0.0)  # positive semi-definite
        root = np.abs(gram.magnitude())
        noises[j] = UNIT * float(np.sum((root @ np.abs(B)) ** 2))
    return forms, noises


def dual_norm(g: Float64, p: float) -> float:
    """Return the largest theta'g over the non-negative weights of p-norm at most 1."""
    top = float(g.max(initial=0.0))
    if p == 1.0 or top == 0.0:
        return top
    if math.isinf(p):
        return float(g.sum())
    q = p / (p - 1.0)
    return float(top * np.sum((g / top) ** q) ** (1.0 / q))


def weight_slack(theta: Float64, g: Float64, noise: Float64, p: float) -> WeightSlack:
    """Return how far weights are from the best for the quadratic forms g of the kernels."""
    slack = dual_norm(g, p) - float(theta @ g)
    return WeightSlack(max(slack, 0.0), dual_norm(noise, p) + float(theta @ noise))


def on_sphere(theta: Float64, p: float) -> Float64:
    """Return positive multiples of weights whose p-norm is 1."""
    theta = theta / theta.max()
    if math.isinf(p):
        return theta
    return np.asarray(theta / float(np.sum(theta**p)) ** (1.0 / p))


def direction(theta: Float64, g: Float64, p: float) -> Float64:
    r"""Return where to move the logarithms of weights: log g - (p - 1) log theta, zero at the optimum.

    It is measured from its mean over the weights: weights are on a sphere, and only ratios count.
    """
    least = np.finfo(np.float64).tiny
    towards = np.log(np.maximum(g / g.max(), least)) - (p - 1.0) * np.log(theta / theta.max())
    return np.asarray(towards - float(theta @ towards) / float(theta.sum()))


def moved(theta: Float64, g: Float64, p: float, step: float) -> Float64:
    r"""Return better weights: those that are best for the machine's parts :math:`f_j` as they are.

    For fixed :math:`\|f_j\|^2 = \theta_j^2 g_j` they are proportional to :math:`\|f_j\|^{2 / (p + 1)}`. In
    logarithms that is a step along `direction`; a longer one (``step`` > 1) is often better still.
    """
    change = np.exp(np.clip(step / (p + 1.0) * direction(theta, g, p), -30.0, 30.0))
    return on_sphere(np.maximum(theta * change, LEAST), p)


def secant_step(before: Float64, g_before: Float64, theta: Float64, g: Float64, p: float) -> float:
    """Return the step, in units of the closed form, at which the last change of the direction would end.

    Steps and directions are compared by their inner products with the weights as metric; infinite where the
    direction has not become shorter.
    """
    change = np.log(theta / before)
    change -= float(theta @ change) / float(theta.sum())
    turned = direction(before, g_before, p) - direction(theta, g, p)
    curvature = float(np.sum(theta * change * turned))
    length = float(np.sum(theta * change * change))
    return (p + 1.0) * length / curvature if curvature > 0 else math.inf
