"""Probabilities of classes from the functions that a loss has fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, softmax

from mercer.arrays import Float64
from mercer.problems.losses import BinomialDeviance, Loss

LEAST = 1e-12  # smallest probability that is believed


def class_logits(loss: Loss, F: Float64) -> Float64:
    """Return log-odds from values of the loss's population minimiser, elementwise."""
    if isinstance(loss, BinomialDeviance):
        return F
    p = loss.probability(F)
    if p is None:
        raise TypeError(f"{loss!r} does not determine probabilities")
    return np.asarray(logit(np.clip(p, LEAST, 1.0 - LEAST)))


def softmax_with_choice(F: Float64, choice: NDArray[np.intp]) -> Float64:
    """Return the probabilities of classes from their log-odds; ``choice`` is where they are largest."""
    p = np.asarray(softmax(F, axis=1))
    rows = np.arange(F.shape[0])
    p[rows, choice] = np.maximum(p[rows, choice], p.max(axis=1))
    return p
