"""Discriminant functions as ONNX operators: log-posteriors of the classes, up to a common term."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.io.onnx.graph import Graph
from mercer.io.onnx.kernels import dense, kernel
from mercer.io.onnx.regressors import regression


def _log(priors: Any) -> np.ndarray:
    """Return logarithms; a class of prior zero is never predicted."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(priors, dtype=np.float64))[None]


def _nearness(g: Graph, Z: str, centroids: np.ndarray) -> str:
    """Add minus half the squared distances from centroids, without the term that all of them share."""
    cross = g.op("MatMul", Z, g.const(centroids.T))
    return g.op("Sub", cross, g.const(0.5 * (centroids**2).sum(axis=1)[None]))


def linear_scores(g: Graph, model: Any, x: str) -> str:
    """Add linear functions; with two classes the first is zero."""
    centred = g.op("Sub", x, g.const(model.xbar_))
    scores = g.op("MatMul", centred, g.const(model.coef_.T))
    scores = g.op("Add", scores, g.const(np.reshape(model._offset, (1, -1))))
    if model.classes_.size > 2:
        return scores
    return g.op("Concat", g.op("Mul", scores, g.const(0.0)), scores, axis=1)


def quadratic_scores(g: Graph, model: Any, x: str) -> str:
    """Add Gaussian log-densities, each class with a covariance of its own."""
    s, alpha = model._spectra, getattr(model, "alpha_", 1.0)
    sphered = g.op("MatMul", g.op("Sub", x, g.const(s.center)), g.const(s.sphering.forward))
    columns = []
    for centroid, vectors, values in zip(s.centroids, s.vectors, s.values, strict=True):
        mixed = alpha * values + (1.0 - alpha)
        along = g.op("MatMul", g.op("Sub", sphered, g.const(centroid)), g.const(vectors / np.sqrt(mixed)))
        squares = g.sum(g.op("Mul", along, along), 1, keep=True)
        columns.append(g.affine(squares, -0.5, -0.5 * float(np.log(mixed).sum() + s.sphering.log_det)))
    return g.op("Add", g.op("Concat", *columns, axis=1), g.const(_log(model.priors_)))


def mixture_scores(g: Graph, model: Any, x: str) -> str:
    """Add the log-densities of mixtures of Gaussians with one covariance."""
    Z = g.op("MatMul", g.op("Sub", x, g.const(model.xbar_)), g.const(model.scalings_))
    joint = g.op("Add", _nearness(g, Z, model.centroids_), g.const(_log(model.subclass_weights_)))
    columns = []
    for k in range(model.classes_.size):
        mine = g.op("Gather", joint, g.const(np.flatnonzero(model.subclass_owner_ == k), np.int64), axis=1)
        columns.append(g.op("ReduceLogSumExp", mine, axes=[1], keepdims=1))
    # The decisions of the library count the common term too.
    common = g.affine(g.sum(g.op("Mul", Z, Z), 1, keep=True), -0.5)
    scores = g.op("Add", g.op("Concat", *columns, axis=1), common)
    return g.op("Add", scores, g.const(_log(model.priors_)))


def flexible_scores(g: Graph, model: Any, x: str) -> str:
    """Add nearness to the class means along canonical variates of a regression."""
    centred = g.op("Sub", regression(g, model.regressor_, x), g.const(model._center))
    return _to_centroids(g, model, g.op("MatMul", centred, g.const(model._to_variates)))


def fisher_scores(g: Graph, model: Any, x: str) -> str:
    """Add nearness to the class means along directions of feature space."""
    K = kernel(g, model.kernel_, x, dense(model._kept_x))
    Z = g.op("Sub", g.op("MatMul", K, g.const(model.dual_coef_)), g.const(np.reshape(model._shift, (1, -1))))
    return _to_centroids(g, model, Z)


def _to_centroids(g: Graph, model: Any, Z: str) -> str:
    """Add minus half the squared distances from the classes' centroids, and the priors."""
    common = g.affine(g.sum(g.op("Mul", Z, Z), 1, keep=True), -0.5)
    scores = g.op("Add", _nearness(g, Z, np.asarray(model.centroids_)), common)
    return g.op("Add", scores, g.const(_log(model.priors_)))
