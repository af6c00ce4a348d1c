r"""A cheap look at a kernel that is said to be positive semi-definite: a few small minors of its matrix.

A matrix is positive semi-definite exactly when :math:`c' K c \ge 0` for all c. One c that is negative refutes
that, and a few random principal minors often have one where a kernel is none. Finding nothing proves nothing.

What is found must lie beyond rounding. The eigenvalues are those of minors scaled to a diagonal of 1, so that
no unit matters, and where the items are rows of numbers the minor is computed again for columns that are
changed in their tenth digit: rounding errors then fall anew, while the values of the kernel hardly move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64, Index
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Composite
from mercer.kernels.data import Data, is_sparse, size, take
from mercer.kernels.on_columns import OnColumns
from mercer.kernels.statistics import scaled_columns

Block = Callable[[Index], Any]

LARGEST = 8  # rows of a minor: the smallest eigenvalue of each part of it is no smaller
MINORS = 16  # at most
NOISE = 1e-6  # eigenvalues of a scaled minor in double precision that are taken for rounding
ROUGH = 1e-4  # the same where nothing is known of how the values were computed
CHANGE = 1e-10  # of columns, relative, to see which values are rounding
CHANGES = 3  # how many such changes
SHARE = 0.1  # of the eigenvalue that they may account for
UNSEEN = 64 * 2.3e-16  # rounding that no change shows: as if numbers of size 1 had been subtracted


@dataclass(frozen=True)
class IndefiniteMinor:
    """Items whose kernel matrix is not positive semi-definite.

    Attributes
    ----------
    indices : tuple of int
        The items: as few as show it.
    values : tuple of tuple of float
        Their kernel matrix.
    eigenvalue : float
        Its smallest eigenvalue once rows and columns are divided by the roots of the diagonal, or by what
        makes no entry larger than 1.
    rounding : float
        What of it may be due to rounding.
    """

    indices: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    eigenvalue: float
    rounding: float


def find_indefinite_minor(
    K: Block | NDArray[Any],
    n: int,
    rng: np.random.Generator,
    *,
    noise: float = ROUGH,
    floor: float = 0.0,
    rounding: Callable[[Index, Float64], float] | None = None,
) -> IndefiniteMinor | None:
    """Look for items whose kernel matrix has an eigenvalue below 0 by more than rounding.

    Parameters
    ----------
    K : callable or ndarray of shape (n, n)
        The matrix, or a function: numbers of some items -> the matrix of these.
    n : int
        Number of items.
    rng : numpy.random.Generator
        Which minors are looked at.
    noise : float
        Eigenvalues of a scaled minor that are taken for rounding in any case.
    floor : float
        Items whose values are all of this size at most are left out.
    rounding : callable, optional
        (numbers of items, scales of rows) -> how much of an eigenvalue of their scaled minor may be rounding.
        Asked only where a minor looks indefinite.

    Returns
    -------
    IndefiniteMinor or None
        None proves nothing.
    """
    if callable(K):
        block: Block = K
    else:
        whole = K

        def block(idx: Index) -> Any:
            return whole[np.ix_(idx, idx)]

    width = min(n, LARGEST)
    for _ in range(min(MINORS, -(-n // 4)) if n > LARGEST else 1):
        idx = np.sort(rng.choice(n, size=width, replace=False)).astype(np.intp)
        M = np.asarray(block(idx), dtype=np.float64)
        if not np.isfinite(M).all():
            continue
        M = 0.5 * M + 0.5 * M.T
        scale = _scales(M)
        told = scale**2 > floor
        idx, M, scale = idx[told], M[np.ix_(told, told)], scale[told]
        if idx.size == 0 or _smallest(M, scale) >= -noise:
            continue
        slack = 0.0 if rounding is None else rounding(idx, scale)
        kept = _fewest(M, scale, noise + slack)
        if kept is not None:
            part = np.ix_(kept, kept)
            values = tuple(tuple(map(float, row)) for row in M[part])
            least = _smallest(M[part], scale[kept])
            return IndefiniteMinor(tuple(idx[kept].tolist()), values, least, noise + slack)
    return None


def _scales(M: Float64) -> Float64:
    """Return the roots of the diagonal, more where entries exceed what it allows or underflow took digits.

    Where no two items contradict each other, it is the roots of the diagonal; elsewhere no scaled entry is
    above 1 either.
    """
    diagonal, size = np.abs(np.diagonal(M)), np.abs(M)
    with np.errstate(invalid="ignore", divide="ignore"):
        needed = size * (size / np.maximum(diagonal[None, :], size))
    smallest = 1e3 * float(np.finfo(np.float64).tiny)
    least: Float64 = np.maximum(diagonal, np.where(size > 0, needed, 0.0).max(axis=1))
    return np.sqrt(least + smallest)


def _smallest(M: Float64, scale: Float64) -> float:
    return float(np.linalg.eigvalsh(M / scale[:, None] / scale[None, :])[0])


def _fewest(M: Float64, scale: Float64, noise: float) -> list[int] | None:
    """Return the rows of as small a part of a minor as is still indefinite, or None if the whole is not."""
    kept = list(range(len(M)))
    if _smallest(M, scale) >= -noise:
        return None
    while len(kept) > 1:
        without = [[j for j in kept if j != i] for i in kept]
        least = [_smallest(M[np.ix_(rows, rows)], scale[rows]) for rows in without]
        if min(least) >= -noise:
            break
        kept = without[int(np.argmin(least))]
    return kept


def find_indefinite_items(kernel: Kernel, X: Data, rng: np.random.Generator) -> IndefiniteMinor | None:
    """Look for items of some data whose kernel matrix has an eigenvalue below 0 by more than rounding.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array, CSR matrix or sequence
        Canonical data; rows of numbers are looked at in double precision.
    rng : numpy.random.Generator
        Which minors are looked at.

    Returns
    -------
    IndefiniteMinor or None
        None proves nothing. Of centred kernels, and others made of the training items, nothing is told:
        their values are differences, whose rounding cannot be seen; look at the kernel inside.
    """
    if any(part.keeps_data for part in _all_parts(kernel)):
        return None
    if kernel.pairwise:
        return find_indefinite_minor(X, size(X), rng)
    if not _is_table(X):
        return find_indefinite_minor(lambda idx: _evaluate(kernel, take(X, idx)), size(X), rng)

    def items(idx: Index) -> Data:
        return take(X, idx).astype(np.float64)

    def rounding(idx: Index, scale: Float64) -> float:
        rows = items(idx)
        here = _evaluate(kernel, rows)
        moved = 0.0
        for _ in range(CHANGES):
            factors = 1.0 + CHANGE * rng.uniform(-1.0, 1.0, size=rows.shape[1])
            there = _evaluate(kernel, scaled_columns(rows, factors))
            with np.errstate(all="ignore"):
                change = np.abs(there - here) / scale[:, None] / scale[None, :]
            moved = max(moved, float(np.where(np.isnan(change), np.inf, change).max()))
        unseen = UNSEEN / float(scale.min()) ** 2  # a thousandth at most: smaller items are left out
        return len(idx) * (moved / SHARE + unseen)  # no eigenvalue moves farther than the sum of a row

    return find_indefinite_minor(
        lambda idx: _evaluate(kernel, items(idx)),
        size(X),
        rng,
        noise=NOISE,
        floor=1e3 * UNSEEN,
        rounding=rounding,
    )


def _evaluate(kernel: Kernel, X: Data) -> Float64:
    with np.errstate(all="ignore"):  # minors that overflow are left out
        return np.asarray(kernel.evaluate(X), dtype=np.float64)


def _is_table(X: Data) -> bool:
    return is_sparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f")


def _all_parts(kernel: Kernel) -> list[Kernel]:
    return [kernel, *(value for value in kernel.get_params().values() if isinstance(value, Kernel))]


def declared_parts(kernel: Kernel, X: Data) -> Iterator[tuple[Kernel, Data]]:
    """Find what somebody else than this library says to be positive semi-definite.

    Of kernels that the library makes of others (sums, products, views) the parts decide.

    Parameters
    ----------
    kernel : Kernel
        Perhaps made of others.
    X : array, CSR matrix or sequence
        Canonical data.

    Yields
    ------
    kernel, X
        A user's function, or a kernel of a user's class, that is declared so, and what it sees of the data.
    """
    ours = type(kernel).__module__.startswith("mercer.")
    if ours and isinstance(kernel, Composite):
        for part in kernel.parts:
            yield from declared_parts(part, kernel.seen(X) if isinstance(kernel, OnColumns) else X)
    elif kernel.is_psd is True and kernel.is_of_user:
        yield kernel, X


def indefinite_message(kernel: Kernel, found: IndefiniteMinor) -> str:
    """Return in words that a kernel is not what it is declared to be, with the counterexample.

    Parameters
    ----------
    kernel : Kernel
        Declared positive semi-definite.
    found : IndefiniteMinor
        Items that tell otherwise.

    Returns
    -------
    str
    """
    if len(found.indices) == 1:
        where = f"k(x, x) = {found.values[0][0]:.6g} for item {found.indices[0]}"
    else:
        rows = ", ".join("[" + ", ".join(f"{v:.6g}" for v in row) + "]" for row in found.values)
        named = ", ".join(map(str, found.indices[:-1])) + f" and {found.indices[-1]}"
        where = (
            f"the kernel matrix of items {named}, [{rows}], has the eigenvalue {found.eigenvalue:.3g} once "
            f"scaled to entries of at most 1, and rounding accounts for at most {found.rounding:.1g}"
        )
    return (
        f"{kernel.expression()} is declared positive semi-definite, but is not: {where}. Declare psd=False, "
        "or psd=None if it is not known (of a class: the property is_psd), or fix the kernel."
    )


def refuse_indefinite(kernel: Kernel, X: Data, rng: np.random.Generator | None = None) -> None:
    """Raise ValueError, with a counterexample, if a kernel that is declared psd is seen not to be so.

    Kernels of the library are not looked at: what they say of themselves is proved elsewhere.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : array, CSR matrix or sequence
        Canonical data.
    rng : numpy.random.Generator, optional
        Which minors are looked at; one with the seed 0 if not given.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    for part, seen in declared_parts(kernel, X):
        found = find_indefinite_items(part, seen, rng)
        if found is not None:
            raise ValueError(indefinite_message(part, found))
