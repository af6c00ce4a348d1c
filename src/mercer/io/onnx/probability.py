"""Probabilities of classes as ONNX operators: the links of two-class machines, and how they are coupled."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.io.errors import ModelFileError
from mercer.io.onnx.graph import BOOL, DOUBLE, INT64, Graph
from mercer.problems.calibration import LARGEST_LOGIT
from mercer.problems.coupling import LEAST, LEAST_PAIR, TIE
from mercer.problems.losses import BinomialDeviance, HuberizedSquaredHinge, SquaredError, SquaredHinge
from mercer.problems.probabilities import LEAST as LEAST_BELIEVED
from mercer.solvers.calibration.block_pivoting import EXCHANGES, ROUNDING, ROUNDS_PER_CLASS

LINEAR_LINKS = (SquaredError, SquaredHinge, HuberizedSquaredHinge)  # P = (1 + f) / 2


def link(g: Graph, F: str, knots: np.ndarray, slopes: np.ndarray) -> str:
    """Add the piecewise linear links of all machines, one column each, as `link_logits` has them."""
    z = None
    for side, sign in ((1, 1.0), (0, -1.0)):
        begin, slope = knots[:, side], slopes[:, side]
        widths = np.diff(begin, axis=1)
        u = g.clip(F if side else g.op("Neg", F), low=0.0)
        for piece in range(begin.shape[1]):
            last = piece == begin.shape[1] - 1
            inside = g.op("Sub", u, g.const(begin[:, piece][None]))
            inside = g.clip(inside, 0.0, None if last else widths[:, piece][None])
            rise = g.op("Mul", inside, g.const(sign * slope[:, piece][None]))
            z = rise if z is None else g.op("Add", z, rise)
    assert z is not None
    return g.clip(z, -LARGEST_LOGIT, LARGEST_LOGIT)


def loss_logits(g: Graph, loss: Any, F: str) -> str:
    """Add what turns the population minimiser of a loss into log-odds."""
    if type(loss) is BinomialDeviance:
        return F
    if type(loss) not in LINEAR_LINKS:
        known = ", ".join(cls.__name__ for cls in (BinomialDeviance, *LINEAR_LINKS))
        raise ModelFileError(
            f"the probabilities of loss {loss!r} cannot be exported to ONNX; those of {known} can"
        )
    p = g.clip(g.affine(F, 0.5, 0.5), LEAST_BELIEVED, 1.0 - LEAST_BELIEVED)
    return g.op("Sub", g.op("Log", p), g.op("Log", g.affine(p, -1.0, 1.0)))


def sigmoid(g: Graph, z: str) -> str:
    """Add 1 / (1 + exp(-z)), with all digits where it is tiny: runtimes' own may subtract from 1."""
    above = g.op("Exp", g.clip(z, high=0.0))
    return g.op("Div", above, g.affine(g.op("Exp", g.op("Neg", g.op("Abs", z))), 1.0, 1.0))


def chosen(g: Graph, choice: str, k: int) -> str:
    """Return the table of what was chosen: True in the column of the predicted class."""
    return g.op("Equal", g.unsqueeze(choice, 1), g.const(np.arange(k)[None], np.int64))


def two_classes(g: Graph, logits: str, choice: str) -> str:
    """Add the probabilities of two classes from a column of logits of the second."""
    both = g.op("Concat", g.op("Neg", logits), logits, axis=1)
    p = sigmoid(g, both)
    return g.op("Where", chosen(g, choice, 2), g.clip(p, low=0.5 + TIE), g.clip(p, high=0.5 - TIE))


def softmax(g: Graph, F: str) -> str:
    """Add probabilities from log-odds of all classes."""
    return g.op("Softmax", F, axis=1)


def couple_rest(g: Graph, logits: str, k: int, choice: str) -> str:
    """Add the coupling of each class against the rest."""
    q = sigmoid(g, logits)
    q = g.op("Div", q, g.sum(q, 1, keep=True))
    mine = chosen(g, choice, k)
    own = g.sum(g.op("Mul", q, g.number(mine)), 1, keep=True)
    others = g.op("Where", mine, g.const(-1.0), q)
    # For each class the mean over the chosen one and all that are not below: the largest is the level.
    above = g.number(g.op("GreaterOrEqual", g.unsqueeze(others, 1), g.unsqueeze(others, 2)))
    theirs = g.op("Mul", g.unsqueeze(g.op("Where", mine, g.const(0.0), q), 1), above)
    means = g.op(
        "Div",
        g.op("Add", own, g.sum(theirs, 2)),
        g.affine(g.op("Min", g.sum(above, 2), g.const(k - 1.0)), 1.0, 1.0),
    )
    level = g.op("Max", own, g.op("ReduceMax", means, axes=[1], keepdims=1))
    pooled = g.op("Or", mine, g.op("GreaterOrEqual", others, level))
    return _lead(g, g.op("Where", pooled, level, q), mine)


