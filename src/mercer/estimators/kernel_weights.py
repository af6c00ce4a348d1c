"""Weights of several kernels, learned together with the machine: see `MultipleKernel`."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Float64
from mercer.estimators.fitting import Fit, Solved, proof
from mercer.estimators.splits import Classes, Split
from mercer.estimators.verdict import check_finite_diagonal
from mercer.gram import Gram, Workers, gram
from mercer.gram.base import MatrixGram, kept
from mercer.kernels import Kernel
from mercer.kernels.multiple import MultipleKernel, weighted_sum
from mercer.problems import Certificate, relative
from mercer.problems.certificate import jointly
from mercer.problems.kernel_alignment import aligned_weights
from mercer.problems.kernel_weights import moved, on_sphere, quadratic_forms, secant_step, weight_slack

FINER = 0.25  # of tol, for machine and weights each: their sum, in any precision, then meets it
LONGER, SHORTER = 3.0, 0.3  # how steps change at most when the last one was good, and when it was not
SHORTEST, LONGEST = 0.1, 1e4  # closed-form steps in one
ROUNDS = 2000  # most machines that are fitted for one set of weights
PRECISE = 1e-11  # the least tolerance at which a machine is solved
NEGLIGIBLE = 1e-4  # share of the largest weight below which those of p = 1 are tried at 0


@dataclass(frozen=True)
class Round:
    """Weights, the machines that are best for them, and what both are worth together."""

    theta: Float64
    found: list[Solved]
    forms: Float64
    machines: Certificate
    joint: Certificate

    @property
    def slack(self) -> float:
        """How much the weights miss, relative to the objective."""
        return relative(self.machines.dual - self.joint.dual, self.joint.primal, self.joint.dual)

    def is_better_than(self, other: Round) -> bool:
        """Return whether the objective is surely lower or, where that cannot be told, the slack."""
        lower = other.joint.primal - self.joint.primal
        error = max(self.machines.gap, other.machines.gap)
        return lower > error or (lower >= -error and self.slack < other.slack)


class WeightLearning:
    """The weights of one fit.

    Parameters
    ----------
    model : estimator
        SVC, SVR, OneClassSVM or KernelRidge.
    kernel : MultipleKernel
        Its kernel.
    X : array, CSR or sequence
        Checked data.
    split : Split
        The target, in parts.
    sample_weight : (n,) float64 or None
        Weights of the rows, if they were given.
    """

    def __init__(self, model: Any, kernel: MultipleKernel, X: Any, split: Split, sample_weight: Any) -> None:
        self.model, self.kernel, self.X, self.split = model, kernel, X, split
        self.learns = not math.isinf(kernel.norm) and kernel.weights == "learned"
        if not kernel.is_plain_sum:
            refuse_what_has_no_weights(model, kernel)
        self.parts = kernel.scaled_on(X, sample_weight)
        self.theta = on_sphere(np.ones(len(self.parts)), float(kernel.norm))
        if kernel.weights == "alignment":
            v = aligned_weights(self.grams(Workers(1)), self.target(), split.base)
            self.theta = on_sphere(v, float(kernel.norm))

    def resolved(self) -> Kernel:
        """Return the kernel with the weights known so far, which the estimator keeps."""
        self.model.kernel_weights_ = self.theta
        self.model.kernel_ = weighted_sum(self.parts, self.theta)
        return self.model.kernel_  # type: ignore[no-any-return]

    def target(self) -> Float64:
        """Return what kernels are aligned with: indicators of classes, or the outputs."""
        if isinstance(self.split, Classes):
            labels = self.split.labels
            return np.asarray(labels.numbers[:, None] == np.arange(labels.classes.size), dtype=np.float64)
        columns = [np.zeros(self.split.n) for _ in self.split.tasks]
        for column, task in zip(columns, self.split.tasks, strict=True):
            if task.target is None:
                raise ValueError(
                    f"weights='alignment' compares kernels with y, which {type(self.model).__name__} does "
                    "not have: use weights='learned'"
                )
            column[task.rows] = task.target
        return np.stack(columns, axis=1)

    def grams(self, workers: Workers) -> list[Gram]:
        """Return the kernels' matrices, which stay in memory if all of them fit."""
        share = self.model._cache_bytes() // len(self.parts)
        made = []
        for part in self.parts:
            matrix = gram(part, self.X, precision="double", tol=0.0, cache_bytes=share, workers=workers)
            check_finite_diagonal(part, matrix.diag())
            made.append(kept(matrix, share))
        return made

    def combined(self, grams: Sequence[Gram], theta: Float64, workers: Workers) -> Gram:
        """Return the matrix of the weighted sum."""
        if all(isinstance(one, MatrixGram) and one.K is not None for one in grams):
            K = np.zeros((grams[0].n, grams[0].n))
            for one, w in zip(grams, theta, strict=True):
                if w > 0:
                    K += w * one.K  # type: ignore[attr-defined]
            return MatrixGram(K, True)
        kernel, share = weighted_sum(self.parts, theta), self.model._cache_bytes() // 2
        return gram(kernel, self.X, precision="double", tol=0.0, cache_bytes=share, workers=workers)

    # -- learning --------------------------------------------------------------------------------------------

    def learn(self, fit: Fit) -> Kernel:
        """Return the kernel with the best weights; the fit then starts from the machines found with them.

        Machine and weights take turns. The step of the weights is the closed form for the machine as it is,
        or a multiple of it: the one at which the last step's change of direction would end, and shorter after
        a step that does not lower the objective. It ends when the joint gap meets the tolerance.
        """
        if not self.learns:
            return self.resolved()
        p, tol = float(self.kernel.norm), FINER * self.model.tol
        twin = copy.copy(self.model)
        twin.tol, twin.trace, twin.verbose, twin.precision = tol, False, False, "double"
        grams = self.grams(fit.workers)

        def at(theta: Float64, starts: list[Any] | None) -> Round:
            twin.kernel_ = weighted_sum(self.parts, theta)
            one = Fit(twin, self.X, self.split, fit.workers, fit.ask, None, starts)
            one.calibration, one.known_psd = None, True
            found = twin._solve(one, self.combined(grams, theta, fit.workers))
            machines = proof(twin, found)
            forms, noise = self.forms(grams, found)
            joint = jointly(machines, weight_slack(theta, forms, noise, p), tol)
            return Round(theta, found, forms, machines, joint)

        def starts(now: Round) -> list[Any]:
            return [s.machine.coef for s in now.found]

        best, step = at(self.theta, fit.starts), 1.0
        for _ in range(ROUNDS):
            if best.slack <= tol or best.forms.max() <= 0 or fit.ask.requested or self.out_of_time(fit):
                break
            tried = at(moved(best.theta, best.forms, p, step), starts(best))
            if tried.is_better_than(best):
                natural = secant_step(best.theta, best.forms, tried.theta, tried.forms, p)
                best, step = tried, min(max(natural, SHORTEST), step * LONGER, LONGEST)
            elif step > SHORTEST:
                step = max(SHORTEST, step * SHORTER)
            elif twin.tol > PRECISE:  # short steps lower the objective: the machine is not known well
                twin.tol, step = twin.tol * 0.1, 1.0
                best = at(best.theta, starts(best))
            else:
                break
        if p == 1.0 and best.theta.size > 1:
            few = np.where(best.theta >= NEGLIGIBLE * best.theta.max(), best.theta, 0.0)
            tried = at(on_sphere(few, p), starts(best))
            if tried.slack <= max(tol, best.slack):
                best = tried
        fit.starts = starts(best)
        self.theta = best.theta
        return self.resolved()

    @staticmethod
    def out_of_time(fit: Fit) -> bool:
        """Return whether the limits leave no time for another machine."""
        return bool(fit.ask.limits.out_of_time())

    def forms(self, grams: Sequence[Gram], found: Sequence[Solved]) -> tuple[Float64, Float64]:
        """Return the quadratic forms of the machines with each kernel, and bounds on their errors."""
        tasks = zip(found, self.split.tasks, strict=True)
        return quadratic_forms(grams, [(s.problem, s.machine, task.rows) for s, task in tasks])

    # -- proving ---------------------------------------------------------------------------------------------

    def certificate(self, machines: Certificate, found: Sequence[Solved], workers: Workers) -> Certificate:
        """Return the certificate of machines and weights together, given that of the machines."""
        if not self.learns or math.isnan(machines.gap):
            return machines
        forms, noise = self.forms(self.grams(workers), found)
        slack = weight_slack(self.theta, forms, noise, float(self.kernel.norm))
        return jointly(machines, slack, self.model.tol)


