"""The lines that LIBSVM prints of each two-class problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mercer.cli.libsvm.flags import TrainFlags
from mercer.cli.libsvm.training_setup import C_SVC, EPSILON_SVR, NU_SVC, NU_SVR, ONE_CLASS
from mercer.problems import Certificate

AT_BOUND = 1 - 1e-12


@dataclass(frozen=True)
class Pair:
    """One dual: the multipliers of its support vectors, their bounds, its number of rows, its proof."""

    alpha: np.ndarray
    bound: np.ndarray
    rows: int
    rho: float
    proof: Certificate
    equal: bool  # whether all rows have one bound


def coefficients(model: Any) -> np.ndarray:
    """Return ``dual_coef_`` as an array, whatever the data were."""
    coef = model.dual_coef_
    return np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)


def pairs(flags: TrainFlags, model: Any, y: np.ndarray) -> Iterator[Pair]:
    """Yield the duals of a fitted model in LIBSVM's order."""
    coef = coefficients(model)
    if flags.svm_type not in (C_SVC, NU_SVC):
        alpha = np.abs(coef[0])
        bound = np.full(alpha.size, 1.0 if flags.svm_type == ONE_CLASS else flags.cost)
        yield Pair(alpha, bound, y.size, -float(model.intercept_[0]), model.certificate_, True)
        return
    price = _prices(flags, model)
    n_rows = np.bincount(y, minlength=model.classes_.size)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    for k, (i, j) in enumerate(combinations(range(model.classes_.size), 2)):
        one, two = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        both = [coef[j - 1, one], coef[i, two]] if coef.shape[0] > 1 else [coef[0, one], coef[0, two]]
        top = [np.full(part.size, price[k, c]) for part, c in zip(both, (i, j), strict=True)]
        rho = -float(model.intercept_[k])
        yield Pair(
            np.abs(np.concatenate(both)), np.concatenate(top), int(n_rows[i] + n_rows[j]), rho,
            model.certificate_.parts[k], bool(price[k, i] == price[k, j]),
        )  # fmt: skip


def _prices(flags: TrainFlags, model: Any) -> np.ndarray:
    """Return the bound of the multipliers of each machine and class."""
    machines = len(model.intercept_)
    if flags.svm_type == C_SVC:
        return np.tile(flags.cost * np.asarray(model.class_weight_), (machines, 1))
    rho = np.atleast_1d(model.rho_)[:, None]
    bound = np.divide(1.0, rho, out=np.full_like(rho, np.inf), where=rho > 0)
    return np.tile(bound, (1, model.classes_.size))


def lines(flags: TrainFlags, model: Any, y: np.ndarray) -> Iterator[str]:
    """Yield the text of each dual, then the total of a classifier."""
    found = list(pairs(flags, model, y))
    for k, pair in enumerate(found):
        text = f"*\noptimization finished, #iter = {pair.proof.n_iter}\n"
        objective = -pair.proof.dual
        if flags.svm_type == C_SVC:
            if pair.equal:
                text += (
                    f"nu = {pair.alpha.sum() / (pair.bound[0] * pair.rows):.6f}\n" if pair.alpha.size else ""
                )
        elif flags.svm_type == NU_SVC:
            scale = float(np.atleast_1d(model.rho_)[k])
            # The printed objective belongs to the machine whose margin is 1; where w = 0 there is none.
            text += f"C = {1.0 / scale if scale else np.inf:.6f}\n"
            objective = objective / scale**2 if scale else 0.0
        elif flags.svm_type == EPSILON_SVR:
            text += f"nu = {pair.alpha.sum() / (flags.cost * pair.rows):.6f}\n"
        elif flags.svm_type == NU_SVR:
            text += f"epsilon = {float(model.epsilon_):.6f}\n"
        bounded = int((pair.alpha >= AT_BOUND * pair.bound).sum())
        text += f"obj = {objective:.6f}, rho = {pair.rho:.6f}\n"
        text += f"nSV = {int((pair.alpha > 0).sum())}, nBSV = {bounded}\n"
        yield text
    if flags.svm_type in (C_SVC, NU_SVC):
        yield f"Total nSV = {model.support_.size}\n"