def couple_pairs(g: Graph, logits: str, k: int, choice: str) -> str:
    """Add the coupling of all pairs of classes: a small non-negative least squares problem for each row.

    It is solved as `couple_pairs` of ``mercer.solvers.calibration`` does, whole sets of variables changing
    sides until none is wrong. The variables are the distances of all classes below the predicted one,
    whose own is kept at zero.
    """
    r = g.clip(sigmoid(g, logits), LEAST_PAIR, 1.0 - LEAST_PAIR)
    pairs = k * (k - 1) // 2
    place = np.full((k, k), 2 * pairs)  # the diagonal is zero
    first, second = np.triu_indices(k, 1)
    place[first, second], place[second, first] = np.arange(pairs), pairs + np.arange(pairs)
    zero = g.unsqueeze(g.op("Mul", g.column(r, 0), g.const(0.0)), 1)
    values = g.op("Concat", r, g.affine(r, -1.0, 1.0), zero, axis=1)
    flat = g.op("Gather", values, g.const(place.ravel(), np.int64), axis=1)
    R = g.op("Reshape", flat, g.const([-1, k, k], np.int64))
    eye = g.const(np.eye(k)[None])
    cross = g.op("Mul", R, g.op("Transpose", R, perm=[0, 2, 1]))
    squares = g.op("Mul", eye, g.unsqueeze(g.sum(g.op("Mul", R, R), 1), 1))
    Q = g.op("Sub", squares, cross)
    sums = g.op("Div", g.sum(Q, 2), g.const(float(k)))
    total = g.op("Div", g.sum(sums, 1, keep=True), g.const(float(k)))
    H = g.op("Sub", g.op("Sub", Q, g.unsqueeze(sums, 1)), g.unsqueeze(sums, 2))
    H = g.op("Add", H, g.unsqueeze(total, 2))
    mine = chosen(g, choice, k)
    d = _nonnegative(g, H, g.op("Sub", sums, total), g.op("Not", mine), k)
    top = g.op("Div", g.affine(g.sum(d, 1, keep=True), 1.0, 1.0), g.const(float(k)))
    return _lead(g, g.op("Sub", top, d), mine)


def _lead(g: Graph, p: str, mine: str) -> str:
    """Make the probabilities positive, the chosen class the strictly largest, the sums one."""
    p = g.clip(p, low=LEAST)
    others = g.op("ReduceMax", g.op("Where", mine, g.const(0.0), p), axes=[1], keepdims=1)
    p = g.op("Where", mine, g.op("Max", p, g.op("Add", others, g.op("Mul", others, g.const(TIE)))), p)
    return g.op("Div", p, g.sum(p, 1, keep=True))


def _nonnegative(g: Graph, H: str, target: str, allowed: str, k: int) -> str:
    """Minimise d'Hd / 2 - target'd over d >= 0, and d = 0 where not allowed, by block principal pivoting."""
    scale = g.op("ReduceMax", g.op("Abs", H), axes=[1, 2], keepdims=0)
    limit = g.unsqueeze(g.op("Mul", scale, g.const(-ROUNDING)), 1)
    nothing = g.op("Mul", scale, g.const(0.0))
    fewest = g.op("Cast", g.affine(nothing, 1.0, k + 1.0), to=INT64)
    chances = g.op("Cast", g.affine(nothing, 1.0, float(EXCHANGES)), to=INT64)
    eye = g.const(np.eye(k, dtype=bool)[None], np.bool_)

    def exchange(b: Graph, _: str, state: list[str]) -> tuple[str, list[str]]:
        free, fewest, chances, _ = state
        square = b.op("And", b.unsqueeze(free, 1), b.unsqueeze(free, 2))
        fixed = b.op("And", eye, b.op("Not", square))
        system = b.op("Where", square, H, b.number(fixed))
        x = _solve(b, system, b.op("Where", free, target, b.const(0.0)), k)
        slope = b.op("Sub", b.sum(b.op("Mul", H, b.unsqueeze(x, 1)), 2), target)
        negative = b.op("And", free, b.op("Less", x, b.const(-ROUNDING)))
        rising = b.op("And", b.op("Not", free), b.op("Less", slope, limit))
        wrong = b.op("And", allowed, b.op("Or", negative, rising))
        hits = b.op("Cast", wrong, to=INT64)
        number = b.sum(hits, 1)
        better = b.op("Less", number, fewest)
        fewer = b.op("Sub", chances, b.const(1, np.int64))
        chances = b.op("Where", better, b.const(EXCHANGES, np.int64), fewer)
        fewest = b.op("Where", better, number, fewest)
        together = b.unsqueeze(b.op("GreaterOrEqual", chances, b.const(0, np.int64)), 1)
        places = b.op("Mul", hits, b.const(np.arange(1, k + 1)[None], np.int64))
        last = b.op(
            "Cast", b.op("ReduceMax", b.op("Cast", places, to=DOUBLE), axes=[1], keepdims=1), to=INT64
        )
        moved = b.op("And", wrong, b.op("Or", together, b.op("Equal", places, last)))
        again = b.op("Greater", b.op("ReduceSum", number, keepdims=0), b.const(0, np.int64))
        return again, [b.op("Xor", free, moved), fewest, chances, b.clip(x, low=0.0)]

    start = [(allowed, BOOL), (fewest, INT64), (chances, INT64), (g.affine(target, 0.0), DOUBLE)]
    return g.loop(ROUNDS_PER_CLASS * k, start, exchange)[3]


def _solve(g: Graph, A: str, rhs: str, k: int) -> str:
    """Solve positive definite systems of size k, one for each row, by elimination without pivoting."""

    def eliminate(b: Graph, j: str, state: list[str]) -> tuple[None, list[str]]:
        (table,) = state
        column, row = b.op("Gather", table, j, axis=2), b.op("Gather", table, j, axis=1)
        row = b.op("Div", row, b.unsqueeze(b.op("Gather", column, j, axis=1), 1))
        here = b.op("Equal", b.const(np.arange(k)[None, :, None], np.int64), j)
        row = b.unsqueeze(row, 1)
        rest = b.op("Sub", table, b.op("Mul", b.unsqueeze(column, 2), row))
        return None, [b.op("Where", here, row, rest)]

    whole = g.op("Concat", A, g.unsqueeze(rhs, 2), axis=2)
    (done,) = g.loop(k, [(whole, DOUBLE)], eliminate)
    return g.op("Gather", done, g.const(k, np.int64), axis=2)
