"""Kernels as graphs of plain ONNX operators in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.io.errors import ModelFileError
from mercer.io.onnx.graph import DOUBLE, Graph
from mercer.kernels import (
    ANOVA,
    RBF,
    AdditiveChi2,
    Centered,
    Chi2,
    Clipped,
    Constant,
    Cosine,
    Flipped,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    OnColumns,
    Polynomial,
    Power,
    Product,
    RationalQuadratic,
    Scaled,
    Shifted,
    Sigmoid,
    Spline,
    Sum,
)
from mercer.kernels.data import is_sparse
from mercer.kernels.spectral import SpectralKernel

# Each statistic in two forms: between rows of x and constant points Z, and of a row with itself.

NARROW = 1e4  # squared distances in units of the kernel's width from which differences are taken


def _dot(g: Graph, x: str, Z: np.ndarray | None, factor: float = 1.0) -> str:
    if Z is None:
        return g.affine(g.sum(g.op("Mul", x, x), 1), factor)
    return g.op("MatMul", x, g.const(factor * Z.T))


def _over_features(g: Graph, x: str, Z: np.ndarray, term: Callable[[Graph, str, str], str]) -> str:
    """Sum term(x_j, z_j) over the features, one at a time: memory for rows times points is enough."""
    points = g.const(Z.T)
    nothing = g.op("Mul", g.sum(x, 1, keep=True), g.const(np.zeros((1, Z.shape[0]))))

    def add(b: Graph, j: str, state: list[str]) -> tuple[None, list[str]]:
        column, row = b.op("Gather", x, j, axis=1), b.op("Gather", points, j, axis=0)
        return None, [b.op("Add", state[0], term(b, b.unsqueeze(column, 1), b.unsqueeze(row, 0)))]

    return g.loop(Z.shape[1], [(nothing, DOUBLE)], add)[0]


def _square(g: Graph, x: str) -> str:
    return g.op("Mul", x, x)


def _nothing(g: Graph, x: str) -> str:
    """Return a zero for each row."""
    return g.op("Mul", g.sum(x, 1), g.const(0.0))


def _sqdist(
    g: Graph, x: str, Z: np.ndarray | None, scales: Any = None, exact: bool = False, steepness: float = 1.0
) -> str:
    if Z is None:
        return _nothing(g, x)
    factor = np.ones(Z.shape[1]) if scales is None else np.asarray(scales, dtype=np.float64)
    centre = Z.mean(axis=0) if Z.size else np.zeros(Z.shape[1])
    spread = steepness * float((((Z - centre) * factor) ** 2).sum(axis=1).max(initial=0.0))
    # Square roots of tiny distances, and kernels that are narrow beside the data, would show the rounding of
    # the matrix product.
    if exact or not spread < NARROW:
        x, Z = g.scaled(x, factor), Z * factor
        return _over_features(g, x, Z, lambda b, u, v: _square(b, b.op("Sub", u, v)))
    # Far from the origin the three terms would cancel.
    x, Z = g.scaled(g.op("Sub", x, g.const(centre)), factor), (Z - centre) * factor
    squares = g.op("Add", g.sum(g.op("Mul", x, x), 1, keep=True), g.const((Z * Z).sum(axis=1)[None]))
    return g.op("Max", g.op("Sub", squares, g.op("MatMul", x, g.const(2.0 * Z.T))), g.const(0.0))


def _l1(g: Graph, x: str, Z: np.ndarray | None) -> str:
    if Z is None:
        return _nothing(g, x)
    return _over_features(g, x, Z, lambda b, u, v: b.op("Abs", b.op("Sub", u, v)))


def _chi2(g: Graph, x: str, Z: np.ndarray | None) -> str:
    if Z is None:
        return _nothing(g, x)
    tiny = float(np.finfo(np.float64).tiny)

    def term(b: Graph, u: str, v: str) -> str:
        return b.op("Div", _square(b, b.op("Sub", u, v)), b.clip(b.op("Add", u, v), low=tiny))

    return _over_features(g, x, Z, term)


def _minimum(g: Graph, x: str, Z: np.ndarray | None) -> str:
    if Z is None:
        return g.sum(x, 1)
    return _over_features(g, x, Z, lambda b, u, v: b.op("Min", u, v))


def _gaussians(g: Graph, x: str, Z: np.ndarray | None, gamma: float) -> str:
    if Z is None:
        return g.sum(g.op("Exp", g.op("Mul", x, g.const(0.0))), 1)
    return _over_features(
        g, x, Z, lambda b, u, v: b.op("Exp", b.affine(_square(b, b.op("Sub", u, v)), -gamma))
    )


def _splines(g: Graph, x: str, Z: np.ndarray | None, anchor: Any) -> str:
    s = g.op("Sub", x, g.const(np.asarray(anchor, dtype=np.float64)))
    if Z is None:
        size = g.op("Abs", s)
        line = g.op("Mul", g.op("Mul", s, s), g.affine(size, 1.0 / 3.0, 1.0))
        return g.sum(g.affine(line, 1.0, 1.0), 1)

    def term(b: Graph, u: str, v: str) -> str:
        product = b.op("Mul", u, v)
        low, most = b.op("Abs", u), b.op("Abs", v)
        low, most = b.op("Min", low, most), b.op("Max", low, most)
        m = b.op("Mul", low, b.number(b.op("Greater", product, b.const(0.0))))
        rest = b.op("Sub", b.affine(most, 0.5), b.affine(m, 1.0 / 6.0))
        return b.affine(b.op("Add", product, b.op("Mul", _square(b, m), rest)), 1.0, 1.0)

    return _over_features(g, s, Z - np.asarray(anchor, dtype=np.float64), term)


Emit = Callable[[Graph, Any, str, "np.ndarray | None"], str]


def _rbf(g: Graph, k: RBF, x: str, Z: np.ndarray | None) -> str:
    gamma = 1.0 if np.ndim(k.gamma) else float(k.gamma)
    return g.op("Exp", g.affine(_sqdist(g, x, Z, k.scales(), steepness=gamma), -gamma))


def _matern(g: Graph, k: Matern, x: str, Z: np.ndarray | None) -> str:
    S = _sqdist(g, x, Z, k.scales(), exact=k.nu == 0.5)
    if k.nu == math.inf:
        return g.op("Exp", g.affine(S, -k._rate))
    r = g.affine(g.op("Sqrt", S), k._rate)
    decay = g.op("Exp", g.op("Neg", r))
    if k.nu == 0.5:
        return decay
    factor = g.affine(r, 1.0, 1.0)
    if k.nu == 2.5:
        factor = g.op("Add", factor, g.affine(g.op("Mul", r, r), 1.0 / 3.0))
    return g.op("Mul", factor, decay)


def _rational(g: Graph, k: RationalQuadratic, x: str, Z: np.ndarray | None) -> str:
    steepness = 0.5 / k._length**2
    S = _sqdist(g, x, Z, k.scales(), steepness=steepness)
    return g.op("Pow", g.affine(S, steepness / float(k.alpha), 1.0), g.const(-float(k.alpha)))


def _poly(g: Graph, k: Polynomial, x: str, Z: np.ndarray | None) -> str:
    return g.power(g.affine(_dot(g, x, Z, float(k.gamma)), 1.0, float(k.coef0)), float(k.degree))


def _sigmoid(g: Graph, k: Sigmoid, x: str, Z: np.ndarray | None) -> str:
    return g.op("Tanh", g.affine(_dot(g, x, Z, float(k.gamma)), 1.0, float(k.coef0)))


def _constant(g: Graph, k: Constant, x: str, Z: np.ndarray | None) -> str:
    base = _nothing(g, x) if Z is None else g.affine(_dot(g, x, Z), 0.0)
    return g.affine(base, 1.0, float(k.value))


def _scaled(g: Graph, k: Scaled, x: str, Z: np.ndarray | None) -> str:
    values = kernel(g, k.kernel, x, Z)
    return g.affine(values, float(k.scale)) if Z is None else g.scaled(values, float(k.scale))


def _normalized(g: Graph, k: Normalized, x: str, Z: np.ndarray | None) -> str:
    def inverse(squares: str) -> str:
        there = g.op("Greater", squares, g.const(0.0))
        safe = g.op("Where", there, squares, g.const(1.0))
        return g.op("Mul", g.number(there), g.op("Reciprocal", g.op("Sqrt", safe)))

    rows = inverse(kernel(g, k.kernel, x, None))
    if Z is None:
        return g.number(g.op("Greater", rows, g.const(0.0)))
    squares = np.asarray(k.kernel.evaluate_diag(Z), dtype=np.float64)
    columns = np.zeros_like(squares)
    np.divide(1.0, np.sqrt(np.maximum(squares, 0.0)), out=columns, where=squares > 0)
    scaled = g.scaled(kernel(g, k.kernel, x, Z), columns)
    return g.op("Mul", scaled, g.unsqueeze(rows, 1))


def _on_columns(g: Graph, k: OnColumns, x: str, Z: np.ndarray | None) -> str:
    index, width = k.columns, g.widths[x]
    chosen = np.arange(width)[index if isinstance(index, slice) else np.atleast_1d(np.asarray(index))]
    part = g.op("Gather", x, g.const(chosen, np.int64), axis=1)
    g.widths[part] = chosen.size
    return kernel(g, k.kernel, part, None if Z is None else np.ascontiguousarray(Z[:, chosen]))


def _centered(g: Graph, k: Centered, x: str, Z: np.ndarray | None) -> str:
    T = dense(k._training)
    means = g.op("MatMul", kernel(g, k.kernel, x, T), g.const(k._weights))
    if Z is None:
        twice = g.op("Add", means, means)
        return g.affine(g.op("Sub", kernel(g, k.kernel, x, None), twice), 1.0, float(k._mean))
    shifted = g.op("Sub", kernel(g, k.kernel, x, Z), g.unsqueeze(means, 1))
    return g.op("Add", shifted, g.const(float(k._mean) - k._means(Z)[None]))


def _spectral(g: Graph, k: SpectralKernel, x: str, Z: np.ndarray | None) -> str:
    features = g.op("MatMul", kernel(g, k.kernel, x, dense(k._training)), g.const(k._map))
    if Z is None:
        return g.sum(_square(g, features), 1)
    return g.op("MatMul", features, g.const(np.ascontiguousarray(k.features(Z).T)))


def _shifted(g: Graph, k: Shifted, x: str, Z: np.ndarray | None) -> str:
    inner = kernel(g, k.kernel, x, Z)
    if Z is None:
        return g.affine(inner, 1.0, float(k.amount))
    same = g.number(g.op("Equal", _l1(g, x, Z), g.const(0.0)))
    return g.op("Add", inner, g.affine(same, float(k.amount)))


def _emitters() -> dict[type, Emit]:
    return {
        Linear: lambda g, k, x, Z: _dot(g, x, Z),
        Cosine: lambda g, k, x, Z: kernel(g, Linear().normalized(), x, Z),
        Polynomial: _poly,
        Sigmoid: _sigmoid,
        RBF: _rbf,
        Matern: _matern,
        RationalQuadratic: _rational,
        Laplacian: lambda g, k, x, Z: g.op("Exp", g.affine(_l1(g, x, Z), -float(k.gamma))),
        Chi2: lambda g, k, x, Z: g.op("Exp", g.affine(_chi2(g, x, Z), -float(k.gamma))),
        AdditiveChi2: lambda g, k, x, Z: g.op("Neg", _chi2(g, x, Z)),
        HistogramIntersection: lambda g, k, x, Z: _minimum(g, x, Z),
        ANOVA: lambda g, k, x, Z: g.power(_gaussians(g, x, Z, float(k.gamma)), float(k.degree)),
        Spline: lambda g, k, x, Z: _splines(g, x, Z, k.anchor),
        Constant: _constant,
        Sum: lambda g, k, x, Z: g.op("Add", kernel(g, k.k1, x, Z), kernel(g, k.k2, x, Z)),
        Product: lambda g, k, x, Z: g.op("Mul", kernel(g, k.k1, x, Z), kernel(g, k.k2, x, Z)),
        Scaled: _scaled,
        Power: lambda g, k, x, Z: g.power(kernel(g, k.kernel, x, Z), float(k.exponent)),
        Normalized: _normalized,
        OnColumns: _on_columns,
        Centered: _centered,
        Clipped: _spectral,
        Flipped: _spectral,
        Shifted: _shifted,
    }


EMITTERS = _emitters()


def kernel(g: Graph, k: Kernel, x: str, Z: np.ndarray | None) -> str:
    """Add k(x, Z), or k(x, x) of each row if Z is None; return the name of the result."""
    emit = EMITTERS.get(type(k))
    if emit is None:
        raise ModelFileError(
            f"kernel {k.expression()} cannot be exported to ONNX: kernels on vectors can, and "
            f"{type(k).__name__} is not among {', '.join(sorted(c.__name__ for c in EMITTERS))}"
        )
    return emit(g, k, x, Z)


def dense(points: Any) -> np.ndarray:
    """Return points as a dense table in double precision."""
    return np.ascontiguousarray(points.toarray() if is_sparse(points) else points, dtype=np.float64)