def certified_jointly(
    model: Any, X: Any, split: Split, sample_weight: Any, machines: Certificate, found: Sequence[Solved]
) -> Certificate:
    """Return the certificate of a fitted estimator with its weights, from the model and the data.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array, CSR or sequence
        Training data as they were given.
    split : Split
        Its target.
    sample_weight
        As ``fit`` was given them.
    machines : Certificate
        Of the machines with ``kernel_``.
    found : sequence of Solved
        The machines.
    """
    theta = getattr(model, "kernel_weights_", None)
    if theta is None:
        return machines
    kernel = model._kernel()
    if not isinstance(kernel, MultipleKernel) or len(kernel.parts) != theta.size:
        raise ValueError(
            f"kernel={kernel!r} is not what the model was fitted with: set it back, or fit again"
        )
    if kernel.weights != "learned":
        return machines
    X = model._check_X(X, kernel=kernel, reset=False)  # also the columns whose weight is 0
    weights = WeightLearning(model, kernel, X, split, None if sample_weight is None else split.base)
    weights.theta = theta
    return weights.certificate(machines, found, model._workers())


def refuse_what_has_no_weights(model: Any, kernel: MultipleKernel) -> None:
    """Refuse estimators and parameters for which weights are not learned, with what to do instead."""
    name = type(model).__name__
    if not getattr(model, "_learns_kernel_weights", False):
        raise ValueError(
            f"{name} does not learn the weights of MultipleKernel; SVC, SVR, OneClassSVM and KernelRidge do: "
            "take norm=np.inf (the plain sum), or the kernel_ of such a fit"
        )
    for number, part in enumerate(kernel.parts):
        if not part.is_psd:
            raise ValueError(
                f"MultipleKernel: kernels[{number}]={part!r} is not known to be positive semi-definite, and "
                "the joint problem is convex only if all are: leave it out, or take .clipped() or .shifted()"
            )
    refused = {
        "C": math.isinf(float(getattr(model, "C", 1.0))),
        "multiclass": getattr(model, "multiclass", "ovo") == "joint",
        "alpha": isinstance(getattr(model, "alpha", 1.0), str),
        "updatable": bool(getattr(model, "updatable", False)),
        "window": getattr(model, "window", None) is not None,
        "parametric": not is_default(getattr(model, "parametric", None)),
        "approximation": getattr(model, "approximation", None) is not None,
    }
    for parameter, is_refused in refused.items():
        if is_refused:
            raise ValueError(
                f"{name}: {parameter}={getattr(model, parameter)!r} does not support MultipleKernel, whose "
                "weights are learned: leave it at its default, and fit again with the weights found, "
                "kernel=model.kernel_"
            )


def is_default(parametric: Any) -> bool:
    """Return whether no columns beside the kernel are asked for by name, number or function."""
    return parametric is None or (isinstance(parametric, str) and parametric == "auto")
