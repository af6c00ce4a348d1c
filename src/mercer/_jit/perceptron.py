"""The perceptron in primal form: weights of the features, dense or sparse examples."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def run(
    start: int,
    stop: int,
    order: np.ndarray,
    X: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    target: np.ndarray,
    truth: np.ndarray,
    W: np.ndarray,
    bias: np.ndarray,
    bias_step: float,
    loss: np.ndarray,
    mistake: np.ndarray,
    updates: np.ndarray,
) -> None:
    """Show the examples order[start:stop] to the learner, one after the other.

    Parameters
    ----------
    start, stop : int
        Which positions of ``order``.
    order : (n,) int64
        Numbers of the examples.
    X : (n, d) float64
        The examples; without columns when they are sparse.
    indptr, indices, values
        The same as CSR; empty when they are dense.
    target : (n, outputs) float64
        Signs +1 and -1.
    truth : (n,) int64
        Class numbers (more than one output).
    W, bias : (outputs, d), (outputs,) float64
        The weights; updated.
    bias_step : float
        What a mistake adds to the bias, times the sign.
    loss, mistake, updates
        Loss and wrongness of each position, changes of each output; written to.
    """
    outputs = target.shape[1]
    sparse = indptr.size > 0
    F = np.empty(outputs)
    for p in range(start, stop):
        i = order[p]
        lost = 0.0
        for o in range(outputs):
            f = 0.0
            if sparse:
                for q in range(indptr[i], indptr[i + 1]):
                    f += W[o, indices[q]] * values[q]
            else:
                for k in range(X.shape[1]):
                    f += W[o, k] * X[i, k]
            F[o] = f + bias[o]
        wrong = False
        for o in range(outputs):
            y = target[i, o]
            if outputs > 1 and o != truth[i] and F[o] >= F[truth[i]]:
                wrong = True
            if y * F[o] > 0.0:
                continue
            lost += 1.0
            updates[o] += 1
            bias[o] += bias_step * y
            if sparse:
                for q in range(indptr[i], indptr[i + 1]):
                    W[o, indices[q]] += y * values[q]
            else:
                for k in range(X.shape[1]):
                    W[o, k] += y * X[i, k]
        loss[p] = lost
        mistake[p] = wrong if outputs > 1 else lost > 0.0
